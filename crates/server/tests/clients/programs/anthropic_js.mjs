// The Anthropic SDK for JavaScript: every other answer is streamed, and thoughts are shown.

import { execSync } from 'node:child_process';
import { createRequire } from 'node:module';

const named = process.argv.slice(2);
const [url, prompt] = named.splice(-2);
const model = named[0] ?? 'fake-model';
// The packages lie in a folder of their own, not beside this file.
const require = createRequire(`${process.env.SECATEUR_CLIENT}/package.json`);
const { Anthropic } = require('@anthropic-ai/sdk');

const client = new Anthropic({ baseURL: url, apiKey: 'none' });
const schema = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
const tools = [{ name: 'bash', description: 'Runs a command.', input_schema: schema }];
const messages = [{ role: 'user', content: prompt }];
const thinking = { type: 'enabled', budget_tokens: 1024 };

for (let number = 0; ; number++) {
  const ask = { model, max_tokens: 4000, messages, tools, thinking };
  const message = number % 2 ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask);
  messages.push({ role: 'assistant', content: message.content });
  const calls = message.content.filter((block) => block.type === 'tool_use');
  if (!calls.length) {
    console.log(message.content.at(-1).text);
    break;
  }
  const results = calls.map((call) => ({
    type: 'tool_result',
    tool_use_id: call.id,
    content: execSync(call.input.command, { encoding: 'utf8' }),
  }));
  messages.push({ role: 'user', content: results });
}

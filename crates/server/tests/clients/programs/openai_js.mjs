// The OpenAI SDK for JavaScript on Chat Completions: every other answer is streamed.

import { execSync } from 'node:child_process';
import { createRequire } from 'node:module';

const [url, prompt] = process.argv.slice(2);
// The packages lie in a folder of their own, not beside this file.
const require = createRequire(`${process.env.SECATEUR_CLIENT}/package.json`);
const { OpenAI } = require('openai');

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
const parameters = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
const tools = [{ type: 'function', function: { name: 'bash', description: 'Runs a command.', parameters } }];
const messages = [{ role: 'user', content: prompt }];

for (let number = 0; ; number++) {
  const ask = { model: 'fake-model', messages, tools };
  const completions = client.chat.completions;
  const message = number % 2
    ? await completions.stream(ask).finalMessage()
    : (await completions.create(ask)).choices[0].message;
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log(message.content);
    break;
  }
  for (const call of message.tool_calls) {
    const { command } = JSON.parse(call.function.arguments);
    messages.push({ role: 'tool', tool_call_id: call.id, content: execSync(command, { encoding: 'utf8' }) });
  }
}

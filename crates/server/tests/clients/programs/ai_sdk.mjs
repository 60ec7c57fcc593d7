// The AI SDK on the wire that the first argument names: its own loop of steps, streamed or not.

import { execSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [wire, mode, url, prompt] = process.argv.slice(2);
// The packages lie in a folder of their own, not beside this file.
const require = createRequire(`${process.env.SECATEUR_CLIENT}/package.json`);
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

const { generateText, streamText, stepCountIs, tool, jsonSchema } = await load('ai');
const { createOpenAI } = await load('@ai-sdk/openai');
const { createAnthropic } = await load('@ai-sdk/anthropic');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');

const options = { baseURL: `${url}/v1`, apiKey: 'none', name: 'local' };
const models = {
  responses: () => createOpenAI(options).responses('fake-model'),
  chat: () => createOpenAI(options).chat('fake-model'),
  anthropic: () => createAnthropic(options)('fake-model'),
  compatible: () => createOpenAICompatible(options)('fake-model'),
};

const bash = tool({
  description: 'Runs a command in a shell and returns what it prints.',
  inputSchema: jsonSchema({ type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }),
  execute: async ({ command }) => execSync(command, { encoding: 'utf8', maxBuffer: 1e8 }),
});
const ask = {
  model: models[wire](),
  system: 'You do what the user asks for, with the tool bash.',
  prompt,
  tools: { bash },
  stopWhen: stepCountIs(1000),
  maxOutputTokens: 4000,
};
if (mode === 'streamed') {
  const result = streamText({ ...ask, onError: ({ error }) => { throw error; } });
  for await (const _ of result.textStream);
  console.log(await result.text);
} else {
  console.log((await generateText(ask)).text);
}

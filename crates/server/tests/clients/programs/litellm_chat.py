"""LiteLLM, which translates to the wire that the first argument names: every other answer is streamed."""

import itertools
import json
import sys

import litellm
import shell

wire, url, prompt = sys.argv[1:]
litellm.telemetry = False
litellm.suppress_debug_info = True
model = "anthropic/fake-model" if wire == "anthropic" else "openai/fake-model"
base = url if wire == "anthropic" else url + "/v1"
function = {"name": "bash", "description": shell.DESCRIPTION, "parameters": shell.SCHEMA}
tools = [{"type": "function", "function": function}]
messages = [{"role": "system", "content": shell.SYSTEM}, {"role": "user", "content": prompt}]

for number in itertools.count():
    ask = {"model": model, "api_base": base, "api_key": "none", "messages": messages, "tools": tools}
    if number % 2:
        chunks = list(litellm.completion(**ask, max_tokens=4000, stream=True))
        message = litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message
    else:
        message = litellm.completion(**ask, max_tokens=4000).choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        result = shell.run(json.loads(call.function.arguments)["command"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
print(message.content)

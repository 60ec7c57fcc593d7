"""The OpenAI SDK on Chat Completions: every other answer is streamed."""

import itertools
import json
import sys

import shell
from openai import OpenAI

url, prompt = sys.argv[1:]
client = OpenAI(base_url=url + "/v1", api_key="none")
function = {"name": "bash", "description": shell.DESCRIPTION, "parameters": shell.SCHEMA}
tools = [{"type": "function", "function": function}]
messages = [{"role": "system", "content": shell.SYSTEM}, {"role": "user", "content": prompt}]

for number in itertools.count():
    ask = {"model": "fake-model", "messages": messages, "tools": tools}
    if number % 2:
        with client.chat.completions.stream(**ask, stream_options={"include_usage": True}) as stream:
            message = stream.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(**ask).choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        result = shell.run(json.loads(call.function.arguments)["command"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
print(message.content)

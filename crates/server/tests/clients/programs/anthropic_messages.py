"""The Anthropic SDK: every other answer is streamed, thoughts are shown, and a cache mark moves along."""

import itertools
import sys

import shell
from anthropic import Anthropic

*named, url, prompt = sys.argv[1:]
model = named[0] if named else "fake-model"
client = Anthropic(base_url=url, api_key="none")
mark = {"cache_control": {"type": "ephemeral"}}
tools = [{"name": "bash", "description": shell.DESCRIPTION, "input_schema": shell.SCHEMA}]
system = [{"type": "text", "text": shell.SYSTEM, **mark}]
messages = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]

for number in itertools.count():
    last = messages[-1]
    marked = {**last, "content": last["content"][:-1] + [{**last["content"][-1], **mark}]}
    ask = {"model": model, "max_tokens": 4000, "system": system, "tools": tools}
    ask |= {"messages": messages[:-1] + [marked], "thinking": {"type": "enabled", "budget_tokens": 1024}}
    if number % 2:
        with client.messages.stream(**ask) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**ask)
    blocks = [block.model_dump(exclude_none=True, include=None) for block in message.content]
    messages.append({"role": "assistant", "content": blocks})
    calls = [block for block in message.content if block.type == "tool_use"]
    if not calls:
        break
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": shell.run(call.input["command"])} for call in calls
    ]
    messages.append({"role": "user", "content": results})
print(message.content[-1].text)

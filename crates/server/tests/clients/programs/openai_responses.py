"""The OpenAI SDK on Responses: every other answer is streamed."""

import itertools
import json
import sys

import shell
from openai import OpenAI

url, prompt = sys.argv[1:]
client = OpenAI(base_url=url + "/v1", api_key="none")
tools = [{"type": "function", "name": "bash", "description": shell.DESCRIPTION, "parameters": shell.SCHEMA}]
items = [{"role": "user", "content": prompt}]

for number in itertools.count():
    ask = {"model": "fake-model", "instructions": shell.SYSTEM, "input": items, "tools": tools, "store": False}
    ask |= {"reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"]}
    if number % 2:
        with client.responses.stream(**ask) as stream:
            response = stream.get_final_response()
    else:
        response = client.responses.create(**ask)
    items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
    calls = [item for item in response.output if item.type == "function_call"]
    if not calls:
        break
    for call in calls:
        result = shell.run(json.loads(call.arguments)["command"])
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
print(response.output_text)

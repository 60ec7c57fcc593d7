"""The Google SDK: every other answer is streamed."""

import itertools
import sys

import shell
from google import genai
from google.genai import types

url, prompt = sys.argv[1:]
client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
declared = types.FunctionDeclaration(name="bash", description=shell.DESCRIPTION, parameters_json_schema=shell.SCHEMA)
config = types.GenerateContentConfig(
    system_instruction=shell.SYSTEM,
    tools=[types.Tool(function_declarations=[declared])],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)
contents = [types.Content(role="user", parts=[types.Part(text=prompt)])]

for number in itertools.count():
    ask = {"model": "fake-model", "contents": contents, "config": config}
    if number % 2:
        chunks = client.models.generate_content_stream(**ask)
    else:
        chunks = [client.models.generate_content(**ask)]
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
    contents.append(types.Content(role="model", parts=parts))
    calls = [part.function_call for part in parts if part.function_call]
    if not calls:
        break
    results = [
        types.Part(
            function_response=types.FunctionResponse(
                id=call.id, name=call.name, response={"output": shell.run(call.args["command"])}
            )
        )
        for call in calls
    ]
    contents.append(types.Content(role="user", parts=results))
print("".join(part.text or "" for part in parts))

"""An agent of LangChain on the wire that the first argument names."""

import sys

import shell
from langchain.agents import create_agent
from langchain_core.tools import tool

wire, url, prompt = sys.argv[1:]


@tool(description=shell.DESCRIPTION)
def bash(command: str) -> str:
    return shell.run(command)


if wire == "anthropic":
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model="fake-model", base_url=url, api_key="none", max_tokens=4000)
else:
    from langchain_openai import ChatOpenAI

    uses_responses = wire == "responses"
    model = ChatOpenAI(model="fake-model", base_url=url + "/v1", api_key="none", use_responses_api=uses_responses)

agent = create_agent(model, [bash], system_prompt=shell.SYSTEM)
last = None
for state in agent.stream({"messages": [("user", prompt)]}, {"recursion_limit": 1000}, stream_mode="values"):
    last = state["messages"][-1]
print(last.text)

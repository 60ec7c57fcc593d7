"""The clients that are libraries: small programs beside this file work with them."""

from client import PROGRAMS, TOOLS, Client, Launch


def python(install, file, *arguments):
    def start(place):
        interpreter = TOOLS / install / "bin/python"
        command = [str(interpreter), str(PROGRAMS / file), *arguments, place.url, place.prompt]
        return Launch(command, {"PYTHONDONTWRITEBYTECODE": "1"})

    return start


def node(install, file, *arguments):
    def start(place):
        command = ["node", str(PROGRAMS / file), *arguments, place.url, place.prompt]
        return Launch(command, {"SECATEUR_CLIENT": str(TOOLS / install)})

    return start


CLIENTS = [
    Client("openai-chat", "python", python("python", "openai_chat.py")),
    Client("openai-responses", "python", python("python", "openai_responses.py")),
    Client("anthropic", "python", python("python", "anthropic_messages.py")),
    Client(
        "anthropic-bound",
        "python",
        python("python", "anthropic_messages.py", "claude-scripted-9"),
        models=("claude-scripted-9",),
        account="strict",
    ),
    Client("gemini", "python", python("python", "gemini_content.py")),
    Client("openai-js", "js", node("js", "openai_js.mjs")),
    Client("anthropic-js", "js", node("js", "anthropic_js.mjs")),
    Client(
        "anthropic-js-bound",
        "js",
        node("js", "anthropic_js.mjs", "claude-scripted-9"),
        models=("claude-scripted-9",),
        account="lenient",
    ),
    Client("langchain-chat", "langchain", python("langchain", "langchain_agent.py", "chat")),
    Client("langchain-responses", "langchain", python("langchain", "langchain_agent.py", "responses")),
    Client("langchain-anthropic", "langchain", python("langchain", "langchain_agent.py", "anthropic")),
    Client("litellm-chat", "litellm", python("litellm", "litellm_chat.py", "chat")),
    Client("litellm-anthropic", "litellm", python("litellm", "litellm_chat.py", "anthropic")),
    Client("ai-sdk-chat", "ai-sdk", node("ai-sdk", "ai_sdk.mjs", "chat", "streamed")),
    Client("ai-sdk-responses", "ai-sdk", node("ai-sdk", "ai_sdk.mjs", "responses", "streamed")),
    Client("ai-sdk-responses-whole", "ai-sdk", node("ai-sdk", "ai_sdk.mjs", "responses", "whole")),
    Client("ai-sdk-anthropic", "ai-sdk", node("ai-sdk", "ai_sdk.mjs", "anthropic", "streamed")),
    Client("ai-sdk-anthropic-whole", "ai-sdk", node("ai-sdk", "ai_sdk.mjs", "anthropic", "whole")),
    Client("ai-sdk-compatible", "ai-sdk", node("ai-sdk", "ai_sdk.mjs", "compatible", "streamed")),
]

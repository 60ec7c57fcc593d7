"""pi, on Chat Completions and on Anthropic Messages."""

import json

from client import Accompanied, Client, Launch, program

KNOWN = "claude-sonnet-4-5"


def launch(api, path):
    def start(place):
        model = {"id": "fake-model", "name": "Fake", "reasoning": api == "anthropic-messages", "input": ["text"]}
        model |= {"contextWindow": 2_000_000, "maxTokens": 4_000}
        model |= {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        provider = {"baseUrl": place.url + path, "api": api, "apiKey": "none", "models": [model]}
        folder = place.home / ".pi/agent"
        folder.mkdir(parents=True)
        (folder / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
        command = [program("pi", "pi"), "-p", "--provider", "local", "--model", "fake-model", place.prompt]
        return Launch(command, {"PI_OFFLINE": "1"})

    return start


def launch_as_it_comes(place):
    """With a provider and a model that pi knows by itself; `secateur run` points no others at the proxy."""
    folder = place.home / ".pi/agent"
    folder.mkdir(parents=True)
    (folder / "models.json").write_text(json.dumps({"providers": {"anthropic": {"baseUrl": place.url}}}))
    command = [program("pi", "pi"), "-p", "--provider", "anthropic", "--model", KNOWN, place.prompt]
    return Launch(command, {"PI_OFFLINE": "1", "ANTHROPIC_API_KEY": "none"})


CHAT = Client("pi", "pi", launch("openai-completions", "/v1"), explores=True)
ANTHROPIC = Client("pi-anthropic", "pi", launch("anthropic-messages", ""), explores=True)
# It takes no tool servers, so the model uses its shell.
RUN = Accompanied(
    "run-pi", "pi", launch_as_it_comes, window=48_000, steps=150, bytes=4_000, models=(KNOWN,), recalls_by="shell"
)

"""OpenCode, on Chat Completions and on Anthropic Messages."""

import json

from client import Client, Launch, program


def config(npm, url):
    model = {"name": "Fake", "tool_call": True, "limit": {"context": 2_000_000, "output": 4_000}}
    options = {"baseURL": url + "/v1", "apiKey": "none"}
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "model": "local/fake-model",
        "small_model": "local/fake-model",
        "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
        "compaction": {"auto": False, "prune": False},
        "provider": {"local": {"npm": npm, "name": "Local", "options": options, "models": {"fake-model": model}}},
    }


def launch(npm):
    def start(place):
        (place.project / "opencode.json").write_text(json.dumps(config(npm, place.url)))
        return Launch(
            [program("opencode", "opencode"), "run", place.prompt],
            {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        )

    return start


def final(printed):
    return printed.strip().splitlines()[-1]


CHAT = Client("opencode", "opencode", launch("@ai-sdk/openai-compatible"), final, explores=True)
ANTHROPIC = Client("opencode-anthropic", "opencode", launch("@ai-sdk/anthropic"), final, explores=True)

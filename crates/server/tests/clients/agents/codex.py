"""Codex, on Responses."""

from dataclasses import replace

from client import Accompanied, Client, Launch, program

CONFIG = """\
model = "fake-model"
model_context_window = 2000000
model_auto_compact_token_limit = 1900000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
{provider}
[analytics]
enabled = false
"""

LOCAL = """\
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
"""

# The provider that Codex brings along, which it talks to over a web socket if it can.
OPENAI = """\
openai_base_url = "{url}/v1"
"""


def launch(place, provider=LOCAL):
    (place.home / ".codex").mkdir()
    (place.home / ".codex/config.toml").write_text(CONFIG.format(provider=provider.format(url=place.url)))
    command = [program("codex", "codex"), "exec", "--skip-git-repo-check", place.prompt]
    return Launch(command, {"CODEX_API_KEY": "none"})


def with_tools(provider):
    def start(place):
        add = [program("codex", "codex"), "mcp", "add", "secateur", "--", "secateur", "mcp"]
        return replace(launch(place, provider), before=[add])

    return start


CLIENT = Client("codex", "codex", launch, window=40_000, steps=50, explores=True)
HARD = {"window": 64_000, "steps": 160, "bytes": 4_000}
RUN = Accompanied("run-codex", "codex", with_tools(LOCAL), **HARD)
RUN_OPENAI = Accompanied("run-codex-openai", "codex", with_tools(OPENAI), sockets=1, **HARD)

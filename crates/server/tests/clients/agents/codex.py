"""Codex, on Responses."""

from dataclasses import replace

from client import Accompanied, Client, Launch, program

CONFIG = """\
model = "fake-model"
model_provider = "local"
model_context_window = 2000000
model_auto_compact_token_limit = 1900000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "LOCAL_API_KEY"
wire_api = "responses"

[analytics]
enabled = false
"""


def launch(place):
    (place.home / ".codex").mkdir()
    (place.home / ".codex/config.toml").write_text(CONFIG.format(url=place.url))
    command = [program("codex", "codex"), "exec", "--skip-git-repo-check", place.prompt]
    return Launch(command, {"LOCAL_API_KEY": "none"})


def launch_with_tools(place):
    add = [program("codex", "codex"), "mcp", "add", "secateur", "--", "secateur", "mcp"]
    return replace(launch(place), before=[add])


CLIENT = Client("codex", "codex", launch, window=40_000, steps=50, explores=True)
RUN = Accompanied("run-codex", "codex", launch_with_tools, window=64_000, steps=160, bytes=4_000)

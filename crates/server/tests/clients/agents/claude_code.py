"""Claude Code. It brings 23,000 tokens of instructions and tools of its own."""

import json
from dataclasses import replace

from client import Accompanied, Client, Launch, program


BOUND = "claude-opus-5-5"


def launch(place, model="fake-model"):
    command = [program("claude-code", "claude"), "-p", place.prompt, "--model", model]
    command += ["--allowedTools", "Bash Read Grep Write mcp__secateur__recall", "--output-format", "json"]
    return Launch(
        command,
        {
            "ANTHROPIC_BASE_URL": place.url,
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_SMALL_FAST_MODEL": model,
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "4000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_AUTO_COMPACT": "1",
            "DISABLE_COMPACT": "1",
        },
    )


def launch_bound(place):
    """With thinking, and a model that binds it."""
    bound = launch(place, BOUND)
    return replace(bound, environment={**bound.environment, "MAX_THINKING_TOKENS": "2000"})


def launch_with_tools(place):
    add = [program("claude-code", "claude"), "mcp", "add", "secateur", "--", "secateur", "mcp"]
    return replace(launch(place), before=[add])


def final(printed):
    return json.loads(printed)["result"]


CLIENT = Client("claude-code", "claude-code", launch, final, window=50_000, steps=45, bytes=12_000, explores=True)
BOUND_CLIENT = Client(
    "claude-code-bound",
    "claude-code",
    launch_bound,
    final,
    window=50_000,
    steps=45,
    bytes=12_000,
    models=(BOUND,),
    account="strict",
)
# The tools of servers are only shown to a model that looks for them.
RUN = Accompanied(
    "run-claude-code", "claude-code", launch_with_tools, final, window=80_000, steps=190, bytes=4_000, recall_turns=2
)

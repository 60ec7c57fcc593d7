"""Claude Code. It brings 23,000 tokens of instructions and tools of its own."""

import json
from dataclasses import replace

from client import Accompanied, Client, Launch, program


def launch(place):
    command = [program("claude-code", "claude"), "-p", place.prompt, "--model", "fake-model"]
    command += ["--allowedTools", "Bash Read Grep Write mcp__secateur__recall", "--output-format", "json"]
    return Launch(
        command,
        {
            "ANTHROPIC_BASE_URL": place.url,
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_SMALL_FAST_MODEL": "fake-model",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "4000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_AUTO_COMPACT": "1",
            "DISABLE_COMPACT": "1",
        },
    )


def launch_with_tools(place):
    add = [program("claude-code", "claude"), "mcp", "add", "secateur", "--", "secateur", "mcp"]
    return replace(launch(place), before=[add])


def final(printed):
    return json.loads(printed)["result"]


CLIENT = Client("claude-code", "claude-code", launch, final, window=50_000, steps=45, bytes=12_000, explores=True)
# The tools of servers are only shown to a model that looks for them.
RUN = Accompanied(
    "run-claude-code", "claude-code", launch_with_tools, final, window=80_000, steps=190, bytes=4_000, recall_turns=2
)

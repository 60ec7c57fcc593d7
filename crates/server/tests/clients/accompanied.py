"""Agents under `secateur run`, which starts the proxy by itself.

The agent is told where the model is and nothing of a proxy; `run` finds that out. It works until its history is
several windows long, and fetches one of the results that were cut back. In the end what `run` says to have saved is
held against what came from the agent, which `tap.py` wrote down, and what came to the model, which the model did.
"""

import json
import math
import os
import re
import time
from dataclasses import replace
from pathlib import Path

from server import Model, catalogue
from trial import RUNS, Failure, clean, finish, turns

HERE = Path(__file__).resolve().parent

# How many windows a history has at least.
WINDOWS = 3

CLOSING = re.compile(
    r"secateur: (?P<requests>[\d,]+) requests, (?P<cut>[\d,]+) of them cut: "
    r"saved (?P<tokens>[\d,]+) tokens \((?P<share>[\d.]+) % of all bytes\)"
)

# The paths at which conversations are held.
TALKS = ("/messages", "/responses", "/chat/completions")


def wrapped(launch, folder, client):
    """The same under `secateur run`, with a tap on its way to the proxy."""
    programs = folder / "bin"
    programs.mkdir()
    agent = Path(launch.command[0]).name
    (programs / "secateur").symlink_to(Path(os.environ["SECATEUR_BIN"]).resolve())
    (programs / agent).symlink_to(HERE / "tap.py")
    command = ["secateur", "run", "--listen", "127.0.0.1:0", "--", agent, *launch.command[1:]]
    tap = {"TAP_PROGRAM": launch.command[0], "TAP_BOOK": str(folder / "sent.jsonl")}
    environment = {**launch.environment, **tap, "SECATEUR_MODELS": str(catalogue(folder, client))}
    return replace(launch, command=command, environment=environment, path=[programs])


def attend(client, options):
    """Has the agent do its work; a line about it comes back."""
    began = time.monotonic()
    [work] = client.works()
    folder = clean(RUNS / client.name / work.name / "run")
    with Model(folder, client.window, options.record) as model:
        stats = finish(client, work, folder, model, model.url, wrap=lambda launch: wrapped(launch, folder, client))
    # One for each step, those that fetch back what was cut, and the last.
    if turns(stats) != client.steps + client.recall_turns + 1:
        raise Failure(f"took {turns(stats)} turns for {client.steps} steps")
    (came, sockets), went = sent(folder), received(stats)
    if sockets != client.sockets:
        raise Failure(f"tried {sockets} times to talk over a web socket in place of {client.sockets}")
    if len(came) != len(went):
        raise Failure(f"{len(came)} requests came from the agent, {len(went)} to the model")
    if max(came) < WINDOWS * 4 * client.window:
        raise Failure(f"the history has only {max(came):,} bytes, the window {client.window:,} tokens")
    tokens = compare((folder / "stderr").read_text(), came, went, client.window)
    took = time.monotonic() - began
    line = f"{len(came)} requests, largest {max(came) // 4:,} tokens as sent and {stats['largest']:,} as received"
    return f"{line} of {client.window:,}; what was cut came back; {tokens:,} tokens saved as said, in {took:.0f} s"


def sent(folder):
    """The bytes of each request of a conversation, as they came from the agent; and how often it wanted a socket."""
    lines = map(json.loads, (folder / "sent.jsonl").read_text().splitlines())
    talks = [line for line in lines if line["path"].split("?")[0].endswith(TALKS)]
    posted = [line["bytes"] for line in talks if line["method"] == "POST"]
    return posted, len(talks) - len(posted)


def received(stats):
    """The bytes and tokens of each request as they came to the model, without those that the proxy makes itself."""
    return [(line["bytes"], line["tokens"]) for line in stats["log"] if line["purpose"] != "summary"]


def compare(errors, came, went, window):
    """Holds the last line of a run against both ends; the tokens that were saved come back."""
    last = errors.strip().splitlines()[-1]
    closing = CLOSING.match(last)
    if not closing:
        raise Failure(f"the last line is {last!r}")
    said = {name: int(closing[name].replace(",", "")) for name in ("requests", "cut", "tokens")}
    # What was left out of a request, at as many bytes to a token as the model counted in the rest. More than the window holds
    # could not have been sent.
    saved = [
        min(math.floor((before - after) / (after / tokens) + 0.5), max(0, window - tokens))
        for before, (after, tokens) in zip(came, went)
    ]
    cut = sum(before > after for before, (after, _) in zip(came, went))
    found = {"requests": len(came), "cut": cut, "tokens": sum(saved)}
    if said != found:
        raise Failure(f"the last line says {said}, between the agent and the model were {found}")
    share = 100 * (sum(came) - sum(after for after, _ in went)) / sum(came)
    if abs(share - float(closing["share"])) > 0.051:
        raise Failure(f"{share:.2f} % of all bytes were cut, not {closing['share']} %")
    return said["tokens"]

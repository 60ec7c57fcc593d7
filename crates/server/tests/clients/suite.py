"""Runs real clients against a scripted model: alone, then through the proxy with a window that is far too small.

The client must not notice: it ends in the same way and says the same. The model must not notice either: no request is
longer than its window or malformed. Those whose names begin with `run-` are started by `secateur run`, which
`accompanied.py` is about. See the file `run` beside this one.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import accompanied
import sdks
from agents import claude_code, codex, opencode, pi
from server import Model, Proxy, profiles
from trial import RUNS, Failure, clean, finish, turns

HERE = Path(__file__).resolve().parent

AGENTS = [pi.CHAT, pi.ANTHROPIC, claude_code.CLIENT, claude_code.BOUND_CLIENT, codex.CLIENT, opencode.CHAT, opencode.ANTHROPIC]
ACCOMPANIED = [pi.RUN, claude_code.RUN, codex.RUN, codex.RUN_OPENAI]
CLIENTS = [*sdks.CLIENTS, *AGENTS, *ACCOMPANIED]


def directly(client, work, record):
    """The reference: the model takes whatever comes."""
    folder = clean(RUNS / client.name / work.name / "direct")
    with Model(folder, record=record, account=client.account) as model:
        return finish(client, work, folder, model, model.url)


def proxied(client, work, record, profile=None):
    """The same through the proxy, and the model has a window."""
    folder = clean(RUNS / client.name / work.name / f"proxy-{profile or 'default'}")
    with (
        Model(folder, client.window, record, client.account) as model,
        Proxy(folder, model.url, client, profile=profile) as proxy,
    ):
        return finish(client, work, folder, model, proxy.url)


def attend(client, options):
    """Has one client do its works in both ways; a line about the last comes back."""
    if client in ACCOMPANIED:
        return accompanied.attend(client, options)
    for work in client.works():
        line = compare(client, work, options)
    return line


def compare(client, work, options):
    began = time.monotonic()
    reference = directly(client, work, options.record)
    if work.name == "long" and reference["largest"] < 2 * client.window:
        raise Failure(f"the history has only {reference['largest']:,} tokens, the window {client.window:,}")
    took = time.monotonic() - began
    line = f"{reference['requests']} requests, largest {reference['largest']:,} tokens in {took:.0f} s alone"
    if options.direct:
        return line
    if options.every_profile:
        names = profiles()
        for name in names:
            stats = proxied(client, work, options.record, name)
            print(f"   {name}: largest {stats['largest']:,} of {client.window:,} tokens", flush=True)
        return f"{line}; the same under {len(names)} profiles"
    began = time.monotonic()
    stats = proxied(client, work, options.record)
    if turns(stats) != turns(reference):
        raise Failure(f"{work.name} took {turns(stats)} turns in place of {turns(reference)}")
    took = time.monotonic() - began
    line += f"; {stats['requests']} requests, largest {stats['largest']:,} of {client.window:,} tokens"
    reused = 100 * stats["cached"] // max(1, stats["input"])
    return f"{line}, {stats['broken']} times cut, {reused} % cached, in {took:.0f} s through the proxy"


def install(client):
    """Why the client cannot be had, if so."""
    done = subprocess.run([HERE / "install", client.install], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 77):
        raise SystemExit(done.returncode)
    return done.stdout.strip().removeprefix("skipped: ") if done.returncode else None


def main():
    parser = argparse.ArgumentParser(prog="run", description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the names of the clients")
    parser.add_argument("--only", action="append", metavar="NAME", help="run this client; can be repeated")
    parser.add_argument("--every-profile", action="store_true", help="go through the proxy once for each profile")
    parser.add_argument("--direct", action="store_true", help="leave the proxy out")
    parser.add_argument("--record", action="store_true", help="keep every request, in target/clients/runs")
    parser.add_argument("--install", action="store_true", help="only install what the clients need")
    options = parser.parse_args()
    known = [client.name for client in CLIENTS]
    if options.list:
        print("\n".join(known))
        return 0
    if unknown := set(options.only or []) - set(known):
        parser.error(f"unknown client {', '.join(sorted(unknown))}")
    chosen = [client for client in CLIENTS if not options.only or client.name in options.only]
    if options.direct:
        chosen = [client for client in chosen if client not in ACCOMPANIED]
    passed, failed = 0, []
    for client in chosen:
        if reason := install(client):
            print(f"skipped {client.name}: {reason}", flush=True)
            continue
        if options.install:
            continue
        try:
            print(f"ok {client.name}: {attend(client, options)}", flush=True)
            passed += 1
        except (Failure, RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"failed {client.name}: {error}", flush=True)
            failed.append(client.name)
    if failed:
        print(f"failed: {', '.join(failed)}; their runs are kept in {RUNS}")
        return 1
    return 0 if passed or options.install else 77


if __name__ == "__main__":
    sys.exit(main())

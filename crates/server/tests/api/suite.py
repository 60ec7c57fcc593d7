"""Asks a real proxy whatever its own document allows and forbids: schemathesis makes up the questions."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "clients"))

from server import Model, Proxy  # noqa: E402  # It lies in the folder above.

# So small that results are cut and a summary is made.
WINDOW = 6_000
MODEL = "scripted"

COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [{"name": "bash", "description": "Runs a command.", "input_schema": COMMAND}]

# What is asked is the same each time, so that what is found once is found again. Another one may be given behind it.
SEED = "7878"

# The name of a run.
RUN = "agent-of-the-suite"

# An id that has to be escaped in a path.
ODD = "odd/id ü?"


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "none"}
    request = urllib.request.Request(url, data, headers if data else {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def converse(proxy, task, steps, run):
    """Works by the script for so many steps, as a run of this name."""
    messages = [{"role": "user", "content": task}]
    for step in range(steps):
        body = {"model": MODEL, "max_tokens": 1000, "tools": TOOLS, "messages": messages}
        said = ask(f"{proxy}/run:{run}/v1/messages", body)["content"]
        messages.append({"role": "assistant", "content": said})
        calls = [block for block in said if block["type"] == "tool_use"]
        if not calls:
            return
        line = f"line of step {step + 1}: something lies somewhere\n"
        result = lambda call: {"type": "tool_result", "tool_use_id": call["id"], "content": line * 100}
        messages.append({"role": "user", "content": [result(call) for call in calls]})


def fill(store, proxy):
    """Makes sessions with cuts, summaries and events in them, and names one of them with what is in it."""
    converse(proxy, "SCENARIO:long steps=60 bytes=5000", 40, RUN)
    converse(proxy, "SCENARIO:hello", 1, "short")
    new = [os.environ["SECATEUR_BIN"], "session", "new", "--store", store, "--id", ODD]
    subprocess.run(new, check=True, stdout=subprocess.DEVNULL)
    sessions = ask(proxy + "/api/sessions")["items"]
    session = max(sessions, key=lambda session: session["operations"])["id"]
    here = f"{proxy}/api/sessions/{session}"
    operations = ask(here + "/operations")["items"]
    kinds = {operation["kind"] for operation in operations}
    if not {"prune", "compact"} <= kinds:
        raise SystemExit(f"the session is too short: only {kinds or 'nothing'} was done to it")
    cut = next(operation for operation in operations if operation["cuts"])["cuts"][0]["name"]
    ask(f"{here}/operations/{operations[0]['number']}/undo", {})
    assert ask(f"{proxy}/api/sessions/{urllib.parse.quote(ODD, safe='')}")["id"] == ODD
    handle = ask(f"{proxy}/api/search?words=something%20lies&limit=1")["items"][0]["handle"]
    # Both are answered, or the questions about them would not be what they are meant to be.
    ask(f"{proxy}/api/recall/{handle}")
    ask(f"{proxy}/api/runs/{RUN}")
    return {
        "path.id": session,
        "path.number": operations[-1]["number"],
        "path.name": cut,
        "path.handle": handle,
    }


def configuration(folder, names):
    """Has questions ask for what is there. A run has a name, too, but another one than a part."""
    config = folder / "names.toml"
    lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in names.items()]
    lines += ["", "[[operations]]", 'include-path = "/api/runs/{name}"', f'parameters = {{ "path.name" = "{RUN}" }}']
    config.write_text("\n".join(["[parameters]", *lines, ""]))
    return config


def main():
    program, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="secateur-api-") as folder:
        folder = pathlib.Path(folder)
        os.environ.update(HOME=str(folder), XDG_CONFIG_HOME=str(folder), XDG_DATA_HOME=str(folder))
        client = types.SimpleNamespace(window=WINDOW, output=1_000, models=[MODEL])
        store = os.environ.pop("SECATEUR_POSTGRES", "") or str(folder / "store.db")
        with Model(folder, WINDOW) as model, Proxy(folder, model.url, client, store) as proxy:
            config = configuration(folder, fill(store, proxy.url))
            run = ["run", proxy.url + "/api/openapi.json", "--checks", "all", "--request-timeout", "30"]
            run += ["--seed", SEED, *options]
            # Once with names that are made up, once with those that are there.
            plain = subprocess.run([program, *run], cwd=folder).returncode
            real = subprocess.run([program, "--config-file", str(config), *run], cwd=folder).returncode
            if plain or real:
                print((folder / "proxy.log").read_text(), file=sys.stderr)
                sys.exit(1)


main()

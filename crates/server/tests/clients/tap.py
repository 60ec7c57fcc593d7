#!/usr/bin/env python3
"""Stands in for an agent under `secateur run`, and writes down what the agent sends to the proxy.

A link to this file has the name of the agent. The agent itself, TAP_PROGRAM, is started as `run` wants it, with one
difference: wherever the address of the proxy was told, in a variable, an argument or a file that an argument names,
there is that of a relay. The relay passes every byte on, and has a line in TAP_BOOK for every request.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

TOLD = re.compile(r"(?<=http://127\.0\.0\.1:)\d+(?=/run:)")


class Book:
    """Requests in the order in which the last byte of each came."""

    def __init__(self, path):
        self.file, self.lock = open(path, "w"), threading.Lock()

    def enter(self, method, path, length):
        with self.lock:
            print(json.dumps({"method": method, "path": path, "bytes": length}), file=self.file, flush=True)


class Reader:
    """Finds the requests in the bytes of one connection."""

    def __init__(self, book):
        self.book, self.rest, self.is_lost = book, b"", False

    def push(self, data):
        self.rest += data
        while not self.is_lost and (length := self.take()) is not None:
            self.rest = self.rest[length:]

    def take(self):
        """Enters the request at the beginning, if all of it is there; how many bytes it has."""
        head, end, body = self.rest.partition(b"\r\n\r\n")
        if not end:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if "upgrade" in headers:
            # What follows is no HTTP any more.
            self.is_lost = True
        if headers.get("transfer-encoding", "").lower() == "chunked":
            found = chunked(body)
        else:
            length = int(headers.get("content-length", 0))
            found = (length, length) if len(body) >= length else None
        if found is None:
            return None
        method, path, _ = first.split(" ")
        self.book.enter(method, path, found[1])
        return len(head) + len(end) + found[0]


def chunked(body):
    """How long a body in chunks is, with and without what holds them together; none if it is not all there."""
    at, length = 0, 0
    while (end := body.find(b"\r\n", at)) >= 0:
        size = int(body[at:end].split(b";")[0], 16)
        at = end + 2 + size + 2
        if at > len(body):
            return None
        if size == 0:
            return at, length
        length += size
    return None


def pump(source, sink, heard=lambda data: None):
    try:
        while data := source.recv(65536):
            heard(data)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # One side has hung up, and the other hears of it.
        for end in (source, sink):
            end.close()


def relay(listener, port, book):
    while True:
        agent, _ = listener.accept()
        proxy = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=pump, args=(agent, proxy, Reader(book).push), daemon=True).start()
        threading.Thread(target=pump, args=(proxy, agent), daemon=True).start()


def main():
    environment = dict(os.environ)
    program, book = environment.pop("TAP_PROGRAM"), Book(environment.pop("TAP_BOOK"))
    arguments = sys.argv[1:]
    files = {argument: Path(argument).read_text() for argument in arguments if argument.endswith(".mjs")}
    ports = {port for text in [*environment.values(), *arguments, *files.values()] for port in TOLD.findall(text)}
    if len(ports) != 1:
        sys.exit(f"tap: told are {len(ports)} proxies in place of one")
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=relay, args=(listener, int(*ports), book), daemon=True).start()

    def turned(text):
        return TOLD.sub(str(listener.getsockname()[1]), text)

    with tempfile.TemporaryDirectory() as folder:
        for file, text in files.items():
            copy = Path(folder) / Path(file).name
            copy.write_text(turned(text))
            arguments[arguments.index(file)] = str(copy)
        environment = {name: turned(value) for name, value in environment.items()}
        ended = subprocess.run([program, *map(turned, arguments)], env=environment).returncode
    sys.exit(ended if ended >= 0 else 128 - ended)


if __name__ == "__main__":
    main()

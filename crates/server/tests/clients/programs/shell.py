"""The one tool of the programs beside it: a shell."""

import subprocess

DESCRIPTION = "Runs a command in a shell and returns what it prints."
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
SYSTEM = "You do what the user asks for, with the tool bash."


def run(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    return done.stdout + done.stderr

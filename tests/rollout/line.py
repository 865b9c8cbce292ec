"""The command line, built once: `run("runs", "list", "out")` gives its result."""

from __future__ import annotations

from click.testing import CliRunner, Result
from typer.main import get_command

from envscaler.cli.app import app

__all__ = ["Result", "run"]

_COMMAND = get_command(app)


def run(*words: object) -> Result:
    return CliRunner().invoke(_COMMAND, [str(word) for word in words])

"""The command line: parse, call `session`, print."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point of `envscaler` and `python -m envscaler`."""
    from envscaler.cli.app import app

    app(prog_name="envscaler")

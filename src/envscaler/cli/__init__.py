"""The command line: parse, call `session`, print."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point of `envscaler` and `python -m envscaler`."""
    import gc

    from envscaler.cli.app import app

    # Trees of specs are many small objects that live until the command ends; looking through them for cycles is in vain.
    gc.set_threshold(200_000, 20, 20)
    app(prog_name="envscaler")

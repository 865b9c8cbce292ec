"""The command line: parse, call `session`, print."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point of `envscaler` and `python -m envscaler`."""
    import atexit
    import gc

    from envscaler.cli.app import app

    # Trees of specs are many small objects that live until the command ends; looking through them for cycles is in vain.
    gc.set_threshold(200_000, 20, 20)
    # Nor is looking for them once more before the process is gone, which takes a second where a provider's package is loaded.
    atexit.register(gc.freeze)
    app(prog_name="envscaler")

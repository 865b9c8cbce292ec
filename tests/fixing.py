"""How a person would mend a line from what a diagnostic says of it, for scripted models that see nothing else."""

from __future__ import annotations

import re

__all__ = ["mended"]


def mended(line: str, wrong: str, help: str, start: int = 0) -> str | None:  # noqa: A002, as in Diagnostic
    """The line with ``wrong`` put right as the help says; None where the help gives no text for it."""
    if match := re.search(r"did you mean '?(.+?)'?\?", help):
        right = f'"{match[1]}"' if wrong.startswith('"') else match[1]
        return line[:start] + line[start:].replace(wrong, right, 1)
    if match := re.search(r"write `(.*)`", help):
        return line.replace(wrong, match[1], 1)
    return None

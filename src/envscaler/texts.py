"""What messages are made of wherever they are told: a number with its noun, the lines that differ between two texts."""

from __future__ import annotations

import difflib

__all__ = ["counted", "difference"]


def counted(number: int, noun: str, plural: str = "", form: str = "d") -> str:
    """`1 spec`, `2 specs`; ``plural`` where it is more than the noun with an s, ``form`` how the number is written, `,` for
    `3,000 specs`."""
    return f"{number:{form}} {noun if number == 1 else plural or noun + 's'}"


def difference(before: str, after: str, path: str, made: str) -> str:
    """The unified difference of two texts of the file ``path``; ``made`` says in a word how the second came about. Empty for
    equal ones."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, f"{path} ({made})"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

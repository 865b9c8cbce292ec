"""The line at the bottom of a terminal that says how far a command is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from envscaler.diagnostics import printable

__all__ = ["Told", "bar"]


class Told(Protocol):
    """Says how far it is: ``done`` of ``total`` (None where nobody knows), what else there is to say, and at what it is now."""

    def __call__(self, done: int, total: int | None, more: str = "", doing: str | None = None) -> None: ...


@contextmanager
def bar(doing: str, wanted: bool = True) -> Iterator[Told | None]:
    """Such a line, which is gone at the end; None where there is no terminal, or it is not ``wanted``."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[more]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as line:
        task = line.add_task(doing, total=None, more="")

        def told(done: int, total: int | None, more: str = "", doing: str | None = None) -> None:
            at = None if doing is None else printable(doing)
            line.update(task, completed=done, total=total, more=printable(more), description=at)

        yield told

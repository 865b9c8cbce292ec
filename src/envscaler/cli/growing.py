"""How drafting looks while it goes on: a live table on a terminal, a line for each event elsewhere."""

from __future__ import annotations

import difflib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from envscaler.cli.out import note
from envscaler.diagnostics import printable
from envscaler.texts import counted

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from envscaler.session.drafting.work import Told

__all__ = ["grown", "watched"]

_SHOWN: Final = 20  # environments that a table holds; those that are done give way


@contextmanager
def watched(grow: bool = False) -> Iterator[Callable[[Told], None]]:
    """What hears of drafting. ``grow``: the text of a spec is shown, as its parts are accepted."""
    if not sys.stderr.isatty() or grow:
        yield _Lines(grow)
        return
    from rich.console import Console
    from rich.live import Live

    table = _Table()
    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
        table.live = live
        yield table


@dataclass(slots=True)
class _Lines:
    grow: bool
    texts: dict[str, str] = field(default_factory=dict)

    def __call__(self, told: Told) -> None:
        where = f" {told.name}" if told.name else ""
        problems = f", {counted(told.problems, 'problem')}" if told.problems else ""
        took = f" [{_took(told.tokens, told.cost)}]" if told.tokens else ""
        what = told.text or told.what
        lost = "lost: " if told.what == "lost" else ""
        if told.what != "begun" or told.name:
            note(f"{told.stage}{where}: {lost}{what}{problems}{took}")
        if self.grow and told.spec:
            before = self.texts.get(told.name, "")
            self.texts[told.name] = told.spec
            print(printable(grown(before, told.spec)), end="", flush=True)


def grown(before: str, after: str) -> str:
    """The lines of a text that were not in it before."""
    lines = after.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, before.splitlines(keepends=True), lines, autojunk=False)
    new = [lines[b1:b2] for tag, _, _, b1, b2 in matcher.get_opcodes() if tag in {"insert", "replace"}]
    return "".join(line for part in new for line in part)


@dataclass(slots=True)
class _Row:
    title: str = ""
    stage: str = ""
    doing: str = ""
    problems: int | None = None
    tokens: int = 0
    cost: float | None = 0.0
    done: bool = False


@dataclass(slots=True)
class _Table:
    """Rows by environment; the stages before there are any stand in the caption."""

    live: Live | None = None
    rows: dict[str, _Row] = field(default_factory=dict)
    caption: str = ""
    lost: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, told: Told) -> None:
        with self.lock:
            self._hear(told)
            if self.live is not None:
                self.live.update(self._drawn())

    def _hear(self, told: Told) -> None:
        self.lost += told.what == "lost"
        if told.stage not in {"plan", "write", "prove"} or not told.name:
            self.caption = f"{told.stage}: {told.text or told.name or told.what}"
            return
        row = self.rows.setdefault(told.name, _Row())
        row.title = told.title or row.title
        row.stage, row.doing = told.stage, told.text or told.what
        row.problems = told.problems if told.problems is not None else row.problems
        row.tokens += told.tokens
        row.cost = None if row.cost is None or told.cost is None else row.cost + told.cost
        row.done = told.what in {"lost", "edited"} or (told.stage, told.what) == ("prove", "done")

    def _drawn(self) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        caption = f"{self.caption}{f'   lost: {self.lost}' if self.lost else ''}"
        made = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=Text(printable(caption)), caption_justify="left")
        for head in ("Environment", "Theme", "Stage", "At", "Problems", "Tokens", "Cost ($)"):
            right = head in {"Problems", "Tokens", "Cost ($)"}
            made.add_column(head, justify="right" if right else "left", no_wrap=right)
        under_way = {name: row for name, row in self.rows.items() if not row.done}
        finished = {name: row for name, row in self.rows.items() if row.done}
        room = max(0, _SHOWN - len(under_way))
        for name, row in [*list(finished.items())[-room:][:room], *under_way.items()]:
            problems = "" if row.problems is None else str(row.problems)
            cost = "unknown" if row.cost is None else f"{row.cost:.4f}"
            cells = (name, row.title, row.stage, row.doing, problems, f"{row.tokens:,}", cost)
            made.add_row(*(Text(printable(cell)) for cell in cells))
        return made


def _took(tokens: int, cost: float | None) -> str:
    return f"{tokens:,} tokens, {'cost unknown' if cost is None else f'${cost:.4f}'}"

"""The command that counts specs: stats."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.options import Jobs, Json, SpecFiles
from envscaler.cli.out import boundary, echo, echo_json, note
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.session.counting import Counted

__all__ = ["add_to"]


class Format(StrEnum):
    """Of the pictures."""

    png = "png"
    svg = "svg"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("stats")(boundary(stats))


def stats(
    specs: SpecFiles,
    as_json: Json = False,
    plots: Annotated[
        Path | None, typer.Option("--plots", help="Draw the distributions into this folder (needs envscaler[plots]).")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Of the pictures.")] = Format.png,
    jobs: Jobs = 1,
) -> int:
    """Count rules, states, fields and tools of specs, beside the paper's table.

    The paper's columns are those of its Table 2, over 191 environments. A spec with errors is named and left out.
    """
    found = session.stats(specs, plots, form.value, jobs=jobs)
    if as_json:
        echo_json(_plain(found))
    else:
        _show(found)
    for bad in found.bad:
        note(f"{bad.reason}{f' (and {bad.more} more)' if bad.more else ''}; not counted")
    if not found.bad:
        return exits.OK
    return exits.USAGE if all(bad.unread for bad in found.bad) else exits.SPEC


def _show(found: Counted) -> None:
    from envscaler.cli.table import table

    heads = ("Per environment", "Mean", "Median", "Least", "Most", "Paper: mean", "Paper: median")
    if found.specs:
        echo(table(heads, _rows(found), heads[1:]))
    count = len(found.specs)
    echo(f"{counted(count, 'spec')} counted" + (f", {len(found.bad)} left out" if found.bad else ""))
    for path in found.plots:
        echo(str(path))


def _rows(found: Counted) -> Iterator[tuple[str, ...]]:
    group = ""
    for s in found.items:
        if s.item.group != group:
            group = s.item.group
            yield (group, *[""] * 6)
        label = f"  {s.item.label}" if group else s.item.label
        paper = ("", "") if s.item.paper is None else (f"{s.item.paper[0]:.2f}", f"{s.item.paper[1]:g}")
        yield (label, f"{s.mean:.2f}", f"{s.median:g}", str(s.least), str(s.most), *paper)


def _plain(found: Counted) -> dict[str, Any]:
    return {
        "specs": [
            {
                "path": c.path, "name": c.name, "title": c.title, "rules": c.rules, "enforced": c.enforced,
                "states": dict(c.fields), "tools": {"read": c.queries, "write": c.changes, "user": c.user_tools},
                "params": c.params, "refusals": c.refusals, "examples": c.examples, "records": c.records, "lines": c.lines,
            }
            for c in found.specs
        ],
        "items": [
            {
                "item": s.item.name, "mean": round(s.mean, 4), "median": s.median, "least": s.least, "most": s.most,
                "paper": None if s.item.paper is None else {"mean": s.item.paper[0], "median": s.item.paper[1]},
            }
            for s in found.items
        ],
        "left_out": [{"path": b.path, "reason": b.reason} for b in found.bad],
        "plots": [str(p) for p in found.plots],
    }  # fmt: skip

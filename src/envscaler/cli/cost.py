"""The command that shows what a run has cost, in the form of the paper's Table 8."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler.cli import exits
from envscaler.cli.options import Json
from envscaler.cli.out import boundary, echo, echo_json

if TYPE_CHECKING:
    from envscaler.llm.costs import Costs, Figures, Line

__all__ = ["add_to"]

_HEADS = ("Input", "Output", "Total", "Cost ($)")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("cost")(boundary(cost))


def cost(
    run: Annotated[Path, typer.Argument(help="The run's folder.", show_default=False)],
    as_json: Json = False,
) -> int:
    """Show what a run has cost: tokens and dollars for an environment and a scenario, by stage, beside the paper's.

    All attempts count, failed ones too. A cost that is not known is shown as unknown, and what is known of it below.
    """
    from envscaler.session.llm import cost as summed

    costs = summed(run)
    if as_json:
        echo_json(_plain(costs))
    else:
        echo(_tables(costs))
    return exits.OK


def _tables(costs: Costs) -> str:
    from envscaler.llm.costs import PAPER
    from envscaler.llm.labels import STAGES

    rows: list[Sequence[str]] = [("", "", "This run", "", "", "", "The paper", "", ""), ("Stage", *_HEADS, *_HEADS)]
    for section in costs.sections:
        count = f"{section.units} in this run" if section.total.attempts else "none in this run"
        rows.append((f"{section.title} ({count})",))
        for stage, line in section.stages.items():
            cells = _cells(line.each(section.units), bool(line.attempts))
            rows.append((f"  {STAGES[stage]}{_models(line)}", *cells, *_cells(PAPER[stage])))
        cells = _cells(section.total.each(section.units), bool(section.total.attempts))
        rows.append(("  Total", *cells, *_cells(PAPER[section.name])))
    if costs.others:
        rows.append(("Other stages (sums)",))
        for name, line in costs.others.items():
            rows.append((f"  {name or '(no stage)'}{_models(line)}", *_cells(line.each(1), bool(line.attempts))))
    roles: list[Sequence[str]] = [
        ("Role", "Calls", "Attempts", "Failed", "From cache", "Seconds", "Input", "of it cached", "Output", "Cost ($)")
    ]
    for role, line in [*costs.roles.items(), ("All", costs.total)]:
        numbers = (
            line.calls,
            line.attempts,
            line.failed,
            line.from_cache,
            round(line.seconds),
            line.tokens_in,
            line.cached,
        )
        roles.append((role, *(f"{n:,}" for n in (*numbers, line.tokens_out)), _dollars(line)))
    return "\n\n".join([_laid(rows), _laid(roles), *_remarks(costs.total)])


def _models(line: Line) -> str:
    return f" ({', '.join(line.models)})" if line.models else ""


def _laid(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines: the first column to the left, numbers to the right; a row of one cell is a heading."""
    count = max(map(len, rows))
    widths = [max(len(row[n]) for row in rows if len(row) > max(n, 1)) for n in range(count)]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=False))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _cells(figures: Figures, any_: bool = True) -> tuple[str, str, str, str]:
    if not any_:
        return ("-", "-", "-", "-")
    money = "unknown" if figures.cost is None else f"{figures.cost:.4f}"
    return (f"{figures.tokens_in:,.0f}", f"{figures.tokens_out:,.0f}", f"{figures.tokens:,.0f}", money)


def _dollars(line: Line) -> str:
    from envscaler.llm.prices import NANO

    known = f"{line.cost / NANO:.4f}"
    if not line.unpriced:
        return known
    return f"{known} + unknown" if line.cost else "unknown"


def _remarks(total: Line) -> list[str]:
    said = []
    if total.unpriced:
        said.append(
            f"No price was known for {total.unpriced} of {total.attempts} attempts; their cost is not in the sums."
        )
    if total.uncounted:
        said.append(
            f"Of {total.uncounted} of {total.attempts} attempts nobody said how many tokens they used (time-outs, dropped "
            "connections, servers that do not count); they are in the sums with none."
        )
    return said


def _plain(costs: Costs) -> dict[str, Any]:
    from envscaler.llm.costs import PAPER

    return {
        "sections": [
            {
                "name": s.name,
                "units": s.units if s.total.attempts else 0,
                "stages": [
                    {"stage": name, "each": _figures(line.each(s.units)), "sum": _line(line), "paper": _figures(PAPER[name])}
                    for name, line in s.stages.items()
                ],
                "total": {
                    "each": _figures(s.total.each(s.units)), "sum": _line(s.total), "paper": _figures(PAPER[s.name]),
                },
            }
            for s in costs.sections
        ],
        "others": {name: _line(line) for name, line in costs.others.items()},
        "roles": {name: _line(line) for name, line in costs.roles.items()},
        "total": _line(costs.total),
    }  # fmt: skip


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "tokens_in": figures.tokens_in,
        "tokens_out": figures.tokens_out,
        "tokens": figures.tokens,
        "cost": figures.cost,
    }


def _line(line: Line) -> dict[str, Any]:
    from envscaler.llm.prices import NANO

    return {
        "calls": line.calls,
        "attempts": line.attempts,
        "failed": line.failed,
        "from_cache": line.from_cache,
        "seconds": line.seconds,
        "tokens_in": line.tokens_in,
        "tokens_out": line.tokens_out,
        "tokens_cached": line.cached,
        "cost": None if line.unpriced else line.cost / NANO,
        "cost_known": line.cost / NANO,
        "unpriced": line.unpriced,
        "uncounted": line.uncounted,
        "models": list(line.models),
    }

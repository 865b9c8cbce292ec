"""The command that compares two versions of a spec: diff."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.options import Json
from envscaler.cli.out import boundary, echo, echo_json
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.changes import Change
    from envscaler.session.comparing import Difference

__all__ = ["add_to"]

_HEADS = {"agent": "For an agent", "scenario": "For a scenario", "recording": "For a recording"}
_CUT = 160  # longer texts are cut on a terminal, not in JSON


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("diff")(boundary(diff))


def diff(
    old: Annotated[Path, typer.Argument(help="The spec file as it was.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="The spec file as it is.", show_default=False)],
    as_json: Json = False,
    recording: Annotated[
        list[Path] | None, typer.Option("--recording", help="Replay these on both, and list what comes out otherwise.")
    ] = None,
    api: Annotated[str | None, typer.Option("--api", help="The recorded API, where there are several.")] = None,
) -> int:
    """Show what changed between two versions of a spec, by whom it concerns.

    An agent is told texts and calls tools, a scenario brings a state, a recording expects what it recorded. A change is
    breaking if what worked with the old version may not work with the new one. Layout, comments and examples are no
    change. The exit code is 1 if anything changed, as with diff.
    """
    found = session.diff(old, new, recording or (), api=api)
    if as_json:
        echo_json(_plain(found))
    else:
        _show(found)
    return exits.FINDINGS if found.changed else exits.OK


def _show(found: Difference) -> None:
    for audience, head in _HEADS.items():
        changes = [c for c in found.changes if c.audience == audience]
        if changes:
            echo(head)
            for change in changes:
                _change(change, found)
            echo("")
    if found.outcomes:
        echo(f"Recorded calls that come out otherwise, of {counted(found.cases, 'case')}")
        for outcome in found.outcomes:
            echo(f"  {outcome.where}")
            echo(f"      old  {outcome.old}")
            echo(f"      new  {outcome.new}")
        echo("")
    elif found.cases:
        echo(f"{counted(found.cases, 'recorded case')} come{'s' * (found.cases == 1)} out the same.")
    if found.refused:
        echo("The old initial state is refused by the new version:")
        for problem in found.refused[:8]:
            echo(f"  {problem}")
    elif found.changes:
        echo("The old initial state is accepted by the new version.")
    number = len(found.changes)
    compatible = number - found.breaking
    echo(f"{counted(number, 'change')}: {found.breaking} breaking, {compatible} compatible" if number
         else "no change")  # fmt: skip


def _change(change: Change, found: Difference) -> None:
    echo(f"  {'breaking  ' if change.breaking else 'compatible'}  {change.subject}: {change.what}")
    places = [f"{path}:{line}" for path, line in ((found.old, change.old), (found.new, change.new)) if line is not None]
    echo(f"              {change.reason}" + (f" ({' → '.join(places)})" if places else ""))
    for sign, text in zip("-+", _texts(change.was, change.now), strict=True):
        if text is not None:
            echo(f"              {sign} {text}")


def _texts(was: str | None, now: str | None) -> tuple[str | None, str | None]:
    """Two texts on a line each; long ones from shortly before where they begin to differ."""
    lines = [None if text is None else " ".join(text.split()) for text in (was, now)]
    start = max(0, _alike(lines[0] or "", lines[1] or "") - 40)
    first, second = (None if line is None else _cut(line, start) for line in lines)
    return first, second


def _alike(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _cut(line: str, start: int) -> str:
    if len(line) <= _CUT:
        return line
    end = start + _CUT
    return f"{'… ' * (start > 0)}{line[start:end]}{' …' * (end < len(line))}"


def _plain(found: Difference) -> dict[str, Any]:
    def place(path: str, line: int | None) -> dict[str, Any] | None:
        return None if line is None else {"path": path, "line": line}

    return {
        "changed": found.changed,
        "breaking": found.breaking,
        "changes": [
            {
                "for": c.audience, "subject": c.subject, "what": c.what, "reason": c.reason, "breaking": c.breaking,
                "old": place(found.old, c.old), "new": place(found.new, c.new), "was": c.was, "now": c.now,
            }
            for c in found.changes
        ],
        "old_initial_state": {"accepted": not found.refused, "problems": list(found.refused)},
        "cases": found.cases,
        "outcomes": [
            {
                "file": o.path, "line": o.line, "case": o.case, "call": o.call, "tool": o.tool, "old": o.old, "new": o.new,
            }
            for o in found.outcomes
        ],
    }  # fmt: skip

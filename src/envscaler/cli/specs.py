"""The commands about specs themselves: new, check, fmt, compile, schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.options import Jobs, Json
from envscaler.cli.out import boundary, echo, echo_json, note
from envscaler.texts import counted, difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envscaler.diagnostics import Diagnostic

__all__ = ["add_to"]

Specs = Annotated[
    list[Path],
    typer.Argument(
        metavar="SPEC...", help="Spec files, folders of them, names of installed specs.", show_default=False
    ),
]
Json = Json
Github = Annotated[bool, typer.Option("--github", help="Print GitHub workflow annotations.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (new, check, fmt, compile_, schema):
        app.command(command.__name__.rstrip("_"))(boundary(command))


def new(
    name: Annotated[str, typer.Argument(help="The spec's name: lower-case letters, digits and _.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, or its folder. Default: NAME.yaml.")
    ] = None,
) -> int:
    """Write a starter spec, which checks and compiles as it is."""
    path = session.new(name, output)
    echo(str(path))
    return exits.OK


def check(specs: Specs, jobs: Jobs = 1, as_json: Json = False, github: Github = False) -> int:
    """Check specs and show every problem at its line.

    Nothing in a spec is run. A folder means the YAML files in it that have a line beginning with `envscaler:`. Notes are
    shown in full when one spec is checked, else a line each.
    """
    report = session.check(specs, jobs=jobs)
    full = [d for d in report.diagnostics if d.severity != "note" or len(report.sources) == 1 or as_json or github]
    _show(full, report.sources, as_json, github)
    if not (as_json or github):
        brief = [d.headline() for d in report.diagnostics if d not in full]
        if full:
            echo("")
        for line in brief:
            echo(line)
        for path in report.skipped:
            echo(f"{path}: no spec (no line begins with `envscaler:`), skipped")
        _unread(*report.unread)
        counts = [counted(report.errors, "error"), counted(report.warnings, "warning")]
        notes = len(report.diagnostics) - report.errors - report.warnings
        if notes:
            counts.append(counted(notes, "note"))
        echo(f"{counted(len(report.sources), 'spec')} checked: {', '.join(counts)}")
    return exits.SPEC if report.errors else exits.USAGE if report.unread else exits.OK


def _unread(*reasons: str) -> None:
    for reason in reasons:
        note(f"envscaler: {reason}")


def _show(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], as_json: bool, github: bool) -> None:
    from envscaler import diagnostics as forms

    if as_json and github:
        raise typer.BadParameter("--json and --github exclude each other")
    if as_json:
        print(forms.render_json(diagnostics))
    elif diagnostics:
        print(forms.render_github(diagnostics) if github else forms.render_text(diagnostics, sources))


def fmt(
    specs: Specs,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a file is not formatted.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show what would change.")] = False,
    jobs: Jobs = 1,
) -> int:
    """Format specs in place, comments kept. Formatting twice changes nothing more."""
    from envscaler.diagnostics import render_text

    changed = failed = unread = 0
    for file in session.fmt(specs, write=not (check or diff), jobs=jobs):
        if file.unread:
            unread += 1
            _unread(file.unread)
        elif file.diagnostics:
            failed += 1
            print(render_text(file.diagnostics, {str(file.path): file.before}))
        elif file.changed:
            changed += 1
            if diff:
                _diff(file)
            else:
                echo(f"{file.path}: {'not formatted' if check else 'formatted'}")
    if failed:
        return exits.SPEC
    if unread:
        return exits.USAGE
    return exits.FINDINGS if changed and (check or diff) else exits.OK


def _diff(file: session.Formatted) -> None:
    echo(difference(file.before, file.after, str(file.path), "formatted").rstrip("\n"))


_GRAVEST = (exits.SPEC, exits.USAGE, exits.STATE, exits.FINDINGS, exits.OK)


def compile_(
    specs: Specs,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write (for one spec, *.py) or a folder. Default: build/NAME.py."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify/--no-verify", help="Load each class, test its initial state, run the spec's examples."),
    ] = True,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> int:
    """Compile specs to Python classes and verify them.

    Prints where each was written. Verifying loads the class, tests the initial state against the rules and runs the
    spec's examples. A spec with errors is reported and does not stop the others.
    """
    from envscaler.diagnostics import render_json, render_text
    from envscaler.replay.examples import INITIAL_STATE

    codes, rows = {exits.OK}, []
    for unit in session.compile(specs, output, verify=verify, jobs=jobs):
        problems = [*unit.diagnostics, *unit.failures]
        if unit.unread:
            codes.add(exits.USAGE)
            _unread(unit.unread)
        elif unit.output is None:
            codes.add(exits.SPEC)
        elif unit.failures:
            codes.add(exits.STATE if unit.failures[0].code == INITIAL_STATE else exits.FINDINGS)
        if as_json:
            rows.append((unit, problems))
            continue
        shown = [p for p in problems if p.severity != "note"]  # `check` shows notes
        if shown:
            note(render_text(shown, {unit.path: unit.source}))
        if unit.output is not None:
            echo(str(unit.output))
    if as_json:
        import json

        echo_json(
            [
                {
                    "spec": unit.path,
                    "module": None if unit.output is None else str(unit.output),
                    "diagnostics": json.loads(render_json(problems)),
                }
                for unit, problems in rows
            ]
        )
    return next(code for code in _GRAVEST if code in codes)


def schema(
    card: Annotated[
        bool, typer.Option("--card", help="Print the grammar card instead: the language on a page.")
    ] = False,
) -> int:
    """Print the JSON Schema of spec files, for editors."""
    if card:
        print(session.grammar_card())
    else:
        echo_json(session.json_schema())
    return exits.OK

"""The command that writes pages about specs: docs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.options import Jobs, SpecFiles
from envscaler.cli.out import boundary, echo, note

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("docs")(boundary(docs))


def docs(
    specs: SpecFiles,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write (for one spec, *.html) or a folder. Default: build/NAME.html."
        ),
    ] = None,
    jobs: Jobs = 1,
    open_: Annotated[bool, typer.Option("--open", help="Show the last page written in a browser.")] = False,
) -> int:
    """Write an HTML page about each spec, for people.

    A page shows the states as a diagram, the rules, each tool with what it refuses, reads and writes, and the initial
    state. It is one file that needs no other and no network. For a folder, or several specs, an index page leads to
    them. A spec with errors is reported and does not stop the others.
    """
    from envscaler.diagnostics import render_text

    code, last = exits.OK, None
    for page in session.docs(specs, output, jobs=jobs):
        if page.unread:
            code = code or exits.USAGE
            note(f"envscaler: {page.unread}")
        elif page.output is None:
            code = exits.SPEC
            note(render_text(page.diagnostics, {page.path: page.source}))
        else:
            last = page.output
            echo(str(page.output))
    if open_ and last is not None:
        import webbrowser

        if not webbrowser.open(last.resolve().as_uri()):
            note(f"no browser was found to show {last}")
    return code

"""The command `play`: a session at the terminal, or lines from a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.environment import Actor, ActorOption, Clock, Seed, Spec
from envscaler.cli.out import boundary
from envscaler.errors import UsageError

if TYPE_CHECKING:
    from envscaler.play import Player

__all__ = ["add_to", "entries", "history_file"]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("play")(boundary(play))


def play(
    spec: Spec,
    seed: Seed = 0,
    state: Annotated[
        Path | None, typer.Option("--state", help="JSON file with the state to begin with. Default: the spec's own.")
    ] = None,
    clock: Clock = None,
    actor: ActorOption = Actor.agent,
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Recording to begin with: its state, seed and calls.")
    ] = None,
    case: Annotated[str | None, typer.Option("--case", help="The case of the recording. Default: the first.")] = None,
    api: Annotated[str | None, typer.Option("--api", help="The recorded API, where there are several.")] = None,
    history: Annotated[
        bool, typer.Option("--history/--no-history", help="Keep the typed lines for the next session.")
    ] = True,
) -> int:
    """Call tools by hand, in a session with completion and undo.

    A line is a tool with its arguments (`transfer from_account=A-2001 amount=20`, or the JSON that a model sends) or a
    command such as `:undo`; `:help` lists them. What a call changed stands below its result.

    Without a terminal the lines are read from standard input and the session is printed as plain text. The exit code is
    then 1 if a line was not understood or a command could not be carried out; a tool that refuses is an answer like any
    other.
    """
    player = session.play(spec, seed=seed, state=state, clock=clock, actor=actor.value)
    first = [] if replay is None else [_replay_line(replay, case, api)]
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _terminal(player, first, history)
    return _piped(player, first)


def _replay_line(replay: Path, case: str | None, api: str | None) -> str:
    import json

    named = {"case": case, "api": api}
    words = [json.dumps(str(replay)), *(f"{k}={json.dumps(v)}" for k, v in named.items() if v is not None)]
    return " ".join([":replay", *words])


# -- from a pipe


def _piped(player: Player, first: list[str]) -> int:
    code = exits.OK
    for text in (*first, *entries(sys.stdin)):
        if not text.strip():
            continue
        print(player.echo(text))
        answer = player.handle(text)
        for row in answer.lines:
            print(row)
        if not answer.understood:
            code = exits.FINDINGS
        if answer.leave:
            break
        sys.stdout.flush()
    return code


def entries(rows: Iterable[str]) -> Iterator[str]:
    """Lines; a JSON object or list that is not closed goes on, up to an empty line."""
    held = ""
    for row in rows:
        row = row.rstrip("\r\n")
        if held and row.strip() and _open(held):
            held += "\n" + row
            continue
        if held:
            yield held
        held = row
        if not _open(held):
            yield held
            held = ""
    if held:
        yield held


def _open(text: str) -> bool:
    from envscaler.play import LineError, parse

    try:
        parse(text)
    except LineError as error:
        return error.unfinished
    return False


# -- at a terminal


def history_file() -> Path:
    """Where typed lines are kept: `envscaler/play_history` in the user's folder for state (XDG)."""
    root = os.environ.get("XDG_STATE_HOME", "")
    base = Path(root) if Path(root).is_absolute() else Path.home() / ".local" / "state"
    return base / "envscaler" / "play_history"


def _terminal(player: Player, first: list[str], history: bool) -> int:
    try:
        import prompt_toolkit  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError(
            "a session at the terminal needs prompt_toolkit: pip install 'envscaler[play]' (lines from a pipe do not)"
        ) from None
    from envscaler.cli.terminal import Terminal

    Terminal(player, history_file() if history else None).run(first)
    return exits.OK

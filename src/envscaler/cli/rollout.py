"""The command that lets agents play scenarios: rollout."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler.cli import exits
from envscaler.cli.bar import bar
from envscaler.cli.llm import ModelOptions
from envscaler.cli.options import AnyHash, Jobs, SpecsFolder
from envscaler.cli.out import boundary, echo, kept, note
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.rollout.store import Totals
    from envscaler.session.rollouts import Rolled, RolloutProgress

__all__ = ["add_to", "dollars"]

_SHOWN = 20  # failures that are listed


class Setting(StrEnum):
    """How an episode goes."""

    alone = "non-conversation"
    talking = "conversation"


class ScoreMode(StrEnum):
    """How goals and guards become a reward."""

    guarded = "guarded"
    paper = "paper"
    strict = "strict"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("rollout")(boundary(rollout))


def rollout(
    scenarios: Annotated[Path, typer.Argument(help="A file of scenarios, JSON lines or YAML.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="RUN", help="The folder that trajectories are added to.")
    ] = Path("run"),
    agent: Annotated[
        str,
        typer.Option(
            "--agent", "-a", metavar="NAME", help="Who plays: reference, random, noop, scripted, human, llm, llm-text …"
        ),
    ] = "reference",
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            metavar="NAME",
            help="Who is talked to in a conversation: facts, llm …, or none.  [default: facts in a conversation]",
            show_default=False,
        ),
    ] = None,
    setting: Annotated[
        Setting | None,
        typer.Option(
            "--setting",
            help="The whole task at once, or a conversation.  [default: conversation where a user is named]",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[int, typer.Option("-n", "--samples", help="Episodes of each scenario.")] = 1,
    concurrency: Annotated[int, typer.Option("--concurrency", help="Episodes played at once in a process.")] = 16,
    jobs: Jobs = 1,
    executor: Annotated[
        str | None,
        typer.Option(
            "--executor",
            metavar="NAME[,KEY=VALUE...]",
            help="Who has the processes, and its settings: processes, or a plugin's; async is this process alone.  "
            "[default: processes, and async with --jobs 1]",
            show_default=False,
        ),
    ] = None,
    specs: SpecsFolder = None,
    any_hash: AnyHash = False,
    seed: Annotated[int, typer.Option("--seed", help="Of agents and users that draw.")] = 0,
    mode: Annotated[
        ScoreMode, typer.Option("--mode", help="How goals and guards become a reward.")
    ] = ScoreMode.guarded,
    steps: Annotated[int, typer.Option("--steps", help="Replies of the agent in an episode, at most.")] = 30,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help="Of an agent that is a model.", show_default=False)
    ] = None,
    reply_tokens: Annotated[
        int | None,
        typer.Option(
            "--reply-tokens", help="Tokens of one reply of a model, at most.  [default: 4096]", show_default=False
        ),
    ] = None,
    episode_tokens: Annotated[
        int, typer.Option("--episode-tokens", help="Tokens that a conversation may be long.")
    ] = 32768,
    call_seconds: Annotated[float, typer.Option("--call-seconds", help="Seconds for one reply.")] = 120.0,
    seconds: Annotated[float, typer.Option("--seconds", help="Seconds for an episode.")] = 1800.0,
    retries: Annotated[
        int, typer.Option("--retries", help="How often an episode is begun again whose backend or world failed.")
    ] = 2,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="agent|user.NAME=VALUE",
            help="A setting of the agent or the user; repeatable.",
            show_default=False,
        ),
    ] = None,
    models: ModelOptions = ModelOptions(),  # noqa: B008 - nothing of it changes
) -> int:
    """Let an agent play scenarios, alone or with a simulated user; the trajectories, with rewards, go into a folder.

    The same command goes on where one was ended, by Ctrl-C or otherwise: what is there is not played again. Episodes that
    failed through no fault of the agent have no reward; they are listed at the end, and tried again.
    """
    from envscaler.session.rollouts import RolloutOptions
    from envscaler.session.rollouts import rollout as play

    who, how = _user(user, setting)
    told = _settings(settings or [])
    for name, value in (("temperature", temperature), ("max_tokens", reply_tokens)):
        if value is not None:
            told["agent"][name] = value
    person = agent == "human"
    place, its = _executor(executor)
    options = RolloutOptions(
        agent, who, how, told["agent"], told["user"], samples, seed, mode.value,
        limits={
            "steps": steps, "context": episode_tokens,
            "call_seconds": 1e6 if person else call_seconds, "seconds": 1e6 if person else seconds,
        },
        retries=retries, any_hash=any_hash,
    )  # fmt: skip
    with kept(), _progress(not person) as progress:
        rolled = play(
            scenarios, output, options, specs=specs, concurrency=1 if person else concurrency, jobs=jobs, executor=place,
            executor_settings=its, llm=models.told(), progress=progress, ask=_ask if person else None, tell=note,
        )  # fmt: skip
    _sum_up(rolled)
    return exits.OK if rolled.complete else exits.FINDINGS


def _user(user: str | None, setting: Setting | None) -> tuple[str | None, str]:
    """The user and the setting; one follows from the other where only one is named."""
    named = None if user == "none" else user
    if setting is None:
        setting = Setting.alone if named is None else Setting.talking
    if setting is Setting.talking and user is None:
        named = "facts"
    return named, setting.value


def _settings(given: list[str]) -> dict[str, dict[str, Any]]:
    from envscaler.errors import UsageError

    told: dict[str, dict[str, Any]] = {"agent": {}, "user": {}}
    for text in given:
        place, equals, value = text.partition("=")
        part, dot, name = place.partition(".")
        if not equals or not dot or not name or part not in told:
            raise UsageError(f"--set is written agent.NAME=VALUE or user.NAME=VALUE, not {text!r}")
        told[part][name] = _value(value)
    return told


def _executor(given: str | None) -> tuple[str | None, dict[str, Any]]:
    """The name of an executor, and the settings that follow it."""
    from envscaler.errors import UsageError

    name, *parts = (given or "").split(",")
    told = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise UsageError(f"--executor is written NAME,KEY=VALUE, not {given!r}")
        told[key] = _value(value)
    return name or None, told


def _value(text: str) -> Any:
    """JSON, or else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _ask(text: str) -> str:
    echo(text)
    try:
        return input("> ")
    except EOFError:
        return ""


# -- what is shown


def dollars(totals: Totals) -> str:
    """What a run has cost, as far as it is known."""
    known = f"${totals.cost / 1e9:.4f}"
    return f"{known} + unknown" if totals.unpriced else known


def _sum_up(rolled: Rolled) -> None:
    totals = rolled.totals
    before = f", {rolled.kept} were there" if rolled.kept else ""
    echo(f"{rolled.played} of {rolled.wanted} episodes played{before}; {rolled.folder}")
    mean = "none is scored" if totals.mean is None else f"mean reward {totals.mean:.4f} over {totals.scored} scored"
    tokens = f", {totals.tokens:,} tokens, {dollars(totals)}" if totals.tokens or totals.cost else ""
    echo(f"{totals.done} in the run: {mean}{tokens}")
    if rolled.left_out:
        left = counted(len(rolled.left_out), "scenario")
        note(f"{left} left out: the user acts there, and only --user plays one")
    if rolled.failed:
        note(f"{len(rolled.failed)} failed and have no reward; the same command tries them again:")
        for name, why in list(rolled.failed.items())[:_SHOWN]:
            note(f"  {name}: {why[:300]}")
        if len(rolled.failed) > _SHOWN:
            note(f"  … and {len(rolled.failed) - _SHOWN} more")


@contextmanager
def _progress(wanted: bool) -> Iterator[Callable[[RolloutProgress], None] | None]:
    """A line at the bottom of the terminal; nothing where there is no terminal."""
    with bar("playing", wanted) as line:
        if line is None:
            yield None
            return
        before: int | None = None

        def heard(at: RolloutProgress) -> None:
            nonlocal before
            before = at.ended if before is None else before
            rate = (at.ended - before) / at.seconds if at.seconds else 0.0
            mean = "-" if at.totals.mean is None else f"{at.totals.mean:.3f}"
            aside = f", {at.totals.aside} set aside" if at.totals.aside else ""
            line(at.ended, at.wanted, f"mean reward {mean}, {dollars(at.totals)}, {rate:.1f}/s{aside}")

        yield heard

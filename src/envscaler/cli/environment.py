"""The commands about an environment: describe, call, replay."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.options import Jobs, Json
from envscaler.cli.out import boundary, echo, echo_json, note
from envscaler.errors import UsageError
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.replay import Difference, Report

__all__ = ["add_to"]


class Provider(StrEnum):
    """Whose form of tool schemas."""

    openai = "openai"
    openai_strict = "openai-strict"
    anthropic = "anthropic"
    mcp = "mcp"


class Actor(StrEnum):
    """Whose tools."""

    agent = "agent"
    user = "user"


Spec = Annotated[Path, typer.Argument(help="The spec file, or the name of an installed spec.", show_default=False)]
ActorOption = Annotated[Actor, typer.Option("--actor", help="The agent, or the simulated user.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of generated keys and random draws.")]
Clock = Annotated[
    str | None,
    typer.Option("--clock", help="The episode's time, in the form of the spec's clock. Default: the spec's own."),
]
Json = Json


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (describe, call, replay):
        app.command(command.__name__)(boundary(command))


def describe(
    spec: Spec,
    provider: Annotated[
        Provider | None, typer.Option("--provider", help="Print the tools as JSON in the form of this provider.")
    ] = None,
    actor: ActorOption = Actor.agent,
    as_json: Json = False,
) -> int:
    """Show what an agent is told, and its tools.

    That is the introduction, the rules and policies, and the tools as a table or as JSON for a provider.
    """
    told = session.describe(spec, actor.value)
    if provider is not None:
        catalogue = told.catalogue(provider.value)
        for name, reason in catalogue.fallbacks.items():
            note(f"{name} is not offered as strict: {reason}")
        for warning in catalogue.warnings:
            note(f"warning: {warning}")
        echo_json(catalogue.tools)
    elif as_json:
        echo_json({"name": told.name, "title": told.title, "doc": told.doc, "tools": told.catalogue().tools})
    else:
        from envscaler.cli.table import tool_table

        echo(told.doc.rstrip())
        echo("")
        echo(tool_table(told.catalogue().tools, told.kinds))
    return exits.OK


def call(
    spec: Spec,
    tool: Annotated[str, typer.Argument(help="The tool's name.", show_default=False)],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments, as a JSON object.")] = "{}",
    seed: Seed = 0,
    state: Annotated[
        Path | None, typer.Option("--state", help="JSON file with the state to begin with. Default: the spec's own.")
    ] = None,
    clock: Clock = None,
    actor: ActorOption = Actor.agent,
    changes: Annotated[bool, typer.Option("--changes", help="Also print what the call changed.")] = False,
) -> int:
    """Call a tool once and print its result as JSON.

    The exit code is 1 if the call fails.
    """
    result, changed = session.call(spec, tool, arguments, seed=seed, state=state, clock=clock, actor=actor.value)
    shown: dict[str, Any] = dict(result.to_json())
    if changes:
        shown["changes"] = changed
    echo_json(shown)
    return exits.OK if result.ok else exits.FINDINGS


def replay(
    spec: Annotated[
        Path, typer.Argument(help="The spec file, or a folder of specs with a recordings.yaml.", show_default=False)
    ],
    recordings: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Recordings: .jsonl or .jsonl.xz. For a folder of specs: the folder that keeps their recordings.",
            show_default=False,
        ),
    ],
    api: Annotated[
        str | None, typer.Option("--api", help="The recorded API to replay, where there are several.")
    ] = None,
    known: Annotated[
        Path | None, typer.Option("--known", help="YAML list of differences that are expected, each with a reason.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed for cases that record none.")] = 0,
    jobs: Jobs = 1,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="For a folder of specs: print the table as Markdown.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Run recorded calls and compare what they give.

    Each result or error is compared, and the state at the end of each case: numbers by value, text exactly. The last
    line counts cases and calls right and wrong; the exit code is 1 if any is wrong. For a folder of specs, its
    recordings.yaml says which recordings belong to which spec, and a table of all of them comes at the end.
    """
    if spec.is_dir():
        if len(recordings) != 1 or api is not None or known is not None:
            raise UsageError(
                "for a folder of specs, name the one folder of recordings; --api and --known stand in its list"
            )
        return _replay_folder(spec, recordings[0], seed, jobs, as_markdown, as_json)
    tell = None if as_json else _tell
    report = session.replay(spec, recordings, api=api, known=known, seed=seed, jobs=jobs, tell=tell)
    if as_json:
        echo_json(_plain(report))
    else:
        for entry in report.unused:
            note(f"listed as known, but not met: {entry}")
        echo(report.summary)
    return exits.OK if report.ok else exits.FINDINGS


_HEADS = ("Spec", "Replays", "Tools", "Calls right", "Final states right", "Known to differ")


def _replay_folder(folder: Path, recordings: Path, seed: int, jobs: int, as_markdown: bool, as_json: bool) -> int:
    from envscaler.cli.table import markdown, table

    ports = []
    for port in session.replay_folder(folder, recordings, seed=seed, jobs=jobs):
        ports.append(port)
        if not as_json:
            for difference in port.report.differences:
                if difference.known is None:
                    _tell(difference)
            for entry in port.report.unused:
                note(f"listed as known, but not met: {entry}")
    if as_json:
        echo_json([{"spec": str(p.spec), "folder": p.folder, "api": p.api, **_plain(p.report)} for p in ports])
    else:
        print((markdown if as_markdown else table)(_HEADS, [_row(p) for p in ports], _HEADS[2:5]))
    return exits.OK if all(p.report.ok for p in ports) else exits.FINDINGS


def _row(port: session.PortReport) -> tuple[str, ...]:
    report = port.report
    calls = report.calls_right + report.calls_known + report.calls_wrong
    states = report.states - report.states_known - report.states_wrong
    known = [(report.calls_known, "call"), (report.states_known, "state")]
    return (
        port.name,
        port.folder if port.api is None else f"{port.folder}, {port.api}",
        str(port.tools),
        f"{report.calls_right} of {calls}",
        f"{states} of {report.states}",
        ", ".join(counted(n, word) for n, word in known if n) or "nothing",
    )


def _tell(difference: Difference) -> None:
    echo(f"{difference.where}" + (f" (known: {difference.known})" if difference.known is not None else ""))
    if not difference.mismatches or difference.mismatches[0].path == "":
        echo(f"    expected {difference.expected}")
        echo(f"    got      {difference.got}")
    else:
        if difference.call == "state":
            echo(f"    {difference.got}")
        for place in difference.mismatches:
            echo(f"    {place}")


def _plain(report: Report) -> dict[str, Any]:
    return {
        "ok": report.ok,
        "summary": report.summary,
        "cases": {"right": report.cases_right, "wrong": report.cases_wrong, "known": report.cases_known},
        "calls": {"right": report.calls_right, "wrong": report.calls_wrong, "known": report.calls_known},
        "differences": [_plain_difference(d) for d in report.differences],
        "unused": [{"case": k.case, "call": k.call, "reason": k.reason} for k in report.unused],
    }


def _plain_difference(difference: Difference) -> dict[str, Any]:
    return {
        "file": difference.path,
        "line": difference.line,
        "case": difference.case,
        "call": difference.call,
        "tool": difference.tool,
        "expected": difference.expected,
        "got": difference.got,
        "places": [
            {"path": m.path, "expected": json.loads(_json(m.expected)), "got": json.loads(_json(m.got))}
            for m in difference.mismatches
        ],
        "known": difference.known,
    }


def _json(value: Any) -> str:
    return json.dumps(value, default=lambda _: None)

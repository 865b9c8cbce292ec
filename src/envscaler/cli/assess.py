"""The command that has specs judged: assess."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler.cli import exits
from envscaler.cli.bar import bar
from envscaler.cli.llm import ModelOptions
from envscaler.cli.options import Jobs, SpecFiles
from envscaler.cli.out import boundary, echo, kept, note
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.assess import Progress
    from envscaler.session.assessing import Assessed

__all__ = ["add_to"]

_BUDGET = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>s|m)?")
_SHOWN = 12  # findings of one spec that are printed in full


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("assess")(boundary(assess))


def assess(
    specs: SpecFiles,
    assessor: Annotated[
        list[str] | None,
        typer.Option(
            "--assessor", "-a", metavar="NAME", help="Who judges; repeatable.  [default: fuzz]", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the fuzzer: the same seed gives the same report.")] = 0,
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            metavar="CALLS|30s",
            help="Of the fuzzer: calls for each spec, or seconds (30s) or minutes (2m).",
        ),
    ] = "6000",
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="ASSESSOR.NAME=VALUE", help="A setting of an assessor; repeatable.", show_default=False
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", help="Let a spec pass with this score from each assessor, instead of by its verdict."
        ),
    ] = None,
    jobs: Jobs = 1,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FOLDER",
            help="Keep what is done in this folder; a run that was ended goes on where it was.",
        ),
    ] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write a report for programs.")] = None,
    as_junit: Annotated[Path | None, typer.Option("--junit", help="Write a report for CI, as JUnit XML.")] = None,
    as_html: Annotated[
        Path | None, typer.Option("--html", help="Write a report for people: one file, with pictures.")
    ] = None,
    models: ModelOptions = ModelOptions(),  # noqa: B008 - nothing of it changes
) -> int:
    """Have environments judged: attacked with calls of all kinds, and held to what a sound one promises.

    A finding comes with the fewest calls that show it, to paste into `envscaler play`, and with the line of the spec.
    """
    from envscaler import session

    names = assessor or ["fuzz"]
    settings = _settings(names, seed, budget, setting or [])
    if threshold is not None and not 0 <= threshold <= 1:
        raise _usage(f"--threshold lies between 0 and 1, not {threshold:g}")
    found: list[Assessed] = []
    with kept(run is not None), _progress(len(specs)) as (progress, tell, done):
        for one in session.assess(
            specs, names, settings=settings, jobs=jobs, run=run, progress=progress, llm=models.told(), tell=tell
        ):
            done(one)
            found.append(one)
    for one in found:
        _show(one)
    _sum_up(found, threshold)
    for path, form in ((as_json, "json"), (as_junit, "junit"), (as_html, "html")):
        if path is not None:
            session.write_report(found, path, form, threshold=threshold)
            note(f"wrote {path}")
    return _code(found, threshold)


def _code(found: list[Assessed], threshold: float | None) -> int:
    if any(not one.passes(threshold) and not one.problem for one in found):
        return exits.FINDINGS
    return max((one.code for one in found), default=exits.OK)


def _usage(text: str) -> Exception:
    from envscaler.errors import UsageError

    return UsageError(text)


def _settings(names: list[str], seed: int, budget: str, given: list[str]) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {name: {} for name in names}
    if "fuzz" in made:
        made["fuzz"] = {"seed": seed, **_budget(budget)}
    for text in given:
        place, equals, value = text.partition("=")
        name, dot, key = place.partition(".")
        if not equals or not dot or not key:
            raise _usage(f"--set is written ASSESSOR.NAME=VALUE, not {text!r}")
        made.setdefault(name, {})[key] = _value(value)
    return made


def _value(text: str) -> Any:
    """JSON, or else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _budget(text: str) -> dict[str, Any]:
    match = _BUDGET.fullmatch(text)
    if match is None or (match["unit"] is None and not match["number"].isdigit()):
        raise _usage(f"--budget is a number of calls, or a time like 30s or 2m, not {text!r}")
    if match["unit"] is None:
        return {"calls": int(match["number"])}
    return {"calls": 10**9, "seconds": float(match["number"]) * (60 if match["unit"] == "m" else 1)}


# -- what is shown


def _show(one: Assessed) -> None:
    if one.problem:
        note(f"{one.problem if one.problem.startswith(one.path) else f'{one.path}: {one.problem}'}; not assessed")
        return
    from envscaler.diagnostics import render_text

    findings = [f for v in one.verdicts.values() for f in v.findings]
    for finding in findings[:_SHOWN]:
        echo(render_text([finding.diagnostic(one.path)], {one.path: one.source}).rstrip("\n"))
        if finding.script:
            echo("  to see it in `envscaler play`:")
            for row in finding.script.splitlines():
                echo(f"    {row if len(row) <= 400 else row[:397] + '...'}")
        echo("")
    if len(findings) > _SHOWN:
        echo(f"{one.path}: {len(findings) - _SHOWN} more findings, which the reports hold\n")


_SHARES = ("tools", "requirements", "branches", "rules")


def _sum_up(found: list[Assessed], threshold: float | None) -> None:
    from envscaler.cli.table import table

    rows = []
    for one in found:
        for name, verdict in one.verdicts.items():
            shares = verdict.details.get("coverage", {}).get("shares", {})
            cells = [f"{shares[s]['reached']}/{shares[s]['of']}" if s in shares else "" for s in _SHARES]
            said = f"{'sound' if verdict.sound else 'not sound'} {verdict.score:.2f}"
            calls = str(verdict.details.get("calls", ""))
            rows.append((one.path, name, said, str(len(verdict.findings)), calls, *cells))
    heads = ("Spec", "Assessor", "Verdict", "Findings", "Calls", "Tools", "Requires", "Branches", "Rules")
    if rows:
        echo(table(heads, rows, heads[3:]))
    passed = sum(one.passes(threshold) for one in found)
    left = sum(bool(one.problem) for one in found)
    words = f"{counted(len(found), 'spec')}: {passed} passed, {len(found) - passed - left} did not"
    echo(words + (f", {left} could not be assessed" if left else ""))


@contextmanager
def _progress(
    specs: int,
) -> Iterator[tuple[Callable[[str, Progress], None] | None, Callable[[str], None] | None, Callable[[Assessed], None]]]:
    """A line at the bottom of the terminal that says how far it is; nothing where there is no terminal."""
    with bar("assessing") as line:
        if line is None:
            yield None, None, lambda one: None
            return
        ready = 0

        def tell(path: str, at: Progress) -> None:
            words = f"{at.reached}/{at.tools} tools, {at.findings} findings"
            line(at.calls, at.planned if at.planned < 10**8 else None, words, path)

        def done(one: Assessed) -> None:
            nonlocal ready
            ready += 1
            line(ready, specs, "specs", one.path)

        yield tell, lambda text: line(ready, specs, "specs", text), done

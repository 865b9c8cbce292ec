"""The command that measures the assessor: mutate."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.options import SpecFiles
from envscaler.cli.out import boundary, echo, note

if TYPE_CHECKING:
    from envscaler.assess.mutation.results import Results, Row
    from envscaler.assess.mutation.trial import Outcome

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("mutate")(boundary(mutate))


def mutate(
    specs: SpecFiles,
    seed: Annotated[int, typer.Option("--seed", help="Decides which mutants are made, and the calls.")] = 0,
    per_operator: Annotated[int, typer.Option("--per-operator", help="Mutants of each operator, over all specs.")] = 20,
    operator: Annotated[
        list[str] | None, typer.Option("--operator", help="Only this operator; can be given more than once.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="The means, of check,generic,examples,original; all by default.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0 means one for each core.")] = 1,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write every mutant and its end to this file.")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write the figures as a page of Markdown.")] = None,
    survivors: Annotated[bool, typer.Option("--survivors", help="Name every mutant that nothing killed.")] = False,
) -> int:
    """Put faults into sound specs and tell what finds them: how good the assessor is.

    A mutant is a spec, or the module it was compiled to, with one fault. The same seed makes the same mutants of the same
    specs. Nothing is written but what is asked for.
    """
    means = None if by is None else [part.strip() for part in by.split(",") if part.strip()]
    results = session.mutate(
        specs, seed=seed, per_operator=per_operator, operators=operator, by=means, jobs=jobs, tell=_tell
    )
    _show(results)
    if survivors:
        for outcome in results.survivors():
            echo(f"lives: {outcome.mutant.title}")
    if as_json is not None:
        _write(results, as_json)
    if page is not None:
        asked = ["envscaler", "mutate", *map(str, specs), "--seed", str(seed), "--per-operator", str(per_operator)]
        echo(str(session.write_mutation_page(results, page, shlex.join([*asked, "--page", str(page)]))))
    return exits.OK


def _write(results: Results, path: Path) -> None:
    import json

    from envscaler.session.files import replace_file

    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(results.to_json(), indent=1, ensure_ascii=False) + "\n")


def _tell(number: int, total: int, outcome: Outcome) -> None:
    if number % 50 == 0:
        note(f"{number} of {total} mutants")


def _show(results: Results) -> None:
    from envscaler.cli.table import table

    heads = ("Operator", "Mutants", "Equivalent", "Check", "Generic", "Examples", "Original", "Alone", "All")
    rows = [*results.rows(), results.total()]
    echo(table(heads, [_cells(row) for row in rows], heads[1:]))
    total = results.total()
    alive = sum(1 for _ in results.survivors())
    echo(
        f"{total.mutants} mutants, seed {results.seed}: {total.share(total.alone):.1%} killed without the original, "
        f"{total.share(total.known):.1%} with it; {total.equivalent} proved equivalent, {alive} alive"
    )


def _cells(row: Row) -> tuple[str, ...]:
    shares = (row.check, row.generic, row.examples, row.original, row.alone, row.known)
    return (
        row.name, str(row.mutants), str(row.equivalent),
        *(f"{row.share(n):.0%}" if row.tried else "" for n in shares),
    )  # fmt: skip

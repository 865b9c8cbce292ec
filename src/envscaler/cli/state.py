"""The command that makes an initial state for a spec: state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from envscaler.cli import exits
from envscaler.cli.out import boundary, echo, echo_json, note
from envscaler.errors import UsageError

__all__ = ["add_to"]

_MIXES = 12  # told on a terminal, not in JSON


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("state")(boundary(state))


def state(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC", help="A spec file, or the name of an installed one.", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the state here.", show_default=False)
    ] = None,
    size: Annotated[
        int | None, typer.Option("--size", help="Records in all collections together.", show_default=False)
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option("--of", metavar="COLLECTION=N", help="Records of a collection; repeatable.", show_default=False),
    ] = None,
    shares: Annotated[
        list[str] | None,
        typer.Option(
            "--share",
            metavar="COLLECTION.FIELD=VALUE:SHARE",
            help="Which part of the records has a value of an enum; repeatable.",
            show_default=False,
        ),
    ] = None,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Keep the records there are and change some, instead of new ones.")
    ] = False,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Begin with this state instead of the spec's own.", show_default=False
        ),
    ] = None,
    edges: Annotated[float, typer.Option("--edges", help="Which part of the records gets an odd value.")] = 0.05,
    acts: Annotated[
        int | None,
        typer.Option("--acts", help="Calls of the spec's own write tools, made upon it.", show_default=False),
    ] = None,
    locale: Annotated[str, typer.Option("--locale", help="Of invented names and addresses.")] = "en_US",
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same state.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> int:
    """Make an initial state for a spec: records with new names and values, of the sizes asked for, every rule kept.

    Figures of what came out are printed. Sizes and shares are met as far as the rules let them. The exit code is 4 when
    the state of --from is not allowed.
    """
    from envscaler.scenario.data import DataSettings
    from envscaler.session.states import make_state

    way: Literal["fresh", "mutated"] = "mutated" if mutate else "fresh"
    settings = DataSettings(
        way, size, _sizes(sizes or ()), _shares(shares or ()), edges=edges, acts=acts, locale=locale
    )
    made = make_state(spec, settings, seed=seed, start=start, output=output)
    if as_json:
        echo_json(made.summary)
    else:
        _show(made.summary)
    for leak in made.leaks:
        note(leak)
    if output is not None:
        note(f"wrote {output}")
    return exits.OK


def _sizes(given: Sequence[str]) -> dict[str, int]:
    found = {}
    for text in given:
        name, equals, number = text.partition("=")
        if not equals or not number.isdigit():
            raise UsageError(f"--of {text}: expected COLLECTION=N, such as accounts=20")
        found[name] = int(number)
    return found


def _shares(given: Sequence[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for text in given:
        place, equals, mix = text.partition("=")
        value, colon, share = mix.rpartition(":")
        try:
            number = float(share)
        except ValueError:
            number = -1.0
        if not equals or not colon or not 0 <= number <= 1:
            raise UsageError(
                f"--share {text}: expected COLLECTION.FIELD=VALUE:SHARE, such as accounts.status=frozen:0.2"
            )
        found.setdefault(place, {})[value] = number
    return found


def _show(summary: Mapping[str, Any]) -> None:
    parts = [f"{count} {name}" for name, count in summary["records"].items()]
    echo(f"{summary['size']} records: {', '.join(parts)}" if parts else "no collections")
    for place, mix in list(summary["mixes"].items())[:_MIXES]:
        echo(f"  {place}: {', '.join(f'{count} {value}' for value, count in mix.items()) or 'none'}")

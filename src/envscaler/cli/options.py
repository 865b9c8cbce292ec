"""Options that several commands have, each said once; and groups of options that a command takes as one parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = ["AnyHash", "Jobs", "Json", "SpecFiles", "SpecsFolder", "spread"]

SpecFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SPEC...", help="Spec files, folders of them, names of installed specs.", show_default=False
    ),
]
SpecsFolder = Annotated[
    Path | None,
    typer.Option(
        "--specs",
        metavar="DIR",
        help="Where the specs are.  [default: specs, then those that are installed]",
        show_default=False,
    ),
]
AnyHash = Annotated[bool, typer.Option("--any-hash", help="Take a spec that was changed since, too.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="How many processes; 0 means one for each core.")]


def spread(command: Callable[..., Any]) -> tuple[inspect.Signature, Callable[[Mapping[str, Any]], dict[str, Any]]]:
    """The signature of a command in which a parameter that is a dataclass stands as its fields, one option each; and what
    makes the command's own arguments of those.

    Annotations are given as they are meant: typer asks for them four times, and would make them from text each time.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    found: list[inspect.Parameter] = []
    for name, one in inspect.signature(command).parameters.items():
        kind = hints.get(name)
        if not (isinstance(kind, type) and is_dataclass(kind)):
            found.append(one.replace(annotation=hints.get(name, one.annotation)))
            continue
        known = get_type_hints(kind, include_extras=True)
        fields = inspect.signature(kind).parameters.values()
        found += [field.replace(annotation=known[field.name], kind=one.kind) for field in fields]
        groups[name] = kind, [field.name for field in fields]

    def gathered(given: Mapping[str, Any]) -> dict[str, Any]:
        own = dict(given)
        made = {name: kind(**{field: own.pop(field) for field in names}) for name, (kind, names) in groups.items()}
        return own | made

    return inspect.Signature(found, return_annotation=None), gathered

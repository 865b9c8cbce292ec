"""The options that `synth` and the stages of drafting share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Batch", "Concurrency", "Only", "Overwrite", "ProveOptions", "Sample", "Seed", "SelectOptions", "SizeOptions",
    "SourceOptions", "Tries", "said",
]  # fmt: skip

Concurrency = Annotated[
    int, typer.Option("--concurrency", help="How many tasks, then environments, are worked on at once.")
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Write files anew that were edited by hand, too; else the difference is shown."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME", help="This environment only; repeatable.", show_default=False),
]

_Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        help="Who reads the tasks, see `envscaler plugins`. Default: by their form.",
        show_default=False,
        metavar="NAME",
    ),
]
_Options = Annotated[
    list[str] | None,
    typer.Option(
        "--source-option", help="An option of the source; repeatable.", show_default=False, metavar="NAME=VALUE"
    ),
]
_Limit = Annotated[int | None, typer.Option("--limit", help="Read so many tasks at most.", show_default=False)]
_Count = Annotated[
    int | None,
    typer.Option("--count", help="Draft so many themes at most. Default: all that are left.", show_default=False),
]
_Near = Annotated[
    float | None,
    typer.Option(
        "--near",
        help="The likeness, 0 to 1, from which two themes are one. Default: the embedder's.",
        show_default=False,
    ),
]
_Useful = Annotated[
    int | None, typer.Option("--least-usefulness", help="Of a theme, 1 to 10. Default: 5.", show_default=False)
]
_Modelable = Annotated[
    int | None, typer.Option("--least-modelability", help="Of a theme, 1 to 10. Default: 5.", show_default=False)
]
_Clusters = Annotated[
    int | None,
    typer.Option(
        "--clusters", help="Parts of the map of themes. Default: the root of half their number.", show_default=False
    ),
]
_Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder", help="What makes vectors of themes. Default: words.", show_default=False, metavar="NAME"
    ),
]
_Collections = Annotated[
    int | None,
    typer.Option("--collections", help="About how many collections of records. Default: 4.", show_default=False),
]
_Fields = Annotated[
    int | None, typer.Option("--fields", help="About how many fields in all. Default: 21.", show_default=False)
]
_Rules = Annotated[int | None, typer.Option("--rules", help="About how many rules. Default: 5.", show_default=False)]
_Tools = Annotated[int | None, typer.Option("--tools", help="About how many tools. Default: 18.", show_default=False)]
_Reading = Annotated[
    float | None,
    typer.Option("--reading", help="The share of tools that only read. Default: 0.55.", show_default=False),
]
Batch = Annotated[
    int | None, typer.Option("--batch", help="Tools that are written in one reply. Default: 6.", show_default=False)
]
Tries = Annotated[
    int | None, typer.Option("--tries", help="How often a part is written at most. Default: 3.", show_default=False)
]
_Repairs = Annotated[
    int | None, typer.Option("--repairs", help="Rounds of repair at most, 0 for none. Default: 4.", show_default=False)
]
_Calls = Annotated[
    int | None,
    typer.Option("--calls", help="Fuzzed calls that look for findings, 0 for none. Default: 2000.", show_default=False),
]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Of the fuzzer and the selection. Default: 0.", show_default=False)
]
Sample = Annotated[
    int | None, typer.Option("--sample", help="Another number asks the models anew. Default: 0.", show_default=False)
]
_Unsound = Annotated[
    bool | None,
    typer.Option(
        "--keep-unsound/--only-sound",
        help="Put specs that pass the check with the finished ones, whatever else was found. Default: only sound ones.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class SourceOptions:
    """Which tasks are read."""

    source: _Source = None
    source_options: _Options = None
    limit: _Limit = None


@dataclass(frozen=True)
class SelectOptions:
    """Which themes are drafted."""

    count: _Count = None
    near: _Near = None
    least_usefulness: _Useful = None
    least_modelability: _Modelable = None
    clusters: _Clusters = None
    embedder: _Embedder = None


@dataclass(frozen=True)
class SizeOptions:
    """How large an environment is to be."""

    collections: _Collections = None
    fields: _Fields = None
    rules: _Rules = None
    tools: _Tools = None
    reading: _Reading = None


@dataclass(frozen=True)
class ProveOptions:
    """How a draft is proved."""

    repairs: _Repairs = None
    calls: _Calls = None
    keep_unsound: _Unsound = None


def said(
    *groups: SourceOptions | SelectOptions | SizeOptions | ProveOptions, **single: int | None
) -> Mapping[str, Any]:
    """What was said, by the names of settings; None for what was not."""
    found: dict[str, Any] = {name: value for group in groups for name, value in vars(group).items()} | single
    if (options := found.get("source_options")) is not None:
        found["source_options"] = dict(_pair(text) for text in options)
    return found


def _pair(text: str) -> tuple[str, str]:
    from envscaler.errors import UsageError

    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--source-option is NAME=VALUE, not {text}")
    return name, value

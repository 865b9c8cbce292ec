"""Tasks from files, folders and data sets: the source is named, or guessed from the form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from os import fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from envscaler.errors import UsageError
from envscaler.session.files import StrPath

if TYPE_CHECKING:
    from envscaler.builtin.sources.places import Place
    from envscaler.plugin.manager import Plugins
    from envscaler.plugin.records import BadRow, Task

__all__ = ["read_tasks"]

_BY_SUFFIX: Final = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".txt": "text"}
_LOOKED_AT: Final = 20  # rows of JSON, to find one that can be told by


def read_tasks(
    locations: Sequence[StrPath],
    source: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    plugins: Plugins | None = None,
) -> Iterator[tuple[str, Task | BadRow]]:
    """Rows one by one, each with the name of the source that read it; tasks that are told twice are given twice.

    ``locations`` are files, folders, or names of data sets (`hf:OWNER/NAME`); ``source`` names the one that reads them, by
    default it is guessed from each file's form. Raises UsageError for what cannot be read, PluginError.
    """
    if plugins is None:
        from envscaler.session.plugins import open_plugins

        plugins = open_plugins(third_parties=source is not None)
    given = dict(options or {})
    for location in [fspath(location) for location in locations]:
        if source is not None:
            for row in plugins.source(source).read(location, given):
                yield source, row
        else:
            yield from _guessed(location, given, plugins)


def _guessed(location: str, given: Mapping[str, Any], plugins: Plugins) -> Iterator[tuple[str, Task | BadRow]]:
    from envscaler.builtin.sources import JSON, named
    from envscaler.builtin.sources.places import places

    options = dict(given)
    for place in places(location, (*JSON, *_BY_SUFFIX), options.pop("files", None)):
        source = _source(place)
        for row in named(source).read_place(place, options):
            yield source, row


def _source(place: Place) -> str:
    from envscaler.builtin.sources import JSON
    from envscaler.builtin.sources.jsonrows import json_rows
    from envscaler.builtin.sources.shapes import form_of

    suffix = PurePath(place.label).suffix.lower()
    if suffix in JSON:
        forms = (form_of(row) for _, row in islice(json_rows(place.path), _LOOKED_AT))
        return next((form for form in forms if form is not None), "jsonl")
    if suffix not in _BY_SUFFIX:
        raise UsageError(f"{place.label}: its name does not say which source reads it: name one (--source)")
    return _BY_SUFFIX[suffix]

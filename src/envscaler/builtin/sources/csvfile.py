"""Reads CSV as RFC 4180 and spreadsheets write it: by lines, so that a bad byte or quote costs its own row only."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from typing import Any

from envscaler.builtin.sources.options import Options, chosen, task
from envscaler.builtin.sources.places import Place
from envscaler.errors import UsageError
from envscaler.plugin.records import BadRow, Task

__all__ = ["rows"]


def rows(place: Place, options: Options) -> Iterator[Task | BadRow]:
    """The rows after the header. ``line`` is that on which a row begins."""
    delimiter = options.delimiter or ("\t" if place.path.suffix.lower() == ".tsv" else ",")
    try:
        encoding = codecs.lookup(options.encoding).name
        encoding = "utf-8-sig" if encoding == "utf-8" else encoding
        # What is not of the encoding becomes lone surrogates, by which the row is known.
        with place.path.open(encoding=encoding, errors="surrogateescape", newline="") as stream:
            yield from _rows(place, csv.reader(stream, delimiter=delimiter, strict=True), options)
    except LookupError:
        raise UsageError(f"no encoding is called {options.encoding!r}") from None
    except OSError as error:
        raise UsageError(f"{place.label}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeError as error:
        raise UsageError(f"{place.label}: not {options.encoding}: {error}") from None


def _rows(place: Place, reader: Any, options: Options) -> Iterator[Task | BadRow]:
    header: list[str] = []
    text = ""
    extra: tuple[str, ...] = ()
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            if not header:
                raise UsageError(f"{place.label}:{line}: the header cannot be read: {error}") from None
            yield BadRow(place.label, line, f"not CSV: {error}")
            continue
        if not cells:
            continue  # an empty line
        if not header:
            header = [name.strip() for name in cells]
            text, extra = chosen(place, header, options)
        elif len(cells) != len(header):
            yield BadRow(place.label, line, f"{len(cells)} cells, where the header has {len(header)}")
        else:
            row = dict(zip(header, cells, strict=True))
            yield task(row[text], text, place, line, {name: row[name] for name in extra})
    if not header:
        raise UsageError(f"{place.label}: empty; a header is wanted")

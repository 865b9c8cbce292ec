"""Reads CSV as RFC 4180 and spreadsheets write it: by lines, so that a bad byte or quote costs its own row only."""

import codecs
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envscaler.errors import UsageError
from envscaler.plugin import BadRow, Task
from envscaler_tables.source import Options, chosen

__all__ = ["rows"]


def rows(path: Path, options: Options) -> Iterator[Task | BadRow]:
    """The rows after the header. ``line`` is that on which a row begins."""
    delimiter = options.delimiter or ("\t" if path.suffix.lower() == ".tsv" else ",")
    try:
        encoding = codecs.lookup(options.encoding).name
        encoding = "utf-8-sig" if encoding == "utf-8" else encoding
        # What is not of the encoding becomes lone surrogates, by which the row is known.
        with path.open(encoding=encoding, errors="surrogateescape", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            yield from _rows(path, reader, options)
    except LookupError:
        raise UsageError(f"no encoding is called {options.encoding!r}") from None
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeError as error:
        raise UsageError(f"{path}: not {options.encoding}: {error}") from None


def _rows(path: Path, reader: Any, options: Options) -> Iterator[Task | BadRow]:
    header: list[str] | None = None
    extra: tuple[str, ...] = ()
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            if header is None:
                raise UsageError(f"{path}:{line}: the header cannot be read: {error}") from None
            yield BadRow(str(path), line, f"not CSV: {error}")
            continue
        if not cells:
            continue  # an empty line
        if header is None:
            header = [name.strip() for name in cells]
            extra = chosen(path, header, options)
        else:
            yield _row(str(path), line, header, cells, extra, options)
    if header is None:
        raise UsageError(f"{path}: empty; a header is wanted")


def _row(
    path: str, line: int, header: list[str], cells: list[str], extra: tuple[str, ...], options: Options
) -> Task | BadRow:
    if len(cells) != len(header):
        return BadRow(path, line, f"{len(cells)} cells, where the header has {len(header)}")
    if any("\ud800" <= char <= "\udfff" for cell in cells for char in cell):
        return BadRow(path, line, f"not {options.encoding}")
    row = dict(zip(header, cells, strict=True))
    text = row[options.text].strip()
    if not text:
        return BadRow(path, line, f"no text in {options.text}")
    return Task(text, path, line, {name: row[name] for name in extra})

"""Plain text: a task from each line, or from each paragraph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from envscaler.builtin.sources.options import Options, task
from envscaler.builtin.sources.places import Place
from envscaler.errors import UsageError
from envscaler.plugin.records import BadRow, Task

__all__ = ["rows"]

_MOST: Final = 1 << 20  # bytes of a line that are read, and of a paragraph that are kept


def rows(place: Place, options: Options) -> Iterator[Task | BadRow]:
    """Lines, or by option `by=paragraph` what stands between empty lines, its own lines joined by a line feed."""
    try:
        with place.path.open("rb") as stream:
            pieces = _paragraphs(stream) if options.by == "paragraph" else _lines(stream)
            for line, piece in pieces:
                # What is not UTF-8 becomes lone surrogates, which no task may hold.
                yield task(piece.decode("utf-8", "surrogateescape"), options.by, place, line)
    except OSError as error:
        raise UsageError(f"{place.label}: {(error.strerror or str(error)).lower()}") from None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in _numbered(stream):
        if line:
            yield number, line


def _paragraphs(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    first, size = 0, 0
    kept: list[bytes] = []
    for number, line in _numbered(stream):
        if not line:
            if kept:
                yield first, b"\n".join(kept)
            kept, size = [], 0
            continue
        if not kept:
            first = number
        if size < _MOST:
            kept.append(line)
            size += len(line)
    if kept:
        yield first, b"\n".join(kept)


def _numbered(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines without the space around them; of one that is endless, as much as shows that it is too long."""
    number = 0
    while line := stream.readline(_MOST):
        number += 1
        whole = line
        while not line.endswith(b"\n") and (line := stream.readline(_MOST)):
            pass
        yield number, whole.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip()

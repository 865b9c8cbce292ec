"""Reads JSON a row at a time, a list or a value on each line, however large the file; a broken row costs itself only."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from envscaler.errors import UsageError

__all__ = ["Broken", "json_rows"]

_CHUNK: Final = 1 << 16
_MOST: Final = 1 << 24  # characters of one row
_DECODER: Final = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and its like are not JSON; their place is empty
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|[{}\[\]]')  # a text, ended or not, or what nests
_GAP: Final = re.compile(r"[\s,]*")
_BARE_END: Final = re.compile(r"[,\]\n]")


@dataclass(frozen=True, slots=True)
class Broken:
    """What stands in the place of a row that is no JSON, and why."""

    reason: str


def json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Each row's line, from 1, and its value or a Broken. A file that begins with `[` is a list, any other has a value on
    each line. Raises UsageError for a file that cannot be read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_CHUNK).removeprefix(codecs.BOM_UTF8).lstrip()
            stream.seek(0)
            yield from _List(stream).rows() if head.startswith(b"[") else _lines(stream)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, Any]]:
    number = 0
    while line := stream.readline(_MOST):
        number += 1
        if len(line) == _MOST and not line.endswith(b"\n"):
            while (rest := stream.readline(_MOST)) and not rest.endswith(b"\n"):
                pass
            yield number, Broken(f"a row of more than {_MOST:,} bytes")
            continue
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if line.strip():
            yield number, _line(line)


def _line(line: bytes) -> Any:
    try:
        text = line.decode("utf-8").strip()
        value, end = _DECODER.raw_decode(text)
    except UnicodeDecodeError:
        return Broken("not UTF-8")
    except (ValueError, RecursionError) as error:
        return Broken(_reason(error))
    return value if end == len(text) else Broken("not JSON: something follows the value")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not JSON that can be read: nested too deeply"
    said = error.msg if isinstance(error, json.JSONDecodeError) else str(error).partition(";")[0]
    return f"not JSON: {said[:1].lower()}{said[1:].removesuffix(' at')}"


class _List:
    """A list in a file. ``buffer`` holds what was read and is not done with, from ``at`` on; ``line`` is that of ``at``."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._ended = False
        self._indent: str | None = None  # what stands before the row on its line, if only space does

    def rows(self) -> Iterator[tuple[int, Any]]:
        self._gap()
        self._at += 1  # the bracket
        first = True
        while self._gap():
            self._indent = (
                "" if first and self._indent is None else self._indent
            )  # what follows may have lines of its own
            first = False
            line = self._line
            if self._buffer[self._at] == "]":
                self._at += 1
                if self._gap():
                    yield self._line, Broken("not JSON: something follows the list")
                return
            value, end = self._value()
            yield line, value
            if end < 0:
                return
            self._line += self._buffer.count("\n", self._at, end)
            self._at = end
        yield self._line, Broken("not JSON: the list is not ended")

    def _more(self) -> bool:
        """Read on: as much again as is held, so that what is tried again and again stays cheap."""
        if self._ended:
            return False
        held = len(self._buffer) - self._at
        block = self._stream.read(max(_CHUNK, held))
        self._ended = not block
        self._buffer = self._buffer[self._at :] + self._decode(block, self._ended)
        self._at = 0
        return not self._ended

    def _gap(self) -> bool:
        """Skip space and commas; false at the end of the file."""
        indent: str | None = None
        while True:
            match = _GAP.match(self._buffer, self._at)
            assert match is not None
            gap = match[0]
            self._line += gap.count("\n")
            if "\n" in gap:
                indent = gap.rpartition("\n")[2]
            elif indent is not None:
                indent += gap
            self._at = match.end()
            if self._at < len(self._buffer):
                self._indent = indent if indent is None or not indent.strip() else None
                return True
            if not self._more() and self._at >= len(self._buffer):
                return False

    def _value(self) -> tuple[Any, int]:
        """The value at ``at`` and its end; of one that is broken, where the next may begin, -1 if nobody can say."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
                if end < len(self._buffer) or self._ended or isinstance(value, (str, list, dict)):
                    return value, end
                self._more()  # a number may go on
            except (ValueError, RecursionError) as error:
                if row := self._row_after(error):
                    return Broken(self._why(error, row)), row
                end = self._end()
                if end or self._ended or len(self._buffer) - self._at >= _MOST:
                    return Broken(self._why(error, end)), self._next(end)
                self._more()

    def _row_after(self, error: Exception) -> int:
        """The line on which the next row begins, where the fault lies before it; else 0: more of the file may be wanted."""
        if self._indent is None or not isinstance(error, json.JSONDecodeError):
            return 0
        begins = f"\n{self._indent}{self._buffer[self._at]}"
        found = self._buffer.find(begins, self._at + 1)
        return found if found >= 0 and error.pos < found + len(begins) else 0

    def _end(self) -> int:
        """Where the brackets that open at ``at`` are closed; 0 where they are not."""
        if self._buffer[self._at] not in "{[":
            match = _BARE_END.search(self._buffer, self._at + 1)
            return match.start() if match else 0
        depth = 0
        for match in _TOKEN.finditer(self._buffer, self._at):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
            if not depth:
                return match.end()
        return 0

    def _next(self, end: int) -> int:
        """Where to go on: at the end of the brackets, or before that on a line that begins as this row's did."""
        if self._indent is not None:
            begins = f"\n{self._indent}{self._buffer[self._at]}"
            found = self._buffer.find(begins, self._at + 1, end or len(self._buffer))
            end = end if found < 0 else found
        return end or -1

    def _why(self, error: Exception, end: int) -> str:
        if not end and not self._ended:
            return f"a row of more than {_MOST:,} characters, or one that is not ended"
        reason = _reason(error)
        if isinstance(error, json.JSONDecodeError):
            lines = self._buffer.count("\n", self._at, error.pos)
            reason += f" (line {self._line + lines})" if lines else ""
        return reason

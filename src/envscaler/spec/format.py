"""The formatter: indentation and spacing made regular, comments, line breaks and content left as they are."""

from __future__ import annotations

import re
from typing import Any

from envscaler.errors import SpecError
from envscaler.spec import yamltree as y
from envscaler.spec.report import Report
from envscaler.spec.scan import scan_text

__all__ = ["format_text", "signature"]

_STEP = 2
_LOGIC_KEYS = ("do", "holds")
_GAP = re.compile(r"[ ]*:[ ]*\Z")
_EARLY = re.compile(r"[ ]+(?=:)")
_COMMA = re.compile(r"[ ]*,[ ]*\Z")
_DASH = re.compile(r"(?:\s|#[^\n]*)*-")
_HEADER = re.compile(r"\|[+-]?[1-9]")


def format_text(text: str, path: str = "spec") -> str:
    """The text formatted; formatting twice changes nothing more. Raises SpecError when it cannot be parsed.

    Two-space indentation, one space after `:` and `,`, none within brackets, no trailing spaces, at most one blank
    line in a row, LF line ends. The result reads to the same tree as the text, or the text is given back as it was.
    """
    document = _parse(path, text)
    result = _checked(document, _spaced(document))
    result = _checked(result, _indented(result))
    return _checked(result, _tidied(result)).text


def _parse(path: str, text: str) -> y.Document:
    report = Report()
    clean = scan_text(path, text, report)
    document = None if clean is None else y.parse_yaml(path, clean, report)
    if document is None or report.failed:
        raise SpecError(report.items)
    return document


def _checked(before: y.Document, text: str) -> y.Document:
    """The new text's document when it holds the same, else the one before."""
    if text == before.text:
        return before
    report = Report()
    after = y.parse_yaml(before.path, text, report)
    same = after is not None and not report.failed and signature(after.root) == signature(before.root)
    return after if same and after is not None else before


def signature(node: y.Node, key: str = "") -> Any:
    """What formatting may not change of a tree: keys, order, texts and quotes. Logic counts without trailing spaces."""
    if isinstance(node, y.Mapping):
        return [(k, signature(e.value, k)) for k, e in node.entries.items()]
    if isinstance(node, y.Sequence):
        return [signature(item) for item in node.items]
    if key in _LOGIC_KEYS and node.style == "literal":
        return node.style, [line.rstrip() for line in node.text.rstrip().split("\n")]
    return node.style, node.text


# -- spacing within lines


def _spaced(document: y.Document) -> str:
    text = document.text
    edits: list[tuple[int, int, str]] = []
    for node in y.walk(document.root):
        if isinstance(node, y.Mapping):
            for entry in node.entries.values():
                gap = text[entry.key.end : max(entry.key.end, entry.value.start)]
                if _GAP.match(gap):
                    empty = isinstance(entry.value, y.Scalar) and entry.value.start == entry.value.end
                    edits.append((entry.key.end, entry.value.start, ":" if empty else ": "))
                elif early := _EARLY.match(gap):
                    edits.append((entry.key.end, entry.key.end + early.end(), ""))
        if not isinstance(node, y.Scalar) and node.flow:
            edits += _flow_edits(text, node)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _flow_edits(text: str, node: y.Mapping | y.Sequence) -> list[tuple[int, int, str]]:
    if text[node.start : node.start + 1] not in ("{", "["):
        return []  # a pair without brackets in a list
    parts = (
        [(e.key.start, e.value.end) for e in node.entries.values()]
        if isinstance(node, y.Mapping)
        else [(i.start, i.end) for i in node.items]
    )
    edits = []
    at = node.start + 1
    for number, (start, end) in enumerate(parts):
        gap = text[at:start]
        if number == 0 and not gap.strip(" "):
            edits.append((at, start, ""))
        elif number and _COMMA.match(gap):
            edits.append((at, start, ", "))
        at = end
    if not text[at : node.end - 1].strip(" "):
        edits.append((at, node.end - 1, ""))
    return edits


# -- indentation


class _Layout:
    """For each line, what replaces its beginning: ``marks[line] = (new beginning, characters cut off)``, lines 0-based."""

    def __init__(self, document: y.Document) -> None:
        self.document = document
        self.text = document.text
        self.lines = document.text.split("\n")
        self.marks: dict[int, tuple[str, int]] = {}
        self.content: dict[int, str] = {}  # lines of literal blocks, written anew
        self.inner: set[int] = set()  # lines within texts over several lines
        self.below: dict[int, int] = {}  # last line of a literal block: indentation that comments under it may have

    def mapping(self, node: y.Mapping, indent: int) -> None:
        for key, entry in node.entries.items():
            self._start(entry.key, indent)
            self.value(entry.value, indent, key)

    def _start(self, node: y.Node, indent: int) -> None:
        line, column = node.span.line - 1, node.span.column - 1
        if not self.lines[line][:column].strip(" "):
            self.marks[line] = (" " * indent, column)

    def value(self, node: y.Node, indent: int, key: str) -> None:
        """A value whose parent has its keys or dashes at ``indent``."""
        if isinstance(node, y.Scalar):
            self._scalar(node, indent, key)
        elif node.flow:
            self._flow(node, indent)
        elif isinstance(node, y.Mapping):
            self.mapping(node, indent + _STEP)
        else:
            self._sequence(node, indent + _STEP)

    def _sequence(self, node: y.Sequence, indent: int) -> None:
        at = node.start
        for item in node.items:
            match = _DASH.match(self.text, at)
            if match is None:
                return
            self._dash(match.end() - 1, item, indent)
            if isinstance(item, y.Sequence) and not item.flow:
                self._sequence(item, indent + _STEP)
            else:
                self.value(item, indent, "")
            at = max(item.end, match.end())

    def _dash(self, offset: int, item: y.Node, indent: int) -> None:
        line = self.text.count("\n", 0, offset)
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        start = item.start - (self.text.rfind("\n", 0, offset) + 1)
        beside = "\n" not in self.text[offset : item.start] and item.start > offset and start < len(self.lines[line])
        prefix, cut = self.marks.get(line, (" " * indent, column))
        if cut == column:
            self.marks[line] = (prefix + ("- " if beside else "-"), start if beside else column + 1)

    def _scalar(self, node: y.Scalar, indent: int, key: str) -> None:
        if node.style == "literal":
            self._literal(node, indent, key)
            return
        if node.text or node.end > node.start:
            self._start_value(node, indent)
        for line in range(node.span.line, node.span.end_line):
            self.inner.add(line)
            if self.lines[line].strip():
                self.marks[line] = (" " * (indent + _STEP), len(self.lines[line]) - len(self.lines[line].lstrip()))

    def _start_value(self, node: y.Node, indent: int) -> None:
        line, column = node.span.line - 1, node.span.column - 1
        if not self.lines[line][:column].strip(" ") and line not in self.marks:
            self.marks[line] = (" " * (indent + _STEP), column)

    def _flow(self, node: y.Mapping | y.Sequence, indent: int) -> None:
        self._start_value(node, indent)
        first = node.span.line - 1
        old = len(self.lines[first]) - len(self.lines[first].lstrip(" "))
        prefix, _ = self.marks.get(first, (" " * old, 0))
        shift = len(prefix) - len(prefix.lstrip(" ")) - old
        for line in range(node.span.line, node.span.end_line):
            self.inner.add(line)
            own = len(self.lines[line]) - len(self.lines[line].lstrip(" "))
            if self.lines[line].strip():
                self.marks[line] = (" " * max(own + shift, indent), own)

    def _literal(self, node: y.Scalar, indent: int, key: str) -> None:
        self._start_value(node, indent)
        header = node.span.line - 1
        line, column = self.lines[header], node.span.column - 1
        if match := _HEADER.match(line, column):
            self.lines[header] = line[:column] + match[0][:-1] + str(_STEP) + line[match.end() :]
        elif re.match(r"\|[1-9]", line[column:]):
            self.lines[header] = f"{line[: column + 1]}{_STEP}{line[column + 2 :]}"
        kept = node.text.split("\n")
        while kept and not kept[-1].strip(" "):
            kept.pop()
        for number, value in enumerate(kept):
            written = value.rstrip(" ") if key in _LOGIC_KEYS else value
            self.content[header + 1 + number] = " " * (indent + _STEP) + written if written else ""
        last = header + len(kept)
        self.below[last] = indent
        if "+" in line[column : column + 3]:
            while last + 1 < len(self.lines) and not self.lines[last + 1].strip(" "):
                last += 1
                self.content[last] = self.lines[last]

    def comments(self) -> None:
        """Comments go with the line below when they stand at its column, else with the last one at theirs."""
        moved: dict[int, int] = {}  # old to new indentation, as last seen
        limit: int | None = None
        for number, line in enumerate(self.lines):
            if number in self.content:
                limit = self.below.get(number, limit)
                continue
            stripped = line.lstrip(" ")
            own = len(line) - len(stripped)
            if stripped.startswith("#") and number not in self.marks and number not in self.inner:
                new = self._beside(number, own, moved)
                self.marks[number] = (" " * (new if limit is None else min(new, limit)), own)
            elif number in self.marks:
                prefix = self.marks[number][0]
                moved[own] = len(prefix) - len(prefix.lstrip(" "))
                limit = self.below.get(number)

    def _beside(self, number: int, own: int, moved: dict[int, int]) -> int:
        for below in range(number + 1, len(self.lines)):
            if below in self.marks:
                line = self.lines[below]
                prefix = self.marks[below][0]
                if len(line) - len(line.lstrip(" ")) == own:
                    return len(prefix) - len(prefix.lstrip(" "))
                break
        return moved.get(own, own)

    def result(self) -> str:
        out = []
        for number, line in enumerate(self.lines):
            if number in self.content:
                out.append(self.content[number])
            elif number in self.marks:
                prefix, cut = self.marks[number]
                out.append(prefix + line[cut:])
            else:
                out.append(line)
        return "\n".join(out)


def _indented(document: y.Document) -> str:
    layout = _Layout(document)
    layout.mapping(document.root, 0)
    layout.comments()
    return layout.result()


# -- blank lines and trailing spaces


def _tidied(document: y.Document) -> str:
    layout = _Layout(document)
    layout.mapping(document.root, 0)
    out: list[str] = []
    for number, line in enumerate(document.text.split("\n")):
        if number in layout.content or number in layout.inner:
            out.append(line)
        elif line.strip() or (out and out[-1].strip()):
            out.append(line.rstrip(" \t"))
    while out and not out[-1].strip():
        out.pop()
    return "\n".join(out) + "\n"

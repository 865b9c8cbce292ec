"""Programmatic edits of a spec's text that touch one node: every other byte, comments included, stays as it was."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from envscaler.errors import SpecError, UsageError
from envscaler.spec import yamltree as y
from envscaler.spec.entries import json_of
from envscaler.spec.format import signature
from envscaler.spec.report import Report
from envscaler.spec.scan import scan_text

__all__ = ["Path", "SpecEditor", "inline"]

Path = str | Sequence[str | int]
"""`tools.check_out.kind`, or the steps one by one where a key has a dot or an index is wanted: `("tools", "a.b", 0)`."""

_PLAIN = re.compile(r"[^\W\d_][\w ./+-]*(?<! )\Z")
_WIDTH = 100


class SpecEditor:
    """Edits a spec's text. Each method leaves ``text`` changed in the named node only, or raises and changes nothing.

    Raises SpecError when the text, or what an edit would make of it, cannot be parsed; UsageError when a path leads
    nowhere or an edit does not fit its place. Values are JSON values; texts are quoted where YAML needs it.
    """

    def __init__(self, text: str, path: str = "spec") -> None:
        self.path = path
        self._raw = text
        self._load(text)

    @property
    def text(self) -> str:
        """The text as it is now, with the line ends and the byte order mark that it came with."""
        return self._raw

    # -- edits

    def set(self, path: Path, value: Any) -> None:
        """Give a key or list element another value; a missing key of an existing mapping is added at its end."""
        steps = self._steps(path)
        parent = self._node(steps[:-1])
        if isinstance(parent, y.Mapping) and steps[-1] not in parent.entries:
            self._insert(steps[:-1], parent, str(steps[-1]), inline(value), value)
            return
        node = self._node(steps)
        self._replace(steps, node, inline(value), lambda after: _same(json_of(after), value))

    def set_block(self, path: Path, source: str) -> None:
        """Give a key a literal block of these lines; a missing key of an existing mapping is added at its end."""
        steps = self._steps(path)
        source = source.strip("\n") + "\n"
        parent = self._node(steps[:-1])
        if not isinstance(parent, y.Mapping) or parent.flow:
            raise UsageError(f"{_shown(steps)}: a literal block cannot stand here")
        header = "|2" if source.startswith(" ") else "|"
        margin = " " * (self._column(parent) + 2)
        body = "".join("\n" + (margin + line if line.strip() else "") for line in source[:-1].split("\n"))
        if steps[-1] not in parent.entries:
            self._insert(steps[:-1], parent, str(steps[-1]), header + body, source)
            return
        self._replace(
            steps, self._node(steps), header + body, lambda after: isinstance(after, y.Scalar) and after.text == source
        )

    def rename(self, path: Path, new_key: str) -> None:
        """Give a key another name; its value and place stay."""
        steps = self._steps(path)
        parent = self._mapping(steps[:-1])
        entry = self._entry(parent, steps)
        if new_key in parent.entries:
            raise UsageError(f"{_shown(steps)}: there is a key {new_key!r} already")
        before = signature(self._document.root)
        new = [*steps[:-1], new_key]
        self._apply(
            entry.key.start,
            entry.key.end,
            _text(new_key),
            lambda root: _renamed(before, steps, new_key) == signature(root),
            new,
        )

    def delete(self, path: Path) -> None:
        """Remove a key with its value, or a list element. Comments around it stay."""
        steps = self._steps(path)
        parent = self._node(steps[:-1])
        self._node(steps)
        expected = _without(signature(self._document.root), steps)
        start, end, new = self._removal(steps, parent)
        self._apply(start, end, new, lambda root: signature(root) == expected, steps)

    def insert(self, path: Path, key: str | int | None, value: Any) -> None:
        """Add a key at the end of the mapping at ``path``, or an element at the end (key None) of the list there."""
        steps = self._steps(path)
        parent = self._node(steps)
        if isinstance(parent, y.Sequence):
            if key is not None and key != len(parent.items):
                raise UsageError(
                    f"{_shown(steps)}: elements are added at the end of a list; its length is {len(parent.items)}"
                )
            self._insert(steps, parent, None, inline(value), value)
        elif isinstance(parent, y.Mapping) and isinstance(key, str):
            if key in parent.entries:
                raise UsageError(f"{_shown(steps)}: there is a key {key!r} already")
            self._insert(steps, parent, key, inline(value), value)
        else:
            raise UsageError(f"{_shown(steps)} is no mapping or list")

    # -- finding

    def _load(self, raw: str) -> None:
        report = Report()
        clean = scan_text(self.path, raw, report)
        document = None if clean is None else y.parse_yaml(self.path, clean, report)
        if document is None or report.failed:
            raise SpecError(report.items)
        self._raw = raw
        self._document = document
        self._mark = 1 if raw.startswith("\ufeff") else 0
        self._crlf: list[int] = []  # offsets, in the document, of line ends that are CRLF in the raw text
        for match in re.finditer("\r\n", raw):
            self._crlf.append(match.start() - self._mark - len(self._crlf))

    def _steps(self, path: Path) -> list[str | int]:
        """The path's steps; digits are an index where they lead into a list."""
        steps: list[str | int] = []
        node: y.Node | None = self._document.root
        for step in path.split(".") if isinstance(path, str) else path:
            index = isinstance(node, y.Sequence) and isinstance(step, str) and step.isdecimal() and len(step) < 7
            steps.append(int(step) if index else step)
            node = _find(node, steps[-1:]) if node is not None else None
        if not steps or steps == [""]:
            raise UsageError("an empty path names no node")
        return steps

    def _node(self, steps: Sequence[str | int]) -> y.Node:
        node: y.Node = self._document.root
        for number, step in enumerate(steps):
            if isinstance(node, y.Mapping) and step in node.entries:
                node = node.entries[str(step)].value
            elif isinstance(node, y.Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
                node = node.items[step]
            else:
                raise UsageError(f"{_shown(steps[: number + 1])} is not there")
        return node

    def _mapping(self, steps: Sequence[str | int]) -> y.Mapping:
        node = self._node(steps)
        if not isinstance(node, y.Mapping):
            raise UsageError(f"{_shown(steps)} is no mapping")
        return node

    def _entry(self, parent: y.Mapping, steps: Sequence[str | int]) -> y.Entry:
        if steps[-1] not in parent.entries:
            raise UsageError(f"{_shown(steps)} is not there")
        return parent.entries[str(steps[-1])]

    def _column(self, node: y.Mapping | y.Sequence) -> int:
        """The indentation of a block collection's keys or dashes."""
        start = node.start
        if isinstance(node, y.Mapping) and node.entries:
            start = next(iter(node.entries.values())).key.start
        return start - (self._document.text.rfind("\n", 0, start) + 1)

    # -- changing

    def _apply(self, start: int, end: int, new: str, good: Any, steps: Sequence[str | int]) -> None:
        """Replace a stretch of the document and keep the result only when ``good(root)`` says it is what was meant."""
        before = self._raw
        a, b = self._offset(start), self._offset(end)
        if self._crlf:
            new = new.replace("\n", "\r\n")
        try:
            self._load(before[:a] + new + before[b:])
            fits = bool(good(self._document.root))
        except SpecError:
            self._load(before)
            raise
        if not fits:
            self._load(before)
            raise UsageError(f"{_shown(steps)}: the edit does not fit its place")

    def _offset(self, offset: int) -> int:
        return offset + bisect.bisect_left(self._crlf, offset) + self._mark

    def _replace(self, steps: Sequence[str | int], node: y.Node, new: str, fits: Any) -> None:
        before = _blanked(signature(self._document.root), steps)
        start, end = node.start, node.end
        text = self._document.text
        block = not isinstance(node, y.Scalar) and not node.flow
        if block or (isinstance(node, y.Scalar) and node.start == node.end):
            start = self._after_key(steps, node)
            new = " " + new
            if block and "#" in (gap := text[start : node.start]).split("\n")[0]:
                new += gap.split("\n")[0]  # a comment beside the key stays
        elif "\n" in new and text[end : text.find("\n", end) if "\n" in text[end:] else None].strip():
            line_end = text.find("\n", end)
            line_end = len(text) if line_end < 0 else line_end
            header, _, body = new.partition("\n")
            new, end = header + text[end:line_end] + "\n" + body, line_end
        elif isinstance(node, y.Scalar) and node.style == "literal":
            first = text.find("\n", start)
            comment = re.sub(r"^\|[0-9+-]*", "", text[start:first]).rstrip()
            header, line, body = new.partition("\n")
            new = header + comment + line + body

        def good(root: y.Mapping) -> bool:
            after = _find(root, steps)
            return after is not None and bool(fits(after)) and _blanked(signature(root), steps) == before

        self._apply(start, end, new, good, steps)

    def _after_key(self, steps: Sequence[str | int], node: y.Node) -> int:
        """The offset after the colon or dash that stands before a node."""
        parent = self._node(steps[:-1])
        text = self._document.text
        if isinstance(parent, y.Mapping):
            return text.index(":", parent.entries[str(steps[-1])].key.end) + 1
        return text.rindex("-", 0, max(node.start, 1)) + 1

    def _insert(self, steps: Sequence[str | int], parent: y.Node, key: str | None, new: str, value: Any) -> None:
        expected = _added(signature(self._document.root), steps, key)
        entry = new if key is None else f"{_text(key)}: {new}"
        last = [*steps, len(parent.items) if isinstance(parent, y.Sequence) else str(key)]

        def good(root: y.Mapping) -> bool:
            after = _find(root, last)
            fits = after is not None and (
                _same(json_of(after), value) or (isinstance(after, y.Scalar) and after.text == value)
            )
            return fits and _blanked(signature(root), last) == expected

        start, end, text = self._place(parent, entry)
        self._apply(start, end, text, good, last)

    def _place(self, parent: y.Node, entry: str) -> tuple[int, int, str]:
        """Where an entry is added at a collection's end, and the text that adds it."""
        assert not isinstance(parent, y.Scalar)
        text = self._document.text
        count = len(parent.entries) if isinstance(parent, y.Mapping) else len(parent.items)
        if parent.flow:
            at = parent.end - 1
            while text[at - 1] in " \n":
                at -= 1
            closed = text[at - 1] == ","
            return at, at, ("" if not count else " " if closed else ", ") + entry
        at = text.find("\n", parent.end)
        at = len(text) if at < 0 else at
        margin = " " * self._column(parent)
        return at, at, f"\n{margin}{'- ' if isinstance(parent, y.Sequence) else ''}{entry}"

    def _removal(self, steps: Sequence[str | int], parent: y.Node) -> tuple[int, int, str]:
        assert not isinstance(parent, y.Scalar)
        parts = _parts(parent)
        index = list(parent.entries).index(str(steps[-1])) if isinstance(parent, y.Mapping) else int(steps[-1])
        start, end = parts[index]
        text = self._document.text
        if parent.flow:
            if index + 1 < len(parts):
                return start, parts[index + 1][0], ""
            return (parts[index - 1][1] if index else start), end, ""
        if len(parts) == 1:
            if not steps[:-1]:
                raise UsageError("the last key of a spec cannot be removed")
            after = self._after_key(steps[:-1], parent)
            comment = text[after : max(after, parent.start)].split("\n")[0]
            return after, end, f" {'{}' if isinstance(parent, y.Mapping) else '[]'}{comment.rstrip()}"
        line = text.rfind("\n", 0, start) + 1
        following = text.find("\n", end)
        following = len(text) if following < 0 else following + 1
        if isinstance(parent, y.Mapping) and text[line:start].strip():
            return start, parts[index + 1][0], ""  # beside a dash: the next key takes its place
        return line, following, ""


def _parts(node: y.Mapping | y.Sequence) -> list[tuple[int, int]]:
    if isinstance(node, y.Mapping):
        return [(e.key.start, e.value.end) for e in node.entries.values()]
    return [(item.start, item.end) for item in node.items]


def _shown(steps: Sequence[str | int]) -> str:
    return ".".join(map(str, steps))


def _find(root: y.Node, steps: Sequence[str | int]) -> y.Node | None:
    node: y.Node | None = root
    for step in steps:
        if isinstance(node, y.Mapping):
            entry = node.entries.get(str(step))
            node = entry.value if entry else None
        elif isinstance(node, y.Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


# -- signatures with one place changed: mappings are lists of (key, value), lists are lists, texts are (style, text)


def _changed(tree: Any, steps: Sequence[str | int], change: Any) -> Any:
    """The signature with ``change(parts, place)`` applied to the collection that holds the last step."""
    if len(steps) == 1:
        return change(list(tree), steps[0])
    step = steps[0]
    if isinstance(step, int):
        return [_changed(part, steps[1:], change) if i == step else part for i, part in enumerate(tree)]
    return [(k, _changed(v, steps[1:], change)) if k == str(step) else (k, v) for k, v in tree]


def _blanked(tree: Any, steps: Sequence[str | int]) -> Any:
    def blank(parts: list[Any], place: str | int) -> list[Any]:
        if isinstance(place, int):
            return [None if i == place else part for i, part in enumerate(parts)]
        return [(k, None if k == place else v) for k, v in parts]

    return _changed(tree, steps, blank)


def _without(tree: Any, steps: Sequence[str | int]) -> Any:
    def drop(parts: list[Any], place: str | int) -> list[Any]:
        if isinstance(place, int):
            return [part for i, part in enumerate(parts) if i != place]
        return [(k, v) for k, v in parts if k != place]

    return _changed(tree, steps, drop)


def _renamed(tree: Any, steps: Sequence[str | int], new: str) -> Any:
    return _changed(tree, steps, lambda parts, place: [(new if k == place else k, v) for k, v in parts])


def _added(tree: Any, steps: Sequence[str | int], key: str | None) -> Any:
    """The signature with a blank entry at the end of the collection at ``steps``."""
    if not steps:
        return [*tree, None if key is None else (key, None)]

    def add(parts: list[Any], place: str | int) -> list[Any]:
        new = None if key is None else (key, None)
        if isinstance(place, int):
            return [[*part, new] if i == place else part for i, part in enumerate(parts)]
        return [(k, [*v, new]) if k == place else (k, v) for k, v in parts]

    return _changed(tree, steps, add)


# -- values as text


def _same(a: Any, b: Any) -> bool:
    """Equal as JSON, where 1, 1.0 and true are three things."""
    return json.dumps(a, sort_keys=True, default=str) == json.dumps(b, sort_keys=True, default=str)


def inline(value: Any) -> str:
    """A JSON value as YAML on one line. Raises UsageError for what JSON has not."""
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return json.dumps(value)
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return "{" + ", ".join(f"{_text(k)}: {inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "[" + ", ".join(inline(v) for v in value) + "]"
    raise UsageError(f"{value!r} is no JSON value")


def _text(text: str) -> str:
    """Text plain where YAML reads it back as this text in any place, else between double quotes."""
    if _PLAIN.match(text) and text.isascii() and text not in ("null", "true", "false"):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(
        c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in quoted
    )

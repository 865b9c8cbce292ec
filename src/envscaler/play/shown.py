"""What is shown as lines of styled parts: values, results, changes, tools, states. Whatever is not ours is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envscaler.diagnostics import printable
from envscaler.play.changes import Change
from envscaler.play.lines import LineError, write_value
from envscaler.play.words import usage

if TYPE_CHECKING:
    from envscaler.play.episode import Step
    from envscaler.runtime import Rule, Tool

__all__ = [
    "Answer",
    "Line",
    "Part",
    "Source",
    "View",
    "change_lines",
    "columns",
    "error_lines",
    "json_lines",
    "line",
    "note",
    "result_lines",
    "text_lines",
]

Part = tuple[str, str]
"""Style and text. Styles: ok, error, dim, key, text, number, constant, add, remove, change, name, heading, caret,
agent, user."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line; when it is too long, it goes on ``hang`` columns in."""

    parts: tuple[Part, ...]
    hang: int = 2

    def __str__(self) -> str:
        return "".join(text for _, text in self.parts)


@dataclass(slots=True)
class Answer:
    """What a line led to. ``understood``: false for a line that is no call and no command, or a command that could not
    be carried out; ``error`` then says why, when the line itself is at fault."""

    lines: list[Line] = field(default_factory=list)
    understood: bool = True
    leave: bool = False
    error: LineError | None = None


@dataclass(frozen=True, slots=True)
class View:
    """How much room there is: ``width`` in columns; at most ``rows`` lines of one value (None: all)."""

    width: int = 100
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What of a spec explains an error: its path as errors name it, its lines, its rules by name."""

    path: str
    lines: Sequence[str]
    rules: Mapping[str, Rule]


def line(*parts: str | Part, hang: int = 2) -> Line:
    """A line of parts, each escaped: no control character of a spec, a state or a recording reaches a terminal."""
    return Line(tuple(("", _clean(p)) if isinstance(p, str) else (p[0], _clean(p[1])) for p in parts), hang)


def _clean(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def note(text: str) -> Line:
    """A line of our own."""
    return line("  ", ("dim", text))


def text_lines(text: str, style: str = "", indent: int = 2) -> list[Line]:
    """Text of several lines, indented."""
    rows = text.replace("\r\n", "\n").split("\n")
    return [line(" " * indent, (style, row.replace("\t", "    ")), hang=indent) for row in rows]


# -- values


def json_lines(value: Any, view: View, indent: int = 2) -> list[Line]:
    """A JSON value, each part of it on one line where it fits."""
    rows = list(_json(value, view.width, indent, (), ""))
    if view.rows is not None and len(rows) > view.rows:
        more = len(rows) - view.rows
        return [*rows[: view.rows], note(f"… {more} more lines")]
    return rows


def _json(value: Any, width: int, indent: int, lead: tuple[Part, ...], tail: str) -> Iterator[Line]:
    flat = [*lead, *_inline(value), ("", tail)]
    if not isinstance(value, (dict, list)) or not value or indent + _width(flat) <= width:
        yield line(" " * indent, *flat, hang=indent + 2)
        return
    begin, end = "{}" if isinstance(value, dict) else "[]"
    items = [(_key(k), v) for k, v in value.items()] if isinstance(value, dict) else [((), v) for v in value]
    if all(not isinstance(v, (dict, list)) for _, v in items):
        yield from _filled(items, width, indent, [*lead, ("", begin)], end + tail)
        return
    yield line(" " * indent, *lead, begin)
    for number, (before, item) in enumerate(items, 1):
        yield from _json(item, width, indent + 2, before, "," if number < len(items) else "")
    yield line(" " * indent, end + tail)


def _filled(
    items: Sequence[tuple[tuple[Part, ...], Any]], width: int, indent: int, lead: list[Part], end: str
) -> Iterator[Line]:
    """Scalars, as many on a line as fit."""
    row, inner, empty = lead, indent + _width(lead), True
    margin = indent
    for number, (before, item) in enumerate(items, 1):
        parts = [*before, *_inline(item), ("", "," if number < len(items) else end)]
        if not empty and margin + _width(row) + 1 + _width(parts) > width:
            yield line(" " * margin, *row, hang=inner + 2)
            row, margin, empty = [], inner, True
        row = [*row, *([] if empty else [("", " ")]), *parts]
        empty = False
    yield line(" " * margin, *row, hang=inner + 2)


def _width(parts: Iterable[Part]) -> int:
    return sum(len(text) for _, text in parts)


def _key(name: str) -> tuple[Part, ...]:
    return (("key", json.dumps(name, ensure_ascii=False)), ("", ": "))


def _inline(value: Any) -> Iterator[Part]:
    if isinstance(value, dict):
        yield "", "{"
        for number, (name, item) in enumerate(value.items()):
            yield from (*([("", ", ")] if number else []), *_key(name), *_inline(item))
        yield "", "}"
    elif isinstance(value, list):
        yield "", "["
        for number, item in enumerate(value):
            yield from (*([("", ", ")] if number else []), *_inline(item))
        yield "", "]"
    else:
        yield _scalar_style(value), json.dumps(value, ensure_ascii=False)


def _scalar_style(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else "constant"


# -- calls


def result_lines(step: Step, tool: Tool | None, source: Source, view: View) -> list[Line]:
    """What a call gave, and what it changed."""
    error = step.result.error
    if error is None:
        value = step.result.value
        rows = text_lines(value) if isinstance(value, str) and value else json_lines(value, view)
        return [*rows, *change_lines(step.changes, view)]
    rows = text_lines(error.message)
    rows[0] = line("  ", ("error", f"error[{error.code}]"), " ", *rows[0].parts[1:])
    if error.rule is not None:
        rule = source.rules.get(error.rule)
        text = " ".join(rule.text.split()) if rule is not None else ""
        said = f": {text}" if text and text != error.message else ""
        rows.append(line("    ", ("dim", "rule "), ("name", error.rule), said, hang=6))
    if error.cause is not None:
        rows.append(line("    ", ("dim", f"{type(error.cause).__name__}: {error.cause}"), hang=6))
    if error.code == "invalid_argument" and tool is not None:
        rows.append(line("    ", ("dim", "takes "), usage(tool), hang=6))
    elif error.where is not None:
        rows.append(_place(error.where, error.line, source, view))
    return rows


def _place(where: str, number: int, source: Source, view: View) -> Line:
    text = source.lines[number - 1].strip() if 0 < number <= len(source.lines) else ""
    room = max(20, view.width - len(where) - 7)
    cut = text if len(text) <= room else text[: room - 1] + "…"
    return line("    ", ("dim", f"{where} | {cut}" if cut else where), hang=6)


def change_lines(found: Sequence[Change], view: View) -> list[Line]:
    """Differences, one a line: sign, record, field, before and after."""
    width = min(32, max((len(c.record) for c in found), default=0))
    fields = min(24, max((len(c.field) for c in found if c.field), default=0))
    shown = found if view.rows is None else found[: view.rows]
    rows = [_change(c, width, fields) for c in shown]
    if len(shown) < len(found):
        rows.append(note(f"… {len(found) - len(shown)} more differences"))
    return rows


def _change(change: Change, width: int, fields: int) -> Line:
    style = {"+": "add", "-": "remove", "~": "change"}[change.sign]
    head: list[Part] = [(style, f"  {change.sign} "), ("name", change.record.ljust(width)), ("", "  ")]
    if change.field:
        head += [("key", change.field.ljust(fields)), ("", "  ")]
    if change.sign == "~":
        parts = [("remove", _value(change.before)), ("dim", " → "), ("add", _value(change.after))]
    elif change.field:
        parts = [(style, _value(change.after if change.sign == "+" else change.before))]
    else:
        parts = list(_fields(change.after if change.sign == "+" else change.before))
    return line(*head, *parts, hang=6)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else write_value(value)


def _fields(record: Any) -> Iterator[Part]:
    """``name=value`` of a whole record."""
    if not isinstance(record, dict):
        yield "", _value(record)
        return
    for number, (name, value) in enumerate(record.items()):
        yield "key", f"{' ' if number else ''}{name}="
        yield _scalar_style(value), write_value(value)


# -- lines that were not understood


def error_lines(typed: str, error: LineError) -> list[Line]:
    """The message, with the typed line and a caret at the place."""
    shown = "".join(_one(c) for c in typed)
    start = len("".join(_one(c) for c in typed[: error.at]))
    end = max(start + 1, len("".join(_one(c) for c in typed[: error.end])))
    first, last = max(0, start - 50), max(0, start - 50) + 96
    lead = "…" if first else ""
    rows = [
        line("  ", ("error", "not understood"), f": {error}", hang=6),
        line("    ", lead + shown[first:last] + ("…" if len(shown) > last else "")),
        line("    ", " " * (start - first + len(lead)), ("caret", "^" * max(1, min(end, last) - start))),
    ]
    return [*rows, line("    ", ("dim", error.help), hang=6)] if error.help else rows


def _one(char: str) -> str:
    return " " if char in "\n\t" else _clean(char)


def columns(rows: Iterable[tuple[str, str]], style: str = "name", indent: int = 2) -> list[Line]:
    """Names with a text beside each."""
    pairs = list(rows)
    width = min(34, max((len(name) for name, _ in pairs), default=0))
    return [line(" " * indent, (style, name.ljust(width)), "  ", text, hang=indent + width + 2) for name, text in pairs]

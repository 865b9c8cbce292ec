"""Where a problem is and what it is: spans, diagnostics, and their text, JSON and GitHub forms."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Diagnostic",
    "Severity",
    "Span",
    "nearest",
    "one_of",
    "printable",
    "render_github",
    "render_json",
    "render_text",
]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a file: 1-based lines and columns (in characters), the end exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem of a spec.

    ``code`` is stable and has a page in the reference; ``title`` is the one-line message; ``detail`` says what was
    expected (allowed names and the like); ``help`` is the fix in one line; ``related`` are further places with a word
    each (the first of two equal keys, for example).
    """

    code: str
    span: Span
    title: str
    detail: str = ""
    help: str = ""
    severity: Severity = "error"
    related: tuple[tuple[Span, str], ...] = ()

    def headline(self) -> str:
        """``path:line:column: error[code] title``, escaped for a terminal."""
        return printable(f"{self.span}: {self.severity}[{self.code}] {self.title}")


def printable(text: str) -> str:
    """The text with control characters, lone surrogates and bidirectional overrides escaped, newlines and tabs kept."""
    return "".join(c if c in "\n\t" or _harmless(c) else _escape(c) for c in text)


def _harmless(char: str) -> bool:
    return char.isprintable() or char == " "


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that ``name`` most likely meant, or None."""
    names = sorted(set(allowed))
    lowered = {n.lower(): n for n in names}
    if name.lower() in lowered:
        return lowered[name.lower()]
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not found and len(name) <= 4:  # in short names two letters that changed places are most of the name
        found = [n for n in names if sorted(n) == sorted(name)]
    return found[0] if found else None


def one_of(names: Iterable[str], limit: int = 12) -> str:
    """``a, b, c`` for a message; long lists are cut with their length said."""
    items = list(names)
    shown = ", ".join(items[:limit])
    return f"{shown}, … ({len(items)} in all)" if len(items) > limit else shown


def render_text(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> str:
    """All diagnostics as text: headline, source line, caret, detail, help. ``sources`` maps a path to its text."""
    return "\n\n".join(_text(d, sources) for d in diagnostics)


def _text(diagnostic: Diagnostic, sources: Mapping[str, str]) -> str:
    lines = [diagnostic.headline(), *_excerpt(diagnostic.span, sources)]
    if diagnostic.detail:
        lines += [f"  {line}" for line in printable(diagnostic.detail).splitlines()]
    for span, word in diagnostic.related:
        lines.append(printable(f"  {span}: {word}"))
    if diagnostic.help:
        lines.append(printable(f"  help: {diagnostic.help}"))
    return "\n".join(lines)


def _excerpt(span: Span, sources: Mapping[str, str]) -> list[str]:
    text = sources.get(span.path, "").splitlines()
    if not 1 <= span.line <= len(text):
        return []
    line = text[span.line - 1]
    start = min(span.column - 1, len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    offset = max(0, start - 60) if len(line) > 160 else 0
    shown, pad = line[offset : offset + 160], line[offset:start]
    prefix = f"{span.line:5} | "
    padding = "".join("\t" if c == "\t" else " " for c in pad)
    caret = "^" * max(1, min(end, offset + 160) - start)
    return [prefix + printable(shown), " " * (len(prefix) - 2) + "| " + padding + caret]


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """A JSON array, one object for each diagnostic."""
    return json.dumps([_plain(d) for d in diagnostics], indent=2)


def _plain(d: Diagnostic) -> dict[str, object]:
    return {
        "path": d.span.path, "line": d.span.line, "column": d.span.column,
        "end_line": d.span.end_line, "end_column": d.span.end_column,
        "severity": d.severity, "code": d.code, "title": d.title, "detail": d.detail, "help": d.help,
        "related": [{"path": s.path, "line": s.line, "column": s.column, "word": w} for s, w in d.related],
    }  # fmt: skip


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """Workflow commands that GitHub shows as annotations, one line each."""
    kind = {"error": "error", "warning": "warning", "note": "notice"}
    return "\n".join(
        f"::{kind[d.severity]} file={_property(d.span.path)},line={d.span.line},col={d.span.column},"
        f"endLine={d.span.end_line},endColumn={d.span.end_column},title={_property(d.code)}::"
        + _data("\n".join(x for x in (d.title, d.detail, d.help and f"help: {d.help}") if x))
        for d in diagnostics
    )


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

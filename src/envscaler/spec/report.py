"""Collecting the diagnostics of one file, in file order and bounded in number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from envscaler.diagnostics import Diagnostic, Severity, Span, nearest, one_of

__all__ = ["Report", "short", "suggest"]

_MOST = 200  # diagnostics shown of one file; a machine-made file can have one a line
_LONG = 64  # names longer than this are neither compared with others nor shown whole
_MANY = 500  # more names than this are not searched for the nearest


class Report:
    """Diagnostics of one spec as they are found; ``items`` gives them in file order."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._places: set[tuple[str, Span]] = set()

    def error(
        self,
        code: str,
        span: Span,
        title: str,
        detail: str = "",
        help: str = "",  # noqa: A002, as in Diagnostic
        related: tuple[tuple[Span, str], ...] = (),
    ) -> None:
        """Add an error; a second one of the same code at the same place says nothing new and is dropped."""
        self._add(code, span, title, detail, help, "error", related)

    def warning(self, code: str, span: Span, title: str, detail: str = "", help: str = "") -> None:  # noqa: A002
        """Add a warning."""
        self._add(code, span, title, detail, help, "warning", ())

    def _add(
        self,
        code: str,
        span: Span,
        title: str,
        detail: str,
        help: str,  # noqa: A002
        severity: Severity,
        related: tuple[tuple[Span, str], ...],
    ) -> None:
        if (code + title, span) not in self._places:
            self._places.add((code + title, span))
            self._found.append(Diagnostic(code, span, title, detail, help, severity, related))

    def unknown(self, code: str, span: Span, title: str, name: str, allowed: Collection[str], what: str) -> str | None:
        """An error about a name that is none of ``allowed``: lists them, and proposes the nearest, which it gives back."""
        near = suggest(name, allowed)
        detail = f"{what}: {one_of(allowed)}" if allowed else f"there are no {what}"
        self.error(code, span, title, detail, f"did you mean {near!r}?" if near else "")
        return near

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add what another stage found."""
        self._found.extend(diagnostics)

    @property
    def failed(self) -> bool:
        """Whether an error was found."""
        return any(d.severity == "error" for d in self._found)

    @property
    def items(self) -> list[Diagnostic]:
        """All diagnostics in file order, one for each mistake; past 200 the rest is counted in one note."""
        ordered = _one_of_each(sorted(self._found, key=lambda d: (d.span.line, d.span.column)))
        if len(ordered) <= _MOST:
            return ordered
        rest = len(ordered) - _MOST
        note = Diagnostic("more-problems", ordered[_MOST].span, f"{rest} more problems are not shown", severity="note")
        return [*ordered[:_MOST], note]


_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_FEW = {"bad-value": 5}  # so many of a kind are shown one by one, of other codes 2
_PLACES = 3  # further places that are named


def _kind_of(found: Diagnostic) -> tuple[str, ...] | None:
    """What diagnostics of one mistake have in common: a name that is unknown, values that lack one thing."""
    quoted = _QUOTED.findall(found.title)
    if found.code.startswith("unknown-") or found.code == "dangling-ref" or found.detail.startswith("expected one of"):
        return (found.code, quoted[-1] if quoted else found.title)
    if found.code == "bad-value" and quoted:
        return (found.code, found.detail, found.title.rpartition(quoted[-1])[2])
    return None


def _one_of_each(ordered: list[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, of many that have one cause the first only, which names the places of the others."""
    groups: dict[object, list[Diagnostic]] = {}
    for number, found in enumerate(ordered):
        groups.setdefault(_kind_of(found) or number, []).append(found)
    return sorted(
        (
            d
            for group in groups.values()
            for d in (group if len(group) <= _FEW.get(group[0].code, 2) else [_first_of(group)])
        ),
        key=lambda d: (d.span.line, d.span.column),
    )


def _first_of(group: list[Diagnostic]) -> Diagnostic:
    first, *others = group
    places = [(d.span, "the same again") for d in others[:_PLACES]]
    if len(others) > _PLACES:
        places[-1] = (places[-1][0], f"the same again, and at {len(others) - _PLACES} more places")
    return replace(first, related=(*first.related, *places))


def suggest(name: str, allowed: Collection[str]) -> str | None:
    """The nearest allowed name, where looking for it is cheap."""
    if len(name) > _LONG or len(allowed) > _MANY:
        return None
    return nearest(name, allowed)


def short(text: str, limit: int = _LONG) -> str:
    """The text in quotes for a message, cut when long."""
    return repr(text if len(text) <= limit else text[:limit] + "…")

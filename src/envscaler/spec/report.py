"""Collecting the diagnostics of one file, in file order and bounded in number."""

from __future__ import annotations

from collections.abc import Collection, Iterable

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

    def unknown(self, code: str, span: Span, title: str, name: str, allowed: Collection[str], what: str) -> None:
        """An error about a name that is none of ``allowed``: lists them and proposes the nearest."""
        near = suggest(name, allowed)
        detail = f"{what}: {one_of(allowed)}" if allowed else f"there are no {what}"
        self.error(code, span, title, detail, f"did you mean {near!r}?" if near else "")

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add what another stage found."""
        self._found.extend(diagnostics)

    @property
    def failed(self) -> bool:
        """Whether an error was found."""
        return any(d.severity == "error" for d in self._found)

    @property
    def items(self) -> list[Diagnostic]:
        """All diagnostics in file order; past 200 the rest is counted in one note."""
        ordered = sorted(self._found, key=lambda d: (d.span.line, d.span.column))
        if len(ordered) <= _MOST:
            return ordered
        rest = len(ordered) - _MOST
        note = Diagnostic("more-problems", ordered[_MOST].span, f"{rest} more problems are not shown", severity="note")
        return [*ordered[:_MOST], note]


def suggest(name: str, allowed: Collection[str]) -> str | None:
    """The nearest allowed name, where looking for it is cheap."""
    if len(name) > _LONG or len(allowed) > _MANY:
        return None
    return nearest(name, allowed)


def short(text: str, limit: int = _LONG) -> str:
    """The text in quotes for a message, cut when long."""
    return repr(text if len(text) <= limit else text[:limit] + "…")

"""The front door: linear scans that bound text before any parser sees it, for YAML files and for blocks of logic."""

from __future__ import annotations

import re
from typing import Final

from envscaler.diagnostics import Span
from envscaler.spec.report import Report

__all__ = [
    "MAX_BLOCK",
    "MAX_BRACKETS",
    "MAX_DIGITS",
    "MAX_FILE",
    "MAX_NESTING",
    "NO_MATCH",
    "decode",
    "scan_logic",
    "scan_text",
]

MAX_FILE: Final = 1 << 20  # bytes of a file
MAX_LINE: Final = 1 << 15  # characters of a line
MAX_BLOCK: Final = 1 << 14  # characters of a block of logic
MAX_BRACKETS: Final = 30  # brackets open at once in logic
MAX_NESTING: Final = 100  # operators, brackets, branches and indentations that can nest within each other in logic
MAX_DIGITS: Final = 40  # characters of a number in logic
NO_MATCH: Final = "the language has no `match`"

# everything YAML forbids, and the line separators beyond LF that would make line numbers ambiguous
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|\r(?!\n)")
_LEADING_TAB = re.compile(r"^ *\t", re.MULTILINE)


def decode(path: str, data: bytes, report: Report) -> str | None:
    """UTF-8 bytes as text; None with a diagnostic when too large or not UTF-8."""
    if len(data) > MAX_FILE:
        _too_large(path, report)
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        report.error(
            "not-utf8",
            Span(path, line, column, line, column + 1),
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            help="save the file as UTF-8",
        )
        return None


def scan_text(path: str, text: str, report: Report) -> str | None:
    """The text with BOM and CR of CRLF taken off, or None with one diagnostic when it may not reach the parser."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_FILE or len(text.encode("utf-8", "surrogatepass")) > MAX_FILE:
        _too_large(path, report)
        return None
    text = text.replace("\r\n", "\n")
    return text if _clean(path, text, report) else None


def _too_large(path: str, report: Report) -> None:
    report.error(
        "too-large",
        Span(path, 1, 1, 1, 1),
        f"the file is larger than {MAX_FILE:,} bytes",
        help="move the data into a JSON file: `initial_state: {file: state.json}`",
    )


def _clean(path: str, text: str, report: Report) -> bool:
    if bad := _FORBIDDEN.search(text):
        char = bad[0][0]
        code = "surrogate" if "\ud800" <= char <= "\udfff" else "control-character"
        report.error(
            code,
            _place(path, text, bad.start()),
            f"character U+{ord(char):04X} may not stand in a spec",
            help=f'write it as "\\u{ord(char):04x}" between double quotes, or remove it'
            if code != "surrogate"
            else "remove it",
        )
        return False
    if tab := _LEADING_TAB.search(text):
        report.error("tab", _place(path, text, tab.end() - 1), "a tab in the indentation", help="indent with spaces")
        return False
    longest = max(text.split("\n"), key=len)
    if len(longest) > MAX_LINE:
        report.error(
            "too-large",
            _place(path, text, text.index(longest)),
            f"a line is longer than {MAX_LINE:,} characters",
            help="break it, or move the data into a JSON file",
        )
        return False
    return True


def _place(path: str, text: str, offset: int) -> Span:
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return Span(path, line, column, line, column + 1)


def scan_logic(source: str) -> list[tuple[int, int, str]]:
    """Problems that keep a block of logic from the parsers, as (line, column, message), 1-based within ``source``.

    Bounds what can nest, so that neither Python's parser nor LibCST, nor a recursive walk over their trees, exhausts
    the stack. Everything else that may be wrong with the text is left to Python's parser and its messages.
    """
    if len(source) > MAX_BLOCK:
        return [(1, 1, f"a block of logic holds at most {MAX_BLOCK:,} characters; move parts into helpers")]
    try:
        _LogicScan(source).run()
    except _Refused as refused:
        line = source.count("\n", 0, refused.offset) + 1
        column = refused.offset - (source.rfind("\n", 0, refused.offset) + 1) + 1
        return [(line, column, refused.message)]
    return []


class _Refused(Exception):
    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


_TOKEN = re.compile(
    r"""(?P<space>[ \t\f]+|\\\n)
      | (?P<comment>\#[^\n]*)
      | (?P<string>(?:[rRbBuUfF]{0,2})(?:\"\"\"|'''|"|'))
      | (?P<number>(?:\.[0-9]|[0-9])(?:[eE][+-]|[\w.])*)
      | (?P<name>[^\W\d]\w*)
      | (?P<newline>\n)
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
      | (?P<comma>[,;])
      | (?P<operator>[-+*/%@&|^~<>=!]=?|:=|[.:])
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_NESTING_WORDS = frozenset(
    ["and", "or", "not", "if", "else", "for", "in", "is", "lambda", "await", "async", "yield", "from", "as"]
)
_CASE = re.compile(r"case\b(?![ \t]*(?:=|\.|[-+*/%|&^]=|//=|\*\*=))")
_FLAT_OPERATORS = frozenset({":", "="})


class _LogicScan:
    """Walks the tokens once. ``levels`` holds, for each open bracket, the operators since its last comma."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.levels = [0]
        self.indents = [0]
        self.branches = [0]  # `elif` so far in the chain, for each indentation
        self.fresh = True  # at the start of a logical line
        self.match: int | None = None  # the last line that begins with that word

    def run(self) -> None:
        at = 0
        while at < len(self.source):
            at = self._token(at, "")

    def _token(self, at: int, outer: str) -> int:
        """Take the token at ``at``; the next offset. Inside {…} of an f-string ``outer`` are the quotes around it."""
        match = _TOKEN.match(self.source, at)
        assert match is not None  # `other` matches anything
        kind, text = match.lastgroup, match.group()
        if outer and (kind in ("comment", "newline") or text[0] == "\\" or not set(outer).isdisjoint(text)):
            raise _Refused(at, _FIELD)
        if self.fresh and kind not in ("space", "comment", "newline"):
            self._line_start(at, text)
        if kind == "string":
            return self._string(at, text, outer)
        if kind == "name":
            self._ascii(at, text)
            self._add(at, text in _NESTING_WORDS)
        elif kind == "number":
            if len(text) > MAX_DIGITS:
                raise _Refused(at, f"a number of more than {MAX_DIGITS} characters")
        elif kind == "operator":
            self._add(at, text not in _FLAT_OPERATORS)
        else:
            self._structure(kind, at, text)
        return match.end()

    def _structure(self, kind: str | None, at: int, text: str) -> None:
        if kind == "open":
            self._open(at)
        elif kind == "close":
            if len(self.levels) > 1:
                self.levels.pop()
        elif kind == "comma":
            self.levels[-1] = 0
        elif kind == "newline" and len(self.levels) == 1:
            self.levels = [0]
            self.fresh = True
        elif kind == "other":
            self._ascii(at, text)

    def _ascii(self, at: int, text: str) -> None:
        if not text.isascii():
            raise _Refused(at, f"{text[:20]!r} is not ASCII; outside texts and comments logic is")

    def _line_start(self, at: int, text: str) -> None:
        self.fresh = False
        if text == "match":
            self.match = at
        if _CASE.match(self.source, at):  # LibCST takes exponential time on patterns
            raise _Refused(at if self.match is None else self.match, NO_MATCH)
        column = at - (self.source.rfind("\n", 0, at) + 1)
        while column < self.indents[-1]:
            self.indents.pop()
            self.branches.pop()
        if column > self.indents[-1]:
            self.indents.append(column)
            self.branches.append(0)
        self.branches[-1] = self.branches[-1] + 1 if text == "elif" else self.branches[-1] if text == "else" else 0
        self._bound(at)

    def _open(self, at: int) -> None:
        self.levels[-1] += 1
        self.levels.append(0)
        if len(self.levels) > MAX_BRACKETS:
            raise _Refused(at, f"more than {MAX_BRACKETS} brackets are open at once; use local names for the parts")
        self._bound(at)

    def _add(self, at: int, nests: bool) -> None:
        if nests:
            self.levels[-1] += 1
            self._bound(at)

    def _bound(self, at: int) -> None:
        if sum(self.levels) + 3 * len(self.indents) + sum(self.branches) > MAX_NESTING:
            raise _Refused(
                at,
                "too many operators, brackets or branches within each other; use local names or helpers for the parts",
            )

    def _string(self, at: int, opening: str, outer: str) -> int:
        """A text, from its prefix to after its end; to the end of its line when a one-line text is not closed."""
        prefix = opening.rstrip("\"'").lower()
        quotes = opening[len(prefix) :]
        source, formatted = self.source, "f" in prefix
        self._add(at, True)
        at += len(opening)
        while at < len(source) and not source.startswith(quotes, at):
            char = source[at]
            if char == "\n" and len(quotes) == 1:
                return at
            if outer and (char in outer or char in "\\\n"):
                raise _Refused(at, _FIELD)
            if formatted and char == "{" and not source.startswith("{{", at):
                at = self._field(at, outer + quotes[0])
            else:
                at += 2 if char == "\\" or (formatted and source.startswith(("{{", "}}"), at)) else 1
        return at + len(quotes)

    def _field(self, at: int, outer: str) -> int:
        """A replacement field, from its `{` to after its `}`."""
        depth, before = len(self.levels), self.levels[-1]
        self._open(at)
        self.levels[-2] = before  # fields stand side by side
        at += 1
        while at < len(self.source) and len(self.levels) > depth:
            if self.source[at] in outer:
                raise _Refused(at, _FIELD)
            if len(self.levels) == depth + 1 and self.source[at] == ":":
                return self._format_spec(at + 1, outer, depth)
            at = self._token(at, outer)
        return at

    def _format_spec(self, at: int, outer: str, depth: int) -> int:
        while at < len(self.source) and self.source[at] not in "}\n" + outer:
            at = self._field(at, outer) if self.source[at] == "{" else at + 1
        del self.levels[depth:]
        return at + 1 if at < len(self.source) and self.source[at] == "}" else at


_FIELD = "within {…} of an f-string no backslash, comment, line break or quote of the same kind can stand"

"""Prose with placeholders: `{CONSTANT}` checked and filled in, and numbers beside them that contradict a constant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Final

from envscaler.diagnostics import Span
from envscaler.spec.model import Constant, Text
from envscaler.spec.report import Report, suggest
from envscaler.spec.types import DATE, DATETIME, MONEY, TIME, Enum, Scalar, Type

__all__ = ["PLACEHOLDER", "Prose", "check_prose", "constant_text", "formatted", "render"]

PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""`{{` and `}}` are plain brackets; `{name}` is a placeholder; any other bracket stands for itself."""


_UNCLOSED: Final = re.compile(r"(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\b(?!\})([!:.\[][^{}\s]{0,20}\})?")


@dataclass(frozen=True, slots=True)
class Prose:
    """A text, the parameters that it may name, and numbers that it may say: the bounds of its tool's parameters."""

    text: Text
    params: tuple[str, ...] = ()
    numbers: frozenset[float] = frozenset()


def constant_text(constant: Constant) -> str:
    """A constant as prose shows it.

    Texts without quotes, money with two decimals unless it is whole, times without empty seconds, anything else as JSON.
    """
    return _text(constant.value, constant.type)


def _text(value: Any, of: Type) -> str:
    if of == MONEY and isinstance(value, int):
        return f"{value // 100}" if value % 100 == 0 else f"{value / 100:.2f}"
    if of == TIME and isinstance(value, str):
        return value.removesuffix(":00")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(item, getattr(of, "item", of)) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item, getattr(of, 'value', of))}" for key, item in value.items())
    return str(value)


_PARSED: Final[dict[Type, Any]] = {
    DATE: date.fromisoformat, TIME: time.fromisoformat, DATETIME: datetime.fromisoformat,
}  # fmt: skip


def formatted(constant: Constant, form: str) -> str:
    """A constant in the format of an f-string."""
    value = constant.value
    if constant.type in _PARSED and "%" in form:
        return str(_PARSED[constant.type](value).strftime(form))
    return format(value / 100 if constant.type == MONEY else value, form)


def render(text: str, constants: Mapping[str, Constant]) -> str:
    """The prose with constants filled in and doubled brackets made single; other placeholders stay as they are."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0][0]
        return constant_text(constants[name]) if name in constants else match[0]

    return PLACEHOLDER.sub(fill, text)


def check_prose(texts: list[Prose], constants: Mapping[str, Constant], lines: Sequence[str], report: Report) -> None:
    """Report unknown placeholders, and numbers that contradict a constant. ``lines`` are those of the file."""
    words = {name: _words(name) for name, c in constants.items() if _numeric(c)}
    for prose in texts:
        _placeholders(prose, constants, lines, report)
        if words:
            _numbers(prose, constants, words, lines, report)


def _place(text: Text, start: int, end: int, lines: Sequence[str]) -> Span:
    """Where a part of a text stands in the file; the whole text where that cannot be told."""
    span = text.span
    before, at = text.value.count("\n", 0, start), text.value.rfind("\n", 0, start) + 1
    shown = text.value[at:].split("\n", 1)[0]
    first = span.line - 1
    if lines[first][span.column - 1 : span.column] == "|":
        first += 1
        while first < len(lines) and not lines[first].strip():
            first += 1
    number = first + before
    column = lines[number].find(shown, span.column - 1 if number == span.line - 1 else 0) if number < len(lines) else -1
    if column < 0 or end - at > len(shown):
        return span
    return Span(span.path, number + 1, column + start - at + 1, number + 1, column + end - at + 1)


def _placeholders(prose: Prose, constants: Mapping[str, Constant], lines: Sequence[str], report: Report) -> None:
    text, params = prose.text, prose.params
    allowed = [*params, *constants]
    for match in _UNCLOSED.finditer(text.value):
        if match[1] in allowed:
            report.error(
                "unknown-placeholder",
                _place(text, *match.span(), lines),
                f"{match[0]}: placeholders take no format" if match[2] else f"{match[0]} is not closed after the name",
                "a constant is shown by its type: money with two decimals unless it is whole" if match[2] else "",
                f"write {{{match[1]}}}",
            )
    for match in PLACEHOLDER.finditer(text.value):
        name = match[1]
        if name is not None and name not in allowed:
            near = suggest(name, allowed)
            what = "parameters and constants" if params else "constants"
            report.error(
                "unknown-placeholder",
                _place(text, *match.span(), lines),
                f"{{{name}}} stands for nothing",
                f"{what}: {', '.join(allowed[:12]) or 'none'}",
                f"did you mean {{{near}}}?" if near else f"for plain brackets write {{{{{name}}}}}",
            )


# -- numbers in prose

_NUMBER: Final = re.compile(r"(?<![\w.,:/{-])(\d{1,9}(?:\.\d{1,6})?)(?:\s?(%|percent\b))?(?![\w:/]|[.,-]\d)")
_SPELLED: Final = {
    word: n
    for n, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
    if n > 1
}
_SPELLED_NUMBER: Final = re.compile(rf"\b({'|'.join(_SPELLED)})\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n\s*[-*]\s")
_VAGUE: Final = frozenset(
    [
        "max",
        "min",
        "maximum",
        "minimum",
        "limit",
        "default",
        "total",
        "number",
        "count",
        "per",
        "the",
        "most",
        "least",
        "rate",
        "fee",
        "amount",
        "value",
        "new",
        "old",
    ]
)
_RATES: Final = frozenset(["rate", "percent", "percentage", "pct", "share"])


def _numeric(constant: Constant) -> bool:
    plain = isinstance(constant.type, Scalar) and constant.type.name in ("int", "float", "number", "money")
    return plain and not isinstance(constant.type, Enum) and isinstance(constant.value, (int, float))


def _words(name: str) -> frozenset[str]:
    """The words of a constant's name that say what it is about."""
    return frozenset(_stem(w) for w in name.lower().split("_") if len(w) > 2 and w not in _VAGUE)


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _major(constant: Constant) -> float:
    return constant.value / 100 if constant.type == MONEY else float(constant.value)


def _numbers(
    prose: Prose,
    constants: Mapping[str, Constant],
    words: Mapping[str, frozenset[str]],
    lines: Sequence[str],
    report: Report,
) -> None:
    text = prose.text
    values = {name: _major(constants[name]) for name in words}
    right = (*values.values(), *prose.numbers)
    for start, sentence in _sentences(text.value):
        said = {_stem(w) for w in re.findall(r"[a-z]+", PLACEHOLDER.sub(" ", sentence).lower())}
        for match, number, percent in _found(sentence):
            meant = number / 100 if percent else number
            if any(_same(meant, v) or (percent and _same(number, v)) for v in right):
                continue
            for name, about in words.items():
                if f"{{{name}}}" not in sentence and _contradicts(percent, name, values[name], about, said):
                    place = _place(text, start + match.start(), start + match.end(), lines)
                    _warn(place, match[0].strip(), constants[name], report)
                    break


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences, each with the offset where it begins."""
    start = 0
    for gap in _SENTENCE.finditer(text):
        yield start, text[start : gap.start()]
        start = gap.end()
    yield start, text[start:]


def _found(sentence: str) -> Iterator[tuple[re.Match[str], float, bool]]:
    for match in _NUMBER.finditer(sentence):
        yield match, float(match[1]), match[2] is not None
    for match in _SPELLED_NUMBER.finditer(sentence):
        yield match, float(_SPELLED[match[0].lower()]), False


def _same(a: float, b: float) -> bool:
    return abs(a - b) < 1e-9


def _contradicts(percent: bool, name: str, value: float, about: frozenset[str], said: set[str]) -> bool:
    """A percentage contradicts a rate that shares a word with the sentence; another number what it names with all words."""
    if percent:
        return not about.isdisjoint(said) and (0 < value < 1 or not _RATES.isdisjoint(name.lower().split("_")))
    return bool(about) and about <= said


def _warn(span: Span, shown: str, constant: Constant, report: Report) -> None:
    report.warning(
        "prose-number",
        span,
        f"the text says {shown}, the constant {constant.name} is {constant_text(constant)}",
        "what people and agents read is to come from the constants that the logic uses",
        f"write {{{constant.name}}}, or add a constant for {shown}",
    )

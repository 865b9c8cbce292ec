"""Prose with placeholders: `{CONSTANT}` checked and filled in, and numbers beside them that contradict a constant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from envscaler.diagnostics import Span
from envscaler.spec.model import Constant, Text
from envscaler.spec.report import Report, suggest
from envscaler.spec.types import MONEY, Enum, Scalar, Type

__all__ = ["PLACEHOLDER", "check_prose", "constant_text", "render"]

PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""`{{` and `}}` are plain brackets; `{name}` is a placeholder; any other bracket stands for itself."""


_UNCLOSED: Final = re.compile(r"(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\b(?!\})")


def constant_text(constant: Constant) -> str:
    """A constant as prose shows it: the JSON text of its value, texts without quotes."""
    return _text(constant.value, constant.type)


def _text(value: Any, of: Type) -> str:
    if of == MONEY and isinstance(value, int):
        return str(value // 100 if value % 100 == 0 else value / 100)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(item, getattr(of, "item", of)) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item, getattr(of, 'value', of))}" for key, item in value.items())
    return str(value)


def render(text: str, constants: Mapping[str, Constant]) -> str:
    """The prose with constants filled in and doubled brackets made single; other placeholders stay as they are."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0][0]
        return constant_text(constants[name]) if name in constants else match[0]

    return PLACEHOLDER.sub(fill, text)


def check_prose(
    texts: list[tuple[Text, tuple[str, ...] | None]], constants: Mapping[str, Constant], report: Report
) -> None:
    """Report unknown placeholders, and numbers that contradict a constant. Messages may also name their parameters."""
    words = {name: _words(name) for name, c in constants.items() if _numeric(c)}
    for text, params in texts:
        _placeholders(text, params or (), constants, report)
        if words:
            _numbers(text, constants, words, report)


def _placeholders(text: Text, params: tuple[str, ...], constants: Mapping[str, Constant], report: Report) -> None:
    allowed = [*params, *constants]
    for match in _UNCLOSED.finditer(text.value):
        if match[1] in allowed:
            title = f"{{{match[1]} is no placeholder, as its bracket is not closed after the name"
            report.error(
                "unknown-placeholder", text.span, title, "placeholders take no format", f"write {{{match[1]}}}"
            )
    for match in PLACEHOLDER.finditer(text.value):
        name = match[1]
        if name is not None and name not in allowed:
            near = suggest(name, allowed)
            what = "parameters and constants" if params else "constants"
            report.error(
                "unknown-placeholder",
                text.span,
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
    text: Text, constants: Mapping[str, Constant], words: Mapping[str, frozenset[str]], report: Report
) -> None:
    values = {name: _major(constants[name]) for name in words}
    for sentence in _SENTENCE.split(text.value):
        said = {_stem(w) for w in re.findall(r"[a-z]+", PLACEHOLDER.sub(" ", sentence).lower())}
        for shown, number, percent in _found(sentence):
            meant = number / 100 if percent else number
            if any(_same(meant, v) or (percent and _same(number, v)) for v in values.values()):
                continue
            for name, about in words.items():
                if f"{{{name}}}" not in sentence and _contradicts(percent, name, values[name], about, said):
                    _warn(text.span, shown, constants[name], report)
                    break


def _found(sentence: str) -> Iterator[tuple[str, float, bool]]:
    for match in _NUMBER.finditer(sentence):
        yield match[0].strip(), float(match[1]), match[2] is not None
    for match in _SPELLED_NUMBER.finditer(sentence):
        yield match[0], float(_SPELLED[match[0].lower()]), False


def _same(a: float, b: float) -> bool:
    return abs(a - b) < 1e-9


def _contradicts(percent: bool, name: str, value: float, about: frozenset[str], said: set[str]) -> bool:
    """A percentage contradicts any rate; another number what the sentence names with all its words."""
    if percent:
        return 0 < value < 1 or not _RATES.isdisjoint(name.lower().split("_"))
    return bool(about) and about <= said


def _warn(span: Span, shown: str, constant: Constant, report: Report) -> None:
    report.warning(
        "prose-number",
        span,
        f"the text says {shown}, the constant {constant.name} is {constant_text(constant)}",
        "what people and agents read is to come from the constants that the logic uses",
        f"write {{{constant.name}}}, or add a constant for {shown}",
    )

"""The grammar of what a player types: calls, commands and comments, parsed from a line and written as one.

    line      = [ comment | command | call ]
    comment   = "#" anything
    command   = ":" NAME { word | NAME "=" value }
    call      = TOOL [ json | { NAME "=" value } ]
    value     = json text, list or object | "'" text "'" | word
    word      = characters without whitespace, the first of them none of " ' [ {

After a parameter, a word that is a JSON number, true, false or null is that; any other word is text, and every word
after a command is. TOOL is a word or JSON text. The JSON that follows a tool directly is what a model would send, and is
handed on as it stands.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from envscaler.diagnostics import printable
from envscaler.errors import EnvscalerError

__all__ = [
    "Argument",
    "CallLine",
    "CommandLine",
    "LineError",
    "literal",
    "parse",
    "spelled",
    "write_call",
    "write_value",
]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_ASSIGNED: Final = re.compile(rf"({_NAME.pattern})=")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD: Final = re.compile(r"\S+")
_HELD_APART: Final = re.compile(r"""[\s"(\[{]""")
_QUOTED: Final = "\"'[{"
_CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}


class LineError(EnvscalerError):
    """A line cannot be understood. ``at`` and ``end`` are offsets in it; ``help`` says what would do, or is empty;
    ``unfinished``: a list or object is still open where the line ends."""

    def __init__(self, message: str, at: int, end: int = -1, help: str = "", unfinished: bool = False) -> None:  # noqa: A002
        super().__init__(message)
        self.at = at
        self.end = max(end, at + 1)
        self.help = help
        self.unfinished = unfinished


@dataclass(frozen=True, slots=True)
class Argument:
    """A value as typed. ``name`` is empty for a word without one; ``at`` is the offset of the name (or word),
    ``value_at`` that of the value."""

    name: str
    value: Any
    at: int
    value_at: int
    end: int


@dataclass(frozen=True, slots=True)
class CallLine:
    """A tool with its arguments. ``json``: the JSON text that was given instead of ``arguments``, else None."""

    tool: str
    at: int
    arguments: tuple[Argument, ...] = ()
    json: str | None = None

    @property
    def sent(self) -> Any:
        """The arguments as `Environment.call` takes them: JSON text as it was given, or a mapping."""
        if self.json is None:
            return {a.name: a.value for a in self.arguments}
        return json.loads(self.json) if self.json[0] == '"' else self.json


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command of the session, without its colon."""

    name: str
    arguments: tuple[Argument, ...] = ()


def parse(text: str) -> CallLine | CommandLine | None:
    """What a line says; None for one that is empty or a comment. Raises LineError."""
    at = _skip(text, 0)
    if at == len(text) or text[at] == "#":
        return None
    if text[at] == ":":
        match = _WORD.match(text, at)
        assert match is not None
        return CommandLine(match[0][1:], _arguments(text, match.end(), words=True))
    tool, end = _tool(text, at)
    after = _skip(text, end)
    if after < len(text) and text[after] in '"[{':
        _, stop = _json(text, after)
        rest = _skip(text, stop)
        if rest < len(text):
            raise LineError("nothing may follow the JSON", rest, len(text.rstrip()))
        return CallLine(tool, at, json=text[after:stop])
    return CallLine(tool, at, _arguments(text, end, words=False))


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _tool(text: str, at: int) -> tuple[str, int]:
    if text[at] == '"':
        value, end = _json(text, at)
        return str(value), end
    match = _WORD.match(text, at)
    assert match is not None
    if (assigned := _ASSIGNED.match(text, at)) is not None:
        raise LineError("a line begins with a tool or with `:` and a command", at, assigned.end())
    cut = next((i for i, c in enumerate(match[0]) if c in '{[("'), len(match[0]))
    if 0 < cut < len(match[0]):
        help_ = f"{match[0][:cut]} {{…}}, or {match[0][:cut]} name=value …"
        raise LineError("a space stands between a tool and its arguments", at + cut, help=help_)
    return match[0], match.end()


def _arguments(text: str, at: int, *, words: bool) -> tuple[Argument, ...]:
    """The ``name=value`` of a line from ``at`` on; with ``words`` also values without a name."""
    found: list[Argument] = []
    while (at := _skip(text, at)) < len(text):
        match = _ASSIGNED.match(text, at)
        name, value_at = (match[1], match.end()) if match is not None else ("", at)
        if not name and not words:
            raise _no_name(text, at)
        if any(a.name == name for a in found if name):
            raise LineError(f"{name} is given twice", at, value_at - 1)
        value, end = _value(text, value_at, name, words)
        found.append(Argument(name, value, at, value_at, end))
        at = end
    return tuple(found)


def _no_name(text: str, at: int) -> LineError:
    word = _WORD.match(text, at)
    assert word is not None
    name = _NAME.match(text, at)
    after = _skip(text, word.end())
    if name is not None and name.end() == word.end() and text[after : after + 1] == "=":
        return LineError("no space stands before `=`", word.end(), after + 1, help=f"{name[0]}=…")
    return LineError("a value needs the name of its parameter", at, word.end(), help=f"name={word[0]}")


def _value(text: str, at: int, name: str, words: bool) -> tuple[Any, int]:
    if at == len(text) or text[at].isspace():
        raise LineError(f"a value is missing after {name}=", at, help=f'empty text is written {name}=""')
    if text[at] == "'":
        end = text.find("'", at + 1)
        if end < 0:
            raise LineError("the text has no closing '", at, len(text))
        value, end = text[at + 1 : end], end + 1
    elif text[at] in _QUOTED:
        value, end = _json(text, at, _STRICT)
    else:
        match = _WORD.match(text, at)
        assert match is not None
        return match[0] if words else literal(match[0], at), match.end()
    if end < len(text) and not text[end].isspace():
        raise LineError(
            "a space stands after a value", end, help='to hold quotes, text is written as JSON: "a \\"b\\""'
        )
    return value, end


def literal(word: str, at: int = 0) -> Any:
    """What a word without quotes stands for."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if _NUMBER.fullmatch(word) is None:
        return word
    try:
        return json.loads(word)
    except ValueError:
        raise LineError("the number has too many digits", at, at + len(word)) from None


class _Refused(ValueError):
    """JSON that Python reads and envscaler does not."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Refused(f"the key {_text(next(n for n in names if names.count(n) > 1))} is given twice")
    return result


def _no_constant(name: str) -> Any:
    raise _Refused(f"{name} is not a JSON number")


_LOOSE: Final = json.JSONDecoder()
_STRICT: Final = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _json(text: str, at: int, decoder: json.JSONDecoder = _LOOSE) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, at)
    except _Refused as error:
        raise LineError(str(error), at) from None
    except json.JSONDecodeError as error:
        place = min(error.pos, len(text))
        if error.msg.startswith("Unterminated string"):
            raise LineError('the text has no closing "', place, len(text), unfinished=False) from None
        message = error.msg[0].lower() + error.msg[1:]
        if not text[place:].strip():
            kind = "object" if text[at] == "{" else "list"
            raise LineError(f"the {kind} that begins here is not closed", at, unfinished=True) from None
        raise LineError(f"not JSON: {message}", place) from None
    except RecursionError:
        raise LineError("the JSON nests too deeply", at) from None
    except ValueError:
        raise LineError("a number in the JSON has too many digits", at) from None


# -- written


def write_call(tool: str, arguments: Any = None) -> str:
    """A line that parses to this call: ``name=value`` where the names allow it, else JSON.

    ``arguments``: a mapping, or whatever else was sent; None is none.
    """
    name = tool if _plain(tool) and tool[0] not in ":#" and _ASSIGNED.match(tool) is None else _text(tool)
    if arguments is None:
        return name
    if isinstance(arguments, str):
        row = (
            " ".join(arguments.splitlines()) if arguments[:1] in ("{", "[") else arguments
        )  # no JSON text holds a newline
        return f"{name} {row if _sendable(row) else _text(arguments)}"
    if not isinstance(arguments, Mapping):
        return f"{name} {_text(arguments if isinstance(arguments, list) else _text(arguments))}"
    if not all(isinstance(k, str) and _NAME.fullmatch(k) and _finite(v) for k, v in arguments.items()):
        return f"{name} {_text(arguments)}"
    return " ".join([name, *(f"{k}={write_value(v)}" for k, v in arguments.items())])


def _sendable(text: str) -> bool:
    """Whether JSON text can stand in a line as it is."""
    if text[:1] not in ("{", "[") or printable(text) != text or "\n" in text or "\t" in text:
        return False
    try:
        line = parse(f"t {text}")
    except LineError:
        return False
    return isinstance(line, CallLine) and line.json == text


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def write_value(value: Any) -> str:
    """A value as it is typed after ``name=``."""
    if isinstance(value, str) and _plain(value) and value not in _CONSTANTS and _NUMBER.fullmatch(value) is None:
        return value
    return _text(value)


def _plain(text: str) -> bool:
    return bool(text) and text[0] != "'" and text.isprintable() and not _HELD_APART.search(text)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if printable(text) == text and "\n" not in text else json.dumps(value)


def spelled(names: Sequence[str], limit: int = 8) -> str:
    """``a=, b=, c=`` for a message."""
    shown = [f"{n}=" for n in names[:limit]]
    return ", ".join(shown) + (", …" if len(names) > limit else "")

"""The one parser of text replies: thinking apart, calls in `<tool_call>` form, and what is wrong with the rest.

    <think>…</think>
    text <tool_call>{"name": "transfer", "arguments": {"amount": 5}}</tool_call>

Nothing is guessed: a call is an object of JSON with a name and, if it takes any, arguments; anything else between the tags is
a problem, which stays in the content as it was written. Only one pair of braces too many around it is overlooked, since chat
templates in use show calls like that. Thinking comes first: a call inside it is no call. Takes time
linear in the length of the text, and never raises.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from envscaler.diagnostics import nearest, printable
from envscaler.llm.messages import Message, ToolCall
from envscaler.llm.replies import split_reasoning

__all__ = ["CALL_FORM", "Parsed", "parse", "tagged"]

CALL_FORM: Final = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>'

_OPEN: Final = "<tool_call>"
_CLOSE: Final = "</tool_call>"
_TAG = re.compile(
    r"(?P<call></?tool_call>)|(?P<think><think(?:ing)?>)|(?P<thought></think(?:ing)?>)|(?P<result><tool_response>)"
)
_THOUGHT = re.compile(r"</?think(?:ing)?>")
_THOUGHT_END = re.compile(r"</think(?:ing)?>")
# What may stand in a call: up to a tag outside text, or text that does not end on its line.
_BODY = re.compile(r'(?:[^"<]++|"(?:[^"\\\n]++|\\.)*+"|<(?!/?tool_call>))*+')
# A call that stands by itself on its lines, as models write it that were not trained on the tags.
_BARE = re.compile(r'^[ \t]*+\{\s*+"name"\s*+:\s*+"[^"\n]*+"\s*+,\s*+"arguments"\s*+:', re.MULTILINE)
_FENCE: Final = re.compile(r"```\w*[ \t]*\n\s*\Z")  # before a call
_FENCED: Final = re.compile(r"\A\s*```[ \t]*(?=\n|\Z)")  # after one
_DOUBLED: Final = re.compile(r"[ \t\r\n]*+(\{)[ \t\r\n]*+\{")
_SPACE = re.compile(r"[ \t\r\n]*")
_KEYS: Final = ("name", "arguments")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply in its parts.

    ``calls`` have ids `call_1`, `call_2` …, and their arguments as the JSON text that was sent. ``problems`` say what could
    not be read; the text that they are about stands in ``content``.
    """

    content: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def message(self) -> Message:
        """The reply as an assistant's message."""
        return Message("assistant", self.content, self.reasoning, self.calls)


def parse(text: str) -> Parsed:
    """The parts of a text reply."""
    content, reasoning = split_reasoning(text)
    reader = _Reader(content)
    reader.read()
    # A line between pieces that something was taken out of, so that no new tag arises.
    kept = "\n".join(piece for parts in reader.kept if (piece := "".join(parts).strip()))
    if not reader.calls and not reader.problems and _BARE.search(kept):
        reader.problems.append(f"A call stands outside {_OPEN} and {_CLOSE}; it was not run. Write {CALL_FORM}.")
    return Parsed(
        kept,
        "\n\n".join(thought for thought in (reasoning, *reader.thoughts) if thought),
        tuple(ToolCall(f"call_{n}", call.name, call.arguments) for n, call in enumerate(reader.calls, 1)),
        tuple(reader.problems),
    )


def tagged(text: str) -> str:
    """A reply with tags around the calls that stand in it without any, each an object that begins a line; fences around them
    are taken off. For models that were not trained on tags. Text that has tags, and thinking, stay as they are."""
    place = max((end.end() for end in _THOUGHT_END.finditer(text)), default=0)
    if _OPEN in text or _CLOSE in text or _THOUGHT.search(text, place):
        return text
    made, called = [text[:place]], False
    for found in _BARE.finditer(text, place):
        if found.start() < place:
            continue  # within the arguments of the call before
        begin = found.start()
        try:
            members, end = _read_object(text, begin)
            _checked(members, end)
        except _Wrong:
            break
        before = _FENCE.sub("", _unfenced(text[place:begin], called))
        made.append(f"{before}{_OPEN}{text[begin:end].strip()}{_CLOSE}\n")
        place, called = end, True
    return "".join([*made, _unfenced(text[place:], called)])


def _unfenced(text: str, called: bool) -> str:
    """What stands after a call, if there is one, without the end of the fence around that."""
    return _FENCED.sub("", text) if called else text


class _Call(NamedTuple):
    name: str
    arguments: str


class _Reader:
    """Goes once through a text. ``kept`` is the content: the parts of each stretch without a call or thinking."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.kept: list[list[str]] = [[]]
        self.thoughts: list[str] = []
        self.calls: list[_Call] = []
        self.problems: list[str] = []

    def read(self) -> None:
        text, place, thought_until = self._text, 0, 0
        while tag := _TAG.search(text, place):
            self.kept[-1].append(text[place : tag.start()])
            if tag["think"]:
                place = self._thinking(tag.end())
            elif tag["thought"]:  # the end of thinking that began in the prompt: all so far was thought, calls too
                self.kept, self.calls, self.problems, self.thoughts = [[]], [], [], []
                thought_until, place = tag.start(), tag.end()
            elif tag[0] == _OPEN:
                place = self._call(tag.end())
            elif tag["result"]:
                self.kept[-1].append(tag[0])
                self.problems.append(
                    "There is a <tool_response>: results come from the tools. Write the call and stop."
                )
                place = tag.end()
            else:
                self.kept[-1].append(tag[0])
                self.problems.append(f"There is a {_CLOSE} without a {_OPEN} before it. Write {CALL_FORM}.")
                place = tag.end()
        self.kept[-1].append(text[place:])
        if thought_until:
            self.thoughts.insert(0, _THOUGHT.sub("\n", text[:thought_until]).strip())

    def _thinking(self, begin: int) -> int:
        """Take a block of thinking out; it goes to the end of the text where nothing ends it."""
        end = _THOUGHT_END.search(self._text, begin)
        self.thoughts.append(self._text[begin : end.start() if end else len(self._text)].strip())
        self.kept.append([])
        return end.end() if end else len(self._text)

    def _call(self, begin: int) -> int:
        call, problem, end = _read_call(self._text, begin)
        if call is None:
            self.kept[-1].append(self._text[begin - len(_OPEN) : end])
            self.problems.append(problem)
        else:
            self.calls.append(call)
            self.kept.append([])
        return end


class _Wrong(Exception):
    """Why a text is no call, and where that shows."""

    def __init__(self, reason: str, place: int, *, at: bool = False) -> None:
        super().__init__(f"{reason} at character {place + 1}" if at else reason)
        self.place = place


def _read_call(text: str, begin: int) -> tuple[_Call | None, str, int]:
    """The call whose text begins here, or what is wrong with it; and where the text after it begins.

    The end tag may be missing where the object is complete and another call or nothing follows: models stop there.
    """
    found = _BODY.match(text, begin)
    end = found.end() if found else begin
    body = text[begin:end]
    try:
        members, place = _read_object(_singly(body))
        if place < len(body) or text.startswith('"', end):
            raise _Wrong("there is more text after the object,", place, at=True)
        call = _checked(members, place)
        return call, "", end + len(_CLOSE) if text.startswith(_CLOSE, end) else end
    except _Wrong as wrong:
        reason = str(wrong)
        if wrong.place == len(body) and text.startswith('"', end):
            reason = f"the text that begins at character {len(body) + 1} does not end on its line"
        closed = text.find(_CLOSE, begin + wrong.place)
        if closed < 0:
            reason = f"there is no {_CLOSE}, and {reason}"
        end_mark = "" if reason.endswith("?") else "."
        problem = f"A call could not be read: {printable(reason)}{end_mark} Nothing of it was done. Write {CALL_FORM}."
        return None, problem, len(text) if closed < 0 else closed + len(_CLOSE)


def _singly(body: str) -> str:
    """The text without a second pair of braces around its object, blanks in their place; as it is where that is no object."""
    found, last = _DOUBLED.match(body), body.rstrip()
    if found is None or not last.endswith("}"):
        return body
    made = f"{body[: found.start(1)]} {body[found.end(1) : len(last) - 1]} {body[len(last) :]}"
    try:
        _, place = _read_object(made)
    except _Wrong:
        return body
    return made if place == len(made) else body


def _as_written(number: str) -> str:
    return number


# Numbers are not looked at here: the arguments are passed on as they were written.
_DECODER = json.JSONDecoder(parse_int=_as_written, parse_float=_as_written, parse_constant=_as_written)


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _expect(text: str, place: int, char: str, what: str) -> int:
    """The place after ``char`` and the space behind it."""
    if text.startswith(char, place):
        return _skip(text, place + 1)
    if text.startswith("'", place):
        raise _Wrong("it is not JSON: text stands in double quotes, not in single ones,", place, at=True)
    if place == len(text):
        raise _Wrong("it ends too early", place)
    raise _Wrong(f"it is not JSON: {what} is missing", place, at=True)


def _decoded(text: str, place: int) -> tuple[Any, int]:
    """The value that begins here, and the place after it and the space behind it."""
    try:
        value, end = _DECODER.raw_decode(text, place)
    except json.JSONDecodeError as error:
        wrong = min(max(error.pos, place), len(text))
        if wrong == len(text):
            raise _Wrong("it ends too early", wrong) from None
        raise _Wrong(_reason(error.msg, text[wrong]), wrong, at=True) from None
    except RecursionError:
        raise _Wrong("it nests too deeply", place) from None
    return value, end


def _reason(said: str, char: str) -> str:
    """What is wrong, in words of help, from what the standard library says of the character where it shows."""
    if char == "'":
        return "it is not JSON: text stands in double quotes, not in single ones,"
    if char in ("}", "]"):
        return "it is not JSON: a value or a key is missing"
    if said.startswith("Invalid control character"):
        return "it is not JSON: a line break or a tab in text is written \\n or \\t,"
    return f"it is not JSON: {said[0].lower()}{said[1:].removesuffix(' at').removesuffix(':')}"


class _Value(NamedTuple):
    value: Any
    source: str


def _read_object(text: str, begin: int = 0) -> tuple[dict[str, _Value], int]:
    """The members of the object that begins in a text, each with its source, and the place after it and the space behind it."""
    place = _skip(text, begin)
    if not text.startswith("{", place):
        raise _Wrong("it is no JSON object" if place < len(text) else "nothing is there", place)
    members: dict[str, _Value] = {}
    place = _skip(text, place + 1)
    if text.startswith("}", place):
        return members, _skip(text, place + 1)
    while True:
        if not text.startswith('"', place):
            _expect(text, place, '"', "a key in double quotes")
        key, end = _decoded(text, place)
        place = _expect(text, _skip(text, end), ":", "a colon")
        if key in members:
            raise _Wrong(f"the key {_short(key)} is given twice", place)
        value, end = _decoded(text, place)
        members[key] = _Value(value, text[place:end])
        place = _skip(text, end)
        if text.startswith("}", place):
            return members, _skip(text, place + 1)
        place = _expect(text, place, ",", "a comma or }")


def _checked(members: dict[str, _Value], place: int) -> _Call:
    """The call that the members make."""
    for key in members:
        if key not in _KEYS:
            near = nearest(key, _KEYS) if len(key) <= 40 else None
            hint = f"; did you mean {near}?" if near and near not in members else ""
            raise _Wrong(f'a call has the keys "name" and "arguments", not {_short(key)}{hint}', place)
    if "name" not in members:
        raise _Wrong('there is no "name"', place)
    name = members["name"]
    if not name.source.startswith('"') or not name.value:
        raise _Wrong('its "name" is not the name of a tool', place)
    return _Call(name.value, _arguments(members.get("arguments")))


def _arguments(found: _Value | None) -> str:
    """Arguments as JSON text: the source of an object, or the text that a model has written JSON into. Decoding them, once,
    and seeing whether they are an object is for whoever is called."""
    if found is None or found.value is None:
        return ""
    return str(found.value) if found.source.startswith('"') else found.source


def _short(key: str) -> str:
    return f'"{key if len(key) <= 40 else key[:40] + "…"}"'

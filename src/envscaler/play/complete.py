"""What can stand at the end of an unfinished line: commands, tools, parameters not yet given, ids of the state, values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from envscaler.play.cursor import json_spot, tokens
from envscaler.play.lines import write_value
from envscaler.play.words import about, bare, outer
from envscaler.runtime import shapes as s

if TYPE_CHECKING:
    from envscaler.play.episode import Episode
    from envscaler.runtime import Tool

__all__ = ["Candidate", "Completer", "describe", "title"]

_MOST: Final = 100
_SEARCHED: Final = 2000  # records whose description is looked through: a tenth of a second
_NAMES: Final = ("name", "title", "label", "subject")


@dataclass(frozen=True, slots=True)
class Candidate:
    """``text`` would replace the line from ``start`` on; ``display`` is what a menu shows, with ``meta`` beside it."""

    text: str
    start: int
    display: str
    meta: str = ""


Values = Iterable[tuple[Any, Callable[[], str]]]
"""Values with a description each, made when it is wanted: there may be thousands."""


class Completer:
    """Candidates for an episode. ``commands``: name -> (what it does, kinds of its words: `tool`, `command`, `state`,
    `actor`, `path`). ``paths``: the files that a beginning of a path can mean."""

    def __init__(
        self,
        episode: Episode,
        commands: Mapping[str, tuple[str, Sequence[str]]],
        paths: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        self._episode = episode
        self._commands = commands
        self._paths = paths

    def candidates(self, text: str) -> list[Candidate]:
        """What can stand at the end of ``text``: what begins with the word there, or else what holds it."""
        words = tokens(text)
        start, _ = words[-1]
        if len(words) == 1:
            return list(self._first(text, start))
        head = text[slice(*words[0])]
        if head.startswith(":"):
            return list(self._command_words(head[1:], text, words))
        tool = next((t for t in self._tools() if t.name == head), None)
        return [] if tool is None else list(self._arguments(tool, text, words))

    def _tools(self) -> list[Tool]:
        return [t for t in self._episode.environment.tool_table if t.actor == self._episode.actor]

    def _first(self, text: str, start: int) -> Iterator[Candidate]:
        typed = text[start:]
        if typed.startswith(":"):
            rows = [(f":{name}", what) for name, (what, _) in self._commands.items()]
        else:
            rows = [(t.name, " ".join(t.description.split())) for t in self._tools()]
        yield from (Candidate(name, start, name, what) for name, what in _matching(rows, typed))

    def _command_words(self, name: str, text: str, words: Sequence[tuple[int, int]]) -> Iterator[Candidate]:
        _, kinds = self._commands.get(name, ("", ()))
        if len(words) - 2 >= len(kinds):
            return
        start = words[-1][0]
        typed = text[start:]
        rows: list[tuple[str, str]] = []
        match kinds[len(words) - 2]:
            case "tool":
                rows = [(t.name, " ".join(t.description.split())) for t in self._tools()]
            case "command":
                rows = [(n, what) for n, (what, _) in self._commands.items()]
            case "actor":
                rows = [(actor, "") for actor in self._episode.actors()]
            case "state":
                rows = [(shape.name, shape.record.name) for shape in self._episode.environment.states]
            case "id":
                state = text[slice(*words[1])]
                found = self._ids(state) if any(c.name == state for c in self._collections()) else iter(())
                yield from self._values(found, start, typed, write_value)
            case "path":
                rows = [(path, "") for path in self._paths(typed)]
        yield from (Candidate(write_value(name), start, name, what) for name, what in _matching(rows, typed))

    # -- arguments

    def _arguments(self, tool: Tool, text: str, words: Sequence[tuple[int, int]]) -> Iterator[Candidate]:
        params = outer(tool)
        start = words[-1][0]
        typed = text[start:]
        first = text[words[1][0] : words[1][0] + 1]
        if first == "{":
            whole = s.Struct(tool.name, tuple(tool.params.values()))
            yield from self._json(text, words[1][0], whole, tool.name)
        elif "=" in typed:
            name, _, value = typed.partition("=")
            if name in params:
                yield from self._value(params[name], text, start + len(name) + 1, value)
        elif first not in ("[", '"'):
            given = {text[a:b].partition("=")[0] for a, b in words[1:-1]}
            rows = [(f"{name}=", about(p)) for name, p in params.items() if name not in given]
            yield from (Candidate(name, start, name, what) for name, what in _matching(rows, typed))

    def _value(self, param: s.Field, text: str, at: int, typed: str) -> Iterator[Candidate]:
        if typed[:1] in ("[", "{"):
            yield from self._json(text, at, param.shape, param.json)
            return
        if not typed and isinstance(bare(param.shape), (s.ListOf, s.DictOf, s.Struct, s.Union, s.Partial)):
            begin = "[" if isinstance(bare(param.shape), s.ListOf) else "{"
            yield Candidate(begin, at, begin, about(param))
        write = json.dumps if typed[:1] == '"' else write_value
        yield from self._values(self._of(param.shape, param), at, typed.lstrip("\"'"), write)

    def _json(self, text: str, at: int, shape: s.Shape, name: str) -> Iterator[Candidate]:
        spot = json_spot(text, at, shape, name)
        if spot is None:
            return
        typed = text[spot.start :].lstrip('"')
        if spot.keys is not None:
            rows = [(key, about(field)) for key, field in spot.keys.items()]
            for key, what in _matching(rows, typed):
                yield Candidate(f"{json.dumps(key)}: ", spot.start, key, what)
        elif spot.shape is not None:
            field = s.Field(spot.name, spot.shape)
            yield from self._values(self._of(spot.shape, field), spot.start, typed, _json_text)

    def _values(self, found: Values, start: int, typed: str, write: Callable[[Any], str]) -> Iterator[Candidate]:
        """Those that begin with what is typed; if none does, those with it in them or in their description."""
        wanted = typed.casefold()
        known = [(value, _shown(value), about_it) for value, about_it in found]
        beginning = ((v, text, about_it()) for v, text, about_it in known if text.casefold().startswith(wanted))
        rows = list(islice(beginning, _MOST))
        if not rows:
            described = ((v, text, about_it()) for v, text, about_it in known[:_SEARCHED])
            holding = (row for row in described if wanted in row[1].casefold() or wanted in row[2].casefold())
            rows = list(islice(holding, _MOST))
        for value, text, meta in rows:
            yield Candidate(write(value), start, text, meta)

    def _of(self, shape: s.Shape, field: s.Field) -> Values:
        """The values that a type suggests."""
        match shape:
            case s.Nullable():
                yield from self._of(shape.of, field)
                yield None, _nothing
            case s.Ref():
                yield from self._ids(shape.collection)
            case s.Enum():
                yield from ((value, _nothing) for value in shape.values)
            case s.Const():
                yield shape.value, _nothing
            case s.Scalar(name="bool"):
                yield from ((value, _nothing) for value in (True, False))
            case s.Scalar(name="str"):
                for collection in self._collections():
                    if collection.key.of is s.STR and {field.name, field.json} & {
                        collection.key.name,
                        collection.key.json,
                    }:
                        yield from self._ids(collection.name)
            case s.Scalar(name="date"):
                yield self._episode.env.settings["clock"][:10], lambda: "the day on which the episode starts"
            case s.Scalar(name="datetime" | "local_datetime"):
                yield self._episode.env.settings["clock"], lambda: "when the episode starts"

    def _collections(self) -> list[s.Collection]:
        return [shape for shape in self._episode.environment.states if isinstance(shape, s.Collection)]

    def _ids(self, name: str) -> Values:
        shape = next(c for c in self._collections() if c.name == name)
        for key in self._episode.env.final[name]:
            yield key, partial(describe, self._episode, shape, key)


def _nothing() -> str:
    return ""


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else write_value(value)


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _matching(rows: Iterable[tuple[str, str]], typed: str) -> list[tuple[str, str]]:
    """Those that begin with what is typed; if none does, those with it in them."""
    wanted = typed.casefold()
    rows = list(rows)
    begin = [row for row in rows if row[0].casefold().startswith(wanted)]
    return begin or [row for row in rows if wanted in row[0].casefold()]


# -- a record in a few words


def describe(episode: Episode, shape: s.Collection, key: Any) -> str:
    """``Ingrid Solberg, current, open, balance 1840.55``: a record's name, and what else tells it from others."""
    record = episode.env.record(shape.name, key) or {}
    name = title(shape, record)
    parts = [] if name is None else [name]
    for field in shape.record.fields:
        value = record.get(field.json)
        if value is not None and value != "" and value != name:
            parts += _part(episode, field, value)
    return ", ".join(parts[:4])


def title(shape: s.Collection, record: Mapping[str, Any]) -> str | None:
    """The field by which a person knows a record, if it has one."""
    for field in shape.record.fields:
        if field.name in _NAMES or field.like in _NAMES:
            value = record.get(field.json)
            if isinstance(value, str):
                return _cut(value)
    return None


def _part(episode: Episode, field: s.Field, value: Any) -> list[str]:
    of = bare(field.shape)
    match of:
        case s.Ref():
            target = next(c for c in episode.environment.states if c.name == of.collection)
            assert isinstance(target, s.Collection)
            return [title(target, episode.env.record(target.name, value) or {}) or str(value)]
        case s.Enum():
            return [str(value)]
        case s.Scalar(name="money"):
            return [f"{field.json} {value:.2f}"]
        case s.Scalar(name="int" | "float" | "number"):
            return [f"{field.json} {value}"]
        case s.Scalar(name="str"):
            return [_cut(value)]
    return []


def _cut(text: str, limit: int = 32) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"

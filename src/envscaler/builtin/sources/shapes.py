"""Where the task stands in the rows of published sets and of anybody's JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from envscaler.builtin.sources.jsonrows import Broken, json_rows
from envscaler.builtin.sources.options import Options, column, task
from envscaler.builtin.sources.places import Place
from envscaler.plugin.records import BadRow, Task

__all__ = ["api_bank", "form_of", "plain_json", "toolace"]

_SAID: Final = re.compile(r"^[ \t]*User:", re.MULTILINE)
# What ends what the user says: the moment it is said at, a turn of another, or the mark for the model to go on.
_AFTER: Final = re.compile(
    r"TIME: ?\d|\n[ \t]*(?:User|AI|API|Assistant|System) ?:|(?:\n[ \t]*)?API-\w+: ?\[|\n[ \t]*API-\w+:"
    r"|\n[ \t]*API [Rr](?:eply|esponse):|Generate (?:API Request|AI Response|Response) ?:"
)
_USERS: Final = ("user", "human")

Read = Callable[[dict[str, Any], Place, int, Options], Task | BadRow]


def toolace(place: Place, options: Options) -> Iterator[Task | BadRow]:
    """ToolACE, `[{system, conversations: [{from, value}]}]`: the first turn of the user."""
    return _objects(place, options, _toolace)


def api_bank(place: Place, options: Options) -> Iterator[Task | BadRow]:
    """API-Bank's training sets, `[{instruction, input, output}]`: what the user says first in `input`."""
    return _objects(place, options, _api_bank)


def plain_json(place: Place, options: Options) -> Iterator[Task | BadRow]:
    """Objects with a text under a key."""
    return _objects(place, options, _plain)


def form_of(row: Any) -> str | None:
    """The source whose rows are of the form of this one, None for what is no row."""
    if not isinstance(row, dict):
        return None
    if isinstance(row.get("conversations"), list):
        return "toolace"
    said = row.get("input")
    if isinstance(said, str) and _SAID.search(said) and {"instruction", "output"} <= row.keys():
        return "api-bank"
    return "jsonl"


def _objects(place: Place, options: Options, read: Read) -> Iterator[Task | BadRow]:
    for line, row in json_rows(place.path):
        if isinstance(row, Broken):
            yield BadRow(place.label, line, row.reason)
        elif not isinstance(row, dict):
            yield BadRow(place.label, line, "a row must be an object")
        else:
            yield read(row, place, line, options)


def _toolace(row: dict[str, Any], place: Place, line: int, options: Options) -> Task | BadRow:
    turns = row.get("conversations")
    if not isinstance(turns, list):
        return BadRow(place.label, line, "no list conversations")
    for turn in turns:
        if isinstance(turn, dict) and turn.get("from") in _USERS:
            return task(turn.get("value"), "the user's first turn", place, line)
    return BadRow(place.label, line, "no turn in conversations is from the user")


def _api_bank(row: dict[str, Any], place: Place, line: int, options: Options) -> Task | BadRow:
    given = row.get("input")
    if not isinstance(given, str):
        return BadRow(place.label, line, "no text in input")
    said = _SAID.search(given)
    if said is None:
        return BadRow(place.label, line, "no line of input begins with User:")
    after = _AFTER.search(given, said.end())
    return task(given[said.end() : after.start() if after else None], "what the user says", place, line)


def _plain(row: dict[str, Any], place: Place, line: int, options: Options) -> Task | BadRow:
    key = column(row, options)
    found, here = key in row, row.get(key)
    if not found and "." in key:
        found, here = _within(row, key)
    if not found:
        return BadRow(place.label, line, f"no key {key}")
    others = [name for name in row if name != key] if options.extra is None else options.extra
    return task(here, key, place, line, {name: row.get(name) for name in others})


def _within(row: Any, path: str) -> tuple[bool, Any]:
    """What stands at `a.0.b`: keys, and places in lists from 0."""
    for part in path.split("."):
        if isinstance(row, dict) and part in row:
            row = row[part]
        elif isinstance(row, list) and part.isascii() and part.isdigit() and len(part) < 9 and int(part) < len(row):
            row = row[int(part)]
        else:
            return False, None
    return True, row

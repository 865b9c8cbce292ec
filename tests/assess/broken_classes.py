"""Environment classes written by hand, each with one thing that goes wrong past an episode, a call or a seed."""

from __future__ import annotations

import copy
import datetime
import random
import time
import uuid
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass
class Result:
    ok: bool
    value: Any = None
    error: str | None = None
    changed: bool = False


class Told:
    """The tools as an agent is told of them."""

    names = ("look", "put", "take", "draw")
    kinds: ClassVar[dict[str, str]] = {"look": "read", "put": "write", "take": "write", "draw": "write"}
    _item: ClassVar[dict[str, Any]] = {"type": "string", "enum": ["pen", "ink", "nib"]}
    _count: ClassVar[dict[str, Any]] = {"type": "integer", "minimum": 1, "maximum": 9}
    schemas: ClassVar[dict[str, Any]] = {
        "look": {"type": "object", "properties": {"item": _item}, "required": ["item"]},
        "put": {"type": "object", "properties": {"item": _item, "count": _count}, "required": ["item", "count"]},
        "take": {"type": "object", "properties": {"item": _item, "count": _count}, "required": ["item", "count"]},
        "draw": {"type": "object", "properties": {}},
    }


class Drawer:
    """A drawer with things to write with. Sound."""

    tools = Told()
    START: ClassVar[dict[str, Any]] = {"items": {"pen": 3, "ink": 1, "nib": 5}, "slips": []}

    def __init__(self, state: Any = None, seed: int = 0) -> None:
        self._start = self._own(self.START if state is None else state)
        self._seed = seed
        self.reset()

    def _own(self, state: Any) -> Any:
        return copy.deepcopy(state)

    @classmethod
    def new(cls, state: Any = None, seed: int = 0) -> Any:
        return cls(state, seed)

    @property
    def state(self) -> Any:
        return copy.deepcopy(self._state)

    def reset(self) -> None:
        self._state = self._own(self._start)
        self._random = random.Random(self._seed)

    def snapshot(self) -> Any:
        return copy.deepcopy(self._state), self._random.getstate()

    def restore(self, snapshot: Any) -> None:
        self._state = copy.deepcopy(snapshot[0])
        self._random.setstate(snapshot[1])

    def fork(self) -> Any:
        other = type(self)(self._start, self._seed)
        other.restore(self.snapshot())
        return other

    def diff(self) -> list[Any]:
        return [] if self._state == self._start else [{"op": "replace", "path": "", "value": self.state}]

    def call(self, tool: str, arguments: Any = None) -> Result:
        before = self.snapshot()
        try:
            self._check(tool, arguments)
            value = getattr(self, f"do_{tool}")(**arguments)
        except (ValueError, TypeError, KeyError) as error:
            self.undo(before)
            return Result(False, None, str(error))
        return Result(True, value, None, self._state != before[0])

    def undo(self, before: Any) -> None:
        self.restore(before)

    def _check(self, tool: str, arguments: Any) -> None:
        if tool.__class__ is not str or tool not in Told.names or arguments.__class__ is not dict:
            raise ValueError("no such tool, or no object")
        schema = Told.schemas[tool]["properties"]
        if set(arguments) != set(schema):
            raise ValueError("missing or unknown arguments")
        if "item" in arguments and (
            arguments["item"].__class__ is not str or arguments["item"] not in Told._item["enum"]
        ):
            raise ValueError("no such item")
        if "count" in arguments and (arguments["count"].__class__ is not int or not 1 <= arguments["count"] <= 9):
            raise ValueError("a count is a whole number from 1 to 9")

    def do_look(self, item: str) -> Any:
        return self._state["items"][item]

    def do_put(self, item: str, count: int) -> Any:
        self._state["items"][item] += count
        if self._state["items"][item] > 40:
            raise ValueError("the drawer is full")
        return self._state["items"][item]

    def do_take(self, item: str, count: int) -> Any:
        self._state["items"][item] -= count
        if self._state["items"][item] < 0:
            raise ValueError(f"there is not so much {item}")
        return self._state["items"][item]

    def do_draw(self) -> Any:
        slip = self._random.randrange(1000)
        self._state["slips"] = [*self._state["slips"][-3:], slip]
        return slip


class SharedStart(Drawer):
    """The state is the class's own dictionary, for all episodes together."""

    def _own(self, state: Any) -> Any:
        return state


class ClassCounter(Drawer):
    """Slips are numbered by a counter of the class."""

    _drawn: ClassVar[list[int]] = []

    def do_draw(self) -> Any:
        self._drawn.append(1)
        self._state["slips"] = [*self._state["slips"][-3:], len(self._drawn)]
        return len(self._drawn)


class Remembers(Drawer):
    """What was looked up once is told for ever."""

    _known: ClassVar[dict[str, Any]] = {}

    def do_look(self, item: str) -> Any:
        return self._known.setdefault(item, super().do_look(item))


class DefaultArgument(Drawer):
    """A list that is made once, as a default, is the state of all episodes."""

    def do_draw(self, kept: Any = []) -> Any:  # noqa: B006 - the mistake that is meant
        kept.append(len(kept))
        self._state["slips"] = list(kept[-3:])
        return kept[-1]


class NoUndo(Drawer):
    """A call that fails leaves what it did."""

    def undo(self, before: Any) -> None:
        pass


class WallClock(Drawer):
    """The number of a slip is the time of day."""

    def do_draw(self) -> Any:
        slip = int(time.time() * 1000)
        self._state["slips"] = [*self._state["slips"][-3:], slip]
        return slip


class Today(Drawer):
    """A slip bears the date on which it happens to be drawn."""

    def do_draw(self) -> Any:
        slip = datetime.date.today().isoformat()
        self._state["slips"] = [*self._state["slips"][-3:], slip]
        return slip


class Unseeded(Drawer):
    """Slips are drawn from the process's random numbers."""

    def do_draw(self) -> Any:
        slip = random.randrange(10**6)
        self._state["slips"] = [*self._state["slips"][-3:], slip]
        return slip


class Uuid(Drawer):
    """Slips have names that are never the same."""

    def do_draw(self) -> Any:
        slip = uuid.uuid4().hex
        self._state["slips"] = [*self._state["slips"][-3:], slip]
        return slip


class ReadWrites(Drawer):
    """Looking takes note of itself in the state."""

    def do_look(self, item: str) -> Any:
        self._state["looked"] = self._state.get("looked", 0) + 1
        return super().do_look(item)


class LiveResult(Drawer):
    """A result is a part of the state, which whoever holds it changes."""

    def do_draw(self) -> Any:
        super().do_draw()
        return self._state["slips"]


class ForgetsOnReset(Drawer):
    """Reset does not begin the random numbers anew."""

    def reset(self) -> None:
        self._state = copy.deepcopy(self._start)
        if not hasattr(self, "_random"):
            self._random = random.Random(self._seed)


class ShallowFork(Drawer):
    """A fork shares what is inside with its origin."""

    def fork(self) -> Any:
        other = type(self)(self._start, self._seed)
        other._state = dict(self._state)
        other._random.setstate(self._random.getstate())
        return other


class Raises(Drawer):
    """What is wrong with the arguments is Python's to tell."""

    def call(self, tool: str, arguments: Any = None) -> Result:
        if tool == "look":
            return Result(True, self._state["items"][arguments["item"]])
        return super().call(tool, arguments)


class SaysNothingChanged(Drawer):
    """A write says that it changed nothing."""

    def call(self, tool: str, arguments: Any = None) -> Result:
        result = super().call(tool, arguments)
        result.changed = False
        return result


FOUND: dict[type[Drawer], set[str]] = {
    SharedStart: {"base-stays"},
    ClassCounter: {"replay-equals-live"},
    DefaultArgument: {"replay-equals-live"},
    NoUndo: {"failed-call-changes-nothing"},
    WallClock: {"no-wall-clock"},
    Today: {"no-wall-clock"},
    Unseeded: {"no-unseeded-randomness"},
    Uuid: {"no-unseeded-randomness"},
    Remembers: {"reads-see-the-state"},
    ReadWrites: {"reads-write-nothing"},
    LiveResult: {"results-are-copies"},
    ForgetsOnReset: {"reset-begins-again"},
    ShallowFork: {"fork-is-independent"},
    Raises: {"never-raises"},
    SaysNothingChanged: {"tells-what-changed"},
}
"""What must be among the findings of each."""

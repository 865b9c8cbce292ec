"""Classes written by hand that follow the runtime interface and nothing else: a sound one, and what people get wrong."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass
class Outcome:
    """What a call gives."""

    ok: bool
    value: Any = None
    error: str | None = None
    changed: bool = False


class Tools:
    """The tools as they are told."""

    names = ("get", "add", "drop", "roll")
    kinds: ClassVar[dict[str, str]] = {"get": "read", "add": "write", "drop": "write", "roll": "write"}
    schemas: ClassVar[dict[str, Any]] = {
        "get": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "add": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "count": {"type": "integer", "minimum": 1, "maximum": 5}},
            "required": ["name", "count"],
        },
        "drop": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "roll": {"type": "object", "properties": {}},
    }


class Pantry:
    """Things by name with their number. Sound."""

    tools = Tools()
    START: ClassVar[dict[str, Any]] = {"things": {"rice": 2, "salt": 1}, "rolled": 0}

    def __init__(self, state: Any = None, seed: int = 0) -> None:
        self._start = copy.deepcopy(self.START if state is None else state)
        self._seed = seed
        self.reset()

    @classmethod
    def new(cls, state: Any = None, seed: int = 0) -> Any:
        return cls(state, seed)

    @property
    def state(self) -> Any:
        return copy.deepcopy(self._state)

    def reset(self) -> None:
        self._state = copy.deepcopy(self._start)
        self._draws = self._seed

    def snapshot(self) -> Any:
        return copy.deepcopy((self._state, self._draws))

    def restore(self, snapshot: Any) -> None:
        self._state, self._draws = copy.deepcopy(snapshot)

    def fork(self) -> Any:
        other = type(self)(self._start, self._seed)
        other.restore(self.snapshot())
        return other

    def diff(self) -> list[Any]:
        return [] if self._state == self._start else [{"op": "replace", "path": "", "value": self.state}]

    def call(self, tool: str, arguments: Any = None) -> Outcome:
        before = self.snapshot()
        try:
            if tool not in Tools.names or not isinstance(arguments, dict):
                raise ValueError("no such tool, or no object")
            value = getattr(self, f"_{tool}")(**arguments)
        except Exception as error:
            self.restore(before)
            return Outcome(False, None, f"{type(error).__name__}")
        return Outcome(True, value, None, before[0] != self._state)

    def _get(self, name: str) -> int:
        return int(self._state["things"][name])

    def _add(self, name: str, count: int) -> int:
        if type(name) is not str or type(count) is not int or not 1 <= count <= 5 or not name.isascii():
            raise ValueError
        self._state["things"][name] = self._state["things"].get(name, 0) + count
        return int(self._state["things"][name])

    def _drop(self, name: str) -> None:
        del self._state["things"][name]

    def _roll(self) -> int:
        self._draws = (self._draws * 1103515245 + 12345) % 2**31
        self._state["rolled"] = self._draws % 6
        return int(self._state["rolled"])


class Raises(Pantry):
    """A missing name is Python's KeyError."""

    def call(self, tool: str, arguments: Any = None) -> Outcome:
        if tool == "drop" and isinstance(arguments, dict) and set(arguments) == {"name"}:
            return Outcome(True, self._drop(**arguments), None, True)
        return super().call(tool, arguments)


class Half(Pantry):
    """What fails late stays half done."""

    def _add(self, name: str, count: int) -> int:
        made = super()._add(name, count)
        if made > 4:
            self._start = copy.deepcopy(self._state)
            raise ValueError("too many")
        return made

    def restore(self, snapshot: Any) -> None:
        if self._state != self._start:
            super().restore(snapshot)

    def reset(self) -> None:
        super().reset()


class Leaks(Pantry):
    """Things are kept by the class, for all episodes together."""

    SEEN: ClassVar[list[str]] = []

    def _add(self, name: str, count: int) -> int:
        made = super()._add(name, count)
        self.SEEN.append(name)
        return made + len(self.SEEN)


class Peeks(Pantry):
    """Looking something up counts how often it was looked up, in the state."""

    def _get(self, name: str) -> int:
        self._state["looked"] = self._state.get("looked", 0) + 1
        return super()._get(name)


class Clock(Pantry):
    """The time of day is told."""

    def _roll(self) -> int:
        return int(time.time())


class Shares(Pantry):
    """A fork has the same things, not things of its own."""

    def fork(self) -> Any:
        other = type(self)(self._start, self._seed)
        other._state, other._draws = self._state, self._draws
        return other


class Hands(Pantry):
    """The state itself is handed out."""

    def _get(self, name: str) -> Any:
        return self._state["things"] if name == "rice" else super()._get(name)


class Hangs(Pantry):
    """A loop without an end."""

    def _roll(self) -> int:
        while True:
            self._draws += 1


class ForgetsToReset(Pantry):
    """`reset` keeps what was rolled."""

    def reset(self) -> None:
        rolled = getattr(self, "_state", {}).get("rolled", self._start["rolled"])
        super().reset()
        self._state["rolled"] = rolled

"""From JSON to a scenario: every field of the right kind, none that is unknown, whatever was wrong said at its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from envscaler.diagnostics import printable
from envscaler.runtime.values import any_problem, kind
from envscaler.scenario.located import Located, Step
from envscaler.scenario.model import (
    Answer,
    Fact,
    Goal,
    Guard,
    Only,
    Reveal,
    Scenario,
    Source,
    SpecRef,
    User,
)
from envscaler.scenario.model import Step as Call
from envscaler.spec.report import Report

__all__ = ["from_json"]

T = TypeVar("T")

_SCENARIO: Final = (
    "id", "kind", "spec", "seed", "state", "setup", "task", "user", "reveal", "answers", "outcome", "goals", "guards",
    "solution", "submitted", "tags", "proof",
)  # fmt: skip


def from_json(value: Any, places: Located, report: Report, line: int = 0) -> Scenario | None:
    """The scenario that a JSON value is; None, and its problems in ``report``, when it is none.

    Short forms for writing by hand: a goal that is only its expression, a spec that is only its name, a scenario without
    `id` (its content gives it one), `kind` (`complete`) or `outcome` (what `submitted` says).
    """
    read = _Reader(places, report)
    problem = any_problem(value)
    if problem is not None:
        report.error("scenario-wrong-type", places.span(), f"the scenario {problem}")
        return None
    own = read.report = Report()
    found = read.scenario(value, line)
    report.extend(own.items)
    if own.failed or found is None:
        return None
    return found if found.id else found.named()


class _Reader:
    def __init__(self, places: Located, report: Report) -> None:
        self.places, self.report = places, report

    # -- the whole

    def scenario(self, value: Any, line: int) -> Scenario | None:
        of = self.object(value, (), "a scenario", _SCENARIO, ("spec", "task"))
        if of is None:
            return None
        submitted = of.optional("submitted", self.submitted)
        refused = submitted is not None and "refusal" in submitted
        state = value.get("state")
        if state is not None and not isinstance(state, str | dict):
            self.wrong(("state",), "a state by its states' names, or the hash of a stored one", state)
        return Scenario(
            id=of.text("id"),
            kind=of.text("kind", "complete"),
            spec=of.optional("spec", self.spec) or SpecRef("", ""),
            task=of.text("task"),
            goals=of.each("goals", self.goal),
            guards=of.each("guards", self.guard),
            solution=of.each("solution", self.call),
            seed=of.whole("seed"),
            state=state,
            setup=of.each("setup", self.call),
            user=of.optional("user", self.user) or User(),
            reveal=of.each("reveal", self.reveal),
            answers=of.named("answers", self.answer),
            outcome=of.choice("outcome", ("answer", "refusal"), "refusal" if refused else "answer"),  # type: ignore[arg-type]
            submitted=submitted,
            tags=of.mapping("tags"),
            proof=of.optional("proof", self.anything),
            line=line,
        )

    # -- its parts

    def spec(self, value: Any, way: tuple[Step, ...]) -> SpecRef:
        if isinstance(value, str):
            return SpecRef(value, "")
        of = self.object(value, way, "spec", ("name", "hash"), ("name",))
        return SpecRef("", "") if of is None else SpecRef(of.text("name"), of.text("hash"))

    def call(self, value: Any, way: tuple[Step, ...]) -> Call | None:
        keys = ("tool", "arguments", "sources", "refused", "actor")
        of = self.object(value, way, "a step", keys, ("tool",))
        if of is None:
            return None
        sources = of.named("sources", lambda name, one, at: (name, self.source(one, at)))
        return Call(
            of.text("tool"),
            of.mapping("arguments"),
            {name: source for name, source in sources if source is not None},
            of.text("refused"),
            of.choice("actor", ("agent", "user"), "agent"),  # type: ignore[arg-type]
        )

    def source(self, value: Any, way: tuple[Step, ...]) -> Source | None:
        if isinstance(value, str):
            value = {"from": value}
        of = self.object(value, way, "a source", ("from", "name", "step", "path"), ("from",))
        if of is None:
            return None
        where = of.choice("from", ("task", "fact", "found", "fixed", "free"), "task")
        return Source(where, of.text("name"), of.whole("step", -1), of.text("path"))  # type: ignore[arg-type]

    def user(self, value: Any, way: tuple[Step, ...]) -> User | None:
        of = self.object(value, way, "user", ("facts", "unknown", "stop_when", "opening"))
        if of is None:
            return None
        return User(of.named("facts", self.fact), of.texts("unknown"), of.text("stop_when"), of.text("opening"))

    def fact(self, name: str, value: Any, way: tuple[Step, ...]) -> Fact | None:
        of = self.object(value, way, f"fact '{printable(name)}'", ("value", "text"), ("value",))
        return None if of is None else Fact(name, of.value.get("value"), of.text("text"))

    def reveal(self, value: Any, way: tuple[Step, ...]) -> Reveal | None:
        of = self.object(value, way, "reveal", ("tools", "after", "text"), ("tools",))
        return None if of is None else Reveal(of.texts("tools"), of.whole("after", 1), of.text("text"))

    def answer(self, name: str, value: Any, way: tuple[Step, ...]) -> Answer | None:
        if isinstance(value, str):
            return Answer(name, value)
        of = self.object(value, way, f"answer slot '{printable(name)}'", ("type", "description"), ("type",))
        return None if of is None else Answer(name, of.value.get("type"), of.text("description"))

    def goal(self, value: Any, way: tuple[Step, ...]) -> Goal | None:
        line = self.places.span(*way).line
        if isinstance(value, str):
            return Goal(value.strip(), line=line)
        of = self.object(value, way, "a goal", ("expr", "text", "steps"), ("expr",))
        if of is None:
            return None
        steps = tuple(n for n in of.list("steps") if of.is_whole(n, "steps"))
        return Goal(of.text("expr").strip(), of.text("text"), steps, line)

    def guard(self, value: Any, way: tuple[Step, ...]) -> Guard | None:
        line = self.places.span(*way).line
        if isinstance(value, str):
            return Guard(expr=value.strip(), line=line)
        of = self.object(value, way, "a guard", ("only", "expr", "text"))
        if of is None:
            return None
        if ("only" in value) is ("expr" in value):
            self.report.error(
                "scenario-wrong-type", self.places.key(*way), "a guard is either `only` or `expr`, one of the two"
            )
        return Guard(of.optional("only", self.only), of.text("expr").strip(), of.text("text"), line)

    def only(self, value: Any, way: tuple[Step, ...]) -> Only | None:
        of = self.object(value, way, "only", ("fields", "added", "removed"))
        if of is None:
            return None
        fields = {}
        for state, keys in of.mapping("fields").items():
            inner = self.object(keys, (*way, "fields", state), f"fields of {printable(state)}", None)
            fields[state] = {} if inner is None else {key: inner.texts(key) for key in inner.value}
        added = {s: n for s, n in of.mapping("added").items() if of.is_whole(n, "added", s)}
        gone = self.object(of.mapping("removed"), (*way, "removed"), "removed", None)
        removed = {} if gone is None else {state: gone.texts(state) for state in gone.value}
        return Only(fields, added, removed)

    def submitted(self, value: Any, way: tuple[Step, ...]) -> Mapping[str, Any] | None:
        of = self.object(value, way, "submitted", ("answer", "refusal"))
        if of is None:
            return None
        if "refusal" in value:
            of.text("refusal")
        of.mapping("answer")
        return value  # type: ignore[no-any-return]

    def anything(self, value: Any, way: tuple[Step, ...]) -> Any:
        of = self.object(value, way, str(way[-1]), None)
        return None if of is None else value

    # -- problems

    def object(
        self,
        value: Any,
        way: tuple[Step, ...],
        what: str,
        keys: tuple[str, ...] | None,
        needed: tuple[str, ...] = (),
    ) -> _Object | None:
        """A JSON object with these keys (None: any), those ``needed`` among them."""
        if not isinstance(value, dict):
            self.wrong(way, f"{what} as an object", value)
            return None
        for name in value if keys is not None else ():
            if name not in (keys or ()):
                self.report.unknown(
                    "scenario-unknown-key",
                    self.places.key(*way, name),
                    f"{what} has no key '{printable(str(name)[:64])}'",
                    str(name),
                    keys or (),
                    "keys",
                )
        for name in needed:
            if name not in value:
                self.report.error("scenario-missing-key", self.places.key(*way), f"{what} needs the key '{name}'")
        return _Object(self, value, way)

    def wrong(self, way: tuple[Step, ...], expected: str, value: Any) -> None:
        name = next((str(step) for step in reversed(way) if isinstance(step, str)), "")
        title = f"{printable(name)}: expected {expected}, got {kind(value)}" if name else f"expected {expected}"
        self.report.error("scenario-wrong-type", self.places.span(*way), title)


class _Object:
    """An object whose keys were looked at; accessors give a default for what is missing or was reported."""

    def __init__(self, reader: _Reader, value: dict[str, Any], way: tuple[Step, ...]) -> None:
        self.reader, self.value, self.way = reader, value, way

    def text(self, name: str, default: str = "") -> str:
        value = self.value.get(name, default)
        if isinstance(value, str):
            return value
        self.reader.wrong((*self.way, name), "a text", value)
        return default

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(name, default)
        if value in allowed:
            return value
        place = self.reader.places.span(*self.way, name)
        self.reader.report.unknown(
            "scenario-wrong-type",
            place,
            f"{name} cannot be '{printable(value[:64])}'",
            value,
            allowed,
            "expected one of",
        )
        return default

    def whole(self, name: str, default: int = 0) -> int:
        value = self.value.get(name, default)
        return value if self.is_whole(value, name) else default

    def is_whole(self, value: Any, *name: str) -> bool:
        if isinstance(value, int) and not isinstance(value, bool):
            return True
        self.reader.wrong((*self.way, *name), "a whole number", value)
        return False

    def list(self, name: str) -> list[Any]:
        value = self.value.get(name, [])
        if isinstance(value, list):
            return value
        self.reader.wrong((*self.way, name), "a list", value)
        return []

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.list(name)
        for n, one in enumerate(found):
            if not isinstance(one, str):
                self.reader.wrong((*self.way, name, n), "texts", one)
        return tuple(one for one in found if isinstance(one, str))

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.value.get(name, {})
        if not isinstance(value, dict):
            self.reader.wrong((*self.way, name), "an object", value)
            return {}
        return value

    def optional(self, name: str, read: Callable[[Any, tuple[Step, ...]], T | None]) -> T | None:
        value = self.value.get(name)
        return None if value is None else read(value, (*self.way, name))

    def each(self, name: str, read: Callable[[Any, tuple[Step, ...]], T | None]) -> tuple[T, ...]:
        found = (read(one, (*self.way, name, n)) for n, one in enumerate(self.list(name)))
        return tuple(one for one in found if one is not None)

    def named(self, name: str, read: Callable[[str, Any, tuple[Step, ...]], T | None]) -> tuple[T, ...]:
        found = (read(key, one, (*self.way, name, key)) for key, one in self.mapping(name).items())
        return tuple(one for one in found if one is not None)

"""A scenario held against its spec before anything is run: names, values, sources, goals, guards, and what it leaves open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from envscaler.diagnostics import Diagnostic, printable
from envscaler.errors import StateError, UsageError
from envscaler.runtime import pointers
from envscaler.runtime import shapes as s
from envscaler.runtime.reading import field_reader
from envscaler.scenario.answers import Slots
from envscaler.scenario.expressions import Expressions
from envscaler.scenario.guards import ClosedWorld
from envscaler.scenario.located import Located
from envscaler.scenario.located import Step as Part
from envscaler.scenario.model import Scenario, Step
from envscaler.scenario.world import States, World
from envscaler.spec.report import Report

__all__ = ["check_scenario", "spec_problem"]


def check_scenario(
    world: World, scenario: Scenario, places: Located, *, changed: bool = False, states: States | None = None
) -> list[Diagnostic]:
    """Everything that can be said of a scenario without running its solution, in the order of the file.

    ``changed``: that its spec is another than it was made for is a warning, not an error. ``states``: where states that
    it names by their hash are kept; without them such a state is not looked at.
    """
    return _Check(world, scenario, places).run(changed, states)


def spec_problem(world: World, scenario: Scenario) -> str:
    """How the spec differs from the one that the scenario is for, with both hashes; "" when it does not."""
    ref = scenario.spec
    if ref.name != world.spec.name:
        return f"the scenario is for the spec {printable(ref.name)}, this is {world.spec.name}"
    if ref.hash and ref.hash != world.spec.hash:
        return (
            f"the spec {world.spec.name} has changed: the scenario was made for {printable(ref.hash)}, "
            f"this is {world.spec.hash}"
        )
    return ""


class _Check:
    def __init__(self, world: World, scenario: Scenario, places: Located) -> None:
        self.world, self.scenario, self.places = world, scenario, places
        self.report = Report()
        self.state: Mapping[str, Any] | None = None

    def run(self, changed: bool, states: States | None) -> list[Diagnostic]:
        problem = spec_problem(self.world, self.scenario)
        if problem:
            note = self.report.warning if changed else self.report.error
            note("scenario-spec", self.places.span("spec"), problem)
            if self.scenario.spec.name != self.world.spec.name:
                return self.report.items
        self._state(states)
        for kind in ("setup", "solution"):
            for n, step in enumerate(getattr(self.scenario, kind)):
                self._step(step, (kind, n))
        self._reveal()
        self._user()
        slots = self._conditions()
        self._end(slots)
        self._prose()
        return self.places.settled(self.report.items)

    # -- the state

    def _state(self, states: States | None) -> None:
        state = self.scenario.state
        if isinstance(state, str) and states is None:
            return
        try:
            self.world.base(state, states)
            self.state = states.get(state) if isinstance(state, str) and states is not None else state  # type: ignore[assignment]
        except StateError as error:
            for problem in error.problems:
                self.report.error("scenario-state", self.places.span("state"), f"state: {printable(problem)}")
        except UsageError as error:
            self.report.error("scenario-state", self.places.span("state"), printable(str(error)))

    # -- calls

    def _step(self, step: Step, way: tuple[Part, ...]) -> None:
        params = self._params(step, way)
        if params is None:
            return
        names = {p.json: p for p in params.values()}
        for name in step.arguments:
            if name not in names:
                self.report.unknown(
                    "scenario-argument",
                    self.places.key(*way, "arguments", name),
                    f"{step.tool} has no parameter '{printable(name[:64])}'",
                    name,
                    list(names),
                    "parameters",
                )
        if not step.refused:
            self._values(step, names, way)
        if way[0] == "solution":
            self._sources(step, names, way)

    def _params(self, step: Step, way: tuple[Part, ...]) -> Mapping[str, s.Field] | None:
        """The parameters of the function that a step calls."""
        setup = way[0] == "setup"
        model = self.world.environment._model
        known = model.setups if setup else model.tools
        found = known.get(step.tool)
        place = self.places.span(*way, "tool")
        if found is None:
            what = "setup function" if setup else "tool"
            title = f"there is no {what} '{printable(step.tool[:64])}'"
            self.report.unknown("scenario-unknown-tool", place, title, step.tool, list(known), f"{what}s")
        elif not setup and found.actor != step.actor:
            title = f"{step.tool} is a tool of the {found.actor}, the step is the {step.actor}'s"
            self.report.error("scenario-unknown-tool", place, title, help=f"write `actor: {found.actor}`")
        else:
            return found.params
        return None

    def _values(self, step: Step, names: Mapping[str, s.Field], way: tuple[Part, ...]) -> None:
        policy = self.world.environment.policy
        for name, field in names.items():
            if name not in step.arguments:
                if field.required:
                    self.report.error(
                        "scenario-argument",
                        self.places.key(*way, "tool"),
                        f"{step.tool} needs the parameter '{name}'",
                        field.description,
                    )
                continue
            value = step.arguments[name]
            if value is None and not field.required:
                continue
            problems: list[str] = []
            field_reader(field, policy)(value, name, problems)  # type: ignore[arg-type]
            for problem in problems[:3]:
                place = self.places.span(*way, "arguments", name)
                self.report.error("scenario-argument", place, f"{step.tool}: {printable(problem)}")

    def _sources(self, step: Step, names: Mapping[str, s.Field], way: tuple[Part, ...]) -> None:
        facts, known = [fact.name for fact in self.scenario.user.facts], [[name] for name in names]
        index = way[1]
        assert isinstance(index, int)
        for name, source in step.sources.items():
            place = self.places.key(*way, "sources", name)
            if pointers.parts(name)[:1] not in known:
                self.report.unknown(
                    "scenario-source",
                    place,
                    f"sources: {step.tool} has no parameter '{printable(name[:64])}'",
                    name,
                    list(names),
                    "parameters",
                )
            elif source.kind == "fact" and source.name not in facts:
                title = f"the user knows no fact '{printable(source.name[:64])}'"
                self.report.unknown("scenario-source", place, title, source.name, facts, "facts")
            elif source.kind == "found" and not 0 <= source.step < index:
                title = f"'{name}' is found in step {source.step}, which does not come before step {index}"
                self.report.error("scenario-source", place, title)

    # -- tools that appear, the user

    def _reveal(self) -> None:
        agents = [t.name for t in self.world.tools.values() if t.actor == "agent"]
        for n, reveal in enumerate(self.scenario.reveal):
            for name in reveal.tools:
                if name not in agents:
                    place = self.places.span("reveal", n, "tools", name)
                    title = f"the agent has no tool '{printable(name[:64])}'"
                    self.report.unknown("scenario-unknown-tool", place, title, name, agents, "tools")

    def _user(self) -> None:
        user = self.scenario.user
        if (user.facts or user.opening) and not user.stop_when.strip():
            self.report.error(
                "scenario-no-stop",
                self.places.key("user"),
                "the user of this conversation does not know when to stop",
                help="say when the user is content: `stop_when: The card is blocked.`",
            )

    # -- goals, guards, the end

    def _conditions(self) -> Slots:
        expressions = Expressions.of(self.world)
        slots = expressions.slots(self.scenario.answers, self.places.key("answers"), self.report)
        if not self.scenario.goals:
            self.report.error(
                "scenario-no-goals",
                self.places.key("goals"),
                "the scenario has no goals",
                "what is not asked cannot be met: an empty list would pass whatever the agent does",
            )
        for n, goal in enumerate(self.scenario.goals):
            self._condition(expressions, slots, goal.expr, ("goals", n))
            for step in goal.steps:
                if not 0 <= step < len(self.scenario.solution):
                    place = self.places.span("goals", n, "steps")
                    self.report.error("scenario-source", place, f"the solution has no step {step}")
        for n, guard in enumerate(self.scenario.guards):
            if guard.only is not None:
                way = ("guards", n, "only")
                ClosedWorld.of(
                    self.world, guard.only, lambda *more, way=way: self.places.span(*way, *more), self.report
                )
            else:
                self._condition(expressions, slots, guard.expr, ("guards", n))
        return slots

    def _condition(self, expressions: Expressions, slots: Slots, text: str, way: tuple[Part, ...]) -> None:
        place = self.places.block(text, *way, "expr")
        self.report.extend(expressions.compile(place, slots)[1])

    def _end(self, slots: Slots) -> None:
        submitted = self.scenario.submitted or {}
        reason = submitted.get("refusal")
        place = self.places.key("submitted") if submitted else self.places.key("outcome")
        if self.scenario.outcome == "refusal" and reason is None:
            title = "the outcome is a refusal, and 'submitted' gives no reason for one"
            self.report.error("scenario-submitted", place, title, help="write `submitted: {refusal: REASON}`")
        if reason is not None:
            if self.scenario.outcome != "refusal":
                self.report.error("scenario-submitted", place, "a refusal is submitted, and the outcome is an answer")
            if reason not in self.world.reasons:
                self.report.unknown(
                    "scenario-submitted",
                    self.places.span("submitted", "refusal"),
                    f"there is no reason '{printable(str(reason)[:64])}'",
                    str(reason),
                    list(self.world.reasons),
                    "reasons",
                )
            return
        self._answers(slots, submitted.get("answer") or {})

    def _answers(self, slots: Slots, given: Mapping[str, Any]) -> None:
        for name in given:
            if name not in slots.fields and not self.report.failed:
                place = self.places.key("submitted", "answer", name)
                title = f"there is no answer slot '{printable(name[:64])}'"
                self.report.unknown("scenario-submitted", place, title, name, list(slots.fields), "slots")
        if self.scenario.outcome != "answer":
            return
        for name, field in slots.fields.items():
            if given.get(name) is None:
                title = f"'submitted' gives no value for the answer slot '{name}'"
                self.report.error("scenario-submitted", self.places.key("submitted"), title)
                continue
            problems: list[str] = []
            field_reader(field, "strict")(given[name], name, problems)
            for problem in problems[:3]:
                place = self.places.span("submitted", "answer", name)
                self.report.error("scenario-submitted", place, printable(problem))

    # -- prose

    def _prose(self) -> None:
        """Numbers of the task that nothing in the scenario or its state has: they may be what a goal should say.

        Where the right outcome is a refusal, they may be what is wrong with the wish.
        """
        if self.scenario.outcome == "refusal":
            return
        told = [n for n in _numbers(self.scenario.task) if len(n.lstrip("0")) > 1]
        if not told or (self.state is None and self.scenario.state is not None):
            return
        known = set(map(_value, _numbers(self._known())))
        for number in dict.fromkeys(told):
            if _value(number) not in known:
                self.report.warning(
                    "scenario-number",
                    self.places.span("task"),
                    f"the task speaks of {number}, and no goal, argument, fact or record has it",
                    help="let the goals say what the task says",
                )

    def _known(self) -> str:
        """All text in which a number of the task may stand."""
        scenario, spec = self.scenario, self.world.spec
        plain = scenario.to_json()
        parts = [plain.get(name) for name in ("setup", "goals", "guards", "solution", "submitted", "user")]
        parts.append(spec.initial_state if self.state is None else self.state)
        constants = [
            v / 100 if str(c.type) == "money" else v for c in spec.constants.values() if (v := c.value) is not None
        ]
        return json.dumps([*parts, constants, spec.clock], default=str)


_NUMBER: Final = re.compile(r"\d{1,15}(?:,\d{3})*(?:\.\d{1,6})?", re.ASCII)


def _numbers(text: str) -> Iterator[str]:
    return (found.group() for found in _NUMBER.finditer(text))


def _value(number: str) -> Decimal | str:
    try:
        return abs(Decimal(number.replace(",", ""))).normalize()
    except InvalidOperation:
        return number

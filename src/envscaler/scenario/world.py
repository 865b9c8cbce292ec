"""What is known of one environment, for all that makes, proves and plays scenarios in it; and how an episode of one begins."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from envscaler.compiler import compile_spec, load_class
from envscaler.errors import StateError, UsageError
from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.runtime.declared import Rule, Tool
from envscaler.runtime.prepare import Base
from envscaler.scenario.model import Scenario, SpecRef
from envscaler.scenario.states import content_hash
from envscaler.spec.checked import Checked, Effects
from envscaler.spec.model import Spec
from envscaler.spec.refusals import Refusal, tool_refusals
from envscaler.spec.types import Type

__all__ = ["REASONS", "States", "ToolInfo", "World", "submit_name"]

REASONS: Final[Mapping[str, str]] = {
    "not_found": "What the wish is about does not exist.",
    "not_possible": "No tool does what is wished, or none may do it now.",
    "missing_information": "Something needed is not known, and cannot be found out.",
}
"""Why an agent may refuse, besides the names of the spec's rules."""

_SUBMIT: Final = ("submit", "submit_task", "end_task")
_BASES: Final = 8  # prepared states kept by a world


def submit_name(tools: Collection[str]) -> str:
    """What the tool is called that ends an episode: `submit`, or where the spec has tools of that name, the first name that
    is free."""
    free = (name for name in (*_SUBMIT, *(f"submit_{n}" for n in range(2, len(tools) + 3))) if name not in tools)
    return next(free)


class States(Protocol):
    """Where states lie by their content hash."""

    def get(self, hash: str, /) -> Mapping[str, Any]:  # noqa: A002
        """The state in JSON form. Raises UsageError for one that is not there."""
        ...


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool. ``params``: by outside name. ``refusals``: the ways in which its calls fail, in order. ``examples``: the
    arguments of its calls in the spec."""

    name: str
    kind: Literal["read", "write"]
    actor: Literal["agent", "user"]
    description: str
    params: Mapping[str, s.Field]
    returns: Type
    effects: Effects
    refusals: tuple[Refusal, ...]
    examples: tuple[Mapping[str, Any], ...]


class World:
    """A checked spec, the class compiled from it, and what follows from them. Shared and read only, but for a cache of
    prepared states; one thread at a time."""

    def __init__(self, checked: Checked, environment: type[Environment], templates: Sequence[str] = ()) -> None:
        if checked.spec is None or not checked.ok:
            raise UsageError(f"{checked.path}: the spec has errors")
        self.checked = checked
        self.environment = environment
        self.templates = tuple(templates)
        self.spec: Spec = checked.spec
        self._bases: OrderedDict[str, Base] = OrderedDict()

    @classmethod
    def of(cls, checked: Checked, templates: Sequence[str] = ()) -> World:
        """The world of a checked spec, which is compiled in memory. Raises SpecError when it has errors."""
        return cls(checked, load_class(compile_spec(checked, templates=tuple(templates))), templates)

    @property
    def ref(self) -> SpecRef:
        """The name and hash by which scenarios name the spec."""
        return SpecRef(self.spec.name, self.spec.hash)

    # -- tools

    @cached_property
    def tools(self) -> Mapping[str, ToolInfo]:
        """All tools, of both actors, in the order of the spec."""
        return {tool.name: self._tool(tool) for tool in self.environment.tool_table}

    def _tool(self, run: Tool) -> ToolInfo:
        declared, body = self.spec.tools[run.name], self.checked.tools[run.name]
        return ToolInfo(
            run.name,
            declared.kind,
            declared.actor,
            run.description,
            {p.json: p for p in run.params.values()},
            declared.returns or body.returns,
            body.effects,
            tuple(tool_refusals(self.checked, declared)),
            tuple(dict(one.call) for one in declared.examples),
        )

    @cached_property
    def reads(self) -> tuple[ToolInfo, ...]:
        """The agent's tools that only read."""
        return tuple(t for t in self.tools.values() if t.kind == "read" and t.actor == "agent")

    @cached_property
    def writes(self) -> tuple[ToolInfo, ...]:
        """The agent's tools that may write."""
        return tuple(t for t in self.tools.values() if t.kind == "write" and t.actor == "agent")

    @cached_property
    def submit(self) -> str:
        """The tool by which an agent ends an episode; it is no tool of the environment."""
        return submit_name(self.tools)

    # -- states and rules

    @cached_property
    def states(self) -> Mapping[str, s.StateShape]:
        """The declared states by name."""
        return {shape.name: shape for shape in self.environment.states}

    @cached_property
    def collections(self) -> Mapping[str, s.Collection]:
        """Those of them that hold records by key."""
        return {name: shape for name, shape in self.states.items() if isinstance(shape, s.Collection)}

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules by name, policies included."""
        return {rule.name: rule for rule in self.environment.rules}

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """Why an agent may refuse a wish, by name: the rules, and what is true of any world."""
        return {name: rule.text for name, rule in self.rules.items()} | dict(REASONS)

    # -- episodes

    def base(self, state: Mapping[str, Any] | str | None = None, states: States | None = None) -> Base:
        """A prepared state: the spec's own, one in JSON form, or one of ``states`` by its hash. Raises StateError,
        UsageError."""
        if state is None:
            return self.environment._base_of(None)
        name = state if isinstance(state, str) else content_hash(state)
        known = self._bases.get(name)
        if known is None:
            known = self.environment.prepare(self._stored(state, states))
            self._bases[name] = known
            if len(self._bases) > _BASES:
                self._bases.popitem(last=False)
        self._bases.move_to_end(name)
        return known

    @staticmethod
    def _stored(state: Mapping[str, Any] | str, states: States | None) -> Mapping[str, Any]:
        if not isinstance(state, str):
            return state
        if states is None:
            raise UsageError(f"the state {state} is stored elsewhere, and no store of states was given")
        return states.get(state)

    def start(self, scenario: Scenario, states: States | None = None, policy: str | None = None) -> Environment:
        """An episode of a scenario at its start: its state, and what its setup makes of that.

        Raises StateError for a state that the spec does not allow, UsageError for a setup that fails or a state that is
        not there; both name the scenario.
        """
        try:
            env = self.environment.new(self.base(scenario.state, states), scenario.seed, policy)
            for step in scenario.setup:
                result = env.setup(step.tool, dict(step.arguments))
                if result.error is not None:
                    raise UsageError(f"setup {step.tool}: {result.error.message}")
        except StateError as error:
            raise StateError([f"scenario {scenario.id}: {problem}" for problem in error.problems]) from None
        except UsageError as error:
            raise UsageError(f"scenario {scenario.id}: {error}") from None
        return self.environment.new(self.base(env.state), scenario.seed, policy) if scenario.setup else env

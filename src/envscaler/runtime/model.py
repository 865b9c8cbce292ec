"""What all episodes of one environment class share, derived once from its declarations; read only afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from envscaler.runtime import shapes as s
from envscaler.runtime.calls import done
from envscaler.runtime.declared import Rule, Tool
from envscaler.runtime.plans import Plan, SinglePlan
from envscaler.runtime.results import ToolResult

__all__ = ["Model"]

Runs = dict[str, Callable[..., Any]]


class Model:
    """``plans``: by state name. ``referrers``: collection -> states whose records can refer to it. ``runs``: for each
    actor the functions that `call` may reach, by tool name."""

    def __init__(
        self,
        states: Sequence[s.StateShape],
        checks: Mapping[str, Any],
        rules: Sequence[Rule],
        after_each: Sequence[Callable[..., Any]],
        tools: Sequence[Tool],
        setups: Sequence[Tool],
        errors: Any,
        unknown_tool: str,
        source: tuple[str, Mapping[int, int]],
    ) -> None:
        self.states = tuple(states)
        self.plans = {shape.name: _plan(shape, checks.get(shape.name)) for shape in states}
        self.referrers = _referrers(self.plans)
        self.rules = tuple(rules)
        self.checked_rules = tuple(r for r in rules if r.run is not None)
        self.after_each = tuple(after_each)
        self.tools = {t.name: t for t in tools}
        self.setups = {t.name: t for t in setups}
        self.runs: dict[str, Runs] = {
            "agent": {t.name: t.bind() for t in tools if t.actor == "agent"},
            "user": {t.name: t.bind() for t in tools if t.actor == "user"},
            "setup": {t.name: t.bind() for t in setups},
        }
        self.quick: Runs = {t.name: t.quick or _quick(t) for t in tools if t.actor == "agent"}
        binders = (*self.quick.values(), *(t.by_dict for t in tools if t.by_dict is not None))
        self.quick_codes = frozenset(f.__code__ for f in binders)
        shapes = [shape.record for shape in states] + [p.shape for t in (*tools, *setups) for p in t.params.values()]
        self.loose = any(map(_loose, shapes))
        self.errors = errors
        self.unknown_tool = unknown_tool
        self.source, self.lines = source
        self.files = {t.run.__code__.co_filename for t in (*tools, *setups) if hasattr(t.run, "__code__")}

    def tool(self, name: str, actor: str) -> Tool | None:
        """The tool that the actor may call by that name."""
        found = self.setups.get(name) if actor == "setup" else self.tools.get(name)
        return found if found is not None and (actor == "setup" or found.actor == actor) else None


def _quick(tool: Tool) -> Callable[[Any, Any], ToolResult]:
    """The quick way of a tool that brings none of its own."""
    run, by_dict = tool.bind(), tool.by_dict

    def by_name(state: Any, arguments: Any) -> ToolResult:
        return done(state, run(state, **arguments))

    def by_mapping(state: Any, arguments: Any) -> ToolResult:
        assert by_dict is not None
        return done(state, by_dict(state, arguments))

    return by_name if by_dict is None else by_mapping


def _plan(shape: s.StateShape, check: Any) -> Plan | SinglePlan:
    return Plan(shape, check) if isinstance(shape, s.Collection) else SinglePlan(shape, check)


def _referrers(plans: Mapping[str, Plan | SinglePlan]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for name, plan in plans.items():
        for target in _targets(plan.shape.record, set()):
            result.setdefault(target, []).append(name)
    return result


def _loose(shape: s.Shape) -> bool:
    """Whether a value of the shape can hold anything."""
    match shape:
        case s.Nullable() | s.Partial():
            return _loose(shape.of)
        case s.ListOf():
            return _loose(shape.item)
        case s.DictOf():
            return _loose(shape.value)
        case s.Struct():
            return any(_loose(field.shape) for field in shape.fields)
        case s.Union():
            return any(map(_loose, shape.members))
    return shape is s.ANY


def _targets(shape: s.Shape, found: set[str]) -> list[str]:
    """The collections that a value of the shape can refer to, sorted."""
    match shape:
        case s.Ref():
            found.add(shape.collection)
        case s.Nullable() | s.Partial():
            _targets(shape.of, found)
        case s.ListOf():
            _targets(shape.item, found)
        case s.DictOf():
            _targets(shape.key, found)
            _targets(shape.value, found)
        case s.Struct():
            for field in shape.fields:
                _targets(field.shape, found)
        case s.Union():
            for member in shape.members:
                _targets(member, found)
    return sorted(found)

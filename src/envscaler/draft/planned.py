"""A plan held against itself: names, what is about nothing, what nothing reaches, and how large it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from envscaler.diagnostics import nearest, one_of
from envscaler.draft.plans import PlannedRule, PlannedState, PlannedTool, Size
from envscaler.spec.language import RESERVED_NAMES
from envscaler.spec.names import RESERVED_TOOLS, is_name, proposal

__all__ = ["state_problems", "tool_problems"]

_ENOUGH = 0.75  # of the fields that are asked for
_WORD = re.compile(r"[a-z0-9]+")


def state_problems(states: Sequence[PlannedState], rules: Sequence[PlannedRule], size: Size) -> list[str]:
    """What is wrong with planned states and rules, a sentence each."""
    return [*_of_states(states), *_of_rules(rules, states), *_too_small(states, rules, size)]


def _of_states(states: Sequence[PlannedState]) -> Iterator[str]:
    yield from _twice([s.name for s in states], "states")
    yield from _twice([s.record for s in states], "records")
    for state in states:
        yield from _misnamed(state.name, "lower", f"the state {state.name!r}", RESERVED_NAMES)
        yield from _misnamed(state.record, "type", f"the record {state.record!r} of {state.name}", ())
        if not state.fields:
            yield f"the state {state.name} has no fields"
        yield from _twice([f.name for f in state.fields], f"fields of {state.name}")
        for field in state.fields:
            yield from _misnamed(field.name, "lower", f"the field {field.name!r} of {state.name}", ())
            target = re.search(r"\bref\W+(\w+)", field.type)
            if target and target[1] not in (names := [s.name for s in states]):
                yield f"{state.name}.{field.name} refers to {target[1]!r}, which is not planned{_near(target[1], names)}"


def _of_rules(rules: Sequence[PlannedRule], states: Sequence[PlannedState]) -> Iterator[str]:
    yield from _twice([r.name for r in rules], "rules")
    words = _words_of(states)
    for rule in rules:
        yield from _misnamed(rule.name, "lower", f"the rule {rule.name!r}", ())
        if not rule.text.strip():
            yield f"the rule {rule.name} says nothing"
        names = [s.name for s in states]
        for name in rule.states:
            if name not in names:
                yield f"the rule {rule.name} is about {name!r}, which is not planned{_near(name, names)}"
        if not rule.states and not words & set(_WORD.findall(rule.text.lower())):
            yield f"the rule {rule.name} is about nothing that is kept: name its `states`, or drop it"


def _words_of(states: Sequence[PlannedState]) -> set[str]:
    """Words by which a text can mean what is kept."""
    text = " ".join(f"{s.name} {s.record} {' '.join(f.name for f in s.fields)}" for s in states)
    words = set(_WORD.findall(text.lower().replace("_", " ")))
    return {w for w in words | {w.removesuffix("s") for w in words} if len(w) > 2}


def _too_small(states: Sequence[PlannedState], rules: Sequence[PlannedRule], size: Size) -> Iterator[str]:
    if len(states) < size.collections:
        yield f"{size.collections} states are wanted, there are {len(states)}"
    fields = sum(len(s.fields) for s in states)
    if fields < _ENOUGH * size.fields:
        yield f"about {size.fields} fields are wanted, there are {fields}"
    if len(rules) < size.rules - 1:
        yield f"{size.rules} rules are wanted, there are {len(rules)}"


def tool_problems(tools: Sequence[PlannedTool], states: Sequence[PlannedState], size: Size) -> list[str]:
    """What is wrong with planned tools, a sentence each."""
    return [*_of_tools(tools, states), *_too_few(tools, size)]


def _of_tools(tools: Sequence[PlannedTool], states: Sequence[PlannedState]) -> Iterator[str]:
    yield from _twice([t.name for t in tools], "tools")
    names = [s.name for s in states]
    for tool in tools:
        yield from _misnamed(tool.name, "tool", f"the tool {tool.name!r}", RESERVED_NAMES | RESERVED_TOOLS)
        if not tool.states:
            yield f"the tool {tool.name} names no state that it reads or changes"
        for name in tool.states:
            if name not in names:
                yield f"the tool {tool.name} uses {name!r}, which is not planned{_near(name, names)}"
        for param in tool.params:
            yield from _misnamed(param, "lower", f"the parameter {param!r} of {tool.name}", ())
        if tool.kind == "write" and not tool.effects.strip():
            yield f"the tool {tool.name} changes something, but its `effects` do not say what"
    used = {name for tool in tools for name in tool.states}
    for name in names:
        if name not in used and tools:
            yield f"no tool reads or changes {name}"


def _too_few(tools: Sequence[PlannedTool], size: Size) -> Iterator[str]:
    reads = sum(tool.kind == "read" for tool in tools)
    wanted = round(size.tools * size.reading)
    if len(tools) < size.tools:
        yield (
            f"{size.tools} tools are wanted, {wanted} of them reading; there are {len(tools)}, {reads} reading: "
            f"add {size.tools - len(tools)}"
        )
    elif abs(reads - wanted) > max(2, size.tools // 6):
        yield f"of the {len(tools)} tools {reads} only read; about {wanted} are wanted"


# -- names


def _twice(names: Sequence[str], what: str) -> Iterator[str]:
    for name, times in Counter(names).items():
        if times > 1:
            yield f"{times} {what} are called {name!r}"


def _misnamed(name: str, kind: str, what: str, reserved: Sequence[str] | frozenset[str]) -> Iterator[str]:
    if is_name(name, kind):
        if name in reserved:
            yield f"{what} has a name that is taken by the language"
        return
    better = proposal(name, kind)
    shown = what if len(name) <= 80 else f"{what[:80]}…"
    yield f"{shown} has a name that cannot be used{f': {better} would do' if better else ''}"


def _near(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names) if len(name) <= 80 else None
    return f": did you mean {near!r}?" if near else f"; planned are {one_of(names)}"

"""What must hold of a class before anything is called. Each is a function of what is known of it and gives every breach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.assess.events import Breach
from envscaler.assess.facts import Facts
from envscaler.errors import StateError
from envscaler.runtime.docs import document
from envscaler.spec.model import Constant
from envscaler.spec.prose import render
from envscaler.spec.types import MONEY

__all__ = ["constants_as_told", "examples_hold", "initial_state_is_allowed"]


def initial_state_is_allowed(facts: Facts) -> Iterator[Breach]:
    """An episode can begin: the initial state obeys types, references and rules."""
    try:
        facts.environment.new()
    except StateError as error:
        for problem in error.problems:
            yield Breach(f"the initial state is not allowed: {problem}", kind=problem)
    except Exception as error:
        yield Breach(f"an episode cannot begin: {type(error).__name__}", str(error)[:500])


def examples_hold(facts: Facts) -> Iterator[Breach]:
    """Every example of the spec comes out as it is written."""
    from envscaler.replay.examples import INITIAL_STATE, verify

    if facts.spec is None:
        return
    for problem in verify(facts.spec, facts.environment):
        if problem.code != INITIAL_STATE:
            yield Breach(problem.title, lines=(problem.span.line,), kind=str(problem.span.line))


def constants_as_told(facts: Facts) -> Iterator[Breach]:
    """The text that an agent is told says the constants that the code enforces, and no number that contradicts one."""
    checked, spec = facts.checked, facts.spec
    if checked is None or spec is None:
        return
    for found in checked.diagnostics:
        if found.code == "prose-number":
            yield Breach(found.title, found.detail, (found.span.line,), found.title)
    enforced = _enforced(facts)
    for name, constant in spec.constants.items():
        if name in enforced and not _equal(constant, enforced[name]):
            title = f"the code enforces {name} {enforced[name]!r}, and the spec says {constant.value!r}"
            yield Breach(title, lines=(constant.span.line,), kind=name)
    expected = document(spec.title, render(spec.description.value, spec.constants), facts.rules)
    told = document(facts.environment.title, facts.environment.doc_text or facts.environment.description, facts.rules)
    if _words(told) != _words(expected):
        yield Breach(
            "the introduction that an agent is told is not that of the spec", lines=(spec.description.span.line,)
        )
    for rule in facts.rules:
        if rule.name in spec.rules and _words(rule.text) != _words(
            render(spec.rules[rule.name].text.value, spec.constants)
        ):
            line = spec.rules[rule.name].span.line
            yield Breach(f"the rule {rule.name} is told otherwise than the spec says", rule.text, (line,), rule.name)


def _enforced(facts: Facts) -> Mapping[str, Any]:
    """The constants of the module that a compiled class stands in."""
    import sys

    return vars(sys.modules[facts.environment.__module__]) if facts.environment.__module__ in sys.modules else {}


def _equal(constant: Constant, value: Any) -> bool:
    kind = value.__class__ is constant.value.__class__ or constant.type == MONEY
    return kind and _plain(value) == _plain(constant.value)


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()

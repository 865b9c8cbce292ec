"""The one entry to the types of expressions: rules are registered for node classes by the modules beside this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import libcst as cst

from envscaler.spec.logic.block import Block, Value
from envscaler.spec.types import NEVER, NONE, Nullable, Type

__all__ = ["infer", "maybe_null", "read", "rule"]

Rule = Callable[[Block, Any, "Type | None"], Value]
F = TypeVar("F", bound=Rule)

_RULES: dict[type[cst.CSTNode], Rule] = {}


def rule(*kinds: type[cst.CSTNode]) -> Callable[[F], F]:
    """Register the function for nodes of these classes."""

    def register(function: F) -> F:
        for kind in kinds:
            _RULES[kind] = function
        return function

    return register


def infer(b: Block, node: cst.BaseExpression, expected: Type | None = None) -> Value:
    """The value an expression gives; problems inside are reported and typed `never`, which fits everywhere.

    ``expected`` is the type its place declares, where that helps: the elements of `[]`, the fields of a dict.
    """
    found = _RULES.get(type(node))
    if found is None:
        b.say("forbidden-syntax", node, f"the language has no {type(node).__name__}")
        return b.note(node, Value(NEVER))
    return found(b, node, expected)


def read(b: Block, node: cst.BaseExpression, expected: Type | None = None) -> Value:
    """As infer, with null refused: the value is used in a way that null cannot be."""
    value = infer(b, node, expected)
    if isinstance(value.type, Nullable):
        maybe_null(b, node, value.type)
        return Value(value.type.of, value.view, value.copy_of, value.frozen, value.path)
    if value.type == NONE:
        b.say("maybe-null", node, f"'{b.source(node)}' is null")
        return Value(NEVER)
    return value


def maybe_null(b: Block, node: cst.BaseExpression, of: Type) -> None:
    source = b.source(node)
    fix = f"test '{source} is not None' first"
    if isinstance(node, cst.Call):
        fix = f"bind it: x = {source} or fail(…)"
    b.say("maybe-null", node, f"'{source}' may be null here", fix=fix)

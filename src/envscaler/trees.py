"""Python source as a syntax tree, one thread at a time.

CPython up to 3.11.7 and 3.12.1 counts how deep a tree is in one place for all threads (gh-106905): of two that parse at once,
one can fail with a SystemError. Who is in the way may be a library that cannot be asked to wait; then it is tried again.
"""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Callable
from typing import Any, Final, TypeVar

__all__ = ["ALONE", "literal_value", "parsed", "parsed_expression"]

T = TypeVar("T")

ALONE: Final = threading.RLock()
"""Who holds it is the only one to make trees by this module."""

_TRIES: Final = 20


def _whole(make: Callable[[], T]) -> T:
    """What ``make`` gives, tried again where another thread's tree was in its way."""
    with ALONE:
        for _ in range(_TRIES):
            try:
                return make()
            except SystemError as error:
                if "recursion depth mismatch" not in str(error):
                    raise
        return make()


def parsed(source: str, feature_version: tuple[int, int] | None = None) -> ast.Module:
    """The tree of a module, without warnings. Raises what `ast.parse` does."""
    with ALONE, warnings.catch_warnings():  # these are all threads', too
        warnings.simplefilter("ignore")
        return _whole(lambda: ast.parse(source, feature_version=feature_version))


def parsed_expression(source: str) -> ast.Expression:
    """The tree of an expression. Raises what `ast.parse` does."""
    return _whole(lambda: ast.parse(source, mode="eval"))


def literal_value(node: Any) -> Any:
    """What a literal of LibCST stands for: it has Python parse it."""
    return _whole(lambda: node.evaluated_value)

"""Python source as a syntax tree, one thread at a time.

CPython 3.11 counts how deep a tree is in one place for all threads: two that parse at once can fail with a SystemError.
"""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Any, Final

__all__ = ["literal_value", "parsed", "parsed_expression"]

_LOCK: Final = threading.Lock()


def parsed(source: str, feature_version: tuple[int, int] | None = None) -> ast.Module:
    """The tree of a module, without warnings. Raises what `ast.parse` does."""
    with _LOCK, warnings.catch_warnings():  # these are all threads', too
        warnings.simplefilter("ignore")
        return ast.parse(source, feature_version=feature_version)


def parsed_expression(source: str) -> ast.Expression:
    """The tree of an expression. Raises what `ast.parse` does."""
    with _LOCK:
        return ast.parse(source, mode="eval")


def literal_value(node: Any) -> Any:
    """What a literal of LibCST stands for: it has Python parse it."""
    with _LOCK:
        return node.evaluated_value

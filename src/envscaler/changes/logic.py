"""Logic without its layout, comments and messages, so that only what it does is compared."""

from __future__ import annotations

import ast

from envscaler.spec.model import Block
from envscaler.trees import parsed

__all__ = ["meaning"]


def meaning(block: Block | None) -> str:
    """A text that is equal for blocks that do the same, but for the messages with which they refuse."""
    if block is None:
        return ""
    tree = parsed(block.source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("require", "fail"):
            at = 1 if node.func.id == "require" else 0
            if len(node.args) > at:
                node.args[at] = ast.Constant("")
            for keyword in node.keywords:
                if keyword.arg in ("message", "rule"):
                    keyword.value = ast.Constant("")
    return ast.dump(tree)

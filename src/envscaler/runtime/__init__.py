"""What a compiled environment needs to run: nothing but the standard library and this package."""

from __future__ import annotations

from envscaler.runtime import builtins, shapes
from envscaler.runtime.calls import done, failed
from envscaler.runtime.canonical import canonical_json, digest
from envscaler.runtime.declared import Rule, Tool
from envscaler.runtime.environment import Environment, Snapshot, Tools
from envscaler.runtime.prepare import Base
from envscaler.runtime.results import Changed, Failure, Ok, ToolError, ToolResult
from envscaler.runtime.schemas import Catalogue
from envscaler.runtime.shapes import MISSING
from envscaler.runtime.state import State, commit
from envscaler.runtime.store import Collection, Single
from envscaler.runtime.view import StateView

__all__ = [
    "MISSING",
    "Base",
    "Catalogue",
    "Changed",
    "Collection",
    "Environment",
    "Failure",
    "Ok",
    "Rule",
    "Single",
    "Snapshot",
    "State",
    "StateView",
    "Tool",
    "ToolError",
    "ToolResult",
    "Tools",
    "builtins",
    "canonical_json",
    "commit",
    "digest",
    "done",
    "failed",
    "shapes",
]  # fmt: skip

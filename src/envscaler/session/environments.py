"""The verbs about one environment: load its class, describe it, call a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envscaler.session.files import StrPath, read_json
from envscaler.session.specs import sound
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.runtime import Catalogue, Environment, ToolResult, Tools

__all__ = ["Described", "call", "describe", "load"]


def load(path: StrPath) -> type[Environment]:
    """The environment class of a spec, compiled in memory. Raises SpecError with all diagnostics."""
    from envscaler.compiler import compile_spec, load_class

    return load_class(compile_spec(sound(path), templates=template_folders()))


@dataclass(frozen=True, slots=True)
class Described:
    """What an agent (or the simulated user) is told of an environment. ``kinds`` gives `read` or `write` by tool."""

    name: str
    title: str
    doc: str
    tools: Tools
    kinds: Mapping[str, str]

    def catalogue(self, provider: str = "mcp") -> Catalogue:
        """The tools in the form of `openai`, `openai-strict`, `anthropic` or `mcp`, with what is to be said of them."""
        name, _, strict = provider.partition("-")
        return self.tools.catalogue(name, strict == "strict")


def describe(spec: StrPath, actor: Literal["agent", "user"] = "agent") -> Described:
    """What ``actor`` sees of a spec's environment."""
    environment = load(spec)
    env = environment.new()
    tools = env.tools if actor == "agent" else env.user_tools
    kinds = {tool.name: tool.kind for tool in environment.tool_table}
    return Described(environment.name, environment.title, env.doc, tools, kinds)


def call(
    spec: StrPath,
    tool: str,
    arguments: str | Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    state: StrPath | None = None,
    clock: str | None = None,
    actor: Literal["agent", "user"] = "agent",
) -> tuple[ToolResult, list[dict[str, Any]]]:
    """Call one tool on a new environment: its result, and what it changed.

    ``state``: a JSON file to begin with instead of the spec's initial state; ``clock``: a time instead of the spec's.
    Raises StateError for a state that is not allowed, UsageError for a clock that is none.
    """
    environment = load(spec)
    env = environment.new(None if state is None else read_json(Path(state)), seed=seed, clock=clock)
    result = env.call(tool, arguments, actor=actor)
    return result, env.diff()

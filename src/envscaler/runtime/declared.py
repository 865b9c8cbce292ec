"""What a compiled module declares besides its data: tools, rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envscaler.runtime.results import ToolResult
from envscaler.runtime.shapes import Field

__all__ = ["Rule", "Tool"]


@dataclass(frozen=True, eq=False)
class Tool:
    """A tool, or a setup function. ``run`` takes the state and the arguments by name and gives the JSON form of the
    result. ``errors`` is the declared JSON form of error results, None for the environment's. ``line`` is the spec's.
    ``by_dict(state, arguments)`` is a faster way to ``run`` for the plainest arguments: it raises TypeError or KeyError
    itself when they are anything else, and then `call` takes the long way. ``quick`` is such a function that also
    commits and gives the whole result. A ``run`` that has kept by itself what it wrote gives the whole result too."""

    name: str
    run: Callable[..., Any]
    kind: Literal["read", "write"] = "write"
    actor: Literal["agent", "user"] = "agent"
    description: str = ""
    params: Mapping[str, Field] = field(default_factory=dict)
    errors: Any = None
    line: int = 0
    by_dict: Callable[[Any, Any], Any] | None = None
    quick: Callable[[Any, Any], ToolResult] | None = None

    def bind(self) -> Callable[..., Any]:
        """``run`` taking the arguments by name, as they are named outside."""
        names = {p.json: p.name for p in self.params.values()}
        if all(json == name for json, name in names.items()):
            return self.run
        run, unknown = self.run, "?"

        def renamed(state: Any, /, **arguments: Any) -> Any:
            return run(
                state, **{names.get(k, k if k not in self.params else unknown + k): v for k, v in arguments.items()}
            )

        return renamed


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule. ``run(state, record)`` with ``each`` naming a state, ``run(state)`` without; None when it is enforced
    elsewhere: as moves of a field, by a `require` that cites it, or, for a ``policy``, by the agent's good manners."""

    name: str
    text: str
    run: Callable[..., bool] | None = None
    each: str | None = None
    moves: tuple[str, Mapping[str, tuple[str, ...]]] | None = None
    policy: bool = False
    line: int = 0

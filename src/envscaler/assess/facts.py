"""What is known of an environment class before it is attacked: its tools and their parameters, its rules, its spec."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import module_from_spec
from typing import Any, Literal, Protocol

from envscaler.assess.elsewhere import Elsewhere
from envscaler.assess.findings import Actor
from envscaler.assess.schemas import fields_of_schema
from envscaler.diagnostics import Span
from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.runtime.declared import Rule
from envscaler.spec.checked import Checked, CheckedBody
from envscaler.spec.types import Type
from envscaler.trees import parsed

__all__ = ["Environmental", "Facts", "ToolFacts"]


class Environmental(Protocol):
    """The runtime interface: what a class must have to be attacked. Results have `ok`, `value`, `error` and `changed`."""

    @classmethod
    def new(cls, state: Any = None, seed: int = 0) -> Any: ...
    def call(self, tool: str, arguments: Any = None) -> Any: ...
    @property
    def state(self) -> Any: ...
    def diff(self) -> Any: ...
    def snapshot(self) -> Any: ...
    def restore(self, snapshot: Any) -> None: ...
    def fork(self) -> Any: ...
    def reset(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """A tool. ``params``: by outside name. ``kind`` is None where the class does not tell; ``returns`` and ``draws`` (it uses
    the episode's random numbers, None: unknown) come from the spec. ``examples``: arguments of its calls there;
    ``words``: texts and numbers that its logic names."""

    name: str
    actor: Actor
    kind: Literal["read", "write"] | None
    params: Mapping[str, s.Field]
    line: int = 0
    returns: Type | None = None
    draws: bool | None = None
    examples: tuple[Any, ...] = ()
    words: tuple[Any, ...] = ()


class Facts:
    """An environment class, with the spec it was compiled from where there is one."""

    def __init__(self, environment: type[Any], checked: Checked | None = None) -> None:
        self.environment = environment
        self.checked = checked
        self.spec = checked.spec if checked is not None else None
        self.compiled = issubclass(environment, Environment)
        self.by_name = {(t.actor, t.name): t for t in self.tools}

    @cached_property
    def elsewhere(self) -> Elsewhere:
        """Other times and other random numbers for the class."""
        return Elsewhere(self.environment)

    @cached_property
    def path(self) -> str:
        """The file that findings point into."""
        if self.checked is not None:
            return self.checked.path
        if self.compiled and self.environment.source[0]:
            return str(self.environment.source[0])
        try:
            return inspect.getsourcefile(self.environment) or ""
        except (OSError, TypeError):
            return ""

    @cached_property
    def tools(self) -> tuple[ToolFacts, ...]:
        """The tools of both actors, in order."""
        if self.compiled:
            return tuple(self._declared(t) for t in self.environment.tool_table)
        env = self.environment.new()
        found = []
        sides: list[tuple[Actor, Any]] = [("agent", env.tools), ("user", getattr(env, "user_tools", None))]
        for actor, side in sides:
            if side is None:
                continue
            kinds: Mapping[str, Any] = getattr(side, "kinds", {})
            found += [
                ToolFacts(name, actor, kinds.get(name), fields_of_schema(schema), self._line_of(name))
                for name, schema in side.schemas.items()
            ]
        return tuple(found)

    def _declared(self, tool: Any) -> ToolFacts:
        params = {p.json: p for p in tool.params.values()}
        spec, body = self.spec, self.body(tool.name)
        if spec is None or body is None:
            return ToolFacts(tool.name, tool.actor, tool.kind, params, tool.line)
        declared = spec.tools[tool.name]
        returns = declared.returns or body.returns
        examples = tuple(dict(e.call) for e in declared.examples)
        draws = body.effects.draws
        line, words = declared.span.line, self._words(body)
        return ToolFacts(tool.name, tool.actor, tool.kind, params, line, returns, draws, examples, words)

    def _words(self, body: CheckedBody) -> tuple[Any, ...]:
        """The literals of a block and of the helpers that it calls, short ones."""
        assert self.checked is not None
        found: dict[Any, None] = {}
        for one in self.checked.with_helpers(body):
            try:
                tree = parsed(one.block.source)
            except SyntaxError:
                continue
            literals = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
            found |= dict.fromkeys(v for v in literals if v.__class__ in (int, float, str) and len(str(v)) <= 24)
        return tuple(found)

    def _line_of(self, name: str) -> int:
        """The line of the method that a tool of a hand-written class is, or of its `call`."""
        for attribute in (name, f"_{name}", f"tool_{name}", "call"):
            method = getattr(self.environment, attribute, None)
            try:
                if callable(method) and inspect.getsourcefile(method) == self.path:
                    return inspect.getsourcelines(method)[1]
            except (OSError, TypeError):
                continue
        return 0

    def body(self, tool: str) -> CheckedBody | None:
        """The checked logic of a tool."""
        return self.checked.tools.get(tool) if self.checked is not None else None

    @cached_property
    def shapes(self) -> Sequence[s.StateShape]:
        """The states of a compiled class."""
        return tuple(self.environment.states) if self.compiled else ()

    @cached_property
    def key_names(self) -> Mapping[str, str]:
        """By collection the name under which results give its keys."""
        return {shape.name: shape.key.json for shape in self.shapes if isinstance(shape, s.Collection)}

    def anew(self) -> type[Any]:
        """The class once more, without what it or its module may have kept over its episodes; itself where it cannot be had."""
        if not self.compiled:
            return _executed_again(self.environment) or self.environment
        from envscaler.compiler import load_again

        return load_again(self.environment) or self.environment

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules of a compiled class."""
        return self.environment.rules if self.compiled else ()

    def rule_line(self, name: str) -> int:
        """Where a rule stands."""
        if self.spec is not None and name in self.spec.rules:
            return self.spec.rules[name].span.line
        return next((r.line for r in self.rules if r.name == name), 0)

    def span(self, line: int) -> Span | None:
        """A line of the file, from its first character to its last that is not blank; None for line 0."""
        if line < 1 or not self.path:
            return None
        rows = self.lines
        text = rows[line - 1] if line <= len(rows) else ""
        start = len(text) - len(text.lstrip()) + 1
        return Span(self.path, line, start, line, max(start + 1, len(text.rstrip()) + 1))

    @cached_property
    def lines(self) -> Sequence[str]:
        """The text of the spec by lines; empty without one."""
        return self.checked.source.splitlines() if self.checked is not None else ()


def _executed_again(environment: type[Any]) -> type[Any] | None:
    """A class written by hand, from its module executed once more and kept nowhere; None where that does not give one."""
    spec = getattr(sys.modules.get(environment.__module__), "__spec__", None)
    if spec is None or spec.loader is None:
        return None
    try:
        made: Any = module_from_spec(spec)
        spec.loader.exec_module(made)
        for name in environment.__qualname__.split("."):
            made = getattr(made, name)
    except Exception:
        return None
    return made if isinstance(made, type) else None

"""Which branches of a compiled class are taken: a tracer that looks at its functions only, and no longer than needed."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any, Literal

from envscaler.assess.facts import Facts
from envscaler.trees import parsed

__all__ = ["Branch", "Tracer"]

Trace = Callable[[FrameType, str, Any], Any]


@dataclass(slots=True)
class Branch:
    """An `if` or `for` of a function. ``test``: the lines of its head, ``body`` the first line of what stands under it, in the
    generated module; ``line`` and ``owner`` are the spec's."""

    owner: str
    line: int
    test: range
    body: int
    taken: bool = False
    skipped: bool = False

    @property
    def done(self) -> bool:
        return self.taken and self.skipped

    def sides(self) -> Iterator[tuple[Literal["taken", "skipped"], bool]]:
        yield "taken", self.taken
        yield "skipped", self.skipped


@dataclass(slots=True)
class _Watched:
    """A function: its branches by the lines of their tests, the rules that stand within it by line, and whether it ran."""

    branches: dict[int, Branch]
    rules: dict[int, str] = field(default_factory=dict)
    entered: bool = False
    arcs: set[tuple[int, int]] = field(default_factory=set)


class Tracer:
    """``branches``: all there are; ``rules``: those whose conditions were looked at within the check of a state.
    ``entered(function)``: whether a function has run. ``grown`` counts what was reached."""

    def __init__(self, facts: Facts) -> None:
        self._watched: dict[CodeType, _Watched] = {}
        self._open: dict[CodeType, _Watched] = {}
        self.grown = 0
        self.branches: list[Branch] = []
        self.rules: set[str] = set()
        lines: Mapping[int, int] = facts.environment.source[1] if facts.compiled else {}
        by_line = {rule.line: rule.name for rule in facts.rules}
        for check in _checks(facts):
            code = check.__code__
            inside = {at: by_line[lines[at]] for _, _, at in code.co_lines() if at and lines.get(at) in by_line}
            if inside:
                self._watched[code] = self._open[code] = _Watched({}, inside)
        for function, owner, node in _functions(facts):
            branches = list(_branches(facts, owner, node))
            self.branches += branches
            tests = {line: b for b in branches for line in b.test}
            self._watched[function.__code__] = self._open[function.__code__] = _Watched(tests)

    def entered(self, function: Any) -> bool:
        """Whether the function ran while it was watched."""
        watched = self._watched.get(getattr(function, "__code__", None))  # type: ignore[arg-type]
        return watched is not None and watched.entered

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """``function(*args)``, watched as far as there is still something to see."""
        if not self._open:
            return function(*args)
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return function(*args)
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Trace | None:
        watched = self._open.get(frame.f_code)
        if watched is None:
            return None
        if not watched.entered:
            watched.entered = True
            self.grown += 1
        if watched.rules:
            return self._find_rules(frame.f_code, watched)
        if not watched.branches:
            del self._open[frame.f_code]
            return None
        return self._follow(frame.f_code, watched)

    def _find_rules(self, code: CodeType, watched: _Watched) -> Trace:
        def trace(frame: FrameType, event: str, arg: Any) -> Trace:
            name = watched.rules.pop(frame.f_lineno, None) if event == "line" else None
            if name is not None and name not in self.rules:
                self.rules.add(name)
                self.grown += 1
                if not watched.rules:
                    self._open.pop(code, None)
            return trace

        return trace

    def _follow(self, code: CodeType, watched: _Watched) -> Trace:
        at = 0
        arcs, branches = watched.arcs, watched.branches

        def trace(frame: FrameType, event: str, arg: Any) -> Trace:
            nonlocal at
            line = -1 if event == "return" else frame.f_lineno
            if event == "exception":
                at = 0  # where an exception leads is no side of a branch
                return trace
            if at in branches and (at, line) not in arcs:
                arcs.add((at, line))
                self._went(code, watched, branches[at], line)
            at = line
            return trace

        return trace

    def _went(self, code: CodeType, watched: _Watched, branch: Branch, line: int) -> None:
        if line in branch.test:
            return
        side = "taken" if line == branch.body else "skipped"
        if not getattr(branch, side):
            setattr(branch, side, True)
            self.grown += 1
            if all(b.done for b in watched.branches.values()):
                self._open.pop(code, None)


def _checks(facts: Facts) -> list[FunctionType]:
    """The functions that check what a call changed; the plainest rules stand in them and are no functions of their own."""
    table = facts.environment.checks if facts.compiled else {}
    return [check for check in table.values() if isinstance(check, FunctionType)]


def _functions(facts: Facts) -> Iterator[tuple[FunctionType, str, ast.FunctionDef]]:
    """The functions of the class's module that stand for logic of the spec, with their syntax."""
    if not facts.compiled:
        return
    module = sys.modules.get(facts.environment.__module__)
    table = [t.run for t in (*facts.environment.tool_table, *facts.environment.setup_table)]
    files = {f.__code__.co_filename for f in table if isinstance(f, FunctionType)}
    if module is None or not files:
        return
    found = [f for f in vars(module).values() if isinstance(f, FunctionType) and f.__code__.co_filename in files]
    nodes: dict[str, dict[int, ast.FunctionDef]] = {file: _definitions(module, file) for file in sorted(files)}
    runs = {id(t.run): f"tool {t.name}" for t in facts.environment.tool_table}
    runs |= {id(r.run): f"rule {r.name}" for r in facts.rules}
    for function in found:
        node = nodes[function.__code__.co_filename].get(function.__code__.co_firstlineno)
        owner = runs.get(id(function), "")
        name = function.__name__
        if not owner and name.startswith("helper_"):
            owner = f"helper {name.removeprefix('helper_')}"
        if node is not None and owner:
            yield function, owner, node


def _definitions(module: Any, file: str) -> dict[int, ast.FunctionDef]:
    text = "".join(linecache.getlines(file))
    if not text:
        try:
            text = inspect.getsource(module)
        except (OSError, TypeError):
            return {}
    try:
        tree = parsed(text)
    except SyntaxError:
        return {}
    return {node.lineno: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _branches(facts: Facts, owner: str, function: ast.FunctionDef) -> Iterator[Branch]:
    lines: Mapping[int, int] = facts.environment.source[1]
    block = _block(facts, owner)
    for node in _statements(function.body):
        if not isinstance(node, ast.If | ast.For) or (isinstance(node, ast.If) and _refuses(node)):
            continue
        line = lines.get(node.lineno, 0)
        if line and (block is None or line in block):
            body = node.body[0].lineno
            yield Branch(owner, line, range(node.lineno, max(body, node.lineno + 1)), body)


def _block(facts: Facts, owner: str) -> range | None:
    """The lines of the spec that hold the logic of a tool, helper or rule; None where that is not known."""
    if facts.checked is None:
        return None
    kind, _, name = owner.partition(" ")
    bodies = {"tool": facts.checked.tools, "helper": facts.checked.helpers, "rule": facts.checked.rules}[kind]
    body = bodies.get(name)
    if body is None:
        return range(0)
    return range(body.block.line, body.block.line + body.block.source.count("\n") + 1)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in ("body", "orelse"):
            yield from _statements(getattr(statement, part, []))


def _refuses(node: ast.If) -> bool:
    """A `require`, which counts as a requirement and not as a branch."""
    return len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse

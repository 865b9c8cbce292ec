"""Faults that a spec cannot express: in the generated module, and in the parts of the runtime that it stands on.

Each is an edit of the module's text. A part of the runtime is replaced by a subclass that the text itself brings, so that
nothing outside the mutant's own module is ever touched.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

from envscaler.assess.mutation.generated import Generated
from envscaler.assess.mutation.mutants import Fault, Site
from envscaler.spec.model import StateDef
from envscaler.spec.types import BOOL, FLOAT, INT, MONEY, NUMBER, STR, Field, IterOf, ListOf

__all__ = ["OPERATORS"]

_NOW: Final = '__import__("datetime").datetime.now().strftime("%Y-%m-%dT%H:%M:%S{zone}")'
_TODAY: Final = '__import__("datetime").date.today().isoformat()'
_EDITS: Final = {"edit": "at", "edit_or_none": "get", "edit_values": "values", "edit_items": "items"}


# -- the runtime's part: a state kept in another way


def _kept(made: Generated, state: StateDef, body: str, told: str, setup: str = "") -> Site:
    """The site at which a collection or single is one of a subclass with ``body``, made when an episode begins."""
    single = state.single
    base = "Single" if single else "Collection"
    made_of = "self.{0}.plan, self.{0}.base" if single else "self.{0}.table"
    holder = made.state_class()
    lines = (
        f"\n    def __init__(self, *given):\n        super().__init__(*given)\n"
        f"        self.{state.name} = _mutant_part()({made_of.format(state.name)}, self._meter)\n{setup}"
        f"\n\ndef _mutant_part():\n    from envscaler.runtime.store import {base}\n\n"
        f"    class Kept({base}):\n        __slots__ = ()\n\n{body}\n    return Kept\n\n"
    )
    return made.insert_after(f"state {state.name}", holder, lines, told)


def _written(made: Generated) -> Iterator[StateDef]:
    """The states that tools change."""
    found: set[str] = set()
    for body in made.checked.tools.values():
        found |= body.effects.edits | body.effects.adds | body.effects.removes
    yield from (s for s in made.spec.states.values() if s.name in found)


def dropped_rollback(made: Generated) -> Iterator[Site]:
    """What a failed call wrote to a state stays. States are left out that no call can fail after writing to."""
    for state in _written(made):
        if not _may_fail(made, state):
            continue
        forget = "self.before.clear()" if state.single else "self.before.clear()\n            self.saved = None"
        body = f"        def rollback(self):\n            {forget}\n"
        yield _kept(made, state, body, "a failed call is not undone")


def _may_fail(made: Generated, state: StateDef) -> bool:
    """Whether a tool that writes a state has something left to do that can fail: a check, a helper, a requirement."""
    checks = {n.name: n for n in made.tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("check_")}
    for owner, function in made.functions:
        kind, _, name = owner.partition(" ")
        if kind != "tool":
            continue
        effects = made.checked.tools[name].effects
        states = effects.edits | effects.adds | effects.removes
        keeps = any(isinstance(n, ast.Name) and n.id == "_Changed" for n in ast.walk(function))
        if state.name not in states or keeps:  # a tool that puts it into the state at its end has nothing to undo
            continue
        hooks = {name.value for name in made.spec.after_each}
        if any(_may_raise(f) for o, f in made.functions if o.startswith("helper ") and o.split()[1] in hooks):
            return True
        if any(_fails(checks[f"check_{s}"]) for s in states if f"check_{s}" in checks):
            return True
        first = min((n.lineno for _, n, _ in _writes(function)), default=function.lineno)
        for node in ast.walk(function):
            if getattr(node, "lineno", 0) > first and (isinstance(node, ast.Raise) or _helps(node)):
                return True
    return False


def _may_raise(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Raise) or _helps(node) for node in ast.walk(function))


def _helps(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("helper_")


def _fails(function: ast.FunctionDef) -> bool:
    words = ("_mark", "_require_valid", "_require_unreferred", "require_unique", "require_tree")
    return any(
        isinstance(node, ast.Raise) or (isinstance(node, ast.Attribute) and node.attr in words)
        for node in ast.walk(function)
    )


def leaked_state(made: Generated) -> Iterator[Site]:
    """A state outlives its episode: a reset leaves it, a counter is the class's, results are remembered by arguments."""
    for state in _written(made):
        yield _kept(made, state, "        def reset(self):\n            pass\n", "a reset leaves what was written")
    for state in _written(made):
        adds = any(state.name in b.effects.adds for b in made.checked.tools.values())
        if adds and state.key is not None and state.key.make is not None and "{n" in state.key.make:
            body = (
                "        def add(self, record, key=None):\n            made = super().add(record, key)\n"
                "            self.table._top = self.top\n            return made\n"
            )
            yield _kept(made, state, body, "the counter of keys belongs to the class")
    for owner, function in made.functions:
        kind, _, name = owner.partition(" ")
        body_of = made.checked.tools.get(name)
        if kind == "tool" and body_of is not None and made.spec.tools[name].kind == "read" and body_of.effects.reads:
            lines = (
                f"\n\n_known_{name}, _plain_{name} = {{}}, {function.name}\n\n\n"
                f"def {function.name}(_state, *args, **named):\n    asked = repr((args, named))\n"
                f"    if asked not in _known_{name}:\n"
                f"        _known_{name}[asked] = _plain_{name}(_state, *args, **named)\n"
                f"    return _known_{name}[asked]\n"
            )
            yield made.insert_after(owner, function, lines, "results are remembered by their arguments")


# -- clock and randomness


def wall_clock(made: Generated) -> Iterator[Site]:
    """The machine's clock instead of the episode's."""
    now = _NOW.format(zone="Z" if made.spec.zoned else "")
    for owner, function in made.functions:
        for statement in function.body:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Attribute) or node.attr not in ("_now", "_today"):
                    continue
                if _is_state(node.value) and not _in_text(statement, node):
                    yield made.replace(owner, node, now if node.attr == "_now" else _TODAY, _line(statement, node))


def unseeded_random(made: Generated) -> Iterator[Site]:
    """Randomness that the seed does not decide: in draws, in keys, in the order of a result."""
    for owner, function in made.functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and (drawn := _drawn(node)) is not None and not _in_text(function, node):
                args = ", ".join(made.code(a) for a in node.args[1:])
                yield made.replace(owner, node, f'__import__("random").{drawn}({args})', node)
    for state in _written(made):
        adds = any(state.name in b.effects.adds for b in made.checked.tools.values())
        if adds and state.key is not None and state.key.make is not None and "{n" in state.key.make:
            text = state.key.type.of == STR
            draw = '__import__("random").getrandbits(40)'
            key = f'lambda n: "{state.key.make.partition("{")[0]}%010x" % {draw}' if text else f"lambda n: {draw}"
            setup = f"        self.{state.name}.make_key = {key}\n"
            yield _kept(made, state, "", "keys are drawn from the machine's randomness", setup)
    for owner, function in made.functions:
        kind, _, name = owner.partition(" ")
        body = made.checked.tools.get(name)
        if kind == "tool" and body is not None and isinstance(body.returns, ListOf | IterOf):
            lines = (
                f"\n\n_plain_{name} = {function.name}\n\n\ndef {function.name}(_state, *args, **named):\n"
                f"    found = list(_plain_{name}(_state, *args, **named))\n"
                f'    __import__("random").shuffle(found)\n    return found\n'
            )
            yield made.insert_after(owner, function, lines, "the result comes in any order")


_DRAWS: Final = {"rand_int": "randint", "rand_float": "uniform", "choice": "choice"}


def _drawn(node: ast.Call) -> str | None:
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "_rt":
        return _DRAWS.get(function.attr)
    return None


# -- records


def shared_base(made: Generated) -> Iterator[Site]:
    """A record is written where it lies, for all episodes, and no failure puts it back."""
    for owner, function in made.functions:
        written = _written_names(function)
        for statement, call, part in _writes(function):
            names = _bound(function, call)
            if not (names & written if names else _through(function, call)) or _before(made, function, call):
                continue  # it is only read, or was made ready to be written before
            if _attribute(call) == "edit_of":
                new = made.code(call.args[0])
            elif _attribute(call) == "edit" and not call.args:
                new = f"{made.code(part)}.value"
            else:
                other = _EDITS[_attribute(call)]
                args = ", ".join(made.code(a) for a in call.args)
                new = f"{made.code(part)}.{other}({args})"
            yield made.replace(owner, call, new, _line(statement, call))


def _writes(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.Call, ast.expr]]:
    """Calls that have a record ready to be written, with the part of the state that they ask."""
    for statement in function.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if _is_part(node.func.value) and node.func.attr in (*_EDITS, "edit_of"):
                yield statement, node, node.func.value


def stale_view(made: Generated) -> Iterator[Site]:
    """A record is copied where it is found, so that what is written to it is lost and what others write is not seen."""
    for owner, function in made.functions:
        written = _written_names(function)
        again = {
            made.code(node.args[0])
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and _attribute(node) in ("edit_of", "clone") and node.args
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _finds(node.value):
                name = node.targets[0].id
                if name in again:
                    continue  # it is looked up once more before it is written
                if name in written or _read_after_helper(made, function, name, node.lineno):
                    new = f'__import__("copy").deepcopy({made.code(node.value)})'
                    yield made.replace(owner, node.value, new, node)


def _attribute(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _written_names(function: ast.FunctionDef) -> set[str]:
    """Local names through which something is written: an item assigned or deleted, or a method called on a part."""
    found: set[str] = set()
    for node in ast.walk(function):
        parts: list[ast.expr] = _targets(node)
        if isinstance(node, ast.Delete):
            parts = node.targets
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            parts = [node.value.func, *node.value.args[:1]]
        for part in parts:
            inner = part
            while isinstance(inner, ast.Subscript | ast.Attribute):
                inner = inner.value
            if isinstance(inner, ast.Name) and inner is not part:
                found.add(inner.id)
    return found


def _through(function: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether something is written through a call's value where it stands."""
    for node in ast.walk(function):
        parts = _targets(node)
        if isinstance(node, ast.Delete):
            parts = node.targets
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            parts = [node.value.func, *node.value.args[:1]]
        if any(n is call for part in parts for n in ast.walk(part)):
            return True
    return False


def _before(made: Generated, function: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether the same record is made ready to be written by a statement that always comes before."""
    text = made.code(call)
    stack: list[list[ast.stmt]] = [function.body]
    while stack:
        for statement in stack.pop():
            if any(n is call for n in _heads(statement)):
                if not isinstance(statement, ast.Assign):
                    break
                before = list(ast.walk(statement.value))  # it is evaluated before the target
                return call not in before and any(isinstance(n, ast.Call) and made.code(n) == text for n in before)
            if any(isinstance(n, ast.Call) and made.code(n) == text for n in _heads(statement)):
                return True
            if isinstance(statement, ast.If | ast.For):
                for body in (statement.body, statement.orelse):
                    if any(n is call for inner in body for n in ast.walk(inner)):
                        stack.append(body)
    return False


def _heads(statement: ast.stmt) -> list[ast.AST]:
    """The nodes of what a statement always does: of a compound one its condition, or what it goes through."""
    if isinstance(statement, ast.If):
        return list(ast.walk(statement.test))
    return list(ast.walk(statement.iter if isinstance(statement, ast.For) else statement))


def _bound(function: ast.FunctionDef, call: ast.Call) -> set[str]:
    """The local names that a call's value is bound to."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(n is call for n in ast.walk(node.value)):
            return {t.id for t in node.targets if isinstance(t, ast.Name)} if node.value is call else set()
        if isinstance(node, ast.For) and any(n is call for n in ast.walk(node.iter)):
            return {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    return set()


def _targets(statement: ast.AST) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AugAssign) else []


def _finds(node: ast.expr) -> bool:
    """Whether an expression is a record found in a collection."""
    if isinstance(node, ast.Subscript):
        return _is_part(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_part(node.func.value):
        return node.func.attr in ("edit", "edit_or_none", "edit_of", "get", "at") and bool(node.args)
    return False


def _read_after_helper(made: Generated, function: ast.FunctionDef, name: str, bound: int) -> bool:
    """Whether a record is read after a helper that changes something was called."""
    called = [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (helper := made.checked.helpers.get(node.func.id.removeprefix("helper_"))) is not None
        and helper.effects.writes
    ]
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and any(bound < line < node.lineno for line in called)
        for node in ast.walk(function)
    )


def hidden_write(made: Generated) -> Iterator[Site]:
    """A read tool that writes a record on its way."""
    for owner, function in made.functions:
        kind, _, name = owner.partition(" ")
        if kind != "tool" or made.spec.tools[name].kind != "read":
            continue
        for state in _written(made):
            field = _kept_field(made, state)
            if field is None:
                continue
            record = f"_state.{state.name}.edit()" if state.single else f"_state.{state.name}.edit(_key)"
            new = "not _old" if field.type == BOOL else '_old + "x"' if field.type == STR else "_old + 1"
            margin = "    " if state.single else "        "
            lines = "" if state.single else f"    for _key in list(_state.{state.name}.current())[:1]:\n"
            lines += f'{margin}_record = {record}\n{margin}_old = _record["{field.name}"]\n'
            lines += f'{margin}_record["{field.name}"] = {new}\n'
            yield made.insert_before(owner, function.body[1], lines, f"{state.name}: {field.name} is changed")
            break


def _kept_field(made: Generated, state: StateDef) -> Field | None:
    """A field whose change is kept: of the others the module knows that no tool writes them, and does not look."""
    written: set[tuple[str, str]] = set()
    for body in made.checked.tools.values():
        written |= body.effects.writes
    plain = (BOOL, FLOAT, INT, MONEY, NUMBER, STR)
    fields = state.record.fields.values()
    return next((f for f in fields if f.type in plain and not f.absent and (state.name, f.name) in written), None)


# -- the tree


def _is_state(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "_state"


def _is_part(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and _is_state(node.value)


def _line(statement: ast.stmt, node: ast.AST) -> ast.stmt:
    """The innermost simple statement around a node, or the compound one whose head it is in."""
    found = statement
    for inner in ast.walk(statement):
        if isinstance(inner, ast.stmt) and any(n is node for n in ast.walk(inner)):
            if not hasattr(inner, "body"):
                return inner
            found = inner
    return found


def _in_text(statement: ast.stmt, node: ast.AST) -> bool:
    """Whether a node stands in an f-string, whose places older Pythons do not know."""
    return any(
        isinstance(text, ast.JoinedStr) and any(n is node for n in ast.walk(text)) for text in ast.walk(statement)
    )


OPERATORS: Final[tuple[tuple[str, str, Fault, Callable[[Generated], Iterator[Site]]], ...]] = (
    ("dropped-rollback", "what a failed call wrote stays", "atomicity", dropped_rollback),
    ("leaked-state", "a state, a counter or a result outlives its episode", "leaks", leaked_state),
    ("wall-clock", "the machine's clock", "determinism", wall_clock),
    ("unseeded-random", "randomness that the seed does not decide", "determinism", unseeded_random),
    ("shared-base", "a record written where all episodes read it", "leaks", shared_base),
    ("stale-view", "a copy of a record where a view is meant", "logic", stale_view),
    ("module-hidden-write", "a read tool of the module writes", "purity", hidden_write),
)

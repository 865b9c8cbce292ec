"""Goals and guards of scenarios as functions: checked and compiled by what checks and compiles specs, once for each text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from envscaler.compiler.goals import Goal, GoalCompiler
from envscaler.diagnostics import Diagnostic, Span
from envscaler.runtime.results import Failure
from envscaler.runtime.state import State, rollback
from envscaler.scenario.answers import Slots, Submitted, slots_key
from envscaler.scenario.model import Answer
from envscaler.scenario.patterns import Hole, Literals, filled, holes_of, nodes_of, stood_in
from envscaler.scenario.world import World
from envscaler.spec.checked import CheckedBody
from envscaler.spec.goals import GoalChecker, answer_type
from envscaler.spec.model import Block
from envscaler.spec.report import Report

__all__ = ["Expression", "Expressions", "place_of"]

_SPECS: Final = 64  # specs whose expressions are kept
_TEXTS: Final = 20_000  # expressions kept of one
_VARIANTS: Final = 200  # of one pattern, by what is fixed in it


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled condition. ``initial``: it looks at the first state."""

    text: str
    run: Goal
    initial: bool

    def holds(self, first: State | None, last: State, submitted: Submitted) -> bool:
        """Whether it holds. False also where it speaks of a record, an element or a first match that is not there.

        An agent may remove what a goal is about. Then the goal is not met, and nothing is wrong with it; so `not_found` is
        no error here. Whatever else makes an expression fail (a division by zero, more steps than a call may take, a
        helper that refuses) is raised as Failure: a condition that cannot be told must not pass for one that is false.
        """
        try:
            return self.run(first, last, submitted.answer, submitted.refusal)
        except LookupError:
            return False
        except Failure as failure:
            if failure.code == "not_found":
                return False
            raise
        except Exception as problem:
            raise Failure("internal", f"{type(problem).__name__}: {str(problem)[:200]}") from problem
        finally:
            if last._dirty:  # the steps it took
                rollback(last)
            if first is not None and first._dirty:
                rollback(first)


class _Pattern:
    """Expressions that differ in their literals, and what was compiled for them.

    ``made``: by what is fixed (the other literals, and which of the free ones are equal) what makes the function of a goal
    from the different values of the holes, and whether it looks at the first state.
    """

    def __init__(self, holes: tuple[Hole, ...]) -> None:
        self.holes = holes
        self.free = frozenset(hole.place for hole in holes)
        self.made: dict[tuple[Any, ...], tuple[Callable[..., Goal], bool]] = {}

    def groups(self, literals: Literals) -> tuple[int, ...]:
        """For each hole the number of its value among the different ones."""
        seen: dict[Any, int] = {}
        values = ((hole.kind, literals.tokens[hole.place].strip("\"'")) for hole in self.holes)
        return tuple(seen.setdefault(value, len(seen)) for value in values)

    def fixed(self, literals: Literals, groups: tuple[int, ...]) -> tuple[Any, ...]:
        """What two expressions must have in common."""
        return groups, tuple(token for n, token in enumerate(literals.tokens) if n not in self.free)

    def expression(self, text: str, literals: Literals) -> Expression | None:
        """The expression of these literals, None when none that is like it was compiled."""
        groups = self.groups(literals)
        found = self.made.get(self.fixed(literals, groups))
        if found is None:
            return None
        values: dict[int, Any] = {}
        for hole, group in zip(self.holes, groups, strict=True):
            if group not in values:
                values[group] = hole.value(literals.tokens[hole.place])
        if None in values.values():
            return None
        return Expression(text, found[0](*values.values()), found[1])


class Expressions:
    """The expressions of one spec. Those of one text and the same answer slots are compiled once."""

    def __init__(self, world: World) -> None:
        self.reasons = tuple(world.reasons)
        self.checker = GoalChecker(world.checked)
        self.compiler = GoalCompiler(world.checked, world.environment)
        self._known: OrderedDict[tuple[str, str], Expression] = OrderedDict()
        self._patterns: OrderedDict[tuple[str, str], _Pattern] = OrderedDict()
        self._slots: dict[str, Slots] = {}
        self._none = Slots({}, answer_type({}), slots_key({}))

    @classmethod
    def of(cls, world: World) -> Expressions:
        """Those of a world; worlds of equal specs share them."""
        found = _KEPT.get(world.spec.hash)
        if found is None:
            found = _KEPT[world.spec.hash] = cls(world)
            if len(_KEPT) > _SPECS:
                _KEPT.popitem(last=False)
        return found

    def slots(self, answers: Sequence[Answer], where: Span, report: Report) -> Slots:
        """The slots of a scenario; what is wrong with their types goes to ``report``, at ``where``."""
        types: dict[str, Any] = {answer.name: answer.type for answer in answers}
        key = slots_key(types)
        found = self._slots.get(key)
        if found is None:
            problems = Report()
            declared = self.checker.slots_of(types, where, problems)
            report.extend(problems.items)
            fields = {} if problems.failed else {name: self.compiler.shape(slot) for name, slot in declared.items()}
            found = Slots(fields, answer_type(declared), key)
            if not problems.failed:
                self._slots[key] = found
        return found

    def compile(self, source: Block, slots: Slots) -> tuple[Expression | None, Sequence[Diagnostic]]:
        """One expression, None when it has errors; and what the checker says of it, at its place in ``source``."""
        if "answer" not in source.source:  # the same whatever is to be answered
            slots = self._none
        key = (source.source, slots.key)
        found = self._known.get(key)
        if found is not None:
            return found, ()
        found, problems = self._compiled(source, slots)
        if found is not None:
            self._known[key] = found
            if len(self._known) > _TEXTS:
                self._known.popitem(last=False)
        return found, problems

    def _compiled(self, source: Block, slots: Slots) -> tuple[Expression | None, Sequence[Diagnostic]]:
        """An expression that is like an earlier one is not looked at by itself, if the two differ in free literals only."""
        literals = Literals.of(source.source)
        like = None if literals is None else self._patterns.get((literals.shape, slots.key))
        if like is not None and literals is not None:
            found = like.expression(source.source, literals)
            if found is not None:
                return found, ()
        body, problems = self.checker.check(source, slots.type, self.reasons)
        if body is None:
            return None, problems
        if literals is not None and not problems:
            learnt = self._learnt(body, literals, slots)
            found = None if learnt is None else learnt.expression(source.source, literals)
            if found is not None:
                return found, ()
        run, initial = self.compiler.function(body)
        return Expression(source.source, run, initial), problems

    def _learnt(self, body: CheckedBody, literals: Literals, slots: Slots) -> _Pattern | None:
        """The pattern of a checked expression, compiled for all that differ in free literals only; None where that cannot be
        done. Others like it will come: goals are made by the same hand."""
        nodes = nodes_of(body)
        holes = holes_of(body, nodes, literals)
        like = self._pattern(holes, literals, slots)
        if not holes or like.holes != holes or len(like.made) >= _VARIANTS or literals.like_stand_ins(holes):
            return None
        groups = like.groups(literals)
        with stood_in(nodes, literals, literals.with_stand_ins(holes, groups)):
            code, initial = self.compiler.code(body)
        made = filled(code, holes, groups)
        if made is None:
            return None
        like.made[like.fixed(literals, groups)] = (self.compiler.load(made), initial)
        return like

    def _pattern(self, holes: tuple[Hole, ...], literals: Literals, slots: Slots) -> _Pattern:
        key = (literals.shape, slots.key)
        found = self._patterns.get(key)
        if found is None:
            found = self._patterns[key] = _Pattern(holes)
            if len(self._patterns) > _TEXTS:
                self._patterns.popitem(last=False)
        return found


_KEPT: OrderedDict[str, Expressions] = OrderedDict()


def place_of(text: str, where: Span) -> Block:
    """An expression that stands as a whole at one place, of which no more is known than its line."""
    source = text.strip()
    return Block(source, where.path, where.line, where.column, where)

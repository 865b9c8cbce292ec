"""Goals and guards: conditions over the first and the last state of an episode, checked as all logic is.

What may be named in one: `initial` and `final` with a state behind each, the slots of `answer`, `refusal`, and the
constants, types, built-ins and pure helpers of the spec. A helper reads the last state.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import libcst as cst

from envscaler.diagnostics import Diagnostic, Span
from envscaler.spec import yamltree as y
from envscaler.spec.checked import Checked, CheckedBody
from envscaler.spec.datafile import parse_json
from envscaler.spec.entries import Context
from envscaler.spec.logic import statements  # noqa: F401 - it brings the rules of all expressions
from envscaler.spec.logic.block import Block, HelperInfo, World
from envscaler.spec.logic.operators import condition
from envscaler.spec.logic.parse import parse_block
from envscaler.spec.logic.scope import Binding
from envscaler.spec.model import Block as Source
from envscaler.spec.names import named_entries
from envscaler.spec.read_types import TypeReader
from envscaler.spec.report import Report
from envscaler.spec.types import NONE, Enum, Field, Struct, Type, nullable

__all__ = ["GoalChecker", "answer_type"]


def answer_type(slots: Mapping[str, Field]) -> Struct:
    """The type of `answer`: each slot is null until it is filled."""
    return Struct("answer", {n: replace(f, type=nullable(f.type), default=None) for n, f in slots.items()})


class GoalChecker:
    """Checks goals of one spec, which was checked before and has no errors. Its helpers are not looked at again."""

    def __init__(self, checked: Checked) -> None:
        assert checked.spec is not None
        self.spec = checked.spec
        self._helpers = {
            name: HelperInfo(name, self.spec.helpers[name].params, body.returns, body.effects)
            for name, body in checked.helpers.items()
        }

    def check(
        self, source: Source, answer: Struct, reasons: Sequence[str]
    ) -> tuple[CheckedBody | None, list[Diagnostic]]:
        """One condition: what was found of it, None when it has errors, and its diagnostics.

        ``answer`` is of `answer_type`; ``reasons`` are the texts that a refusal may give.
        """
        parsed, problems = parse_block(source, expression=True)
        if parsed is None:
            return None, problems
        report = Report()
        block = Block(World(self.spec, report, self._helpers), parsed, "goal", "goal")
        given: tuple[tuple[str, Type], ...] = (
            ("answer", answer),
            ("refusal", nullable(Enum(tuple(reasons), "the reasons"))),
        )
        for name, of in given:
            block.env.names[name] = Binding(of, "param", frozen="what was submitted")
        statement = parsed.module.body[0]
        assert isinstance(statement, cst.SimpleStatementLine)
        assert isinstance(statement.body[0], cst.Expr)
        condition(block, statement.body[0].value)
        if report.failed:
            return None, report.items
        return CheckedBody(
            "goal", source, parsed.module, block.notes, parsed.lines, block.own, block.effects, NONE
        ), report.items  # fmt: skip

    # -- answer slots

    def slots(self, declared: y.Mapping, document: y.Document, report: Report) -> dict[str, Field]:
        """Answer slots, each a name with a type that is written as a parameter's is; problems go to ``report``."""
        spec = self.spec
        context = Context(
            document,
            report,
            zoned=spec.zoned,
            constants=dict(spec.constants),
            types=dict(spec.types),
            keys={name: state.key.type for name, state in spec.states.items() if state.key is not None},
            records={state.record.name: state.record for state in spec.states.values()},
        )
        fields = TypeReader(context, None).fields
        named = named_entries(declared, "lower", "an answer slot", report, reserved=())
        return {name: fields.field(entry, "param", f"answer slot {name!r}")[0] for name, entry in named}

    def slots_of(self, declared: Mapping[str, Any], where: Span, report: Report) -> dict[str, Field]:
        """The same of types as JSON; all problems are at ``where``."""
        found = Report()
        root = parse_json(where.path, json.dumps(declared).encode(), found)
        slots = {} if root is None else self.slots(root, y.Document(where.path, "", root), found)
        report.extend(replace(problem, span=where) for problem in found.items)
        return slots

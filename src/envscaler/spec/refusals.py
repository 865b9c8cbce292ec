"""How a tool refuses: every `require` and `fail` that a call can meet, and every reference that must exist, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from envscaler.spec.checked import Checked, CheckedBody
from envscaler.spec.model import Constant, Param, Spec, ToolDef
from envscaler.spec.prose import constant_text, formatted, render
from envscaler.spec.types import Key, ListOf, strip_null
from envscaler.trees import literal_value

__all__ = ["Refusal", "Walked", "body_refusals", "missing_refusals", "tool_refusals"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One way in which a call fails.

    ``message``: its text; what is put in at run time stands as `{expression}`. ``needs``: the code that must be true for
    the call to go on, or "" when the place alone decides. ``when``: the code of the `if`s around it, outermost first.
    ``owner``: `tool x` or `helper y`, as in CheckedBody. ``line``: of the spec's file.
    """

    message: str
    needs: str
    when: tuple[str, ...]
    rule: str | None
    owner: str
    line: int


Walked = dict[str, tuple["Refusal | str", ...]]
"""By owner of a block its refusals, with the names of helpers where it calls them."""


def tool_refusals(checked: Checked, tool: ToolDef, walked: Walked | None = None) -> list[Refusal]:
    """Of a tool: its references first, then its logic with the helpers that it calls where it first calls them.

    ``walked``: kept from tool to tool of a spec by who asks for many, so that each helper is gone through once.
    """
    assert checked.spec is not None
    body = checked.tools[tool.name]
    return [*missing_refusals(checked.spec, tool.params, body.owner), *body_refusals(checked, body, walked)]


def missing_refusals(spec: Spec, params: Sequence[Param], owner: str) -> Iterator[Refusal]:
    """Of parameters that name a record: that there is none."""
    for param in params:
        kind, name = strip_null(param.field.type), param.name
        key = strip_null(kind.item) if isinstance(kind, ListOf) else kind
        if not isinstance(key, Key) or key.collection not in spec.states:
            continue
        if param.missing is not None:
            message, line = render(param.missing.value, spec.constants), param.missing.span.line
        else:
            message, line = f"No {spec.states[key.collection].record.name} {{{name}}}.", param.field.span.line
        needs = f"all({name} in {key.collection})" if isinstance(kind, ListOf) else f"{name} in {key.collection}"
        yield Refusal(message, needs, (), None, owner, line)


def body_refusals(checked: Checked, body: CheckedBody, walked: Walked | None = None) -> list[Refusal]:
    """Of a block of logic, through helpers too; a helper that is called twice is told once."""
    return list(_told(checked, body, set(), {} if walked is None else walked))


def _told(checked: Checked, body: CheckedBody, told: set[str], walked: Walked) -> Iterator[Refusal]:
    if body.owner not in walked:
        walked[body.owner] = tuple(_Walk(checked, body).go(body.module, ()))
    for found in walked[body.owner]:
        if isinstance(found, Refusal):
            yield found
        elif found not in told:
            told.add(found)
            yield from _told(checked, checked.helpers[found], told, walked)


class _Walk:
    """Goes through a block: its refusals, and the names of helpers where it calls them."""

    def __init__(self, checked: Checked, body: CheckedBody) -> None:
        self.checked, self.body = checked, body
        self.line = body.block.line

    def go(self, node: cst.CSTNode, when: tuple[str, ...]) -> Iterator[Refusal | str]:
        if node in self.body.statement_lines:
            self.line = self.body.block.line + self.body.statement_lines[node] - 1
        match node:
            case cst.If(test=test, body=inner, orelse=other):
                yield from self.go(test, when)
                yield from self.go(inner, (*when, self.code(test)))
                if other is not None:
                    yield from self.go(other, (*when, f"not ({self.code(test)})"))
            case cst.IfExp(test=test, body=inner, orelse=other):
                yield from self.go(test, when)
                yield from self.go(inner, (*when, self.code(test)))
                yield from self.go(other, (*when, f"not ({self.code(test)})"))
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=cst.Call() as right) if self.named(
                right, "fail"
            ):
                yield from self.go(left, when)
                yield self.refusal(right, self.code(left), when)
            case cst.Call():
                for argument in node.args:
                    yield from self.go(argument.value, when)
                yield from self.call(node, when)
            case _:
                for child in node.children:
                    yield from self.go(child, when)

    def call(self, node: cst.Call, when: tuple[str, ...]) -> Iterator[Refusal | str]:
        note = self.body.notes.get(node)
        if self.named(node, "require"):
            yield self.refusal(node, self.code(node.args[0].value), when)
        elif self.named(node, "fail"):
            yield self.refusal(node, "", when)
        elif note is not None and note.role is not None and note.role.kind == "helper":
            yield note.role.name
        else:
            yield from self.go(node.func, when)

    def named(self, node: cst.Call, name: str) -> bool:
        return isinstance(node.func, cst.Name) and node.func.value == name

    def refusal(self, node: cst.Call, needs: str, when: tuple[str, ...]) -> Refusal:
        plain = [a.value for a in node.args if a.keyword is None]
        named = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
        at = 1 if self.named(node, "require") else 0
        message = plain[at] if len(plain) > at else named.get("message")
        rule = named.get("rule")
        cited = rule.raw_value if isinstance(rule, cst.SimpleString) else None
        text = "" if message is None else self.text(message)
        return Refusal(text, needs, when, cited, self.body.owner, self.line)

    def text(self, node: cst.BaseExpression) -> str:
        match node:
            case cst.SimpleString():
                return str(literal_value(node))
            case cst.ConcatenatedString(left=left, right=right):
                return self.text(left) + self.text(right)
            case cst.FormattedString(parts=parts):
                return "".join(map(self.part, parts))
        return self.inserted(node)

    def part(self, part: cst.BaseFormattedStringContent) -> str:
        if isinstance(part, cst.FormattedStringText):
            return part.value.replace("{{", "{").replace("}}", "}")
        assert isinstance(part, cst.FormattedStringExpression)
        form = "".join(p.value for p in part.format_spec or () if isinstance(p, cst.FormattedStringText))
        constant = self.constant(part.expression)
        if form and constant is not None:
            return formatted(constant, form)
        return self.inserted(part.expression)

    def constant(self, node: cst.BaseExpression) -> Constant | None:
        spec, note = self.checked.spec, self.body.notes.get(node)
        if spec is None or note is None or note.role is None or note.role.kind != "constant":
            return None
        return spec.constants[note.role.name]

    def inserted(self, node: cst.BaseExpression) -> str:
        constant = self.constant(node)
        if constant is not None:
            return constant_text(constant)
        return f"{{{self.code(node)}}}"

    def code(self, node: cst.BaseExpression) -> str:
        """Code on one line, without the parentheses and commas that only its layout needs."""
        return " ".join(self.body.module.code_for_node(node).split()).replace("( ", "(").replace(" )", ")")

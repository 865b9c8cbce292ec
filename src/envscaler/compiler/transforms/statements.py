"""Statements: guards on what is kept, copies of what is stored, failing statements, each with its line in the spec."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from envscaler.compiler.transforms import arithmetic, displays, failures, lookups, nodes, results
from envscaler.compiler.transforms.base import Case, Lowering
from envscaler.spec.types import ListOf

CASES = (
    Case("desk.notes = xs", '_state.desk.edit()["notes"] = _rt.copy(xs)', params="{xs: {list: str}}"),
    Case("# first\nx = 1  # why\nreturn x", "# first\nx = 1  # why\nreturn x"),
    Case(
        "x = 2\nx *= 3\nreturn x",
        "x = 2\nx = _rt.mul(x, 3)\nreturn x",
    ),
    Case(
        'return members.get(k) or fail("none")',
        '_found = _state.members.get(k)\nif _found is None:\n    raise _Failure("refused", "none")\nreturn out_member(_found)',
        params="{k: str}",
    ),
    Case(
        "member.balance -= 1.50",
        'member["balance"] -= 150',
        params="{member_id: {ref: members, as: member}}",
    ),
)


def before_keeping(low: Lowering, node: cst.Assign | cst.Return) -> None:
    if isinstance(node.value, cst.BooleanOperation) and low.is_role(node.value.right, "call", "fail"):
        low.whole.add(node.value)


def before_return(low: Lowering, node: cst.Return) -> None:
    before_keeping(low, node)
    displays.before_return(low, node)


def leave_assign(low: Lowering, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
    target, value = original.targets[0].target, updated.value
    if original.value in low.whole:
        return updated
    if isinstance(target, (cst.Attribute, cst.Subscript)):
        value = lookups.stored(low, original.value, value)
    return updated.with_changes(value=arithmetic.guarded(low, original.value, value))


def leave_aug_assign(low: Lowering, original: cst.AugAssign, updated: cst.AugAssign) -> cst.BaseSmallStatement:
    operator = arithmetic.symbol(original.operator)
    a, b = low.plain(original.target), low.plain(original.value)
    if isinstance(a, ListOf) and operator == "+":
        return cst.Expr(
            nodes.call("_rt.extend", _value(updated.target), lookups.stored(low, original.value, updated.value))
        )
    made = arithmetic.operation(operator, a, b, _value(updated.target), updated.value)
    function = "" if made is not None or operator in ("//", "%") else arithmetic.growth(a, low.loops > 0)
    if function and made is None:
        plain = _OPERATORS[operator]
        made = cst.BinaryOperation(_value(updated.target), plain, _operand(updated.value))
    if made is None:
        return updated
    return nodes.assign(updated.target, nodes.call(f"_rt.{function}", made) if function else made)


def _operand(value: cst.BaseExpression) -> cst.BaseExpression:
    return nodes.enclosed(value)


_OPERATORS: dict[str, cst.BaseBinaryOp] = {
    "+": cst.Add(), "-": cst.Subtract(), "*": cst.Multiply(), "/": cst.Divide(),
}  # fmt: skip


def _value(target: cst.BaseAssignTargetExpression) -> cst.BaseExpression:
    assert isinstance(target, cst.BaseExpression)
    return target


def leave_return(low: Lowering, original: cst.Return, updated: cst.Return) -> cst.Return:
    if original.value is None or updated.value is None or original.value in low.whole:
        return updated
    if low.kind in ("tool", "setup"):
        value = _broken(results.as_json(low, original.value, updated.value))
    else:
        value = arithmetic.guarded(low, original.value, updated.value)
    return updated.with_changes(value=value)


def _broken(value: cst.BaseExpression) -> cst.BaseExpression:
    """A long dict with an entry on each line."""
    if not isinstance(value, cst.Dict) or nodes.has_newline(value) or len(nodes.code(value)) <= _LONG:
        return value
    entries = [e for e in value.elements if isinstance(e, cst.DictElement)]
    return nodes.dict_display(entries, broken=True)


_LONG = 90  # characters of a result that still stands on one line


def lowered(
    low: Lowering, original: cst.BaseSmallStatement, updated: cst.BaseSmallStatement
) -> list[cst.BaseStatement]:
    """The statements that stand for one small statement."""
    match original, updated:
        case cst.Expr(value=cst.Call() as call), cst.Expr(value=cst.Call() as made):
            if low.is_role(call, "call", "require"):
                test = failures.negated(made.args[0].value)
                return [nodes.raise_if(test, failures.failure(made, 1))]
            if low.is_role(call, "call", "fail"):
                return [nodes.line(cst.Raise(failures.failure(made, 0)))]
        case cst.Expr(value=cst.Call() as call), cst.Expr(value=made) if low.kept and call in low.kept.plan.adds:
            return [nodes.line(nodes.assign(cst.Name(low.kept.plan.adds[call].name), made))]
        case cst.Assign(value=cst.BooleanOperation() as choice), cst.Assign(value=cst.BooleanOperation() as made) if (
            choice in low.whole
        ):
            return _or_fail(low, choice, made, updated.targets[0].target)
        case cst.Return(value=cst.BooleanOperation() as choice), cst.Return(value=cst.BooleanOperation() as made) if (
            choice in low.whole
        ):
            found = cst.Name("_found")
            result = results.in_json(low, low.type(choice), found) if low.kind in ("tool", "setup") else found
            return [*_or_fail(low, choice, made, found), nodes.line(updated.with_changes(value=result))]
        case cst.Return(), cst.Return(value=value) if low.kept is not None:
            return [nodes.line(nodes.assign(cst.Name("_value"), nodes.none() if value is None else value))]
    return [nodes.line(updated)]


def _or_fail(
    low: Lowering, choice: cst.BooleanOperation, made: cst.BooleanOperation, target: cst.BaseAssignTargetExpression
) -> list[cst.BaseStatement]:
    """`target = left`, and the failure if that is None."""
    assert isinstance(target, cst.BaseExpression)
    assert isinstance(made.right, cst.Call)
    left = nodes.enclosed(made.left) if nodes.has_newline(made.left) else made.left
    test = cst.Comparison(target, [cst.ComparisonTarget(cst.Is(), nodes.none())])
    failing = nodes.raise_if(test, failures.failure(made.right, 0))
    return [nodes.line(nodes.assign(target, left)), failing]


def statement_line(
    low: Lowering, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine, lines: dict[cst.CSTNode, int]
) -> Sequence[cst.BaseStatement]:
    """The statements that stand for a line, with its comments."""
    made: list[cst.BaseStatement] = []
    for before, after in zip(original.body, updated.body, strict=True):
        assert isinstance(after, cst.BaseSmallStatement)
        for statement in lowered(low, before, after):
            _mark(statement, low.body.statement_lines.get(before, 1), lines)
            made.append(statement)
    comments = [*updated.leading_lines, *_lost(low, original, made)]
    made[0] = _moved(made[0], made[0].with_changes(leading_lines=comments), lines)
    made[0] = _commented(made[0], updated.trailing_whitespace, lines)
    return made


def _commented(
    statement: cst.BaseStatement, trailing: cst.TrailingWhitespace, lines: dict[cst.CSTNode, int]
) -> cst.BaseStatement:
    if isinstance(statement, cst.SimpleStatementLine):
        return _moved(statement, statement.with_changes(trailing_whitespace=trailing), lines)
    assert isinstance(statement, cst.If)
    assert isinstance(statement.body, cst.IndentedBlock)
    return _moved(statement, statement.with_changes(body=statement.body.with_changes(header=trailing)), lines)


def _lost(low: Lowering, original: cst.SimpleStatementLine, made: list[cst.BaseStatement]) -> list[cst.EmptyLine]:
    """Comments inside a statement that its new form has no place for."""
    if "#" not in low.body.block.source or not any(map(nodes.has_newline, original.body)):
        return []
    within = [c for small in original.body for c in nodes.children(small) if isinstance(c, cst.Comment)]
    if not within:
        return []
    kept = {c.value for statement in made for c in nodes.children(statement) if isinstance(c, cst.Comment)}
    return [cst.EmptyLine(comment=c) for c in within if c.value not in kept]


def _mark(statement: cst.BaseStatement, number: int, lines: dict[cst.CSTNode, int]) -> None:
    lines[statement] = number
    if isinstance(statement, cst.If):
        for inner in statement.body.body:
            lines[inner] = number


def _moved(old: cst.BaseStatement, new: cst.BaseStatement, lines: dict[cst.CSTNode, int]) -> cst.BaseStatement:
    lines[new] = lines[old]
    return new


BEFORE = {cst.Assign: before_keeping, cst.Return: before_return}
HANDLERS = {cst.Assign: leave_assign, cst.AugAssign: leave_aug_assign, cst.Return: leave_return}

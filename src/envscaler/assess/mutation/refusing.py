"""Faults in how a spec refuses, and writes in tools that may not write."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from envscaler.assess.mutation.blocks import LogicBlock, one_line
from envscaler.assess.mutation.mutants import Edit, Site
from envscaler.spec.types import BOOL, FLOAT, INT, MONEY, NUMBER, STR, Type
from envscaler.trees import literal_value

__all__ = ["dropped_existence", "hidden_write", "missing_error", "wrong_error"]

_PLAIN = (BOOL, FLOAT, INT, MONEY, NUMBER, STR)


def wrong_error(block: LogicBlock) -> Iterator[Site]:
    """The message of another requirement of the block, or another rule cited, or none."""
    refusals = [n for n in block.nodes if block.calls(n, "require", "fail")]
    cited = [n for n, r in block.spec.rules.items() if not r.policy]
    for i, node in enumerate(refusals):
        assert isinstance(node, cst.Call)
        message, rule = _message(node), _argument(node, "rule")
        others = [m for n in refusals[i + 1 :] + refusals[:i] if isinstance(n, cst.Call) and (m := _message(n))]
        texts = [t for m in others if message is not None and (t := block.text(m)) != block.text(message)]
        if message is not None and texts:
            yield block.replace(message, texts[0], node)
        if rule is not None and isinstance(rule.value, cst.SimpleString):
            name = str(literal_value(rule.value))
            if len(cited) > 1 and name in cited:
                other = cited[(cited.index(name) + 1) % len(cited)]
                yield block.replace(rule.value, f'"{other}"', node)
            before = node.args[node.args.index(rule) - 1].value
            yield block.site(rule, (Edit(block.end(before), block.end(rule.value), ""),), node)


def missing_error(block: LogicBlock) -> Iterator[Site]:
    """A `fail` with its words after `or` is gone: what is missing is met with the words of the language, or not at all."""
    for node in block.nodes:
        if not isinstance(node, cst.BooleanOperation) or not block.calls(node.right, "fail"):
            continue
        left = node.left
        role = block.role(left)
        if isinstance(left, cst.Call) and role is not None and role.name in ("collection.get", "dict.get"):
            assert isinstance(left.func, cst.Attribute)
            new = f"{block.text(left.func.value)}[{block.text(left.args[0].value)}]"
        else:
            new = block.text(left)
        yield block.replace(node, new)


def dropped_existence(block: LogicBlock) -> Iterator[Site]:
    """A `require` that something is in the state is gone."""
    for node in block.nodes:
        if not isinstance(node, cst.Expr) or not block.calls(node.value, "require"):
            continue
        assert isinstance(node.value, cst.Call)
        condition = node.value.args[0].value
        exists = (
            isinstance(condition, cst.Comparison)
            and isinstance(condition.comparisons[0].operator, cst.In)
            and (role := block.role(condition.comparisons[0].comparator)) is not None
            and role.kind == "state"
        )
        site = block.removal(node) if exists else None
        if site is not None:
            yield site


def _message(call: cst.Call) -> cst.BaseExpression | None:
    place = 1 if isinstance(call.func, cst.Name) and call.func.value == "require" else 0
    plain = [a.value for a in call.args if a.keyword is None]
    return plain[place] if len(plain) > place else None


def _argument(call: cst.Call, name: str) -> cst.Arg | None:
    return next((a for a in call.args if a.keyword is not None and a.keyword.value == name), None)


def hidden_write(block: LogicBlock) -> Iterator[Site]:
    """A tool that may only read changes something before it looks: directly, or through a helper."""
    if not block.reads:
        return
    first = block.body.module.body[0]
    start = block.checked.source.rfind("\n", 0, block.start(first)) + 1
    margin = " " * (block.body.block.column - 1)
    for lines in (*_direct(block), *_through(block)):
        new = "".join(f"{margin}{line}\n" for line in lines)
        yield Site(block.line(first), block.owner, "(nothing)", one_line("; ".join(lines)), (Edit(start, start, new),))


def _direct(block: LogicBlock) -> Iterator[list[str]]:
    taken = {n.value for n in block.nodes if isinstance(n, cst.Name)} | set(block.scope(block.body.module.body[0]))
    for state in block.spec.states.values():
        field = next((f for f in state.record.fields.values() if f.type in _PLAIN and not f.absent), None)
        if field is None or state.name in taken:
            continue
        if state.single:
            yield [f"{state.name}.{field.name} = {_other(field.type, f'{state.name}.{field.name}')}"]
        elif "touched" not in taken:
            new = _other(field.type, f"touched.{field.name}")
            yield [f"for touched in {state.name}.values():", f"    touched.{field.name} = {new}"]
        return


def _through(block: LogicBlock) -> Iterator[list[str]]:
    for name, body in block.checked.helpers.items():
        effects = body.effects
        if (effects.writes or effects.adds or effects.removes) and not block.spec.helpers[name].params:
            yield [f"{name}()"]
            return


def _other(of: Type, old: str) -> str:
    return f"not {old}" if of == BOOL else f"{old}.upper()" if of == STR else f"{old} + 1"

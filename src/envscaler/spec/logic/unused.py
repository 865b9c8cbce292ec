"""What is declared and never used: locals, parameters, helpers, constants, types, rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envscaler.spec.logic.block import Block, World
from envscaler.spec.model import HelperDef, Spec, ToolDef
from envscaler.spec.types import DictOf, ListOf, Nullable, Partial, Struct, Type, Union

__all__ = ["report_unused"]


def report_unused(world: World, blocks: Iterable[Block]) -> None:
    """Warn of everything that nothing uses; skipped while there are errors, which hide uses."""
    if world.report.failed:
        return
    for block in blocks:
        _locals(block)
    spec = world.spec
    for name, constant in spec.constants.items():
        if ("constant", name) not in world.used and not _in_prose(spec, name):
            world.report.warning(
                "unused",
                constant.span,
                f"The constant {name} is never used.",
                fix="remove it, or name it in prose as {" + name + "}",
            )
    for name, helper in spec.helpers.items():
        if ("helper", name) not in world.used:
            world.report.warning("unused", helper.span, f"The helper {name} is never called.", fix="remove it")
    for name, rule in spec.rules.items():
        enforced = rule.holds is not None or rule.moves is not None or rule.policy
        if not enforced and ("rule", name) not in world.used:
            world.report.warning("unused", rule.span, f"The rule {name} is neither enforced nor cited.",
                                 fix=f'cite it: require(…, rule="{name}"), or say `policy: true`')  # fmt: skip
    _types(world)


def _locals(block: Block) -> None:
    for name, node in block.locals_bound.items():
        if name not in block.locals_used:
            block.say("unused", node, f"`{name}` is never used.", fix="remove it", severity="warning")


def _types(world: World) -> None:
    spec = world.spec
    reached: set[int] = set()
    for of in _declared_places(spec):
        _reach(of, reached)
    for name, of in spec.types.items():
        if ("type", name) not in world.used and id(of) not in reached:
            world.report.warning("unused", _type_span(of, spec), f"The type {name} is never used.", fix="remove it")


def _type_span(of: Type, spec: Spec):  # type: ignore[no-untyped-def]
    fields = list(of.fields.values()) if isinstance(of, Struct) else []
    return fields[0].span if fields else next(iter(spec.tools.values())).span


def _declared_places(spec: Spec) -> Iterator[Type]:
    for state in spec.states.values():
        yield state.record
    for constant in spec.constants.values():
        yield constant.type
    definitions: list[HelperDef | ToolDef] = [*spec.helpers.values(), *spec.setup.values(), *spec.tools.values()]
    for definition in definitions:
        yield from (p.field.type for p in definition.params)
        if definition.returns is not None:
            yield definition.returns


def _reach(of: Type, reached: set[int]) -> None:
    if id(of) in reached:
        return
    reached.add(id(of))
    match of:
        case Struct(fields=fields):
            for field in fields.values():
                _reach(field.type, reached)
        case Union(members=members):
            for member in members:
                _reach(member, reached)
        case ListOf(item=inner) | Nullable(of=inner) | Partial(of=inner):
            _reach(inner, reached)
        case DictOf(value=value, key=key):
            _reach(value, reached)
            _reach(key, reached)
        case _:
            pass


def _in_prose(spec: Spec, name: str) -> bool:
    """Whether `{NAME}` stands in any prose of the spec."""
    return "{" + name + "}" in spec.source or "{" + name + ":" in spec.source

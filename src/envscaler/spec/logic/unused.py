"""What is declared and never used: locals, parameters, helpers, constants, types, rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envscaler.spec.logic.block import Block, World
from envscaler.spec.model import HelperDef, Spec, ToolDef
from envscaler.spec.types import DictOf, Key, ListOf, Nullable, Partial, Struct, Type, Union

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
                f"the constant {name} is never used",
                help="remove it, or name it in prose as {" + name + "}",
            )
    for name, helper in spec.helpers.items():
        if ("helper", name) not in world.used:
            world.report.warning("unused", helper.span, f"the helper {name} is never called", help="remove it")
    for name, rule in spec.rules.items():
        enforced = rule.holds is not None or rule.moves is not None or rule.policy
        if not enforced and ("rule", name) not in world.used:
            world.report.warning("unused", rule.span, f"the rule {name} is neither enforced nor cited",
                                 help=f'cite it: require(…, rule="{name}"), or say `policy: true`')  # fmt: skip
    _states(world)
    _types(world)


def _locals(block: Block) -> None:
    for name, node in block.locals_bound.items():
        if name not in block.locals_used and not block.unreached:
            block.say("unused", node, f"'{name}' is never used", fix="remove it", severity="warning")
    for name, span in block.records.items():
        if name not in block.locals_used:
            block.world.report.warning(
                "unused", span, f"the record '{name}' is never used", help=f"remove 'as: {name}'"
            )


def _states(world: World) -> None:
    referred = {of.collection for place in _declared_places(world.spec) for of in _refs(place)}
    for name, state in world.spec.states.items():
        if ("state", name) not in world.used and name not in referred:
            world.report.warning(
                "unused", state.span, f"the state {name} is never used", help="remove it, or give it a tool"
            )


def _refs(of: Type) -> Iterator[Key]:
    """References to collections anywhere in a type."""
    match of:
        case Key():
            yield of
        case Struct(fields=fields):
            for field in fields.values():
                yield from _refs(field.type)
        case Union(members=members):
            for member in members:
                yield from _refs(member)
        case ListOf(item=inner) | Nullable(of=inner) | Partial(of=inner):
            yield from _refs(inner)
        case DictOf(value=value, key=key):
            yield from _refs(value)
            yield from _refs(key)
        case _:
            return


def _types(world: World) -> None:
    spec = world.spec
    reached: set[int] = set()
    for of in _declared_places(spec):
        _reach(of, reached)
    for name, of in spec.types.items():
        if ("type", name) not in world.used and id(of) not in reached:
            world.report.warning("unused", spec.type_spans[name], f"the type {name} is never used", help="remove it")


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

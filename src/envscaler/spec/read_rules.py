"""Constants and rules."""

from __future__ import annotations

from collections.abc import Mapping

from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, Entries, json_of
from envscaler.spec.model import Constant, RuleDef, StateDef, Text
from envscaler.spec.names import named_entries
from envscaler.spec.read_types import TypeReader
from envscaler.spec.report import short
from envscaler.spec.scalars import NotA
from envscaler.spec.types import ANY, BOOL, FLOAT, INT, NEVER, STR, DictOf, Enum, ListOf, Type, strip_null
from envscaler.spec.values import BAD, Converter, Where

__all__ = ["read_constants", "read_rules"]


def read_constants(context: Context, types: TypeReader, declared: y.Mapping | None) -> dict[str, Constant]:
    """The constants by name."""
    for name, entry in named_entries(declared, "constant", "a constant", context.report):
        if context.claim(entry.key, "a constant"):
            context.constants[name] = _constant(context, types, name, entry)
    return context.constants


def _constant(context: Context, types: TypeReader, name: str, entry: y.Entry) -> Constant:
    where = f"constant {name!r}"
    node = entry.value
    if isinstance(node, y.Mapping) and not _is_data(node):
        entries = Entries(context, node, "constant", where, entry.key.span)
        entries.prose("description")
        of_entry, value = entries.get("type"), entries.get("value")
        of = types.expression(of_entry.value, where) if of_entry else NEVER
        if value is None:
            return Constant(name, of, None, entry.key.span)
        node = value.value
    elif isinstance(node, y.Scalar) and node.is_null:
        context.report.error("null-value", entry.key.span, f"{where} has no value", "expected its value")
        return Constant(name, NEVER, None, entry.key.span)
    else:
        of = _guess(node)
    value_of = Converter(context, "internal").value(node, of, Where(name))
    return Constant(name, of, None if value_of is BAD else value_of, entry.key.span)


def _is_data(node: y.Mapping) -> bool:
    """Whether the mapping is the constant's value itself: a table, whose type is inferred."""
    return bool(node.entries) and not {"type", "value"} & node.entries.keys()


def _guess(node: y.Node) -> Type:
    """The type of a value that stands without one."""
    if isinstance(node, y.Sequence):
        return ListOf(_common([_guess(item) for item in node.items]))
    if isinstance(node, y.Mapping):
        return DictOf(_common([_guess(e.value) for e in node.entries.values()]))
    try:
        value = json_of(node)
    except NotA:
        return INT  # digits beyond bounds; converting says so
    kinds: dict[type, Type] = {bool: BOOL, int: INT, float: FLOAT, str: STR}
    return kinds.get(type(value), ANY)


def _common(types: list[Type]) -> Type:
    if types and all(t == types[0] for t in types):
        return types[0]
    return FLOAT if types and all(t in (INT, FLOAT) for t in types) else ANY


def read_rules(context: Context, states: Mapping[str, StateDef], declared: y.Mapping | None) -> dict[str, RuleDef]:
    """The rules by name."""
    found = {}
    for name, entry in named_entries(declared, "lower", "a rule", context.report, reserved=()):
        entries = Entries.of(context, entry, "rule", f"rule {name!r}")
        if entries:
            found[name] = _rule(context, states, name, entries)
    return found


def _rule(context: Context, states: Mapping[str, StateDef], name: str, entries: Entries) -> RuleDef:
    kinds = [k for k in ("holds", "moves", "policy") if entries.has(k) and (k != "policy" or entries.flag("policy"))]
    if len(kinds) > 1:
        context.report.error(
            "conflicting-keys",
            entries.key_span(kinds[1]),
            f"{entries.where} has both {kinds[0]!r} and {kinds[1]!r}",
            "a rule is at most one of: holds, moves, policy",
            "split it into two rules",
        )
    for extra, needs in (("each", "holds"), ("field", "moves"), ("moves", "field")):
        if entries.has(extra) and not entries.has(needs):
            context.report.error(
                "missing-key",
                entries.key_span(extra),
                f"{entries.where} has {extra!r} without {needs!r}",
                f"{extra!r} goes with {needs!r}",
            )
    text = entries.prose("text")
    each = _each(context, states, entries)
    place = _field(context, states, entries)
    moves = _moves(context, states, entries, place) if place else None
    return RuleDef(
        name,
        text or Text("", entries.span),
        each,
        entries.block("holds"),
        place,
        moves,
        entries.flag("policy"),
        entries.span,
    )


def _each(context: Context, states: Mapping[str, StateDef], entries: Entries) -> str | None:
    node = entries.scalar("each", "the name of a state")
    if node is None:
        return None
    if node.text not in states and node.text not in context.keys:
        context.report.unknown(
            "unknown-state",
            node.span,
            f"{entries.where}: there is no state {short(node.text)}",
            node.text,
            list(states),
            "states",
        )
    return node.text


def _field(context: Context, states: Mapping[str, StateDef], entries: Entries) -> tuple[str, str] | None:
    node = entries.scalar("field", "state.field")
    if node is None:
        return None
    state, dot, name = node.text.partition(".")
    if not dot:
        context.report.error(
            "bad-value",
            node.span,
            f"{entries.where}: {short(node.text)} is no field of a state",
            "expected state.field",
        )
        return None
    if state not in states:
        if state not in context.keys:
            context.report.unknown(
                "unknown-state",
                node.span,
                f"{entries.where}: there is no state {short(state)}",
                state,
                list(states),
                "states",
            )
        return None
    fields = states[state].record.fields
    if name not in fields:
        context.report.unknown(
            "unknown-field",
            node.span,
            f"{entries.where}: {states[state].record.name} has no field {short(name)}",
            name,
            list(fields),
            "fields",
        )
        return None
    return state, name


def _moves(
    context: Context, states: Mapping[str, StateDef], entries: Entries, place: tuple[str, str]
) -> dict[str, tuple[str, ...]] | None:
    of = strip_null(states[place[0]].record.fields[place[1]].type)
    mapping = entries.mapping("moves")
    if mapping is None or of is NEVER:
        return None
    if not isinstance(of, Enum) or not all(isinstance(v, str) for v in of.values):
        context.report.error(
            "bad-moves",
            entries.node.entries["field"].value.span,
            f"{entries.where}: {'.'.join(place)} is {of}",
            "expected an enum of texts",
        )
        return None
    members = [str(v) for v in of.values]
    moves = {}
    for source, entry in mapping.entries.items():
        _member(context, entries, entry.key, members)
        if not isinstance(entry.value, y.Sequence):
            context.report.error(
                "wrong-kind",
                entry.key.span,
                f"{entries.where}: the moves from {short(source)} are a list",
                help=f"{source}: [{', '.join(m for m in members if m != source)[:60]}], or [] when it is final",
            )
            continue
        targets = [t for t in entry.value.items if isinstance(t, y.Scalar)]
        moves[source] = tuple(t.text for t in targets if _member(context, entries, t, members))
    if missing := [m for m in members if m not in mapping.entries]:
        context.report.error(
            "bad-moves",
            entries.key_span("moves"),
            f"{entries.where} says nothing of {', '.join(missing[:8])}",
            "each member stands as a source",
            f"{missing[0]}: [] when it is final",
        )
    return moves


def _member(context: Context, entries: Entries, node: y.Scalar, members: list[str]) -> bool:
    if node.text in members:
        return True
    if node.style != "broken":
        context.report.unknown(
            "bad-moves",
            node.span,
            f"{entries.where}: {short(node.text)} is no member of the enum",
            node.text,
            members,
            "members",
        )
    return False

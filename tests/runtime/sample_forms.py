"""A made-up world with every form of state: nested tree, list, whole-number keys, flat single, drawn keys, any values."""

from __future__ import annotations

from typing import Any

from envscaler.runtime import MISSING, Collection, Environment, Failure, Rule, Single, State, Tool
from envscaler.runtime import builtins as rt
from envscaler.runtime import shapes as s

NODE = s.Struct(
    "Node",
    (
        s.Field("kind", s.Enum(("file", "directory")), json="type"),
        s.Field("parent", s.Nullable(s.Ref("nodes")), default=None),
        s.Field("name", s.STR),
        s.Field("content", s.STR, absent=True),
    ),
    key=s.Key("node_id", make="N-{n}"),
)
ITEM = s.Struct(
    "Item",
    (
        s.Field("sku", s.STR, max_length=8, pattern="^[a-z]*$"),
        s.Field("tags", s.DictOf(s.Ref("nodes"), key=s.Enum(("a", "b"))), default={}),
        s.Field("extra", s.ANY, default=None),
        s.Field("size", s.NUMBER, default=1),
        s.Field("at", s.Nullable(s.DATETIME), default=None),
        s.Field("zone", s.ZONE, default="UTC"),
        s.Field("hour", s.TIME, default="09:00:00"),
        s.Field("group", s.Nullable(s.INT), absent=True, json="GROUP(1)"),
    ),
    key=s.Key("number", of=s.INT, make="{n}", in_record=True, json="no"),
)
SLOT = s.Struct(
    "Slot",
    (
        s.Field("row", s.INT),
        s.Field("seat", s.Nullable(s.INT), default=None),
        s.Field("item", s.Nullable(s.Ref("items", s.INT)), default=None),
    ),
    key=s.Key("slot", make="{hex:6}"),
)
TOP = s.Struct(
    "Top",
    (
        s.Field("cursor", s.Nullable(s.Ref("nodes")), default=None),
        s.Field("wifi", s.BOOL),
        s.Field("log", s.ListOf(s.ANY), default=[]),
    ),
)
STATES = (
    s.Collection("nodes", NODE, tree=s.Tree("parent", "name", nested="contents")),
    s.Collection("items", ITEM, unique=(("sku",),)),
    s.Collection("slots", SLOT, unique=(("row", "seat"),), form="list"),
    s.Single("top", TOP, form="flat"),
)


class FormsState(State):
    __slots__ = ("items", "nodes", "slots", "top")

    nodes: Collection
    items: Collection
    slots: Collection
    top: Single


def check_nodes(_state: FormsState, key: Any, old: Any, new: Any) -> None:
    if new is None:
        _state._require_unreferred("nodes", key)
    else:
        _state.nodes.require_tree(key, old, new)


def check_items(_state: FormsState, key: Any, old: Any, new: Any) -> None:
    if new is None:
        _state._require_unreferred("items", key)
        return
    for field in ("sku", "tags", "size", "group"):
        _state._require_valid("items", key, field, new)
    _state.items.require_unique(("sku",), key, new)


def check_slots(_state: FormsState, key: Any, old: Any, new: Any) -> None:
    if new is not None:
        _state._require_valid("slots", key, "item", new)
        _state.slots.require_unique(("row", "seat"), key, new)
        _state._mark("few", None)


def check_top(_state: FormsState, key: Any, old: Any, new: Any) -> None:
    _state._require_valid("top", None, "cursor", new)


def rule_few(_state: FormsState) -> bool:
    return len(_state.slots) <= 6


def set_field(
    _state: FormsState, where: Any = MISSING, key: Any = MISSING, field: Any = MISSING, value: Any = MISSING
) -> Any:
    part = getattr(_state, where)
    record = part.edit() if isinstance(part, Single) else part.edit(key)
    if value is MISSING:
        record.pop(field, None)
    else:
        record[field] = rt.copy(value)


def add(_state: FormsState, where: Any = MISSING, record: Any = MISSING, key: Any = None) -> Any:
    part = getattr(_state, where)
    return part.add({part.key_name: key, **rt.copy(record)}, key)[part.key_name]


def remove(_state: FormsState, where: Any = MISSING, keys: Any = MISSING, then: Any = "") -> Any:
    for key in keys:
        getattr(_state, where).remove(key)
    if then == "fail":
        raise Failure("refused", "no")
    if then == "again":
        old = keys[-1]
        add(_state, where, {"row": 90, "seat": None, "item": None}, old)


def walk(_state: FormsState, key: Any = MISSING) -> Any:
    return [rt.path(_state.nodes, n["node_id"]) for n in rt.walk(_state.nodes, key)]


def nest(_state: FormsState, key: Any = MISSING, value: Any = MISSING) -> Any:
    """Move a node, and say what its new parent holds while the call is still going on."""
    _state.nodes.edit(key)["parent"] = value
    made = add(_state, "nodes", {"kind": "file", "parent": value, "name": "new"})
    _state.nodes.edit(made)["name"] = "newer"
    names = [n["name"] for n in rt.children(_state.nodes, value)]
    return [names, rt.child(_state.nodes, value, "new"), rt.child(_state.nodes, value, "newer")["node_id"]]


_any = s.params(*(s.Field(n, s.ANY) for n in ("where", "key", "field", "value", "record", "keys", "then")))


class Forms(Environment):
    __slots__ = ()

    name = "forms"
    states = STATES
    state_class = FormsState
    checks = {"nodes": check_nodes, "items": check_items, "slots": check_slots, "top": check_top}
    rules = (Rule("few", "There are at most 6 slots.", run=rule_few),)
    tool_table = (
        Tool("set", set_field, params=_any),
        Tool("add", add, params=_any),
        Tool("remove", remove, params=_any),
        Tool("nest", nest, params=_any),
        Tool("walk", walk, "read", params=_any),
    )
    initial_state = {
        "nodes": {
            "home": {
                "type": "directory",
                "contents": {
                    "a.txt": {"type": "file", "content": "A"},
                    "docs": {"type": "directory", "contents": {"b.txt": {"type": "file", "content": "B"}}},
                    "empty": {"type": "directory", "contents": {}},
                },
            },
            "tmp": {"type": "directory", "contents": {}},
        },
        "items": {
            "7": {
                "no": 7,
                "sku": "abc",
                "tags": {"a": "N-1"},
                "extra": {"x": [1, None, True]},
                "size": 2.5,
                "at": None,
                "zone": "UTC",
                "hour": "09:00:00",
            },
            "3": {
                "no": 3,
                "sku": "xyz",
                "tags": {},
                "extra": 1,
                "size": 3,
                "at": "2030-01-01T00:00:00Z",
                "zone": "Europe/Paris",
                "hour": "23:59:59",
                "GROUP(1)": None,
            },
        },
        "slots": [
            {"slot": "00aa00", "row": 1, "seat": 1, "item": 7},
            {"slot": "00bb00", "row": 1, "seat": 2, "item": None},
            {"slot": "00cc00", "row": 2, "seat": None, "item": None},
        ],
        "cursor": "N-3",
        "wifi": True,
        "log": [],
    }

"""The mapping forms of the language as tables: what the reader accepts, the JSON Schema offers and the reference prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["ATTRIBUTES", "FORMS", "LIKES", "NAME_KINDS", "SCALARS", "TYPE_KEYS", "Form", "FormKey", "Kind", "form"]

Kind = Literal[
    "prose",  # text for people and agents; {CONSTANT} stands for a constant's value
    "message",  # prose of a failure; {param} stands for an argument, too
    "text",  # text taken as it is
    "name",  # one name, of the kind in `of`
    "names",  # a list of names
    "int", "bool",
    "choice",  # one of `choices`
    "type",  # a type expression
    "types",  # a list of type names
    "value",  # data, typed by its place
    "values",  # a list of plain values
    "json",  # any JSON
    "block",  # a literal block of logic
    "form",  # a mapping of the form `of`
    "map",  # names to mappings of the form `of`
    "list",  # a list of mappings of the form `of`
    "unique",  # a list of lists of field names
    "moves",  # member to list of members
    "state",  # initial data
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FormKey:
    """One key of a form. ``of`` names a form or a kind of name; ``null`` says that null is a value here."""

    key: str
    kind: Kind
    doc: str
    required: bool = False
    of: str = ""
    choices: tuple[str, ...] = ()
    null: bool = False
    default: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """A mapping of the language: ``what`` is how messages call one, ``short`` what may stand instead of the mapping."""

    name: str
    what: str
    doc: str
    keys: tuple[FormKey, ...]
    short: tuple[Kind, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The allowed keys, in the order of the reference."""
        return tuple(k.key for k in self.keys)


SCALARS: Final = {
    "str": "text", "int": "a whole number below 2**53", "float": "a number, kept as float",
    "number": "a number, int or float as given", "bool": "true or false",
    "money": "an amount with two decimals, exact", "date": "2030-03-04", "time": "09:00 or 09:00:00",
    "datetime": "2030-03-04T09:00:00Z, or without Z when the clock has none", "zone": "Europe/Lisbon",
    "any": "any JSON value; the checker's report names each use",
}  # fmt: skip

NAME_KINDS: Final = {
    "lower": "a lower-case name: letters, digits and _, a letter first",
    "tool": "a tool's name: letters, digits and _, a small letter first",
    "type": "a type's name: a capital first, then letters and digits",
    "constant": "a constant's name: capitals, digits and _, a letter first",
}

LIKES: Final = (
    "address", "city", "color", "company", "country", "description", "email", "first_name", "iban", "ip", "job",
    "last_name", "name", "phone", "postcode", "product", "sentence", "state", "street", "text", "title", "url",
    "username", "word",
)  # fmt: skip

_TYPE = (
    FormKey("type", "type", "a scalar, a named type, either with `?` for nullable"),
    FormKey("ref", "name", "the key of a record of this collection", of="lower"),
    FormKey("list", "type", "a list of this type"),
    FormKey("dict", "type", "a mapping from text to this type"),
    FormKey("key", "type", "with `dict`: the type of its keys: str, int, an enum of texts or a ref", default="str"),
    FormKey("enum", "values", "one of these texts or whole numbers"),
    FormKey("const", "value", "exactly this value; the tag of a union's member"),
    FormKey("union", "types", "one of these types, told apart by `tag`"),
    FormKey("tag", "name", "with `union`: the field that is a different `const` in each member", of="lower"),
    FormKey("partial", "type", "some of the fields of this type, for update parameters"),
    FormKey("null", "bool", "true: null is allowed, as `T?`", default="false"),
)
TYPE_KEYS: Final = tuple(k.key for k in _TYPE)
_MAIN_TYPE_KEYS = ("type", "ref", "list", "dict", "enum", "const", "union", "partial")

_ATTRIBUTES = (
    FormKey("description", "prose", "what it is, for people and agents"),
    FormKey("default", "value", "the value when none is given; a nullable one has null", null=True),
    FormKey("json", "text", "the name outside, where it cannot be a name of the language (`from`, `MA(5)`)"),
    FormKey("ge", "value", "at least this (numbers, money, dates, times)"),
    FormKey("gt", "value", "more than this"),
    FormKey("le", "value", "at most this"),
    FormKey("lt", "value", "less than this"),
    FormKey("min_length", "int", "least number of characters or elements"),
    FormKey("max_length", "int", "greatest number of characters or elements"),
    FormKey("pattern", "text", "what the whole text matches; see the reference for the allowed expressions"),
    FormKey("like", "choice", "what invented values look like", choices=LIKES),
)
_FIELD_ONLY = (
    FormKey("absent", "bool", "true: may be missing, which differs from null", default="false"),
    FormKey("unique", "bool", "true: no two records share the value (fields of collections)", default="false"),
    FormKey("incidental", "bool", "true: scoring does not look at it (fields of records)", default="false"),
)
_PARAM_ONLY = (
    FormKey("as", "name", "with `ref`: the name that the record is bound to", of="lower"),
    FormKey(
        "missing",
        "message",
        "with `ref`, or a list of it: the message when no record has the key; `{param}` is the key",
    ),
)
ATTRIBUTES: Final = tuple(k.key for k in (*_ATTRIBUTES, *_FIELD_ONLY, *_PARAM_ONLY))

_CALLABLE = (
    FormKey("description", "prose", "what it does"),
    FormKey("params", "map", "parameters by name", of="param"),
    FormKey("returns", "type", "the type of the result; inferred when left out"),
    FormKey("do", "block", "the logic", required=True),
)

_FORMS = (
    Form("spec", "a spec", "One file: one environment.", (
        FormKey("envscaler", "int", "version of the language: 1", required=True),
        FormKey("name", "name", "the environment's name; gives the class its own", required=True, of="lower"),
        FormKey("version", "text", "version of the spec", default="0.1.0"),
        FormKey("title", "text", "the name for people", default="from `name`"),
        FormKey("description", "prose", "what the agent is told first"),
        FormKey("clock", "text", "the episode's `now`; with Z or offset all datetimes have one, else none",
                default="2030-01-01T00:00:00Z"),
        FormKey("arguments", "choice", "how arguments of the wrong JSON type are taken", choices=("lenient", "strict"),
                default="lenient"),
        FormKey("errors", "json", "the JSON an agent sees of a failure; {message} in its texts"),
        FormKey("unknown_tool", "message", "the message when no tool has the called {name}", default="chosen by the runtime"),
        FormKey("constants", "map", "values that logic and prose share", of="constant"),
        FormKey("types", "map", "named types", of="type"),
        FormKey("states", "map", "what the environment keeps: collections and single records", of="state"),
        FormKey("rules", "map", "what always holds, how fields move, what the agent must heed", of="rule"),
        FormKey("helpers", "map", "logic that tools share", of="helper"),
        FormKey("tools", "map", "what can be called", required=True, of="tool"),
        FormKey("after_each", "names", "helpers that run after each call that changed something", of="lower"),
        FormKey("setup", "map", "like helpers, called by scenarios only", of="helper"),
        FormKey("initial_state", "state", "the default state, or {file: …} inside the spec's folder"),
    )),
    Form("constant", "a constant", "A value, or a type with a value.", (
        FormKey("type", "type", "its type", required=True),
        FormKey("value", "value", "its value", required=True),
        FormKey("description", "prose", "what it is"),
    ), short=("value",)),
    Form("type", "a type", "A type form, or `fields` for a structure.", (
        *_TYPE,
        FormKey("fields", "map", "a structure's fields by name", of="field"),
        FormKey("description", "prose", "what it is"),
    ), short=("type",)),
    Form("field", "a field", "A type, or a type form with attributes beside.",
         (*_TYPE, *_ATTRIBUTES, *_FIELD_ONLY), short=("type",)),
    Form("param", "a parameter", "A type, or a type form with attributes beside.",
         (*_TYPE, *_ATTRIBUTES, *_PARAM_ONLY), short=("type",)),
    Form("state", "a state", "A collection addressed by its key, or a single record.", (
        FormKey("record", "name", "the name of its record type", required=True, of="type"),
        FormKey("key", "form", "how records are addressed; required unless single", of="key"),
        FormKey("fields", "map", "the record's fields by name", required=True, of="field"),
        FormKey("single", "bool", "true: one record, no key", default="false"),
        FormKey("unique", "unique", "lists of fields whose values together are unique: [[parent, name]]"),
        FormKey("tree", "form", "the collection is a tree", of="tree"),
        FormKey("form", "choice", "the JSON form: map by key, list of records with their key inside, or flat: a single"
                " record's fields at the top", choices=("map", "list", "flat"), default="map"),
        FormKey("description", "prose", "what it is"),
    )),
    Form("key", "a key", "How a collection's records are addressed.", (
        FormKey("name", "name", "the name by which a record knows its key", required=True, of="lower"),
        FormKey("type", "choice", "str or int", choices=("str", "int"), default="str"),
        FormKey("make", "text", "how keys are made: M-{n:04d} counts, {hex:8} is seeded; else `add` is given the key"),
        FormKey("in_record", "bool", "whether records repeat their key: true in the state and in results, false in neither",
            default="in results only"),
        FormKey("json", "text", "the key's name in a record's JSON", default="its name"),
    )),
    Form("tree", "a tree", "A collection whose records have a parent.", (
        FormKey("parent", "name", "the field `{ref: <this collection>, null: true}`", required=True, of="lower"),
        FormKey("name", "name", "the text field that is unique among siblings", required=True, of="lower"),
        FormKey("nested", "text", "the JSON key under which children nest; flat when left out"),
    )),
    Form("rule", "a rule", "A text with at most one of: holds, moves, policy; with none a `require` cites it.", (
        FormKey("text", "prose", "what the agent is told", required=True),
        FormKey("each", "name", "with `holds`: the state for each of whose records, `it`, it holds", of="lower"),
        FormKey("holds", "block", "a condition that is true before and after every call"),
        FormKey("field", "text", "with `moves`: state.field, an enum"),
        FormKey("moves", "moves", "from each member, the members it may become"),
        FormKey("policy", "bool", "true: told to the agent, not enforced by code", default="false"),
    )),
    Form("helper", "a helper", "Logic that others call by name.", _CALLABLE),
    Form("tool", "a tool", "What can be called from outside.", (
        FormKey("kind", "choice", "read changes nothing, write may", required=True, choices=("read", "write")),
        FormKey("actor", "choice", "whose tool it is", choices=("agent", "user"), default="agent"),
        *_CALLABLE,
        FormKey("errors", "json", "the JSON shape of this tool's failures; {message} in its texts"),
        FormKey("examples", "list", "calls with what must come out; each starts from the initial state", of="example"),
    )),
    Form("example", "an example", "A call from the initial state and seed 0, with what must come out.", (
        FormKey("call", "value", "the arguments", required=True),
        FormKey("given", "value", "changes to the initial state: state, key, field; null removes a record"),
        FormKey("at", "text", "the episode's `now`", default="the clock"),
        FormKey("returns", "value", "the result", null=True),
        FormKey("error", "text", "the message of the failure"),
        FormKey("rule", "text", "the rule that the failure names"),
        FormKey("then", "value", "fields after the call: state, key, field; null: no such record"),
    )),
    Form("file", "a file of data", "The default state in a file of its own.", (
        FormKey("file", "text", "path of a .json or .yaml file, relative to the spec and inside its folder", required=True),
    )),
)  # fmt: skip

FORMS: Final = {f.name: f for f in _FORMS}


def form(name: str) -> Form:
    """The form of that name."""
    return FORMS[name]

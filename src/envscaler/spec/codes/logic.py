"""The codes of the logic checker, each with its reason and a bad and a good snippet."""

from __future__ import annotations

from envscaler.spec.codes.base import Code

__all__ = ["LOGIC"]

_SHOP = """\
types:
  Size: {enum: [small, large]}
  Cash: {fields: {by: {const: cash}}}
  Card: {fields: {by: {const: card}, last_four: str}}
  Payment: {union: [Cash, Card], tag: by}
states:
  items:
    record: Item
    key: {name: item_id, make: "I-{n:03d}"}
    fields:
      title: str
      size: Size
      price: money
      note: str?
      tags: {list: str, default: []}
      sold: {type: date, absent: true}
      paid: {type: Payment, default: {by: cash}}
"""


def _tool(body: str, kind: str = "write", params: str = "{item_id: {ref: items, as: item}}", more: str = "") -> str:
    """A snippet: the small shop with one tool."""
    lines = "\n".join("      " + line for line in body.strip("\n").splitlines())
    return f"{_SHOP}{more}tools:\n  act:\n    kind: {kind}\n    description: Do it.\n    params: {params}\n    do: |\n{lines}\n"


def _code(name: str, title: str, why: str, bad: str, good: str, **places: str) -> Code:
    return Code(name, title, why, _tool(bad, **places), _tool(good, **places))


_HELPER = "helpers:\n  same:\n    params: {n: int}\n    do: |\n      return "
_RULE = "rules:\n  cheap:\n    text: An item is cheap.\n    each: items\n    holds: |\n      "

_RENAME = _tool('item.title = "a"').removeprefix(_SHOP)

LOGIC = (
    _code("logic-syntax", "Logic that does not parse",
          "Logic is Python's expressions and a few of its statements; this is not valid Python.",
          'item.title = "a', 'item.title = "a"'),
    _code("logic-too-large", "Logic beyond the limits of size and depth",
          "Blocks are bounded (16 KB, brackets 30 deep) so that no parser can be overrun by a hostile file.",
          "item.title = " + "(" * 40 + '"a"' + ")" * 40, 'item.title = "a"'),
    _code("forbidden-syntax", "A construct the language does not have",
          "Only what always ends and cannot reach outside of the state is in the language: no while, import, def, class, try.",
          "while True:\n    item.title = \"x\"", "for tag in item.tags:\n    item.title = tag"),
    _code("forbidden-name", "A name that begins with an underscore",
          "Names and attributes with a leading underscore lead to the insides of Python; they are refused everywhere.",
          "return item.title.__class__", "item.title = \"x\"\nreturn item.title"),
    Code("not-an-expression", "Statements where a condition is wanted",
         "`holds` is one condition. Put steps into a helper and call it.",
         _SHOP + _RULE + "return it.price <= 10\n", _SHOP + _RULE + "it.price <= 10\n"),
    _code("number-too-large", "A whole number beyond 2**53",
          "Larger numbers do not survive JSON in every language that reads it.",
          "return 9007199254740993", "item.title = \"x\"\nreturn 9007199254740991"),
    _code("unknown-name", "A name that nothing has",
          "Names are locals, parameters, constants, states, and the clock's `now` and `today`.",
          "itm.title = \"x\"", "item.title = \"x\""),
    _code("unknown-function", "A function that does not exist",
          "Calls reach built-ins, helpers and the constructors of declared struct types.",
          "item.title = lenght(item.tags)", "item.title = f\"{len(item.tags)}\""),
    _code("unknown-method", "A method that does not exist",
          "Texts, lists, dicts and collections have the methods of the reference, by their Python names.",
          "item.tags.push(\"x\")", "item.tags.append(\"x\")"),
    _code("unknown-field", "A field that is not declared",
          "A record has the fields its state declares, and its key.",
          "item.titel = \"x\"", "item.title = \"x\""),
    _code("unknown-member", "A value that is no member of the enum",
          "An enum is compared with and set to its members only, so that a slip is not silently false.",
          "require(item.size == \"tiny\", \"Too large.\")\nitem.title = \"x\"",
          "require(item.size == \"small\", \"Too large.\")\nitem.title = \"x\""),
    _code("unknown-rule", "A citation of a rule that is not declared",
          "`rule=` names the rule that an error enforces; documentation shows them together.",
          "require(item.price > 0, \"Free.\", rule=\"fre\")\nitem.title = \"x\"",
          "require(item.price > 0, \"Free.\", rule=\"free\")\nitem.title = \"x\"",
          more="rules:\n  free: {text: Free items are not sold.}\n"),
    _code("wrong-arguments", "Arguments that a function does not take",
          "Functions, helpers and constructors are called with the arguments they declare.",
          "item.title = item.title.replace(\"a\")", "item.title = item.title.replace(\"a\", \"b\")"),
    _code("wrong-type", "A value of a type that does not fit its place",
          "Every place has a declared or inferred type; nothing is converted silently except literals.",
          "item.price = len(item.tags)", "item.price = money(len(item.tags))"),
    _code("not-bool", "A condition that is no bool",
          "There is no truthiness: an empty text, zero and null are different things, so a condition says which it means.",
          "if item.tags:\n    item.title = \"x\"", "if len(item.tags) > 0:\n    item.title = \"x\""),
    _code("maybe-null", "A use of something that may be null",
          "A `T?` value is used after a test that it is not null: `is not None`, `or fail(…)`, `require`.",
          "item.title = item.note.upper()", "if item.note is not None:\n    item.title = item.note.upper()"),
    _code("maybe-absent", "A use of a field that may be absent",
          "An absent field is not there at all; that differs from null.",
          "item.title = str(item.sold)", "if \"sold\" in item:\n    item.title = str(item.sold)"),
    _code("not-narrowed", "A field that only some members of a union have",
          "Which member a value is, is told by its tag.",
          "item.title = item.paid.last_four",
          "if item.paid.by == \"card\":\n    item.title = item.paid.last_four"),
    _code("never-null", "A null test of something never null",
          "The test always gives the same result.",
          "require(item.title is not None, \"No title.\")\nitem.title = \"x\"", "require(item.note is not None, \"No note.\")\nitem.title = \"x\""),
    _code("never-absent", "A presence test or removal of a field that is always there",
          "Only fields declared `absent: true` can be absent.",
          "if \"title\" in item:\n    item.title = \"x\"", "if \"sold\" in item:\n    item.title = \"x\""),
    _code("null-comparison", "Null compared with ==",
          "Null is tested with `is None`, which also narrows.",
          "require(item.note != None, \"No note.\")\nitem.title = \"x\"", "require(item.note is not None, \"No note.\")\nitem.title = \"x\""),
    _code("compare-records", "Records compared with ==",
          "Two records are the same when their keys are; comparing contents is nearly always a slip.",
          "for other in items.values():\n    require(other == item, \"Another.\")\nitem.title = \"x\"",
          "for other in items.values():\n    require(other.item_id == item.item_id, \"Another.\")\nitem.title = \"x\""),
    _code("unlike-comparison", "A comparison of unlike things",
          "Values of unlike types are never equal and have no order; the comparison is a slip.",
          "require(item.title > 3, \"Short.\")\nitem.title = \"x\"", "require(len(item.title) > 3, \"Short.\")\nitem.title = \"x\""),
    _code("unlike-types", "A name or list with unlike types",
          "A name, a list's elements and the sides of a conditional have one type.",
          "item.title = \"x\"\nreturn [\"a\", 1]", "item.title = \"x\"\nreturn [\"a\", \"1\"]"),
    _code("key-not-record", "A field asked of a key",
          "Going through a collection gives its keys, as with a dict.",
          "for i in items:\n    require(i.title != \"\", \"No title.\")\nitem.title = \"x\"",
          "for i in items.values():\n    require(i.title != \"\", \"No title.\")\nitem.title = \"x\""),
    _code("not-iterable", "A loop over something without elements",
          "Loops go through collections, lists, dicts, texts, range, zip and enumerate.",
          "for x in len(item.tags):\n    item.title = str(x)", "for x in range(len(item.tags)):\n    item.title = str(x)"),
    _code("write-in-read", "A read tool that changes the state",
          "`kind: read` promises that nothing changes; replay, checking and scoring rely on it.",
          "item.title = \"x\"", "return item.title", kind="read"),
    _code("write-to-copy", "A change to a copy",
          "Lists of records, results of helpers and parameters are copies; a change to one would be lost.",
          "for i in sorted(items.values(), key=lambda i: i.title):\n    i.title = \"x\"",
          "for key in sorted(items):\n    items[key].title = item.title"),
    _code("change-while-iterating", "A structural change of what is being gone through",
          "Adding to or removing from a collection while a loop goes through it is an error, also through helpers.",
          "for key in items:\n    del items[key]", "require(item.price > 3, \"Cheap.\")\nfor key in list(items):\n    del items[key]"),
    Code("recursive-helper", "Helpers that call themselves",
         "Without recursion every call ends; trees are gone through with `walk`.",
         _tool("item.title = str(same(1))", more=_HELPER + "same(n - 1)\n"), _tool("item.title = str(same(1))", more=_HELPER + "n - 1\n")),
    Code("impure-rule", "A rule that does more than tell whether it holds",
         "Rules are evaluated at any time and in any order; they read and nothing else.",
         _SHOP + _RULE + "rand_int(1, 2) == 1\n", _SHOP + _RULE + "it.price <= 10\n"),
    Code("uses-any", "A place that takes any value",
         "Nothing in an `any` can be checked, documented or fuzzed well. It is there for worlds whose own data is loosely typed. A note.",
         "states:\n  notes:\n    record: Note\n    key: {name: id}\n    fields: {text: any}\n",
         "states:\n  notes:\n    record: Note\n    key: {name: id}\n    fields: {text: str}\n"),
    Code("global-rule", "A rule that is checked over whole collections",
         "A rule is checked again for the records that a call touched, and for those joined to them by an equality with a field of"
         " `it`. Where no such equality is found, the whole collection is gone through after each call that changes it. A note.",
         _SHOP + _RULE + "all(i.title != it.title or i.item_id == it.item_id for i in items.values())\n" + _RENAME,
         _SHOP + _RULE + "count(i for i in items.values() if i.title == it.title) == 1\n" + _RENAME),
    _code("shadowing", "A local that hides something",
          "A name means one thing in a block. Parameters keep their value.",
          "items = 3\nitem.title = str(items)", "n = 3\nitem.title = str(n)"),
    _code("maybe-unassigned", "A local that may have no value",
          "On some way to this point the name is never assigned.",
          "if item.price > 3:\n    word = \"dear\"\nitem.title = word", "word = \"cheap\"\nif item.price > 3:\n    word = \"dear\"\nitem.title = word"),
    _code("missing-return", "A result on some ways only",
          "When a block gives a result, every way through it does.",
          "item.title = \"x\"\nif item.price > 3:\n    return \"dear\"", "item.title = \"x\"\nif item.price > 3:\n    return \"dear\"\nreturn \"cheap\""),
    _code("unreachable", "Logic that is never reached",
          "What stands after return, fail, break or continue never runs.",
          "item.title = \"x\"\nreturn 1\nitem.title = \"y\"", "item.title = \"x\"\nreturn 1"),
    _code("no-effect", "A statement that does nothing",
          "The value of the expression is not used; often a `require` was meant.",
          "item.price > 3\nitem.title = \"x\"", "require(item.price > 3, \"Cheap.\")\nitem.title = \"x\""),
    _code("duplicate-entry", "An entry that stands twice in a dict",
          "The first would be lost.",
          "item.title = \"x\"\nreturn {\"a\": 1, \"a\": 2}", "item.title = \"x\"\nreturn {\"a\": 1, \"b\": 2}"),
    _code("bad-literal", "A text that is no date or time",
          "Dates and times have one way to be written.",
          "item.sold = \"2030-3-4\"", "item.sold = \"2030-03-04\""),
    _code("bad-format", "A format the language does not have",
          "f-strings take constant formats of bounded width, fitting the value's type.",
          "item.title = f\"{item.title:.2f}\"", "item.title = f\"{item.price:.2f}\""),
    _code("unused", "Something declared and never used",
          "A name nobody uses is a leftover or a slip.",
          "size = item.size\nitem.title = \"x\"", "size = item.size\nitem.title = f\"{size}\""),
    _code("writes-nothing", "A write tool that changes nothing",
          "`kind` tells agents, replay and scoring what to expect.",
          "return item.title", "item.title = \"x\"\nreturn item.title"),
)  # fmt: skip

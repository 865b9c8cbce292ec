"""Logic that must be refused, beyond one example of each code: the traps that views, copies and flow can hide."""

from __future__ import annotations

import pytest

from tests.logic.shop import codes

REFUSED = {
    "null through a loop": ("p = people.get(item.owner)\nfor i in range(n):\n    p.name = \"x\"", "maybe-null"),
    "narrowing lost by writing": (
        'if item.note is not None:\n    item.note = None if n > 1 else "x"\n    item.title = item.note.upper()', "maybe-null"),
    "narrowing lost by a call": (
        "if item.note is not None:\n    wipe()\n    item.title = item.note", "maybe-null"),
    "narrowing lost in the next round": (
        'p = people.get(item.owner) or fail("no")\nfor i in range(n):\n    p.name = "x"\n    p = people.get(item.owner)', "maybe-null"),
    "narrowing through another name": (
        "a = item\nif item.box is not None:\n    a.box = None\n    item.box.width = 1", "maybe-null"),
    "record in a list is a copy": ("found = [i for i in items.values()]\nfound[0].title = \"x\"", "write-to-copy"),
    "part of a copy": ("for i in list(items.values()):\n    i.tags.append(\"x\")", "write-to-copy"),
    "a helper's result": ("x = mine(item)\nx.append(\"y\")\nitem.title = \"x\"", "write-to-copy"),
    "a parameter": ("words.append(\"x\")\nitem.tags = words", "write-to-copy"),
    "one view or another": ("tags = item.tags if n > 1 else desk.notes\ntags.append(\"x\")", "write-to-copy"),
    "a struct value": ("b = Box(width=1)\nb.width = 2\nitem.box = b", "write-to-copy"),
    "after removal": ("del items[item_id]\nitem.title = \"x\"", "write-to-copy"),
    "adding through a helper": ("for i in items:\n    grow()\nitem.title = \"x\"", "change-while-iterating"),
    "appending to what is gone through": ("for t in item.tags:\n    item.tags.append(t)", "change-while-iterating"),
    "removing through enumerate": ("for i, key in enumerate(items):\n    del items[key]", "change-while-iterating"),
    "writing in a read through a helper": ("wipe()", "write-in-read"),
    "writing in a read through a part": ("tags = item.tags\ntags.append(\"x\")", "write-in-read"),
    "a generator kept": ("xs = (i for i in items)\nitem.title = str(count(xs))", "wrong-type"),
    "a key of another collection": ("item.title = people[item_id].name", "wrong-type"),
    "an enum from a wider one": ("item.size = item.title", "wrong-type"),
    "number as money": ("item.price = n", "wrong-type"),
    "money as number": ("item.weight = item.price", "wrong-type"),
    "number times duration as date": ("item.due = today + n", "wrong-type"),
    "a date as text": ("item.title = today", "wrong-type"),
    "text and number": ("item.title = item.title + n", "wrong-type"),
    "three decimals of money": ("require(item.price > 1.005, \"x\")\nitem.title = \"x\"", "wrong-type"),
    "unassigned after a loop": ("for i in items.values():\n    last = i.title\nitem.title = last", "maybe-unassigned"),
    "comparing lists of records": ("require([i for i in items.values()] == [], \"x\")\nitem.title = \"x\"", "compare-records"),
    "a record in a list of records": ("require(item in [i for i in items.values()], \"x\")\nitem.title = \"x\"", "compare-records"),
    "the tag of a union": ("item.paid.by = \"card\"", "wrong-type"),
    "the key": ("item.item_id = \"x\"", "wrong-type"),
    "a whole record": ("items[item_id] = item", "wrong-type"),
    "truthiness of or": ("item.title = item.note or \"x\"", "not-bool"),
    "dunder in an f-string": ("item.title = f\"{item.__class__}\"", "forbidden-name"),
    "str.format": ("item.title = \"{0.__class__}\".format(item)", "unknown-method"),
    "a method kept": ("f = item.title.upper\nitem.title = f()", "unknown-field"),
    "walrus": ("if (x := n) > 1:\n    item.title = \"x\"", "forbidden-syntax"),
    "star": ("item.title = max(*[1, 2])", "forbidden-syntax"),
    "break outside": ("break", "logic-syntax"),
}  # fmt: skip

HELPERS = """\
  wipe:
    do: |
      for i in items.values():
          i.note = None
  grow:
    do: |
      items.add(title="x")
  mine:
    params: {of: Item}
    do: |
      return of.tags
"""
PARAMS = "{item_id: {ref: items, as: item}, n: {type: int, default: 1}, words: {type: {list: str}, default: []}}"


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    body, code = REFUSED[name]
    kind = "read" if code == "write-in-read" else "write"
    assert code in codes(body, kind=kind, helpers=HELPERS, params=PARAMS)

"""Logic that must pass: what people and models write of these things every day."""

from __future__ import annotations

import pytest

from tests.logic.shop import checked, codes

FINE = {
    "or fail narrows": 'p = people.get(item.owner) or fail("no such person")\np.name = "x"',
    "require narrows": 'p = people.get(item.owner)\nrequire(p is not None, "none")\np.name = "x"',
    "branches that leave it there narrow": 'p = people.get(item.owner)\nif p is None:\n    p = first(people.values())\nelse:\n    p.name = "y"\np.name = "x"',
    "a null made good narrows": 'p = people.get(item.owner)\nif p is None:\n    p = first(people.values())\np.name = "x"',
    "early return narrows": 'p = people.get(item.owner)\nif p is None:\n    return "none"\np.name = "x"\nreturn p.name',
    "and narrows": 'require(item.note is not None and len(item.note) > 3, "short")\nitem.title = "x"',
    "or narrows": 'require(item.note is None or len(item.note) > 3, "short")\nitem.title = "x"',
    "conditional narrows": 'item.title = item.note if item.note is not None else "none"',
    "comprehension narrows": "return [i.note.upper() for i in items.values() if i.note is not None]",
    "field path narrows": 'if item.box is not None:\n    item.box.width += 1\n    item.box.label = "x"',
    "union by tag": 'if item.paid.by == "card":\n    item.title = item.paid.last_four\nelse:\n    item.title = item.paid.by',
    "union by early fail": 'require(item.paid.by == "card", "cash")\nitem.title = item.paid.last_four',
    "union constructor": 'item.paid = Card(last_four="1234")',
    "absent by in": 'if "sold" in item:\n    del item.sold\nelse:\n    item.sold = today',
    "absent by get": 'item.title = str(item.get("sold", today))',
    "absent after writing": "item.sold = today\nitem.title = str(item.sold.year)",
    "enum literal": 'item.size = "large" if item.price > 10 else "small"',
    "enum by membership": 'require(item.title in ("small", "large"), "no size")\nitem.size = item.title',
    "powers of what is only known in a call": "return (n - 1) ** 2 + (n / 3) ** 2",
    "money": "item.price += money(n) * 2\nitem.price = item.price * 1.5 - 0.25\nitem.price = max(item.price, 0)",
    "money sums": "total = sum(i.price for i in items.values())\nrequire(total <= 100.50, f\"{total}\")\nitem.price = total / 2",
    "dates": "item.due = today + days(21)\nlate = (today - item.due) // days(1)\nitem.title = f\"{late}\"",
    "datetimes": "item.seen = now - hours(2)\nif item.seen is not None and item.seen < now:\n    item.due = item.seen.date",
    "a list that grows": "found = []\nfor i in items.values():\n    if i.title not in found:\n        found.append(i.title)\nitem.tags = found",
    "a dict that grows": "by = {}\nfor i in items.values():\n    by[i.size] = by.get(i.size, 0) + 1\nitem.title = f\"{by}\"",
    "a dict of lists": "by = {}\nfor i in items.values():\n    if i.owner not in by:\n        by[i.owner] = []\n    by[i.owner].append(i.title)\nitem.title = str(len(by))",
    "sum in a loop": "total = 0\nfor i in items.values():\n    total += len(i.tags)\nitem.title = str(total)",
    "float in a loop": "total = 0.0\nfor i in items.values():\n    total += i.weight\nitem.weight = total",
    "break": "word = \"\"\nfor i in items.values():\n    if i.price > 3:\n        word = i.title\n        break\nitem.title = word",
    "views from loops": "for i in items.values():\n    if i.due < today:\n        i.title = \"late\"",
    "views from items": "for key, i in items.items():\n    if key != item_id:\n        i.title = \"late\"",
    "views from first": 'other = first((i for i in items.values() if i.size == "large"), None)\nif other is not None:\n    other.title = "x"',
    "views from min": "cheap = min(items.values(), key=lambda i: (i.price, i.item_id))\ncheap.title = \"x\"",
    "parts are views": "tags = item.tags\ntags.append(\"x\")\ndesk.notes.append(f\"{item_id}\")\ndesk.count += 1",
    "keys in order": "for key in sorted(items, key=lambda k: k):\n    items[key].title = \"x\"",
    "add and use": 'p = people.add(name="Ann", balance=2.50)\nitem.owner = p.person_id\nreturn {"id": p.person_id}',
    "a reference leads on": 'people[item.owner].balance -= item.price\nboss = people[item.owner].boss\nif boss is not None:\n    people[boss].balance += item.price',
    "any": 'extra = item.extra\nif is_type(extra, int):\n    item.title = str(extra + 1)\nitem.extra = {"a": [1, 2.5, None]}',
    "as_type": "item.title = as_type(item.extra, str).upper()",
    "zip and enumerate": "for i, (a, b) in enumerate(zip(item.tags, item.tags)):\n    item.title = f\"{i}{a}{b}\"",
    "tuple assignment": "a, b = 1, 2\na, b = b, a\nitem.title = f\"{a}{b}\"",
    "f-string formats": 'item.title = f"{item.price:.2f} {n:05d} {item.weight:,.1f} {item.due} {item.size}"',
    "struct from a dict": "item.box = {\"width\": 3}",
    "several results": "if n > 1:\n    item.title = \"x\"\n    return {\"a\": 1}\nreturn \"none\"",
    "a hidden collection": "item.title = str(len(state.people))",
    "split": "shares = split(item.price, 3)\nitem.price = shares[0]",
    "membership by key": 'require(item.owner in people, "no")\nitem.title = "x"',
    "strings": 'parts = item.title.split(",")\nitem.title = " ".join(p.strip().lower() for p in parts)',
    "one line suites": "if n > 1: item.title = \"x\"; return 1\nreturn 2",
    "elif and else": "if n > 3:\n    w = \"a\"\nelif n > 2:\n    w = \"b\"\nelse:\n    fail(\"no\")\nitem.title = w",
    "comments": "# why\nitem.title = \"x\"  # because\n\n# the end\nreturn 1",
    "null in a local": "best = None\nfor i in items.values():\n    if best is None or i.price > best.price:\n        best = i\nif best is not None:\n    best.title = \"x\"",
    "range": "for i in range(n):\n    desk.notes.append(str(i))",
    "removing while going through a list": "for key in list(items):\n    if items[key].price > 3:\n        del items[key]",
}  # fmt: skip


@pytest.mark.parametrize("name", FINE)
def test_passes(name: str) -> None:
    assert codes(FINE[name]) == []


def test_a_helper_reads_and_writes() -> None:
    helpers = (
        "  pay:\n    params: {who: {ref: people}, amount: money}\n    do: |\n      people[who].balance += amount\n"
        "  open_items:\n    params: {who: Person}\n    do: |\n      return [i for i in items.values() if i.owner == who.person_id]\n"
    )
    body = "pay(item.owner, item.price)\nmine = open_items(people[item.owner])\nreturn [i.title for i in mine]"
    assert codes(body, helpers=helpers) == []


def unused(body: str) -> list[str]:
    return [d.title for d in checked(body).diagnostics if d.code == "unused" and d.title.startswith("'")]


def test_a_number_that_only_counts_rounds_need_not_be_used() -> None:
    assert unused("for k in range(3):\n    item.price += 1") == []
    assert unused("return [rand_int(1, 6) for k in range(3)]") == []
    assert unused("for other in items.values():\n    item.price += 1") == ["'other' is never used"]
    assert unused("for i, k in zip(range(3), range(3)):\n    item.title = str(i)") == ["'k' is never used"]

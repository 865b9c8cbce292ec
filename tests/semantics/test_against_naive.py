"""Compiled logic does what the naive reading of the language does: views, copies, aliases, loops, helpers, rollback."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import json
from typing import Any

from hypothesis import HealthCheck, assume, event, note
from hypothesis import strategies as st

from envscaler.compiler import compile_spec, load_class
from envscaler.spec.check import check_text
from tests.lengths import few_and_many
from tests.semantics import naive

SPEC = """\
envscaler: 1
name: shelf
description: Things on shelves.
types:
  Box: {fields: {width: int, marks: {list: str, default: []}}}
states:
  items:
    record: Item
    key: {name: item_id, make: "I-{n}"}
    fields:
      title: str
      size: {type: int, default: 1}
      tags: {list: str, default: []}
      box: {type: Box, default: {width: 1}}
      boxes: {list: Box, default: []}
      friend: {ref: items, null: true, default: null}
  people:
    record: Person
    key: {name: person_id, make: "P-{n}"}
    fields: {name: str, total: {type: int, default: 0}, favourites: {list: str, default: []}}
  desk:
    record: Desk
    single: true
    fields: {count: {type: int, default: 0}, notes: {list: str, default: []}, best: {type: Box, default: {width: 0}}}
helpers:
  grow:
    params: {key: {ref: items}, by: int}
    do: |
      items[key].size += by
      return items[key].size
  bigger_than:
    params: {size: int}
    do: |
      return [i for i in items.values() if i.size > size]
  tidy:
    do: |
      for i in items.values():
          if i.size > 5:
              i.tags.append("big")
              desk.count += 1
  rename:
    params: {item: Item, to: str}
    do: |
      items[item.item_id].title = to
      return item.title
tools:
  act:
    kind: write
    description: Act.
    params: {k: str, m: str}
    do: |
@BODY@
initial_state:
  items:
    I-1: {title: pen, size: 3, tags: [a]}
    I-2: {title: cup, size: 7, tags: [a, b], box: {width: 4, marks: [x]}, friend: I-1}
    I-3: {title: hat, size: 1, boxes: [{width: 2}, {width: 9, marks: [y, z]}], friend: I-3}
  people:
    P-1: {name: Ann, total: 4, favourites: [I-1, I-2]}
    P-2: {name: Bo}
  desk: {notes: [start]}
"""

HELPERS = {
    "grow": (["key", "by"], "items[key].size += by\nreturn items[key].size"),
    "bigger_than": (["size"], "return [i for i in items.values() if i.size > size]"),
    "tidy": ([], 'for i in items.values():\n    if i.size > 5:\n        i.tags.append("big")\n        desk.count += 1'),
    "rename": (["item", "to"], "items[item.item_id].title = to\nreturn item.title"),
}

SIMPLE = (
    "a = items[k]", "b = items[m]", 'c = items.get(k) or fail("none")', "a.size += 1", "b.size = a.size * 2", "a.tags.append(b.title)",
    "tags = b.tags", 'tags.append("t")', "a.tags = b.tags", "a.box = b.box", "a.box.width += b.box.width", "box = a.box", "box.width += 3",
    'box.marks.append("m")', "a.boxes.append(b.box)", "b.boxes = a.boxes", "desk.best = a.box", "desk.best.width += 1", "desk.count += a.size",
    "notes = desk.notes", 'notes.append(a.title)', 'desk.notes.append(b.title)', "desk.notes = a.tags", "x = grow(k, 2)", "desk.count = grow(m, 1)",
    "tidy()", 'old = rename(a, "new")', 'old = rename(b, "newer")', "desk.notes.append(old)", "big = bigger_than(2)", "desk.count += len(big)",
    "desk.notes.append(big[0].title)", "found = [i for i in items.values() if i.size > 1]", "desk.count += found[0].size",
    "desk.notes.append(found[-1].title)", "s = sorted(items.values(), key=lambda i: (i.size, i.item_id))", "desk.notes.append(s[0].title)",
    "top = max(items.values(), key=lambda i: (i.size, i.item_id))", "top.size -= 2", "top.tags.append(\"top\")",
    "f = first(i for i in items.values() if i.size < 9)", "f.title = f\"{f.title}!\"", "f.size += 1", "n = items.add(title=a.title, tags=a.tags, box=b.box)",
    "n.size += a.size", "n.tags.append(\"n\")", "a.friend = n.item_id", "items[n.item_id].title = \"again\"",
    "a.friend = m", "if a.friend is not None:\n    items[a.friend].size += 1", "p = people[\"P-1\"]", "p.total += a.size", "p.favourites.append(k)",
    "for key in p.favourites:\n    items[key].size += 1", "people[\"P-1\"].total += 1", "desk.notes.extend(p.favourites)",
    "for i in items.values():\n    i.size += 1", "for i in items.values():\n    if i.size > 3:\n        a.size += 1\n        desk.count += i.size",
    "for i in items.values():\n    items[k].size += i.size", "for i in items.values():\n    grow(k, i.size)",
    "for key, i in items.items():\n    i.tags.append(key)", "for i in items.values():\n    for t in i.tags:\n        desk.notes.append(t)",
    "for i in items.values():\n    for x in i.boxes:\n        x.width += i.size", "for x in a.boxes:\n    x.marks.append(b.title)",
    "best = a\nfor i in items.values():\n    if i.size > best.size:\n        best = i\nbest.title = \"best\"",
    "last = None\nfor i in items.values():\n    last = i\nif last is not None:\n    last.size += 5",
    "parts = [x for x in a.boxes]", "desk.count += len(parts)", "desk.best = parts[0]", "view = a.boxes[0]", "view.width += 10", "desk.count += view.width",
    "v = b if a.size > 2 else a", "v.size += 4", "desk.notes.append(v.title)", "require(a.size < 30, \"too large\")", "require(b.size < 25, f\"{b.size}\")",
    "for key in list(items):\n    if items[key].size > 40:\n        del items[key]", "del items[\"I-2\"]", "words = {i.title: i.size for i in items.values()}",
    "desk.count += sum(words.values())", "desk.count += sum(i.size for i in items.values())", "keys = sorted(items)", "desk.notes.extend(keys)",
    "for i, q in enumerate(items.values()):\n    q.size += i", "for q, r in zip(items.values(), people.values()):\n    q.size += r.total\n    r.total += q.size",
    "lists = [i.tags for i in items.values()]", "desk.notes.extend(lists[0])", "a.tags.sort()", "a.tags.clear()", "desk.notes.append(a.tags.pop())",
    "e = [a.box, b.box]", "desk.best = e[0]", "desk.count += e[1].width", "d = {\"one\": a.box}", "desk.best = d[\"one\"]",
)  # fmt: skip
RESULTS = (
    "return a", "return b.tags", "return [a, b]", "return {\"a\": a, \"n\": desk.notes}", "return found", "return tags", "return n.item_id", "return desk",
    "return [i.title for i in items.values()]", "return box", "return big", "return words", "return top", "fail(f\"{a.size}\")",
)  # fmt: skip


ALWAYS = {"items", "people", "desk", "k", "m", *HELPERS, *dir(builtins), "require", "fail", "first"}


@functools.cache
def _names(statement: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names that a statement needs, and those that it binds."""
    nodes = [n for n in ast.walk(ast.parse(statement)) if isinstance(n, ast.Name)]
    bound = frozenset(n.id for n in nodes if isinstance(n.ctx, ast.Store))
    return frozenset(n.id for n in nodes) - bound - ALWAYS - {"i", "x", "t", "q", "r", "key"}, bound


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Blocks whose statements use only names bound before; the few that the checker refuses still are not run."""
    lines = ["a = items[k]", "b = items[m]"]
    known = {"a", "b"}
    for _ in range(draw(st.integers(1, 9))):
        line = draw(st.sampled_from([s for s in SIMPLE if _names(s)[0] <= known]))
        if draw(st.integers(0, 5)) == 0:
            lines.append("if a.size > b.size:\n" + "\n".join("    " + x for x in line.splitlines()))
        else:
            lines.append(line)
            known |= _names(line)[1]
    lines.append(
        draw(st.sampled_from([s for s in RESULTS if _names(s.replace("return ", "x = "))[0] - {"x"} <= known]))
    )
    return "\n".join(lines)


def spec_of(body: str) -> str:
    return SPEC.replace("@BODY@", "\n".join("      " + line for line in body.splitlines()))


@functools.cache
def start() -> dict[str, Any]:
    checked = check_text("shelf.yaml", spec_of("items[k].title = m"))
    assert checked.ok, [d.headline() for d in checked.diagnostics]
    return load_class(compile_spec(checked)).new().state  # type: ignore[no-any-return]


def world_of(state: dict[str, Any]) -> naive.World:
    defaults = {
        "items": (
            "item_id",
            "I-{n}",
            {"size": 1, "tags": [], "box": naive.Record(width=1, marks=[]), "boxes": [], "friend": None},
        ),
        "people": ("person_id", "P-{n}", {"total": 0, "favourites": []}),
    }
    states: dict[str, Any] = {name: naive.Collection(*defaults[name], state[name]) for name in defaults}
    states["desk"] = naive._records(copy.deepcopy(state["desk"]))
    return naive.World(states, HELPERS)


def plain(value: Any) -> Any:
    """JSON of a naive value; records without their key, which stands outside."""
    return json.loads(json.dumps(value))


def state_of(world: naive.World) -> dict[str, Any]:
    found = plain({name: world.states[name] for name in ("items", "people", "desk")})
    for name, key in (("items", "item_id"), ("people", "person_id")):
        for record in found[name].values():
            record.pop(key)
    return found  # type: ignore[no-any-return]


def naive_result(world: naive.World, body: str, names: dict[str, str]) -> tuple[bool, Any]:
    try:
        return True, plain(naive.run(world, body, names))
    except naive.Failed as failure:
        return False, str(failure)
    except (KeyError, IndexError):
        return False, None


def compiled_equals_naive(body: str, k: str, m: str) -> None:
    checked = check_text("shelf.yaml", spec_of(body))
    event(
        "run"
        if checked.ok
        else "refused: " + ", ".join(sorted({d.code for d in checked.diagnostics if d.severity == "error"}))
    )
    assume(checked.ok)
    note(body)
    env = load_class(compile_spec(checked)).new()
    world = world_of(start())
    ok, value = naive_result(world, body, {"k": k, "m": m})
    result = env.call("act", {"k": k, "m": m})
    assert result.error is None or result.error.code != "internal", result
    if not result.ok and result.error.code == "constraint":  # a dangling reference: the naive reading knows none
        assert env.state == start()
        return
    assert result.ok == ok, (result, value)
    if ok:
        assert result.value == value
        assert env.state == state_of(world)
    else:
        assert env.state == start()
        if value is not None:
            assert result.error.message == value


KEYS = st.sampled_from(["I-1", "I-2", "I-3"])
test_compiled_equals_naive, test_compiled_equals_naive_at_length = few_and_many(
    compiled_equals_naive, bodies(), KEYS, KEYS, few=20, suppress_health_check=list(HealthCheck)
)

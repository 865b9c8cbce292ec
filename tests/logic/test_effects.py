"""Read and write sets, through views, parts and helpers."""

from __future__ import annotations

from tests.logic.shop import body_of

HELPERS = """\
  pay:
    params: {who: {ref: people}, amount: money}
    do: |
      people[who].balance += amount
  settle:
    do: |
      for i in items.values():
          pay(i.owner, i.price)
"""


def test_a_view_writes_its_state() -> None:
    effects = body_of(
        "other = first(i for i in items.values() if i.price > 1)\nother.title = people[other.owner].name"
    ).effects
    assert effects.writes == {("items", "title")}
    assert {("items", "price"), ("items", "owner"), ("people", "name")} <= effects.reads


def test_a_part_writes_the_field_it_is_in() -> None:
    effects = body_of('if item.box is not None:\n    item.box.width += 1\nitem.tags.append("x")').effects
    assert effects.writes == {("items", "box"), ("items", "tags")}


def test_a_local_part_writes_the_field_it_is_in() -> None:
    assert body_of("if item.box is not None:\n    box = item.box\n    box.width += 1").effects.writes == {
        ("items", "box")
    }
    assert body_of('tags = item.tags\ntags.append("x")').effects.writes == {("items", "tags")}


def test_a_single_record() -> None:
    effects = body_of("desk.count += 1\nreturn desk.notes").effects
    assert effects.writes == {("desk", "count")}
    assert ("desk", "notes") in effects.reads


def test_adding_and_removing() -> None:
    effects = body_of('p = people.add(name="Ann")\ndel items[item_id]\nreturn p.person_id').effects
    assert (effects.adds, effects.removes, effects.writes) == ({"people"}, {"items"}, frozenset())


def test_helpers_pass_their_effects_on() -> None:
    body = body_of('settle()\nitem.title = "x"', helpers=HELPERS)
    assert body.own.writes == {("items", "title")}
    assert body.effects.writes == {("items", "title"), ("people", "balance")}
    assert body.effects.calls == {"settle", "pay"}


def test_random_draws() -> None:
    assert body_of("item.title = str(rand_int(1, 6))").effects.draws
    assert not body_of('item.title = "x"').effects.draws


def test_loops_know_what_they_edit() -> None:
    body = body_of(
        "for i in items.values():\n    people[i.owner].balance += i.price\nfor p in people.values():\n    item.title = p.name"
    )
    assert sorted(map(sorted, body.loop_edits.values())) == [["items"], ["people"]]


def test_results() -> None:
    assert (
        str(body_of('item.title = "x"\nreturn {"id": item_id, "left": item.price}').returns)
        == "{id: key of items, left: money}"
    )
    assert str(body_of('item.title = "x"').returns) == "null"

"""Rules are looked at again only where a change can matter; here that they hold everywhere after every call all the same."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from envscaler.compiler import compile_spec, load_class
from envscaler.spec.check import check_text

SPEC = """\
envscaler: 1
name: depends
states:
  groups:
    record: Group
    key: {name: group_id, make: "G{n}"}
    fields: {size: {type: int, default: 2}, open: {type: bool, default: true}, chief: {type: str, null: true}, limit: {type: int, default: 9}}
  people:
    record: Person
    key: {name: person_id, make: "P{n}"}
    fields: {group: str, age: {type: int, default: 1}, friend: {type: str, null: true}, nick: {type: str, default: x}, marks: {list: int, default: []}}
  desk: {record: Desk, single: true, fields: {most: {type: int, default: 5}, on: {type: bool, default: true}}}
rules:
  joined_by_field:
    text: A group has no more people than its size.
    each: groups
    holds: |
      count(p for p in people.values() if p.group == it.group_id) <= it.size
  joined_with_more:
    text: The open ones of a group are not too old.
    each: groups
    holds: |
      all(p.age <= it.limit for p in people.values() if p.age > 1 and p.group == it.group_id)
  looked_up:
    text: Nobody is in a closed group.
    each: people
    holds: |
      it.group not in groups or groups[it.group].open
  looked_up_by_get:
    text: A friend is at most ten years older.
    each: people
    holds: |
      older(it.friend) <= it.age + 10 if it.friend is not None else True
  own_collection:
    text: Nicknames are used once in a group.
    each: people
    holds: |
      count(p for p in people.values() if p.group == it.group and p.nick == it.nick) == 1
  by_own_field:
    text: A chief is in the group or nowhere.
    each: groups
    holds: |
      it.chief is None or count(p for p in people.values() if p.person_id == it.chief and p.group != it.group_id) == 0
  from_items:
    text: People named in groups as chief are old.
    each: people
    holds: |
      all(it.age > 2 for k, g in groups.items() if g.chief == it.person_id)
  whole_other:
    text: Nobody is older than everybody may be.
    each: people
    holds: |
      it.age <= sum(g.limit for g in groups.values())
  over_single:
    text: There are not too many people.
    holds: |
      len(people) <= desk.most
  each_single:
    text: The desk is on while a group is open.
    each: desk
    holds: |
      it.on or all(not g.open for g in groups.values())
  own_only:
    text: Marks are small and few.
    each: people
    holds: |
      all(m < 4 for m in it.marks) and len(it.marks) < 3
helpers:
  older:
    params: {key: str}
    do: |
      friend = people.get(key)
      return 0 if friend is None else friend.age
tools:
  add_group:
    kind: write
    params: {size: int, limit: int, chief: {type: str, null: true, default: null}}
    do: |
      return groups.add(size=size, limit=limit, chief=chief).group_id
  add_person:
    kind: write
    params: {group: str, age: int, nick: str, friend: {type: str, null: true, default: null}}
    do: |
      return people.add(group=group, age=age, nick=nick, friend=friend).person_id
  set_group:
    kind: write
    params: {key: {ref: groups, as: g}, size: int, open: bool, chief: {type: str, null: true, default: null}, limit: int}
    do: |
      g.size = size
      g.open = open
      g.chief = chief
      g.limit = limit
  set_person:
    kind: write
    params: {key: {ref: people, as: p}, group: str, age: int, nick: str, friend: {type: str, null: true, default: null}}
    do: |
      p.group = group
      p.age = age
      p.nick = nick
      p.friend = friend
  age_all:
    kind: write
    params: {group: str, by: int}
    do: |
      for p in people.values():
          if p.group == group:
              p.age += by
  mark:
    kind: write
    params: {key: {ref: people, as: p}, value: int}
    do: |
      p.marks.append(value)
  drop_group:
    kind: write
    params: {key: {ref: groups}}
    do: |
      del groups[key]
  drop_person:
    kind: write
    params: {key: {ref: people}}
    do: |
      people.remove(key)
  set_desk:
    kind: write
    params: {most: int, on: bool}
    do: |
      desk.most = most
      desk.on = on
initial_state:
  groups: {G1: {size: 3, chief: null}, G2: {chief: null}}
  people: {P1: {group: G1, friend: null}, P2: {group: G1, friend: P1, nick: y}}
"""

GROUPS, PEOPLE, SMALL = (
    st.sampled_from(["G1", "G2", "G3", "G4"]),
    st.sampled_from(["P1", "P2", "P3", "P4", "P5"]),
    st.integers(0, 14),
)
MAYBE = st.none() | PEOPLE


def _class() -> Any:
    checked = check_text("specs/depends.yaml", SPEC)
    assert [d.headline() for d in checked.diagnostics if d.severity == "error"] == []
    return load_class(compile_spec(checked))


ENVIRONMENT = _class()


class Changes(RuleBasedStateMachine):
    """Calls at random, most of which break something; what a naive evaluation of all rules says after each."""

    def __init__(self) -> None:
        super().__init__()
        self.env = ENVIRONMENT.new()

    def call(self, tool: str, **arguments: Any) -> None:
        result = self.env.call(tool, arguments)
        assert result.error is None or result.error.code in ("rule", "not_found", "constraint"), result.error

    @rule(size=st.integers(0, 4), limit=SMALL, chief=MAYBE)
    def add_group(self, **a: Any) -> None:
        self.call("add_group", **a)

    @rule(group=GROUPS, age=SMALL, nick=st.sampled_from("xyz"), friend=MAYBE)
    def add_person(self, **a: Any) -> None:
        self.call("add_person", **a)

    @rule(key=GROUPS, size=st.integers(0, 4), open=st.booleans(), chief=MAYBE, limit=SMALL)
    def set_group(self, **a: Any) -> None:
        self.call("set_group", **a)

    @rule(key=PEOPLE, group=GROUPS, age=SMALL, nick=st.sampled_from("xyz"), friend=MAYBE)
    def set_person(self, **a: Any) -> None:
        self.call("set_person", **a)

    @rule(group=GROUPS, by=st.integers(-2, 3))
    def age_all(self, **a: Any) -> None:
        self.call("age_all", **a)

    @rule(key=PEOPLE, value=SMALL)
    def mark(self, **a: Any) -> None:
        self.call("mark", **a)

    @rule(key=GROUPS)
    def drop_group(self, **a: Any) -> None:
        self.call("drop_group", **a)

    @rule(key=PEOPLE)
    def drop_person(self, **a: Any) -> None:
        self.call("drop_person", **a)

    @rule(most=st.integers(0, 6), on=st.booleans())
    def set_desk(self, **a: Any) -> None:
        self.call("set_desk", **a)

    @invariant()
    def every_rule_holds_everywhere(self) -> None:
        state = self.env._state
        for checked in ENVIRONMENT.rules:
            if checked.each is None:
                assert checked.run(state), checked.name
            elif checked.each == "desk":
                assert checked.run(state, state.desk.value), checked.name
            else:
                for record in list(getattr(state, checked.each).values()):
                    assert checked.run(state, record), checked.name
        state._meter.steps = 10**6


TestIncrementalRules = Changes.TestCase
TestIncrementalRules.settings = settings(
    max_examples=60, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)

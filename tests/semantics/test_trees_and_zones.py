"""Trees with a cursor and nested JSON, zones, setup, both actors: the parts of the language the shipped specs use least."""

from __future__ import annotations

from typing import Any

import pytest

from envscaler.compiler import compile_spec, load_class
from envscaler.errors import StateError
from envscaler.spec.check import check_text

DISK = """\
envscaler: 1
name: disk
description: Folders and files.
clock: 2030-03-30T23:30:00Z
states:
  nodes:
    record: Node
    key: {name: node_id, make: "n{n}"}
    tree: {parent: inside, name: name, nested: contents}
    fields:
      name: str
      inside: {ref: nodes, null: true}
      kind: {enum: [directory, file]}
      content: {type: str, absent: true}
  cursor:
    record: Cursor
    single: true
    fields: {at: {ref: nodes, null: true, default: null}, moved: {type: datetime?, default: null}}
helpers:
  here:
    params: {name: str}
    do: |
      found = child(nodes, cursor.at, name) or fail(f"{name}: no such file or directory")
      return found.node_id
tools:
  cd:
    kind: write
    description: Go into a folder, or up with '..'.
    params: {folder: str}
    do: |
      cursor.moved = now
      if folder == "..":
          at = cursor.at
          require(at is not None, "already at the top")
          if at is not None:
              cursor.at = nodes[at].inside
          return pwd()
      key = here(folder)
      require(nodes[key].kind == "directory", f"{folder}: not a directory")
      cursor.at = key
      return pwd()
  mkdir:
    kind: write
    description: Make a folder here.
    params: {name: str}
    do: |
      nodes.add(name=name, inside=cursor.at, kind="directory")
  write:
    kind: write
    description: Write a file here.
    params: {name: str, content: str}
    do: |
      file = child(nodes, cursor.at, name)
      if file is None:
          nodes.add(name=name, inside=cursor.at, kind="file", content=content)
      else:
          file.content = content
  ls:
    kind: read
    description: Names here.
    do: |
      return [n.name for n in children(nodes, cursor.at)]
  find:
    kind: read
    description: Paths below here whose name holds the word.
    params: {word: str}
    do: |
      found = []
      for top in children(nodes, cursor.at):
          for n in walk(nodes, top.node_id):
              if word in n.name:
                  found.append("/".join(path(nodes, n.node_id)))
      return found
  mark:
    kind: write
    description: Put a mark behind every name below a folder here.
    params: {folder: str}
    do: |
      for n in walk(nodes, here(folder)):
          n.name = f"{n.name}*"
  mv:
    kind: write
    description: Move something here into a folder here.
    params: {name: str, folder: str}
    do: |
      nodes[here(name)].inside = here(folder)
  rm:
    kind: write
    description: Remove something here with all below it.
    params: {name: str}
    do: |
      nodes.remove(here(name))
  zones:
    kind: read
    description: The clock elsewhere.
    params: {zone: zone}
    do: |
      there = at_zone(now, zone)
      return {"there": there, "back": instant_at(there.date, there.time, zone), "date": there.date, "hour": there.hour, "later": now + hours(2), "next": add_months(today, 11)}
  peek:
    kind: read
    actor: user
    description: What the user sees.
    do: |
      return len(nodes)
setup:
  fill:
    params: {number: {type: int, ge: 1, le: 100}}
    do: |
      for i in range(number):
          nodes.add(name=f"f{i}", inside=cursor.at, kind="file", content=str(rand_int(0, 9)))
initial_state:
  nodes:
    home:
      kind: directory
      contents:
        notes.txt: {kind: file, content: hello}
        office: {kind: directory, contents: {a.txt: {kind: file, content: a}, deep: {kind: directory}}}
    tmp: {kind: directory}
"""


@pytest.fixture(scope="module")
def disk() -> Any:
    text = DISK.replace("return pwd()", 'return "ok"')
    checked = check_text("disk.yaml", text)
    assert checked.ok, [d.headline() for d in checked.diagnostics]
    return load_class(compile_spec(checked))


def names(nodes: dict[str, Any]) -> dict[str, Any]:
    return {name: names(node.get("contents", {})) for name, node in nodes.items()}


def test_a_tree_is_read_walked_and_written_as_nested_json(disk: Any) -> None:
    env = disk.new()
    assert env.call("ls").value == ["home", "tmp"]
    assert env.call("cd", {"folder": "home"}).ok
    assert env.call("find", {"word": "t"}).value == ["home/notes.txt", "home/office/a.txt"]
    assert env.call("cd", {"folder": "notes.txt"}).error.message == "notes.txt: not a directory"
    assert env.call("mkdir", {"name": "new"}).changed
    assert env.call("write", {"name": "notes.txt", "content": "bye"}).changed
    state = env.state["nodes"]
    assert names(state) == {"home": {"notes.txt": {}, "office": {"a.txt": {}, "deep": {}}, "new": {}}, "tmp": {}}
    assert state["home"]["contents"]["notes.txt"]["content"] == "bye"
    again = disk.new({**disk.new().state, "nodes": state})
    assert again.state["nodes"] == state


def test_moving_keeps_what_is_below_and_makes_no_cycle(disk: Any) -> None:
    env = disk.new()
    env.call("cd", {"folder": "home"})
    assert env.call("mkdir", {"name": "box"}).ok
    assert env.call("mv", {"name": "office", "folder": "box"}).ok
    assert names(env.state["nodes"])["home"] == {"notes.txt": {}, "box": {"office": {"a.txt": {}, "deep": {}}}}
    before = env.state
    result = env.call("mv", {"name": "box", "folder": "box"})
    assert (result.ok, result.error.code) == (False, "constraint")
    assert env.state == before


def test_two_of_one_name_in_a_folder_are_refused(disk: Any) -> None:
    env = disk.new()
    result = env.call("mkdir", {"name": "tmp"})
    assert (result.ok, result.error.code) == (False, "constraint")
    with pytest.raises(StateError, match=r'nodes\.a\.kind: expected one of "directory", "file"'):
        disk.new({"nodes": {"a": {"kind": "folder"}}, "cursor": {}})


def test_removing_takes_all_below_along(disk: Any) -> None:
    env = disk.new()
    assert env.call("rm", {"name": "home"}).ok
    assert names(env.state["nodes"]) == {"tmp": {}}
    env.reset()
    env.call("cd", {"folder": "home"})
    env.call("cd", {"folder": "office"})
    env.call("cd", {"folder": ".."})
    assert env.call("rm", {"name": "office"}).ok
    assert names(env.state["nodes"]) == {"home": {"notes.txt": {}}, "tmp": {}}


def test_a_walk_can_write(disk: Any) -> None:
    env, other = disk.new(), disk.new()
    assert env.call("mark", {"folder": "home"}).changed
    assert names(env.state["nodes"]) == {"home*": {"notes.txt*": {}, "office*": {"a.txt*": {}, "deep*": {}}}, "tmp": {}}
    assert names(other.state["nodes"])["home"] == {"notes.txt": {}, "office": {"a.txt": {}, "deep": {}}}


def test_zones_and_dates(disk: Any) -> None:
    env = disk.new()
    told = env.call("zones", {"zone": "Europe/Lisbon"}).value
    assert told == {
        "there": "2030-03-30T23:30:00",
        "back": "2030-03-30T23:30:00Z",
        "date": "2030-03-30",
        "hour": 23,
        "later": "2030-03-31T01:30:00Z",
        "next": "2031-02-28",
    }
    assert env.call("zones", {"zone": "Asia/Tokyo"}).value["there"].startswith("2030-03-31T08:30:00")
    assert env.call("zones", {"zone": "Mars/Base"}).error.code == "invalid_argument"


def test_the_user_has_tools_of_its_own(disk: Any) -> None:
    env = disk.new()
    assert env.call("peek").error.code == "unknown_tool"
    assert env.call("peek", actor="user").value == 6
    assert "peek" not in env.tools.names
    assert env.user_tools.names == ("peek",) or list(env.user_tools.names) == ["peek"]


def test_setup_is_for_scenarios(disk: Any) -> None:
    env = disk.new(seed=4)
    assert env.call("fill", {"number": 3}).error.code == "unknown_tool"
    assert env.setup("fill", {"number": 3}).ok
    assert env.call("ls").value == ["home", "tmp", "f0", "f1", "f2"]
    assert env.setup("fill", {"number": 0}).error.code == "invalid_argument"
    same = disk.new(seed=4)
    same.setup("fill", {"number": 3})
    assert same.state == env.state


def test_a_spec_without_zones_keeps_datetimes_without_them() -> None:
    text = """\
envscaler: 1
name: wall
title: Wall clock
description: A clock on a wall.
clock: 2030-03-04T09:00:00
states:
  marks: {record: Mark, key: {name: mark, make: "m{n}"}, fields: {at: datetime}}
tools:
  note:
    kind: write
    description: Note a time, and the time that a clock elsewhere would have shown.
    params: {words: str, zone: zone}
    do: |
      first_mark = marks.add(at=instant(words))
      second = marks.add(at=instant_at(first_mark.at.date, first_mark.at.time, zone))
      return [first_mark.at, second.at]
initial_state: {}
"""
    checked = check_text("wall.yaml", text)
    assert checked.ok, [d.headline() for d in checked.diagnostics]
    result = load_class(compile_spec(checked)).new().call("note", {"words": "2030-07-01T08:00", "zone": "Europe/Paris"})
    assert result.value == ["2030-07-01T08:00:00", "2030-07-01T06:00:00"]


def test_zones_and_times_of_day_from_literals() -> None:
    text = OPENING.replace(
        "helpers:\n",
        """helpers:
  there:
    params: {in_zone: zone}
    do: |
      return at_zone(now, in_zone).time
""",
    ).replace(
        'return f"',
        'require(there("Europe/Paris") > time("09:30:00"), "x")\n      require(time(room) == time(9, 30), "y")\n      return f"',
    )
    checked = check_text("opening.yaml", text)
    assert [d.headline() for d in checked.diagnostics] == []
    env = load_class(compile_spec(checked)).new()
    assert env.call("note", {"at": "12:00", "room": "09:30"}).ok
    assert env.call("note", {"at": "12:00", "room": "25:30"}).error.message == "25:30 is not a time of day."
    wrong = check_text("opening.yaml", text.replace("Europe/Paris", "Europe/Pariss"))
    assert "takes zone" in "".join(d.headline() for d in wrong.diagnostics)


OPENING = """\
envscaler: 1
name: opening
title: Opening hours
description: Open from {OPEN}; a mark needs ten minutes for itself.
clock: 2030-03-04T09:00:00Z
constants:
  OPEN: {type: time, value: "08:30"}
states:
  marks: {record: Mark, key: {name: mark, make: "m{n}"}, fields: {at: time, room: str, day: date?}}
helpers:
  near:
    params: {a: Mark, b: Mark}
    do: |
      return a.mark != b.mark and a.at - b.at < minutes(10) and b.at - a.at < minutes(10)
rules:
  apart:
    text: Marks of a room are ten minutes apart.
    each: marks
    holds: |
      all(not near(it, m) for m in marks.values() if m.room == it.room)
tools:
  note:
    kind: write
    description: Note a mark five minutes from a time.
    params: {at: time, room: str}
    do: |
      require(at >= OPEN - hours(1), f"Come after {OPEN - hours(1):%H:%M}.")
      mark = marks.add(at=at + minutes(5), room=room)
      return f"{mark.at:%H:%M} {mark.at:%I %p} {now:%A %d %B %Y, %H:%M} 100{today:%%}{today:%b}"
initial_state: {}
"""


def test_times_of_day_are_added_to_compared_and_shown() -> None:
    checked = check_text("opening.yaml", OPENING)
    assert checked.diagnostics == []  # a helper that reads its parameters only leaves a rule cheap: no note
    env = load_class(compile_spec(checked)).new()
    assert "Open from 08:30;" in env.doc
    assert env.call("note", {"at": "23:58", "room": "a"}).value == "00:03 12 AM Monday 04 March 2030, 09:00 100%Mar"
    assert env.call("note", {"at": "12:00:00", "room": "a"}).value.startswith("12:05 12 PM")
    near = env.call("note", {"at": "12:09", "room": "a"})
    assert near.error is not None
    assert near.error.rule == "apart"
    assert env.call("note", {"at": "12:09", "room": "b"}).ok
    assert env.call("note", {"at": "07:00", "room": "b"}).error.message == "Come after 07:30."


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        ("{mark.at:%Y}", "'%Y' shows no part of time"),
        ("{today:%H}", "'%H' shows no part of date"),
        ("{now:%Q}", "'%Q' shows no part of datetime"),
        ("{now:%}", "'%' shows no part of datetime"),
        ("{mark.day:%Y}", "may be null"),
    ],
)
def test_a_form_shows_parts_that_are_there(shown: str, says: str) -> None:
    text = OPENING.replace("{mark.at:%I %p}", shown)
    assert any(says in d.headline() for d in check_text("opening.yaml", text).diagnostics)


def test_a_rule_is_global_when_its_helper_reads_a_state_by_name() -> None:
    text = (
        OPENING.replace("params: {a: Mark, b: Mark}", "params: {a: Mark}")
        .replace(
            "return a.mark != b.mark and a.at - b.at < minutes(10) and b.at - a.at < minutes(10)",
            "return any(b.at == a.at and b.mark != a.mark for b in marks.values())",
        )
        .replace("all(not near(it, m) for m in marks.values() if m.room == it.room)", "not near(it)")
    )
    (note,) = check_text("opening.yaml", text).diagnostics
    assert note.code == "global-rule"
    assert note.help == "near reads a state by its name; give it what it reads as parameters"


@pytest.mark.parametrize("name", ["minutes", "days", "date", "first", "count", "path", "money", "instant", "split"])
def test_a_parameter_may_hide_a_built_in_that_is_not_called(name: str) -> None:
    text = OPENING.replace("params: {at: time, room: str}", f"params: {{at: time, room: str, {name}: int}}")
    read = text.replace(
        "      return f", f'      require({name} > 0, f"{{{name}}} is too few.")\n      return f'
    ).replace("at=at + minutes(5)", "at=at + hours(1)")
    checked = check_text("opening.yaml", read)
    assert [d.headline() for d in checked.diagnostics] == []
    env = load_class(compile_spec(checked)).new()
    assert env.call("note", {"at": "12:00", "room": "a", name: 0}).error.message == "0 is too few."
    assert env.call("note", {"at": "12:00", "room": "a", name: 1}).ok


def test_a_hidden_built_in_cannot_be_called() -> None:
    text = OPENING.replace("params: {at: time, room: str}", "params: {at: time, room: str, minutes: int}")
    assert "'minutes' is a value here, not a function" in "".join(
        d.headline() for d in check_text("opening.yaml", text).diagnostics
    )


@pytest.mark.parametrize("name", ["require", "len", "now", "it", "max"])
def test_a_parameter_may_not_hide_what_every_block_may_need(name: str) -> None:
    text = OPENING.replace("params: {at: time, room: str}", f"params: {{at: time, room: str, {name}: int}}")
    assert "reserved-name" in {d.code for d in check_text("opening.yaml", text).diagnostics}


ROOMS = """\
envscaler: 1
name: rooms
title: Rooms
description: Who sleeps where.
clock: 2030-03-04T09:00:00Z
states:
  rooms: {record: Room, key: {name: room_id, make: "R-{n}"}, fields: {floor: int, shut: {type: bool, default: false}}}
  guests:
    record: Guest
    key: {name: guest_id, make: "G-{n}"}
    fields: {room_id: {ref: rooms, null: true}, loud: {type: bool, default: false}}
rules:
  nobody_in_a_shut_room:
    text: Nobody sleeps in a shut room.
    each: rooms
    holds: |
      not it.shut or not any(g.room_id == it.room_id and g.guest_id != "G-0" for g in guests.values())
  low_floors:
    text: The house has three floors.
    holds: |
      max([r.floor for r in rooms.values()]) <= 3
tools:
  move:
    kind: write
    description: Move guests into a room.
    params:
      guest_ids: {type: {list: {ref: guests}}, missing: "Who is {guest_ids}?"}
      room_id: {ref: rooms, as: room}
    do: |
      for key in guest_ids:
          guests[key].room_id = room_id
      return f"{len(guest_ids)} on floor {room.floor}"
  roll:
    kind: read
    description: A number.
    do: |
      return rand_float(2, 3.5)
  shut:
    kind: write
    description: Shut a room.
    params: {room_id: {ref: rooms, as: room}}
    do: |
      room.shut = True
      return "shut"
initial_state:
  rooms: {R-1: {floor: 1}, R-2: {floor: 2, shut: true}}
  guests: {G-1: {room_id: R-1}, G-2: {room_id: null}}
"""


@pytest.fixture(scope="module")
def rooms() -> Any:
    checked = check_text("rooms.yaml", ROOMS)
    # an equality within any() joins as one behind `if` does
    assert [d.headline() for d in checked.diagnostics if d.code == "global-rule"] == [
        "rooms.yaml:21:7: note[global-rule] this is checked as a whole after each call that changes rooms"
    ]
    return load_class(compile_spec(checked))


def test_an_equality_within_any_joins_records(rooms: Any) -> None:
    env = rooms.new()
    assert env.call("move", {"guest_ids": ["G-1", "G-2"], "room_id": "R-1"}).ok
    into = env.call("move", {"guest_ids": ["G-2"], "room_id": "R-2"})
    assert into.error.rule == "nobody_in_a_shut_room"
    assert env.call("shut", {"room_id": "R-1"}).error.rule == "nobody_in_a_shut_room"


def test_a_list_of_references_says_which_is_missing(rooms: Any) -> None:
    error = rooms.new().call("move", {"guest_ids": ["G-1", "G-7"], "room_id": "R-1"}).error
    assert (error.code, error.message) == ("not_found", "Who is G-7?")


def test_numbers_between_two_are_drawn_from_the_seed(rooms: Any) -> None:
    drawn = rooms.new(seed=5).call("roll", {}).value
    assert drawn == rooms.new(seed=5).call("roll", {}).value
    assert 2 <= drawn <= 3.5
    assert drawn != rooms.new(seed=6).call("roll", {}).value

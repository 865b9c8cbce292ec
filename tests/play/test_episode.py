"""What an episode keeps: undo and redo to the byte, what each call changed, and recordings that replay as right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envscaler import session
from envscaler.errors import StateError
from envscaler.play.changes import NOTHING, Change, changes
from envscaler.play.episode import Episode
from envscaler.replay import read_cases, replay
from envscaler.replay.values import at, patched
from envscaler.runtime import Environment

BANK = Path(__file__).parents[2] / "specs" / "bank.yaml"
SPEC = """\
envscaler: 1
name: desk
title: Desk
description: Forms of states.
states:
  notes:
    record: Note
    form: list
    key: {name: note_id, make: "{hex:6}"}
    fields: {text: str, marks: {type: {list: int}, default: []}}
  counter:
    record: Counter
    single: true
    form: flat
    fields: {seen: {type: int, default: 0}, last: {type: {union: [A, B], tag: k}, null: true, default: null}}
types:
  A: {fields: {k: {const: a}, x: number}}
  B: {fields: {k: {const: b}, y: str}}
tools:
  write:
    kind: write
    description: Write a note.
    params: {text: str}
    do: |
      note = notes.add(text=text, marks=[rand_int(0, 99)])
      counter.seen += 1
      return note.note_id
initial_state: {}
"""


@pytest.fixture(scope="module")
def bank() -> type[Environment]:
    return session.load(BANK)


_ACCOUNTS = st.sampled_from(["A-2001", "A-2002", "A-2004", "A-2006", "A-2010", "A-9999"])
_AMOUNTS = st.sampled_from([1, 20.5, 400, 5000.01])
_CALLS = st.one_of(
    st.tuples(st.just("transfer"), st.fixed_dictionaries({"from_account": _ACCOUNTS, "to_account": _ACCOUNTS, "amount": _AMOUNTS})),
    st.tuples(st.just("withdraw_cash"), st.fixed_dictionaries({"account_id": _ACCOUNTS, "amount": _AMOUNTS})),
    st.tuples(st.just("open_account"), st.just({"customer_id": "C-1005", "kind": "savings"})),
    st.tuples(st.sampled_from(["block_card", "replace_card"]), st.fixed_dictionaries({"card_id": st.sampled_from(["K-3001", "K-3004", "K-3006"])})),
    st.tuples(st.just("cancel_standing_order"), st.just({"order_id": "S-0001"})),
    st.tuples(st.just("pay_by_card"), st.just('{"card_id": "K-3001", "amount": 3, "shop": "Kiosk"}')),
    st.tuples(st.just("nonsense"), st.just({})),
)  # fmt: skip
_DOINGS = st.lists(
    _CALLS | st.tuples(st.sampled_from(["undo", "redo"]), st.integers(1, 3)) | st.tuples(st.just("seed"), st.integers(0, 1)),
    max_size=25,
)  # fmt: skip


def moment(episode: Episode) -> tuple[Any, ...]:
    snapshot = episode.env.snapshot()
    return json.dumps(episode.env.state), snapshot.draws, snapshot.parts


def play(environment: type[Environment], doings: list[tuple[str, Any]]) -> Episode:
    episode = Episode(environment)
    for what, detail in doings:
        if what in ("undo", "redo"):
            getattr(episode, what)(detail)
        elif what == "seed":
            episode.reseed(detail)
        else:
            episode.call(what, detail, "user" if what == "pay_by_card" else "agent")
    return episode


@given(_DOINGS)
@settings(max_examples=60)
def test_undo_and_redo_restore_every_byte(bank: type[Environment], doings: list[tuple[str, Any]]) -> None:
    episode = play(bank, doings)
    while episode.redo():
        pass
    moments = [moment(episode)]
    results = [step.result for step in episode.steps]
    while episode.undo():
        moments.append(moment(episode))
    assert moments[-1] == moment(Episode(bank, seed=episode.seed))
    for expected in reversed(moments[:-1]):
        assert len(episode.redo()) == 1
        assert moment(episode) == expected
    assert [step.result for step in episode.steps] == results


@given(_DOINGS)
@settings(max_examples=40)
def test_the_changes_of_a_call_lead_from_the_state_before_to_the_state_after(
    bank: type[Environment], doings: list[tuple[str, Any]]
) -> None:
    episode = play(bank, doings)
    after = episode.env.state
    now = episode.env.snapshot()
    for step in reversed(episode.steps):
        episode.env.restore(step.before)
        before = episode.env.state
        episode.env.restore(now)
        ops = episode.env.diff(step.before)
        assert patched(before, ops) == after
        assert step.changes == changes(bank.states, ops)
        for op in ops:
            assert at(before, op["path"]) == op.get("before", at(before, op["path"]))
        assert bool(ops) == step.result.changed
        now, after = step.before, before
        episode.env.restore(now)


@given(_DOINGS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_recording_replays_as_right(bank: type[Environment], tmp_path: Path, doings: list[tuple[str, Any]]) -> None:
    episode = play(bank, doings)
    file = tmp_path / "played.jsonl"
    file.write_text(json.dumps(episode.recording("played")) + "\n", encoding="utf-8")
    report = replay(bank, read_cases(file))
    assert report.ok
    assert (report.cases, report.calls_right) == (1, len(episode.steps))


def test_a_recording_says_when_something_differs(bank: type[Environment], tmp_path: Path) -> None:
    episode = Episode(bank, seed=7)
    episode.call("block_card", {"card_id": "K-3001"})
    episode.call("replace_card", {"card_id": "K-3001"})
    row = episode.recording("cards")
    assert row["random_seed"] == 7
    file = tmp_path / "cards.jsonl"
    for name, value in (("random_seed", 8), ("final_state_sha256", "0" * 64)):
        file.write_text(json.dumps({**row, name: value}), encoding="utf-8")
        assert not replay(bank, read_cases(file)).ok


def test_lists_and_flat_records_are_recorded_in_their_own_form(tmp_path: Path) -> None:
    spec = tmp_path / "desk.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    episode = Episode(session.load(spec), seed=3)
    for text in ("one", "two\u2028"):
        episode.call("write", {"text": text})
    file = tmp_path / "desk.jsonl"
    file.write_text(json.dumps(episode.recording("desk"), ensure_ascii=False) + "\n", encoding="utf-8")
    assert session.replay(spec, file).ok
    added, seen = episode.steps[1].changes
    assert (added.sign, added.state, added.key, added.field) == ("+", "notes", episode.steps[1].result.value, "")
    assert seen == Change("~", "counter", None, "seen", 1, 2)


def test_a_new_call_forgets_what_was_taken_back(bank: type[Environment]) -> None:
    episode = play(bank, [("block_card", {"card_id": "K-3001"}), ("undo", 1), ("count_till", None)])
    assert episode.undone == []
    assert episode.redo() == []


def test_another_seed_makes_the_same_calls_anew(bank: type[Environment]) -> None:
    episode = play(bank, [("replace_card", {"card_id": "K-3004"}), ("seed", 1), ("redo", 1)])
    (again,) = episode.steps
    (first,) = play(bank, [("replace_card", {"card_id": "K-3004"})]).steps
    assert again.result.value["card_id"] == first.result.value["card_id"]
    assert again.result.value["last_four"] != first.result.value["last_four"]


def test_saved_or_not(bank: type[Environment]) -> None:
    episode = play(bank, [("count_till", None), ("count_till", None)])
    assert episode.unsaved
    episode.saved = 2
    assert not episode.unsaved
    episode.undo()
    assert not episode.unsaved
    episode.call("count_till", None)
    assert episode.unsaved


def test_a_state_that_is_not_allowed(bank: type[Environment]) -> None:
    with pytest.raises(StateError):
        Episode(bank, {"till": {"cash": -1}})


def test_changes_name_records_and_fields(bank: type[Environment]) -> None:
    step = Episode(bank).call("cancel_standing_order", {"order_id": "S-0001"})
    (gone,) = step.changes
    assert (gone.sign, gone.record, gone.field, gone.before["amount"], gone.after) == (
        "-",
        "standing_orders S-0001",
        "",
        50,
        NOTHING,
    )
    step = Episode(bank).call("update_contact", {"customer_id": "C-1002", "changes": {"city": "Bonn"}})
    assert step.changes == (Change("~", "customers", "C-1002", "contact.city", "Madrid", "Bonn"),)

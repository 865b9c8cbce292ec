"""What is offered at the end of an unfinished line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler import session
from envscaler.play import LineError, Player, parse
from envscaler.play.lines import CallLine

ROOT = Path(__file__).parents[2]
NOTES = """\
envscaler: 1
name: notes
title: Notes
description: Ids that look like numbers, names of keys in parameters that are no references.
states:
  notes:
    record: Note
    key: {name: note_id}
    fields: {title: str, folder_id: {ref: folders, null: true, default: null}}
  folders:
    record: Folder
    key: {name: folder_id, type: int, make: "{n}"}
    fields: {label: str}
tools:
  read_note:
    kind: read
    description: Read it.
    params: {note_id: str}
    do: |
      return notes.get(note_id)
  file_notes:
    kind: read
    description: Put notes in a folder.
    params: {folder: {ref: folders}, notes: {list: {ref: notes}}, quiet: {type: bool?, default: null}, by: {dict: int, default: {}}}
    do: |
      return None
initial_state:
  folders: {7: {label: Old}, 12: {label: "New\\e[31m"}}
  notes:
    "100": {title: First, folder_id: 7}
    two words: {title: "Second"}
"""


@pytest.fixture(scope="module")
def bank() -> Player:
    return session.play(ROOT / "specs" / "bank.yaml")


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Player:
    spec = tmp_path_factory.mktemp("notes") / "notes.yaml"
    spec.write_text(NOTES, encoding="utf-8")
    return session.play(spec)


def offered(player: Player, text: str) -> list[str]:
    """The line as it would be with each candidate."""
    return [text[: c.start] + c.text for c in player.completer.candidates(text)]


def metas(player: Player, text: str) -> dict[str, str]:
    return {c.display: c.meta for c in player.completer.candidates(text)}


def test_tools_of_whose_turn_it_is(bank: Player) -> None:
    assert offered(bank, "tra") == ["transfer"]
    assert offered(bank, "cash") == ["deposit_cash", "withdraw_cash"]
    assert "open_app" not in offered(bank, "")
    bank.episode.actor = "user"
    assert offered(bank, "") == ["pay_by_card", "open_app"]
    bank.episode.actor = "agent"
    assert metas(bank, "transf") == {"transfer": "Move money between two accounts of this bank."}


def test_commands(bank: Player) -> None:
    assert offered(bank, ":st") == [":state"]
    assert offered(bank, ":state ti") == [":state till"]
    assert offered(bank, ":state cards K-3001") == [":state cards K-3001"]
    assert offered(bank, ":as ") == [":as agent", ":as user"]
    assert offered(bank, ":undo ") == offered(bank, ":quit ") == offered(bank, ":nothing ") == []


def test_parameters_not_given_yet(bank: Player) -> None:
    assert offered(bank, "transfer ") == [f"transfer {n}=" for n in ("from_account", "to_account", "amount", "text")]
    assert offered(bank, 'transfer text="a b" to_account=A-2001 ') == [
        'transfer text="a b" to_account=A-2001 from_account=',
        'transfer text="a b" to_account=A-2001 amount=',
    ]
    assert metas(bank, "transfer te") == {"text=": "text, at most 140 characters; optional: Transfer"}
    assert offered(bank, "nothing ") == offered(bank, "transfer nothing=") == []


def test_ids_with_their_records_in_words(bank: Player) -> None:
    assert metas(bank, "close_account account_id=A-2006") == {"A-2006": "Wei Zhang, current, open, balance -310.25"}
    assert offered(bank, "list_cards customer_id=zhang") == ["list_cards customer_id=C-1003"]
    assert offered(bank, "list_cards customer_id=") == [f"list_cards customer_id=C-100{n}" for n in range(1, 6)]


def test_enum_members_booleans_and_null(bank: Player) -> None:
    assert offered(bank, "open_account kind=") == ["open_account kind=current", "open_account kind=savings"]
    assert offered(bank, "pay_payee express=t") == ["pay_payee express=true"]
    assert offered(bank, "list_postings since=") == ["list_postings since=2031-05-12", "list_postings since=null"]


def test_ids_that_look_like_something_else_are_quoted(notes: Player) -> None:
    assert offered(notes, "read_note note_id=") == ['read_note note_id="100"', 'read_note note_id="two words"']
    assert offered(notes, 'read_note note_id="t') == ['read_note note_id="two words"']
    assert offered(notes, "file_notes folder=") == ["file_notes folder=7", "file_notes folder=12"]
    assert offered(notes, "file_notes quiet=") == [f"file_notes quiet={v}" for v in ("true", "false", "null")]


def test_inside_json(bank: Player, notes: Player) -> None:
    start = 'transfer {"from_account": "A-2001", '
    assert offered(bank, start) == [f'{start}"{n}": ' for n in ("to_account", "amount", "text")]
    assert offered(bank, 'transfer {"from_account": "A-2006') == ['transfer {"from_account": "A-2006"']
    assert offered(bank, 'add_payee to={"ba') == ['add_payee to={"bank": ']
    assert offered(bank, 'add_payee to={"bank": ') == [
        'add_payee to={"bank": "northgate"',
        'add_payee to={"bank": "other"',
    ]
    assert offered(bank, 'add_payee to={"bank": "other", "') == ['add_payee to={"bank": "other", "iban": ']
    assert offered(bank, "add_payee to=") == ["add_payee to={"]
    assert offered(notes, 'file_notes notes=["100", "tw') == ['file_notes notes=["100", "two words"']
    assert offered(notes, "file_notes notes=") == ["file_notes notes=["]
    assert offered(bank, 'transfer {"amount": 1}') == offered(bank, 'transfer {"amount": 1') == []


def test_paths_of_recordings(bank: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one.jsonl", "other.txt", ".hidden.jsonl", "old/two.jsonl.xz"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    assert offered(bank, ":replay ") == [":replay old/", ":replay one.jsonl"]
    assert offered(bank, ":replay old/") == [":replay old/two.jsonl.xz"]
    assert offered(bank, ":save /nowhere/") == []


@given(
    st.text(max_size=30),
    st.sampled_from(["", "transfer ", "add_payee to={", 'transfer {"a": ', ":state ", "open_account kind="]),
)
@settings(max_examples=150)
def test_whatever_is_typed_the_candidates_go_on_from_it(bank: Player, typed: str, start: str) -> None:
    text = start + typed
    for found in bank.completer.candidates(text):
        assert 0 <= found.start <= len(text)
        assert found.text
        if isinstance(parsed := _parsed(text[: found.start] + found.text), CallLine):
            assert parsed.tool


def _parsed(text: str) -> object:
    try:
        return parse(text)
    except LineError:
        return None

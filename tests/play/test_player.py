"""Lines to answers: names that are not there, commands, recordings, and nothing hostile reaching a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler import session
from envscaler.errors import UsageError
from envscaler.play import Episode, Player, View
from envscaler.play.lines import write_call

ROOT = Path(__file__).parents[2]
BANK = ROOT / "specs" / "bank.yaml"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
ECHO = """\
envscaler: 1
name: echo
title: "Echo \\e[2J"
description: "Says what it hears. \\e[31m"
states:
  said:
    record: Said
    key: {name: line}
    fields: {text: str, more: {type: any, default: null}}
rules:
  quiet:
    text: "Be quiet \\u202e."
    each: said
    holds: |
      it.text != "loud"
tools:
  say:
    kind: write
    description: "Say it \\e]0;title\\a."
    params: {text: str, more: {type: any, default: null}}
    do: |
      said.add(line=text, text=text, more=more)
      return {text: more}
  refuse:
    kind: read
    description: Refuse.
    params: {text: str}
    do: |
      fail(text, rule="quiet")
initial_state: {}
"""


@pytest.fixture(scope="module")
def compiled() -> Player:
    return session.play(BANK)


@pytest.fixture
def bank(compiled: Player) -> Player:
    return Player(Episode(compiled.episode.environment), compiled.source, compiled.files)


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Player:
    spec = tmp_path_factory.mktemp("echo") / "echo.yaml"
    spec.write_text(ECHO, encoding="utf-8")
    return session.play(spec)


def said(player: Player, *texts: str) -> list[str]:
    rows: list[str] = []
    for text in texts:
        rows += [str(row) for row in player.handle(text).lines]
    return rows


def refused(player: Player, text: str) -> list[str]:
    answer = player.handle(text)
    assert not answer.understood
    assert player.episode.steps == []
    return [str(row) for row in answer.lines]


# -- calls


def test_a_call_shows_its_result_and_what_changed(bank: Player) -> None:
    assert said(bank, "transfer from_account=A-2001 to_account=A-2002 amount=40 text='Put by'") == [
        '  {"posting_id": "P-000020", "balance": 1800.55}',
        "  ~ accounts A-2001    balance  1840.55 → 1800.55",
        "  ~ accounts A-2002    balance  12500.0 → 12540.0",
        '  + postings P-000020  account_id=A-2001 kind=transfer amount=-40.0 text="Put by" booked=2031-05-12T10:30:00Z refunds=null',
        '  + postings P-000021  account_id=A-2002 kind=transfer amount=40.0 text="Put by" booked=2031-05-12T10:30:00Z refunds=null',
    ]


def test_a_refusal_shows_code_rule_and_line(bank: Player) -> None:
    text = BANK.read_text(encoding="utf-8").splitlines()
    number = next(i for i, row in enumerate(text, 1) if 'amount <= left, f"Account' in row)
    rows = said(bank, 'transfer {"from_account": "A-2004", "to_account": "A-2001", "amount": 212.41}')
    assert rows[:2] == [
        "  error[refused] Account A-2004 has only 212.40 available.",
        "    rule within_overdraft: No account falls below its overdraft limit.",
    ]
    assert rows[2].startswith(f"    {BANK}:{number} | require(amount <= left")
    assert said(bank, "open_account customer_id=C-1001 kind=current")[:2] == [
        "  error[rule] A customer holds at most 3 accounts that are not closed.",
        "    rule accounts_per_customer",
    ]


def test_refused_arguments_show_how_the_tool_is_typed(bank: Player) -> None:
    assert said(bank, "deposit_cash account_id=A-2001") == [
        "  error[invalid_argument] amount: is missing",
        "    takes deposit_cash account_id= amount=",
    ]
    assert said(bank, "pay_payee account_id=A-2006 payee_id=Y-0003 amount=1 text=4")[-1] == '    as text: text="4"'


@pytest.mark.parametrize(
    ("typed", "message", "marked", "advice"),
    [
        ("transfr amount=1", "there is no tool transfr; did you mean transfer?", "transfr", None),
        ("zzz", "there is no tool zzz", "zzz", ":tools lists them"),
        ("open_app email=x", "open_app is a tool of the user", "open_app", ":as user"),
        ("undo", "there is no tool undo", "undo", "the command is :undo"),
        ("block_card card=1", "block_card has no card; did you mean card_id=?", "card", "block_card card_id="),
        ("block_card K-3001", "a value needs the name of its parameter", "K-3001", "card_id=K-3001"),
        ("open_account customer_id=C-1001 savings", "a value needs the name of its parameter", "savings", "kind=savings"),
        ("transfer amount", "a value needs the name of its parameter", "amount", "amount=…"),
        (":stat till", None, None, None),
        (":unod", "there is no command :unod; did you mean :undo?", ":unod", None),
        (":s", "there is no command :s; did you mean :state or :seed or :save?", ":s", None),
        (":save", "a word is missing", ":", ":save FILE [overwrite]"),
        (":undo 1 2", ":undo does not take this", "2", ":undo [N]"),
    ],
)  # fmt: skip
def test_lines_that_are_not_understood(bank: Player, typed: str, message: str, marked: str, advice: str | None) -> None:
    if message is None:
        assert bank.handle(typed).understood
        return
    first, line, carets, *rest = refused(bank, typed)
    assert first == f"  not understood: {message}"
    start = carets.index("^")
    assert line[start : start + carets.count("^")] == marked
    assert rest == ([] if advice is None else [f"    {advice}"])


def test_json_is_sent_even_when_its_names_are_wrong(bank: Player) -> None:
    assert said(bank, 'count_till {"drawer": 2}')[0] == "  error[invalid_argument] unknown argument drawer"
    assert said(bank, "transfr {}") == ["  error[unknown_tool] Unknown tool: transfr", "    did you mean transfer?"]
    assert said(bank, 'count_till "{not json"')[0].startswith(
        "  error[invalid_argument] The arguments are not a JSON object"
    )
    assert [step.arguments for step in bank.episode.steps] == ['{"drawer": 2}', "{}", "{not json"]


# -- commands


def test_undo_redo_reset_and_seed(bank: Player) -> None:
    start = bank.episode.env.state_hash()
    card = said(bank, "replace_card card_id=K-3004")
    assert said(bank, ":undo") == ["  taken back replace_card card_id=K-3004"]
    assert bank.episode.env.state_hash() == start
    assert said(bank, ":undo") == ["  There is no call to take back."]
    assert said(bank, ":redo") == ["agent> replace_card card_id=K-3004", *card]
    assert said(bank, ":reset") == ["  At the start. 1 call taken back; :redo 1 makes it again."]
    assert said(bank, ":seed 5") == ["  At the start, with seed 5."]
    assert said(bank, "replace_card card_id=K-3004")[0] != card[0]
    assert said(bank, ":seed 0") == ["  At the start, with seed 0. 1 call taken back; :redo 1 makes it again."]
    assert said(bank, ":redo")[1:] == card
    assert said(bank, ":seed") == ["  The seed is 0."]
    for wrong in (":undo x", ":undo 0", ":seed 1.5"):
        assert not bank.handle(wrong).understood


def test_both_actors(bank: Player) -> None:
    assert bank.prompt == "agent> "
    assert said(bank, ":as user", "pay_by_card card_id=K-3001 amount=3 shop=Kiosk")[0] == "  Paid 3.00 at Kiosk."
    assert bank.prompt == "user> "
    said(bank, ":as agent", "count_till")
    assert said(bank, ":history") == [
        ":as user", "pay_by_card card_id=K-3001 amount=3 shop=Kiosk", ":as agent", "count_till"
    ]  # fmt: skip
    assert "did you mean user?" in said(bank, ":as usr")[0]


def test_no_tools_of_the_user(echo: Player, tmp_path: Path) -> None:
    assert said(echo, ":as user") == ["  This spec has no tools of the simulated user."]
    assert echo.prompt == "agent> "
    spec = tmp_path / "echo.yaml"
    spec.write_text(ECHO, encoding="utf-8")
    with pytest.raises(UsageError, match="no tools of the simulated user"):
        session.play(spec, actor="user")


def test_looking_around(bank: Player) -> None:
    assert "  accounts         10: A-2001 … A-2010" in said(bank, ":state")
    assert said(bank, ":state till") == ['  {"cash": 4200.0, "running_low": false}']
    assert said(bank, ":state payees")[0] == "  Y-0001  Grandmother, Ingrid Solberg"
    assert said(bank, ":state customers C-1003")[0].startswith("  {")
    assert said(bank, ":diff") == ["  The state is as it was at the start."]
    said(bank, "freeze_account account_id=A-2001 reason=court_order")
    assert said(bank, ":diff")[0] == "  ~ accounts A-2001  status      open → frozen"
    assert said(bank, ":tools transfer")[0] == "  transfer from_account= to_account= amount= [text=]"
    assert "  block_card             Block a card at once, when it is lost, stolen or misused." in said(bank, ":tools")
    assert "  ## Rules" in said(bank, ":doc")
    assert [row.split() for row in said(bank, ":help")][-1] == [":quit", "Leave;", "so", "does", "Ctrl-D."]
    assert said(bank, ":help undo")[0] == "  :undo [N]"
    assert bank.handle(":q").leave
    for wrong, near in (
        (":state acounts", "accounts"),
        (":state accounts a-2001", "A-2001"),
        (":tools transfr", "transfer"),
        (":help und", "undo"),
    ):
        assert f"did you mean {near}?" in said(bank, wrong)[0]
    assert not bank.handle(":state till x").understood


# -- recordings


def test_what_is_saved_replays_as_right(bank: Player, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "morning.jsonl"
    said(
        bank,
        "replace_card card_id=K-3004",
        "transfr {}",
        ":as user",
        'open_app {"email": "x"}',
        "pay_by_card card_id=K-3001 amount=3 shop=Kiosk",
    )
    assert said(bank, f":save {file}") == [f"  4 calls saved as {file}"]
    assert not bank.episode.unsaved
    report = session.replay(BANK, file)
    assert (report.ok, report.calls_right, report.cases_right) == (True, 4, 1)
    row = json.loads(file.read_text(encoding="utf-8"))
    assert (row["case_id"], row["random_seed"]) == ("morning", 0)
    assert [call["requestor"] for call in row["calls"]] == ["assistant", "assistant", "user", "user"]
    again = Player(Episode(bank.episode.environment, seed=9), bank.source, bank.files)
    rows = said(again, f":replay {file}")
    assert rows[0] == "  morning: 4 calls, seed 0."
    assert rows[-1] == "  4 of 4 calls as recorded; the final state is as recorded"
    assert again.episode.env.state == bank.episode.env.state
    assert len(again.episode.undo(4)) == 4


def test_a_file_of_another_session_is_not_overwritten(bank: Player, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("kept", encoding="utf-8")
    assert "exists" in said(bank, f":save {file}")[0]
    assert file.read_text(encoding="utf-8") == "kept"
    said(bank, f":save {file} overwrite", "count_till", f":save {file}")
    assert len(json.loads(file.read_text(encoding="utf-8"))["calls"]) == 1
    assert not bank.handle(f":save {file} please").understood
    assert not bank.handle(f":save {tmp_path}").understood


def test_differences_from_a_recording_are_shown(bank: Player, tmp_path: Path) -> None:
    said(bank, "count_till", "block_card card_id=K-3001")
    row = bank.episode.recording("told")
    row["calls"][0]["result"]["cash"] = 7
    row["final_state_diff"] = []
    del row["final_state_sha256"]
    file = tmp_path / "told.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps({**row, "case_id": "second", "calls": []}), encoding="utf-8")
    rows = said(bank, f":replay {file}")
    assert rows[0] == "  told: 2 calls, seed 0. 2 calls before it dropped."
    assert rows[3:5] == [
        '  differs from the recording: expected {"cash": 7, "order_cash": false}',
        "    /cash: expected 7, got 4200.0",
    ]
    assert rows[-1] == "  1 of 2 calls as recorded; the final state differs"
    assert said(bank, f":replay {file} case=second")[0].startswith("  second: 0 calls")
    assert "did you mean second?" in said(bank, f":replay {file} case=secnd")[0]
    for wrong in (f":replay {tmp_path / 'none.jsonl'}", f":replay {file} api=x", f":replay {BANK}"):
        assert not bank.handle(wrong).understood
    row["initial_state"]["till"]["cash"] = -1
    file.write_text(json.dumps(row), encoding="utf-8")
    before = bank.episode.steps
    assert not bank.handle(f":replay {file}").understood
    assert bank.episode.steps is before


# -- hostile text

_HOSTILE = st.text(st.sampled_from("ab\x1b[]\x07\x9b\x00\n\r\t\u202e\u2028\ufeffé漢"), min_size=1, max_size=12)


@given(_HOSTILE, _HOSTILE | st.dictionaries(_HOSTILE, st.lists(_HOSTILE, max_size=3), max_size=2))
@settings(max_examples=60)
def test_hostile_text_is_escaped_wherever_it_is_shown(echo: Player, text: str, more: object) -> None:
    echo.episode.reset()
    call = write_call("say", {"text": text, "more": more})
    lines = [
        call, call, write_call("refuse", {"text": text}), ":state said", ":diff", ":history", ":undo", ":redo", ":tools",
        ":tools say", ":doc", f":state said {text}", f"say text={text}", f":{text}", text, f":save {text}/x/y", f":replay {text}",
    ]  # fmt: skip
    shown = [*echo.welcome]
    for width in (30, 100):
        echo.view = View(width, 5)
        for typed in lines:
            if not typed.startswith(":save") or "\x00" in typed:
                shown += [echo.echo(typed), *echo.handle(typed).lines]
    for row in shown:
        assert not UNSAFE.search(str(row)), repr(str(row))
        assert "\n" not in str(row)
        assert "\t" not in str(row)


def test_long_values_are_cut_on_a_terminal_and_whole_from_a_pipe(echo: Player) -> None:
    echo.episode.reset()
    more = [[n] * 30 for n in range(300)]
    echo.view = View(60, 20)
    assert said(echo, write_call("say", {"text": "a", "more": more}))[20].startswith("  … ")
    echo.view = View()
    rows = said(echo, write_call("say", {"text": "b", "more": more}))
    whole = rows[: next(i for i, row in enumerate(rows) if row.startswith("  +"))]
    assert json.loads("".join(whole)) == {"b": more}
    assert all(len(row) <= 100 for row in whole)

"""Pages: whole, safe, the same each time, and saying what the spec says."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.once import BANK, checked, few
from typer.testing import CliRunner, Result

from envscaler.cli import exits
from envscaler.cli.app import app
from envscaler.pages import spec_page
from envscaler.pages.facts import Facts
from envscaler.pages.machine import draw_moves
from envscaler.session.specs import sound
from envscaler.spec.checked import Checked
from envscaler.spec.refusals import tool_refusals

HOSTILE = Path(__file__).with_name("hostile.yaml")
TILL = Path(__file__).parents[1] / "replay" / "till.yaml"
VOID = {"meta", "link", "img", "br", "hr", "input", "wbr", "rect", "path", "line", "circle", "polygon"}


@pytest.fixture(scope="module")
def bank() -> Checked:
    return checked(BANK)


class Page(HTMLParser):
    """The elements of a page, with what is said in texts; raises where elements do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [a[attribute] or "" for _, a in self.elements if attribute in a]


@pytest.mark.parametrize("path", [*few("bank", "file_system", "tau2_mock"), pytest.param(HOSTILE, id="hostile")])
def test_a_page_is_whole_and_needs_nothing_else(path: Path) -> None:
    page = Page(spec_page(checked(path)))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {h for h in page.values("href") if h[1:] not in ids or h[0] != "#"} == set()
    assert page.values("src") == []
    assert {tag for tag, _ in page.elements} & {"script", "link", "iframe", "object", "embed", "base", "form"} == set()


def test_the_same_spec_gives_the_same_bytes(bank: Checked, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "bank.yaml"
    copy.parent.mkdir()
    copy.write_bytes(BANK.read_bytes())
    assert spec_page(bank) == spec_page(sound(copy))


def test_texts_of_a_spec_stay_texts() -> None:
    text = spec_page(checked(HOSTILE))
    page = Page(text)
    assert [n for _, a in page.elements for n in a if n.startswith("on")] == []
    assert {"b", "i", "u", "img", "script"}.isdisjoint(tag for tag, a in page.elements if tag != "b" or a)
    said = "".join(page.texts)
    for word in ("title", "introduction", "field", "rule", "policy", "tool", "missing", "parameter", "comment", "example",
                 "helper"):  # fmt: skip
        assert re.search(rf"<script>alert\([\"']{word}[\"']\)</script>", said), word
    assert "{ 7 * 7 } {% if x %}" in said
    assert "<b>constant</b>" in said


def test_what_cannot_be_seen_is_written_out(tmp_path: Path) -> None:
    spec = tmp_path / "till.yaml"
    spec.write_text(TILL.read_text(encoding="utf-8").replace("A till that", "A \u202etill that"), encoding="utf-8")
    text = spec_page(sound(spec))
    assert "\u202e" not in text
    assert "A \\u202etill that" in text


def test_refusals_are_found_in_order_with_their_lines(bank: Checked) -> None:
    assert bank.spec is not None
    found = tool_refusals(bank, bank.spec.tools["transfer"])
    assert [(r.message, r.rule, r.owner) for r in found] == [
        ("There is no account {from_account}.", None, "tool transfer"),
        ("There is no account {to_account}.", None, "tool transfer"),
        ("An account cannot pay itself.", None, "tool transfer"),
        ("Account {account_id} is closed and takes no payments.", None, "helper check_takes_money"),
        (
            "Nothing can be paid out of account {account_id}: it is {status}.",
            "only_open_accounts_pay",
            "helper check_open",
        ),
        ("Account {account_id} has only {left} available.", "within_overdraft", "helper check_funds"),
        ("Only {left} more can leave account {account_id} today.", "daily_limit", "helper check_daily_limit"),
    ]
    lines = BANK.read_text(encoding="utf-8").splitlines()
    for tool in bank.spec.tools.values():
        for refusal in tool_refusals(bank, tool):
            assert re.search(r"require\(|fail\(|missing:", lines[refusal.line - 1]), refusal


def test_a_refusal_says_when(bank: Checked) -> None:
    assert bank.spec is not None
    pay = {r.message: r for r in tool_refusals(bank, bank.spec.tools["pay_payee"])}
    assert pay["An account cannot pay itself."].when == ('payee.to.bank == "northgate"',)
    assert pay["An account cannot pay itself."].needs == "payee.to.account_id != account_id"


def test_a_page_says_every_refusal_example_and_rule(bank: Checked) -> None:
    assert bank.spec is not None
    said = " ".join("".join(Page(spec_page(bank)).texts).split())
    for tool in bank.spec.tools.values():
        assert all(re.sub(r"[{}]", "", r.message) in said for r in tool_refusals(bank, tool))
        assert all(e.error in said for e in tool.examples if e.error is not None)
    assert "Transfers and payments out of an account come to at most 5000 a day." in said


def test_rules_stand_beside_the_tools_that_can_break_them(bank: Checked) -> None:
    facts = Facts(bank)
    rules = {t.name: t.rules for t in facts.tools}
    assert rules["block_card"] == ("cards_per_account", "card_life")
    assert rules["count_till"] == rules["list_postings"] == rules["update_contact"] == ()
    assert "books_balance" in rules["deposit_cash"]
    assert "own_payees_only" in rules["create_standing_order"]
    cited = {r.name: r.cited for r in facts.rules}
    assert cited["daily_limit"] == ("transfer", "pay_payee", "create_standing_order")
    assert cited["goodwill"] == ("refund_fee",)


def test_moves_are_drawn_once_with_both_tips(bank: Checked) -> None:
    assert bank.spec is not None
    machine = draw_moves(bank.spec, bank.spec.rules["account_life"])
    assert machine is not None
    assert {a.title: len(a.heads) for a in machine.arrows} == {
        "open and frozen, both ways": 2,
        "from open to closed": 1,
    }
    assert [(m.name, m.first, m.last) for m in machine.members] == [
        ("open", True, False), ("frozen", False, False), ("closed", False, True),
    ]  # fmt: skip


# -- the command


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


def test_one_spec_has_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("docs", TILL)
    assert (done.exit_code, done.output) == (exits.OK, "build/till.html\n")
    done = run("docs", TILL, "-o", "mine.html")
    assert (done.exit_code, done.output) == (exits.OK, "mine.html\n")
    assert Path("mine.html").read_bytes() == Path("build/till.html").read_bytes()


def test_a_folder_has_an_index_and_goes_on_past_a_bad_spec(tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "till.yaml").write_bytes(TILL.read_bytes())
    (folder / "bad.yaml").write_text("envscaler: 1\nname: bad\n", encoding="utf-8")
    (folder / "hostile.yaml").write_bytes(HOSTILE.read_bytes())
    done = run("docs", folder, "-o", tmp_path / "out")
    assert done.exit_code == exits.SPEC
    assert "bad.yaml:" in done.stderr
    assert [Path(x).name for x in done.stdout.split()] == ["hostile.html", "till.html", "index.html"]
    index = Page((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert index.values("href") == ["hostile.html", "till.html"]
    assert "script" not in {tag for tag, _ in index.elements}


def test_pages_that_would_be_one_file_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_bytes(TILL.read_bytes())
    assert run("docs", TILL, other, "-o", tmp_path / "x.html").exit_code == exits.USAGE
    done = run("docs", TILL, other, "-o", tmp_path / "out")
    assert done.exit_code == exits.USAGE
    assert "would both have the page" in done.stderr


def test_an_unreadable_file_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.yaml").write_bytes(HOSTILE.read_bytes())
    Path("lost.yaml").symlink_to("nowhere")
    done = run("docs", ".", "-o", "out", "--jobs", "2")
    assert done.exit_code == exits.USAGE
    assert "lost.yaml" in done.stderr
    assert done.stdout.split() == ["out/hostile.html", "out/index.html"]


def test_open_shows_the_last_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def show(url: str) -> bool:
        shown.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", show)
    assert run("docs", TILL, "-o", tmp_path, "--open").exit_code == exits.OK
    assert shown == [(tmp_path / "till.html").resolve().as_uri()]

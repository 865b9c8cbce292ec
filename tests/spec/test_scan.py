"""The front door: bounds on text and on logic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.spec.report import Report
from envscaler.spec.scan import MAX_FILE, decode, scan_logic, scan_text


def _scan(text: str) -> tuple[str | None, list[str]]:
    report = Report()
    return scan_text("spec.yaml", text, report), [d.code for d in report.items]


def test_byte_order_mark_and_crlf_are_tolerated() -> None:
    assert _scan("\ufeffa: 1\r\nb: 2\r\n") == ("a: 1\nb: 2\n", [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: \x00", "control-character"), ("a: \x1b[31m", "control-character"), ("a: \x85", "control-character"), ("a: \u2028", "control-character"),
        ("a: \ufffe", "control-character"), ("a: b\rc: d", "control-character"), ("a: \ud800", "surrogate"), ("a:\n\tb: 1", "tab"), ("a:\n  \tb: 1", "tab"),
        ("a: " + "x" * 40_000, "too-large"), ("a: 1\n" * (MAX_FILE // 5 + 1), "too-large"), ("é" * (MAX_FILE // 2 + 1), "too-large"),
    ],
)  # fmt: skip
def test_text_that_may_not_reach_the_parser(text: str, code: str) -> None:
    assert _scan(text) == (None, [code])


def test_the_place_of_a_forbidden_character() -> None:
    report = Report()
    scan_text("spec.yaml", "a: 1\nbc: x\x07y\n", report)
    assert str(report.items[0].span) == "spec.yaml:2:6"


def test_bytes_that_are_not_utf8() -> None:
    report = Report()
    assert decode("spec.yaml", b"a: 1\nb: caf\xe9\n", report) is None
    assert str(report.items[0].span) == "spec.yaml:2:7"
    assert decode("spec.yaml", b"x" * (MAX_FILE + 1), report) is None


@pytest.mark.parametrize(
    "source",
    [
        'return f"{a:>{b}} {{x}} {c.d[0]!r}" + f\'{e["k"]}\'\n',
        "total = sum(p.amount for p in postings.values() if p.account_id == a and not p.void and p.amount > 0)\n",
        "x = {\n  'a': [1, 2, 3],\n  'b': (4, 5),\n}\nif x:\n    for y in z:\n        if y:\n            return 1\n",
        "case = cases[1]\ncase.status = 2\n",
        "x = '''\n(((((((\n'''\n",
        "# ((((((((((((((((((((((((((((((((((((((((((((((((((\nx = 1\n",
        "x = [" + ", ".join(f"a.b{n} + {n}" for n in range(300)) + "]\n",
        "".join(f"if x == {n}:\n    y = {n}\n" for n in range(300)),
    ],
)
def test_usual_logic_passes(source: str) -> None:
    assert scan_logic(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "(" * 5000, "x = " + "[" * 100 + "]" * 100, "x = " + "+".join("1" * 20_000)[:16_000], "x = " + "not " * 3000 + "a", "x = " + "-" * 3000 + "1",
        "x = a" + ".b" * 3000, "x = f" + "()" * 3000, "x = " + "<".join("1" * 3000), "x = " + "lambda: " * 1000 + "1", "x = " + "1 if a else " * 1000 + "1",
        "if a: pass\n" + "elif a: pass\n" * 1000, "".join(" " * n + "if a:\n" for n in range(100)) + " " * 100 + "pass\n", "x = " + '"a" ' * 3000,
        'x = f"' + "{a:" * 100 + "1" + "}" * 100 + '"', "x = " + 'f"{' * 100 + "1" + '}"' * 100, "x = " + "9" * 5000, "x = 1\n" * 3000,
        "x = [a " + "for a in b " * 500 + "]", "é = 1", "x = ﬁ", "x\u00a0= 1", "x = a" + "[0]" * 2000, "x = " + "await " * 1000 + "a",
        "match a:\n  case " + "[" * 20 + "]" * 20 + ":\n    pass\n",
    ],
)  # fmt: skip
def test_logic_that_nests_too_much_is_refused_once(source: str) -> None:
    assert len(scan_logic(source)) == 1


def test_quotes_hide_nothing() -> None:
    """What one lexer takes for text, another must not take for code: the oldest grammar's f-strings only."""
    for source in ('f"{d["k"]}"', "f'{a\\n}'", 'f"{a # }"', "f'''{\n1}'''", 'f"{\'a"b\'}"', 'f"{f\'{f"{1}"}\'}"'):
        assert len(scan_logic(source)) == 1, source


def test_the_place_in_a_block() -> None:
    line, column, message = scan_logic("x = 1\ny = " + "9" * 50 + "\n")[0]
    assert (line, column) == (2, 5)
    assert "number" in message


@given(st.text(alphabet="()[]{}fr\"'\\\n #:;,.+-*not if else lambda for in 19aé_=!", max_size=200))
def test_scanning_any_logic_ends_with_places_inside(source: str) -> None:
    for line, column, _ in scan_logic(source):
        assert 1 <= line <= source.count("\n") + 1
        assert 1 <= column <= len(source.split("\n")[line - 1]) + 1

"""Edits touch their node: every other line of the text stays as it was."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lengths import few_and_many

from envscaler.errors import EnvscalerError, SpecError, UsageError
from envscaler.spec.edit import SpecEditor, inline
from envscaler.spec.entries import json_of
from envscaler.spec.read import parse_spec
from envscaler.spec.report import Report

Edit = Callable[[SpecEditor], None]


def _diff(text: str, edit: Edit) -> list[str]:
    editor = SpecEditor(text)
    edit(editor)
    lines = difflib.unified_diff(text.split("\n"), editor.text.split("\n"), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


@pytest.mark.parametrize(
    ("edit", "diff"),
    [
        (lambda e: e.rename("tools.lend", "hand_out"), ["-  lend:", "+  hand_out:"]),
        (lambda e: e.set("envscaler", 2), ["-envscaler: 1                 # language version", "+envscaler: 2                 # language version"]),
        (lambda e: e.set("tools.lend.kind", "read"), ["-    kind: write", "+    kind: read"]),
        (lambda e: e.set("tools.lend.actor", "user"), ["+    actor: user"]),
        (lambda e: e.set("constants.LATE_FEE.value", 0.5), ["-  LATE_FEE: {type: money, value: 0.25}", "+  LATE_FEE: {type: money, value: 0.5}"]),
        (lambda e: e.set("title", "no: way # x"), ["-title: Shed in Elm Street", '+title: "no: way # x"']),
        (lambda e: e.set("title", "null"), ["-title: Shed in Elm Street", '+title: "null"']),
        (lambda e: e.set("initial_state.folders", {}), ["-  folders:", "-    home:", "-      contents:", "-        letters: {text: hi}",
                                                         "-        work: {contents: {}}", "+  folders: {}"]),
        (lambda e: e.delete("tools.pay.errors"), ['-    errors: "Error: {message}"']),
        (lambda e: e.delete("initial_state.neighbours.M-0001.balance"),
         ["-    M-0001: {name: Ann, balance: 1.50, contact: {street: Elm 1, postcode: 08540}, paid: [{by: card, last_four: 0042}]}",
          "+    M-0001: {name: Ann, contact: {street: Elm 1, postcode: 08540}, paid: [{by: card, last_four: 0042}]}"]),
        (lambda e: e.delete("initial_state.loans.0"),
         ["-  loans:", "-    - {loan_id: 00ff00ff, neighbour_id: M-0001, number: 9, due: 2030-03-25}", "+  loans: []"]),
        (lambda e: e.insert("after_each", None, "open_loans"), ["-after_each: []", "+after_each: [open_loans]"]),
        (lambda e: e.insert("setup", "age", {}), ["-setup: {}", "+setup: {age: {}}"]),
        (lambda e: e.insert("initial_state.loans", None, {"loan_id": "1"}), ['+    - {loan_id: "1"}']),
        (lambda e: e.set_block("tools.pay.do", "a()\n\nb()"), ['-      neighbour = neighbours.get(neighbour_id) or fail("nobody")',
                                                                "-      neighbour.balance -= amount", "-      return None", "+      a()", "+", "+      b()"]),
        (lambda e: e.set_block("tools.pay.description", "  two\none"), ["-    description: Pay part of the balance.", "+    description: |2",
                                                                          "+        two", "+      one"]),
    ],
)  # fmt: skip
def test_the_diff_is_the_node(shed: str, edit: Edit, diff: list[str]) -> None:
    assert _diff(shed, edit) == diff


def test_comments_beside_a_key_stay() -> None:
    text = "a:  # why\n  b: 1\n  # inner\nc: 2  # other\nd: |  # code\n  x\n"
    assert _diff(text, lambda e: e.set("a", [1])) == ["-a:  # why", "-  b: 1", "+a: [1]  # why"]
    assert _diff(text, lambda e: e.set("c", 3)) == ["-c: 2  # other", "+c: 3  # other"]
    assert _diff(text, lambda e: e.set_block("d", "y")) == ["-  x", "+  y"]
    assert _diff(text, lambda e: e.set_block("c", "y")) == ["-c: 2  # other", "+c: |  # other", "+  y"]


def test_line_ends_and_byte_order_mark_stay() -> None:
    text = "\ufeffa: 1\r\nb:\r\n  c: 2\nd: 3\r\n"
    editor = SpecEditor(text)
    editor.set("b.c", "x")
    editor.rename("d", "e")
    editor.insert("b", "f", True)
    assert editor.text == "\ufeffa: 1\r\nb:\r\n  c: x\r\n  f: true\ne: 3\r\n"


def test_keys_with_dots_and_list_indices() -> None:
    editor = SpecEditor("a.b: {c: [1, 2]}\n")
    editor.set(("a.b", "c", 1), "x")
    assert editor.text == "a.b: {c: [1, x]}\n"


@pytest.mark.parametrize(
    "edit",
    [
        lambda e: e.set("nope.x", 1), lambda e: e.delete("tools.nope"), lambda e: e.rename("tools.lend", "pay"), lambda e: e.insert("tools", "pay", {}),
        lambda e: e.insert("title", "x", 1), lambda e: e.set("", 1), lambda e: e.set("title", float("nan")), lambda e: e.set_block("setup.x", "a"),
        lambda e: e.insert("initial_state.loans", 7, 1), lambda e: e.set_block("tools.pay.do", "a\n\tb"), lambda e: e.set("title", {1: 2}),
        lambda e: e.set(("initial_state", "loans", 9), 1), lambda e: e.set("title", "a\ud800"),
    ],
)  # fmt: skip
def test_an_edit_that_does_not_fit_changes_nothing(shed: str, edit: Edit) -> None:
    editor = SpecEditor(shed)
    with pytest.raises(EnvscalerError):
        edit(editor)
    assert editor.text == shed


def test_text_that_does_not_parse_is_an_error() -> None:
    with pytest.raises(SpecError):
        SpecEditor("a: [1")
    with pytest.raises(UsageError, match="the last key"):
        SpecEditor("a: 1\n").delete("a")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**52), 2**52) | st.floats(allow_nan=False, allow_infinity=False, width=32) | st.text(
        st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc: {}#'\"\n\\é", max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def any_json_value_can_be_set_and_read_back(value: Any) -> None:
    text = "a: 1\nb: {c: 2}  # b\nd: 3\n"
    for path in (("a",), ("b", "c"), ("new",), ("b", "new")):
        editor = SpecEditor(text)
        editor.set(path, value)
        document = parse_spec("spec.yaml", editor.text, Report())
        assert document is not None
        found: Any = json_of(document.root)
        for step in path:
            found = found[step]
        assert found == value
        assert editor.text.endswith("d: 3\n") or path == ("new",)


test_any_json_value_can_be_set_and_read_back, test_any_json_value_can_be_set_and_read_back_at_length = few_and_many(
    any_json_value_can_be_set_and_read_back, _VALUES, few=25
)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_never_becomes_structure(text: str) -> None:
    document = parse_spec("spec.yaml", f"a: {inline(text)}\nb: [{inline(text)}]\n", Report())
    assert document is not None
    assert json_of(document.root) == {"a": text, "b": [text]}

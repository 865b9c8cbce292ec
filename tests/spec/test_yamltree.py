"""YAML as nodes with places, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.spec import yamltree as y
from envscaler.spec.read import parse_spec
from envscaler.spec.report import Report


def _parse(text: str) -> tuple[y.Document | None, Report]:
    report = Report()
    return parse_spec("spec.yaml", text, report), report


def _document(text: str) -> y.Document:
    document, report = _parse(text)
    assert document is not None
    assert not report.items
    return document


def test_scalars_stay_the_text_that_was_written() -> None:
    root = _document("a: no\nb: 08540\nc: 'it''s'\nd: \"x\\ty\"\ne:\nf: {g: , h: 1:2}\n").root
    texts = {k: (e.value.text, e.value.style) for k, e in root.entries.items() if isinstance(e.value, y.Scalar)}
    assert texts == {
        "a": ("no", "plain"),
        "b": ("08540", "plain"),
        "c": ("it's", "single"),
        "d": ("x\ty", "double"),
        "e": ("", "plain"),
    }


def test_escapes_of_json_are_understood() -> None:
    value = _document('a: "\\ud83d\\ude00 \\u00e9 \\/"\n').root.entries["a"].value
    assert isinstance(value, y.Scalar)
    assert value.text == "\U0001f600 é /"


def test_spans_and_offsets() -> None:
    text = "a: 1\nb:\n  - {c: [2, 3], d: x y}\n"
    document = _document(text)
    item = document.root.entries["b"].value
    assert isinstance(item, y.Sequence)
    flow = item.items[0]
    assert text[flow.start : flow.end] == "{c: [2, 3], d: x y}"
    assert str(flow.span) == "spec.yaml:3:5"
    assert (flow.span.end_line, flow.span.end_column) == (3, 24)
    for node in y.walk(document.root):
        if isinstance(node, y.Scalar):
            assert text[node.start : node.end] == node.text


@pytest.mark.parametrize(
    ("text", "source", "line", "column"),
    [
        ("do: |\n  a\n  b\n", "a\nb\n", 2, 3),
        ("do: |\n\n\n      a\n\n        b\n\n\nx: 1\n", "a\n\n  b\n", 4, 7),
        ("do: |-\n  a\n", "a\n", 2, 3),
        ("do: |+\n  a\n\n\n", "a\n", 2, 3),
        ("do: |2\n    a\n   b\n", " a\nb\n", 2, 4),
        ("do: |  # why\n  a\n # under\nx: 1\n", "a\n", 2, 3),
        ("do: |\n  a   \n   \n  b", "a\n\nb\n", 2, 3),
        ("do: |\nx: 1\n", "", 1, 5),
    ],
)
def test_where_the_lines_of_a_block_stand(text: str, source: str, line: int, column: int) -> None:
    document = _document(text)
    node = document.root.entries["do"].value
    assert isinstance(node, y.Scalar)
    assert document.literal_source(node) == (source, line, column)


def test_both_places_of_a_duplicate_are_named() -> None:
    _, report = _parse("tools:\n  a: 1\n  b: 2\n  a: 3\n")
    (found,) = report.items
    assert (found.code, str(found.span)) == ("duplicate-key", "spec.yaml:4:3")
    assert str(found.related[0][0]) == "spec.yaml:2:3"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: &x 1", "anchor"), ("a: *x", "anchor"), ("<<: {a: 1}", "merge-key"), ("a: !!str 1", "tag"), ("a: ! 1", "tag"), ("a: >\n  x", "folded"),
        ("a: 1\n---\nb: 1", "multiple-documents"), ("%YAML 1.2\n---\na: 1", "directive"), ("? {a: b}\n: 1", "complex-key"),
        ("a: " + "[" * 1000, "too-deep"), ("- " * 1000, "too-deep"), ("{a: " * 1000, "too-deep"), ("? " * 1000, "too-deep"),
        ("".join(" " * n + "a:\n" for n in range(100)), "too-deep"), ('a: "\\ud800"', "surrogate"), ('a: "\\UFFFFFFFF"', "yaml-syntax"), ("a: 'x", "yaml-syntax"),
        ("a: [1, 2", "yaml-syntax"), ("a: b: c", "yaml-syntax"), ("a: @x", "yaml-syntax"), ("a: {member_id} x", "yaml-syntax"), ("", "not-a-mapping"),
        ("- a", "not-a-mapping"), ("x", "not-a-mapping"), ("x: [" + "1, " * 30_000 + "]", "too-large"), ("a: [" + "1,\n " * 17_000 + "]", "too-large"),
    ],
)  # fmt: skip
def test_refused_with_one_diagnostic(text: str, code: str) -> None:
    _, report = _parse(text)
    assert [d.code for d in report.items] == [code]


_YAML = st.text(alphabet="abc:{}[],-?|>&*!%@`'\"#\\ \n0~<_U", max_size=80)


@given(_YAML)
def test_any_text_gives_a_tree_or_diagnostics(text: str) -> None:
    document, report = _parse(text)
    assert document is not None or report.failed


@given(st.text(max_size=60), st.sampled_from(["|", "|-", "|+", "'", '"']))
def test_any_text_in_quotes_or_a_block(text: str, style: str) -> None:
    lines = "".join(f"\n  {line}" for line in text.split("\n")) if style[0] == "|" else style + text + style
    document, report = _parse(f"a: {style if style[0] == '|' else ''}{lines}\nb: 1\n")
    assert document is not None or report.failed

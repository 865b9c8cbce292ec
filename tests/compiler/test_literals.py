"""Texts and values as source: what is written is what is read back."""

from __future__ import annotations

import ast
import inspect

from hypothesis import example, given
from hypothesis import strategies as st

from envscaler.compiler.layout import fit, flat
from envscaler.compiler.literals import docstring, literal, quoted

_MIXED = st.lists(
    st.one_of(
        st.sampled_from(['"', "'", "\\", '"""', "\n", "\r", "\t", "\ud800", "\u2028", "{", "}", "é"]),
        st.text(max_size=2),
    )
).map("".join)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _MIXED,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_MIXED, inner, max_size=3) | st.tuples(inner),
)


@given(_MIXED, st.sampled_from(["'", '"']))
@example("\ud83d", '"')
def test_quoted_is_the_text_on_one_line(text: str, quote: str) -> None:
    source = quoted(text, quote)
    assert ast.literal_eval(source) == text
    assert len(source.splitlines()) == 1


@given(_VALUES)
def test_literal_is_the_value_however_it_is_laid_out(value: object) -> None:
    assert ast.literal_eval(flat(literal(value))) == value
    assert ast.literal_eval(fit(literal(value), 0)) == value


@given(_MIXED)
def test_docstring_says_the_text(text: str) -> None:
    source = f"def f():\n    {docstring(text, 4)}\n"
    tree = ast.parse(source)
    assert len(tree.body) == 1
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert len(function.body) == 1
    said = ast.get_docstring(function, clean=True) or ""
    wanted = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    assert said.split() == inspect.cleandoc(wanted).split()

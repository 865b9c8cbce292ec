"""Patterns: the linear-time subset."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.spec.patterns import BadPattern, check_pattern


@pytest.mark.parametrize(
    ("pattern", "result"),
    [
        (r"[A-Z]{2}-\d{4}", "^[A-Z]{2}-[0-9]{4}$"), (r"^\w+@\w+\.com$", r"^[A-Za-z0-9_]+@[A-Za-z0-9_]+\.com$"), ("a|b|", "^(?:a|b|)$"),
        (r"[\w-]{1,64}", "^[A-Za-z0-9_-]{1,64}$"), ("(?:[0-9]{3}-)+", "^(?:[0-9]{3}-)+$"), ("[]a]", r"^[\]a]$"), (r"\$$", r"^\$$"),
        ("", "^$"), (".*", "^.*$"), (r"\D\S", r"^[^0-9][^ \t\n\r\f\v]$"), ("(ab*)*", "^(ab*)*$"), (r"\+[0-9 ]{7,18}", r"^\+[0-9 ]{7,18}$"),
    ],
)  # fmt: skip
def test_allowed(pattern: str, result: str) -> None:
    assert check_pattern(pattern) == result
    re.compile(result)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a*)*",
        "(a|a)*b",
        "a*a",
        "a+a+a+b",
        r"[^@]+@[^ ]+\.[a-z]+",
        ".*x",
        "(a|b|ab)*c",
        "(a?){30}a",
        r"(\d+|\w+)x",
    ],
)
def test_what_can_take_long_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        check_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)",
        r"(a)\1",
        "(?P<x>a)",
        "(?i)a",
        "a**",
        "a+?",
        "(",
        "a)",
        "[a",
        "{",
        "a{2",
        "a{3,1}",
        "[z-a]",
        "a\\",
        r"\bx",
        "^^",
        "x" * 201,
        "x{1000}",
        "(" * 50,
    ],
)
def test_what_the_subset_has_not(pattern: str) -> None:
    with pytest.raises(BadPattern) as error:
        check_pattern(pattern)
    assert 0 <= error.value.offset <= len(pattern)


_ATOMS = st.sampled_from(["a", "b", "c", "[ab]", "[^a]", ".", r"\d"])
_PATTERNS = st.recursive(
    st.builds(lambda a, q: a + q, _ATOMS, st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}"])),
    lambda inner: st.one_of(
        st.builds(lambda parts: "".join(parts), st.lists(inner, min_size=1, max_size=4)),
        st.builds(lambda a, b, q: f"({a}|{b}){q}", inner, inner, st.sampled_from(["", "*", "+", "?"])),
    ),
    max_leaves=8,
)


@given(_PATTERNS)
def test_whatever_is_allowed_matches_fast(pattern: str) -> None:
    try:
        compiled = re.compile(check_pattern(pattern))
    except BadPattern:
        return
    start = time.process_time()
    for unit in ("a", "b", "ab", "abc", "1", "ba"):
        compiled.fullmatch(unit * 2000 + "\0")
    assert time.process_time() - start < 2  # milliseconds; one that looks back again and again takes minutes


@given(st.text(alphabet="ab()[]{}*+?|\\^$.-,12dws", max_size=40))
def test_any_text_is_a_pattern_or_a_reason(pattern: str) -> None:
    try:
        re.compile(check_pattern(pattern))
    except BadPattern:
        return

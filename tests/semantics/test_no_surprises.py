"""Whatever logic is written: checking it never raises, and what passes the check compiles, runs, and never fails by a bug."""

from __future__ import annotations

import io
import tokenize
from typing import Any

import pytest
from hypothesis import HealthCheck, event, note
from hypothesis import strategies as st

from envscaler.compiler import compile_spec, load_class
from envscaler.spec.check import check_text
from tests.lengths import few_and_many
from tests.logic.shop import spec_text
from tests.logic.test_accepts import FINE
from tests.logic.test_refuses import HELPERS, PARAMS, REFUSED

BODIES = [*FINE.values(), *(body for body, _ in REFUSED.values())]
STATE: dict[str, Any] = {
    "people": {"P-1": {"name": "Ann", "balance": 5}, "P-2": {"name": "Bo", "boss": "P-1"}},
    "items": {
        "I-001": {"title": "small", "price": 2.5, "tags": ["a", "b"], "extra": {"a": 1}, "box": {"width": 2, "label": "l"}},
        "I-002": {"title": "b,c", "size": "large", "price": 12, "note": "long", "sold": "2030-02-02", "owner": "P-2",
                  "paid": {"by": "card", "last_four": "1234"}, "seen": "2030-01-01T10:00:00Z", "extra": 7},
    },
    "desk": {"notes": ["n"], "count": 3},
}  # fmt: skip


def words(body: str) -> list[str]:
    """The tokens of a block that can be swapped without breaking its layout."""
    found = tokenize.generate_tokens(io.StringIO(body + "\n").readline)
    return [t.string for t in found if t.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)]


WORDS = sorted({w for body in BODIES for w in words(body)})


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """A known block with a few tokens swapped for others seen somewhere, or with lines of another block."""
    body = draw(st.sampled_from(BODIES))
    for _ in range(draw(st.integers(0, 3))):
        tokens = [t for t in tokenize.generate_tokens(io.StringIO(body + "\n").readline) if t.string.strip()]
        tokens = [t for t in tokens if t.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)]
        if not tokens:
            break
        old = draw(st.sampled_from(tokens))
        lines = body.split("\n")
        row = old.start[0] - 1
        if old.start[0] != old.end[0]:
            break
        lines[row] = lines[row][: old.start[1]] + draw(st.sampled_from(WORDS)) + lines[row][old.end[1] :]
        body = "\n".join(lines)
        try:
            compile(body, "<mutant>", "exec", 0x400)  # only the syntax tree
        except (SyntaxError, ValueError):
            break
    if draw(st.booleans()):
        body += "\n" + draw(st.sampled_from(BODIES))
    return body


def checked_logic_never_surprises(body: str, key: str, n: int) -> None:
    note(body)
    checked = check_text("shop.yaml", spec_text(body, helpers=HELPERS, params=PARAMS))
    event("passes" if checked.ok else "refused")
    if not checked.ok:
        return
    env = load_class(compile_spec(checked)).new(STATE)
    before = env.state
    result = env.call("act", {"item_id": key, "n": n})
    assert result.error is None or result.error.code != "internal", (result, result.error.cause)
    if not result.ok:
        assert env.state == before
    env.reset()
    assert env.state == before


test_checked_logic_never_surprises, test_checked_logic_never_surprises_at_length = few_and_many(
    checked_logic_never_surprises,
    mutants(),
    st.sampled_from(["I-001", "I-002", "I-404"]),
    st.integers(-3, 7),
    few=40,
    many=150,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("arguments", [[], ["limit"], "", "[]", (), 0, b""])
def test_what_is_no_object_is_refused_where_every_argument_may_be_left_out(arguments: object) -> None:
    text = """\
envscaler: 1
name: one
tools:
  all_left_out:
    kind: read
    params: {limit: {type: int, default: 3}}
    do: |
      return limit
"""
    made = load_class(compile_spec(check_text("one.yaml", text))).new()
    result = made.call("all_left_out", arguments)
    if arguments in ("", b""):
        assert result.value == 3
    else:
        assert result.error is not None
        assert result.error.code == "invalid_argument"
        assert "JSON object" in result.error.message

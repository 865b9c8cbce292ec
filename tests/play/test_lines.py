"""The grammar of a line: what is typed naturally, what models send, what is written back, and where an error stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.play.lines import CallLine, CommandLine, LineError, parse, write_call

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_WORDS = st.sampled_from(
    ["A-0001", "#W1", "20", "-0", "1e5", "true", "null", "it's", "'tis", "a=b", "", "x y", "(", ":a"]
)


def call(text: str) -> tuple[str, Any]:
    line = parse(text)
    assert isinstance(line, CallLine)
    return line.tool, line.sent


@given(st.text(), st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True) | st.text(max_size=5), _JSON | _WORDS))
def test_any_call_that_is_written_parses_to_itself(tool: str, arguments: dict[str, Any]) -> None:
    text = write_call(tool, arguments)
    assert "\n" not in text
    name, sent = call(text)
    assert name == tool
    sent = json.loads(sent) if isinstance(sent, str) else sent
    assert json.dumps(sent) == json.dumps(arguments)


@given(st.text() | _JSON.map(json.dumps))
def test_whatever_a_model_sends_as_text_is_sent_as_that_text(sent: str) -> None:
    assert call(write_call("tool", sent)) == ("tool", sent)


@given(st.text(max_size=60))
def test_every_line_is_understood_or_refused_at_a_place_in_it(text: str) -> None:
    refused: LineError | None = None
    try:
        parse(text)
    except LineError as error:
        refused = error
    assert refused is None or 0 <= refused.at < refused.end <= len(text) + 1


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("transfer", {}),
        ("transfer a=A-0001 b=20", {"a": "A-0001", "b": 20}),
        ("  transfer   a=-2.50\tb=1e2 ", {"a": -2.5, "b": 100.0}),
        ("transfer a=true b=null c=True", {"a": True, "b": None, "c": "True"}),
        ('transfer a="two words" b=\'it is "so"\'', {"a": "two words", "b": 'it is "so"'}),
        ('transfer a={"x": [1, "y z"]} b=[]', {"a": {"x": [1, "y z"]}, "b": []}),
        ("transfer a=0655 b=+1 c=.5 d=#W1 e=x=y f=O'Hara", {"a": "0655", "b": "+1", "c": ".5", "d": "#W1", "e": "x=y", "f": "O'Hara"}),
        ('transfer a="" b=""', {"a": "", "b": ""}),
        ("transfer a=NaN", {"a": "NaN"}),
    ],
)  # fmt: skip
def test_natural_calls(text: str, arguments: dict[str, Any]) -> None:
    assert call(text) == ("transfer", arguments)


def test_json_is_handed_on_as_it_stands() -> None:
    sent = '{"a": 1, "a": NaN}'
    assert call(f"transfer  {sent} ") == ("transfer", sent)
    assert call("transfer [1]") == ("transfer", "[1]")
    assert call('"odd name" {}') == ("odd name", "{}")


def test_natural_is_preferred_and_numbers_in_text_are_quoted() -> None:
    assert write_call("t", {"a": "A-1", "n": 2, "s": "2", "w": "two words"}) == 't a=A-1 n=2 s="2" w="two words"'
    assert write_call("t", {"odd name": 1}) == 't {"odd name": 1}'
    assert write_call("t", {"a": float("nan")}) == 't {"a": NaN}'
    assert write_call("t") == "t"
    assert write_call("t", '{"a":\n 1}') == 't {"a":  1}'
    assert write_call("t", {"a": "\x1b[31m\u202e"}) == 't a="\\u001b[31m\\u202e"'


def test_comments_and_empty_lines_say_nothing() -> None:
    assert [parse(x) for x in ("", "  ", "# transfer", "  # :quit")] == [None] * 4


def test_words_of_a_command_are_text() -> None:
    line = parse(":state orders 123 'a b' case=7")
    assert isinstance(line, CommandLine)
    assert (line.name, [(a.name, a.value) for a in line.arguments]) == (
        "state", [("", "orders"), ("", "123"), ("", "a b"), ("case", "7")]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        ("transfer A-1", "a value needs the name of its parameter", "A-1"),
        ("transfer a =1", "no space stands before `=`", " ="),
        ("transfer a= b=1", "a value is missing after a=", " "),
        ("transfer a=1 a=2", "a is given twice", "a"),
        ('transfer a="x', 'the text has no closing "', '"x'),
        ("transfer a='x y", "the text has no closing '", "'x y"),
        ('transfer a="x"y', "a space stands after a value", "y"),
        ('transfer {"a": 1} b=2', "nothing may follow the JSON", "b=2"),
        ('transfer {"a": 1', "the object that begins here is not closed", "{"),
        ("transfer a=[1,", "the list that begins here is not closed", "["),
        ("transfer {'a': 1}", "not JSON: expecting property name enclosed in double quotes", "'"),
        ('transfer a={"x": 1, "x": 2}', 'the key "x" is given twice', "{"),
        ("transfer a=[NaN]", "NaN is not a JSON number", "["),
        ("transfer{}", "a space stands between a tool and its arguments", "{"),
        ("transfer(a=1)", "a space stands between a tool and its arguments", "("),
        ("a=1", "a line begins with a tool or with `:` and a command", "a="),
        ("transfer a=" + "9" * 5000, "the number has too many digits", "9" * 5000),
        ("transfer " + "[" * 100_000, "the JSON nests too deeply", "["),
    ],
)
def test_errors_stand_at_their_place(text: str, message: str, marked: str) -> None:
    with pytest.raises(LineError) as caught:
        parse(text)
    error = caught.value
    assert (str(error), text[error.at : error.end]) == (message, marked)


def test_an_open_object_may_go_on() -> None:
    for text, unfinished in [('t {"a": [1,', True), ('t {"a": "x', False), ('t a={"b"', True), ("t {a", False)]:
        with pytest.raises(LineError) as caught:
            parse(text)
        assert caught.value.unfinished is unfinished

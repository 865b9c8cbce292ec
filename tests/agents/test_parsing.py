"""Text replies: what is a call, what is thought, what is wrong. Ids as F4 are those of the reported faults."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.agents import Parsed, parse, read, render_call, render_reply
from envscaler.agents.parsing import tagged
from envscaler.llm import Message, ToolCall, split_reasoning


def call(name: str = "transfer", arguments: str = '{"amount": 5}') -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


def found(text: str) -> list[tuple[str, str]]:
    return [(c.name, c.arguments) for c in parse(text).calls]


GOOD = {
    "one call": (call(), [("transfer", '{"amount": 5}')], "", ""),
    "on lines of its own": (
        '<tool_call>\n{"name": "transfer",\n "arguments": {"amount": 5}}\n</tool_call>',
        [("transfer", '{"amount": 5}')], "", "",
    ),
    "two calls": (call("a") + "\n" + call("b", "{}"), [("a", '{"amount": 5}'), ("b", "{}")], "", ""),
    "prose around": (f"I pay.\n{call()} Done.", [("transfer", '{"amount": 5}')], "I pay.\nDone.", ""),
    "no arguments": ('<tool_call>{"name": "count_till"}</tool_call>', [("count_till", "")], "", ""),
    "null arguments": (call("count_till", "null"), [("count_till", "")], "", ""),
    "arguments before the name": (
        '<tool_call>{"arguments": {"a": 1}, "name": "b"}</tool_call>', [("b", '{"a": 1}')], "", "",
    ),
    "in two pairs of braces, as chat templates show it": (
        '<tool_call>\n{{"name": "a", "arguments": {"b": {}}}}\n</tool_call>', [("a", '{"b": {}}')], "", "",
    ),
    "no end tag, as models stop there": ('<tool_call>{"name": "a"}\n', [("a", "")], "", ""),
    "no end tag before the next call": (
        '<tool_call>{"name": "a"}\n<tool_call>{"name": "b"}</tool_call>', [("a", ""), ("b", "")], "", "",
    ),
    "tags inside text of arguments": (
        call("note", '{"text": "<think></tool_call><tool_call>"}') + "x",
        [("note", '{"text": "<think></tool_call><tool_call>"}')], "x", "",
    ),
    # D2: the outer JSON is the form of the call, the inner one the arguments; they are decoded once, by the environment.
    "arguments as text": (call("a", r'"{\"id\": 1}"'), [("a", '{"id": 1}')], "", ""),
    "JSON in JSON in JSON": (call("a", r'"\"{\\\"id\\\": 1}\""'), [("a", r'"{\"id\": 1}"')], "", ""),
    "arguments that are no object": (call("a", "[1, 2]"), [("a", "[1, 2]")], "", ""),
    "numbers as they were written": (
        call("a", '{"n": 1e999, "m": NaN, "d": 2.50, "n": 1}'), [("a", '{"n": 1e999, "m": NaN, "d": 2.50, "n": 1}')], "", "",
    ),
    "an integer of 5,000 digits": (call("a", "9" * 5000), [("a", "9" * 5000)], "", ""),
    # G6
    "a call in thinking and one after it": (
        f"<think>maybe {call('no')}</think>\n{call('yes', '{}')}", [("yes", "{}")], "", f"maybe {call('no')}",
    ),
    "thinking in a line": (f"Hm. <think>{call('no')}</think> {call('yes', '{}')}", [("yes", "{}")], "Hm.", call("no")),
    "several blocks": ("<think>a</think>b<think>c</think>d", [], "b\nd", "a\n\nc"),
    "thinking between calls": (
        f"{call('a', '{}')}<think>{call('no')}</think>{call('b', '{}')}", [("a", "{}"), ("b", "{}")], "", call("no"),
    ),
    "thinking without an end": (f"Well <think>I could {call('no')}", [], "Well", f"I could {call('no')}"),
    "thinking that began in the prompt": (
        f"I could {call('no')}\n</think>\n\n{call('yes', '{}')}", [("yes", "{}")], "", f"I could {call('no')}",
    ),
    "the same, ended in a line": (f"I could {call('no')}.</think>Yes.", [], "Yes.", f"I could {call('no')}."),
    "thinking that ends twice": (f"<think>a</think> b {call('no')}</think> c", [], "c", f"a\n\nb {call('no')}"),
    "the longer tag": (f"<thinking>{call('no')}</thinking>Yes.", [], "Yes.", call("no")),
    "nothing": ("", [], "", ""),
    "plain text": ("The balance is 5 < 6 euros.", [], "The balance is 5 < 6 euros.", ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "calls", "content", "reasoning"), GOOD.values(), ids=GOOD.keys())
def test_what_can_be_read(text: str, calls: list[tuple[str, str]], content: str, reasoning: str) -> None:
    parsed = parse(text)
    assert found(text) == calls
    assert (parsed.content, parsed.reasoning, parsed.problems) == (content, reasoning, ())


BAD = {
    "cut off in the text of an argument": (
        '<tool_call>{"name": "a", "arguments": {"to": "A-20',
        "there is no </tool_call>, and the text that begins at character 35 does not end on its line",
    ),
    "cut off after a comma": (
        '<tool_call>{"name": "a", "arguments": {"to": 1,', "there is no </tool_call>, and it ends too early",
    ),
    "cut off in the name": (
        '<tool_call>{"na', "there is no </tool_call>, and the text that begins at character 2 does not end on its line",
    ),
    "single quotes": (
        "<tool_call>{'name': 'a'}</tool_call>",
        "it is not JSON: text stands in double quotes, not in single ones, at character 2",
    ),
    "single quotes further in": (
        call("a", "{'to': 1}"), "it is not JSON: text stands in double quotes, not in single ones, at character 29",
    ),
    "a comma too many": (call("a", '{"to": 1,}'), "it is not JSON: a value or a key is missing at character 37"),
    "a comma too many outside": (
        '<tool_call>{"name": "a",}</tool_call>', "it is not JSON: a key in double quotes is missing at character 14",
    ),
    "a brace too many": (call("a", "{}}"), "there is more text after the object, at character 31"),
    "two pairs of braces of which one is not closed": (
        '<tool_call>{{"name": "a", "arguments": {}}</tool_call>', "it is not JSON: a key in double quotes is missing at character 2",
    ),
    "a line break in text": (call("a", '{"t": "x\ny"}'), "the text that begins at character 34 does not end on its line"),
    "a tab in text": (
        call("a", '{"t": "x\ty"}'), "it is not JSON: a line break or a tab in text is written \\n or \\t, at character 36",
    ),
    "other keys": (
        '<tool_call>{"name": "a", "parameters": {"x": 1}}</tool_call>',
        'a call has the keys "name" and "arguments", not "parameters"; did you mean arguments?',
    ),
    "the form of a provider": (
        '<tool_call>{"type": "function", "function": {"name": "a"}}</tool_call>',
        'a call has the keys "name" and "arguments", not "type"',
    ),
    "a name given twice": ('<tool_call>{"name": "a", "name": "b"}</tool_call>', 'the key "name" is given twice'),
    "arguments given twice": (
        '<tool_call>{"name": "a", "arguments": {}, "arguments": {"x": 1}}</tool_call>', 'the key "arguments" is given twice',
    ),
    "no name": ("<tool_call>{}</tool_call>", 'there is no "name"'),
    "a name that is none": ('<tool_call>{"name": 7}</tool_call>', 'its "name" is not the name of a tool'),
    "a list of calls": ('<tool_call>[{"name": "a"}]</tool_call>', "it is no JSON object"),
    "nothing": ("<tool_call> </tool_call>", "nothing is there"),
    "a fence": ('<tool_call>```json\n{"name": "a"}```</tool_call>', "it is no JSON object"),
    "too deep": (call("a", "[" * 100_000), "it nests too deeply"),
    "words of Python": (call("a", '{"x": True}'), "it is not JSON: expecting value at character 34"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_read_is_a_problem_and_never_a_guess(text: str, reason: str) -> None:
    parsed = parse(f"Well. {text}")
    assert parsed.calls == ()
    assert parsed.content == f"Well. {text}"
    mark = "" if reason.endswith("?") else "."
    form = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>'
    assert parsed.problems == (f"A call could not be read: {reason}{mark} Nothing of it was done. Write {form}.",)


def test_a_bad_call_does_not_take_a_good_one_with_it() -> None:
    text = f"{call('a', '{}')} x <tool_call>{{bad}}</tool_call> y {call('b', '{}')}"
    parsed = parse(text)
    assert [c.name for c in parsed.calls] == ["a", "b"]
    assert parsed.content == "x <tool_call>{bad}</tool_call> y"
    assert len(parsed.problems) == 1


def test_a_call_quoted_in_a_bad_call_is_not_run() -> None:
    inner = call("delete", "{}")
    assert found(f"<tool_call>{{'name': 'note', 'text': '{inner}'}}</tool_call>") == []
    assert found(f'<tool_call>{{"name": "note", {inner}') == []


def test_an_end_tag_alone_is_a_problem() -> None:
    parsed = parse('{"name": "a", "arguments": {}}</tool_call>')
    assert parsed.calls == ()
    assert parsed.content == '{"name": "a", "arguments": {}}</tool_call>'
    assert parsed.problems[0].startswith("There is a </tool_call> without a <tool_call> before it.")


def test_a_result_that_an_agent_makes_up_is_a_problem() -> None:
    """Small models write the result of a call themselves; it is not taken for an answer to the user."""
    text = '<tool_response>{"success": true}</tool_response>'
    parsed = parse(call("a", "{}") + text)
    assert [c.name for c in parsed.calls] == ["a"]
    assert parsed.content == text
    assert parsed.problems == ("There is a <tool_response>: results come from the tools. Write the call and stop.",)


@pytest.mark.parametrize(
    "text", ['```json\n{\n  "name": "a",\n  "arguments": {}\n}\n```', 'I pay.\n{"name": "a", "arguments": {"x": 1}}']
)
def test_a_call_without_tags_is_told_and_not_run(text: str) -> None:
    """It would be a message to the user, and the end of many an episode."""
    parsed = parse(text)
    assert (parsed.calls, parsed.content) == ((), text)
    assert parsed.problems[0].startswith("A call stands outside <tool_call> and </tool_call>; it was not run.")
    assert parse(f"<think>{text}</think>Done.").problems == ()
    assert parse('The row is {"name": "a", "arguments": 2}, as you see.').problems == ()


BARE = '{"name": "pay", "arguments": {"sum": 5}}'


@pytest.mark.parametrize(
    ("text", "calls", "content"),
    [
        (BARE, 1, ""),
        (f"I pay.\n```json\n{BARE}\n```\nThen I look.", 1, "I pay.\nThen I look."),
        (f"```json\n{BARE}\n```\n\n```\n{BARE}\n```", 2, ""),
        (f"{BARE}\n{BARE}\n", 2, ""),
        (f"<think>{BARE}</think>\n{BARE}", 1, ""),
        ('{"name": "note", "arguments": {"text": "x", "more":\n{"name": "no", "arguments": {}}}}', 1, ""),
    ],
)
def test_calls_without_tags_can_be_given_some(text: str, calls: int, content: str) -> None:
    parsed = parse(tagged(text))
    assert (len(parsed.calls), parsed.content, parsed.problems) == (calls, content, ())


@pytest.mark.parametrize(
    "text",
    [
        "Nothing to do.", f"Write {BARE} to pay.", call(), f"<tool_call>{BARE}", f"<think>\n{BARE}\n", '{"name": "pay"}',
        '{"name": "pay", "arguments": {"sum": 5}', '{"name": "pay", "arguments": {}, "more": 1}', "```\nx = 1\n```",
    ],
)  # fmt: skip
def test_other_text_stays_as_it_is(text: str) -> None:
    assert tagged(text) == text


def test_calls_of_the_provider_leave_text_alone() -> None:
    """Some servers leave the text in the content that they read the calls from: it is not run twice."""
    message = Message("assistant", f"<think>x</think>{call()}", "before", (ToolCall("1", "transfer", '{"amount": 5}'),))
    assert read(message) == Parsed(call(), "before\n\nx", message.tool_calls)


MARKS = "0123456789QXZ{}[]:,'\"\\"  # characters that stand in no tag
pieces = st.sampled_from(
    [
        "<tool_call>", "</tool_call>", "<think>", "</think>", "<thinking>", "</thinking>", "<tool_response>", "<th", "ink>", "<tool_", "call>",
        "\n", " ", "\t", "\r", "\x0b", "\u00a0", "\ud800", "{", "}", '"', "'", "\\", ",", ":", "1", "Q", "X",
        '{"name": "Q1"}', '{"name": "X2", "arguments": {"Z": 3}}', call(), call("note", '{"t": "</tool_call>"}'),
    ]
)  # fmt: skip
replies = st.lists(pieces, max_size=14).map("".join) | st.text(st.characters(exclude_categories=()), max_size=40)


@given(replies)
def test_nothing_is_dropped_and_nothing_invented(text: str) -> None:
    """Every character that is not of a tag or space is in content, reasoning or a call."""
    parsed = parse(text)
    rest = Counter(c for c in text if c in MARKS)
    for part in (parsed.content, parsed.reasoning):
        rest.subtract(c for c in part if c in MARKS)
    for one in parsed.calls:
        bare = f'{{"name":"{one.name}"' + (f',"arguments":{one.arguments}' if one.arguments else "") + "}"
        rest.subtract(c for c in bare if c in MARKS)
    assert all(count == 0 for count in rest.values()), rest


@given(replies)
def test_a_reply_that_a_client_has_split_parses_the_same(text: str) -> None:
    """G6: the client takes thinking out of content; whoever parses the raw text finds the same calls."""
    content, thought = split_reasoning(text)
    raw, split = parse(text), parse(content)
    assert (raw.calls, raw.content, raw.problems) == (split.calls, split.content, split.problems)
    assert raw.reasoning == "\n\n".join(part for part in (thought, split.reasoning) if part)


words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="<"), max_size=12).map(str.strip)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.just("</tool_call>"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
argument_texts = (
    st.dictionaries(st.text(max_size=5), json_values, max_size=4).map(json.dumps)
    | st.dictionaries(st.text(max_size=5), json_values, max_size=4).map(
        lambda v: json.dumps(v, ensure_ascii=False, indent=1)
    )
    | json_values.map(json.dumps)
    | st.text(max_size=12)
    | st.sampled_from(["", "null", '"{}"', " {}", "{'a': 1}", "</tool_call>", "NaN", '{"a": 1, "a": 2}'])
)
calls = st.lists(st.builds(ToolCall, st.just(""), st.text(min_size=1, max_size=8), argument_texts), max_size=4)


@given(words, words, calls)
def test_rendering_then_parsing_gives_back_the_same(content: str, reasoning: str, asked: list[ToolCall]) -> None:
    """Arguments too that are no JSON at all: they come back as they were, for the environment to refuse."""
    parsed = parse(render_reply(Message("assistant", content, reasoning, tuple(asked))))
    assert [(c.name, c.arguments) for c in parsed.calls] == [(c.name, c.arguments) for c in asked]
    assert (parsed.content, parsed.reasoning, parsed.problems) == (content, reasoning, ())


@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=8))
def test_names_of_any_text_come_back(name: str) -> None:
    assert [c.name for c in parse(render_call(ToolCall("", name, ""))).calls] == [json.loads(json.dumps(name))]


HOSTILE = [
    '<tool_call>{"', '<tool_call>{"a":x}</tool_call>', "a</tool_call>", "x</think>", "<think>", "\n<think>a</think>",
    "\n</think>\n", '<tool_call>["a","', ',",",",', '<tool_call>{"name":"<tool_call>', "{[", '"', '\\"', "<",
    '\n{"name":"a', "\n{\n", '<tool_call>{"name":"x","arguments":[[', " ", '<tool_call>{"name": "a\n', '<tool_call>{"name":"x" ',
    '{"name":"x","arguments":{}}\n', '{"name":"x","arguments":{"a":', '```\n', '{"name":"x","arguments":{}}\n```\n', "<tool_call>{{",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("before", ["", '<tool_call>{"name":"'])
def test_hostile_text_takes_linear_time(unit: str, before: str) -> None:
    """A text of 400 kB takes a second at most, where a quadratic reader takes minutes."""
    began = time.process_time()
    text = before + unit * (400_000 // len(unit))
    parse(text)
    tagged(text)
    assert time.process_time() - began < 2

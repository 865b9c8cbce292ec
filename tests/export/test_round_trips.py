"""Nothing is lost on the way into any form: what a trainer reads from a row is what was said and called."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.agents import parse
from envscaler.export.llamafactory import BETWEEN, LlamaFactory, conversation
from envscaler.export.openai import OpenAI
from envscaler.export.parquet import Parquet
from envscaler.export.plain import Jsonl
from envscaler.export.sample import Sample, with_reasoning
from envscaler.export.trl import Trl
from envscaler.export.writing import json_text, whole
from envscaler.llm.messages import Message, ToolCall
from envscaler.rollout.trajectory import Trajectory
from envscaler.testing.exporters import sample
from tests.export.made import samples

few = settings(max_examples=20, deadline=None)
KEPT = st.sampled_from(["last", "all", "none"])


def through_json(row: Any) -> Any:
    return json.loads(json.dumps(row))


@few
@given(samples())
def test_jsonl_is_the_trajectory(one: Sample) -> None:
    row = through_json(Jsonl({}).row(one))
    assert Trajectory.from_json(row) == one.trajectory
    assert row["trained"] == list(one.trained)
    assert [tool["name"] for tool in row["tools"][0]["tools"]] == ["first", "then"]


def read_back(messages: list[dict[str, Any]]) -> list[Any]:
    """Messages of OpenAI's form as tuples: whose, text, calls, what it answers."""
    return [
        (
            m["role"],
            m["content"],
            [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in m.get("tool_calls", ())],
            m.get("tool_call_id", ""),
        )
        for m in messages
    ]


def expected(messages: tuple[Message, ...], *, thought: bool = False) -> list[Any]:
    def role(m: Message) -> str:
        return "user" if m.role == "tool" and not m.tool_call_id else m.role

    return [
        (
            role(m),
            (f"<think>\n{m.reasoning}\n</think>\n\n" if thought and m.reasoning else "") + m.content,
            [(c.id, c.name, c.arguments or "{}") for c in m.tool_calls],
            m.tool_call_id,
        )
        for m in messages
    ]


@few
@given(samples(), KEPT)
def test_openai(one: Sample, kept: str) -> None:
    row = through_json(OpenAI({"reasoning": kept}).row(one))
    whole = expected(with_reasoning(one.trajectory.messages, kept), thought=True)
    read = read_back(row["messages"])
    assert read == whole[: len(read)]
    assert read[-1][0] == "assistant"
    assert all(m[0] != "assistant" for m in whole[len(read) :])
    learnt = [m.get("weight", 1) == 1 for m in row["messages"] if m["role"] == "assistant"]
    mine = [t for m, t in zip(one.trajectory.messages, one.trained, strict=True) if m.role == "assistant"]
    assert learnt == mine
    assert row["parallel_tool_calls"] == any(len(m.tool_calls) > 1 for m in one.trajectory.messages)


@few
@given(samples(), KEPT)
def test_trl(one: Sample, kept: str) -> None:
    messages = with_reasoning(one.trajectory.messages, kept)
    row = through_json(Trl({"reasoning": kept}).row(one))
    assert read_back(row["messages"]) == expected(messages)
    assert [m.get("reasoning_content", "") for m in row["messages"]] == [m.reasoning for m in messages]
    assert [tool["function"]["name"] for tool in json.loads(row["tools"])] == ["first", "then"]
    as_dicts = through_json(Trl({"reasoning": kept, "arguments": "dict"}).row(one))
    for m, other in zip(row["messages"], as_dicts["messages"], strict=True):
        for call, same in zip(m.get("tool_calls", ()), other.get("tool_calls", ()), strict=True):
            text, value = call["function"]["arguments"], same["function"]["arguments"]
            assert json.loads(text) == value if isinstance(value, dict) else text == value


THOUGHT = re.compile(r"<think>\n(.*?)\n</think>\n\n", re.DOTALL)
CALL = re.compile(r"\n<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)


def as_read(turn: dict[str, str]) -> tuple[str, str, list[Any]]:
    """Reasoning, text and calls of an agent's turn, as LLaMA-Factory and a Qwen template take it apart."""
    value, thought = turn["value"], ""
    if found := THOUGHT.match(value):
        thought, value = found[1], value[found.end() :]
    if turn["from"] == "function_call":
        return thought, "", [(c["name"], c["arguments"]) for c in json.loads(value)]
    calls = [json.loads(text) for text in CALL.findall(value)]
    return thought, CALL.sub("", value) if calls else value, [(c["name"], c["arguments"]) for c in calls]


def arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


@few
@given(samples(), KEPT)
def test_llama_factory(one: Sample, kept: str) -> None:
    messages = one.trajectory.messages
    rows = through_json(list(LlamaFactory({"reasoning": kept}).rows(one)))
    places = [place for place, learnt in enumerate(one.trained) if learnt]
    assert len(rows) == len(places)
    for row, place in zip(rows, places, strict=True):
        turns = row["conversations"]
        assert len(turns) % 2 == 0
        assert all(t["from"] in ("human", "observation") for t in turns[::2])
        assert all(t["from"] in ("gpt", "function_call") for t in turns[1::2])
        assert row["system"] == messages[0].content
        assert [tool["name"] for tool in json.loads(row["tools"])] == ["first", "then"]
        mine = [m for m in with_reasoning(messages[: place + 1], kept) if m.role == "assistant"]
        assert [as_read(turn) for turn in turns[1::2]] == [
            (m.reasoning, m.content, [(c.name, arguments(c.arguments)) for c in m.tool_calls]) for m in mine
        ]


@few
@given(samples())
def test_results_in_their_order(one: Sample) -> None:
    messages = one.trajectory.messages
    for row in LlamaFactory({"turns": "whole"}).rows(one):
        turns = row["conversations"]
        agents = [n for n, m in enumerate(messages) if m.role == "assistant"]
        for turn, place in zip(turns[2::2], agents, strict=False):
            after = list(takewhile(lambda m: m.role != "assistant", messages[place + 1 :]))
            results = [m.content for m in after if m.role == "tool"]
            if results:
                assert turn["from"] == "observation"
                assert turn["value"] == BETWEEN.join(results)


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    one = sample()
    assert Parquet({}).write({"train": lambda: iter([one] * 3)}, tmp_path) == {"train.parquet": 3}
    row = parquet.read_table(tmp_path / "train.parquet").to_pylist()[1]
    plain = json.loads(row["trajectory"]) | {"messages": json.loads(row["messages"]), "reward": row["reward"]}
    assert Trajectory.from_json(plain) == one.trajectory
    assert json.loads(row["trained"]) == list(one.trained)
    assert (row["turns"], row["calls"], row["environment"]) == (4, 0, "bank")


@few
@given(
    st.recursive(
        st.text(st.characters() | st.sampled_from("\ud800\udfff\ud83d\ude00\\u")),
        lambda inner: st.lists(inner, max_size=4),
    )
)
def test_no_half_of_a_pair_is_left(value: Any) -> None:
    """Arrow loads no file with one; all else is as it was, text that looks like an escape too."""
    text = json_text(value)
    made = whole(text)
    made.encode("ascii")
    json.dumps(json.loads(made), ensure_ascii=False).encode("utf-8")
    joined = re.sub("[\ud800-\udbff][\udc00-\udfff]", lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"), json.dumps(value, ensure_ascii=False))  # fmt: skip
    assert json.loads(made) == json.loads(re.sub("[\ud800-\udfff]", "\ufffd", joined))


def test_lines_that_every_reader_takes(tmp_path: Path) -> None:
    one = sample()
    told = (*one.trajectory.messages[:-1], Message("assistant", "\ud800 \\ud800 \U0001f4b6"))
    odd = replace(one, trajectory=replace(one.trajectory, messages=told))
    for exporter, file in ((LlamaFactory({}), "lf"), (Trl({}), "trl"), (OpenAI({}), "openai"), (Jsonl({}), "jsonl")):
        (tmp_path / file).mkdir()
        exporter.write({"train": lambda: iter([odd])}, tmp_path / file)
        row = json.loads((tmp_path / file / "train.jsonl").read_text(encoding="ascii").splitlines()[-1])
        text = row["conversations"][-1]["value"] if file == "lf" else row["messages"][-1]["content"]
        half = {"jsonl": "\ud800"}.get(file, "\ufffd")
        assert text == f"{half} \\ud800 \U0001f4b6"


def test_tags_in_reasoning() -> None:
    """They end no thinking, and are no calls."""
    thought = "I write <tool_call>{}</tool_call>, </think> and <think>."
    one = Message("assistant", "", thought, (ToolCall("a", "first", "{}"),))
    [_, turn] = conversation([Message("user", "Go."), one])
    assert turn["from"] == "gpt"
    found = parse(turn["value"])
    assert (found.content, found.problems, [c.name for c in found.calls]) == ("", (), ["first"])
    assert found.reasoning == thought.replace("</think", "< /think").replace("<think", "< think")

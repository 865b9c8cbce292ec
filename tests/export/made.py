"""Trajectories drawn by hypothesis: any number of calls in a turn, odd text, replies that could not be read, reasoning, nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from envscaler.export.sample import Sample
from envscaler.llm.messages import Message, Tool, ToolCall
from envscaler.rollout.trajectory import Player, Trajectory

TEXT = st.text(st.characters(exclude_characters="<", exclude_categories=("Cs",)), max_size=12)
ODD = st.sampled_from(["", "null", "<think>x</think>", "</tool_call>", "é — 日本 💶", '"\\', "\n\n", "1.0"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT | ODD,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT | ODD, inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["account", "amount", "on", "</think>"]), VALUES, max_size=3).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)
TOOLS = (Tool("first", "One."), Tool("then", "Two — zwei.", {"type": "object", "properties": {"on": {}}}))


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """A conversation as the loop would leave it behind."""
    messages = [Message("system", draw(TEXT)), Message("user", draw(TEXT))]
    steps: list[dict[str, Any]] = []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        kind = draw(st.sampled_from(["calls", "said", "malformed"]))
        wanted = st.lists(st.sampled_from(["first", "then"]), min_size=1, max_size=3)
        names = draw(wanted) if kind == "calls" else []
        calls = tuple(
            ToolCall(f"call_{number}_{n}", name, draw(ARGUMENTS | st.sampled_from(["", "{", "[1]"])))
            for n, name in enumerate(names)
        )
        step: dict[str, Any] = {"number": number, "message": len(messages)}
        messages.append(Message("assistant", draw(TEXT), draw(TEXT), calls))
        if kind == "malformed":
            step["problems"] = ["What was that?"]
            messages.append(Message("tool", draw(TEXT), is_error=True))
        messages += [Message("tool", draw(TEXT), tool_call_id=call.id) for call in calls]
        if kind == "said" and draw(st.booleans()):
            messages.append(Message("user", draw(TEXT)))
        steps.append(step)
    return Trajectory(
        id=draw(st.sampled_from(["a", "b"])), scenario="s", kind="complete", spec={"name": "bank", "hash": "sha256:0"},
        setting="conversation", agent=Player("llm"), user=None, sample=0, status="finished", messages=tuple(messages),
        steps=tuple(steps), offers=((1, "x"),), reward=draw(st.sampled_from([None, 0.0, 0.5, 1.0])),
    )  # fmt: skip


def samples() -> st.SearchStrategy[Sample]:
    """Such a trajectory with the tools that were on offer."""
    return trajectories().map(lambda one: Sample(one, ((1, TOOLS),)))

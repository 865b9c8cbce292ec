"""A language model plays: with calls of its own, and with calls that it writes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envscaler.agents import EnvironmentEpisode, Limits, LlmPolicy, ScriptedPolicy, as_native, as_text, parse, play
from envscaler.errors import BudgetError, UsageError
from envscaler.llm import Ledger, Llm, Message, Reply, Request, RoleSettings, ToolCall, Usage
from envscaler.llm.backends.scripted import ScriptedBackend
from envscaler.llm.budget import Budget
from envscaler.llm.errors import ContextError, OverloadedError
from envscaler.session.llm import LlmOptions, open_models
from tests.llm.server import Step, call, serving, text
from tests.soon import SOON

Make = Callable[..., EnvironmentEpisode]
TRANSFER = {"from_account": "A-2001", "to_account": "A-2002", "amount": 40}
PAY = f'<tool_call>\n{{"name": "transfer", "arguments": {json.dumps(TRANSFER)}}}\n</tool_call>'
SETTINGS = RoleSettings("agent", "scripted/x", attempts=3, backoff=0.0)


def made(script: Any, **more: Any) -> tuple[Llm, ScriptedBackend]:
    backend = ScriptedBackend(script)
    return Llm(backend, SETTINGS, **more), backend


def test_native_calls(episode: Make) -> None:
    asked = [{"id": f"t{n}", "name": "transfer", "arguments": json.dumps(TRANSFER)} for n in (1, 2)]
    llm, backend = made([{"message": {"content": "Twice.", "reasoning": "r", "tool_calls": asked}}, "Done."])
    world = episode()
    transcript = play(world, LlmPolicy(llm))
    assert transcript.status == "finished"
    first, second = backend.requests
    assert [t.name for t in first.tools] == list(world.env.tools.names)
    assert [m.role for m in first.messages] == ["system", "user"]
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert [m.tool_call_id for m in second.messages[3:]] == ["t1", "t2"]
    assert [json.loads(m.content)["success"] for m in second.messages[3:]] == [True, True]
    assert transcript.messages[2].reasoning == "r"
    assert {c["path"] for c in world.env.diff()} >= {"/accounts/A-2001/balance"}


def test_written_calls(episode: Make) -> None:
    llm, backend = made([f"<think>\nr\n</think>\n\nI pay.\n{PAY}", "Done."])
    world = episode()
    transcript = play(world, LlmPolicy(llm, form="text"))
    first, second = backend.requests
    assert first.tools == ()
    assert world.env.doc in first.messages[0].content
    lines = first.messages[0].content.splitlines()
    tools = [
        json.loads(line)["function"]["name"] for line in lines[lines.index("<tools>") + 1 : lines.index("</tools>")]
    ]
    assert tools == list(world.env.tools.names)
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2].content == f"I pay.\n{PAY}", "as the model wrote it, without its thinking"
    assert second.messages[3].content.startswith('<tool_response>\n{"success": true')
    said = transcript.messages[2]
    assert (said.content, said.reasoning, [c.name for c in said.tool_calls]) == ("I pay.", "r", ["transfer"])


def test_calls_without_tags_are_run_where_that_is_wanted(episode: Make) -> None:
    bare = f'```json\n{{"name": "transfer", "arguments": {json.dumps(TRANSFER)}}}\n```'
    for wanted in (True, False):
        llm, backend = made([bare, "Done."])
        world = episode()
        transcript = play(world, LlmPolicy(llm, form="text", bare=wanted))
        assert (world.env.diff() != []) is wanted
        assert backend.requests[1].messages[2].content == bare, "as the model wrote it"
        assert [len(s.problems) for s in transcript.steps] == [0 if wanted else 1, 0]


def test_both_forms_have_the_same_effect(episode: Make) -> None:
    native = {"message": {"tool_calls": [{"id": "1", "name": "transfer", "arguments": json.dumps(TRANSFER)}]}}
    outcomes = []
    for form, move in (("native", native), ("text", PAY), ("native", PAY)):
        world = episode()
        transcript = play(world, LlmPolicy(made([move, "Done."])[0], form=form))  # type: ignore[arg-type]
        outcomes.append((world.env.diff(), [c.observation for s in transcript.steps for c in s.calls]))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("form", ["native", "text"])
def test_a_call_in_thinking_is_not_run_whichever_way_the_reply_came(episode: Make, form: Any) -> None:
    """G6: once through the client, which splits thinking off, once as raw text."""
    reply = (
        f"<think>Perhaps {PAY}</think>\nI look first. <think>{PAY}</think><tool_call>"
        '{"name": "count_till"}</tool_call>'
    )
    through_client = play(episode(), LlmPolicy(made([reply, "Done."])[0], form=form))
    raw = play(episode(), ScriptedPolicy([reply, "Done."]))
    for transcript in (through_client, raw):
        assert [c.call.name for c in transcript.steps[0].calls] == ["count_till"]
        message = transcript.messages[2]
        assert (message.content, message.reasoning) == ("I look first.", f"Perhaps {PAY}\n\n{PAY}")


@pytest.mark.parametrize("form", ["native", "text"])
def test_a_bad_call_is_shown_again_with_what_is_wrong(episode: Make, form: Any) -> None:
    bad = "<tool_call>{'name': 'count_till'}</tool_call>"
    llm, backend = made([bad, "Done."])
    play(episode(), LlmPolicy(llm, form=form))
    shown, told = backend.requests[1].messages[-2:]
    assert shown.content == bad
    assert told.role == "user"
    assert "text stands in double quotes" in told.content
    assert ("<tool_response>" in told.content) is (form == "text")


def test_usage_counts_failed_attempts(episode: Make) -> None:
    """G1."""
    look = Reply(Message("assistant", '<tool_call>{"name": "count_till"}</tool_call>'), usage=Usage(100, 10))
    llm, backend = made([look, OverloadedError("busy"), look, Reply(Message("assistant", "Done."), usage=Usage(50, 5))])
    transcript = play(episode(), LlmPolicy(llm))
    assert [s.spent.attempts for s in transcript.steps] == [1, 2, 1]
    assert (transcript.spent.usage.tokens_in, transcript.spent.usage.tokens_out) == (250, 25)
    assert transcript.spent.cost == 0
    assert len(backend.requests) == 4


def test_a_context_that_is_too_long_is_not_tried_again(episode: Make) -> None:
    """G4."""
    llm, backend = made([ContextError("prompt is too long")])
    transcript = play(episode(), LlmPolicy(llm))
    assert transcript.status == "context_exceeded"
    assert len(backend.requests) == 1


def test_a_reply_that_was_cut_off(episode: Make) -> None:
    """G2: not run although a whole call is in it, and not sent back."""
    cut = Reply(Message("assistant", PAY + "\nAnd now I"), "length", Usage(100, 7))
    llm, backend = made([cut, "Done."])
    world = episode()
    transcript = play(world, LlmPolicy(llm, form="text"))
    assert world.env.diff() == []
    assert [m.role for m in backend.requests[1].messages] == ["system", "user", "user"]
    assert "cut off at the limit of tokens" in backend.requests[1].messages[2].content
    assert transcript.steps[0].spent.usage.tokens_out == 7
    assert transcript.status == "finished"


def test_a_backend_that_raises_what_it_should_not(episode: Make) -> None:
    """F4."""

    def script(request: Request) -> Any:
        if len(request.messages) > 2:
            raise ZeroDivisionError("a plugin's bug")
        return PAY

    transcript = play(episode(), LlmPolicy(made(script)[0]))
    assert (transcript.status, transcript.scored) == ("infra_error", False)
    assert "ZeroDivisionError" in transcript.reason


def test_a_backend_that_hangs(episode: Make) -> None:
    """F5."""

    class Hanging(ScriptedBackend):
        async def attempt(self, request: Request) -> Reply:
            await asyncio.sleep(3600)
            raise AssertionError

    began = time.monotonic()
    transcript = play(episode(), LlmPolicy(Llm(Hanging([]), SETTINGS)), Limits(call_seconds=0.1))
    assert (transcript.status, transcript.scored) == ("deadline", False)
    assert time.monotonic() - began < SOON


def test_a_budget(episode: Make) -> None:
    ledger = Ledger(None)
    reply = Reply(Message("assistant", '<tool_call>{"name": "count_till"}</tool_call>'), usage=Usage(100, 10))
    llm, backend = made(lambda _: reply, ledger=ledger, budget=Budget(ledger, max_tokens=300))
    with pytest.raises(BudgetError):
        play(episode(), LlmPolicy(llm))
    assert len(backend.requests) == 3


def test_forms_have_names() -> None:
    with pytest.raises(UsageError, match="native or text"):
        LlmPolicy(made([])[0], form="xml")  # type: ignore[arg-type]


def test_several_results_are_one_message_of_text() -> None:
    asked = (ToolCall("1", "a", ""), ToolCall("2", "b", '{"x": 1}'))
    conversation = [
        Message("user", "go"),
        Message("assistant", "Both.", "hm", asked),
        Message("tool", "one", tool_call_id="1"),
        Message("tool", "two", tool_call_id="2"),
        Message("tool", "wrong", is_error=True),
    ]
    user, assistant, told = as_text(conversation)
    assert user.content == "go"
    assert [(c.name, c.arguments) for c in parse(assistant.content).calls] == [("a", ""), ("b", '{"x": 1}')]
    assert "hm" not in assistant.content
    assert told == Message(
        "user",
        "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>\n<tool_response>\nwrong\n</tool_response>",
    )
    assert [m.role for m in as_native(conversation)] == ["user", "assistant", "tool", "tool", "user"]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_over_a_provider_s_protocol(
    bank: Any, episode: Make, protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real client and a server on loopback; the server sees what providers want of tools and results."""
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        bodies: list[dict[str, Any]] = []

        def script(body: dict[str, Any]) -> Step:
            bodies.append(body)
            return [text("<tool_call>{bad"), call("transfer", json.dumps(TRANSFER)), text("Done.")][len(bodies) - 1]

        monkeypatch.setattr(server, "step", script)
        monkeypatch.setenv("TEST_KEY", "canary-1234567890")
        with open_models(LlmOptions((server.llm(protocol),), cache="off"), run=tmp_path / "run") as models:
            transcript = play(episode(), LlmPolicy(models.role("agent")))
    assert transcript.status == "finished", transcript.reason
    assert transcript.spent.usage.tokens_in == 300
    roles = [[m["role"] for m in body["messages"] if m["role"] != "system"] for body in bodies]
    result = "user" if protocol == "anthropic" else "tool"
    assert roles == [["user"], ["user", "assistant", "user"], ["user", "assistant", "user", "assistant", result]]
    assert len(bodies[0]["tools"]) == len(bank.new().tools.names)


@pytest.mark.parametrize("form", ["native", "text"])
@pytest.mark.parametrize("kept", [True, False])
def test_past_reasoning_is_shown_again_or_not(episode: Make, form: Any, kept: bool) -> None:
    llm, backend = made([f"<think>\nWHY\n</think>\n\nI pay.\n{PAY}", "Done."])
    play(episode(), LlmPolicy(llm, form=form, reasoning=kept))
    again = backend.requests[1].messages[2]
    assert ("WHY" in again.content + again.reasoning) is kept


def test_the_length_of_the_conversation_is_limited(episode: Make) -> None:
    usage = {"tokens_in": 90, "tokens_out": 20}
    llm, _ = made([{"message": {"content": PAY}, "usage": usage}] * 3)
    transcript = play(episode(), LlmPolicy(llm), Limits(context=110))
    assert (transcript.status, len(transcript.steps)) == ("token_limit", 1)
    assert transcript.reason == "the conversation is 110 tokens long"

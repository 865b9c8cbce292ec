"""Every way a server can fail, against a real one on loopback, in both protocols."""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from envscaler.errors import EnvscalerError
from envscaler.llm import Answer, Llm, errors
from tests.llm.conftest import KEY, Open
from tests.llm.server import TOKENS_IN, TOKENS_OUT, Server, Step, call, status, text
from tests.soon import SOON

FAST = {"backoff": "0.01", "timeout": "5"}


class Plan(BaseModel):
    """A plan of an environment."""

    name: str
    sizes: list[int] = Field(min_length=1)


GOOD = '{"name": "bank", "sizes": [1, 2]}'


def role(models: Open, server: Server, protocol: str, **options: Any) -> Llm:
    return models(server.llm(protocol, **{**FAST, **options})).role("planner")


def chat(llm: Llm, said: Any = "hello", **more: Any) -> Answer:
    async def once() -> Answer:
        try:
            return await llm.chat(said, **more)
        finally:
            await llm.aclose()

    return asyncio.run(once())


def plan(llm: Llm, said: str = "plan a bank") -> Any:
    async def once() -> Any:
        try:
            return await llm.structured(Plan, said)
        finally:
            await llm.aclose()

    return asyncio.run(once())


def outcomes(llm: Llm) -> list[str]:
    return [attempt.outcome for attempt in llm.ledger.attempts()]


def test_a_reply_and_its_account(models: Open, server: Server, protocol: str) -> None:
    llm = role(models, server, protocol)
    answer = chat(llm, "hi")
    assert answer.content == "echo: hi"
    (attempt,) = llm.ledger.attempts()
    assert (attempt.role, attempt.backend, attempt.model, attempt.outcome) == ("planner", protocol, "tiny", "ok")
    assert (attempt.usage.tokens_in, attempt.usage.tokens_out, attempt.usage.cached) == (TOKENS_IN, TOKENS_OUT, 30)
    assert attempt.cost is None  # nobody knows what `tiny` costs, and that is not nothing


def test_rate_limit_with_a_hint_is_waited_for(models: Open, server: Server, protocol: str) -> None:
    server.steps = [status(429, headers={"retry-after": "0.2"})]
    llm = role(models, server, protocol)
    start = time.monotonic()
    assert chat(llm).content == "echo: hello"
    assert time.monotonic() - start >= 0.2
    assert outcomes(llm) == ["rate_limit", "ok"]


def test_a_hint_holds_back_everybody(models: Open, server: Server) -> None:
    server.steps = [status(429, headers={"retry-after-ms": "200"})]
    llm = role(models, server, "openai", concurrency=1)

    async def three() -> float:
        first = asyncio.create_task(llm.chat("one"))
        while server.seen == 0:
            await asyncio.sleep(0.005)
        start = time.monotonic()
        await asyncio.gather(first, llm.chat("two"), llm.chat("three"))
        await llm.aclose()
        return time.monotonic() - start

    assert asyncio.run(three()) >= 0.15
    assert server.seen == 4


def test_rate_limit_without_a_hint_backs_off(models: Open, server: Server, protocol: str) -> None:
    server.steps = [status(429), status(429)]
    llm = role(models, server, protocol)
    assert chat(llm).content == "echo: hello"
    assert outcomes(llm) == ["rate_limit", "rate_limit", "ok"]


def test_a_hint_past_the_patience_ends_the_call_at_once(models: Open, server: Server, protocol: str) -> None:
    server.steps = [status(429, headers={"retry-after": "900"})]
    llm = role(models, server, protocol, patience=60)
    start = time.monotonic()
    with pytest.raises(errors.RateLimitError) as caught:
        chat(llm)
    assert time.monotonic() - start < SOON
    assert caught.value.retry_after == 900


def test_waiting_for_ones_turn_is_not_counted(models: Open, server: Server) -> None:
    server.otherwise = lambda said: text(said, delay=0.3)
    server.steps = [text("one", delay=0.3)] * 4 + [status(500)]
    llm = role(models, server, "openai", concurrency=1, patience=1.2)

    async def five() -> list[Answer]:
        answers = await asyncio.gather(*(llm.chat(str(n)) for n in range(5)))
        await llm.aclose()
        return answers

    assert len(asyncio.run(five())) == 5
    assert outcomes(llm).count("server") == 1


def test_after_a_hint_past_the_patience_others_are_not_held(models: Open, server: Server) -> None:
    server.steps = [status(429, headers={"retry-after": "900"})]
    llm = role(models, server, "openai", patience=60)
    with pytest.raises(errors.RateLimitError):
        chat(llm)
    start = time.monotonic()
    assert chat(llm).content == "echo: hello"
    assert time.monotonic() - start < SOON


def test_a_hint_may_be_a_date(models: Open, server: Server) -> None:
    server.steps = [status(429, headers={"retry-after": email.utils.formatdate(time.time() + 900, usegmt=True)})]
    with pytest.raises(errors.RateLimitError) as caught:
        chat(role(models, server, "openai", patience=60))
    assert caught.value.retry_after is not None
    assert 880 < caught.value.retry_after <= 900


@pytest.mark.parametrize(("code", "kind"), [(500, "server"), (502, "server"), (503, "overloaded"), (529, "overloaded")])
def test_failures_of_the_service_are_tried_again(
    models: Open, server: Server, protocol: str, code: int, kind: str
) -> None:
    server.steps = [status(code)]
    llm = role(models, server, protocol)
    assert chat(llm).content == "echo: hello"
    assert outcomes(llm) == [kind, "ok"]


def test_attempts_are_bounded(models: Open, server: Server, protocol: str) -> None:
    server.steps = [status(500)] * 9
    llm = role(models, server, protocol, attempts=3)
    with pytest.raises(errors.ServerError, match=r"HTTP 500: it does not work \(given up after 3 attempts\)"):
        chat(llm)
    assert server.seen == 3
    assert outcomes(llm) == ["server"] * 3


def test_time_is_bounded(models: Open, server: Server) -> None:
    server.steps = [status(500)] * 99
    start = time.monotonic()
    with pytest.raises(errors.ServerError):
        chat(role(models, server, "openai", attempts=99, patience=0.3, backoff=0.05))
    assert time.monotonic() - start < SOON


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_an_answer_that_does_not_come_is_given_up(models: Open, server: Server, protocol: str, fault: str) -> None:
    server.steps = [Step(fault=fault)]
    llm = role(models, server, protocol, timeout=0.2, attempts=1)
    start = time.monotonic()
    with pytest.raises(errors.DeadlineError, match=r"0\.2 s"):
        chat(llm)
    assert time.monotonic() - start < SOON
    assert outcomes(llm) == ["timeout"]
    (attempt,) = llm.ledger.attempts()
    assert attempt.usage.tokens_in is None  # it may have been billed, and nobody said


def test_a_hang_is_tried_again(models: Open, server: Server, protocol: str) -> None:
    server.steps = [Step(fault="hang")]
    llm = role(models, server, protocol, timeout=0.5)
    assert chat(llm).content == "echo: hello"
    *first, last = outcomes(llm)
    assert (set(first), last) == ({"timeout"}, "ok")  # on a busy machine a second one may come too late as well


@pytest.mark.parametrize("fault", ["drop", "half"])
def test_a_dropped_connection_is_tried_again(models: Open, server: Server, protocol: str, fault: str) -> None:
    server.steps = [Step(fault=fault)]
    llm = role(models, server, protocol)
    assert chat(llm).content == "echo: hello"
    assert outcomes(llm) == ["connection", "ok"]


def test_nobody_there(models: Open, protocol: str) -> None:
    llm = models(f"{protocol}/tiny,base_url=http://127.0.0.1:9/v1,attempts=1").role("coder")
    with pytest.raises(errors.UnreachableError, match=r"127\.0\.0\.1:9"):
        chat(llm)


@pytest.mark.parametrize(
    "step",
    [
        Step(fault="garbage"),
        Step(raw=[]),
        Step(raw={}),
        Step(raw={"choices": [], "content": 3}),
        Step(raw={"choices": [3]}),
    ],
)
def test_what_is_no_answer(models: Open, server: Server, protocol: str, step: Step) -> None:
    server.steps = [step]
    llm = role(models, server, protocol)
    assert chat(llm).content == "echo: hello"
    assert outcomes(llm) == ["protocol", "ok"]


def test_a_cut_off_reply_is_no_reply(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text("a good half of", finish="length")]
    llm = role(models, server, protocol)
    with pytest.raises(errors.TruncatedError) as caught:
        chat(llm)
    assert caught.value.reply is not None
    assert caught.value.reply.content == "a good half of"
    assert caught.value.spent is not None
    assert caught.value.spent.usage.tokens_out == TOKENS_OUT
    assert server.seen == 1


@pytest.mark.parametrize("cut", ['{"name": "a", "sizes": [1', '{"name": "a", "sizes": [1]}'])
def test_a_cut_off_structure_is_never_parsed(models: Open, server: Server, protocol: str, cut: str) -> None:
    """Whether or not what is there happens to be whole, it is asked for again with more room, and with no more prompt."""
    server.steps = [call("Plan", cut, finish="length"), call("Plan", GOOD)]
    llm = role(models, server, protocol, max_tokens=50)
    assert plan(llm).value == Plan(name="bank", sizes=[1, 2])
    first, second = server.bodies
    assert second["messages"] == first["messages"]
    assert (first["max_tokens"], second["max_tokens"]) == (50, 100)
    assert outcomes(llm) == ["truncated", "ok"]


def test_cut_off_twice_is_an_error(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text('{"name": "a"', finish="length")] * 3
    llm = role(models, server, protocol)
    with pytest.raises(errors.TruncatedError):
        plan(llm)
    assert server.seen == 2
    assert len(json.dumps(server.bodies[1]["messages"])) == len(json.dumps(server.bodies[0]["messages"]))


def test_a_refusal_is_not_tried_again(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text("I will not.", finish="refusal")]
    llm = role(models, server, protocol)
    with pytest.raises(errors.RefusedError, match="declined: I will not"):
        chat(llm)
    assert outcomes(llm) == ["refused"]


def test_an_empty_reply_is_tried_again_a_little(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text("")]
    llm = role(models, server, protocol)
    assert chat(llm).content == "echo: hello"
    server.steps = [text(" \n")] * 9
    with pytest.raises(errors.EmptyReplyError):
        chat(llm, "again")
    assert outcomes(llm) == ["empty", "ok", "empty", "empty", "empty"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (text("I would rather talk."), "holds no JSON object"),
        (text('{"name": "bank", "sizes": [1,'), "no JSON object"),
        (text('{"name": "bank", "sizes": [1,}'), "not JSON"),
        (call("Plan", '{"name": "bank"}'), "sizes: Field required"),
        (call("Plan", '{"name": "bank", "sizes": ["x"]}'), "sizes.0: Input should be a valid integer"),
        (call("Plan", '{"name": "bank", "sizes": []}'), "sizes: List should have at least 1 item"),
        (call("Scheme", GOOD), "call Plan, not 'Scheme'"),
        (Step(calls=(("Plan", GOOD), ("Plan", GOOD))), "call Plan once, not 2 times"),
        (text('[{"name": "bank", "sizes": [1]}, 3] {'), "no JSON object"),
        (text('[{"name": "bank", "sizes": [1]}]'), "not an object"),
        (text('{"name": "bank", "name": "shop", "sizes": [1]}'), "the key 'name' stands twice"),
        (text('{"name": "bank", "sizes": [NaN]}'), "NaN is not JSON"),
        (text('{"name": "bank", "sizes": [1e999]}'), "beyond the range"),
        (text('{"name": "\\ud800", "sizes": [1]}'), "Invalid JSON"),
        (text('{"name": "bank", "sizes": [' + "9" * 5000 + "]}"), "not JSON"),
        (text('{"a":' * 20000 + "1" + "}" * 20000), "not JSON"),
        (text(f"{GOOD}, {{}}}}"), "not JSON"),
        (text(f"```json\n{GOOD}\n```\nor\n```json\n{GOOD}\n```"), "2 blocks of code"),
    ],
)
def test_a_wrong_shape_goes_back_with_its_problems(
    models: Open, server: Server, protocol: str, wrong: Step, told: str
) -> None:
    if protocol == "anthropic" and wrong.calls and "{" not in wrong.calls[0][1]:
        pytest.skip("Anthropic's arguments are objects")
    server.steps = [wrong, call("Plan", GOOD)]
    llm = role(models, server, protocol)
    got = plan(llm)
    assert type(got.value) is Plan
    assert got.value == Plan(name="bank", sizes=[1, 2])
    assert told in json.dumps(server.bodies[1]["messages"][-1])
    assert outcomes(llm) == ["invalid_reply", "ok"]
    assert got.spent.usage.tokens_in == 2 * TOKENS_IN


@pytest.mark.parametrize(
    "right",
    [
        call("Plan", GOOD),
        text(GOOD),
        text(f"Here it is:\n```json\n{GOOD}\n```\nGood luck"),
        text(f"<think>\nmaybe {{}}\n</think>\n{GOOD}"),
        text(f"Let me see. {{}} is too short.\n</think>\n\n{GOOD}"),
        Step(text=f"Sure: {GOOD}", reasoning="hm {"),
        text(f"{GOOD}}}"),
        text(f"```json\n{GOOD}}}]\n```"),
    ],
)
def test_shapes_that_are_right(models: Open, server: Server, protocol: str, right: Step) -> None:
    server.steps = [right]
    assert plan(role(models, server, protocol)).value == Plan(name="bank", sizes=[1, 2])
    assert server.seen == 1


@pytest.mark.parametrize("mode", ["tools", "json_schema", "json", "text"])
def test_each_way_to_ask_for_a_shape(models: Open, server: Server, protocol: str, mode: str) -> None:
    server.steps = [call("Plan", GOOD) if mode == "tools" else text(GOOD)]
    assert plan(role(models, server, protocol, structured=mode)).value == Plan(name="bank", sizes=[1, 2])
    body = server.bodies[0]
    assert ("tools" in body) == (mode == "tools")
    if mode != "tools":
        assert '"sizes"' in json.dumps(body["messages"][-1]).replace("\\", "")
    if protocol == "openai":
        wanted = {"json_schema": "json_schema", "json": "json_object"}.get(mode)
        assert body.get("response_format", {}).get("type") == wanted


def test_corrections_are_bounded_and_do_not_pile_up(models: Open, server: Server, protocol: str) -> None:
    server.steps = [call("Plan", json.dumps({"name": "bank", "sizes": ["x"] * 30}))] * 9
    llm = role(models, server, protocol, corrections=3)
    with pytest.raises(errors.InvalidReplyError, match="no Plan in 4 replies") as caught:
        plan(llm)
    assert server.seen == 4
    assert outcomes(llm) == ["invalid_reply"] * 4
    lengths = [len(json.dumps(body["messages"])) for body in server.bodies]
    assert lengths[1] == lengths[2] == lengths[3]
    assert "and 20 more" in json.dumps(server.bodies[-1]["messages"])
    assert caught.value.spent is not None
    assert caught.value.spent.usage.tokens_in == 4 * TOKENS_IN


def test_a_long_wrong_reply_is_not_sent_back(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text('{"name": "' + "x" * 50_000 + '"}'), call("Plan", GOOD)]
    plan(role(models, server, protocol))
    assert len(json.dumps(server.bodies[1]["messages"])) < 1000
    assert "sizes: Field required" in json.dumps(server.bodies[1]["messages"])


def test_usage_is_summed_over_failed_attempts(models: Open, server: Server, protocol: str) -> None:
    """field-faults G1: invalid, invalid, valid; 100 tokens each."""
    server.steps = [text("no"), text("{}"), call("Plan", GOOD)]
    got = plan(role(models, server, protocol))
    assert (got.spent.usage.tokens_in, got.spent.attempts) == (300, 3)
    assert got.reply.usage.tokens_in == 100


def test_reasoning_in_the_content_is_taken_out(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text("<think>\nFirst I <b>think</b>.\n</think>\n\nThen I speak.")]
    answer = chat(role(models, server, protocol))
    assert (answer.content, answer.reply.reasoning) == ("Then I speak.", "First I <b>think</b>.")


def test_reasoning_beside_the_content_is_kept_apart(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text("Then I speak.", reasoning="First I think.")]
    llm = role(models, server, protocol)
    answer = chat(llm)
    assert (answer.content, answer.reply.reasoning) == ("Then I speak.", "First I think.")
    chat(llm, [answer.message, {"role": "user", "content": "go on"}])
    sent = json.dumps(server.bodies[1])
    assert ("First I think." in sent) == (protocol == "anthropic")  # signed thinking goes back, and only there


def test_nothing_but_reasoning_is_empty(models: Open, server: Server, protocol: str) -> None:
    server.steps = [text("<think>round and round")]
    llm = role(models, server, protocol)
    assert chat(llm).content == "echo: hello"
    assert outcomes(llm) == ["empty", "ok"]


@pytest.mark.parametrize(
    "step",
    [
        status(400, error="prompt is too long: 250000 tokens > 200000 maximum", code="invalid_request_error"),
        status(400, error="This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        status(400, error="Requested tokens (9000) exceed context window of 8192"),
        status(413, error="request too large", code="request_too_large"),
    ],
)
def test_context_overflow_is_not_tried_again(models: Open, server: Server, protocol: str, step: Step) -> None:
    server.steps = [step]
    llm = role(models, server, protocol)
    with pytest.raises(errors.ContextError):
        chat(llm)
    assert outcomes(llm) == ["context_exceeded"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (404, "model: tiny not found"),
        (400, "temperature is not supported"),
        (500, "[1 validation error: {'type': 'literal_error', 'loc': ('body', 'response_format')}]"),
    ],
)
def test_a_wrong_request_is_not_tried_again(models: Open, server: Server, protocol: str, code: int, error: str) -> None:
    server.steps = [status(code, error=error)]
    llm = role(models, server, protocol)
    with pytest.raises(errors.RequestError, match=re.escape(f"HTTP {code}: {error}")):
        chat(llm)
    assert outcomes(llm) == ["request"]


def test_a_wrong_key_is_one_line_that_says_what_to_set(
    models: Open, server: Server, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "another"
    monkeypatch.setenv("MY_KEY", KEY)
    llm = role(models, server, protocol, key_env="MY_KEY")
    with pytest.raises(errors.AccessError) as caught:
        chat(llm)
    message = str(caught.value)
    assert "set MY_KEY to a valid key" in message
    assert "\n" not in message
    assert KEY not in message
    assert server.seen == 1
    assert (server.headers[0].get("x-api-key") or server.headers[0]["authorization"]).endswith(KEY)


def test_no_key_says_which_variable(models: Open, protocol: str) -> None:
    llm = models(f"{protocol}/tiny").role("judge")
    with pytest.raises(errors.AccessError, match=f"no key: set the environment variable {protocol.upper()}_API_KEY"):
        chat(llm)


def test_a_providers_key_goes_to_no_other_address(
    models: Open, server: Server, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(variable, KEY)
    chat(role(models, server, protocol))
    assert KEY not in json.dumps(server.headers)


def test_tools_calls_and_results_make_the_round_trip(models: Open, server: Server, protocol: str) -> None:
    server.steps = [
        Step(text="Looking.", calls=(("find", '{"id": 1}'), ("find", '{"id": 2}'))),
        text("Both are there."),
    ]
    llm = role(models, server, protocol)
    tool = {"name": "find", "description": "Find one.", "inputSchema": {"type": "object", "properties": {"id": {}}}}
    first = chat(llm, "find both", tools=[tool], tool_choice="required")
    assert [(c.name, json.loads(c.arguments)) for c in first.tool_calls] == [("find", {"id": 1}), ("find", {"id": 2})]
    assert len({c.id for c in first.tool_calls}) == 2
    results: list[Any] = [
        {"role": "tool", "tool_call_id": c.id, "content": f"result of {c.id}", "is_error": False}
        for c in first.tool_calls
    ]
    second = chat(llm, [{"role": "user", "content": "find both"}, first.message, *results], tools=[tool])
    assert second.content == "Both are there."
    body = server.bodies[1]
    sent = json.dumps(body["messages"])
    for c in first.tool_calls:
        assert sent.count(c.id) == 3
    if protocol == "anthropic":
        assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
        assert server.bodies[0]["tool_choice"] == {"type": "any"}
    else:
        assert [m["role"] for m in body["messages"]] == ["user", "assistant", "tool", "tool"]
        assert server.bodies[0]["tool_choice"] == "required"


def test_prompts_that_come_again_are_marked_for_anthropics_cache(models: Open, server: Server) -> None:
    llm = role(models, server, "anthropic")
    tool = {"name": "find", "parameters": {"type": "object"}}
    chat(llm, "one question")
    chat(
        llm,
        [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "yes?"},
            {"role": "user", "content": "go"},
        ],
        tools=[tool],
    )
    assert "cache_control" not in json.dumps(server.bodies[0])
    body = server.bodies[1]
    assert (
        body["tools"][-1]["cache_control"]
        == body["messages"][-1]["content"][-1]["cache_control"]
        == {"type": "ephemeral"}
    )
    assert json.dumps(body).count("cache_control") == 2


def test_long_words_of_the_system_are_kept_and_short_ones_are_not(models: Open, server: Server) -> None:
    llm = role(models, server, "anthropic")
    for words in ("Be brief.", "The grammar. " * 400):
        chat(llm, [{"role": "system", "content": words}, {"role": "user", "content": "write"}])
    short, long = (body["system"] for body in server.bodies)
    assert short == "Be brief."
    assert long == [{"type": "text", "text": "The grammar. " * 400, "cache_control": {"type": "ephemeral"}}]


@pytest.mark.parametrize("odd", ["\ud800", "\x00", "\u202e"])
def test_odd_text_breaks_no_store(models: Open, server: Server, protocol: str, odd: str, tmp_path: Path) -> None:
    server.steps = [Step(text=f"a{odd}b", calls=(("find", json.dumps({"id": f"x{odd}"})),))]
    llm = models(server.llm(protocol, **FAST), cache=str(tmp_path / "cache"), record=tmp_path / "r.jsonl").role("agent")
    answer = chat(llm, f"say {odd}", tools=[{"name": "find", "parameters": {"type": "object"}}])
    assert answer.content.startswith("a")
    answer.content.encode()
    assert json.loads(answer.tool_calls[0].arguments) == {"id": f"x{odd}"}
    again = chat(llm, f"say {odd}", tools=[{"name": "find", "parameters": {"type": "object"}}])
    assert again.reply == answer.reply
    assert server.seen == 1


def test_every_error_has_its_exit_code() -> None:
    for name in (name for name in errors.__all__ if name != "UNUSABLE"):
        error = getattr(errors, name)
        assert issubclass(error, EnvscalerError)
        assert error.exit_code == (6 if name == "BudgetError" else 5)

"""The cache, recordings, order, and interruption."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from envscaler.errors import LlmError, UsageError
from envscaler.llm import Cache, Llm, RoleSettings, errors, in_order
from envscaler.llm.backends.scripted import ScriptedBackend
from envscaler.llm.messages import Message, Reply
from tests.llm.conftest import Open
from tests.llm.server import Server, Step, call, status, text
from tests.soon import SOON


class Plan(BaseModel):
    name: str


# -- the cache


def test_a_second_run_makes_no_call(models: Open, server: Server, tmp_path: Path) -> None:
    server.steps = [text("not json"), text('{"name": "a"}')]
    for run in ("one", "two"):
        opened = models(server.llm(), cache=str(tmp_path / "cache"), run=tmp_path / run)
        got = opened.run(opened.role("planner").structured(Plan, "plan"))
        assert got.value == Plan(name="a")
        said = opened.run(opened.role("agent").chat("hello", tools=[{"name": "t", "parameters": {}}]))
        assert said.content == "echo: hello"
        assert got.spent.cached == said.spent.cached == (run == "two")
    assert server.seen == 3
    assert [a.outcome for a in opened.ledger.attempts()] == ["cached", "cached"]


def test_what_makes_another_call(models: Open, server: Server, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")

    async def ask(llm: Llm, **more: Any) -> None:
        await llm.chat("hello", **more)
        await llm.chat("hello", **more)

    for options in (
        {},
        {"temperature": 0.5},
        {"sample": 1},
        {"max_tokens": 9},
        {"tools": [{"name": "t", "parameters": {}}]},
    ):
        opened = models(server.llm(), cache=cache)
        opened.run(ask(opened.role("agent"), **options))
    opened = models(server.llm(seed=3), cache=cache)
    opened.run(ask(opened.role("agent")))
    opened = models(server.llm().replace("tiny", "small"), cache=cache)
    opened.run(ask(opened.role("agent")))
    assert server.seen == 7


def test_the_cache_can_be_off(models: Open, server: Server) -> None:
    for _ in range(2):
        opened = models(server.llm(), cache="off")
        opened.run(opened.role("agent").chat("hello"))
    assert server.seen == 2


@pytest.mark.parametrize(
    "step", [status(404), text("cut", finish="length"), text("No.", finish="refusal"), Step(fault="drop")]
)
def test_only_accepted_replies_are_kept(models: Open, server: Server, tmp_path: Path, step: Step) -> None:
    server.steps = [step]
    opened = models(server.llm(attempts=1), cache=str(tmp_path / "cache"))
    with pytest.raises(LlmError):
        opened.run(opened.role("agent").chat("hello"))
    assert opened.run(opened.role("agent").chat("hello")).content == "echo: hello"


def test_a_kept_reply_that_the_model_no_longer_takes(models: Open, server: Server, tmp_path: Path) -> None:
    class Stricter(Plan):
        @field_validator("name")
        @classmethod
        def known(cls, name: str) -> str:
            if name != "b":
                raise ValueError("only b")
            return name

    Stricter.__name__ = "Plan"
    server.steps = [text('{"name": "a"}'), text('{"name": "b"}')]
    opened = models(server.llm(), cache=str(tmp_path / "cache"))
    assert opened.run(opened.role("planner").structured(Plan, "plan")).value.name == "a"
    assert opened.run(opened.role("planner").structured(Stricter, "plan")).value.name == "b"
    assert opened.run(opened.role("planner").structured(Stricter, "plan")).spent.cached
    assert server.seen == 2


def test_who_asks_the_same_at_once_waits(models: Open, server: Server, tmp_path: Path) -> None:
    server.otherwise = lambda said: text(said, delay=0.1)
    opened = models(server.llm(), cache=str(tmp_path / "cache"))
    llm = opened.role("agent")
    results = opened.run(in_order(llm.chat("same") for _ in range(20)))
    assert {getattr(r, "content", r) for r in results} == {"same"}
    assert server.seen == 1


def test_a_failed_call_lets_the_next_one_try(models: Open, server: Server, tmp_path: Path) -> None:
    server.steps = [status(404, delay=0.1)]
    opened = models(server.llm(), cache=str(tmp_path / "cache"))
    llm = opened.role("agent")
    results = opened.run(in_order(llm.chat("same") for _ in range(5)))
    assert [isinstance(r, errors.RequestError) for r in results].count(True) == 1
    assert server.seen == 2


SCRIPT = """
import atexit, gc, sys
atexit.register(gc.freeze)  # as the command line does
from envscaler.llm import in_order
from envscaler.session.llm import LlmOptions, open_models
url, cache, run, count = sys.argv[1:]
models = open_models(LlmOptions([url], cache=cache), run=run)
llm = models.role("agent")
try:
    results = models.run(in_order(
        (llm.chat(f"question {n}", unit=str(n)) for n in range(int(count))),
        done=lambda n, r: print(n, getattr(r, "content", type(r).__name__), flush=True),
    ))
except KeyboardInterrupt:
    models.close()
    sys.exit(130)
models.close()
"""


def start(server: Server, tmp_path: Path, count: int, **options: Any) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-c",
        SCRIPT,
        server.llm(**options),
        str(tmp_path / "cache"),
        str(tmp_path / "run"),
        str(count),
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for what the process is to bring about, as long as it lives."""
    while not reached():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)


@pytest.mark.slow
def test_fifty_requests_in_two_processes_are_fifty(models: Open, server: Server, tmp_path: Path) -> None:
    server.otherwise = lambda said: text(f"re: {said}", delay=0.02)
    processes = [start(server, tmp_path, 50) for _ in range(2)]
    outputs = [p.communicate(timeout=60) for p in processes]
    for (out, err), process in zip(outputs, processes, strict=True):
        assert process.returncode == 0, err
        assert sorted(out.splitlines()) == sorted(f"{n} re: question {n}" for n in range(50))
    assert server.seen == 50
    again = start(server, tmp_path, 50)
    again.communicate(timeout=60)
    assert server.seen == 50
    from envscaler.session.llm import cost

    total = cost(tmp_path / "run").total
    assert (total.attempts, total.tokens_in, total.tokens_out) == (50, server.tokens_in, server.tokens_out)
    assert total.from_cache == 100


def test_a_claim_of_a_killed_process_is_taken_over(models: Open, server: Server, tmp_path: Path) -> None:
    server.steps = [Step(fault="hang")]
    process = start(server, tmp_path, 1)
    until(lambda: server.seen == 1, process)
    process.kill()
    process.wait()
    opened = models(server.llm(), cache=str(tmp_path / "cache"))
    began = time.monotonic()
    assert opened.run(opened.role("agent").chat("question 0")).content == "echo: question 0"
    assert time.monotonic() - began < SOON


def test_a_claim_of_a_process_that_hangs_runs_out(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    reply = Reply(Message("assistant", "made"))

    async def made() -> Reply:
        return reply

    async def ask() -> tuple[Reply, bool]:
        hung, other = Cache(path), Cache(path, lease=0.2)
        hung._store.write(
            "INSERT INTO claims (key, owner, until) VALUES (?, ?, ?)",
            ("k", f"elsewhere:{os.getpid()}:x", time.time() + 0.2),
        )
        return await other.get("k", made)

    began = time.monotonic()
    assert asyncio.run(ask()) == (reply, False)
    assert 0.15 < time.monotonic() - began < SOON


# -- many at once


def test_no_more_at_once_than_allowed(models: Open, server: Server) -> None:
    server.otherwise = lambda said: text(said, delay=0.03)
    opened = models(server.llm(concurrency=3))
    llms = [opened.role(role) for role in ("agent", "user")]  # one backend, one gate
    opened.run(in_order(llms[n % 2].chat(str(n)) for n in range(18)))
    assert server.most_at_once == 3


def test_results_are_in_the_order_of_the_calls(models: Open, server: Server) -> None:
    server.otherwise = lambda said: text(said, delay=0.1 - 0.01 * int(said))
    opened = models(server.llm(concurrency=10))
    ended: list[int] = []
    results = opened.run(
        in_order((opened.role("agent").chat(str(n)) for n in range(10)), done=lambda n, _: ended.append(n))
    )
    assert [r.content for r in results if not isinstance(r, LlmError)] == [str(n) for n in range(10)]
    assert ended != sorted(ended)


def test_a_thousand_in_flight(models: Open, server: Server) -> None:
    llm = Llm(ScriptedBackend(lambda r: r.messages[-1].content), RoleSettings("agent", "scripted/x", concurrency=64))
    results = asyncio.run(in_order(llm.chat(str(n)) for n in range(1000)))
    assert [r.content for r in results if not isinstance(r, LlmError)] == [str(n) for n in range(1000)]


def test_another_exception_cancels_the_rest(models: Open, server: Server) -> None:
    llm = Llm(ScriptedBackend(lambda r: r.messages[-1].content), RoleSettings("agent", "scripted/x"))

    async def broken() -> Any:
        raise ZeroDivisionError

    async def sleeping() -> Any:
        await asyncio.sleep(30)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_order([llm.chat("a"), broken(), sleeping()]))


@pytest.mark.slow
def test_ctrl_c_stops_at_once_and_keeps_what_is_done(models: Open, server: Server, tmp_path: Path) -> None:
    server.otherwise = lambda said: Step(fault="hang") if int(said.split()[1]) >= 5 else text(said)
    process = start(server, tmp_path, 12, concurrency=12)
    assert process.stdout is not None
    done = [process.stdout.readline() for _ in range(5)]
    until(lambda: server.seen == 12, process)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < SOON
    assert process.returncode == 130, err
    assert sorted(done) == [f"{n} question {n}\n" for n in range(5)]
    from envscaler.session.llm import cost

    total = cost(tmp_path / "run").total
    assert (total.attempts, total.failed, total.uncounted) == (12, 7, 7)
    server.otherwise = lambda said: text(said)
    start(server, tmp_path, 12).communicate(timeout=60)
    assert server.seen == 12 + 7


# -- recordings


def test_record_and_replay(models: Open, server: Server, tmp_path: Path) -> None:
    recording = tmp_path / "talk.jsonl"
    server.steps = [text("nonsense"), call("Plan", '{"name": "a"}'), text("<think>hm</think>\nhello")]
    values = []
    for llm in (server.llm("anthropic"), f"replay/{recording}"):
        opened = models(llm, record=recording if "replay" not in llm else None)
        plan = opened.run(opened.role("planner").structured(Plan, "plan"))
        said = opened.run(opened.role("agent").chat("hi"))
        values.append((plan.value, plan.reply, said.reply, plan.spent.usage))
    assert values[0] == values[1]
    assert server.seen == 3
    for line in recording.read_text().splitlines():
        assert set(json.loads(line)) == {"key", "model", "request", "reply"}


def test_a_miss_says_what_differs(models: Open, server: Server, tmp_path: Path) -> None:
    recording = tmp_path / "talk.jsonl"
    opened = models(server.llm(), record=recording)
    opened.run(opened.role("agent").chat("describe the bank with two accounts"))
    opened = models(f"replay/{recording}")
    with pytest.raises(errors.RecordingError) as caught:
        opened.run(opened.role("agent").chat("describe the bank with three accounts"))
    message = str(caught.value)
    assert "no recorded reply to request" in message
    assert "describe the bank with three accounts" in message
    assert (
        "nearest recorded one goes on differently: 'ibe the bank with two accounts'" in message
        or "two accounts" in message
    )
    assert "recorded requests: 1" in message


def test_equal_requests_are_replayed_in_their_order(models: Open, server: Server, tmp_path: Path) -> None:
    recording = tmp_path / "talk.jsonl"
    server.steps = [text(""), text("second")]
    for llm in (server.llm(backoff="0.01"), f"replay/{recording},backoff=0.01"):
        opened = models(llm, record=recording if "replay" not in llm else None)
        assert opened.run(opened.role("agent").chat("hi")).content == "second"
    assert server.seen == 2


def test_a_recording_that_was_cut_off_is_read_up_to_there(models: Open, server: Server, tmp_path: Path) -> None:
    recording = tmp_path / "talk.jsonl"
    opened = models(server.llm(), record=recording)
    opened.run(opened.role("agent").chat("hi"))
    recording.write_text(recording.read_text() + '{"key": "ab')
    opened = models(f"replay/{recording}")
    assert opened.run(opened.role("agent").chat("hi")).content == "echo: hi"


@pytest.mark.parametrize("content", ["[]\n", "{}\n", "nonsense\n", '{"key": 1, "request": 2, "reply": 3}\n'])
def test_what_is_no_recording(models: Open, tmp_path: Path, content: str) -> None:
    recording = tmp_path / "talk.jsonl"
    recording.write_text(content)
    opened = models(f"replay/{recording}")
    with pytest.raises(UsageError, match=r"talk\.jsonl:1: not a line of a recording"):
        opened.run(opened.role("agent").chat("hi"))


def test_a_script_file(models: Open, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["one", {"message": {"content": "two"}, "usage": {"tokens_in": 5, "tokens_out": 2}}]))
    opened = models(f"scripted/{script}")
    llm = opened.role("agent")
    assert [opened.run(llm.chat("hi")).content for _ in range(2)] == ["one", "two"]
    assert opened.ledger.totals().tokens == 7
    with pytest.raises(errors.RecordingError, match="no further reply"):
        opened.run(llm.chat("hi"))


def test_what_a_plugins_backend_raises_is_a_failure_of_the_backend() -> None:
    def broken(request: Any) -> str:
        raise ZeroDivisionError("oops")

    llm = Llm(ScriptedBackend(broken, identity="theirs/x"), RoleSettings("agent", "theirs/x"))
    with pytest.raises(errors.BackendError, match="theirs/x: ZeroDivisionError: oops"):
        asyncio.run(llm.chat("hi"))
    assert [a.outcome for a in llm.ledger.attempts()] == ["backend"]

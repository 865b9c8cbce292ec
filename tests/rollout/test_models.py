"""Models behind a real client and a server on loopback play whole episodes: calls of their own and written ones, both settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envscaler.rollout import Trajectories
from envscaler.rollout.users.model import MARKER
from envscaler.session.llm import LlmOptions
from envscaler.session.rollouts import RolloutOptions, rollout
from tests.llm.server import Step, call, serving, text

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("agent", ["llm", "llm-text"])
@pytest.mark.parametrize("user", [None, "llm"])
def test_whole_episodes(till: Path, monkeypatch: pytest.MonkeyPatch, agent: str, user: str | None) -> None:
    monkeypatch.setenv("TEST_KEY", "canary-1234567890")
    with serving() as server:

        def answer(body: dict[str, Any]) -> Step:
            said = json.dumps(body["messages"])
            if MARKER in said:  # the user's role says how to end
                return text(MARKER if "is in the till" in said else "Put it into the till.")
            value = 1 if user else int(body["messages"][1]["content"].split("coin of ")[1].split()[0])
            if "coin_id" in said.split("Put")[-1]:
                return text("It is in the till.")
            arguments = {"value": value}
            if agent == "llm":
                return call("add_coin", json.dumps(arguments))
            return text(f'<tool_call>{{"name": "add_coin", "arguments": {json.dumps(arguments)}}}</tool_call>')

        monkeypatch.setattr(server, "step", answer)
        options = RolloutOptions(
            agent, user, "non-conversation" if user is None else "conversation", samples=2, retries=0
        )
        rolled = rollout(till, "out", options, llm=LlmOptions((server.llm(),), cache="off"))
    assert rolled.complete, rolled.failed
    with Trajectories.open("out") as kept:
        played = list(kept.each())
    assert {one.status for one in played} == {"finished"}
    assert [one.reward for one in played if user is None] == [1.0] * (10 if user is None else 0)
    assert all(one.agent.model.startswith("openai/") for one in played)
    assert all(one.usage["agent"]["tokens_in"] for one in played)
    assert (Path("out") / "ledger.sqlite").exists()
    assert "canary" not in (Path("out") / "trajectories.jsonl").read_text()

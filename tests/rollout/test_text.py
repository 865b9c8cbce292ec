"""Episodes in which all is text, and episodes of files for those who bring the actions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import envscaler
from envscaler.errors import SpecError, UsageError
from envscaler.rollout.text import without_end
from envscaler.scenario.model import Reveal, Scenario

Bank = dict[str, Scenario]


@pytest.fixture
def file(bank: Bank, tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text(
        "".join(json.dumps(bank[kind].to_json()) + "\n" for kind in ("complete", "answer")), encoding="utf-8"
    )
    return path


def play(episodes: envscaler.Episodes, which: Any, *replies: str) -> tuple[float | None, list[str], dict[str, Any]]:
    """Play the replies, or the reference solution where there are none, to the end."""
    episode, first = episodes.begin_text(which)
    assert [message["role"] for message in first] == ["system", "user"]
    told = []
    for number in range(30):
        text, reward, done, info = episode.step(replies[number] if replies else episode.reference())
        told.append(text)
        if done:
            return reward, told, info
        assert reward == 0.0
    raise AssertionError("the episode did not end")


def test_the_solution_written_down(file: Path) -> None:
    episodes = envscaler.Episodes(file)
    assert len(episodes.ids) == 2
    for name in episodes.ids:
        one = episodes.scenario(name)
        _, first = episodes.begin_text(name)
        assert '"name": "transfer"' in first[0]["content"]
        assert first[1]["content"] == one.task
        reward, told, info = play(episodes, name)
        assert (reward, info["status"], told[-1]) == (1.0, "finished", "")
        assert told[0].startswith('<tool_response>\n{"success": true')
        assert play(episodes, name, "I do nothing.<|im_end|>")[0] == 0.0


def test_given_whole(file: Path, bank: Bank) -> None:
    """A scenario may come as JSON, its state within; it is the same scenario then, prepared once."""
    known = envscaler.Episodes(file)
    whole = replace(bank["complete"], state=known.begin(known.ids[0])[0]._scene.env.state, id="whole")  # type: ignore[union-attr]
    episodes = envscaler.Episodes()
    text = json.dumps(whole.to_json())
    assert episodes.scenario(text) is episodes.scenario(text)
    assert isinstance(episodes.scenario(text).state, str)
    assert play(episodes, text)[0] == play(episodes, whole.to_json())[0] == 1.0


def test_from_many_threads(file: Path) -> None:
    """Episodes are begun and played by several threads at once, as trainers do, and come out as one by one."""
    episodes = envscaler.Episodes(file)

    def one(number: int) -> tuple[float | None, str]:
        name = episodes.ids[number % 2]
        (episode, _), done = episodes.begin_text(name), False
        while not done:
            _, reward, done, _ = episode.step(episode.reference())
        return reward, episode.episode.trajectory().content_hash

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(64)))
    assert {reward for reward, _ in found} == {1.0}
    assert len(set(found)) == 2


def test_within_an_event_loop(file: Path) -> None:
    """As in a notebook, or in a trainer that has no threads for environments."""

    async def inside() -> float | None:
        episodes = envscaler.Episodes(file, user="facts")
        episodes.begin(episodes.ids[0])
        return play(envscaler.Episodes(file), episodes.ids[0])[0]

    assert asyncio.run(inside()) == 1.0


def test_tools_that_come_later(bank: Bank) -> None:
    later = replace(bank["complete"], reveal=(Reveal(("transfer",)),), id="later")
    episode, first = envscaler.Episodes().begin_text(later.to_json())
    assert '"name": "transfer"' not in first[0]["content"]
    told, reward, done, _ = episode.step("I cannot move money.")
    assert (reward, done) == (0.0, False)
    assert '"name": "transfer"' in told
    assert "<tools>" in told
    told, *_ = episode.step(episode.reference())
    assert "<tools>" not in told
    episode.step(episode.reference())
    assert episode.step(episode.reference())[1:3] == (1.0, True)


def test_replies_that_cannot_be_read(file: Path) -> None:
    reward, told, info = play(envscaler.Episodes(file), envscaler.Episodes(file).ids[0], *["<tool_call>{"] * 3)
    assert (reward, info["status"]) == (0.0, "agent_error")
    assert "could not be read" in told[0]


def test_a_limit_of_steps_is_scored(file: Path) -> None:
    episodes = envscaler.Episodes(file, steps=2)
    reward, _, info = play(episodes, episodes.ids[0])
    assert (reward, info["status"]) == (1.0, "step_limit")


def test_with_a_user(file: Path) -> None:
    """A conversation begins with what the user says first, and not with the task."""
    episodes = envscaler.Episodes(file, user="facts")
    _, first = episodes.begin_text(episodes.ids[0])
    assert first[1]["content"] != episodes.scenario(episodes.ids[0]).task


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda _: envscaler.Episodes(mode="most"), "no such mode: most"),
        (lambda _: envscaler.Episodes(user="llm"), "asks a language model"),
        (lambda _: envscaler.Episodes("none.jsonl"), "none.jsonl"),
        (lambda file: envscaler.Episodes(file).scenario("x"), "no scenario x among 2"),
        (lambda _: envscaler.Episodes().scenario("{"), "not JSON"),
    ],
)
def test_what_is_told_of_mistakes(file: Path, make: Callable[[Path], Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make(file)
    with pytest.raises(SpecError):
        envscaler.Episodes().scenario({"spec": "bank"})


@pytest.mark.parametrize(
    ("text", "left"),
    [("a<|im_end|>\n", "a"), ("a</s><|endoftext|> ", "a"), ("<|im_end|>", ""), ("a <|im_end|> b", "a <|im_end|> b")],
)
def test_marks_of_an_end(text: str, left: str) -> None:
    assert without_end(text) == left

"""A real cluster of several workers: the conformance suite, and rollouts, with and without a worker that is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import envscaler_ray
import pytest
import ray
from envscaler_ray.cluster import joined
from envscaler_ray.executor import RayExecutor
from envscaler_ray.settings import Settings

from envscaler import UsageError
from envscaler.testing import ExecutorConformance

pytest_plugins = ["envscaler.testing.fixtures"]

WORKERS = 4
SCENARIOS = 8


@pytest.fixture(scope="session", autouse=True)
def cluster() -> Iterator[str]:
    """The address of a cluster with four workers on this machine."""
    assert joined(Settings(width=WORKERS))
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


class TestConformance(ExecutorConformance):
    make = staticmethod(RayExecutor)


def test_it_takes_what_room_there_is() -> None:
    assert RayExecutor({"width": 0}).width == WORKERS
    assert RayExecutor({"width": 0, "cpus": 2}).width == WORKERS // 2


@pytest.mark.parametrize("wrong", [{"cpus": 0}, {"cpus": "all"}, {"again": -1}, {"width": 1.5}, {"address": 6379}])
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RayExecutor(wrong)


def test_envscaler_finds_it(envscaler_plugins: Callable[..., Any]) -> None:
    assert envscaler_plugins(envscaler_ray).executor("ray", {"width": 2}).width == 2


# -- rollouts

MORTAL = '''
import json, os, signal
from envscaler.agents import Turn
from envscaler.llm.messages import Message, ToolCall
from envscaler.plugin import AgentEntry, hookimpl

class Mortal:
    """Plays the solution. The process in which a scenario's first call was made is killed, once for each file."""
    name = "mortal"

    def __init__(self, part):
        self.steps, self.kills = list(part.scenario.solution), part.settings["kills"]

    async def reply(self, messages, tools):
        if messages[-1].role == "tool":
            self.kill()
        if not self.steps:
            return Turn(Message("assistant", "Done."))
        step = self.steps.pop(0)
        return Turn(Message("assistant", tool_calls=(ToolCall("", step.tool, json.dumps(dict(step.arguments))),)))

    def kill(self):
        for name in self.kills:
            try:
                open(name, "x").close()
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)

@hookimpl
def envscaler_agents():
    return [AgentEntry("mortal", "Kills its process", Mortal)]
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scenarios, and in `site` an installed agent that kills its process."""
    folder = tmp_path_factory.mktemp("run")
    info = folder / "site" / "envscaler_mortal-1.dist-info"
    info.mkdir(parents=True)
    (folder / "site" / "envscaler_mortal.py").write_text(MORTAL, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: envscaler-mortal\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[envscaler]\nmortal = envscaler_mortal\n", encoding="utf-8")
    lines = [json.dumps(scenario(10 * number)) + "\n" for number in range(1, SCENARIOS + 1)]
    (folder / "scenarios.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def scenario(amount: int) -> dict[str, Any]:
    """Money is moved between two accounts of the shipped bank."""
    arguments = {"from_account": "A-2001", "to_account": "A-2002", "amount": amount}
    task = f"Move {amount} euros from my account A-2001 to my account A-2002."
    return {
        "spec": "bank",
        "task": task,
        "goals": [f'final.accounts["A-2002"].balance == initial.accounts["A-2002"].balance + money({amount})'],
        "solution": [
            {"tool": "account_details", "arguments": {"account_id": "A-2001"}},
            {"tool": "transfer", "arguments": arguments},
        ],
        "user": {"opening": "Hello.", "facts": {"wish": {"value": amount, "text": task}}},
    }


def command(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "envscaler", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder / "site")},
    )


def played(folder: Path, output: str, *words: object) -> dict[str, str]:
    """The hashes of what a rollout gives, by id."""
    said = command(folder, "rollout", "scenarios.jsonl", "-o", output, *words)
    assert said.returncode == 0, said.stderr
    lines = (folder / output / "trajectories.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert {one["reward"] for one in found} == {1.0}
    assert len({one["id"] for one in found}) == len(found), "an episode is there twice"
    return {one["id"]: one["hash"] for one in found}


def test_the_same_as_alone(folder: Path, cluster: str) -> None:
    for name, more in (("told", ()), ("asked", ("--user", "facts"))):
        alone = played(folder, f"{name}-alone", "-n", 12, "--concurrency", 1, *more)
        many = played(folder, f"{name}-ray", "-n", 12, "--executor", f"ray,address={cluster}", "--jobs", WORKERS, *more)
        assert len(many) == 12 * SCENARIOS
        assert many == alone


def test_a_worker_that_is_killed(folder: Path) -> None:
    """On a cluster that the command begins: units whose worker dies are done again, nothing is lost, nothing is there twice."""
    kills = [str(folder / f"kill-{number}") for number in range(3)]
    words = ("--agent", "mortal", "--set", f"agent.kills={json.dumps(kills)}", "-n", 10, "--concurrency", 4)
    many = played(folder, "killed", *words, "--executor", "ray", "--jobs", WORKERS)
    assert all(Path(kill).exists() for kill in kills), "no worker was killed"
    assert len(many) == 10 * SCENARIOS
    assert many == played(folder, "unbroken", *words)  # in which nothing is killed any more


def test_a_cluster_that_is_not_there(folder: Path) -> None:
    said = command(folder, "rollout", "scenarios.jsonl", "--executor", "ray,address=127.0.0.1:1", "-o", "none")
    assert said.returncode == 2
    assert "no Ray cluster at 127.0.0.1:1" in said.stderr

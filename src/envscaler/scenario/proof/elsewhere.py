"""Solutions replayed in another process: same results, same changes, same score. One process serves any number of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.record import Gate, Reason
from envscaler.scenario.world import States, World

__all__ = ["Elsewhere", "replay_elsewhere"]

Proved = tuple[Scenario, Mapping[str, Any]]
"""A scenario, and its proof as JSON."""


class Elsewhere:
    """A Python process of its own with its own hash seed, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()

    @property
    def pid(self) -> int | None:
        """The id of the process, None where there is none."""
        return None if self._process is None else self._process.pid

    def replay(self, world: World, proved: Sequence[Proved], states: States | None = None) -> tuple[Gate, ...]:
        """The gate of each scenario: whether its solution comes to what its proof says it came to."""
        if not proved:
            return ()
        reply = self._ask(_question(world, [scenario for scenario, _ in proved], states))
        if isinstance(reply, str):
            return tuple(Gate("elsewhere", (Reason("replay-differs", reply),)) for _ in proved)
        return tuple(_gate(proof, there) for (_, proof), there in zip(proved, reply, strict=True))

    def _ask(self, question: Mapping[str, Any]) -> list[str] | str:
        """The digests from there, or why there are none."""
        process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            self._process = None
            return "the other process ended before it answered"
        reply: list[str] | str = json.loads(line)
        return reply

    def _started(self) -> subprocess.Popen[str]:
        ways = os.pathsep.join(path or os.curdir for path in sys.path)
        environment = {**os.environ, "PYTHONPATH": ways, "PYTHONHASHSEED": "random", "PYTHONIOENCODING": "utf-8"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "envscaler.scenario.proof.there"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        return self._process


def replay_elsewhere(
    world: World, proved: Iterable[Proved], states: States | None = None, other: Elsewhere | None = None
) -> tuple[dict[str, Any], ...]:
    """The proofs, as JSON, with the gate `elsewhere` in each, all from one process; ``other`` is one that goes on after it."""
    todo = list(proved)
    if other is None:
        with Elsewhere() as made:
            gates = made.replay(world, todo, states)
    else:
        gates = other.replay(world, todo, states)
    return tuple(_joined(proof, gate) for (_, proof), gate in zip(todo, gates, strict=True))


def _joined(proof: Mapping[str, Any], gate: Gate) -> dict[str, Any]:
    return {**proof, "ok": proof["ok"] and gate.ok, "gates": {**proof["gates"], gate.name: gate.to_json()}}


def _question(world: World, scenarios: Sequence[Scenario], states: States | None) -> dict[str, Any]:
    hashes = sorted({one.state for one in scenarios if isinstance(one.state, str)})
    return {
        "spec": {
            "path": world.checked.path,
            "text": world.checked.source,
            "base": str(Path(world.checked.path).parent),
        },
        "states": {name: dict(states.get(name)) for name in hashes} if states is not None else {},
        "scenarios": "\n".join(_line(n, one) for n, one in enumerate(scenarios)),
    }


def _line(number: int, scenario: Scenario) -> str:
    """A line of a file of scenarios, under an id that no other has."""
    return json.dumps({k: v for k, v in scenario.to_json().items() if k != "proof"} | {"id": f"{number}"})


def _gate(proof: Mapping[str, Any], there: str) -> Gate:
    here = proof["gates"]["solution"]["digest"]
    if there == here:
        return Gate("elsewhere", (), {"digest": there})
    return Gate("elsewhere", (Reason("replay-differs", f"another process comes to {there}, not to {here}"),))

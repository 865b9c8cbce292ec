"""The other process of a replay: a question as JSON on each line it reads, the digests of the solutions on each it writes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from envscaler.errors import EnvscalerError
from envscaler.scenario.proof.gates import fingerprint
from envscaler.scenario.proof.trial import Trial
from envscaler.scenario.reading import Read, read_text
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.states import StateStore
from envscaler.scenario.world import World
from envscaler.spec.check import check_text

__all__ = ["serve"]


class _There:
    """Worlds and states that earlier questions brought."""

    def __init__(self) -> None:
        self.worlds: dict[str, World] = {}
        self.states = StateStore()

    def answer(self, question: Mapping[str, Any]) -> list[str] | str:
        spec = question["spec"]
        try:
            world = self.worlds.get(spec["text"])
            if world is None:
                world = self.worlds[spec["text"]] = World.of(
                    check_text(spec["path"], spec["text"], base=Path(spec["base"]))
                )
            for state in question["states"].values():
                self.states.put(state)
        except EnvscalerError as error:
            return f"another process cannot open the spec: {error}"
        return [self._digest(world, read) for read in read_text("scenarios.jsonl", question["scenarios"])]

    def _digest(self, world: World, read: Read) -> str:
        scenario = read.scenario
        if scenario is None:
            return f"an error ({read.diagnostics[0].title})"
        try:
            trial = Trial(world, scenario, world.start(scenario, self.states), Scorer.of(world, scenario))
            return fingerprint(trial)
        except EnvscalerError as error:
            return f"an error ({error})"


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer until there are no more questions."""
    there = _There()
    for line in questions:
        answers.write(json.dumps(there.answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)

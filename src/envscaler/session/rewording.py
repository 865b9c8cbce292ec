"""The verb by which a model puts the tasks of proved scenarios into other words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler import __version__
from envscaler.errors import SpecError
from envscaler.session.authoring import Authored, Kept, done_units, proved, scenario_of
from envscaler.session.files import StrPath
from envscaler.session.llm import LlmOptions, open_models
from envscaler.session.scenario_output import states_of, write_scenarios
from envscaler.session.worlds import Worlds

if TYPE_CHECKING:
    from envscaler.llm import Models
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.states import StateStore

__all__ = ["reword_scenarios"]


def reword_scenarios(
    scenarios: StrPath,
    output: StrPath,
    *,
    seed: int = 0,
    specs: StrPath | None = None,
    llm: LlmOptions | None = None,
    run: StrPath | None = None,
    concurrency: int = 4,
    tell: Callable[[str], None] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Authored:
    """Have the planner put the tasks of a file of scenarios into other words; each is proved again before it is kept.

    One that does not tell all that it told, or fails its proof, keeps its old words, and is counted. Raises as
    `author_scenarios` does.
    """
    source, target = Path(scenarios), Path(output)
    worlds = Worlds(specs)
    read = list(_read(source))
    folder = Path(run) if run is not None else target.with_suffix(".run")
    kept = Kept()
    with open_models(llm or LlmOptions(), run=folder, tell=tell) as models:
        models.role("planner")
        words = _Words(worlds, models, states_of(source), seed)
        units = [{"scenario": one.to_json(), "seed": seed, "version": __version__} for one in read]
        for old, made in zip(read, done_units(folder, words, units, concurrency), strict=True):
            kept.tried += 1
            if "scenario" in made:
                kept.scenarios.append(scenario_of(made))
            else:
                kept.drop(made["code"], f"{old.id}: {made['reason']}")
                kept.scenarios.append(old)
            if progress is not None:
                progress(kept.tried, len(read), kept.reasons[-1] if kept.reasons else "")
    store, old_store = states_of(target), states_of(source)
    for one in kept.scenarios:
        if isinstance(one.state, str) and one.state not in store:
            store.put(old_store.get(one.state))
    manifest = {"seed": seed, "reworded": source.name, "dropped": dict(sorted(kept.dropped.items()))}
    summary, files = write_scenarios(target, kept.scenarios, manifest)
    return Authored(len(read), kept.tried, summary, kept.dropped, kept.reasons, files)


@dataclass(slots=True)
class _Words:
    """Finds other words for tasks; used in one thread."""

    worlds: Worlds
    models: Models
    store: StateStore
    seed: int
    kind: str = "reword"

    def label(self, unit: Mapping[str, Any]) -> str:
        return str(unit["scenario"]["id"])

    async def make(self, unit: Mapping[str, Any]) -> str:
        """The scenario in other words, or why it keeps its own, as JSON text."""
        from random import Random

        from envscaler.llm import labelled
        from envscaler.scenario.llm.asking import Unusable
        from envscaler.scenario.llm.rewording import reword
        from envscaler.scenario.reading import from_json

        old = from_json(unit["scenario"])
        world = self.worlds.of(old.spec)
        with labelled("task", old.id):
            try:
                rng = Random(f"{old.id}:{self.seed}")  # noqa: S311
                made = await reword(world, old, self.models.role("planner"), rng)
            except Unusable as problem:
                return json.dumps({"code": problem.code, "reason": str(problem)})
        return json.dumps(proved(world, made, self.store))


def _read(path: Path) -> Iterator[Scenario]:
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.reading import read_scenarios
    from envscaler.session.files import existing

    for one in read_scenarios(existing(path)):
        if not isinstance(one, Scenario):
            raise SpecError(one.diagnostics)
        yield one if one.id else one.named()

"""Scores without a model: of a final state, of a trajectory, of all that a run has stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.diagnostics import nearest, one_of, printable
from envscaler.errors import SpecError, UsageError
from envscaler.session.files import StrPath, existing, many, read_json
from envscaler.session.worlds import Worlds

if TYPE_CHECKING:
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.scoring import Mode, Score
    from envscaler.scenario.states import StateStore
    from envscaler.scenario.world import World

__all__ = ["Scored", "score", "score_run"]

_TRAJECTORIES = "trajectories.jsonl"  # the file of a run's folder


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of one end of one scenario.

    ``id``: of the trajectory, "" for a final state. ``spec``: the hash of the spec that it was scored with. ``changed``: how
    that is another than the one it was made or played with, with both hashes, "" when it is not. ``was``: the reward that
    was recorded. ``failed``: recorded calls that fail now. ``aside``: the status of an episode that says nothing of its
    agent, which has no score.
    """

    scenario: str
    score: Score | None
    spec: str
    changed: str = ""
    id: str = ""
    was: float | None = None
    failed: tuple[str, ...] = ()
    aside: str = ""

    @property
    def differs(self) -> bool:
        """Whether another reward was recorded, or calls come out otherwise."""
        other = self.was is not None and (self.score is None or self.was != self.score.reward)
        return other or bool(self.failed)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; what is empty is left out."""
        plain: dict[str, Any] = {"scenario": self.scenario, "id": self.id, "spec": self.spec, "changed": self.changed}
        plain |= {"status": self.aside, "was": self.was, "failed": list(self.failed)}
        kept = {name: value for name, value in plain.items() if value not in ("", None, [])}
        return kept if self.score is None else {**kept, **self.score.to_json()}


def score(
    scenarios: StrPath,
    state: StrPath | Mapping[str, Any],
    *,
    id: str | None = None,  # noqa: A002 - what a scenario's id is called everywhere
    submitted: Mapping[str, Any] | None = None,
    mode: Mode = "guarded",
    specs: StrPath | None = None,
    any_hash: bool = False,
) -> Scored:
    """The score of a final state, which is JSON or a file of it.

    ``id``: which scenario of the file, where it holds several. ``submitted``: what the agent ended with,
    `{"answer": {…}}` or `{"refusal": "reason"}`. ``specs``: a folder of specs (default `specs`); ``any_hash``: a spec that
    changed since will do. Raises UsageError, SpecError (for the scenario's own problems, too), StateError.
    """
    from envscaler.scenario.ends import at_end

    bench = _Bench(scenarios, specs, any_hash)
    scenario = bench.one(id)
    world = bench.worlds.of(scenario.spec)
    final = state if isinstance(state, Mapping) else read_json(Path(state))
    if not isinstance(final, Mapping):
        raise UsageError(f"{state}: a state is an object")
    env = at_end(world, scenario, final, bench.states)
    found = bench.scorer(world, scenario).score(env, submitted, mode)
    return Scored(scenario.id, found, world.spec.hash, _changed(world, scenario, None))


def score_run(
    scenarios: StrPath | Sequence[StrPath],
    run: StrPath,
    *,
    id: str | None = None,  # noqa: A002
    mode: Mode | None = None,
    specs: StrPath | None = None,
    any_hash: bool = False,
) -> Iterator[Scored]:
    """The score of each trajectory of a file, or of a run's folder: its calls are made once more, then it is scored.

    ``scenarios``: a file, or several for runs that were merged. ``id``: only those of this scenario. ``mode``: by default that
    in which each was scored. The forms of trajectories are in `scenario.recorded`. Raises as `score` does, and UsageError at
    the line of a record that cannot be read.
    """
    benches = [_Bench(file, specs, any_hash) for file in many(scenarios)]
    wanted = None if id is None else next((b for b in benches if b.holds(id)), benches[0]).one(id).id
    path = Path(run)
    path = path / _TRAJECTORIES if path.is_dir() else path
    for line, record in _records(existing(path)):
        if wanted is not None and record.get("scenario") != wanted:
            continue
        try:
            bench = next((b for b in benches if b.holds(record.get("scenario"), _played_with(record))), benches[0])
            yield bench.scored(record, mode)
        except UsageError as error:
            raise UsageError(f"{path}:{line}: {error}") from None


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}:{number}: not JSON: {str(error)[:200]}") from None
            if not isinstance(record, dict):
                raise UsageError(f"{path}:{number}: a trajectory is an object")
            yield number, record


def _played_with(record: Mapping[str, Any]) -> str | None:
    """The hash of the spec that an episode was played with."""
    spec = record.get("spec")
    played = spec.get("hash") if isinstance(spec, Mapping) else None
    return played if isinstance(played, str) else None


def _changed(world: World, scenario: Scenario, played: str | None) -> str:
    """How the spec is another than that of the scenario, or than the one that was played."""
    from envscaler.scenario.checking import spec_problem

    if played is not None and played != world.spec.hash:
        return f"the spec {world.spec.name} has changed: it was played with {played}, this is {world.spec.hash}"
    return spec_problem(world, scenario)


class _Bench:
    """A file of scenarios with what is needed to score them, each made once."""

    def __init__(self, scenarios: StrPath, specs: StrPath | None, any_hash: bool) -> None:
        from envscaler.scenario.states import StateStore

        self.path = existing(Path(scenarios))
        self.worlds = Worlds(specs, any_hash=any_hash)
        self.states: StateStore = StateStore.beside(self.path)
        self._unbound: list[Scenario] = []  # those that name no version of their spec, and so have no id
        self._scenarios = dict(self._read())
        self._scorers: dict[str, Any] = {}

    def _read(self) -> Iterator[tuple[str, Scenario]]:
        from envscaler.scenario.reading import Bad, read_scenarios

        for one in read_scenarios(self.path):
            if isinstance(one, Bad):
                raise SpecError(one.diagnostics)
            if not one.id and not one.spec.hash:
                self._unbound.append(one)
            yield one.id, one

    def holds(self, id: object, played: str | None = None) -> bool:  # noqa: A002
        """Whether the scenario of that id is here. One without an id has that which it was given when it was ``played`` with
        the spec of this hash."""
        if id not in self._scenarios and played is not None:
            bound = (replace(one, spec=replace(one.spec, hash=played)).named() for one in self._unbound)
            self._scenarios |= {one.id: one for one in bound if one.id == id}
        return id in self._scenarios

    def one(self, id: str | None) -> Scenario:  # noqa: A002
        """The scenario of that id, or the only one. Raises UsageError."""
        names = list(self._scenarios)
        if id is None:
            if len(names) == 1:
                return self._scenarios[names[0]]
            raise UsageError(f"{self.path} holds {len(names)} scenarios; say which: --id {one_of(names, 5)}")
        if id not in self._scenarios:
            near = nearest(id, names)
            hint = f"; did you mean {near}?" if near else ""
            raise UsageError(f"{self.path} holds no scenario {printable(id[:80])}{hint}")
        return self._scenarios[id]

    def scorer(self, world: World, scenario: Scenario) -> Any:
        """The scorer of a scenario."""
        from envscaler.scenario.scoring import Scorer

        found = self._scorers.get(scenario.id)
        if found is None:
            found = self._scorers[scenario.id] = Scorer.of(world, scenario)
        return found

    def scored(self, record: Mapping[str, Any], mode: Mode | None) -> Scored:
        """The score of a recorded episode."""
        from envscaler.scenario.recorded import replay_recorded
        from envscaler.scenario.scoring import MODES

        name = record.get("scenario")
        if not isinstance(name, str):
            raise UsageError("the trajectory does not say of which 'scenario' it is")
        played = _played_with(record)
        self.holds(name, played)
        scenario = self.one(name)
        world = self.worlds.of(scenario.spec)
        common: dict[str, Any] = {
            "spec": world.spec.hash,
            "changed": _changed(world, scenario, played),
            "id": str(record.get("id", "")),
        }
        was = record.get("reward")
        status = record.get("status", "")
        if status and was is None and status not in ("finished", "checker_error"):
            return Scored(scenario.id, None, **common, aside=str(status))
        replayed = replay_recorded(world, scenario, record, self.states)
        kept = record.get("mode")
        chosen: Any = mode or (kept if kept in MODES else "guarded")
        found = self.scorer(world, scenario).score(replayed.env, replayed.submitted, chosen)
        was = was if isinstance(was, int | float) and (mode is None or mode == kept) else None
        return Scored(scenario.id, found, **common, was=was, failed=replayed.failed)

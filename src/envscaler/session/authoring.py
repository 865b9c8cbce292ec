"""The verb by which models make scenarios: tasks that one writes, one solves and one says how to check."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from envscaler import __version__
from envscaler.errors import BudgetError, LlmError, UsageError
from envscaler.session.files import StrPath, many, spec_files
from envscaler.session.llm import LlmOptions, open_models
from envscaler.session.scenario_output import states_of, write_scenarios
from envscaler.session.specs import sound
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.llm import Models
    from envscaler.scenario.llm.authoring import AuthorSettings
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.proof import Proof
    from envscaler.scenario.states import StateStore
    from envscaler.scenario.summary import Summary
    from envscaler.scenario.world import World

__all__ = ["AuthorOptions", "Authored", "Kept", "author_scenarios", "done_units", "proved", "scenario_of"]

_ROUNDS: Final = 3  # in which what was dropped is made up for
_AUTHORS: Final = ("planner", "agent", "coder")


@dataclass(frozen=True, slots=True)
class AuthorOptions:
    """``count`` scenarios over all specs. ``states``: `own` (the spec's), `made` (from the spec and the seed) or `drafted` (by
    the planner), one for each ``share`` scenarios. ``goals``, ``changes``: see `AuthorSettings`. ``size``: records of a state.
    """

    count: int = 10
    seed: int = 0
    states: Literal["own", "made", "drafted"] = "made"
    share: int = 5
    size: int = 40
    goals: Literal["derived", "written"] = "derived"
    changes: tuple[int, int] = (1, 4)

    def __post_init__(self) -> None:
        if self.count < 1 or self.share < 1 or self.size < 1:
            raise UsageError("count, share and size are numbers above 0")


@dataclass(frozen=True, slots=True)
class Authored:
    """What came of it. ``dropped``: by reason; ``reasons``: a line for each that was dropped; ``tried``: in all."""

    wanted: int
    tried: int
    summary: Summary
    dropped: Mapping[str, int]
    reasons: Sequence[str]
    files: Sequence[Path]

    @property
    def complete(self) -> bool:
        """As many were kept as were wanted."""
        return self.summary.count >= self.wanted


@dataclass(slots=True)
class Kept:
    """What is kept so far, and what is not."""

    scenarios: list[Scenario] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    tried: int = 0

    def drop(self, code: str, reason: str) -> None:
        self.dropped[code] += 1
        self.reasons.append(f"{code}: {reason}")


def author_scenarios(
    specs: Sequence[StrPath] | StrPath,
    output: StrPath,
    options: AuthorOptions | None = None,
    *,
    llm: LlmOptions | None = None,
    run: StrPath | None = None,
    concurrency: int = 4,
    tell: Callable[[str], None] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Authored:
    """Have models write scenarios for specs; what they agree on is proved and written to ``output``.

    Roles: planner writes the task (and the state, when it is drafted), agent solves it, coder writes how to check it.
    ``run``: the folder of the journal and of the account of tokens, by default beside ``output``; the same call goes on where
    one was ended. ``progress`` hears of kept, wanted and what came of the last one. Raises UsageError, SpecError for specs
    with errors, LlmError when a model cannot be asked: what was finished is kept.
    """
    options = options or AuthorOptions()
    target = Path(output)
    worlds = _opened(specs)
    folder = Path(run) if run is not None else target.with_suffix(".run")
    kept, unlike = Kept(), _Unlike(worlds)
    with open_models(llm or LlmOptions(), run=folder, tell=tell) as models:
        named = {role: models.role(role).backend.identity for role in _AUTHORS}
        desk = _Desk(worlds, models, options, states_of(target))
        for turn in range(_ROUNDS):
            units = list(_units(worlds, options, named, turn, options.count - len(kept.scenarios)))
            for made in done_units(folder, desk, units, concurrency):
                kept.tried += 1
                if "scenario" not in made:
                    kept.drop(made["code"], made["reason"])
                elif alike := unlike.take(scenario := scenario_of(made)):
                    kept.drop(alike, scenario.task)
                else:
                    kept.scenarios.append(scenario)
                if progress is not None:
                    progress(len(kept.scenarios), options.count, kept.reasons[-1] if kept.reasons else "")
    manifest = {
        "seed": options.seed,
        "wanted": options.count,
        "settings": asdict(options),
        "models": named,
        "specs": {name: {"hash": world.spec.hash} for name, world in worlds.items()},
        "tried": kept.tried,
        "dropped": dict(sorted(kept.dropped.items())),
    }
    summary, files = write_scenarios(target, kept.scenarios, manifest)
    return Authored(options.count, kept.tried, summary, kept.dropped, kept.reasons, files)


# -- units


def _opened(specs: Sequence[StrPath] | StrPath) -> dict[str, World]:
    from envscaler.scenario.world import World

    worlds: dict[str, World] = {}
    for file in spec_files(many(specs))[0]:
        world = World.of(sound(file), template_folders())
        if world.spec.name in worlds:
            raise UsageError(f"{file} and another spec are both called {world.spec.name}")
        worlds[world.spec.name] = world
    return worlds


def _units(
    worlds: Mapping[str, World], options: AuthorOptions, models: Mapping[str, str], turn: int, lacking: int
) -> Iterator[dict[str, Any]]:
    """What is still to be made, shared out evenly among specs."""
    names = list(worlds)
    for place in range(lacking):
        name = names[place % len(names)]
        index = turn * options.count + place // len(names)
        yield {
            "spec": name, "hash": worlds[name].spec.hash, "index": index, "models": dict(models), "version": __version__,
            **asdict(options),
        }  # fmt: skip


def done_units(folder: Path, desk: Maker, units: list[dict[str, Any]], width: int) -> Iterator[Any]:
    """What came of each unit, in order; done once each."""
    from envscaler.work import Async, Closing, Run

    with Run.open(folder) as run:
        outcomes = run.map(
            desk.kind,
            Closing(desk.make, desk.models.aclose),
            units,
            executor=Async(width),
            retry_failed=True,
            label=desk.label,
            ends=(LlmError, BudgetError),
        )
        for outcome in outcomes:
            if outcome.problem is not None:
                yield {"code": "failed", "reason": str(outcome.problem)}
            else:
                yield json.loads(outcome.result)


class Maker(Protocol):
    """What makes units of a kind, with models that belong to one event loop."""

    kind: str
    models: Models

    def label(self, unit: Mapping[str, Any], /) -> str: ...
    async def make(self, unit: Mapping[str, Any], /) -> str: ...


@dataclass(slots=True)
class _Desk:
    """Makes scenarios; used in one thread."""

    worlds: Mapping[str, World]
    models: Models
    options: AuthorOptions
    store: StateStore
    kind: str = "author"

    def label(self, unit: Mapping[str, Any]) -> str:
        return f"{unit['spec']} {unit['index']}"

    async def make(self, unit: Mapping[str, Any]) -> str:
        """A proved scenario, or why there is none, as JSON text: a journal does not keep the order of keys."""
        from envscaler.llm import labelled
        from envscaler.scenario.llm.asking import Unusable
        from envscaler.scenario.llm.authoring import author

        world, index = self.worlds[unit["spec"]], unit["index"]
        with labelled(unit=self.label(unit)):
            try:
                state = await self._state(world, index // self.options.share)
                name = None if state is None else self.store.put(state)
                made = await author(world, state, self.models, self._settings(), seed=0, turn=index)
            except Unusable as problem:
                return json.dumps({"code": problem.code, "reason": str(problem)})
        return json.dumps(proved(world, _placed(made, name), self.store))

    def _settings(self) -> AuthorSettings:
        from envscaler.scenario.llm.authoring import AuthorSettings

        return AuthorSettings(changes=self.options.changes, goals=self.options.goals)

    async def _state(self, world: World, number: int) -> Mapping[str, Any] | None:
        from envscaler.scenario.data import DataSettings, make_state
        from envscaler.scenario.data.drafting import DraftSettings, draft_state

        options = self.options
        if options.states == "drafted":
            drafted = await draft_state(
                world, self.models.role("planner"), DraftSettings(size=options.size, theme=f"world {number + 1}")
            )
            return drafted.state
        if options.states == "made":
            return make_state(world, DataSettings(size=options.size), options.seed + number)
        return None


def _placed(made: Scenario, state: str | None) -> Scenario:
    from dataclasses import replace

    return replace(made, state=state).named()


def proved(world: World, made: Scenario, store: StateStore) -> dict[str, Any]:
    from dataclasses import replace

    from envscaler.scenario.proof import ProofSettings, prove

    proof: Proof = prove(world, made, store, ProofSettings(elsewhere=False))
    if not proof.ok:
        return {"code": proof.reasons[0].code, "reason": proof.reasons[0].text}
    return {"scenario": replace(made, proof=proof.to_json()).to_json()}


def scenario_of(made: Mapping[str, Any]) -> Scenario:
    from envscaler.scenario.reading import from_json

    return from_json(made["scenario"])


class _Unlike:
    """Tells scenarios that are there already, by what they do and by what they say."""

    def __init__(self, worlds: Mapping[str, World]) -> None:
        from envscaler.scenario.alike import Texts

        self._worlds = worlds
        self._keys: set[str] = set()
        self._texts = Texts()

    def take(self, one: Scenario) -> str:
        """Take note of a scenario; why it is like another, "" where it is not."""
        from envscaler.scenario.alike import plan_key, said

        key = plan_key(self._worlds[one.spec.name], one)
        if key in self._keys:
            return "same-plan"
        if not self._texts.take(said(one)):
            return "same-text"
        self._keys.add(key)
        return ""

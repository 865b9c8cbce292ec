"""The verb that makes scenarios: specs in, a file of proved scenarios, their states and a manifest out."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.errors import BudgetError, PluginError, UsageError
from envscaler.session.files import StrPath, many, read_json, reason, spec_files
from envscaler.session.scenario_output import store_folder, write_scenarios
from envscaler.session.specs import sound
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.plugin.manager import Plugins
    from envscaler.plugin.records import Generator
    from envscaler.scenario.batch import Batch
    from envscaler.scenario.chunk import Chunk, Order
    from envscaler.scenario.proof.elsewhere import Elsewhere
    from envscaler.scenario.states import StateStore
    from envscaler.scenario.summary import Summary
    from envscaler.scenario.world import World
    from envscaler.spec.checked import Checked

__all__ = ["BatchOptions", "Made", "MakingProgress", "make_scenarios"]


_GROWN: Final = (1.0, 1.5, 2.0, 3.0)
"""How large states are, in sizes of the spec's own."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What is wanted: ``count`` scenarios of ``kinds`` (all where none are named), everything drawn from ``seed``.

    ``size``: about how many records each collection of a state holds. ``states``: a file with a state, or a folder of such,
    to begin in instead of made ones.
    """

    count: int = 100
    seed: int = 0
    kinds: tuple[str, ...] = ()
    size: int | None = None
    states: str = ""


@dataclass(frozen=True, slots=True)
class MakingProgress:
    """How far it is. ``dropped``: by reason."""

    kept: int
    wanted: int
    tried: int
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a batch. ``files`` were written. ``lines`` tell of kinds that a spec did not yield; ``unused``: by spec the
    writing tools that no scenario uses; ``failed``: problems of units that could not be made."""

    wanted: int
    summary: Summary
    dropped: Mapping[tuple[str, str, str], int]
    tried: Mapping[tuple[str, str], int]
    files: tuple[Path, ...]
    lines: tuple[str, ...] = ()
    unused: Mapping[str, Sequence[str]] = field(default_factory=dict)
    failed: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """As many were kept as were wanted, and no unit failed."""
        return self.summary.count >= self.wanted and not self.failed


def make_scenarios(
    specs: Sequence[StrPath] | StrPath,
    output: StrPath,
    options: BatchOptions | None = None,
    *,
    jobs: int = 1,
    run: StrPath | None = None,
    as_yaml: bool = False,
    progress: Callable[[MakingProgress], None] | None = None,
) -> Made:
    """Make proved scenarios for specs and write them to ``output``, with their states beside it and a manifest.

    The files are the same for the same specs, options and version, whatever ``jobs`` is. What is done is kept in ``run``, by
    default beside ``output`` until that is written, so that the same call goes on where one was ended. Raises UsageError,
    SpecError for a spec with errors, PluginError when a generator fails.
    """
    from envscaler.scenario.batch import Batch, Subject

    options = options or BatchOptions()
    target = Path(output)
    _checked.clear()
    subjects: dict[str, tuple[Path, str]] = {}
    named = []
    for file in spec_files(many(specs))[0]:
        checked = sound(file)
        assert checked.spec is not None
        if checked.spec.name in subjects:
            raise UsageError(f"{file} and {subjects[checked.spec.name][0]} are both called {checked.spec.name}")
        subjects[checked.spec.name] = (file, checked.spec.hash)
        _checked[str(file), checked.spec.hash] = checked
        tools = checked.spec.tools.values()
        named.append(
            Subject(checked.spec.name, tuple(t.name for t in tools if t.kind == "write" and t.actor == "agent"))
        )
    kinds = _kinds(options.kinds)
    batch = Batch(named, kinds, options.count)
    folder = Path(run) if run is not None else target.with_suffix(".run")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {reason(error)}") from None
    common = {**asdict(options), "kinds": list(kinds), "version": __version__, "store": str(store_folder(target))}
    failed: list[str] = []
    with _Rounds(folder, jobs) as rounds:
        while orders := batch.round():
            units = [_unit(order, *subjects[order.spec], common) for order in orders]
            for order, result in zip(orders, rounds.done(units), strict=True):
                if isinstance(result, str):
                    failed.append(f"{order.spec}, state {order.index}: {result}")
                    batch.fail(order, "failed")
                else:
                    batch.take(order, result)
                if progress is not None:
                    progress(_progress(batch))
    made = _written(batch, target, subjects, options, kinds, tuple(failed), as_yaml)
    if run is None and made.complete:
        shutil.rmtree(folder, ignore_errors=True)
    return made


def _progress(batch: Batch) -> MakingProgress:
    reasons: Counter[str] = Counter()
    for (_, _, why), times in batch.dropped.items():
        reasons[why] += times
    return MakingProgress(len(batch.kept), batch.count, sum(batch.tried.values()), reasons)


def _kinds(names: Sequence[str]) -> tuple[str, ...]:
    plugins = _plugins(names)
    if not names:
        names = [offer.entry.name for offer in plugins.offers("generator")]
    if not names:
        raise UsageError("no plugin offers a generator of scenarios")
    for name in names:
        plugins.find("generator", name)
    return tuple(dict.fromkeys(names))


def _plugins(kinds: Sequence[str]) -> Plugins:
    """What ships, and what is installed only where a kind of theirs is asked for."""
    from envscaler.session.plugins import open_plugins

    shipped = open_plugins(third_parties=False)
    own = {offer.entry.name for offer in shipped.offers("generator")}
    return shipped if own.issuperset(kinds) else open_plugins()


# -- units: run in this process or others, and journaled


def _unit(order: Order, file: Path, spec_hash: str, common: Mapping[str, Any]) -> dict[str, Any]:
    return {"order": order.to_json(), "file": str(file), "hash": spec_hash, **common}


class _Rounds:
    """Units done once each, with a journal in ``folder``; what comes back is in their order."""

    def __init__(self, folder: Path, jobs: int) -> None:
        from envscaler.work import InProcess, Processes, Run

        if jobs < 0:
            raise UsageError(f"--jobs is 0 (all cores) or more, not {jobs}")
        self._run = Run.open(folder)
        self._alone = InProcess()
        self._executor = self._alone if jobs == 1 else Processes(jobs or os.cpu_count() or 1)

    def __enter__(self) -> _Rounds:
        self._run.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._run.__exit__(*error)

    def done(self, units: list[dict[str, Any]]) -> Iterator[Chunk | str]:
        """Of each unit what it made, or why it failed."""
        executor = self._executor if len(units) > 1 else self._alone
        outcomes = self._run.map(
            "scenarios",
            _made,
            units,
            executor=executor,
            label=_label,
            retry_failed=True,
            ends=(BudgetError, PluginError),
        )
        for outcome in outcomes:
            yield _read(json.loads(outcome.result)) if outcome.ok else str(outcome.problem)


def _label(unit: Mapping[str, Any]) -> str:
    return f"{unit['order']['spec']} {unit['order']['index']}"


def _made(unit: Mapping[str, Any]) -> str:
    """One unit, as JSON text: a journal does not keep the order of keys."""
    from envscaler.scenario.chunk import Order, make_chunk, seed_of
    from envscaler.scenario.data import fitted

    world, generators = _bench(unit["file"], unit["hash"], tuple(unit["kinds"]))
    plain = unit["order"]
    order = Order(plain["spec"], plain["index"], plain["want"], tuple(plain["tools"]))
    seed = seed_of(unit["hash"], unit["seed"], order.index)
    store = _store(unit["store"])
    state = _state(world, unit, order.index, seed)
    if order.tools:
        state = fitted(world, state, order.tools, order.index)
    return json.dumps(_plain(make_chunk(world, generators, store, state, order, seed, _elsewhere())))


_checked: Final[dict[tuple[str, str], Checked]] = {}
"""The specs of the batch by file and hash, checked before it began: a unit in this process does not check them again."""


@lru_cache(maxsize=64)
def _bench(file: str, spec_hash: str, kinds: tuple[str, ...]) -> tuple[World, Mapping[str, Generator]]:
    from envscaler.scenario.world import World

    known = (file, spec_hash)
    world = World.of(_checked.pop(known) if known in _checked else sound(file), template_folders())
    if world.spec.hash != spec_hash:
        raise UsageError(f"{file} was changed while scenarios were made for it")
    plugins = _plugins(kinds)
    return world, {kind: plugins.generator(kind) for kind in kinds}


@lru_cache(maxsize=4)
def _store(folder: str) -> StateStore:
    from envscaler.scenario.states import StateStore

    return StateStore(folder)


def _state(world: World, unit: Mapping[str, Any], index: int, seed: int) -> Mapping[str, Any]:
    from random import Random

    from envscaler.scenario.data import DataSettings, allowed, make_state

    if unit["states"]:
        files = _state_files(Path(unit["states"]), world.spec.name)
        return allowed(world, read_json(files[index % len(files)]), str(files[index % len(files)]))
    size = unit["size"]
    if size is None:
        records = sum(len(part) for name, part in world.environment.new().state.items() if name in world.collections)
        size = round(records * Random(seed).choice(_GROWN))  # noqa: S311
    return make_state(world, DataSettings(size=size), seed)


def _state_files(place: Path, spec: str) -> list[Path]:
    """A file; the files of a folder, of its folder that is called like the spec where there is one."""
    if not place.is_dir():
        return [place]
    own = place / spec
    single = place / f"{spec}.json"
    files = [single] if single.is_file() else sorted((own if own.is_dir() else place).glob("*.json"))
    if not files:
        raise UsageError(f"no JSON file in {place} is a state of {spec}")
    return files


@cache
def _elsewhere() -> Elsewhere:
    """A process for replays, which ends with this one."""
    from envscaler.scenario.proof.elsewhere import Elsewhere

    return Elsewhere()


def _plain(chunk: Chunk) -> dict[str, Any]:
    return {
        "kept": [{"scenario": k.scenario.to_json(), "key": k.key, "tools": k.tools} for k in chunk.kept],
        "dropped": [[kind, why, times] for (kind, why), times in chunk.dropped.items()],
        "tried": chunk.tried,
        "repaired": [[kind, why, times] for (kind, why), times in chunk.repaired.items()],
    }


def _read(plain: Mapping[str, Any]) -> Chunk:
    from envscaler.scenario.chunk import Chunk, Kept
    from envscaler.scenario.reading import from_json

    return Chunk(
        tuple(Kept(from_json(k["scenario"]), k["key"], tuple(k["tools"])) for k in plain["kept"]),
        {(kind, why): times for kind, why, times in plain["dropped"]},
        plain["tried"],
        {(kind, why): times for kind, why, times in plain["repaired"]},
    )


# -- what is written


def _written(
    batch: Batch,
    target: Path,
    subjects: Mapping[str, tuple[Path, str]],
    options: BatchOptions,
    kinds: Sequence[str],
    failed: tuple[str, ...],
    as_yaml: bool,
) -> Made:
    manifest = {
        "seed": options.seed,
        "wanted": options.count,
        "settings": {"kinds": list(kinds), "size": options.size, "states": options.states},
        "specs": {name: {"file": file.name, "hash": content} for name, (file, content) in subjects.items()},
        "tried": _nested(batch.tried),
        "dropped": _nested(batch.dropped),
        "repaired": _nested(batch.repaired),
        "unused_tools": {name: list(tools) for name, tools in batch.unused().items()},
    }
    counted, files = write_scenarios(target, [one.scenario for one in batch.kept], manifest, as_yaml=as_yaml)
    lines = tuple(
        f"{spec}: no more {kind}" + (f"; most are dropped for {why}" if why else "; none are found")
        for (spec, kind), why in batch.shortfalls().items()
    )
    return Made(
        options.count, counted, batch.dropped, batch.tried, files, lines, batch.unused(), failed,
    )  # fmt: skip


def _nested(counts: Mapping[Any, int]) -> dict[str, Any]:
    """`{("bank", "complete", "x"): 2}` as `{"bank": {"complete": {"x": 2}}}`, sorted."""
    made: dict[str, Any] = {}
    for (*path, last), times in sorted(counts.items()):
        place = made
        for name in path:
            place = place.setdefault(name, {})
        place[last] = times
    return made

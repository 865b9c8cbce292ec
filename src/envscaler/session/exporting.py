"""The verb that makes training data of runs, or of scenarios: read, filter, split, write, and say what was done."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler.errors import UsageError
from envscaler.session.files import StrPath, many, reason

if TYPE_CHECKING:
    from envscaler.export.filters import FilterOptions
    from envscaler.export.sample import Sample, TaskSample
    from envscaler.plugin.records import Splits
    from envscaler.rollout.store import Trajectories
    from envscaler.session.impossible import Judged, JudgeOptions, Judges

__all__ = ["MANIFEST", "STATES", "ExportOptions", "Exported", "export"]

MANIFEST: Final = "manifest.json"
STATES: Final = "states"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How it is exported. ``settings`` are the exporter's. ``held_out``: the share of environments that only the test part
    has; 0 for no such part. ``seed`` draws them. ``replace``: what an earlier export left in the folder may go. ``specs`` and
    ``any_hash``: where specs of scenarios are looked for, and whether a changed one will do. ``judge``: how a judge is asked,
    where the filters have one.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    held_out: float = 0.0
    seed: int = 0
    replace: bool = False
    specs: StrPath | None = None
    any_hash: bool = False
    judge: JudgeOptions | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. ``read`` and ``kept`` count trajectories or scenarios; ``dropped``: by reason how many were left out.
    ``splits``: for each part its environments and samples; ``rows``: of each file of data; ``judged``: what a judge said."""

    folder: Path
    read: int
    kept: int
    dropped: Mapping[str, int]
    splits: Mapping[str, tuple[Sequence[str], int]]
    rows: Mapping[str, int]
    judged: Judged | None = None


def export(
    sources: Sequence[StrPath] | StrPath,
    output: StrPath,
    form: str,
    filters: FilterOptions | None = None,
    options: ExportOptions | None = None,
) -> Exported:
    """Write what is in the folders of runs, or in files of scenarios, in the form of the exporter called ``form``.

    ``output`` becomes a folder with the data and `manifest.json`, whole or not at all. Raises UsageError, PluginError,
    and LlmError and BudgetError where a judge is asked: what it said up to then is kept, and not asked again.
    """
    from envscaler.export.filters import FilterOptions
    from envscaler.plugin.entries import ExporterEntry
    from envscaler.session.plugins import open_plugins

    options, filters = options or ExportOptions(), filters or FilterOptions()
    folder = Path(output)
    _in_the_way(folder, options.replace)
    paths = [Path(path) for path in many(sources)]
    plugins = open_plugins()
    offer = plugins.find("exporter", form)
    entry = offer.entry
    assert isinstance(entry, ExporterEntry)
    exporter = plugins.exporter(form, options.settings)
    said: dict[str, Any] = {
        "format": _FORMAT,
        "exporter": form,
        "settings": dict(options.settings),
        "seed": options.seed,
    }
    with ExitStack() as stack:
        temporary = stack.enter_context(_Staged(folder))
        if entry.takes == "scenarios":
            if filters != FilterOptions():
                raise UsageError(f"{form} is made of scenarios, and what was asked for filters trajectories")
            source: _Runs | _Tasks = _Tasks(paths, options, temporary.path / STATES)
        else:
            source = _Runs(paths, filters, stack, options.judge)
            said["filters"] = asdict(filters)
        splits, names = _split(source, options)
        try:
            rows = exporter.write(splits, temporary.path)
        except OSError as error:
            raise UsageError(f"{folder}: {reason(error)}; nothing was written") from None
        counts = {split: sum(map(source.environments.count, names[split])) for split in splits}
        made = Exported(
            folder, source.read, sum(counts.values()), source.dropped,
            {split: (names[split], counts[split]) for split in splits}, dict(rows), source.judged,
        )  # fmt: skip
        _write_manifest(temporary.path, said, paths, made)
        temporary.done()
    return made


def _in_the_way(folder: Path, replace: bool) -> None:
    """Raises UsageError where the folder holds something that is not to be replaced."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    earlier = _is_export(folder)
    hint = "; --force replaces it" if earlier and not replace else ""
    if not (earlier and replace):
        what = "holds an earlier export" if earlier else "exists and is no export"
        raise UsageError(f"{folder} {what}{hint}; nothing was written")


def _is_export(folder: Path) -> bool:
    try:
        return "exporter" in json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


class _Staged:
    """A folder beside ``target`` in which everything is written, and which takes its place when it is ``done``."""

    def __init__(self, target: Path) -> None:
        self._target = target.resolve()
        self.path = self._target.with_name(f".{self._target.name}.{os.getpid()}")

    def __enter__(self) -> _Staged:
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir()
        except OSError as error:
            raise UsageError(f"{self._target}: {reason(error)}") from None
        return self

    def done(self) -> None:
        """Put the folder in its place; an earlier one goes."""
        old = self.path.with_name(f"{self.path.name}.old")
        try:
            if self._target.exists():
                self._target.rename(old)
            self.path.rename(self._target)
        except OSError as error:
            if old.exists() and not self._target.exists():
                old.rename(self._target)
            raise UsageError(f"{self._target}: {reason(error)}") from None
        shutil.rmtree(old, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


class _Runs:
    """The trajectories of runs that the filters keep; they are read more than once and never held. ``environments``: that of
    each."""

    def __init__(
        self, paths: Sequence[Path], filters: FilterOptions, stack: ExitStack, judge: JudgeOptions | None
    ) -> None:
        from envscaler.export.filters import apply, seen
        from envscaler.export.filters import filters as chain
        from envscaler.rollout.store import Trajectories

        self._runs = [stack.enter_context(Trajectories.open(path)) for path in paths]
        judges = _judges(self._runs, judge) if filters.judge else None
        found = [seen(place, one) for place, run in enumerate(self._runs) for one in run.each()]
        kept, self.dropped = apply(found, chain(filters, None if judges is None else judges.impossible))
        self.judged = None if judges is None else judges.judged
        self.read = len(found)
        self.environments = [one.environment for one in kept]
        self._kept = {(one.run, one.id) for one in kept}

    def samples(self) -> Iterator[Sample]:
        from envscaler.export.sample import Sample

        for place, run in enumerate(self._runs):
            for one in run.each():
                if (place, one.id) in self._kept:
                    yield Sample(one, tuple((step, run.tools(hash_)) for step, hash_ in one.offers))


def _judges(runs: Sequence[Trajectories], options: JudgeOptions | None) -> Judges:
    from envscaler.session.impossible import JudgeOptions, Judges

    return Judges(runs, options or JudgeOptions())


class _Tasks:
    """The scenarios of files, each once; their states are put into a folder of their own."""

    judged: Judged | None = None

    def __init__(self, paths: Sequence[Path], options: ExportOptions, states: Path) -> None:
        from envscaler.scenario.model import Scenario
        from envscaler.scenario.reading import read_scenarios
        from envscaler.session.worlds import Worlds

        found: dict[str, tuple[Path, Scenario]] = {}
        self._worlds = Worlds(options.specs, any_hash=options.any_hash)
        self.read = bad = 0
        for path in paths:
            for one in read_scenarios(path):
                self.read += 1
                if isinstance(one, Scenario):
                    known = one if one.spec.hash else replace(one, spec=self._worlds.of(one.spec).ref)
                    named = known if known.id else known.named()
                    found.setdefault(named.id, (path, named))
                else:
                    bad += 1
        self.dropped = {"not to be read": bad, "duplicate": self.read - bad - len(found)}
        self._found = list(found.values())
        self.environments = [one.spec.name for _, one in self._found]
        self._states = states

    def samples(self) -> Iterator[TaskSample]:
        from envscaler.export.sample import TaskSample
        from envscaler.llm.messages import Message
        from envscaler.rollout.stage import Stage
        from envscaler.scenario.states import StateStore
        from envscaler.session.templates import template_folders

        kept = StateStore(self._states)
        stages: dict[Any, Stage] = {}
        for path, one in self._found:
            world = self._worlds.of(one.spec)
            if one.spec not in stages:
                stages[one.spec] = Stage(world, templates=template_folders())
            stage = stages[one.spec]
            if isinstance(one.state, str):
                state: Mapping[str, Any] = StateStore.beside(path).get(one.state)
            else:
                state = world.environment.new().state if one.state is None else one.state
            hidden = {name for reveal in one.reveal for name in reveal.tools}
            tools = tuple(tool for name, tool in stage.prepared(one).tools.items() if name not in hidden)
            messages = (Message("system", stage.brief("non-conversation")), Message("user", one.task))
            yield TaskSample(one, messages, tools, kept.put(state))


def _split(source: _Runs | _Tasks, options: ExportOptions) -> tuple[Splits[Any], dict[str, list[str]]]:
    """The parts of the data, and the environments of each."""
    from envscaler.export.splits import TEST, TRAIN, held_out

    names = set(source.environments)
    if not names:
        raise UsageError(f"nothing is left to export of {source.read} read{_why(source.dropped)}")
    if not options.held_out:
        return {TRAIN: source.samples}, {TRAIN: sorted(names)}
    test = held_out(names, options.held_out, options.seed)
    parts = {TRAIN: names - test, TEST: test}
    return {part: _among(source, of) for part, of in parts.items()}, {part: sorted(of) for part, of in parts.items()}


def _why(dropped: Mapping[str, int]) -> str:
    told = ", ".join(f"{name}: {count}" for name, count in dropped.items() if count)
    return f" (left out for {told})" if told else ""


def _among(source: _Runs | _Tasks, names: Iterable[str]) -> Callable[[], Iterator[Any]]:
    wanted = frozenset(names)
    return lambda: (one for one in source.samples() if one.environment in wanted)


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _write_manifest(folder: Path, said: Mapping[str, Any], paths: Sequence[Path], made: Exported) -> None:
    """Write down what was made, of what and how; nothing in it depends on when or by whom."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.parent.name != STATES)
    plain = {
        **said,
        "sources": [path.as_posix() for path in paths],
        "read": made.read,
        "kept": made.kept,
        "dropped": dict(made.dropped),
        **({} if made.judged is None else {"judge": made.judged.to_json()}),
        "splits": {split: {"environments": list(of), "samples": n} for split, (of, n) in made.splits.items()},
        "files": {
            file.relative_to(folder).as_posix(): {
                "sha256": _hash(file),
                **({"rows": made.rows[file.name]} if file.name in made.rows else {}),
            }
            for file in files
        },
    }
    (folder / MANIFEST).write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8", newline="\n")

"""The verbs that draft specs from tasks: all stages in a row, or one of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.errors import LlmError, UsageError
from envscaler.session.drafting.folder import EditedError, WorkFolder
from envscaler.session.drafting.line import Environment, Line
from envscaler.session.drafting.settings import settings_of
from envscaler.session.drafting.stages import NAMES
from envscaler.session.drafting.work import Loss, Told, opened
from envscaler.session.files import StrPath, many
from envscaler.session.llm import LlmOptions

if TYPE_CHECKING:
    from envscaler.session.drafting.work import Desk

__all__ = ["Drafted", "Drafting", "draft", "run_folder", "synth"]


@dataclass(frozen=True, slots=True)
class Drafting:
    """How drafting is done. ``said``: settings by name, see `Settings`; for what is None or missing a stage goes by what was
    said before in the folder, a whole run by the default. ``concurrency``: tasks, then environments, that are worked on at
    once. ``overwrite``: files that were edited are written anew. ``told`` hears what happens, ``tell`` what is to be said of
    the models once."""

    said: Mapping[str, Any] = field(default_factory=dict)
    llm: LlmOptions = field(default_factory=LlmOptions)
    concurrency: int = 8
    overwrite: bool = False
    told: Callable[[Told], None] = lambda _: None
    tell: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Drafted:
    """What came of it: the environments, in the order of their themes; what was lost on the way; files that were ``edited``
    and would have been written anew; ``error``: why models were asked no more, where they were not."""

    run: Path
    environments: Sequence[Environment]
    losses: Sequence[Loss]
    edited: Sequence[EditedError]
    error: LlmError | None = None

    @property
    def sound(self) -> int:
        """How many are done and sound."""
        return sum(one.verdict == "sound" for one in self.environments)

    @property
    def complete(self) -> bool:
        """Nothing failed, and no edit was in the way; what was left out on purpose is no failure."""
        return not self.edited and self.error is None and all(loss.chosen for loss in self.losses)

    def counts(self) -> Counter[tuple[str, str]]:
        """How much was lost, by stage and reason."""
        return Counter((loss.stage, loss.reason) for loss in self.losses)


def run_folder(output: StrPath) -> Path:
    """The work folder of a folder of specs: beside it."""
    target = Path(output)
    return target.with_name(f"{target.name}.run")


def synth(
    tasks: Sequence[StrPath] | StrPath,
    output: StrPath,
    options: Drafting | None = None,
    *,
    theme: str | None = None,
    run: StrPath | None = None,
) -> Drafted:
    """Draft specs from tasks, or from one sentence, through all stages, into the folder ``output``.

    ``run``: the work folder, by default beside the output; the same call goes on where one was ended, and takes files as a
    person has edited them. Raises UsageError, and LlmError while themes are looked for; afterwards the result says when a limit
    was reached.
    """
    options, locations = options or Drafting(), [] if theme is not None else many(tasks)
    if theme is not None and not theme.strip():
        raise UsageError("--theme is a sentence about an environment")
    if theme is None and not locations:
        raise UsageError("name a file of tasks, or a sentence with --theme")
    folder = Path(run) if run is not None else run_folder(output)
    with _line(folder, options, output) as line:
        for role in ("planner", "coder"):
            line.desk.models.role(role)
        if theme is not None:
            found = line.ask(" ".join(theme.split()))
            themes = [found] if found else []
        else:
            _ready(line.desk)
            line.tasks(locations)
            line.filter()
            line.infer()
            line.select()
            themes = line.selected()
        if themes:
            line.whole(themes)
    return _drafted(folder, line)


def draft(
    stage: str,
    run: StrPath,
    options: Drafting | None = None,
    *,
    tasks: Sequence[StrPath] = (),
    output: StrPath | None = None,
    only: Sequence[str] = (),
) -> Drafted:
    """Carry out one stage over the files of a work folder. ``only``: environments by name, for stages that have any.

    A file of this stage that was edited is not written over: the result holds the difference. Raises UsageError, LlmError.
    """
    options, folder = options or Drafting(), Path(run)
    if stage not in NAMES:
        raise UsageError(f"there is no stage {stage}; there are {', '.join(NAMES)}")
    if stage != "tasks" and not folder.is_dir():
        raise UsageError(f"{folder}: no work folder there; `draft tasks` or `synth` begins one")
    with _line(folder, options, output, anew=True) as line:
        match stage:
            case "tasks":
                if not tasks:
                    raise UsageError("name a file of tasks")
                line.tasks(tasks)
            case "select":
                _ready(line.desk)
                line.select()
            case "plan" | "write" | "prove":
                getattr(line, stage)(only)
            case _:
                getattr(line, stage)()
    return _drafted(folder, line)


@contextmanager
def _line(folder: Path, options: Drafting, output: StrPath | None, *, anew: bool = False) -> Iterator[Line]:
    """A line over a folder; what was lost is written down however it ends. An edit in the way ends it."""
    if options.concurrency < 1:
        raise UsageError(f"at least one is worked on at once, not {options.concurrency}")
    if output is not None and Path(output).resolve() == folder.resolve():
        raise UsageError(f"{folder} cannot be both the work folder and the folder of finished specs")
    work = WorkFolder(folder, folder, options.overwrite)
    work.begin()
    said = dict(options.said)
    if output is not None:
        said["output"] = os.path.relpath(output, folder)
    settings = settings_of(work, said, begin=not anew)
    beside = folder.with_name(folder.name.removesuffix(".run")) if folder.name.endswith(".run") else folder / "specs"
    work.output = Path(os.path.normpath(folder / settings.output)) if settings.output else beside
    with ExitStack() as stack:
        desk = opened(
            stack, work, settings, options.llm, width=options.concurrency, told=options.told, tell=options.tell
        )  # fmt: skip
        line = Line(desk, work, anew)
        try:
            yield line
        except EditedError:
            pass  # the line has it
        finally:
            line.note_losses()


def _ready(desk: Desk) -> None:
    """Raise UsageError for what selecting will need and is not there, before a token is paid."""
    from envscaler.draft.embedding import opened as embedder
    from envscaler.draft.selecting import require
    from envscaler.session.plugins import open_plugins

    require()
    embedder(desk.settings.embedder, open_plugins(), desk.models)


def _drafted(folder: Path, line: Line) -> Drafted:
    return Drafted(folder, tuple(line.environments.values()), tuple(line.losses), tuple(line.edited), line.error)

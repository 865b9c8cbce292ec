"""Units of drafting: each done once, by a model that is asked nothing twice, with an account of what it took."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from envscaler import __version__
from envscaler.errors import BudgetError, LlmError
from envscaler.session.drafting.account import spent
from envscaler.session.llm import LlmOptions, open_models
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.llm import Models
    from envscaler.llm.exchanges import Exchanges
    from envscaler.session.drafting.folder import WorkFolder
    from envscaler.session.drafting.proof import Judges
    from envscaler.session.drafting.settings import Settings
    from envscaler.work import Executor, Outcome, Run

__all__ = ["Desk", "Done", "Loss", "Silent", "Stage", "Told", "Unit", "opened"]

_ROW: Final = 6  # calls that get no answer, one after the other, until nobody is asked any more
_SINGLE: Final = ("plan", "write", "prove")  # what they take is an environment's own, in the account of tokens
_PROMPTS: Final = ("prompts/draft", "prompts/repair")

Unit = Mapping[str, Any]
"""What a stage does one thing with, as JSON; its `label` is what it is called."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that happened. ``name``: of an environment, or the place of a task; ``spec``: its text by now, where it grows.
    ``tokens`` and ``cost`` (in dollars, None: not known) are the unit's."""

    stage: str
    what: Literal["begun", "grown", "done", "lost", "edited", "finished"]
    name: str = ""
    text: str = ""
    title: str = ""
    problems: int | None = None
    tokens: int = 0
    cost: float | None = 0.0
    spec: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that goes no further: where (a task's place, an environment's name) and why. ``reason`` is what it is counted
    under. ``chosen``: it was left out on purpose, and nothing failed."""

    stage: str
    where: str
    reason: str
    detail: str = ""
    chosen: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"stage": self.stage, "where": self.where, "reason": self.reason, "detail": self.detail}


class Silent(LlmError):
    """The models gave no answer for so long that nobody is asked any more."""

    kind = "silent"


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage, by units: the ``role`` that is asked ("" for none), the ``settings`` that results depend on, and what comes of
    one unit, as JSON. ``make`` raises Unusable for what a model did wrong for good, LlmError."""

    name: str
    role: str
    settings: tuple[str, ...]
    make: Callable[[Desk, Unit], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a unit: a ``value``, or a ``loss``; and what it took."""

    label: str
    value: dict[str, Any] | None
    loss: Loss | None
    spent: Sequence[Mapping[str, Any]]


@dataclass(slots=True)
class Desk:
    """Where units are worked on, by many threads."""

    folder: WorkFolder
    settings: Settings
    models: Models
    exchanges: Exchanges
    run: Run
    judges: Judges
    width: int
    told: Callable[[Told], None]
    templates: tuple[str, ...] = ()
    _prompts: str = ""
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _unanswered: int = 0
    _known: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    _before: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    _looked_up: set[str] = field(default_factory=set)

    def tell(self, event: Told) -> None:
        """Say what happened, one at a time."""
        with self._lock:
            self.told(event)

    def carry(self, stage: Stage, units: Sequence[Unit], executor: Executor | None = None) -> Iterator[Done]:
        """What comes of each unit of a stage, in order, each done once for good; what could not be asked is tried again.

        Raises BudgetError at a limit, AccessError, Silent: what was finished is kept.
        """
        from envscaler.llm.errors import AccessError
        from envscaler.work import Threads

        outcomes = self.run.map(
            f"draft {stage.name}",
            partial(self._made, stage),
            [self._keyed(stage, unit) for unit in units],
            executor=executor or Threads(self.width),
            retry_failed=True,
            label=lambda keyed: str(keyed["unit"]["label"]),
            ends=(BudgetError, AccessError, Silent, CancelledError),
        )
        for outcome in outcomes:
            done = _done(stage, outcome)
            self._known[stage.name, done.label] = {"value": done.value or {}, "spent": done.spent}
            yield done

    def _keyed(self, stage: Stage, unit: Unit) -> dict[str, Any]:
        """A unit with all that what comes of it depends on."""
        said = self.settings.model_dump(mode="json")
        settings = {name: said[name] for name in stage.settings}
        return {
            "unit": dict(unit), "settings": settings, "model": self._model(stage.role), "prompts": self._prompts,
            "version": __version__,
        }  # fmt: skip

    def _model(self, role: str) -> list[Any]:
        if not role or (role == "coder" and self.models.settings(role) is None):
            return []
        llm = self.models.role(role)
        return [llm.backend.identity, llm.settings.temperature, llm.settings.seed]

    def _made(self, stage: Stage, keyed: Unit) -> str:
        """What comes of a unit, as JSON text: a journal does not keep the order of keys."""
        from envscaler.llm import labelled
        from envscaler.llm.asking import Unusable

        label = str(keyed["unit"]["label"]) if stage.name in _SINGLE else ""
        with self.exchanges.unit() as sitting, labelled(unit=label):
            try:
                made = {"value": stage.make(self, keyed["unit"])}
            except Unusable as problem:
                made = {"loss": {"reason": problem.code, "detail": str(problem)}}
            except LlmError as error:
                self._unheard(error)
                raise
            self._unanswered = 0
        return json.dumps({**made, "spent": spent(sitting.made)})

    def _unheard(self, error: LlmError) -> None:
        from envscaler.llm.errors import CallError

        if not isinstance(error, CallError):
            return
        with self._lock:
            self._unanswered += 1
            if self._unanswered >= max(_ROW, 2 * self.width):
                raise Silent(
                    f"no answer {self._unanswered} times in a row; what was finished is kept. The last time: {error}"
                ) from error

    def lasting(self, stage: str, label: str) -> Mapping[str, Any]:
        """What came last of the unit of a stage that is called so, with what it took; nothing when there is none."""
        with self._lock:
            if stage not in self._looked_up and (stage, label) not in self._known:
                self._looked_up.add(stage)
                for unit in self.run.units(f"draft {stage}"):
                    if unit.state == "done" and (kept := self.run.kept(f"draft {stage}", unit.inputs)) is not None:
                        self._before[stage, unit.label] = json.loads(kept.value)
            return self._known.get((stage, label)) or self._before.get((stage, label)) or {"value": {}, "spent": ()}


def _done(stage: Stage, outcome: Outcome[dict[str, Any]]) -> Done:
    label = str(outcome.input["unit"]["label"])
    if outcome.problem is not None:
        code = _codes().get(outcome.problem.error, "failed")
        return Done(label, None, Loss(stage.name, label, code, str(outcome.problem)), ())
    made = json.loads(outcome.result)
    if "loss" in made:
        return Done(label, None, Loss(stage.name, label, **made["loss"]), made["spent"])
    return Done(label, made["value"], None, made["spent"])


def _codes() -> dict[str, str]:
    """What failures are counted under, by the name of their class."""
    from envscaler.llm import errors

    classes = (vars(errors)[name] for name in errors.__all__ if name[0].isupper())
    kinds = {one.__name__: one.kind for one in classes if isinstance(one, type) and issubclass(one, LlmError)}
    return {name: f"llm-{kind.replace('_', '-')}" for name, kind in kinds.items()}


def opened(
    stack: ExitStack,
    folder: WorkFolder,
    settings: Settings,
    llm: LlmOptions,
    *,
    width: int,
    told: Callable[[Told], None],
    tell: Callable[[str], None] | None,
) -> Desk:
    """A desk over a folder, its journal and its models. ``tell`` hears what is to be said of the models once.

    The folder remembers replies; a cache beside it is used only where one was named. Raises UsageError, JournalError.
    """
    import os
    from dataclasses import replace

    from envscaler.llm.exchanges import FILE, Exchanges
    from envscaler.session.drafting.proof import Judges
    from envscaler.work import Run

    run = stack.enter_context(Run.open(folder.folder))
    run.owner()
    exchanges = Exchanges(folder.folder / FILE)
    stack.callback(exchanges.close)
    cache = llm.cache or os.environ.get("ENVSCALER_CACHE") or "off"
    models = stack.enter_context(open_models(replace(llm, cache=cache), run=folder.folder, tell=tell))
    stack.enter_context(models.shared())
    judges = Judges(width)
    stack.callback(judges.close)
    templates = template_folders()
    return Desk(folder, settings, models, exchanges, run, judges, width, told, templates, _digest(templates))


def _digest(folders: Sequence[str]) -> str:
    """The hash of the prompts that stand before the shipped ones; "" where there are none."""
    files = [
        path for folder in folders for part in _PROMPTS for path in sorted(Path(folder, part).rglob("*")) if path.is_file()
    ]  # fmt: skip
    if not files:
        return ""
    made = hashlib.blake2b(digest_size=20)
    for path in files:
        made.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()

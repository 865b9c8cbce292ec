"""What is told of the whole way: what was asked for, how far a step is, what came of it, and of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envscaler.errors import SpecError, UsageError

if TYPE_CHECKING:
    from envscaler.session.specs import CheckReport
    from envscaler.session.whole.books import Product

__all__ = ["State", "Step", "Whole", "WholeOptions", "WholeProgress"]

State = Literal["made", "kept", "left out", "failed"]


@dataclass(frozen=True, slots=True)
class WholeOptions:
    """``count``: scenarios, over all specs. ``calls``: of the fuzzer, for each spec. ``force``: what was made earlier and
    changed by hand since may be made anew."""

    count: int = 100
    seed: int = 0
    calls: int = 6000
    force: bool = False


@dataclass(frozen=True, slots=True)
class WholeProgress:
    """How far a step is: ``done`` of ``total`` (None where nobody knows), and what else there is to say."""

    step: str
    doing: str
    done: int = 0
    total: int | None = None
    more: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A step that has ended. ``kept``: all that it is made from is as it was, and so is what it made.

    ``line`` says in words what came of it and ``figures`` as JSON; ``notes`` are problems in full. ``ok``: there is nothing to
    object. ``code``: the exit code for a step that is not.
    """

    name: str
    state: State
    line: str
    ok: bool = True
    code: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    products: tuple[Product, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """What came of it all. ``page`` is None where specs have errors, which ``checked`` names: nothing is made then."""

    folder: Path
    page: Path | None
    checked: CheckReport
    steps: tuple[Step, ...] = ()

    @property
    def code(self) -> int:
        """The exit code: that of the first step that failed, else of the first that found something."""
        if self.page is None:
            return SpecError.exit_code if self.checked.errors else UsageError.exit_code
        bad = [step for step in self.steps if not step.ok]
        failed = [step for step in bad if step.state == "failed"]
        return next((step.code for step in [*failed, *bad]), 0)

"""A plan becomes a spec: parts as the model gives them, checked as soon as they stand, and only faulty ones written anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from envscaler.diagnostics import Diagnostic
from envscaler.draft.plans import Plan
from envscaler.errors import UsageError
from envscaler.llm import Llm

__all__ = ["Draft", "Grown", "WriteSettings", "write"]


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """``batch``: tools that are asked for at once. ``tries``: how often a part is written at most, the first time included.
    ``run_examples``: compile what passes the check and return examples that come out otherwise, too."""

    batch: int = 6
    tries: int = 3
    run_examples: bool = True

    def __post_init__(self) -> None:
        for name in ("batch", "tries"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is at least 1, not {getattr(self, name)}")


class Draft(BaseModel):
    """A spec's ``text``. ``problems``: its open errors and warnings, none when it passes the check and its examples hold.

    ``parts``: how often each was asked for, as `tools.lend`: 2. ``missing``: planned parts that were never written. ``taken``:
    examples whose expected value is, by the model's word, what the run gave, as `tools.lend.0`. ``model`` wrote it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    problems: tuple[Diagnostic, ...] = ()
    parts: Mapping[str, int] = {}
    missing: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    model: str = ""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Of the problems, those that keep it from compiling or doing what it says."""
        return tuple(d for d in self.problems if d.severity == "error")


@dataclass(frozen=True, slots=True)
class Grown:
    """A spec under way: what was ``done`` last (`states and rules`, `tools: lend, find`, `mending tools.lend`), its ``text``
    and its ``problems`` by now, ``written`` of ``planned`` tools."""

    done: str
    text: str
    problems: int
    written: int
    planned: int


async def write(
    plan: Plan,
    llm: Llm,
    settings: WriteSettings | None = None,
    *,
    folders: Sequence[str] = (),
    note: str = "",
    tell: Callable[[Grown], None] | None = None,
    sample: int = 0,
) -> Draft:
    """The spec of a plan, by a model of the role `coder`. Calls are filed under `construction`.

    ``note`` is a comment at the top: where the environment comes from. ``tell`` hears whenever the spec has grown. What the model
    cannot put right is kept with its open problems. Raises Unusable when it gives nothing at all, LlmError when it cannot be asked.
    """
    raise NotImplementedError

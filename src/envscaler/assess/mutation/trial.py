"""One mutant against every means: the checker, the generic properties, the spec's examples, the unmutated class."""

from __future__ import annotations

import contextlib
import dataclasses
import linecache
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, cast

from envscaler.assess import FuzzSettings, fuzz
from envscaler.assess.mutation.bounds import bounds_of
from envscaler.assess.mutation.compared import compared
from envscaler.assess.mutation.copies import is_idle_copy
from envscaler.assess.mutation.equivalent import normal_form
from envscaler.assess.mutation.mutants import Edit, Mutant, apply
from envscaler.assess.mutation.probes import Probes, difference_of_states, probes
from envscaler.assess.mutation.tapes import (
    Tape,
    difference,
    difference_of_variants,
    ends,
    recorder,
    settle,
    settle_variants,
)
from envscaler.assess.mutation.variants import vary
from envscaler.assess.mutation.visits import events, tapes_in
from envscaler.compiler import CompiledModule, compile_spec, load_class
from envscaler.replay.examples import INITIAL_STATE, verify
from envscaler.runtime import Environment
from envscaler.spec.check import check_spec, check_text
from envscaler.spec.checked import Checked
from envscaler.spec.model import Block, Spec

__all__ = ["MEANS", "Effort", "Means", "Original", "Outcome", "try_mutant"]

Means = Literal["check", "generic", "examples", "original"]
_PARTS: Final = 4  # fuzzed with seeds of their own
MEANS: Final[tuple[Means, ...]] = ("check", "generic", "examples", "original")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is spent on a mutant: ``calls`` fuzzed without the original; where neither they nor the examples find
    anything ``more``, and of faults that the examples are not there for ``whole``, as an assessment does; ``recorded`` calls
    of the original to compare with. ``seed`` is that of all."""

    seed: int = 0
    calls: int = 150
    more: int = 650
    whole: int = 6000
    recorded: int = 10_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant. For each means what killed it, in words, or "" when it lived or was not tried.

    ``check`` is the code of the first error; a mutant that is refused runs nowhere else. ``warned`` is the code of a
    warning that the original has not: it is told, but not counted. ``equivalent`` says how it was proved to behave as the
    original does; ``failed`` what went wrong with the trial itself, which kills nothing.
    """

    mutant: Mutant
    check: str = ""
    warned: str = ""
    generic: str = ""
    examples: str = ""
    original: str = ""
    equivalent: str = ""
    failed: str = ""

    def killed(self, *means: Means) -> bool:
        """Whether one of these means (all by default) killed it."""
        return any(getattr(self, m) for m in means or MEANS)

    @property
    def alone(self) -> bool:
        """Whether it was killed without the original at hand."""
        return self.killed("check", "generic", "examples")


class Original:
    """A spec free of errors, with what every trial of its mutants needs."""

    def __init__(self, checked: Checked, effort: Effort) -> None:
        assert checked.spec is not None
        self.checked = checked
        self.spec: Spec = checked.spec
        self.effort = effort
        self.warnings = {(d.code, d.title) for d in checked.diagnostics}

    @cached_property
    def unit(self) -> CompiledModule:
        return compile_spec(self.checked)

    @cached_property
    def environment(self) -> type[Environment]:
        return load_class(self.unit)

    @cached_property
    def normal(self) -> str:
        return normal_form(self.unit.text)

    @cached_property
    def tapes(self) -> list[Tape]:
        """Episodes of the unmutated class: the calls of its examples, and fuzzed ones."""
        shown, fuzzed = self._shown, list[Tape]()
        recorded = recorder(self.environment, fuzzed)
        calls = -(-self.effort.recorded // _PARTS)
        for part in range(_PARTS if calls else 0):
            seed = self.effort.seed * _PARTS + part
            fuzz(recorded, self.checked, FuzzSettings(seed=seed, calls=calls, properties=(), shrink=False))
        kept = settle(self.environment, [*shown, *fuzzed])
        vary(kept, self.environment.initial_state, self.effort.seed, compared(self.spec))
        settle_variants(self.environment, kept)
        return kept

    @cached_property
    def _shown(self) -> list[Tape]:
        tapes: list[Tape] = []
        verify(self.spec, recorder(self.environment, tapes))
        return tapes

    @cached_property
    def probes(self) -> Probes:
        """States at the border of what the spec allows: its initial state and those that its examples end in, changed."""
        return probes(self.environment, ends(self.environment, self._shown), bounds_of(self.spec))

    @cached_property
    def inside(self) -> list[Tape]:
        """Recorded calls in changed states, and calls of setup functions."""
        tapes = tapes_in(self.probes, self.tapes, events(self.environment, self.effort.seed))
        settle_variants(self.environment, tapes)
        return tapes


def try_mutant(original: Original, mutant: Mutant, means: Sequence[Means] = MEANS) -> Outcome:
    """Run a mutant by each means until that kills it."""
    outcome = Outcome(mutant)
    try:
        return _tried(original, mutant, means, outcome)
    except Exception as error:
        return dataclasses.replace(outcome, failed=f"{type(error).__name__}: {error}"[:300])


def _tried(original: Original, mutant: Mutant, means: Sequence[Means], outcome: Outcome) -> Outcome:
    checked, unit = original.checked, original.unit
    if mutant.layer == "spec":
        checked = mutated(original.checked, mutant)
        errors = [d for d in checked.diagnostics if d.severity == "error"]
        if errors:
            code = errors[0].code
            return dataclasses.replace(outcome, check=code if "check" in means else "", equivalent="")
        known = original.warnings
        warned = next((d.code for d in checked.diagnostics if (d.code, d.title) not in known), "")
        outcome = dataclasses.replace(outcome, warned=warned)
        unit = compile_spec(checked)
    else:
        unit = dataclasses.replace(unit, text=apply(unit.text, mutant.site.edits))
    if equivalent := _equivalent(original, mutant, unit.text):
        return dataclasses.replace(outcome, equivalent=equivalent)
    with _loaded(unit, mutant) as environment:
        generic, examples, compared = _run(original, mutant, checked, environment, means)
    return dataclasses.replace(outcome, generic=generic, examples=examples, original=compared)


def _equivalent(original: Original, mutant: Mutant, text: str) -> str:
    """How it is proved that a module behaves as the original does; "" where it is not."""
    if normal_form(text) == original.normal:
        return "the same module, but for prose and places"
    if mutant.operator == "stale-view" and is_idle_copy(text, mutant.site.owner, original.checked):
        return "nothing that is read of the copy is written"
    return ""


def _run(
    original: Original, mutant: Mutant, checked: Checked, environment: type[Environment], means: Sequence[Means]
) -> tuple[str, str, str]:
    """What the generic properties, the examples and the original say."""
    assert checked.spec is not None
    effort, generic, compared = original.effort, "", ""
    problems = verify(checked.spec, environment)
    if any(d.code == INITIAL_STATE for d in problems):
        title = problems[0].title
        return (title if "generic" in means else ""), "", (title if "original" in means else "")
    if "generic" in means:
        generic = _generic(checked, environment, effort.seed, effort.calls)
        if not generic and not problems and effort.more:
            calls = effort.more if mutant.fault in ("logic", "messages") else max(effort.more, effort.whole)
            generic = _generic(checked, environment, effort.seed + 1, calls)
    if "original" in means:
        compared = _compared(original, environment)
    return generic, (problems[0].title if problems and "examples" in means else ""), compared


def _compared(original: Original, environment: type[Environment]) -> str:
    """The first difference from the original: of recorded calls, of states at the border, of calls beside the recorded, of
    calls in states at the border."""
    return (
        difference(environment, original.tapes)
        or difference_of_states(environment, original.probes)
        or difference_of_variants(environment, original.tapes)
        or difference_of_variants(environment, original.inside)
    )


def _generic(checked: Checked, environment: type[Environment], seed: int, calls: int) -> str:
    """The first finding of the fuzzer, which does not know the original, nor what the examples expect."""
    from envscaler.assess.properties import PROPERTIES

    names = tuple(name for name in PROPERTIES if name != "examples-hold")
    settings = FuzzSettings(seed=seed, calls=calls, findings=1, properties=names, shrink=False, coverage=False)
    report = fuzz(environment, checked, settings)
    errors = [f for f in report.findings if f.severity == "error"]
    return f"{errors[0].property}: {errors[0].title}" if errors else ""


@contextlib.contextmanager
def _loaded(unit: CompiledModule, mutant: Mutant) -> Iterator[type[Environment]]:
    """The mutant's class, in a module of its own that is forgotten afterwards."""
    digest = f"mutant{mutant.number:06d}"
    own = dataclasses.replace(unit, spec_hash=f"sha256:{digest}")
    try:
        yield load_class(own)
    finally:
        sys.modules.pop(f"envscaler_compiled.{unit.name}_{digest}", None)
        for name in [n for n in linecache.cache if digest in n]:
            del linecache.cache[name]


# -- the mutant of a spec, checked


def mutated(checked: Checked, mutant: Mutant) -> Checked:
    """The check of a spec mutant's text. Where only a block of logic is another, the rest is not read again."""
    text = apply(checked.source, mutant.site.edits)
    block = _changed_block(checked, mutant.site.owner, mutant.site.edits)
    if block is None:
        return check_text(checked.path, text, base=Path(checked.path).parent)
    new = _resliced(checked, block, text)
    spec = cast(Spec, checked.spec)
    kind, _, name = mutant.site.owner.partition(" ")
    changed = dataclasses.replace(spec, source=text)
    if kind == "tool":
        tool = dataclasses.replace(spec.tools[name], do=new)
        return check_spec(dataclasses.replace(changed, tools={**spec.tools, name: tool}))
    if kind == "helper":
        helper = dataclasses.replace(spec.helpers[name], do=new)
        return check_spec(dataclasses.replace(changed, helpers={**spec.helpers, name: helper}))
    rule = dataclasses.replace(spec.rules[name], holds=new)
    return check_spec(dataclasses.replace(changed, rules={**spec.rules, name: rule}))


def _changed_block(checked: Checked, owner: str, edits: tuple[Edit, ...]) -> Block | None:
    """The block of logic that all edits lie in."""
    kind, _, name = owner.partition(" ")
    held = {"tool": checked.tools, "helper": checked.helpers, "rule": checked.rules}.get(kind)
    if held is None or name not in held:
        return None
    block = held[name].block
    first, last = _extent(checked.source, block)
    return block if all(first <= e.start and e.end <= last for e in edits) else None


def _extent(source: str, block: Block) -> tuple[int, int]:
    lines = source.splitlines(keepends=True)
    first = sum(map(len, lines[: block.line - 1]))
    return first, first + sum(map(len, lines[block.line - 1 : block.line - 1 + block.source.count("\n")]))


def _resliced(checked: Checked, block: Block, text: str) -> Block:
    """The block with its source as it is in the mutant's text."""
    first, last = _extent(checked.source, block)
    changed = text[first : last + len(text) - len(checked.source)]
    margin = block.column - 1
    source = "".join(line[margin:].rstrip(" \n") + "\n" for line in changed.splitlines())
    return dataclasses.replace(block, source=source)

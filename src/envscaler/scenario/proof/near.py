"""Near misses: real calls that come close to the solution and miss it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from random import Random
from typing import Any, Final

from envscaler.runtime.pointers import parts
from envscaler.scenario.pointers import replaced
from envscaler.scenario.proof.guesses import Guesses
from envscaler.scenario.proof.others import Other, OtherValues
from envscaler.scenario.proof.trial import Call, End, Trial

__all__ = ["KINDS", "Miss", "Misses", "near_misses"]

KINDS: Final[Mapping[str, str]] = {
    "wrong-record": "another record of the same kind",
    "look-alike": "a record that has much in common with the right one",
    "off-amount": "an amount, a date or a number a little off",
    "other-choice": "another choice, or another text",
    "more-of-it": "a write of the solution made once more, as it is or with another value",
    "extra-write": "one more change after the solution",
    "stopped-early": "the solution up to some write",
    "wrong-answer": "another answer, or none",
    "wrong-refusal": "another reason for a refusal, or none",
}


@dataclass(frozen=True, slots=True)
class _Try:
    """Calls after the first ``since`` steps of the solution. ``sure``: the call that must succeed, -1 for none."""

    note: Mapping[str, Any]
    since: int
    calls: Sequence[Call]
    submitted: Any = ...
    sure: int = -1


@dataclass(frozen=True, slots=True)
class Miss:
    """A near miss and what it came to."""

    note: Mapping[str, Any]
    end: End


@dataclass(slots=True)
class Misses:
    """The near misses of a kind. ``tries``: how many were tried; ``spent``: there was nothing left to try."""

    found: list[Miss] = field(default_factory=list)
    tries: int = 0
    spent: bool = False


def near_misses(trial: Trial, rng: Random, wanted: int, tries: int) -> dict[str, Misses]:
    """Near misses by kind: those whose end is not the solution's. At most ``wanted`` of a kind, of ``tries`` tries."""
    found: dict[str, Misses] = {}
    replaced_values = _replacements(trial)
    _fill(trial, found, ("look-alike", "wrong-record"), replaced_values["record"], wanted, tries)
    _fill(trial, found, ("off-amount",), replaced_values["amount"], wanted, tries)
    _fill(trial, found, ("other-choice",), replaced_values["choice"], wanted, tries)
    _fill(trial, found, ("more-of-it",), _more(trial), wanted, tries)
    _fill(trial, found, ("extra-write",), _made_up(trial, rng), wanted, tries)
    _fill(trial, found, ("stopped-early",), _stopped(trial), wanted, tries)
    _fill(trial, found, ("wrong-answer",), _answers(trial), wanted, tries)
    _fill(trial, found, ("wrong-refusal",), _refusals(trial), wanted, tries)
    return {kind: found[kind] for kind in KINDS if kind in found}


def _fill(
    trial: Trial, found: dict[str, Misses], kinds: Sequence[str], tries: Iterable[_Try], wanted: int, most: int
) -> None:
    """Of two kinds each gets every other one; records without anything in common are never look-alikes."""
    tried = 0
    rest = iter(tries)
    for one in islice(rest, most):
        tried += 1
        miss = _miss(trial, one)
        if miss is None:
            continue
        open_kinds = [k for k in kinds if k not in found or len(found[k].found) < wanted]
        fitting = [k for k in open_kinds if k != "look-alike" or one.note.get("alike")]
        if fitting:
            least = min(fitting, key=lambda k: len(found[k].found) if k in found else 0)
            found.setdefault(least, Misses()).found.append(miss)
        if all(k in found and len(found[k].found) >= wanted for k in kinds):
            break
    spent = next(rest, None) is None
    for kind in kinds:
        if kind in found:
            found[kind].tries, found[kind].spent = tried, spent


def _miss(trial: Trial, one: _Try) -> Miss | None:
    """What a try came to; None when a call that must succeed was refused, or its end is the solution's."""
    results = trial.play(one.calls, one.since, one.sure)
    if results is None or (one.submitted is ... and trial.arrived()):
        return None
    end = trial.ended(results, one.submitted)
    trial.ends.append((one.note, end))
    return Miss(one.note, end)


# -- other values in the solution


def _replacements(trial: Trial) -> dict[str, Iterator[_Try]]:
    places: dict[str, list[Iterator[_Try]]] = {"record": [], "amount": [], "choice": []}
    for step in trial.writes:
        call = trial.calls[step]
        tool = trial.world.tools[call.tool]
        values, free = OtherValues(trial.world, trial.at(step)), free_places(trial, step)
        for name, value in call.arguments.items():
            if name not in tool.params:
                continue
            by_path: dict[tuple[str, str], list[Other]] = {}
            for other in values.of(tool.params[name], value):
                if not is_free(other.path, free):
                    by_path.setdefault((other.kind, other.path), []).append(other)
            for (kind, _), others in by_path.items():
                places[kind].append(_puts(trial, step, others))
    return {kind: _in_turn(streams) for kind, streams in places.items()}


def free_places(trial: Trial, step: int) -> frozenset[str]:
    """The places of a step's arguments where any value would do."""
    sources = trial.scenario.solution[step].sources
    return frozenset(path for path, source in sources.items() if source.kind == "free")


def is_free(path: str, places: frozenset[str]) -> bool:
    """Whether a place is one of those, or within one."""
    if not places:
        return False
    names = parts(path)
    return any("/".join(names[:n]) in places for n in range(1, len(names) + 1))


def _puts(trial: Trial, step: int, others: Iterable[Other]) -> Iterator[_Try]:
    return (_put(trial, step, other) for other in others)


def _put(trial: Trial, step: int, other: Other) -> _Try:
    call = trial.calls[step]
    changed = Call(call.tool, replaced(call.arguments, other.path, other.value), step, call.actor)
    note = {"step": step, "put": {other.path: other.value}}
    if other.alike:
        note["alike"] = other.alike
    return _Try(note, step, (changed, *trial.calls[step + 1 :]), sure=0)


def _in_turn(streams: Iterable[Iterable[_Try]]) -> Iterator[_Try]:
    """The first of each stream, then the second of each."""
    return (one for row in zip_longest(*streams) for one in row if one is not None)


# -- more, and less


def _more(trial: Trial) -> Iterator[_Try]:
    """The solution's writes once more, each as it is, then with another value that names no other record."""
    last = len(trial.calls)
    mine = [trial.calls[step] for step in trial.writes if trial.calls[step].actor == "agent"]
    streams = []
    for call in mine:
        tool, values = trial.world.tools[call.tool], OtherValues(trial.world, trial.at(last), records=False)
        named = ((tool.params[name], value) for name, value in call.arguments.items() if name in tool.params)
        others = islice((other for param, value in named for other in values.of(param, value)), 3)
        changed = [replaced(call.arguments, other.path, other.value) for other in others]
        streams.append([_extra_try(last, call.tool, arguments) for arguments in (*changed, call.arguments)])
    return _in_turn(streams)


def _made_up(trial: Trial, rng: Random) -> Iterator[_Try]:
    """Calls of all tools that write, made up, in turn."""
    last = len(trial.calls)
    guesses = Guesses(trial.world, trial.at(last), [call.arguments for call in trial.calls], rng)
    tools = list(trial.world.writes)
    rng.shuffle(tools)
    streams = [iter(guesses.calls(tool, 4)) for tool in tools]
    for row in zip_longest(*streams):
        for tool, arguments in zip(tools, row, strict=True):
            if arguments is not None:
                yield _extra_try(last, tool.name, arguments)


def _extra_try(last: int, tool: str, arguments: Mapping[str, Any]) -> _Try:
    return _Try({"also": tool, "with": dict(arguments)}, last, (Call(tool, arguments),), sure=0)


def _stopped(trial: Trial) -> Iterator[_Try]:
    return (_Try({"until": step}, step, ()) for step in reversed(trial.writes))


# -- what is submitted


def _answers(trial: Trial) -> Iterator[_Try]:
    submitted = trial.scenario.submitted
    given = None if submitted is None else submitted.get("answer")
    if not isinstance(given, Mapping):
        return
    last = len(trial.calls)
    values = OtherValues(trial.world, trial.at(last))
    streams = []
    for slot in trial.scenario.answers:
        if slot.name in given:
            others = list(islice(values.of(trial.scorer.slots.fields[slot.name], given[slot.name]), 8))
            streams.append([_answered(last, {**given, slot.name: _within(given, other)}) for other in others])
    yield from _in_turn(streams)
    yield _Try({"submit": None}, last, (), submitted=None)


def _within(given: Mapping[str, Any], other: Other) -> Any:
    return replaced(given, other.path, other.value)[parts(other.path)[0]]


def _answered(last: int, answer: Mapping[str, Any]) -> _Try:
    return _Try({"submit": {"answer": answer}}, last, (), submitted={"answer": answer})


def _refusals(trial: Trial) -> Iterator[_Try]:
    submitted = trial.scenario.submitted
    if submitted is None or "refusal" not in submitted:
        return
    last = len(trial.calls)
    yield _Try({"submit": None}, last, (), submitted=None)
    for reason in reversed(list(trial.world.reasons)):
        if reason != submitted["refusal"]:
            yield _Try({"submit": {"refusal": reason}}, last, (), submitted={"refusal": reason})

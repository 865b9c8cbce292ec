"""The gates that a trial goes through: each tries something, and says what it tried and what did not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from envscaler.runtime.canonical import digest
from envscaler.runtime.results import ToolResult
from envscaler.scenario.model import Scenario, Step
from envscaler.scenario.proof import grounds
from envscaler.scenario.proof.guesses import Guesses
from envscaler.scenario.proof.near import near_misses
from envscaler.scenario.proof.notes import tried_words
from envscaler.scenario.proof.record import Gate, Reason
from envscaler.scenario.proof.trial import Call, End, Trial
from envscaler.scenario.proof.ways import free_values, other_ways
from envscaler.scenario.world import World

__all__ = [
    "fingerprint", "form_gate", "goals_gate", "idle_gate", "near_gate", "removed_gate", "solution_gate", "spec_gate",
    "start_gate", "text_gate", "ways_gate",
]  # fmt: skip

_ALONE: Final = 12  # more tries for goals that nothing failed alone


def spec_gate(world: World, scenario: Scenario) -> Gate:
    """The spec is the one that the scenario was made for; one written by hand may name it without its hash."""
    if scenario.spec.name == world.ref.name and scenario.spec.hash in ("", world.ref.hash):
        return Gate("spec")
    text = f"the scenario is for {scenario.spec.name} {scenario.spec.hash}, this is {world.ref.name} {world.ref.hash}"
    return Gate("spec", (Reason("spec-changed", text),))


# -- form


def form_gate(world: World, scenario: Scenario) -> Gate:
    """Answers, refusals, users and tools are told as they must be."""
    reasons = [*_answers(scenario), *_refusal(world, scenario), *_user(scenario), *_reveals(world, scenario)]
    return Gate("form", tuple(reasons))


def _answers(scenario: Scenario) -> Iterator[Reason]:
    if scenario.outcome == "refusal":
        return
    given = (scenario.submitted or {}).get("answer")
    given = given if isinstance(given, Mapping) else {}
    slots = [slot.name for slot in scenario.answers]
    for name in slots:
        if name not in given:
            yield Reason("answer-mistyped", f"the answer slot {name} is not filled by what is submitted")
    for name in given:
        if name not in slots:
            yield Reason("answer-mistyped", f"{name} is submitted, and there is no answer slot of that name")


def _refusal(world: World, scenario: Scenario) -> Iterator[Reason]:
    reason = (scenario.submitted or {}).get("refusal")
    if scenario.outcome == "refusal":
        if not any("refusal" in goal.expr for goal in scenario.goals):
            yield Reason("refusal-unchecked", "the outcome is a refusal, and no goal asks for its reason")
        if reason is None:
            yield Reason("refusal-unchecked", "the outcome is a refusal, and none is submitted")
    if reason is not None and reason not in world.reasons:
        yield Reason("refusal-unknown", f"{reason} is no reason to refuse; there are {', '.join(world.reasons)}")


def _user(scenario: Scenario) -> Iterator[Reason]:
    user = scenario.user
    if (user.facts or user.unknown or user.opening) and not user.stop_when.strip():
        yield Reason("user-without-stop", "the user talks, and nothing says when the user is content (stop_when)")
    for fact in user.facts:
        if not fact.text.strip():
            yield Reason("fact-untold", f"the fact {fact.name} has no text, so that the user cannot tell it")
        if fact.name in user.unknown:
            yield Reason("fact-untold", f"the user knows {fact.name}, and does not")


def _reveals(world: World, scenario: Scenario) -> Iterator[Reason]:
    used = {step.tool for step in scenario.solution}
    for tool in (tool for reveal in scenario.reveal for tool in reveal.tools):
        if tool not in used:
            yield Reason("reveal-not-needed", f"{tool} is held back, and the solution does not use it")


# -- start and end


def start_gate(trial: Trial) -> Gate:
    """No goal is true at the start, and every guard is."""
    end = trial.nothing()
    reasons = [
        Reason("goal-true-at-start", f"goal {n + 1} is true before anything is done: {_goal(trial, n)}", goal=n)
        for n, met in enumerate(end.score.goals)
        if met
    ]
    reasons += [
        Reason("guard-false-at-start", f"guard {n + 1} is broken before anything is done", guard=n) for n in end.broken
    ]
    reasons += [Reason("goal-error", f"at the start, {error}") for error in end.score.errors]
    return Gate("start", tuple(reasons), {"goals": len(end.score.goals), "guards": len(end.score.guards)})


def solution_gate(trial: Trial) -> Gate:
    """The solution runs as it is told, and scores 1."""
    reasons = list(_steps(trial))
    end = trial.end
    reasons += [
        Reason("goal-false-after-solution", f"goal {n + 1} is false after the solution: {_goal(trial, n)}", goal=n)
        for n in end.failed
    ]
    for n in end.broken:
        why = end.score.broken[n] if n < len(end.score.broken) else ""
        reasons.append(Reason("guard-broken-by-solution", f"guard {n + 1} is broken by the solution: {why}", guard=n))
    reasons += [Reason("goal-error", f"after the solution, {error}") for error in end.score.errors]
    if not reasons and end.score.reward != 1.0:
        reasons.append(Reason("reward-not-one", f"the solution scores {end.score.reward}"))
    tried = {"steps": len(trial.calls), "writes": list(trial.writes), "reward": end.score.reward}
    return Gate("solution", tuple(reasons), {**tried, "digest": fingerprint(trial)})


def _steps(trial: Trial) -> Iterator[Reason]:
    for n, (step, result) in enumerate(zip(trial.scenario.solution, trial.results, strict=True)):
        place = f"step {n + 1} ({step.tool})"
        if result.error is None:
            if step.refused:
                yield Reason("step-not-refused", f"{place} is to be refused ({step.refused}), and succeeds", step=n)
        elif not step.refused:
            by = f" by the rule {result.error.rule}" if result.error.rule else ""
            yield Reason("step-refused", f"{place} is refused{by}: {result.error.message}", step=n)
        elif not _as_said(step, result):
            by = result.error.rule or "no rule"
            problem = f"is to be refused for {step.refused}, and is refused by {by}: {result.error.message}"
            yield Reason("step-not-refused", f"{place} {problem}", step=n)


def _as_said(step: Step, result: ToolResult) -> bool:
    error = result.error
    return error is not None and step.refused in (error.rule, error.message, error.code)


def fingerprint(trial: Trial) -> str:
    """The solution's results, the changes they make and the score, in sixteen digits that are the same everywhere."""
    results = [result.to_json() for result in trial.results]
    score = trial.end.score
    env = trial.at(len(trial.calls))
    return digest([results, env.diff(), score.reward, list(score.goals), list(score.guards)])[7:23]


def idle_gate(trial: Trial) -> Gate:
    """Who does nothing, or does all but submit, scores 0 where something is to be submitted."""
    end = trial.nothing()
    reasons = []
    if end.score.reward or any(end.score.goals):
        reasons.append(Reason("idle-scores", f"doing nothing scores {end.score.reward or 'in paper mode'}"))
    tried: dict[str, Any] = {"nothing": end.score.reward}
    if trial.scenario.outcome == "refusal":
        silent = trial.run(trial.calls, submitted=None)
        tried["silent"] = silent.score.reward
        if silent.score.reward and not trial.writes:
            reasons.append(Reason("idle-scores", f"saying nothing scores {silent.score.reward}"))
        if silent.accepted:
            reasons.append(Reason("refusal-unchecked", "the refusal need not be submitted"))
    return Gate("idle", tuple(reasons), tried)


# -- less, nearly, otherwise


def removed_gate(trial: Trial) -> Gate:
    """A solution without one of its writes fails some goal."""
    reasons, tried = [], []
    for n, call in enumerate(trial.calls):
        step = trial.scenario.solution[n]
        if n not in trial.writes:
            if trial.world.tools[call.tool].kind == "write" and not step.refused:
                problem = f"step {n + 1} ({call.tool}) changes nothing"
                reasons.append(Reason("write-not-needed", problem, step=n))
            continue
        end = trial.run(trial.calls[n + 1 :], n)
        trial.ends.append(({"without": n}, end))
        tried.append({"without": n, **_outcome(end)})
        if not end.failed:
            problem = f"without step {n + 1} ({call.tool}) every goal is met all the same"
            reasons.append(Reason("write-not-needed", problem, step=n))
    return Gate("removed", tuple(reasons), {"tried": tried})


def _outcome(end: End) -> dict[str, Any]:
    return {"fails": list(end.failed)} | ({"breaks": list(end.broken)} if end.broken else {})


def near_gate(trial: Trial, rng: Random, wanted: int, tries: int) -> Gate:
    """What nearly is a solution is refused; a broken guard makes the reward 0."""
    reasons: list[Reason] = []
    tried: dict[str, Any] = {}
    for kind, misses in near_misses(trial, rng, wanted, tries).items():
        rows = []
        for miss in misses.found:
            rows.append({**miss.note, **_outcome(miss.end)})
            reasons += _miss_reasons(kind, miss.note, miss.end)
        tried[kind] = {"misses": rows, "tries": misses.tries} | ({"spent": True} if misses.spent else {})
    if not any(one["misses"] for one in tried.values()):
        reasons.append(Reason("too-few-near-misses", "nothing was found that comes near the solution and misses it"))
    return Gate("near", tuple(reasons), {"tried": tried})


def _miss_reasons(kind: str, note: Mapping[str, Any], end: End) -> Iterator[Reason]:
    said = tried_words(note)
    step = note.get("step", -1)
    if end.accepted:
        yield Reason("near-miss-accepted", f"{kind} ({said}) is accepted as a solution", step=step)
    if end.broken and end.score.reward:
        yield Reason("guard-not-counted", f"{kind} ({said}) breaks a guard and scores {end.score.reward}", step=step)
    for error in end.score.errors:
        yield Reason("goal-error", f"after {kind} ({said}), {error}", step=step)


def goals_gate(trial: Trial, rng: Random) -> Gate:
    """Each goal was seen to fail: alone, or, where no state was found in which it does, with others."""
    rows: list[dict[str, Any]] = [{} for _ in trial.scenario.goals]
    _note_ends(rows, trial.ends)
    if not all("alone" in row for row in rows):
        _note_ends(rows, list(_further(trial, rng, rows)))
    reasons = [
        Reason("goal-never-fails", f"nothing that was tried fails goal {n + 1}: {_goal(trial, n)}", goal=n)
        for n, row in enumerate(rows)
        if not row
    ]
    return Gate("goals", tuple(reasons), {"tried": rows})


def _note_ends(rows: list[dict[str, Any]], ends: Sequence[tuple[Mapping[str, Any], End]]) -> None:
    for note, end in ends:
        for goal in end.failed:
            if len(end.failed) == 1:
                rows[goal].setdefault("alone", dict(note))
            else:
                rows[goal].setdefault("with", dict(note))


def _further(trial: Trial, rng: Random, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], End]]:
    """Made-up calls after the solution, of the tools of its writes first, until each goal failed alone."""
    last = len(trial.calls)
    lacking = {n for n, row in enumerate(rows) if "alone" not in row}
    guesses = Guesses(trial.world, trial.at(last), [call.arguments for call in trial.calls], rng)
    mine = [tool for tool in trial.world.writes if any(trial.calls[n].tool == tool.name for n in trial.writes)]
    others = [tool for tool in trial.world.writes if tool not in mine]
    rng.shuffle(others)
    left = _ALONE
    for tool in (*mine, *others):
        for arguments in guesses.calls(tool, 2):
            if not lacking or not left:
                return
            left -= 1
            end = trial.run((Call(tool.name, arguments),), last)
            if end.results[0].changed and end.failed:
                yield {"also": tool.name, "with": arguments}, end
                if len(end.failed) == 1:
                    lacking.discard(end.failed[0])


def ways_gate(trial: Trial, rng: Random, wanted: int) -> Gate:
    """Other ways to the same end are accepted, and other values where any would do."""
    reasons: list[Reason] = []
    rows: list[dict[str, Any]] = []
    for way in other_ways(trial, rng):
        rows.append({"way": way.kind, **way.note})
        if not way.end.accepted:
            problem = f"{way.kind} comes to the same end and fails {_failing(way.end)}"
            reasons.append(Reason("other-way-refused", problem))
    locked: Counter[tuple[int, str]] = Counter()
    for step, path, way in free_values(trial, wanted):
        rows.append({"way": way.kind, **way.note})
        if not way.end.accepted and not locked[step, path]:
            locked[step, path] += 1
            problem = f"step {step + 1} ({trial.calls[step].tool}): any {path} would do, but another fails {_failing(way.end)}"
            goal = way.end.failed[0] if way.end.failed else -1
            reasons.append(Reason("free-value-locked", problem, goal=goal, step=step))
    return Gate("ways", tuple(reasons), {"tried": rows})


def _failing(end: End) -> str:
    parts = [f"goal {n + 1}" for n in end.failed] + [f"guard {n + 1}" for n in end.broken]
    return ", ".join(parts) or "nothing"


def text_gate(trial: Trial, solved: bool) -> Gate:
    """The text decides the goal, and each of its numbered wishes has a step. ``solved``: the solution does what it says."""
    return Gate(
        "text", (*grounds.arguments(trial), *(grounds.literals(trial) if solved else ()), *grounds.clauses(trial))
    )


def _goal(trial: Trial, number: int) -> str:
    goal = trial.scenario.goals[number]
    return goal.text or goal.expr

"""A second proof of scenarios, written apart: from the JSON of a scenario and the compiled class alone.

It shares no code with `envscaler.scenario`. Goals are evaluated by Python itself over the JSON of the records, guards by
comparing whole states, and near misses are made here by other means.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice, pairwise, product
from typing import Any

from envscaler.errors import StateError
from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from tests.scenario.plainly import BUILTINS, Answer, Exact, Plain, Whole, member_of


@dataclass
class Verdict:
    """What was found. ``near`` and ``ways``: how many were tried, and how many went wrong."""

    problems: list[str] = field(default_factory=list)
    idle: float = -1.0
    solved: float = -1.0
    near: int = 0
    near_accepted: int = 0
    ways: int = 0
    ways_refused: int = 0

    @property
    def ok(self) -> bool:
        return (
            not self.problems
            and self.idle == 0
            and self.solved == 1
            and not self.near_accepted
            and not self.ways_refused
        )


class Second:
    """One scenario proved again. ``state`` is its initial state as JSON, None for the spec's own."""

    def __init__(self, environment: type[Environment], scenario: Plain, state: Plain | None) -> None:
        self.environment, self.scenario = environment, scenario
        self.state = state
        self.verdict = Verdict()
        self.steps: list[Plain] = scenario["solution"]
        self.goals = [compile(ast.fix_missing_locations(Exact().visit(ast.parse(g["expr"].strip(), mode="eval"))), "goal", "eval")
                      for g in scenario["goals"]]  # fmt: skip

    def prove(self) -> Verdict:
        problems = self.verdict.problems
        if self.scenario["spec"]["hash"] != self.environment.spec_hash:
            problems.append("the spec is another one")
        try:
            self.base = self.environment.prepare(self.state)
        except StateError as error:
            problems.append(f"the state is not valid: {error}")
            return self.verdict
        if self.scenario.get("setup"):
            env = self.environment.new(self.base, self.scenario["seed"])
            for step in self.scenario["setup"]:
                if not env.setup(step["tool"], step.get("arguments")).ok:
                    problems.append(f"setup {step['tool']} fails")
            self.base = self.environment.prepare(env.state)
        self.first = self.fresh()
        self.before = self.first.state
        self._start()
        self._solution()
        if not problems:
            self._sources()
            self._misses()
            self._submissions()
            self._orders()
        return self.verdict

    def fresh(self) -> Environment:
        return self.environment.new(self.base, self.scenario["seed"])

    # -- scoring

    def reward(self, env: Environment, submitted: Any) -> tuple[float, bool, list[bool]]:
        """The guarded reward, whether all is well, and the goals."""
        given = (submitted or {}).get("answer") or {}
        names = {
            **BUILTINS, "initial": Whole(self.first), "final": Whole(env), "answer": Answer(given),
            "refusal": (submitted or {}).get("refusal"),
        }  # fmt: skip
        met = [self._true(goal, names) for goal in self.goals]
        held = all(self._guard(guard, env, names) for guard in self.scenario["guards"])
        return (sum(met) / len(met) if held else 0.0), all(met) and held, met

    def _true(self, code: Any, names: Plain) -> bool:
        try:
            found = eval(code, dict(names))
        except KeyError:
            return False
        except (NameError, TypeError, AttributeError) as error:
            self.verdict.problems.append(f"an expression cannot be evaluated: {error!r}")
            return False
        if not isinstance(found, bool):
            self.verdict.problems.append(f"an expression is not true or false but {found!r}")
        return bool(found)

    def _guard(self, guard: Plain, env: Environment, names: Plain) -> bool:
        if "expr" in guard:
            code = ast.fix_missing_locations(Exact().visit(ast.parse(guard["expr"].strip(), mode="eval")))
            return self._true(compile(code, "guard", "eval"), names)
        return not list(self._differences(guard["only"], env))

    def _differences(self, only: Plain, env: Environment) -> Iterator[str]:
        """What differs although it may not; whole states are looked at."""
        for shape in self.environment.states:
            old, new = _records(self.first, shape), _records(env, shape)
            may = only.get("fields", {}).get(shape.name, {})
            gone = [
                key for key in old if key not in new and str(key) not in only.get("removed", {}).get(shape.name, [])
            ]
            yield from (f"{shape.name} {key} is gone" for key in gone)
            added = [key for key in new if key not in old]
            if len(added) > only.get("added", {}).get(shape.name, 0):
                yield f"{shape.name} {added} are new"
            for key in old:
                if key in new and old[key] != new[key]:
                    allowed = may.get("" if key is None else str(key), ())
                    for one in shape.record.fields:
                        was, now = old[key].get(one.json), new[key].get(one.json)
                        if (
                            was != now
                            and not one.incidental
                            and one.name not in allowed
                            and _bare(was, one.shape) != _bare(now, one.shape)
                        ):
                            yield f"{shape.name} {key} {one.name}"

    # -- start and solution

    def _start(self) -> None:
        reward, _, met = self.reward(self.fresh(), None)
        self.verdict.idle = reward
        self.verdict.problems += [f"goal {n + 1} is true at the start" for n, true in enumerate(met) if true]
        names = {
            **BUILTINS,
            "initial": Whole(self.first),
            "final": Whole(self.first),
            "answer": Answer({}),
            "refusal": None,
        }
        for guard in self.scenario["guards"]:
            if not self._guard(guard, self.first, names):
                self.verdict.problems.append("a guard is broken at the start")

    def _solution(self) -> None:
        env = self.fresh()
        self.results = []
        self.changing = []
        for n, step in enumerate(self.steps):
            result = self._call(env, step)
            self.results.append(result)
            if result.changed:
                self.changing.append(n)
            refused = step.get("refused", "")
            if result.ok == bool(refused):
                self.verdict.problems.append(f"step {n + 1} ({step['tool']}): {result.to_json()}")
            elif refused and refused not in (result.error.rule, result.error.message, result.error.code):
                self.verdict.problems.append(f"step {n + 1} is refused by {result.error}, not by {refused}")
        self.end = self._essence(env)
        self.verdict.solved, well, _ = self.reward(env, self.scenario.get("submitted"))
        if not well:
            self.verdict.problems.append("the solution does not reach the goals, or breaks a guard")

    def _call(self, env: Environment, step: Plain) -> Any:
        return env.call(step["tool"], dict(step.get("arguments", {})), step.get("actor", "agent"))

    def _essence(self, env: Environment) -> str:
        """The whole state as text, without incidental fields and with other names for keys that were made."""
        whole: Plain = {}
        made: dict[str, str] = {}
        for shape in self.environment.states:
            records = _records(env, shape)
            rows = {}
            for key, record in records.items():
                fresh = (
                    isinstance(shape, s.Collection)
                    and shape.key.make is not None
                    and self.first.record(shape.name, key) is None
                )
                if fresh:
                    made[str(key)] = f"new {shape.name}"
                bare = {
                    f.json: _bare(record[f.json], f.shape)
                    for f in shape.record.fields
                    if f.json in record and not f.incidental
                }
                rows[str(key)] = bare
            whole[shape.name] = [[key, row] for key, row in rows.items()]
        texts = sorted(
            json.dumps([name, *row], sort_keys=True, ensure_ascii=False) for name, rows in whole.items() for row in rows
        )
        found = "\n".join(texts)
        for key, name in sorted(made.items(), key=lambda pair: -len(pair[0])):
            found = re.sub(rf"(?<![\w-]){re.escape(key)}(?![\w-])", name, found) if not key.isdigit() else found
        return "\n".join(sorted(found.split("\n")))

    # -- where values come from

    def _sources(self) -> None:
        facts = self.scenario.get("user", {}).get("facts", {})
        for n, step in enumerate(self.steps):
            sources = step.get("sources", {})
            for path, value in _leaves(step.get("arguments", {})):
                source = _nearest(sources, path)
                kind = source.get("from", "task")
                place = f"step {n + 1} ({step['tool']}) {path} = {value!r}"
                if kind == "task" and not says(self.scenario["task"], value):
                    self.verdict.problems.append(f"{place}: the task does not say it")
                elif kind == "fact" and not says(facts.get(source["name"], {}).get("text", ""), value):
                    self.verdict.problems.append(f"{place}: the fact does not say it")
                elif kind == "found":
                    found = _at(self.results[source["step"]].value, source["path"])
                    if source["step"] >= n or found != value:
                        self.verdict.problems.append(f"{place}: step {source['step'] + 1} has {found!r}")

    # -- near misses

    def _misses(self) -> None:
        for n in self.changing:
            for changed in self._near(n):
                self._miss([*self.steps[:n], changed, *self.steps[n + 1 :]], n)
            self._miss([*self.steps[:n], *self.steps[n + 1 :]], -1)
        if self.changing:
            self._miss(self.steps[: self.changing[-1]], -1)
            again = self.steps[self.changing[-1]]
            self._miss([*self.steps, again], len(self.steps))
        for extra in islice(self._unasked(), 6):
            self._miss([*self.steps, extra], len(self.steps))

    def _unasked(self) -> Iterator[Plain]:
        """Writes that nobody asked for, of tools whose parameters are all records or choices."""
        for tool in self.environment.tool_table:
            choices = []
            for one in tool.params.values():
                if isinstance(one.shape, s.Ref):
                    choices.append([(one.json, key) for key in list(self.first.final[one.shape.collection])[-3:]])
                elif isinstance(one.shape, s.Enum):
                    choices.append([(one.json, value) for value in one.shape.values[:1]])
                elif one.required:
                    choices.append([])
            if tool.kind == "write" and tool.actor == "agent":
                for arguments in islice(product(*choices), 2):
                    yield {"tool": tool.name, "arguments": dict(arguments)}

    def _near(self, n: int) -> Iterator[Plain]:
        step = self.steps[n]
        for path, value in _leaves(step.get("arguments", {})):
            if _nearest(step.get("sources", {}), path).get("from") == "free":
                continue
            for other in self._others(value):
                yield {**step, "arguments": _put(step["arguments"], path.split("/"), other)}

    def _others(self, value: Any) -> Iterator[Any]:
        if value.__class__ in (int, float):
            for more in (1, -1, Decimal("0.01")):
                near = Decimal(repr(value)) + more
                yield int(near) if near == near.to_integral() else float(near)
        elif isinstance(value, str):
            for shape in self.environment.states:
                if isinstance(shape, s.Collection) and value in self.first.final[shape.name]:
                    keys = list(self.first.final[shape.name])
                    at = keys.index(value)
                    yield from (key for key in (*keys[at + 1 : at + 3], *keys[max(0, at - 2) : at]) if key != value)

    def _miss(self, steps: list[Plain], sure: int) -> None:
        """A near miss counts when its decisive call succeeds and its end is another than the solution's."""
        env = self.fresh()
        for n, step in enumerate(steps):
            result = self._call(env, step)
            if n == sure and not result.ok:
                return
        if self._essence(env) == self.end:
            return
        self.verdict.near += 1
        reward, well, _ = self.reward(env, self.scenario.get("submitted"))
        if well or reward >= 1:
            self.verdict.near_accepted += 1
            self.verdict.problems.append(f"accepted: {json.dumps(steps)[-400:]}")

    def _submissions(self) -> None:
        submitted = self.scenario.get("submitted")
        if not submitted:
            return
        others: list[Any] = [None]
        if "refusal" in submitted:
            others += [
                {"refusal": reason} for reason in ("not_found", "not_possible") if reason != submitted["refusal"]
            ]
        for name, value in submitted.get("answer", {}).items():
            if value.__class__ in (int, float) and value + 1 != value:
                others.append({"answer": {**submitted["answer"], name: value + 1}})
            others.append({"answer": {k: v for k, v in submitted["answer"].items() if k != name}})
        env = self.fresh()
        for step in self.steps:
            self._call(env, step)
        for other in others:
            self.verdict.near += 1
            if self.reward(env, other)[1]:
                self.verdict.near_accepted += 1
                self.verdict.problems.append(f"accepted: {other}")

    # -- other ways

    def _orders(self) -> None:
        ways = [[self.steps[n] for n in self.changing]]
        for one, other in pairwise(self.changing):
            steps = list(self.steps)
            steps[one], steps[other] = steps[other], steps[one]
            ways.append(steps)
        reads = [step for n, step in enumerate(self.steps) if n not in self.changing]
        ways.append([*reads, *self.steps, *reads])
        for steps in ways:
            env = self.fresh()
            for step in steps:
                self._call(env, step)
            if self._essence(env) == self.end:
                self.verdict.ways += 1
                if not self.reward(env, self.scenario.get("submitted"))[1]:
                    self.verdict.ways_refused += 1
                    self.verdict.problems.append(f"refused: {[step['tool'] for step in steps]}")


# -- small things


def _records(env: Environment, shape: s.StateShape) -> dict[Any, Plain]:
    if isinstance(shape, s.Collection):
        return {key: env.record(shape.name, key) or {} for key in env.final[shape.name]}
    return {None: env.record(shape.name) or {}}


def _bare(value: Any, shape: s.Shape) -> Any:
    match shape:
        case s.Nullable() | s.Partial():
            return _bare(value, shape.of)
        case s.Struct() if isinstance(value, dict):
            return {f.json: _bare(value[f.json], f.shape) for f in shape.fields if f.json in value and not f.incidental}
        case s.Union() if isinstance(value, dict):
            return _bare(value, member_of(shape, value))
        case s.ListOf() if isinstance(value, list):
            return [_bare(one, shape.item) for one in value]
        case s.DictOf() if isinstance(value, dict):
            return {k: _bare(v, shape.value) for k, v in value.items()}
    return value


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if not pairs:
        yield path, value
        return
    for name, one in pairs:
        yield from _leaves(one, f"{path}/{name}" if path else str(name))


def _nearest(sources: Plain, path: str) -> Plain:
    while path:
        if path in sources:
            return dict(sources[path])
        path = path.rpartition("/")[0]
    return {}


def _at(value: Any, pointer: str) -> Any:
    names = [name.replace("~1", "/").replace("~0", "~") for name in pointer.removesuffix("#").split("/")[1:]]
    try:
        for name in names:
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (LookupError, TypeError, ValueError) as error:
        return error
    return names[-1] if pointer.endswith("#") else value


def _put(value: Any, path: list[str], new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, dict):
        return {**value, path[0]: _put(value[path[0]], path[1:], new)}
    return [_put(one, path[1:], new) if str(n) == path[0] else one for n, one in enumerate(value)]


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def says(text: str, value: Any) -> bool:
    """Whether a text says a value, as a reader would look for it. What has no words of its own (none, yes, no) is passed."""
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return True
    if isinstance(value, int | float):
        numbers = {Decimal(n.replace(",", "")) for n in re.findall(r"-?\d[\d,]*(?:\.\d+)?", text) if n.strip(",-")}
        return abs(Decimal(repr(value))) in {abs(n) for n in numbers}
    text, value = " ".join(text.split()), " ".join(str(value).split())
    if value in text or value.replace("_", " ").lower() in text.replace("_", " ").lower():
        return True
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d).*)?", value)
    if found is not None:
        month = _MONTHS[int(found[2]) - 1]
        day = int(found[3])
        dated = any(form in text for form in (f"{day} {month} {found[1]}", f"{month} {day}, {found[1]}", value[:10]))
        return dated and (not found[4] or found[4] in text or found[4].lstrip("0") in text)
    return bool(re.fullmatch(r"\d\d:\d\d:00", value)) and value[:5].lstrip("0") in text

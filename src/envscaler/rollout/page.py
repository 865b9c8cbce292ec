"""A run as one HTML page that needs nothing else: its episodes with filters, each with all that was said, called and changed.

There is no script in it: the filters are rules of CSS, so that nothing that stands in a trajectory can ever be run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.llm.messages import Message
from envscaler.pages.render import environment
from envscaler.rollout.store import Row, Trajectories
from envscaler.rollout.trajectory import Trajectory

if TYPE_CHECKING:
    from envscaler.scenario.model import Scenario

__all__ = ["run_page"]

_FACETS: Final = ("spec", "kind", "setting", "agent", "model", "user", "status", "reward")
_LONG: Final = 700  # characters of a result that is folded
_LINE: Final = 88  # characters of JSON that stay on one line
_CHANGES: Final = 200  # changes of a call that are shown


@dataclass(frozen=True, slots=True)
class _Facet:
    """Something that episodes differ in: its values, with how many have each."""

    name: str
    values: tuple[tuple[str, int], ...]


def run_page(
    title: str,
    kept: Trajectories,
    rows: Sequence[Row],
    meant: int,
    scenarios: Mapping[str, Scenario],
    folders: Sequence[str] = (),
) -> Iterator[str]:
    """The page in pieces. ``rows``: the episodes to show, of ``meant`` ones. ``scenarios``, by id, give goals their words;
    ``folders``: of templates, before the shipped ones.

    One trajectory is in memory at a time. Raises UsageError for one that cannot be read.
    """
    facets = _facets(rows)
    template = environment(tuple(folders)).get_template("rollout/run.html.j2")
    pieces: Iterator[str] = template.generate(
        title=title,
        totals=kept.totals(),
        facets=facets,
        lines=[_Line(row, _classes(row, facets)) for row in rows],
        meant=meant,
        shown=lambda row: _shown(kept, row, scenarios.get(row.scenario)),
        version=__version__,
    )
    return pieces


@dataclass(frozen=True, slots=True)
class _Line:
    """An episode in the list; ``classes`` are those that the filters go by."""

    row: Row
    classes: str


def _facets(rows: Sequence[Row]) -> list[_Facet]:
    """What there is a choice of: whatever has two values or more."""
    found = []
    for name in _FACETS:
        counted: dict[str, int] = {}
        for row in rows:
            value = _value(row, name)
            counted[value] = counted.get(value, 0) + 1
        if len(counted) > 1:
            found.append(_Facet(name, tuple(sorted(counted.items()))))
    return found


def _value(row: Row, name: str) -> str:
    if name != "reward":
        return str(getattr(row, name)) or "none"
    if row.reward is None:
        return "none"
    return "1" if row.reward >= 1 else "0" if row.reward <= 0 else "between"


def _classes(row: Row, facets: Sequence[_Facet]) -> str:
    """A class for each value: the facet's name and the value's place, so that no text of a run becomes one."""
    places = ((f.name, [value for value, _ in f.values].index(_value(row, f.name))) for f in facets)
    return " ".join(f"{name}-{place}" for name, place in places)


# -- one episode


def _shown(kept: Trajectories, row: Row, scenario: Scenario | None) -> dict[str, Any]:
    """What the template shows of an episode."""
    one = kept.of(row)
    replies = {step["message"]: step for step in one.steps if "message" in step}
    calls = {call["id"]: call for step in one.steps for call in step.get("calls", ())}
    answers = {
        message.tool_call_id: message for message in one.messages if message.role == "tool" and message.tool_call_id
    }
    turns = [
        {**turn, "user": [_of_user(call) for call in replies.get(place, {}).get("user", ())]}
        for place, message in enumerate(one.messages)
        if (turn := _turn(message, calls, answers))
    ]
    dropped = [
        {"number": step["number"], "why": "; ".join(step.get("problems", ())) or step.get("finish", ""), **_told(step)}
        for step in one.steps
        if "dropped" in step
    ]
    return {
        "one": one,
        "opening": [_of_user(call) for call in one.opening],
        "turns": turns,
        "dropped": dropped,
        "task": "" if scenario is None else scenario.task,
        "goals": _ticked(one.goals, [] if scenario is None else [goal.text or goal.expr for goal in scenario.goals]),
        "guards": _ticked(one.guards, [] if scenario is None else [_guard(guard) for guard in scenario.guards]),
        "tokens": _tokens(one),
    }


def _told(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": step["dropped"].get("content", "")}


def _turn(
    message: Message, calls: Mapping[str, Mapping[str, Any]], answers: Mapping[str, Message]
) -> dict[str, Any] | None:
    """A message; results are shown with their calls."""
    if message.role == "tool" and message.tool_call_id:
        return None
    made = [_call(asked, calls.get(asked.id, {}), answers.get(asked.id)) for asked in message.tool_calls]
    who = "problem" if message.role == "tool" else "agent" if message.role == "assistant" else message.role
    return {"who": who, "text": message.content, "reasoning": message.reasoning, "calls": made}


def _call(asked: Any, seen: Mapping[str, Any], answer: Message | None) -> dict[str, Any]:
    result = "" if answer is None else answer.content
    ok = seen.get("ok", answer is not None and not answer.is_error)
    return {
        "tool": asked.name, "arguments": _arguments(asked.arguments), "ok": ok, "rule": seen.get("rule", ""),
        "code": seen.get("code", ""), **_result(result), **_changes(seen),
    }  # fmt: skip


def _of_user(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool": call["tool"], "arguments": _arguments(call["arguments"]), "ok": call["ok"], "rule": "", "code": "",
        **_result(call["result"]), **_changes(call),
    }  # fmt: skip


def _arguments(told: Any) -> Any:
    """The arguments of a call by name, or the text that is no object."""
    if not isinstance(told, str):
        return told
    try:
        plain = json.loads(told)
    except (ValueError, RecursionError):
        return told
    return plain if isinstance(plain, dict) else told


def _result(text: str) -> dict[str, Any]:
    try:
        plain = json.loads(text)
        line = json.dumps(plain, ensure_ascii=False)
        several = isinstance(plain, dict | list) and len(line) > _LINE
        pretty = json.dumps(plain, ensure_ascii=False, indent=2) if several else text
    except (ValueError, RecursionError):
        pretty = text
    return {"result": pretty, "folded": len(pretty) > _LONG}


def _changes(call: Mapping[str, Any]) -> dict[str, Any]:
    found = call.get("changes", ())
    shown = [
        {
            "mark": {"add": "new", "remove": "gone"}.get(change["op"], "changed"),
            "path": change["path"].lstrip("/").replace("/", " / "),
            "before": change.get("before") if change["op"] != "add" else None,
            "after": change.get("value"),
        }
        for change in found[:_CHANGES]
    ]
    return {"changes": shown, "more": max(0, len(found) - _CHANGES)}


def _ticked(held: Sequence[bool], words: Sequence[str]) -> list[tuple[bool, str]]:
    named = words if len(words) == len(held) else [""] * len(held)
    return list(zip(held, named, strict=True))


def _guard(guard: Any) -> str:
    return guard.text or guard.expr or "nothing else has changed"


def _tokens(one: Trajectory) -> int:
    return sum((part.get("tokens_in") or 0) + (part.get("tokens_out") or 0) for part in one.usage.values())

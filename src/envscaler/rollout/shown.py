"""A trajectory for people to read: what was said and called, what changed, which goals are met. Plain text, not escaped."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from envscaler.llm.messages import Message
from envscaler.rollout.trajectory import Trajectory

if TYPE_CHECKING:
    from envscaler.scenario.model import Scenario

__all__ = ["transcript"]

_WIDTH: Final = 100
_RESULT: Final = 1200  # characters of a result that are shown
_CHANGES: Final = 20  # changes of a call that are shown


def transcript(one: Trajectory, scenario: Scenario | None = None, *, whole: bool = False) -> Iterator[str]:
    """The lines. ``scenario`` gives goals and guards their words; ``whole``: nothing is cut, and the documentation is shown."""
    yield from _head(one)
    replies = {step["message"]: step for step in one.steps if "message" in step}
    calls = {call["id"]: call for step in one.steps for call in step.get("calls", ())}
    for call in one.opening:
        yield from _of_user(call)
    for place, message in enumerate(one.messages):
        if message.role == "system" and not whole:
            yield f"system     ({len(message.content):,} characters of documentation)"
            continue
        yield ""
        yield from _message(message, calls, whole)
        step = replies.get(place, {})
        for call in step.get("user", ()):
            yield from _of_user(call)
    for step in one.steps:
        if "dropped" in step:
            yield ""
            yield f"reply {step['number']} was not kept: {'; '.join(step.get('problems', ())) or step.get('finish', '')}"
    yield ""
    yield from _end(one, scenario)


def _head(one: Trajectory) -> Iterator[str]:
    user = "" if one.user is None else f" with user {one.user.name}{_model(one.user.model)}"
    yield one.id
    yield f"scenario   {one.scenario} ({one.kind}), spec {one.spec['name']}"
    yield f"played by  {one.agent.name}{_model(one.agent.model)}{user}, {one.setting}, sample {one.sample}"


def _model(name: str) -> str:
    return f" ({name})" if name else ""


def _message(message: Message, calls: Mapping[str, Mapping[str, Any]], whole: bool) -> Iterator[str]:
    if message.role == "tool":
        call = calls.get(message.tool_call_id, {})
        yield from _told(f"{'result' if call.get('ok', not message.is_error) else 'refused'}", message.content, whole)
        changes = call.get("changes", ())
        for change in changes if whole else changes[:_CHANGES]:
            yield f"           {_change(change)}"
        if not whole and len(changes) > _CHANGES:
            yield f"           … {len(changes) - _CHANGES} more changes"
        return
    if message.reasoning:
        yield from _told("thought", message.reasoning, whole)
    if message.content:
        yield from _told("agent" if message.role == "assistant" else message.role, message.content, True)
    for asked in message.tool_calls:
        yield from _told("calls", f"{asked.name} {asked.arguments}", whole)


def _told(who: str, text: str, whole: bool) -> Iterator[str]:
    if not whole and len(text) > _RESULT:
        text = f"{text[:_RESULT]} … ({len(text):,} characters)"
    lines = [part for line in text.splitlines() or [""] for part in textwrap.wrap(line, _WIDTH) or [""]]
    for number, line in enumerate(lines):
        yield f"{who if number == 0 else '':10} {line}".rstrip()


def _change(change: Mapping[str, Any]) -> str:
    sign = {"add": "+", "remove": "-"}.get(change["op"], "~")
    value = json.dumps(change["value"], ensure_ascii=False) if "value" in change else ""
    before = json.dumps(change["before"], ensure_ascii=False) if "before" in change and change["op"] != "add" else ""
    values = f"{before} -> {value}" if before and value else before or value
    return textwrap.shorten(f"{sign} {change['path']} {values}", 2 * _WIDTH, placeholder=" …")


def _of_user(call: Mapping[str, Any]) -> Iterator[str]:
    yield from _told("user calls", f"{call['tool']} {call['arguments']}", False)
    yield from _told("result" if call["ok"] else "refused", call["result"], False)
    for change in call.get("changes", ()):
        yield f"           {_change(change)}"


def _end(one: Trajectory, scenario: Scenario | None) -> Iterator[str]:
    yield f"ended      {one.status}{f': {one.reason}' if one.reason else ''}"
    if one.submitted is not None:
        yield f"submitted  {json.dumps(one.submitted, ensure_ascii=False)}"
    goals = [] if scenario is None else [goal.text or goal.expr for goal in scenario.goals]
    guards = (
        []
        if scenario is None
        else [guard.text or guard.expr or "nothing else has changed" for guard in scenario.guards]
    )
    yield from _ticked("goal", one.goals, goals)
    yield from _ticked("guard", one.guards, guards)
    for text in one.broken:
        yield f"           {text}"
    for text in one.errors:
        yield f"error      {text}"
    yield "reward     " + ("none" if one.reward is None else f"{one.reward:g} ({one.mode})")


def _ticked(what: str, held: Sequence[bool], words: Sequence[str]) -> Iterator[str]:
    for number, holds in enumerate(held):
        text = words[number] if len(words) == len(held) else ""
        yield f"{what:10} [{'x' if holds else ' '}] {number + 1}{f'. {text}' if text else ''}"

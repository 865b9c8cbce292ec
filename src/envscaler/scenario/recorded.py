"""Episodes that were recorded: their calls made once more on the scenario's start, to be scored without any model.

Three forms are read, all JSON objects with the scenario's id under `scenario`: the trajectories of rollouts; the steps of an
`agents.Transcript`; and, for anybody's own runs, `{"scenario": id, "calls": [{"tool": …, "arguments": {…}}, …], "submitted":
{"answer": {…}}}`, where a call may name its `actor` and whether it was `ok`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.errors import UsageError
from envscaler.runtime import Environment
from envscaler.scenario.model import Scenario
from envscaler.scenario.world import States, World

__all__ = ["RecordedCall", "Replayed", "recorded_calls", "replay_recorded"]


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as it was made. ``ok``: it gave a result then, None where that was not recorded."""

    tool: str
    arguments: Any
    actor: str = "agent"
    ok: bool | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """An episode after its recorded calls. ``failed``: in words each call that gave a result then and gives none now."""

    env: Environment
    submitted: Mapping[str, Any] | None
    failed: tuple[str, ...]


def replay_recorded(
    world: World, scenario: Scenario, record: Mapping[str, Any], states: States | None = None
) -> Replayed:
    """Make the calls of a record on the scenario's start.

    Calls that were refused then changed nothing, so they are left out. Raises UsageError for a record of no form, and what
    `World.start` raises.
    """
    env = world.start(scenario, states)
    submitted = record.get("submitted")
    last: Any = None
    failed = []
    for number, call in enumerate(recorded_calls(record), 1):
        if call.ok is False:
            continue
        if call.tool == world.submit:
            last = call.arguments
            continue
        result = env.call(call.tool, call.arguments, call.actor)
        if result.error is not None and call.ok:
            failed.append(f"call {number}, {call.tool}: {result.error.message}")
    given = _object(last) if submitted is None else submitted
    if given is not None and not isinstance(given, Mapping):
        raise UsageError("'submitted' is no object")
    return Replayed(env, given, tuple(failed))


def recorded_calls(record: Mapping[str, Any]) -> Iterator[RecordedCall]:
    """The calls of a record in their order, those of the user among them. Raises UsageError for a record of no form."""
    try:
        if "calls" in record:
            yield from map(_call, record["calls"])
        elif "steps" in record:
            yield from (_call({**call, "actor": "user"}) for call in record.get("opening", ()))
            for step in record["steps"]:
                yield from _of_step(step, record.get("messages", ()))
        else:
            raise UsageError("neither 'calls' nor 'steps' say what was done")
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(f"no record of an episode: {type(error).__name__}: {error}") from None


def _of_step(step: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Iterator[RecordedCall]:
    said = step.get("message")
    if isinstance(said, int):
        said = messages[said]
    said = said or step.get("dropped") or {}
    asked = {call["id"]: call["arguments"] for call in said.get("tool_calls", ())}
    for call in step.get("calls", ()):
        if "tool" in call:  # of a trajectory: the arguments stand in the message
            yield RecordedCall(call["tool"], asked[call["id"]], "agent", call["ok"])
        else:
            yield RecordedCall(call["name"], call["arguments"], "agent", call["result"]["ok"])
    yield from (_call({**call, "actor": "user"}) for call in step.get("user", ()))


def _call(call: Mapping[str, Any]) -> RecordedCall:
    ok = call.get("ok")
    return RecordedCall(
        call["tool"], call.get("arguments"), call.get("actor", "agent"), None if ok is None else bool(ok)
    )


def _object(arguments: Any) -> Mapping[str, Any] | None:
    """The arguments of a `submit`: an object, or its JSON text."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, Mapping) else None

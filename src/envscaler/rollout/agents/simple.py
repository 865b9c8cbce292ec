"""Agents that need no model: the reference solution, doing nothing, a script, a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from envscaler.agents import Move, ScriptedPolicy, Turn
from envscaler.errors import UsageError
from envscaler.llm.messages import Message, Tool, ToolCall
from envscaler.play.lines import CallLine, LineError, parse
from envscaler.plugin.roles import Part
from envscaler.rollout.settings import read_settings

__all__ = ["DONE", "HumanAgent", "NoopAgent", "ReferenceAgent", "scripted_agent"]

DONE: Final = "Everything you asked for is done."


def _called(name: str, arguments: Mapping[str, Any]) -> Turn:
    return Turn(Message("assistant", tool_calls=(ToolCall("", name, json.dumps(arguments)),)))


def _said(text: str) -> Turn:
    return Turn(Message("assistant", text))


class ReferenceAgent:
    """Plays the scenario's own solution, a call in each reply, and submits what is to be submitted.

    A tool that is not on offer yet, and a step of the user's, it asks for in a message.
    """

    name = "reference"

    def __init__(self, part: Part) -> None:
        read_settings("reference", part.settings, {})
        self._part = part
        self._next = 0

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Turn:
        scenario = self._part.scenario
        if self._next == len(scenario.solution):
            if scenario.submitted is not None:
                return _called(self._part.submit, scenario.submitted)
            return _said(DONE)
        step = scenario.solution[self._next]
        if step.actor == "user":
            self._next += 1
            return _said(f"Please do this yourself now: {step.tool}.")
        if all(tool.name != step.tool for tool in tools):
            return _said("I have no tool for the next step.")
        self._next += 1
        return _called(step.tool, step.arguments)


class NoopAgent:
    """Does nothing, and says so."""

    name = "noop"

    def __init__(self, part: Part) -> None:
        read_settings("noop", part.settings, {})

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Turn:
        return _said("I leave everything as it is.")


def scripted_agent(part: Part) -> ScriptedPolicy:
    """Plays the moves of a file: a list of JSON, or an object with a list for each scenario by id.

    A move is a text, a message as an object, or a list of calls as pairs of name and arguments. When they are all played the
    agent says that it is done. Raises UsageError for a file that is none.
    """
    settings = read_settings("scripted", part.settings, {"file": ""})
    if not settings["file"]:
        raise UsageError("scripted needs the file of its moves: --set agent.file=MOVES.json")
    path = Path(settings["file"])
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    moves = found.get(part.scenario.id, []) if isinstance(found, Mapping) else found
    if not isinstance(moves, list):
        raise UsageError(f"{path}: moves are a list of texts, messages and lists of calls")
    return ScriptedPolicy([*map(_move, moves), *[DONE] * 1000])


def _move(plain: Any) -> Move:
    if isinstance(plain, list):
        if not all(isinstance(c, list) and len(c) == 2 and isinstance(c[0], str) for c in plain):
            raise UsageError("a list of calls holds pairs of a tool's name and its arguments")
        return [(name, arguments) for name, arguments in plain]
    if isinstance(plain, str | Mapping):
        return plain
    raise UsageError(f"a move is a text, a message or a list of calls, not {json.dumps(plain)[:60]}")


class HumanAgent:
    """A person. A line that begins with the name of a tool is a call, as one is typed in `envscaler play`; any other is a
    message."""

    name = "human"

    def __init__(self, part: Part) -> None:
        read_settings("human", part.settings, {})
        if part.ask is None:
            raise UsageError("a human agent needs a terminal")
        self._ask = part.ask
        self._shown = 0

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Turn:
        new = messages[self._shown :]
        self._shown = len(messages) + 1  # what is typed now needs no showing
        text = "\n\n".join(f"[{message.role}] {message.content}" for message in new)
        if len(new) == len(messages):
            text += f"\n\nTools: {', '.join(tool.name for tool in tools)}\nTOOL name=value … calls one; else it is a message."
        names = {tool.name for tool in tools}
        while True:
            typed = (await asyncio.to_thread(self._ask, text)).strip()
            if typed.partition(" ")[0] not in names:
                return _said(typed)
            try:
                line = parse(typed)
            except LineError as error:
                text = str(error)
                continue
            assert isinstance(line, CallLine)
            sent = line.sent
            arguments = sent if isinstance(sent, str) else json.dumps(sent)
            return Turn(Message("assistant", tool_calls=(ToolCall("", line.tool, arguments),)))

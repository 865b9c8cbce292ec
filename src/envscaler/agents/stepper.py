"""What one reply does in an episode: it is read, its calls are run or its message is said, and it is told what came of it.

This is the one place where that is decided: the loop asks a policy for replies, others bring them themselves.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import isawaitable
from typing import Final, TypeVar

from envscaler.agents.episode import Episode, Observation
from envscaler.agents.parsing import Parsed, parse
from envscaler.agents.policies import Turn
from envscaler.agents.transcript import CallRecord, Limits, Status, Step, Transcript
from envscaler.errors import BudgetError, LlmError
from envscaler.llm.errors import DeadlineError
from envscaler.llm.messages import Message, Tool, ToolCall
from envscaler.llm.replies import split_reasoning

__all__ = ["GRACE", "End", "Stepper", "read", "said"]

T = TypeVar("T")

GRACE: Final = 1.0  # seconds that something may take to end once it is cancelled
_SHOWN: Final = 3  # problems of one reply that the agent is told

_CUT_OFF: Final = (
    "The reply was cut off at the limit of tokens and is not kept; nothing of it was done. Say it shorter."
)
_EMPTY: Final = "The reply is empty: write a message or a call."
_IN_THOUGHT: Final = " A call inside <think> is not run; write it after </think>."


def read(message: Message) -> Parsed:
    """A reply in its parts. Where it has calls of its own, its text is no place for others."""
    if not message.tool_calls:
        parsed = parse(message.content)
    else:
        content, thought = split_reasoning(message.content)
        parsed = Parsed(content, thought, message.tool_calls)
    reasoning = "\n\n".join(part for part in (message.reasoning, parsed.reasoning) if part)
    return replace(parsed, reasoning=reasoning)


class End(Exception):
    """The episode is over."""

    def __init__(self, status: Status, reason: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Stepper:
    """One episode, step by step.

        with stepper.running():
            await stepper.begin()
            while True:
                with stepper.step() as step:
                    ...  # get a turn
                    await stepper.take(step, turn)

    Everything in `running` may raise End, which leaves it and stands in the ``transcript`` as status and reason.
    """

    def __init__(
        self, episode: Episode, agent: str, limits: Limits | None = None, listen: Callable[[Step], None] | None = None
    ) -> None:
        self._episode = episode
        self._limits = limits or Limits()
        self._listen = listen
        self._ids: set[str] = set()
        self._faults = 0
        self._tokens = 0
        self._context = 0
        self._until = time.monotonic() + self._limits.seconds
        self._cancelled = False
        self._stop: Callable[[], object] | None = None
        self.transcript = Transcript(agent, self._limits)

    # -- the course of an episode

    @contextmanager
    def running(self) -> Iterator[None]:
        """The time in which something happens; ends without an exception when the episode does. BudgetError and CancelledError
        pass: the status is then `cancelled`."""
        transcript, began = self.transcript, time.monotonic()
        try:
            yield
        except End as end:
            transcript.status, transcript.reason = end.status, end.reason
        except (asyncio.CancelledError, BudgetError) as error:
            transcript.status, transcript.reason = "cancelled", str(error)
            raise
        finally:
            transcript.seconds += time.monotonic() - began

    async def begin(self) -> None:
        """Tell the agent what it is told first. The episode's time runs from here."""
        self._until = time.monotonic() + self._limits.seconds
        opening = self._of_world("the opening", lambda: self._episode.opening())
        if isawaitable(opening):
            waited: Awaitable[Sequence[Message]] = opening
            opening = await self._of_user(lambda: waited)
        self.transcript.messages += opening

    @contextmanager
    def step(self) -> Iterator[Step]:
        """The next step; raises End where there is none, or none after it."""
        self._check()
        steps, began = self.transcript.steps, time.monotonic()
        step = Step(len(steps) + 1)
        steps.append(step)
        try:
            yield step
        finally:
            step.seconds = time.monotonic() - began
            self._tokens += (step.spent.usage.tokens_in or 0) + (step.spent.usage.tokens_out or 0)
            if self._listen is not None:
                self._listen(step)
        if len(steps) >= self._limits.steps:
            raise End("step_limit", f"{self._limits.steps} steps are made")
        self._check()

    def cancel(self) -> None:
        """End the episode with status `cancelled`; from any thread."""
        self._cancelled = True
        if (stop := self._stop) is not None:
            stop()

    def _check(self) -> None:
        if self._cancelled:
            raise End("cancelled")
        if time.monotonic() >= self._until:
            raise End("deadline", f"the episode took {self._limits.seconds:g} s")
        most = self._limits.tokens
        if most is not None and self._tokens >= most:
            raise End("token_limit", f"{most:,} tokens are used")
        most = self._limits.context
        if most is not None and self._context >= most:
            raise End("token_limit", f"the conversation is {self._context:,} tokens long")

    # -- what a reply does

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools on offer now."""
        return self._of_world("the tools", lambda: self._episode.tools)

    async def take(self, step: Step, turn: Turn) -> None:
        """Do what a turn asks for: run its calls, or say its message."""
        if text := self.act(step, turn):
            await self.say(step, text)

    def act(self, step: Step, turn: Turn) -> str:
        """Do what a turn asks for, but for what it says to the user, which is given back: that is to be waited for."""
        step.finish, step.spent = turn.finish, turn.spent
        self._context = turn.context
        if turn.finish == "length":
            step.message = turn.message
            self.cut_off(step)
            return ""
        if turn.finish == "refusal":
            step.message = turn.message
            raise End("agent_error", f"the model declined: {turn.message.content[:300]}")
        parsed = read(turn.message)
        calls = self._with_ids(parsed.calls, step.number)
        message = Message("assistant", parsed.content, parsed.reasoning, calls, opaque=turn.message.opaque)
        step.message, step.problems = message, parsed.problems
        if parsed.content or calls:
            self.transcript.messages.append(message)
        if calls:
            self._faults = 0
            self._run(step, calls)
            if parsed.problems:
                self._tell_problems(parsed.problems)
        elif parsed.problems:
            self._fault(step, parsed.problems)
        elif parsed.content:
            self._faults = 0
            return parsed.content
        else:
            self.empty(step, thought=parsed.reasoning)
        return ""

    def cut_off(self, step: Step) -> None:
        """Take a reply that was cut off."""
        self._fault(step, [_CUT_OFF])

    def empty(self, step: Step, thought: str = "") -> None:
        """Take a reply that holds nothing, but perhaps a ``thought``."""
        self._fault(step, [_EMPTY + (_IN_THOUGHT if "<tool_call>" in thought else "")])

    def _with_ids(self, calls: tuple[ToolCall, ...], number: int) -> tuple[ToolCall, ...]:
        """The calls with ids that no other call of the episode has; those of a provider stay, where they are such."""
        named = []
        for place, call in enumerate(calls, 1):
            name, more = call.id, 0
            while not name or name in self._ids or name == f"call_{place}":
                name = f"call_{number}_{place}" + (f"_{more}" if more else "")
                more += 1
            self._ids.add(name)
            named.append(replace(call, id=name))
        return tuple(named)

    # -- calls

    def _run(self, step: Step, calls: tuple[ToolCall, ...]) -> None:
        """Run calls in order; every one gets its result, those too that are not run."""
        over: End | None = None
        for place, call in enumerate(calls):
            if over is not None:
                seen = Observation.error("The episode is over; this call was not run.", "over")
            elif place >= self._limits.calls:
                most = self._limits.calls
                seen = Observation.error(f"A reply may hold {most} calls; this one was not run.", "limit")
            else:
                seen, over = self._called(call)
            step.calls.append(CallRecord(call, seen))
            self.transcript.messages.append(Message("tool", seen.text, tool_call_id=call.id, is_error=not seen.ok))
        if over is not None:
            raise over

    def _called(self, call: ToolCall) -> tuple[Observation, End | None]:
        """What came of a call, and the end of the episode where that has come."""
        try:
            self._check()
            seen = self._of_world(
                f"the call of {call.name[:64]}", lambda: self._episode.call(call.name, call.arguments)
            )
        except End as end:
            return Observation.error("This call was not run.", "over"), end
        if seen.broken:
            return seen, End("infra_error", seen.broken)
        return seen, End("finished") if seen.ends else None

    def _of_world(self, doing: str, act: Callable[[], T]) -> T:
        """What ``act`` gives. An episode that raises is broken, which is not the agent's doing."""
        try:
            return act()
        except BudgetError:
            raise
        except Exception as error:
            raise End("infra_error", f"{doing}: {said(error)}") from error

    # -- messages

    async def say(self, step: Step, text: str) -> None:
        """Say something to the user, and tell the agent what is answered."""
        seen = await self._of_user(lambda: self._episode.say(text))
        step.answer = seen
        if seen.broken:
            raise End("infra_error", seen.broken)
        if seen.text:
            self.transcript.messages.append(Message("user", seen.text))
        if seen.ends:
            raise End("finished")

    async def _of_user(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What the user gives, who fails as a world does."""
        try:
            return await self.within("the user", ask())
        except (End, BudgetError):
            raise
        except DeadlineError as error:
            raise End("deadline", f"the user: {error}") from error
        except Exception as error:
            reason = str(error) if isinstance(error, LlmError) else said(error)
            raise End("infra_error", f"the user: {reason}") from error

    def _fault(self, step: Step, problems: list[str] | tuple[str, ...]) -> None:
        """Tell the agent what is wrong with a reply of which nothing could be done."""
        step.problems = tuple(problems)
        self._tell_problems(problems)
        self._faults += 1
        if self._faults >= self._limits.faults:
            raise End(
                "agent_error", f"nothing could be done with {self._faults} replies in a row; the last: {problems[0]}"
            )

    def _tell_problems(self, problems: list[str] | tuple[str, ...]) -> None:
        more = len(problems) - _SHOWN
        told = " ".join(problems[:_SHOWN]) + (f" There are {more} more such problems." if more > 0 else "")
        text = json.dumps({"success": False, "error": told}, ensure_ascii=False)
        self.transcript.messages.append(Message("tool", text, is_error=True))

    # -- waiting

    async def within(self, who: str, reply: Awaitable[T]) -> T:
        """What is waited for, if it comes in time. What does not end when it is cancelled is left behind."""
        left = self._until - time.monotonic()
        allowed = min(left, self._limits.call_seconds)
        task: asyncio.Future[T] = asyncio.ensure_future(reply)
        loop = asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            if not self._cancelled:
                await asyncio.wait({task}, timeout=max(allowed, 0.0))
        finally:
            self._stop = None
            if not task.done():
                task.cancel()
                task.add_done_callback(_forget)
        if not task.done():
            await asyncio.wait({task}, timeout=GRACE)
            if self._cancelled:
                raise End("cancelled")
            if left > self._limits.call_seconds:
                raise End("deadline", f"{who} did not answer within {self._limits.call_seconds:g} s")
            raise End("deadline", f"the episode took {self._limits.seconds:g} s")
        if task.cancelled():
            raise End("cancelled") if self._cancelled else End("infra_error", f"{who}: the reply was cancelled")
        return task.result()


def _forget(task: asyncio.Future[T]) -> None:
    """Take note of what a task left behind raises, so that nobody else complains of it."""
    if not task.cancelled():
        task.exception()


def said(error: BaseException) -> str:
    """What an exception says, in one line that is not long."""
    text = " ".join(str(error).split())[:500]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

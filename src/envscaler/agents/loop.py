"""The act-and-observe loop: an agent's replies are read, its calls run, and it is told what came of them, within limits.

What the agent does wrong is an error observation and the episode goes on. What fails around it (its backend, the user's, the
world) ends the episode with a status of its own, which is never scored.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeVar

from envscaler.agents.episode import Episode, Observation
from envscaler.agents.parsing import Parsed, parse
from envscaler.agents.policies import Policy, Turn
from envscaler.agents.transcript import CallRecord, Limits, Status, Step, Transcript
from envscaler.errors import BudgetError, LlmError
from envscaler.llm.client import Spent
from envscaler.llm.errors import (
    CallError,
    ContextError,
    DeadlineError,
    EmptyReplyError,
    RefusedError,
    TruncatedError,
)
from envscaler.llm.messages import Message, ToolCall
from envscaler.llm.replies import split_reasoning

__all__ = ["Loop", "play", "read"]

T = TypeVar("T")

_GRACE: Final = 1.0  # seconds that something may take to end once it is cancelled
_SHOWN: Final = 3  # problems of one reply that the agent is told

_CUT_OFF: Final = (
    "The reply was cut off at the limit of tokens and is not kept; nothing of it was done. Say it shorter."
)
_EMPTY: Final = "The reply is empty: write a message or a call."
_IN_THOUGHT: Final = " A call inside <think> is not run; write it after </think>."


def play(episode: Episode, policy: Policy, limits: Limits | None = None) -> Transcript:
    """Play an episode to its end, for callers that are not asynchronous. Raises BudgetError."""
    loop = asyncio.new_event_loop()  # not asyncio.run, which waits for tasks that do not end when they are cancelled
    try:
        return loop.run_until_complete(Loop(episode, policy, limits).run())
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_GRACE))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def read(message: Message) -> Parsed:
    """A reply in its parts. Where it has calls of its own, its text is no place for others."""
    if not message.tool_calls:
        parsed = parse(message.content)
    else:
        content, thought = split_reasoning(message.content)
        parsed = Parsed(content, thought, message.tool_calls)
    reasoning = "\n\n".join(part for part in (message.reasoning, parsed.reasoning) if part)
    return replace(parsed, reasoning=reasoning)


class _End(Exception):
    """The episode is over."""

    def __init__(self, status: Status, reason: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Loop:
    """One episode. `run` plays it once; ``transcript`` is filled while it does, and ``listen`` hears of every step."""

    def __init__(
        self,
        episode: Episode,
        policy: Policy,
        limits: Limits | None = None,
        listen: Callable[[Step], None] | None = None,
    ) -> None:
        self._episode = episode
        self._policy = policy
        self._limits = limits or Limits()
        self._listen = listen
        self._ids: set[str] = set()
        self._faults = 0
        self._tokens = 0
        self._until = 0.0
        self._cancelled = False
        self._stop: Callable[[], object] | None = None
        self.transcript = Transcript(policy.name, self._limits)

    async def run(self) -> Transcript:
        """Play to the end. Raises BudgetError, and CancelledError when its task is cancelled; the transcript, with status
        `cancelled`, is then in ``transcript``."""
        transcript, began = self.transcript, time.monotonic()
        self._until = began + self._limits.seconds
        try:
            await self._play()
        except _End as end:
            transcript.status, transcript.reason = end.status, end.reason
        except (asyncio.CancelledError, BudgetError) as error:
            transcript.status, transcript.reason = "cancelled", str(error)
            raise
        finally:
            transcript.seconds = time.monotonic() - began
        return transcript

    def cancel(self) -> None:
        """End the episode with status `cancelled`; from any thread."""
        self._cancelled = True
        if (stop := self._stop) is not None:
            stop()

    # -- steps

    async def _play(self) -> None:
        self.transcript.messages += self._of_world("the opening", lambda: self._episode.opening())
        for number in range(1, self._limits.steps + 1):
            self._check()
            step, began = Step(number), time.monotonic()
            self.transcript.steps.append(step)
            try:
                await self._step(step)
            finally:
                step.seconds = time.monotonic() - began
                self._tokens += (step.spent.usage.tokens_in or 0) + (step.spent.usage.tokens_out or 0)
                if self._listen is not None:
                    self._listen(step)
        raise _End("step_limit", f"{self._limits.steps} steps are made")

    def _check(self) -> None:
        if self._cancelled:
            raise _End("cancelled")
        if time.monotonic() >= self._until:
            raise _End("deadline", f"the episode took {self._limits.seconds:g} s")
        most = self._limits.tokens
        if most is not None and self._tokens >= most:
            raise _End("token_limit", f"{most:,} tokens are used")

    async def _step(self, step: Step) -> None:
        turn = await self._turn(step)
        if turn is None:
            return
        step.finish, step.spent = turn.finish, turn.spent
        if turn.finish == "length":
            step.message = turn.message
            self._fault(step, [_CUT_OFF])
            return
        if turn.finish == "refusal":
            step.message = turn.message
            raise _End("agent_error", f"the model declined: {turn.message.content[:300]}")
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
            await self._say(step, parsed.content)
        else:
            self._fault(step, [_EMPTY + (_IN_THOUGHT if "<tool_call>" in parsed.reasoning else "")])

    async def _turn(self, step: Step) -> Turn | None:
        """The agent's next reply; None where it was one that nothing can be read of."""
        tools = self._of_world("the tools", lambda: self._episode.tools)
        try:
            turn = await self._within("the agent", self._policy.reply(tuple(self.transcript.messages), tools))
        except CallError as error:
            step.spent = error.spent or Spent()
            if error.reply is not None:
                step.message, step.finish = error.reply.message, error.reply.finish
            match error:
                case ContextError():
                    raise _End("context_exceeded", str(error)) from error
                case DeadlineError():
                    raise _End("deadline", str(error)) from error
                case RefusedError():
                    raise _End("agent_error", str(error)) from error
                case TruncatedError():
                    self._fault(step, [_CUT_OFF])
                    return None
                case EmptyReplyError():
                    self._fault(step, [_EMPTY])
                    return None
            raise _End("infra_error", str(error)) from error
        except (_End, BudgetError):
            raise
        except Exception as error:
            raise _End("infra_error", f"the agent: {_said(error)}") from error
        if not isinstance(turn, Turn):
            raise _End("infra_error", f"the agent gave an object of {type(turn).__name__} and not a turn")
        return turn

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
        over: _End | None = None
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

    def _called(self, call: ToolCall) -> tuple[Observation, _End | None]:
        """What came of a call, and the end of the episode where that has come."""
        try:
            self._check()
            seen = self._of_world(
                f"the call of {call.name[:64]}", lambda: self._episode.call(call.name, call.arguments)
            )
        except _End as end:
            return Observation.error("This call was not run.", "over"), end
        if seen.broken:
            return seen, _End("infra_error", seen.broken)
        return seen, _End("finished") if seen.ends else None

    def _of_world(self, doing: str, act: Callable[[], T]) -> T:
        """What ``act`` gives. An episode that raises is broken, which is not the agent's doing."""
        try:
            return act()
        except BudgetError:
            raise
        except Exception as error:
            raise _End("infra_error", f"{doing}: {_said(error)}") from error

    # -- messages

    async def _say(self, step: Step, text: str) -> None:
        try:
            seen = await self._within("the user", self._episode.say(text))
        except (_End, BudgetError):
            raise
        except DeadlineError as error:
            raise _End("deadline", f"the user: {error}") from error
        except Exception as error:
            said = str(error) if isinstance(error, LlmError) else _said(error)
            raise _End("infra_error", f"the user: {said}") from error
        step.answer = seen
        if seen.broken:
            raise _End("infra_error", seen.broken)
        if seen.text:
            self.transcript.messages.append(Message("user", seen.text))
        if seen.ends:
            raise _End("finished")

    def _fault(self, step: Step, problems: list[str] | tuple[str, ...]) -> None:
        """Tell the agent what is wrong with a reply of which nothing could be done."""
        step.problems = tuple(problems)
        self._tell_problems(problems)
        self._faults += 1
        if self._faults >= self._limits.faults:
            raise _End(
                "agent_error", f"nothing could be done with {self._faults} replies in a row; the last: {problems[0]}"
            )

    def _tell_problems(self, problems: list[str] | tuple[str, ...]) -> None:
        more = len(problems) - _SHOWN
        said = " ".join(problems[:_SHOWN]) + (f" There are {more} more such problems." if more > 0 else "")
        text = json.dumps({"success": False, "error": said}, ensure_ascii=False)
        self.transcript.messages.append(Message("tool", text, is_error=True))

    async def _within(self, who: str, reply: Awaitable[T]) -> T:
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
            await asyncio.wait({task}, timeout=_GRACE)
            if self._cancelled:
                raise _End("cancelled")
            if left > self._limits.call_seconds:
                raise _End("deadline", f"{who} did not answer within {self._limits.call_seconds:g} s")
            raise _End("deadline", f"the episode took {self._limits.seconds:g} s")
        if task.cancelled():
            raise _End("cancelled") if self._cancelled else _End("infra_error", f"{who}: the reply was cancelled")
        return task.result()


def _forget(task: asyncio.Future[T]) -> None:
    """Take note of what a task left behind raises, so that nobody else complains of it."""
    if not task.cancelled():
        task.exception()


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())[:500]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

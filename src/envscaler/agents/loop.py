"""The act-and-observe loop: a policy is asked for replies until the episode ends.

What the agent does wrong is an error observation and the episode goes on. What fails around it (its backend, the user's, the
world) ends the episode with a status of its own, which is never scored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from envscaler.agents.episode import Episode
from envscaler.agents.policies import Policy, Turn
from envscaler.agents.stepper import GRACE, End, Stepper, read, said
from envscaler.agents.transcript import Limits, Step, Transcript
from envscaler.errors import BudgetError
from envscaler.llm.client import Spent
from envscaler.llm.errors import (
    CallError,
    ContextError,
    DeadlineError,
    EmptyReplyError,
    RefusedError,
    TruncatedError,
)

__all__ = ["Loop", "play", "read"]


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
            loop.run_until_complete(asyncio.wait(left, timeout=GRACE))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


class Loop:
    """One episode. `run` plays it once; ``transcript`` is filled while it does, and ``listen`` hears of every step."""

    def __init__(
        self,
        episode: Episode,
        policy: Policy,
        limits: Limits | None = None,
        listen: Callable[[Step], None] | None = None,
    ) -> None:
        self._policy = policy
        self._stepper = Stepper(episode, policy.name, limits, listen)
        self.transcript = self._stepper.transcript

    async def run(self) -> Transcript:
        """Play to the end. Raises BudgetError, and CancelledError when its task is cancelled; the transcript, with status
        `cancelled`, is then in ``transcript``."""
        stepper = self._stepper
        with stepper.running():
            await stepper.begin()
            while True:
                with stepper.step() as step:
                    turn = await self._turn(step)
                    if turn is not None:
                        await stepper.take(step, turn)
        return self.transcript

    def cancel(self) -> None:
        """End the episode with status `cancelled`; from any thread."""
        self._stepper.cancel()

    async def _turn(self, step: Step) -> Turn | None:
        """The agent's next reply; None where it was one that nothing can be read of."""
        stepper = self._stepper
        tools = stepper.tools
        try:
            turn = await stepper.within("the agent", self._policy.reply(tuple(self.transcript.messages), tools))
        except CallError as error:
            step.spent = error.spent or Spent()
            if error.reply is not None:
                step.message, step.finish = error.reply.message, error.reply.finish
            match error:
                case ContextError():
                    raise End("context_exceeded", str(error)) from error
                case DeadlineError():
                    raise End("deadline", str(error)) from error
                case RefusedError():
                    raise End("agent_error", str(error)) from error
                case TruncatedError():
                    stepper.cut_off(step)
                    return None
                case EmptyReplyError():
                    stepper.empty(step)
                    return None
            raise End("infra_error", str(error)) from error
        except (End, BudgetError):
            raise
        except Exception as error:
            raise End("infra_error", f"the agent: {said(error)}") from error
        if not isinstance(turn, Turn):
            raise End("infra_error", f"the agent gave an object of {type(turn).__name__} and not a turn")
        return turn

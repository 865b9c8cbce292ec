"""An episode for those who bring the actions themselves: trainers, servers, notebooks.

    episode = Episode(stage)
    seen = episode.reset(scenario)
    while not done:
        seen, reward, done, info = episode.step(action)

An action does what a reply of an agent does in a rollout, by the same code.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from envscaler.agents import Limits, Stepper, Turn
from envscaler.errors import UsageError
from envscaler.llm.messages import Message, Tool, ToolCall
from envscaler.plugin.roles import Part, UserSimulator
from envscaler.rollout.recorder import Recorder
from envscaler.rollout.scene import ScenarioEpisode
from envscaler.rollout.stage import Stage
from envscaler.rollout.trajectory import Player, Trajectory
from envscaler.runtime.canonical import digest
from envscaler.scenario.scoring import Mode

if TYPE_CHECKING:
    from envscaler.agents import Observation
    from envscaler.scenario.model import Scenario

__all__ = ["Action", "Episode", "Seen", "waited"]

T = TypeVar("T")

Action = str | Message | ToolCall | Mapping[str, Any] | Sequence["ToolCall | Mapping[str, Any]"] | Turn
"""What an agent does: a text, in which calls may stand, or which is a message to the user; a message with its calls; one call,
as a record or as `{"name": …, "arguments": {…}}`; several, which are run in order."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the agent is shown: the messages since its last action, and the tools on offer now."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]

    @property
    def text(self) -> str:
        """The contents of the messages, one after the other."""
        return "\n\n".join(message.content for message in self.messages)


class Episode:
    """Episodes on one stage, one after the other. `user` makes the user of a conversation; without it the whole task is said
    at once. ``mode``: how is scored.

    The reward is 0.0 until the end, and there that of the scenario's goals and guards; None where the episode broke through
    no fault of the agent. Not for several threads; `areset` and `astep` are for callers within an event loop.
    """

    def __init__(
        self,
        stage: Stage,
        *,
        user: Callable[[Part], UserSimulator] | None = None,
        user_settings: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        mode: Mode = "guarded",
        name: str = "agent",
    ) -> None:
        self._stage = stage
        self._make_user = user
        self._user_settings = user_settings or {}
        self._limits = limits or Limits()
        self._mode = mode
        self._name = name
        self._scene: ScenarioEpisode | None = None

    # -- acting

    def reset(self, scenario: Scenario, *, seed: int = 0) -> Seen:
        """Begin an episode; what the agent is told first. ``seed``: of the user. Raises SpecError, StateError, UsageError."""
        return waited(self.areset(scenario, seed=seed))

    async def areset(self, scenario: Scenario, *, seed: int = 0) -> Seen:
        """`reset`, to be waited for."""
        make = self._make_user

        def user(call: Callable[[str, str], Observation]) -> UserSimulator:
            assert make is not None
            stage = self._stage
            return make(
                Part(
                    scenario, "conversation", stage.submit, seed, settings=self._user_settings, templates=stage.templates,
                    tools=stage.user_tools, call=call,
                )
            )  # fmt: skip

        self._scene = ScenarioEpisode(self._stage, scenario, None if make is None else user)
        self._recorder = Recorder(self._scene)
        self._stepper = Stepper(self._scene, self._name, self._limits, self._recorder.heard)
        self._user = None if make is None else Player("user", "", self._user_settings, seed)
        self._shown = 0
        with self._stepper.running():
            await self._stepper.begin()
        return self._seen()

    def step(self, action: Action) -> tuple[Seen, float | None, bool, dict[str, Any]]:
        """What the agent sees of an action, the reward, whether the episode is over, and more: `status` and `reason`, `calls`
        with the changes of the state, and at the end `goals` and `guards`.

        Raises UsageError for what is no action, before `reset`, and after the end.
        """
        return waited(self.astep(action))

    async def astep(self, action: Action) -> tuple[Seen, float | None, bool, dict[str, Any]]:
        """`step`, to be waited for."""
        if self._scene is None:
            raise UsageError("an episode begins with reset(scenario)")
        if self.done:
            raise UsageError(f"the episode is over ({self._stepper.transcript.status}); reset begins another")
        turn = _turn(action)
        with self._stepper.running(), self._stepper.step() as step:
            await self._stepper.take(step, turn)
        return self._outcome()

    @property
    def submit(self) -> str:
        """The name of the tool that ends an episode."""
        return self._stage.submit

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self._scene is not None and self._stepper.transcript.status != "running"

    def _outcome(self) -> tuple[Seen, float | None, bool, dict[str, Any]]:
        transcript, scene = self._stepper.transcript, self._scene
        assert scene is not None
        step = transcript.steps[-1]
        info: dict[str, Any] = {
            "status": transcript.status,
            "reason": transcript.reason or scene.ended,
            "problems": list(step.problems),
            "calls": [call.to_json() for call in step.calls],
        }
        if not self.done:
            return self._seen(), 0.0, False, info
        if not transcript.scored:
            return self._seen(), None, True, info
        score = scene.score(self._mode)
        info |= score.to_json()
        return self._seen(), None if score.errors else score.reward, True, info

    def _seen(self) -> Seen:
        assert self._scene is not None
        messages = self._stepper.transcript.messages
        new = tuple(m for m in messages[self._shown :] if m.role != "assistant")
        self._shown = len(messages)
        return Seen(new, tuple(self._scene.tools))

    # -- around it

    def trajectory(self, name: str = "", sample: int = 0) -> Trajectory:
        """The episode as it stands. ``name``: its id, by default scenario and sample."""
        if self._scene is None:
            raise UsageError("an episode begins with reset(scenario)")
        return self._recorder.trajectory(
            self._stepper.transcript,
            name=name or f"{self._scene.scenario.id}.{sample}",
            agent=Player(self._name),
            user=self._user,
            sample=sample,
            mode=self._mode,
            catalogue=lambda tools: digest([tool.to_json() for tool in tools]),
        )


_OF_THREAD = threading.local()


def waited(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, for callers that do not wait for it, be it within an event loop of theirs, as in a notebook:
    that stands still meanwhile."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _alone(work)
    aside: ThreadPoolExecutor | None = getattr(_OF_THREAD, "aside", None)
    if aside is None:
        aside = _OF_THREAD.aside = ThreadPoolExecutor(1, "episodes")
    return aside.submit(copy_context().run, _alone, work).result()


def _alone(work: Coroutine[Any, Any, T]) -> T:
    """All episodes of a thread share one event loop: a thousand loops would need 3,000 files."""
    loop: asyncio.AbstractEventLoop | None = getattr(_OF_THREAD, "loop", None)
    if loop is None:
        loop = _OF_THREAD.loop = asyncio.new_event_loop()
        atexit.register(loop.close)
    return loop.run_until_complete(work)


def _turn(action: Action) -> Turn:
    if isinstance(action, Turn):
        return action
    if isinstance(action, Message):
        return Turn(action)
    if isinstance(action, str):
        return Turn(Message("assistant", action))
    if isinstance(action, Mapping) and "name" not in action:
        return Turn(Message.from_json({"role": "assistant", **action}))
    calls: Any = [action] if isinstance(action, Mapping | ToolCall) else action
    if not isinstance(calls, list | tuple) or not calls:
        raise UsageError("an action is a text, a message, a call, or a list of calls")
    return Turn(Message("assistant", tool_calls=tuple(map(_call, calls))))


def _call(plain: Any) -> ToolCall:
    if isinstance(plain, ToolCall):
        return plain
    if not isinstance(plain, Mapping) or not isinstance(plain.get("name"), str):
        raise UsageError('a call is a ToolCall, or {"name": "…", "arguments": {…}}')
    arguments = plain.get("arguments")
    if arguments is None:
        return ToolCall(str(plain.get("id") or ""), plain["name"], "")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(plain.get("id") or ""), plain["name"], text)

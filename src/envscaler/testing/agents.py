"""What every agent must do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from envscaler.agents import Limits, Loop, Transcript
from envscaler.plugin.roles import Part, Setting
from envscaler.rollout.scene import ScenarioEpisode
from envscaler.rollout.users.facts import FactsUser
from envscaler.testing.base import Conformance, not_run, refused, want
from envscaler.testing.episodes import part, run, scenario, stage

__all__ = ["AgentConformance"]


class AgentConformance(Conformance):
    """Subclass it with ``make``. ``settings`` are given to it; ``models`` opens language models for one that asks any, and
    without them ``answers = False`` leaves out the tests in which it acts. ``deterministic = False``: the same seed may act
    otherwise."""

    make: Callable[[Part], Any]
    settings: ClassVar[Mapping[str, Any]] = {}
    models: ClassVar[Callable[[], Any] | None] = None
    answers: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True

    def _part(self, setting: Setting, **more: Any) -> Part:
        cls = type(self)
        return part(setting, models=cls.__dict__.get("models", cls.models), **{"settings": dict(self.settings), **more})

    def _played(self, setting: Setting) -> Transcript:
        """An episode of at most twelve steps."""
        if not self.answers:
            not_run("asks a model")
        user = None if setting == "non-conversation" else (lambda call: FactsUser(part(setting, call=call)))
        episode = ScenarioEpisode(stage(), scenario(), user)
        agent = self.make(self._part(setting))
        want(isinstance(agent.name, str) and agent.name, "name must be text")
        return run(Loop(episode, agent, Limits(steps=12, call_seconds=20)).run())

    def _plays(self, setting: Setting) -> None:
        transcript = self._played(setting)
        want(
            transcript.status not in ("infra_error", "deadline", "cancelled"),
            f"the episode ended with {transcript.status}: {transcript.reason}",
        )

    def test_plays_alone(self) -> None:
        """It plays an episode without a user: each reply is a Turn with an assistant's message, and nothing is raised."""
        self._plays("non-conversation")

    def test_plays_with_a_user(self) -> None:
        """It plays a conversation."""
        self._plays("conversation")

    def test_plays_the_same_twice(self) -> None:
        """Two of the same part say and call the same."""
        if not self.deterministic:
            not_run("is not deterministic")
        first, second = (self._played("non-conversation").messages for _ in range(2))
        want(first == second, "two agents of the same part act differently")

    def test_refuses_unknown_settings(self) -> None:
        """A setting that it does not know is a UsageError."""
        more = {**self.settings, "no_such_setting": 1}
        refused("an agent with an unknown setting", self.make, self._part("non-conversation", settings=more))

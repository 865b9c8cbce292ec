"""Follows an episode step by step, and makes a trajectory of it when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from envscaler.agents import Step, Transcript
from envscaler.llm.messages import Tool
from envscaler.rollout.scene import ScenarioEpisode
from envscaler.rollout.trajectory import Player, Trajectory, recorded_steps, spent_json
from envscaler.scenario.scoring import Mode, Score

__all__ = ["Recorder"]

Catalogue = Callable[[Sequence[Tool]], str]
"""Keeps what was on offer and gives its hash."""


class Recorder:
    """What cannot be seen afterwards of one episode. `heard` is told of each step."""

    def __init__(self, episode: ScenarioEpisode) -> None:
        self._episode = episode
        self._began = time.time()
        self._seen = 0
        self._calls: dict[int, list[Mapping[str, Any]]] = {}
        self._offers: list[tuple[int, Sequence[Tool]]] = [(1, episode.tools)]

    def heard(self, step: Step) -> None:
        """A step is over."""
        episode = self._episode
        seen = max(self._seen, episode.opened)
        self._seen = len(episode.user_calls)
        if calls := episode.user_calls[seen:]:
            self._calls[step.number] = list(calls)
        if episode.tools is not self._offers[-1][1]:
            self._offers.append((step.number + 1, episode.tools))

    def trajectory(
        self,
        transcript: Transcript,
        *,
        name: str,
        agent: Player,
        user: Player | None,
        sample: int,
        attempt: int = 1,
        mode: Mode = "guarded",
        catalogue: Catalogue,
    ) -> Trajectory:
        """The trajectory of the episode, which is over. It is scored where it says something of the agent; a scenario whose
        goals cannot be told gives the status `checker_error` and no reward."""
        episode, scenario = self._episode, self._episode.scenario
        score: Score | None = episode.score(mode) if transcript.scored else None
        status, reason = transcript.status, transcript.reason or episode.ended
        judged = score is not None and not score.errors
        if score is not None and score.errors:
            status, reason = "checker_error", f"{transcript.status}: {score.errors[0]}"  # type: ignore[assignment]
        return Trajectory(
            id=name,
            scenario=scenario.id,
            kind=scenario.kind,
            spec={"name": scenario.spec.name, "hash": episode.env.spec_hash},
            setting=episode.setting,
            agent=agent,
            user=user,
            sample=sample,
            status=status,
            messages=tuple(transcript.messages),
            steps=tuple(recorded_steps(transcript, self._calls)),
            offers=tuple((step, catalogue(tools)) for step, tools in self._offers),
            reason=reason,
            reward=score.reward if score is not None and judged else None,
            mode=mode,
            goals=score.goals if score is not None and judged else (),
            guards=score.guards if score is not None and judged else (),
            broken=tuple(text for text in score.broken if text) if score is not None and judged else (),
            errors=score.errors if score is not None else (),
            submitted=episode.submitted,
            opening=tuple(episode.user_calls[: episode.opened]),
            attempt=attempt,
            usage={"agent": spent_json(transcript.spent)}
            | ({} if user is None else {"user": spent_json(episode.spent)}),
            timing={
                "began": self._began,
                "seconds": transcript.seconds,
                "steps": [round(step.seconds, 6) for step in transcript.steps],
            },
        )

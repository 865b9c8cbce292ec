"""What the episodes of one world share: tools as they are offered, texts, scorers; and an episode of a scenario on it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from envscaler.agents import tools_of
from envscaler.compiler.templates import render
from envscaler.llm.messages import Tool
from envscaler.plugin.roles import Setting
from envscaler.rollout.submission import Submission
from envscaler.scenario.scoring import Scorer

if TYPE_CHECKING:
    from envscaler.runtime import Environment
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.world import States, World

__all__ = ["Prepared", "Stage"]

_SCENARIOS: Final = 256  # scenarios whose scorers are kept


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario ready to be played any number of times. ``tools``: all that the agent may be offered, the one to submit with
    last, by name."""

    scenario: Scenario
    scorer: Scorer
    submission: Submission
    tools: dict[str, Tool]


class Stage:
    """A world on which scenarios are played, with the ``states`` that these name. ``policy``: how arguments are taken, None
    for the spec's own. ``templates`` are folders that stand before the shipped ones."""

    def __init__(
        self,
        world: World,
        states: States | None = None,
        *,
        policy: str | None = None,
        templates: Sequence[str] = (),
    ) -> None:
        self.world = world
        self._states = states
        self._policy = policy
        self.templates = tuple(templates)
        first = world.environment.new()
        self._tools = {tool.name: tool for tool in tools_of(first.tools)}
        self.user_tools = tools_of(first.user_tools)
        self._doc = first.doc
        self.submit = world.submit
        self._prepared: OrderedDict[str, Prepared] = OrderedDict()
        self._briefs: dict[Setting, str] = {}

    def prepared(self, scenario: Scenario) -> Prepared:
        """What all episodes of a scenario share. Raises SpecError for goals and guards that are wrong."""
        found = self._prepared.get(scenario.id) if scenario.id else None
        if found is None or found.scenario is not scenario:
            found = self._prepare(scenario)
            self._prepared[scenario.id] = found
            if len(self._prepared) > _SCENARIOS:
                self._prepared.popitem(last=False)
        return found

    def _prepare(self, scenario: Scenario) -> Prepared:
        scorer = Scorer.of(self.world, scenario)
        policy = self._policy or self.world.environment.policy
        submission = Submission(self.submit, scorer.slots.fields, tuple(self.world.reasons), policy)
        return Prepared(scenario, scorer, submission, {**self._tools, self.submit: submission.tool})

    def start(self, scenario: Scenario) -> Environment:
        """The environment of a new episode. Raises StateError, UsageError."""
        return self.world.start(scenario, self._states, self._policy)

    def brief(self, setting: Setting) -> str:
        """What the agent is told before the first message: the documentation, and how an episode goes."""
        if setting not in self._briefs:
            self._briefs[setting] = render(
                "prompts/rollout/agent.j2", self.templates, doc=self._doc.strip(), setting=setting, submit=self.submit
            ).strip()
        return self._briefs[setting]

"""What every checker must do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from envscaler.plugin.records import CallEvent, Checker, EndEvent, Judgement
from envscaler.session.judging import Watched
from envscaler.testing.base import Conformance, example_calls, refused, shipped, subject_of, want

__all__ = ["CheckerConformance"]


class CheckerConformance(Conformance):
    """Subclass it with ``make``. ``settings`` are given to it; ``specs`` are further specs whose examples are played."""

    make: Callable[[Mapping[str, Any]], Checker]
    settings: ClassVar[Mapping[str, Any]] = {}
    specs: ClassVar[Sequence[Path]] = ()

    def _made(self) -> Checker:
        return self.make(dict(self.settings))

    def _episodes(self) -> list[tuple[list[CallEvent], EndEvent]]:
        episodes = []
        for path in (shipped("bank"), *self.specs):
            subject = subject_of(path)
            watched = Watched(subject.environment.new())
            calls = [watched.call(tool, arguments)[1] for tool, arguments in example_calls(subject)]
            episodes.append((calls, watched.end()))
        return episodes

    def _judgements(self, calls: Sequence[CallEvent], end: EndEvent) -> list[Judgement | None]:
        checker = self._made()
        said: list[Any] = [checker.on_call(event) for event in calls]
        said.append(checker.on_end(end))
        for judgement in said:
            good = judgement is None or isinstance(judgement, Judgement)
            want(good, f"a checker must give a Judgement or None, not {type(judgement).__name__}")
        return said

    def test_judges_every_event(self) -> None:
        """Calls that work, that fail, of no tool, with arguments of any kind, and the end get a Judgement or None."""
        for calls, end in self._episodes():
            self._judgements(calls, end)

    def test_an_episode_without_calls(self) -> None:
        """An episode in which nothing happened can be judged."""
        self._judgements([], Watched(subject_of(shipped("bank")).environment.new()).end())

    def test_a_new_one_remembers_nothing(self) -> None:
        """A second checker says the same of the same episode."""
        for calls, end in self._episodes():
            want(
                self._judgements(calls, end) == self._judgements(calls, end),
                "a second checker judged the same episode otherwise",
            )

    def test_leaves_events_as_they_were(self) -> None:
        """What an event holds is not written to."""
        for calls, end in self._episodes():
            before = copy.deepcopy([(event.arguments, event.result, event.changes) for event in calls])
            self._judgements(calls, end)
            after = [(event.arguments, event.result, event.changes) for event in calls]
            want(repr(after) == repr(before), "an event was written to")

    def test_refuses_unknown_settings(self) -> None:
        """A setting that it does not know is a UsageError."""
        refused("a checker with an unknown setting", self.make, {**self.settings, "no_such_setting": 1})

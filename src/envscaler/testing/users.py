"""What every simulated user must do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from envscaler.plugin.roles import Part, Said, UserSimulator
from envscaler.testing.base import Conformance, not_run, refused, want
from envscaler.testing.episodes import part, run, stage

__all__ = ["UserConformance"]

_ENOUGH = 100  # messages that lead nowhere


class UserConformance(Conformance):
    """Subclass it with ``make``. ``settings`` are given to it; ``models`` opens language models for one that asks any, and
    without them ``answers = False`` leaves out the tests in which it speaks. ``deterministic = False``: the same seed may say
    something else."""

    make: Callable[[Part], UserSimulator]
    settings: ClassVar[Mapping[str, Any]] = {}
    models: ClassVar[Callable[[], Any] | None] = None
    answers: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True

    def _part(self, **more: Any) -> Part:
        cls = type(self)
        given: dict[str, Any] = {"settings": dict(self.settings), "tools": stage().user_tools, **more}
        return part("conversation", models=cls.__dict__.get("models", cls.models), **given)

    def _heard(self, *messages: str) -> list[Said]:
        """What one user says: first, and to each of the messages."""
        if not self.answers:
            not_run("asks a model")

        async def talk() -> list[Said]:
            user = self.make(self._part())
            said: list[Any] = [await user.open()]
            for message in messages:
                said.append(await user.answer(message))
                if said[-1].ends:
                    break
            return said

        heard = run(talk())
        for one in heard:
            want(isinstance(one, Said), f"a user must say a Said, not {type(one).__name__}")
            text: object = one.text
            want(isinstance(text, str), f"what a user says must be text, not {type(text).__name__}")
        return heard

    def test_speaks_first(self) -> None:
        """The first message is not empty and ends nothing."""
        (first,) = self._heard()
        want(first.text.strip(), "the first message is empty")
        want(not first.ends, "the conversation is over before it began")

    def test_answers(self) -> None:
        """A message is answered: by a text, or by the end."""
        for one in self._heard("Which account does it come from?", "What is your shoe size?"):
            want(one.text.strip() or one.ends, "an answer is empty, and does not end the conversation")

    def test_does_not_talk_for_ever(self) -> None:
        """A conversation that leads nowhere is left at some time."""
        want(self._heard(*["Hm."] * _ENOUGH)[-1].ends, f"it still talks after {_ENOUGH} messages that lead nowhere")

    def test_says_the_same_twice(self) -> None:
        """Two of the same part say the same."""
        if not self.deterministic:
            not_run("is not deterministic")
        asked = ("Which account does it come from?", "All done.")
        first, second = ([one.text for one in self._heard(*asked)] for _ in range(2))
        want(first == second, "two users of the same part say different things")

    def test_refuses_unknown_settings(self) -> None:
        """A setting that it does not know is a UsageError."""
        more = {**self.settings, "no_such_setting": 1}
        refused("a user with an unknown setting", self.make, self._part(settings=more))

"""Properties as checkers: those that look at nothing but what a call event holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from envscaler.assess.properties import PROPERTIES, Property
from envscaler.errors import UsageError
from envscaler.plugin.records import CallEvent, EndEvent, Judgement

__all__ = ["PropertyChecker", "factories"]


class PropertyChecker:
    """Fails a call that breaks the property."""

    def __init__(self, prop: Property, settings: Mapping[str, Any]) -> None:
        if settings:
            raise UsageError(f"the checker {prop.name} has no settings, so none is called {next(iter(settings))!r}")
        self._run = prop.run

    def on_call(self, event: CallEvent) -> Judgement | None:
        """Pass, or fail with what is wrong."""
        breach = self._run(event)
        return Judgement("pass") if breach is None else Judgement("fail", " ".join(breach.title.split()))

    def on_end(self, event: EndEvent) -> Judgement | None:
        """Nothing: calls are judged one by one."""
        return None


def factories() -> dict[str, tuple[str, Callable[[Mapping[str, Any]], PropertyChecker]]]:
    """Summary and factory of each checker by name."""
    return {p.name: (p.about, partial(PropertyChecker, p)) for p in PROPERTIES.values() if p.checker}

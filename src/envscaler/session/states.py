"""Initial states for a spec as files: made from the spec alone, or from a person's file, and described in figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.errors import UsageError
from envscaler.session.files import StrPath, read_json, reason, replace_file
from envscaler.session.specs import sound
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.scenario.data import DataSettings

__all__ = ["MadeState", "make_state"]


@dataclass(frozen=True, slots=True)
class MadeState:
    """``summary``: see `scenario.data.summary`; ``leaks``: texts that give keys away, as lines."""

    state: Mapping[str, Any]
    summary: Mapping[str, Any]
    leaks: tuple[str, ...]


def make_state(
    spec: StrPath,
    settings: DataSettings | None = None,
    *,
    seed: int = 0,
    start: StrPath | None = None,
    output: StrPath | None = None,
) -> MadeState:
    """A state that the spec allows, written to ``output`` as JSON where one is named. ``start``: a file with the state to
    begin with instead of the spec's own.

    Raises SpecError, StateError for a ``start`` that is not allowed, UsageError for settings without a place.
    """
    from envscaler.scenario.data import allowed, leaks, summary
    from envscaler.scenario.data import make_state as made
    from envscaler.scenario.world import World

    world = World.of(sound(spec), template_folders())
    begin = None if start is None else allowed(world, read_json(Path(start)), str(start))
    state = made(world, settings, seed, begin)
    if output is not None:
        try:
            replace_file(Path(output), json.dumps(state, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise UsageError(f"{output}: {reason(error)}") from None
    return MadeState(state, summary(world, state), tuple(map(str, leaks(world, state))))

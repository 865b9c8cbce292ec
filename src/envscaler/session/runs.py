"""The verbs about runs that were played: what they hold, and one trajectory to read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.session.files import StrPath
from envscaler.session.rollouts import MANIFEST

if TYPE_CHECKING:
    from envscaler.rollout.store import Row, Select, Totals
    from envscaler.scenario.model import Scenario

__all__ = ["list_run", "show_trajectory"]


def list_run(run: StrPath, select: Select | None = None) -> tuple[list[Row], Totals]:
    """The trajectories of a run that are meant, in order of their ids, and sums over the whole run. Raises UsageError."""
    from envscaler.rollout.store import Trajectories

    with Trajectories.open(Path(run)) as kept:
        return kept.rows(select), kept.totals()


def show_trajectory(run: StrPath, name: str, *, whole: bool = False) -> Iterator[str]:
    """The lines of a readable transcript of the trajectory whose id is, or begins with, ``name``. Raises UsageError."""
    from envscaler.rollout.shown import transcript
    from envscaler.rollout.store import Trajectories

    with Trajectories.open(Path(run)) as kept:
        one = kept.one(name)
    return transcript(one, _scenario(Path(run), one.scenario), whole=whole)


def _scenario(run: Path, name: str) -> Scenario | None:
    """The scenario that was played, where its file is still there; it only gives goals their words."""
    from envscaler.errors import EnvscalerError
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.reading import read_scenarios

    try:
        manifest: Any = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
        for one in read_scenarios(manifest["scenarios"]):
            if isinstance(one, Scenario) and (one.id or one.named().id) == name:
                return one
    except (OSError, ValueError, KeyError, TypeError, EnvscalerError):
        return None
    return None

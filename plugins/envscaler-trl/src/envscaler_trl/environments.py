"""Scenarios as TRL trains on them: a class for each spec, and the rows of a data set."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler import Episodes, UsageError
from envscaler_trl.environment import SpecEnvironment
from envscaler_trl.methods import RESERVED, free_name, method_of

if TYPE_CHECKING:
    from datasets import Dataset

    from envscaler.llm.messages import Tool
    from envscaler.rollout.episode import Episode, Seen
    from envscaler.scenario.model import Scenario

__all__ = ["Environments", "environment_class"]

_TEXTS: Final = 1024  # scenarios of Parquet files whose text is kept


class Environments:
    """Classes for `environment_factory`, and rows for `train_dataset`.

        environments = Environments("tasks.jsonl")
        GRPOTrainer(model, environment_factory=environments.classes, train_dataset=environments.dataset())

    ``scenarios``: files of scenarios; Parquet files of the `rl-parquet` export, or folders with such. ``names``: specs that
    get a class besides those. ``specs``, ``any_hash``, ``policy``, ``mode`` are those of `envscaler.Episodes`. ``user``:
    `facts` for conversations. ``steps``: calls in an episode; those of one reply count one by one, since TRL does not say
    which came together. ``seconds``: from `reset` to `get_reward`. Raises SpecError, UsageError.
    """

    def __init__(
        self,
        scenarios: str | Path | Sequence[str | Path] = (),
        *,
        names: Sequence[str] = (),
        specs: str | Path | None = None,
        any_hash: bool = False,
        policy: str | None = None,
        user: str | None = None,
        steps: int = 200,
        seconds: float = 86_400.0,
        mode: str = "guarded",
    ) -> None:
        raise NotImplementedError


def environment_class(spec: str, **options: Any) -> type[SpecEnvironment]:
    """The class of one spec, whose rows bring their `scenario` as JSON text. ``options``: of `Environments`."""
    raise NotImplementedError

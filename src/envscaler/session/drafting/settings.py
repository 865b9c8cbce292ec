"""What a run of drafting is told: remembered in its folder, so that a stage run by itself does as the whole would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from envscaler.errors import UsageError

if TYPE_CHECKING:
    from envscaler.session.drafting.folder import WorkFolder

__all__ = ["Settings", "settings_of"]

_FILE: Final = "settings.json"


class Settings(BaseModel):
    """``output``: where finished specs go, seen from the folder. ``source``: who reads the tasks, with options; ``limit``:
    tasks that are read at most. ``count``, ``near``, ``least_…``, ``clusters``, ``embedder`` and ``seed`` select themes;
    ``collections``, ``fields``, ``rules``, ``tools`` and ``reading`` are the size of a plan; ``batch`` and ``tries`` write
    it. ``repairs``: rounds of repair, ``calls``: of the fuzzer. ``sample``: another number asks models anew.
    ``keep_unsound``: specs that pass the check go to the finished ones, whatever was found.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    output: str | None = None
    source: str | None = None
    source_options: Mapping[str, str] = {}
    limit: int | None = Field(default=None, ge=1)
    count: int | None = Field(default=None, ge=1)
    near: float | None = Field(default=None, gt=0, le=1)
    least_usefulness: int = Field(default=5, ge=1, le=10)
    least_modelability: int = Field(default=5, ge=1, le=10)
    clusters: int | None = Field(default=None, ge=1)
    embedder: str = "words"
    seed: int = 0
    collections: int = Field(default=4, ge=1, le=20)
    fields: int = Field(default=21, ge=1, le=200)
    rules: int = Field(default=5, ge=0, le=50)
    tools: int = Field(default=18, ge=1, le=100)
    reading: float = Field(default=0.55, ge=0, le=1)
    batch: int = Field(default=6, ge=1)
    tries: int = Field(default=3, ge=1)
    repairs: int = Field(default=4, ge=0)
    calls: int = Field(default=2000, ge=0)
    sample: int = Field(default=0, ge=0)
    keep_unsound: bool = False


def settings_of(folder: WorkFolder, said: Mapping[str, Any], *, begin: bool = False) -> Settings:
    """What is said now, over what was said before in this folder; remembered from now on.

    ``begin``: a whole run says all, nothing of an earlier one holds. Raises UsageError for a value that cannot be.
    """
    before = Settings() if begin else folder.record(_FILE, Settings) or Settings()
    given = {name: value for name, value in said.items() if value is not None}
    try:
        made = Settings.model_validate({**before.model_dump(), **given})
    except ValidationError as error:
        first: Any = error.errors(include_url=False)[0]
        name = "-".join(map(str, first["loc"])).replace("_", "-")
        raise UsageError(f"--{name}: {first['msg'][0].lower()}{first['msg'][1:]}, not {first['input']}") from None
    folder.note(_FILE, made.model_dump_json(indent=2) + "\n")
    return made

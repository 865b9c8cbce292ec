"""The verb that has a spec mended by a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.errors import SpecError, UsageError
from envscaler.session.files import StrPath, reason, replace_file
from envscaler.session.packs import spec_path
from envscaler.session.specs import checked_file
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.assess.repair import Attack, Repaired, RepairRound
    from envscaler.llm import Models
    from envscaler.plugin.records import Finding, Subject
    from envscaler.session.llm import LlmOptions

__all__ = ["RepairOptions", "repair"]


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """``rounds``: how often the model is asked at most. ``calls`` and ``seed`` are the fuzzer's, 0 calls: it is not asked.
    ``assessors``: further ones, whose errors and warnings are mended too, with their ``settings`` by name."""

    rounds: int = 10
    calls: int = 2000
    seed: int = 0
    assessors: Sequence[str] = ()
    settings: Any = None


def repair(
    spec: StrPath,
    options: RepairOptions | None = None,
    *,
    llm: LlmOptions | None = None,
    run: StrPath | None = None,
    write: bool = False,
    tell: Callable[[RepairRound], None] | None = None,
    remark: Callable[[str], None] | None = None,
) -> Repaired:
    """Mend a spec by the model of the role `coder`, and give both texts with what is wrong before and after.

    ``write`` replaces the file by what is better. ``run``: a folder for the account of tokens. ``remark`` hears what is to be
    said of the models once. Raises UsageError for a file that cannot be read, SpecError for one that is no text. When the
    model cannot be asked any more, the result says so, and holds what was better by then.
    """
    from envscaler.assess.repair import RepairSettings
    from envscaler.assess.repair import repair as mend
    from envscaler.session.llm import LlmOptions, open_models

    options = options or RepairOptions()
    path = spec_path(spec)
    if write and not Path(spec).exists():
        raise UsageError(f"{spec} is an installed spec, which is not written to; copy {path} and repair the copy")
    text, settings = _text(path), RepairSettings(rounds=options.rounds)
    with open_models(llm or LlmOptions(), run=run, tell=remark) as models:
        done = mend(
            text, str(path), models, settings, attacks=_attacks(options, models), templates=template_folders(), tell=tell
        )  # fmt: skip
    if write and done.changed:
        _write(path, done.after)
    return done


def _text(path: Path) -> str:
    """The file's text as it is, line ends and byte order mark included."""
    checked = checked_file(path)
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise SpecError(checked.diagnostics) from None


def _attacks(options: RepairOptions, models: Models) -> list[Attack]:
    from envscaler.assess import FuzzSettings
    from envscaler.assess.repair import fuzzed

    attacks = [fuzzed(FuzzSettings(seed=options.seed, calls=options.calls))] if options.calls else []
    return [*attacks, *(_assessor(name, (options.settings or {}).get(name, {}), models) for name in options.assessors)]


def _assessor(name: str, settings: dict[str, Any], models: Models) -> Attack:
    """What an assessor finds, notes left out; nothing when it is content."""
    from dataclasses import replace

    from envscaler.plugin.records import Means
    from envscaler.session.plugins import open_plugins

    assessor = open_plugins().assessor(name)
    means = Means(models=lambda: models, templates=template_folders())

    def attack(subject: Subject) -> list[Finding]:
        verdict = assessor.assess(replace(subject, means=means), settings)
        return [] if verdict.sound else [f for f in verdict.findings if f.severity != "note"]

    return attack


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path, text)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None

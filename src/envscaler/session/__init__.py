"""The verbs of the pipeline, as plain functions over paths; nothing here prints."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envscaler.session.assessing import Assessed, assess, write_report
    from envscaler.session.comparing import Difference, diff
    from envscaler.session.counting import Counted, stats
    from envscaler.session.environments import Described, call, describe, load
    from envscaler.session.files import spec_files
    from envscaler.session.mutating import mutate, write_mutation_page
    from envscaler.session.pages import Paged, docs
    from envscaler.session.playing import play
    from envscaler.session.repairing import RepairOptions, repair
    from envscaler.session.replaying import PortReport, replay, replay_folder
    from envscaler.session.scoring import Scored, score, score_run
    from envscaler.session.specs import (
        CheckReport,
        Compiled,
        Formatted,
        check,
        compile,  # noqa: A004
        fmt,
        grammar_card,
        json_schema,
        new,
    )

# Module -> what it offers here. Nothing is imported before it is asked for, so that commands start at once.
_OFFERED = {
    "assessing": "Assessed assess write_report",
    "comparing": "Difference diff",
    "counting": "Counted stats",
    "environments": "Described call describe load",
    "files": "spec_files",
    "mutating": "mutate write_mutation_page",
    "pages": "Paged docs",
    "playing": "play",
    "repairing": "RepairOptions repair",
    "replaying": "PortReport replay replay_folder",
    "scoring": "Scored score score_run",
    "specs": "CheckReport Compiled Formatted check compile fmt grammar_card json_schema new",
}
_PUBLIC = {name: module for module, names in _OFFERED.items() for name in names.split()}

__all__ = [
    "Assessed", "CheckReport", "Compiled", "Counted", "Described", "Difference", "Formatted", "Paged", "PortReport",
    "RepairOptions", "Scored", "assess", "call", "check", "compile", "describe", "diff", "docs", "fmt", "grammar_card",
    "json_schema", "load", "mutate", "new", "play", "repair", "replay", "replay_folder", "score", "score_run", "spec_files",
    "stats", "write_mutation_page", "write_report",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

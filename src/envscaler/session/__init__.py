"""The verbs of the pipeline, as plain functions over paths; nothing here prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

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

__all__ = [
    "Assessed", "CheckReport", "Compiled", "Counted", "Described", "Difference", "Formatted", "Paged", "PortReport",
    "RepairOptions", "Scored", "assess", "call", "check", "compile", "describe", "diff", "docs", "fmt", "grammar_card",
    "json_schema", "load", "mutate", "new", "play", "repair", "replay", "replay_folder", "score", "score_run", "spec_files",
    "stats", "write_mutation_page", "write_report",
]  # fmt: skip

_OFFERED = {
    "envscaler.session.assessing": "Assessed assess write_report",
    "envscaler.session.comparing": "Difference diff",
    "envscaler.session.counting": "Counted stats",
    "envscaler.session.environments": "Described call describe load",
    "envscaler.session.files": "spec_files",
    "envscaler.session.mutating": "mutate write_mutation_page",
    "envscaler.session.pages": "Paged docs",
    "envscaler.session.playing": "play",
    "envscaler.session.repairing": "RepairOptions repair",
    "envscaler.session.replaying": "PortReport replay replay_folder",
    "envscaler.session.scoring": "Scored score score_run",
    "envscaler.session.specs": "CheckReport Compiled Formatted check compile fmt grammar_card json_schema new",
}
__getattr__, __dir__ = public(__name__, _OFFERED)

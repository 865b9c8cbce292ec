"""The verbs of the pipeline, as plain functions over paths; nothing here prints."""

from envscaler.session.environments import Described, call, describe, load, replay
from envscaler.session.files import spec_files
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
    "CheckReport", "Compiled", "Described", "Formatted", "call", "check", "compile", "describe", "fmt", "grammar_card",
    "json_schema", "load", "new", "replay", "spec_files",
]  # fmt: skip

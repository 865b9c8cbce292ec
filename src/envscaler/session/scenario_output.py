"""Where proved scenarios go: a file, its states beside it, and a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler import __version__
from envscaler.errors import UsageError
from envscaler.session.files import reason, replace_file

if TYPE_CHECKING:
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.states import StateStore
    from envscaler.scenario.summary import Summary

__all__ = ["states_of", "store_folder", "write_scenarios"]


def store_folder(target: Path) -> Path:
    """Where the states of a file of scenarios lie."""
    return target.with_suffix(".states")


def states_of(target: Path) -> StateStore:
    """The states of a file of scenarios."""
    from envscaler.scenario.states import StateStore

    return StateStore(store_folder(target))


def write_scenarios(
    target: Path, scenarios: Sequence[Scenario], manifest: Mapping[str, Any], *, as_yaml: bool = False
) -> tuple[Summary, tuple[Path, ...]]:
    """Write scenarios and, beside them, ``manifest`` with the file's hash, versions and a summary; the summary, and all files.

    Raises UsageError when they cannot be written.
    """
    from envscaler.scenario.summary import summary

    counted = summary(scenarios)
    text = _text(scenarios, as_yaml)
    whole = {
        "envscaler": __version__,
        "file": target.name,
        "hash": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "faker": _faker(),
        **manifest,
        "summary": counted.to_json(),
    }
    beside = target.with_suffix(".manifest.json")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text)
        replace_file(beside, json.dumps(whole, indent=2) + "\n")
    except OSError as error:
        raise UsageError(f"{target}: {reason(error)}") from None
    return counted, (target, beside, store_folder(target))


def _text(scenarios: Sequence[Scenario], as_yaml: bool) -> str:
    if as_yaml:
        from envscaler.scenario.yamlform import to_yaml

        return to_yaml(scenarios)
    return "".join(json.dumps(one.to_json(), separators=(",", ":")) + "\n" for one in scenarios)


def _faker() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("faker")
    except PackageNotFoundError:
        return ""

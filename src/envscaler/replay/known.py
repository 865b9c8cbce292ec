"""Differences that are expected, listed in a file with the reason for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from envscaler.errors import ReplayFormatError

__all__ = ["Known", "read_known"]

_FORM = "each entry is {case: id, call: number | state, reason: text}"


@dataclass(frozen=True, slots=True)
class Known:
    """A difference that is expected in call ``call`` of ``case``, or in its state at the end."""

    case: str
    call: int | Literal["state"]
    reason: str

    def __str__(self) -> str:
        return f"{self.case}, {'the final state' if self.call == 'state' else f'call {self.call}'}: {self.reason}"


def read_known(path: Path) -> list[Known]:
    """The entries of a YAML (or JSON) list; raises ReplayFormatError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        rows = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError, RecursionError) as error:
        raise ReplayFormatError(f"{path}: {' '.join(str(error).split())}") from None
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise ReplayFormatError(f"{path}: a list was expected; {_FORM}")
    return list(_entries(path, rows))


def _entries(path: Path, rows: list[Any]) -> Iterator[Known]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping) or set(row) != {"case", "call", "reason"}:
            raise ReplayFormatError(f"{path}: entry {number}: {_FORM}")
        call = row["call"]
        if call != "state" and (isinstance(call, bool) or not isinstance(call, int)):
            raise ReplayFormatError(f"{path}: entry {number}: call is a number from 1, or `state`")
        yield Known(str(row["case"]), call, str(row["reason"]))

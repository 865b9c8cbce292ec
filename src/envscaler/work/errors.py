"""What can go wrong between a run and its journal, one class each; the message is a line that names the file.

WorkError                      1   a run of units could not go on
└── JournalError               1   the journal cannot be used
    ├── JournalVersionError    1   it was written by another version of envscaler
    ├── JournalDamagedError    1   it is no journal, or is damaged
    ├── JournalReadOnlyError   1   it lies where this process may not write
    └── DiskFullError          1   the disk is full; what was finished before is kept
"""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from envscaler.errors import EnvscalerError

__all__ = [
    "DiskFullError",
    "JournalDamagedError",
    "JournalError",
    "JournalReadOnlyError",
    "JournalVersionError",
    "WorkError",
    "of",
]


class WorkError(EnvscalerError):
    """A run of units could not go on; what was finished is kept."""


class JournalError(WorkError):
    """The journal of a run cannot be used."""


class JournalVersionError(JournalError):
    """The journal was written by another version of envscaler."""


class JournalDamagedError(JournalError):
    """The file is no journal, or is damaged."""


class JournalReadOnlyError(JournalError):
    """The journal lies where this process may not write."""


class DiskFullError(JournalError):
    """There is no room to write down what was finished."""


_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_FULL = {errno.ENOSPC, errno.EDQUOT}


def of(path: Path, error: OSError | sqlite3.Error) -> JournalError:
    """The typed error for what the system or SQLite said about ``path``."""
    number, text = getattr(error, "errno", None), str(error)
    if number in _FULL or "disk is full" in text:
        return DiskFullError(f"{path}: the disk is full; make room and run the same again, what was finished is kept")
    if number in _DENIED or "readonly" in text or "unable to open" in text:
        return JournalReadOnlyError(f"{path}: cannot be written here: {text}")
    if "not a database" in text or "malformed" in text:
        return JournalDamagedError(f"{path}: no journal of a run, or a damaged one ({text}); begin in a new folder")
    return JournalError(f"{path}: {text}")

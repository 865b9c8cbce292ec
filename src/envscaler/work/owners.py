"""Who works on a run: a locked file for each process, which the system lets go of whatever ends the process."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # no such locks here: a process that was killed is found out by its heartbeat
    fcntl = None  # type: ignore[assignment]

__all__ = ["Heartbeats", "Presence", "gone"]


class Presence:
    """This process, while it works on a run: a file `ID` in the folder, locked until `leave` or the process's end."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.id = f"{os.getpid()}-{uuid.uuid4().hex[:16]}"
        self._path = folder / self.id
        self._file: IO[bytes] = self._path.open("wb")
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def leave(self) -> None:
        """Take the file away."""
        self._path.unlink(missing_ok=True)
        self._file.close()


def gone(folder: Path, owner: str) -> bool:
    """Whether the owner's process has surely ended: nobody holds its lock any more."""
    if fcntl is None:
        return False
    path = folder / owner
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


class Heartbeats:
    """Tells which owners have stopped beating, by this process's own clock that nobody can set.

    A heartbeat is a number that its owner counts up; times of day of two processes are never compared.
    """

    def __init__(self, lease: float) -> None:
        self._lease = lease
        self._seen: dict[str, tuple[int, float]] = {}

    def stopped(self, owner: str, beat: int) -> bool:
        """Whether ``owner``, now at ``beat``, was at it a lease ago already."""
        now = time.monotonic()
        before = self._seen.get(owner)
        if before is None or before[0] != beat:
            self._seen[owner] = (beat, now)
            return False
        return now - before[1] > self._lease

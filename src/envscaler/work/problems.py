"""What a failed unit leaves behind: the error as plain data, good for a journal and for another process."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Problem"]

_SHOWN = 4000  # characters of a message
_FRAMES = 12


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a unit failed: the exception's class, its message, and where it was raised, innermost frame last."""

    error: str
    message: str
    frames: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: BaseException) -> Problem:
        """The problem that an exception is; nothing in it can make this fail."""
        try:
            message = str(error)
        except Exception:
            message = ""
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        return cls(
            type(error).__name__,
            message[:_SHOWN],
            tuple(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames),
        )

    def to_json(self) -> dict[str, Any]:
        return {"error": self.error, "message": self.message, "frames": list(self.frames)}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Problem:
        return cls(plain["error"], plain["message"], tuple(plain["frames"]))

    def __str__(self) -> str:
        text = " ".join(self.message.split())
        return f"{self.error}: {text}" if text else self.error

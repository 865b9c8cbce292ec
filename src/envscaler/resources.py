"""Where the shipped templates and specs lie: inside the package in a wheel, beside it in a source checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

__all__ = ["folder"]

_PACKAGE = Path(__file__).resolve().parent


def folder(kind: Literal["templates", "specs"]) -> Path:
    """The folder of the shipped templates or specs. Raises FileNotFoundError for an install that lost them."""
    for place in (_PACKAGE / f"_{kind}", _PACKAGE.parent.parent / kind):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the {kind} that belong to envscaler are neither in {_PACKAGE} nor beside its source")

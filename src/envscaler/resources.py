"""Where the shipped templates and specs lie: inside the package in a wheel, beside it in a source checkout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

__all__ = ["folder", "template_path"]

_PACKAGE = Path(__file__).resolve().parent


def folder(kind: Literal["templates", "specs"]) -> Path:
    """The folder of the shipped templates or specs. Raises FileNotFoundError for an install that lost them."""
    for place in (_PACKAGE / f"_{kind}", _PACKAGE.parent.parent / kind):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the {kind} that belong to envscaler are neither in {_PACKAGE} nor beside its source")


def template_path(folders: Sequence[str] = ()) -> list[str]:
    """Where every template is looked for, in this order: ``folders`` (a user's or a plugin's), then what ships."""
    return [*folders, str(folder("templates"))]

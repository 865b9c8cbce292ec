"""Finds and renders the Jinja templates: in an installed wheel, in an editable install, and in folders put before them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from envscaler.compiler.layout import fit
from envscaler.compiler.literals import docstring, quoted
from envscaler.errors import EnvscalerError

__all__ = ["environment", "render", "template_folder"]


@lru_cache(maxsize=1)
def template_folder() -> Path:
    """The folder of the shipped templates. Raises EnvscalerError when the installation lacks them."""
    package = Path(__file__).resolve().parents[1]
    candidates = (package / "_templates", package.parents[1] / "templates")
    for folder in candidates:
        if (folder / "module").is_dir():
            return folder
    raise EnvscalerError(f"the templates are missing; looked in {candidates[0]} and {candidates[1]}")


@lru_cache(maxsize=8)
def environment(folders: tuple[str, ...] = ()) -> jinja2.Environment:
    """A Jinja environment over ``folders`` (a user's or a plugin's, first wins) and the shipped templates."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, str(template_folder())]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Python and YAML are written, not HTML; data arrives as literals
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"fit": fit, "docstring": docstring, "quoted": quoted}
    return made


def render(name: str, /, folders: Sequence[str] = (), **values: Any) -> str:
    """The template ``name``, a path below the templates' folder, filled with ``values``."""
    return environment(tuple(folders)).get_template(name).render(**values)

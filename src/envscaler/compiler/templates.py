"""Finds and renders the Jinja templates: in an installed wheel, in an editable install, and in folders put before them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jinja2

from envscaler.compiler.layout import fit
from envscaler.compiler.literals import docstring, quoted
from envscaler.resources import template_path

__all__ = ["environment", "render"]


@lru_cache(maxsize=8)
def environment(folders: tuple[str, ...] = ()) -> jinja2.Environment:
    """A Jinja environment over ``folders`` (a user's or a plugin's, first wins) and the shipped templates."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_path(folders)),
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

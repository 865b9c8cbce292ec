"""Styles: the Jinja templates under `scenarios/styles/`, in a user's folders and among those that ship, by their names."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from envscaler.compiler.templates import environment
from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError
from envscaler.scenario.wording.english import sentence, upper_first

__all__ = ["first_message", "laid_out", "notes", "styles"]

_FOLDER: Final = "scenarios/styles/"
_END: Final = ".j2"
_OPENING: Final = "scenarios/opening.j2"
_NOTES: Final = "scenarios/notes.j2"


@lru_cache(maxsize=8)
def styles(folders: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of all styles, sorted: `brief`, `customer`, … A user's folder may add some and replace any."""
    names = environment(folders).list_templates(filter_func=lambda n: n.startswith(_FOLDER) and n.endswith(_END))
    return tuple(sorted(name.removeprefix(_FOLDER).removesuffix(_END) for name in names))


def laid_out(style: str, folders: Sequence[str], rng: random.Random, **values: Any) -> str:
    """A text in a style. Besides ``values`` a template has `pick(…)`, one of its arguments drawn by ``rng``, and `sentence`
    and `capital` for a clause. Raises UsageError for a style that is not there."""
    known = styles(tuple(folders))
    if style not in known:
        near = nearest(style, known)
        meant = f"; did you mean {near}?" if near else f"; there are {one_of(known)}"
        raise UsageError(f"there is no style {style}{meant}")
    return _filled(f"{_FOLDER}{style}{_END}", folders, rng, values)


def first_message(folders: Sequence[str], rng: random.Random, **values: Any) -> str:
    """What is said first in a conversation, by the template `scenarios/opening.j2`."""
    return _filled(_OPENING, folders, rng, values)


def notes(folders: Sequence[str], rng: random.Random, **values: Any) -> str:
    """A paragraph of no account, by the template `scenarios/notes.j2`."""
    return _filled(_NOTES, folders, rng, values)


def _filled(name: str, folders: Sequence[str], rng: random.Random, values: Mapping[str, Any]) -> str:
    template = environment(tuple(folders)).get_template(name)
    made = template.render(pick=lambda *options: rng.choice(options), sentence=sentence, capital=upper_first, **values)
    return made.strip()

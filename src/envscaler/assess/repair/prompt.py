"""What the drafting model is told: the problems as a person reads them, the lines that they are about, the language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envscaler.assess.repair.parts import parts
from envscaler.assess.repair.standing import STAGES, Standing
from envscaler.llm import Message

__all__ = ["messages"]

_WORD = re.compile(r"[\w-]+")
_WHOLE = 150  # lines of a spec that is shown whole
_AROUND = 6  # lines before and after a problem that lies in no part of its own
_LONGEST = 80  # lines of a part
_MOST = 320  # lines in all


def messages(
    path: str, standing: Standing, most: int, refused: Sequence[str], templates: tuple[str, ...]
) -> list[Message]:
    """The question to the model of the role `coder`. ``refused``: why its last edits were not kept."""
    from envscaler.compiler.templates import render
    from envscaler.spec.card import card

    system = render("prompts/repair/system.j2", templates, card=card())
    user = render(
        "prompts/repair/user.j2",
        templates,
        path=path,
        stage=STAGES[standing.stage],
        problems=standing.shown(most),
        lines=_numbered(standing, path, most),
        refused=refused,
    )
    return [Message("system", system.strip()), Message("user", user.strip())]


def _numbered(standing: Standing, path: str, most: int) -> str:
    """The lines that the problems are about, with their numbers; `…` where some are left out."""
    lines = standing.text.split("\n")
    wanted = range(1, len(lines) + 1) if len(lines) <= _WHOLE else sorted(_wanted(standing, path, most))[:_MOST]
    shown, last = [], 0
    for number in wanted:
        if number != last + 1:
            shown.append("    …")
        shown.append(f"{number:5}| {lines[number - 1].rstrip()}")
        last = number
    if last < len(lines):
        shown.append("    …")
    return "\n".join(shown)


def _wanted(standing: Standing, path: str, most: int) -> set[int]:
    found = parts(standing.text, path)
    count = standing.text.count("\n") + 1
    wanted: set[int] = set()
    for problem in standing.problems[:most]:
        places = [problem.span.line, *(span.line for span, _ in problem.related)]
        if places == [1]:  # no place of its own: what it names
            words = set(_WORD.findall(problem.title))
            places = [first for first, _, name in found if name in words]
        for line in places:
            around = [(a, b) for a, b, _ in found if a <= line <= b and b - a < _LONGEST]
            first, last = around[-1] if around else (line - _AROUND, line + _AROUND)
            wanted.update(range(max(1, first), min(count, last) + 1))
    return wanted

"""Facts laid out as HTML by the templates; every text is escaped for HTML, and what a reader could not see is written out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import jinja2
from markupsafe import Markup

from envscaler import __version__
from envscaler.diagnostics import printable
from envscaler.pages.diagram import HEAD, ROW, draw_states
from envscaler.pages.facts import Facts, ToolFacts
from envscaler.pages.machine import draw_moves
from envscaler.resources import template_path
from envscaler.spec.checked import Checked
from envscaler.spec.types import MISSING

__all__ = ["Entry", "index_entry", "index_page", "spec_page"]

_WIDE = 88


@dataclass(frozen=True, slots=True)
class Entry:
    """What an index says of a spec that has a page. ``href`` leads to it; ``introduction`` is its first paragraph."""

    href: str
    name: str
    version: str
    title: str
    introduction: str
    tools: int
    states: int
    rules: int


def index_entry(checked: Checked, href: str) -> Entry:
    """The line of an index for a spec that passed the check."""
    facts, spec = Facts(checked), checked.spec
    assert spec is not None
    introduction = next(iter(facts.introduction), "")
    title = facts.prose(spec.title)
    return Entry(href, spec.name, spec.version, title, introduction, len(spec.tools), len(spec.states), len(spec.rules))


def spec_page(checked: Checked, folders: Sequence[str] = ()) -> str:
    """The page of a spec that passed the check, one HTML document that needs nothing else.

    ``folders``: of templates, before the shipped ones.
    """
    facts = Facts(checked)
    spec = facts.spec
    machines = {name: drawn for name, rule in spec.rules.items() if (drawn := draw_moves(spec, rule)) is not None}
    groups = [
        ("look-up", "Tools that look things up", facts.tools_of("agent", "read")),
        ("change", "Tools that change things", facts.tools_of("agent", "write")),
        ("user", "The user's own tools", [*facts.tools_of("user", "read"), *facts.tools_of("user", "write")]),
    ]
    return (
        environment(tuple(folders))
        .get_template("pages/spec.html.j2")
        .render(
            facts=facts,
            spec=spec,
            file=PurePath(spec.path.replace("\\", "/")).name,
            version=__version__,
            drawing=draw_states(spec),
            machines=machines,
            groups=[g for g in groups if g[2]],
            row_height=ROW,
            head_height=HEAD,
        )
    )


def index_page(title: str, entries: Sequence[Entry], folders: Sequence[str] = ()) -> str:
    """A page that leads to those of several specs. ``folders``: of templates, before the shipped ones."""
    template = environment(tuple(folders)).get_template("pages/index.html.j2")
    return template.render(title=title, entries=entries, version=__version__)


@lru_cache(maxsize=8)
def environment(folders: tuple[str, ...]) -> jinja2.Environment:
    """What renders pages: all that is put into them is escaped. ``folders``: of templates, before the shipped ones."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_path(folders)),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    made.filters |= {
        "json": _json,
        "cell": _cell,
        "code": _code,
        "quote": _quote,
        "count": _count,
        "breakable": _breakable,
    }
    made.globals |= {"tool_marks": _tool_marks}
    return made


def _visible(value: Any) -> Any:
    """Control characters and the like, as they would be shown in a terminal."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _json(value: Any) -> str:
    """JSON for people: on one line when it is short."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _WIDE else json.dumps(value, ensure_ascii=False, indent=2)


def _cell(value: Any) -> str:
    """A value in a table: text without quotes, nothing for what is absent, else JSON on one line."""
    if value is MISSING:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_INSERTED = re.compile(r"(\{[^{}]*\})")


def _quote(text: str) -> Markup:
    """A message; what is put in when the call is made is marked."""
    pieces = _INSERTED.split(printable(text))
    return Markup("").join(Markup("<var>{}</var>").format(p[1:-1]) if i % 2 else p for i, p in enumerate(pieces))


_WORD = re.compile(r"(#[^\n]*)|(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|\b(require|fail)\b|\b"
                   r"(and|as|break|continue|del|elif|else|for|if|in|is|lambda|not|or|return|None|True|False)\b")  # fmt: skip
_CLASSES = ("c", "s", "f", "k")


def _code(text: str) -> Markup:
    """Logic with its comments, texts, refusals and keywords in colour."""
    made, at = Markup(""), 0
    text = printable(text)
    for match in _WORD.finditer(text):
        kind = next(c for c, group in zip(_CLASSES, match.groups(), strict=True) if group is not None)
        made += Markup('{}<span class="{}">{}</span>').format(text[at : match.start()], kind, match[0])
        at = match.end()
    return made + text[at:]


def _breakable(name: str) -> Markup:
    """A name that may go on in the next line after each underscore."""
    return Markup("_<wbr>").join(printable(name).split("_"))


def _count(number: int, word: str, plural: str = "") -> str:
    return f"{number} {word if number == 1 else plural or word + 's'}"


def _tool_marks(tool: ToolFacts) -> list[str]:
    marks: list[str] = [tool.kind]
    if tool.actor == "user":
        marks.append("user")
    if tool.draws:
        marks.append("random")
    return marks

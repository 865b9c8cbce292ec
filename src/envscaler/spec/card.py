"""The grammar card: one page with the forms, built-ins and pitfalls, made from the tables of the language itself."""

from __future__ import annotations

import builtins
import textwrap
from collections.abc import Iterable
from typing import Final

from envscaler.spec.forms import FORMS, SCALARS, FormKey
from envscaler.spec.language import BUILTINS, METHODS, STATEMENTS, Builtin, Method

__all__ = ["card"]

_PITFALLS = (
    "Logic stands in literal blocks: `do: |` and `holds: |`.",
    'Conditions are bool: write `x is not None`, `len(xs) > 0`, `text != ""`.',
    '`c.get(key)` may be None: `x = c.get(key) or fail("…")`; `c[key]` fails the call when the key is missing.',
    "Going through a collection gives keys; records are in `.values()`, both in `.items()`.",
    "A local bound to a record is a view: writing to it changes the state.",
    "Lists of records, results of helpers and parameters are copies: write through `c[key]`.",
    "Do not add to or remove from what is being gone through: go through `list(c)`.",
    "Records are compared by key, never with `==`.",
    "Money adds to money; a number becomes money by `money(x)`; money times a number is money, half a cent up.",
    "Dates move by `days(n)`; the difference of two dates is a duration: `(a - b) // days(1)`.",
    "A failed call changes nothing; the first failing require decides the message.",
    "Read tools write nothing. No recursion, no while, no import, no try, no names with a leading underscore.",
)

_TYPES = (
    "`T?`, `{ref: c}`, `{list: T}`, `{dict: T}`, `{enum: […]}`, `{const: v}`, `{union: […], tag: f}`, `{partial: T}`"
)
_EXPRESSIONS = (
    "literals, names, `x.field`, `c[key]`, `xs[i]`, `xs[a:b]`, f-strings, `a if c else b`",
    "comparison, `in`, `and or not` on bools, `+ - * / // % **`",
    "list and dict comprehensions, generator arguments; `lambda` only as a sort key",
)


_OWNERS: Final[dict[str, type]] = {"str": str, "list": list, "dict": dict}


def card(*, brief: bool = False) -> str:
    """The card as Markdown, at most a page. ``brief``: of what Python has too, the names only."""
    sections = [
        "# The spec language on one page",
        _forms(brief),
        "## Statements\n" + "\n".join(f"- `{form}` {what}" for form, what in STATEMENTS),
        "## Expressions\n" + "\n".join(f"- {e}" for e in _EXPRESSIONS),
        "## Built-ins\n" + (_brief_rows() if brief else _rows(BUILTINS.values())),
        "## Methods\n" + _methods(brief),
        "## Pitfalls\n" + "\n".join(f"- {p}" for p in _PITFALLS),
    ]
    return "\n\n".join(sections) + "\n"


def _forms(brief: bool) -> str:
    shown = {name: f for name, f in FORMS.items() if not brief or name not in ("spec", "file")}
    forms = [f"- **{f.what}**: " + ", ".join(_key(k) for k in f.keys) for f in shown.values()]
    if brief:
        forms[list(shown).index("param")] = _param()
    types = ", ".join(f"`{name}`" for name in SCALARS)
    return "\n".join(["## Forms", *forms, f"- **types**: {types}, {_TYPES}, a declared name"])


def _param() -> str:
    """The keys of a parameter by those of a field."""
    field, param = FORMS["field"], FORMS["param"]
    without = " ".join(_key(k) for k in field.keys if k.key not in param.names)
    own = " ".join(_key(k) for k in param.keys if k.key not in field.names)
    return f"- **{param.what}**: as {field.what}, without {without}, with {own}"


def _key(key: FormKey) -> str:
    return f"`{key.key}`" + ("*" if key.required else "")


def _rows(entries: Iterable[Builtin]) -> str:
    return "\n".join(f"- `{e.signature}` {e.doc}" for e in entries)


def _brief_rows() -> str:
    known = [f"`{name}`" for name in BUILTINS if hasattr(builtins, name)]
    others = [b for name, b in BUILTINS.items() if not hasattr(builtins, name)]
    return f"- as in Python: {' '.join(known)}; of nothing, `min` and `max` fail the call\n{_rows(others)}"


def _methods(brief: bool) -> str:
    lines = []
    for owner, what in (("str", "text"), ("list", "lists"), ("dict", "dicts"), ("collection", ""), ("struct", "")):
        found = [m for m in METHODS.values() if m.owner == owner]
        if owner == "str" or (brief and owner in _OWNERS):
            lines.append(f"- {what}: " + _names(found) + ", as in Python")
        else:
            lines += [f"- `{m.signature}` {m.doc}" for m in found]
    return "\n".join(lines)


def _names(methods: Iterable[Method]) -> str:
    return textwrap.fill(" ".join(f"`{m.name}`" for m in methods), 110, subsequent_indent="  ")

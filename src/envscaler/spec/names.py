"""Which names a spec may give, and what to call a thing whose name it may not."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from envscaler.spec.forms import NAME_KINDS
from envscaler.spec.language import RESERVED_NAMES
from envscaler.spec.report import Report, short
from envscaler.spec.yamltree import Entry, Mapping, Scalar

__all__ = [
    "MAX_NAME", "OUTSIDE", "RESERVED_TOOLS", "check_name", "check_outside", "is_name", "named_entries", "proposal",
    "usable_name",
]  # fmt: skip

MAX_NAME: Final = 64
OUTSIDE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")

# names that trainers and servers give to things of their own beside the tools
RESERVED_TOOLS: Final = frozenset(
    [
        "reset",
        "step",
        "state",
        "close",
        "get_reward",
        "verify",
        "seed_session",
        "close_session",
        "aggregate_metrics",
        "mcp",
        "submit",
    ]
)

_PATTERNS: Final = {
    "lower": re.compile(r"[a-z][a-z0-9_]*\Z"),
    "tool": re.compile(r"[a-z][A-Za-z0-9_]*\Z"),
    "type": re.compile(r"[A-Z][A-Za-z0-9]*\Z"),
    "constant": re.compile(r"[A-Z][A-Z0-9_]*\Z"),
}
_LETTERS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "æ": "ae", "ø": "o", "ł": "l"}
)


def is_name(text: str, kind: str) -> bool:
    """Whether ``text`` is a well-formed name of the kind `lower`, `tool`, `type` or `constant`, and no Python keyword."""
    return len(text) <= MAX_NAME and _PATTERNS[kind].match(text) is not None and not keyword.iskeyword(text)


def check_name(
    key: Scalar, kind: str, what: str, report: Report, *, reserved: Collection[str] = RESERVED_NAMES
) -> bool:
    """Whether the name can be used; else a diagnostic. ``what`` is how the message calls the thing: `a tool`.

    ``reserved``: names of the language that it may not hide.
    """
    name = key.text
    if key.style == "broken":
        return False
    if not is_name(name, kind):
        report.error(
            "bad-name",
            key.span,
            f"{short(name)} cannot be the name of {what}",
            _why(name, kind),
            _fix(name, kind, what),
        )
        return False
    if name in reserved:
        report.error(
            "reserved-name",
            key.span,
            f"{name!r} is a built-in name of the language",
            f"the name of {what} may not hide it",
            f"{name}_ would do",
        )
        return False
    return True


def usable_name(
    key: Scalar, kind: str, what: str, report: Report, *, reserved: Collection[str] = RESERVED_NAMES
) -> Scalar | None:
    """The name, or after its report the well-formed one that it stands for, so that its uses are not reported too."""
    if check_name(key, kind, what, report, reserved=reserved):
        return key
    better = None if key.style == "broken" or is_name(key.text, kind) else proposal(key.text, kind)
    return None if better is None or better in reserved else replace(key, text=better)


def named_entries(
    mapping: Mapping | None, kind: str, what: str, report: Report, *, reserved: Collection[str] = RESERVED_NAMES
) -> Iterator[tuple[str, Entry]]:
    """The entries of a mapping under usable names; ``what`` is how a message calls one: `a tool`."""
    entries = mapping.entries if mapping else {}
    for name, entry in entries.items():
        key = usable_name(entry.key, kind, what, report, reserved=reserved)
        if key is not None and (key.text == name or key.text not in entries):
            yield key.text, Entry(key, entry.value)


def _why(name: str, kind: str) -> str:
    if keyword.iskeyword(name):
        return f"{name} is a keyword of Python"
    if len(name) > MAX_NAME:
        return f"a name has at most {MAX_NAME} characters, this one {len(name)}"
    if name.startswith("_"):
        return "names beginning with _ belong to generated code"
    return f"expected {NAME_KINDS[kind]}"


def _fix(name: str, kind: str, what: str) -> str:
    better = proposal(name, kind)
    if better is None:
        return ""
    if what in ("a parameter", "a field") and OUTSIDE.match(name):
        return f"call it {better} and give its outside name beside it: `json: {name}`"
    return f"{better} would do"


def proposal(name: str, kind: str) -> str | None:
    """A well-formed name near ``name``, or None."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", name[:MAX_NAME]).translate(_LETTERS))
    words = re.findall(r"[A-Z]*[a-z0-9]+|[A-Z]+", plain.encode("ascii", "ignore").decode().replace("-", " "))
    if not words:
        return None
    if kind == "type":
        better = "".join(w[:1].upper() + w[1:] for w in words)
    else:
        better = "_".join(words).upper() if kind == "constant" else "_".join(words).lower()
    if better[0].isdigit():
        better = "".join(({"type": "N", "constant": "N_"}.get(kind, "n_"), better))
    if keyword.iskeyword(better):
        better += "_"
    return better if is_name(better, kind) else None


def check_outside(node: Scalar, what: str, report: Report, *, strict: bool) -> bool:
    """Whether text can be an outside name: of a parameter in every provider's set (``strict``), else any short text."""
    name = node.text
    if strict and not OUTSIDE.match(name):
        plain = unicodedata.normalize("NFKD", name.translate(_LETTERS)).encode("ascii", "ignore").decode()
        better = re.sub(r"[^A-Za-z0-9_.-]+", "_", plain)[:MAX_NAME].strip("_")
        report.error(
            "bad-outside-name",
            node.span,
            f"{short(name)} cannot be the outside name of {what}",
            "providers accept 1 to 64 of A-Z a-z 0-9 _ . -",
            f"{better} would do" if better else "",
        )
        return False
    if not name or len(name) > 200 or not name.isprintable():
        report.error(
            "bad-outside-name",
            node.span,
            f"{short(name)} cannot be the outside name of {what}",
            "expected 1 to 200 printable characters",
        )
        return False
    return True

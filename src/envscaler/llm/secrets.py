"""The one place that reads keys, and the one that takes them out of text."""

from __future__ import annotations

import os
import re

__all__ = ["read_key", "redact", "without_known"]

_HIDDEN = "[key]"
_SHORTEST = 8  # what is shorter is a stand-in such as `none`, and may be a part of ordinary words
_known: set[str] = set()

# What looks like a key although this process never read it: a server's echo of half of one, a header, a URL's user.
_SHAPES = (
    (re.compile(r"\b(?:sk-|gsk_|xai-|hf_)[A-Za-z0-9_*.-]{6,}"), _HIDDEN),
    (re.compile(r"(?i)\b(bearer|x-api-key:)\s+[A-Za-z0-9._~+/*=-]{6,}"), rf"\1 {_HIDDEN}"),
    (re.compile(r"(?<=://)[^/\s@]+@"), ""),
)


def read_key(variable: str) -> str | None:
    """The key that an environment variable holds, or None. From now on `redact` knows it."""
    key = os.environ.get(variable, "").strip()
    if not key:
        return None
    if len(key) >= _SHORTEST:
        _known.add(key)
    return key


def redact(text: str) -> str:
    """The text without keys: those that were read here, and what has the shape of one."""
    text = without_known(text)
    for shape, put in _SHAPES:
        text = shape.sub(put, text)
    return text


def without_known(text: str) -> str:
    """The text without the keys that were read here; nothing else is touched."""
    for key in _known:
        text = text.replace(key, _HIDDEN)
    return text

"""One text for equal states: keys sorted, numbers by value, text in Unicode normal form C."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from unicodedata import normalize

from envscaler.runtime.shapes import MAX

__all__ = ["canonical_json", "digest"]


def canonical_json(value: Any) -> str:
    """The canonical JSON text of a JSON value; 1.0 and 1 give the same."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(value: Any) -> str:
    """``sha256:…`` of the canonical text."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode()).hexdigest()


def _plain(value: Any) -> Any:
    cls = value.__class__
    if cls is str:
        return value if value.isascii() else normalize("NFC", value)
    if cls is float:
        return int(value) if value.is_integer() and -MAX < value < MAX else value
    if cls is dict:
        result = {(k if k.isascii() else normalize("NFC", k)): _plain(v) for k, v in value.items()}
        return result if len(result) == len(value) else {k: _plain(v) for k, v in value.items()}
    if cls is list or cls is tuple:
        return [_plain(v) for v in value]
    return value

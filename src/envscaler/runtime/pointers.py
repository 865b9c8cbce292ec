"""JSON pointers (RFC 6901): the paths of operations, examples and sources, written and taken apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["escaped", "joined", "parts"]


def escaped(part: Any) -> str:
    """A name or index as it stands in a pointer."""
    return str(part).replace("~", "~0").replace("/", "~1")


def joined(way: Iterable[Any]) -> str:
    """The pointer that goes a way."""
    return "".join(f"/{escaped(part)}" for part in way)


def parts(pointer: str) -> list[str]:
    """The names that a pointer goes through; the first slash may be left out, as in `to/account_id`."""
    if not pointer:
        return []
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.removeprefix("/").split("/")]

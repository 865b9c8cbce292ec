"""Keys made for new records: a counter above the largest match, or seeded hexadecimal digits."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any, Final

__all__ = ["Maker"]

_TEMPLATE: Final = re.compile(r"([^{}]*)\{(?:n(?::(0?)(\d{0,2})d?)?|hex:(\d{1,2}))\}([^{}]*)")


class Maker:
    """A template such as ``M-{n:04d}`` or ``{hex:8}`` taken apart. ``counts``: it holds a counter;
    ``key`` then makes the key with a number."""

    def __init__(self, template: str, as_int: bool = False) -> None:
        found = _TEMPLATE.fullmatch(template)
        if found is None:
            raise ValueError(f"not a template for keys: {template!r}")
        self.prefix, self.suffix = found[1], found[5]
        self.as_int = as_int
        self.counts = found[4] is None
        self.digits = int(found[4] or 0)
        counter = f"%{found[2] or ''}{found[3] or ''}d"
        format_ = self.prefix.replace("%", "%%") + counter + self.suffix.replace("%", "%%")
        self.key: Callable[[int], Any] = int if as_int else format_.__mod__

    def number(self, key: Any) -> int:
        """The number in a key that the template could have made, else 0."""
        if self.as_int:
            return int(key) if key > 0 else 0
        if not (key.startswith(self.prefix) and key.endswith(self.suffix)):
            return 0
        middle = key[len(self.prefix) : len(key) - len(self.suffix)]
        if middle.isascii() and middle.isdigit() and len(middle) <= 15:
            return int(middle)
        return 0

    def drawn(self, rng: random.Random) -> str:
        """A key of random digits."""
        return f"{self.prefix}{rng.getrandbits(4 * self.digits):0{self.digits}x}{self.suffix}"

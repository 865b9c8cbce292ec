"""Keys made for new records: a counter above the largest match, or seeded hexadecimal digits."""

from __future__ import annotations

import random
import re
from typing import Any, Final

__all__ = ["Maker"]

_TEMPLATE: Final = re.compile(r"([^{}]*)\{(?:n(?::(0?)(\d{0,2})d?)?|hex:(\d{1,2}))\}([^{}]*)")


class Maker:
    """A template such as ``M-{n:04d}`` or ``{hex:8}`` taken apart. ``counts``: it holds a counter."""

    def __init__(self, template: str, as_int: bool = False) -> None:
        found = _TEMPLATE.fullmatch(template)
        if found is None:
            raise ValueError(f"not a template for keys: {template!r}")
        self.prefix, self.suffix = found[1], found[5]
        self.as_int = as_int
        self.counts = found[4] is None
        self.digits = int(found[4] or 0)
        self.width = int(found[3] or 0)
        self.fill = "0" if found[2] or not self.width else " "

    def key(self, number: int) -> Any:
        """The key with that number."""
        if self.as_int:
            return number
        return f"{self.prefix}{str(number).rjust(self.width, self.fill)}{self.suffix}"

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

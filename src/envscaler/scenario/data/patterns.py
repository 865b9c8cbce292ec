"""A text that a pattern takes, drawn at random. Patterns are those of the spec language, which the checker has let pass."""

from __future__ import annotations

import random
import string
from typing import Final

__all__ = ["drawn"]

_MORE: Final = 4  # how often a part that may be repeated at will is repeated at most
_CLASSES: Final = {
    "d": string.digits,
    "w": string.ascii_lowercase + string.digits,
    "s": " ",
    "D": string.ascii_lowercase,
    "W": " -",
    "S": string.ascii_lowercase + string.digits,
}
_PLAIN: Final = string.ascii_letters + string.digits


def drawn(pattern: str, rng: random.Random) -> str:
    """A text that matches the whole pattern, most of the time: a caller checks it."""
    body = pattern.removeprefix("^")
    body = body[:-1] if body.endswith("$") and not body.endswith("\\$") else body
    return _Sampler(body, rng).alternatives()


class _Sampler:
    """Reads the pattern once, from left to right, and draws as it reads."""

    def __init__(self, text: str, rng: random.Random) -> None:
        self.text, self.rng, self.at = text, rng, 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def alternatives(self) -> str:
        found = [self.sequence()]
        while self.peek() == "|":
            self.take()
            found.append(self.sequence())
        return self.rng.choice(found)

    def sequence(self) -> str:
        parts = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated())
        return "".join(parts)

    def repeated(self) -> str:
        start = self.at
        first = self.atom()
        end = self.at
        least, most = self.counts()
        after = self.at
        times = self.rng.randint(least, most)
        if times == 0:
            return ""
        parts = [first]
        for _ in range(times - 1):
            self.at = start
            parts.append(self.atom())
            assert self.at == end
        self.at = after
        return "".join(parts)

    def counts(self) -> tuple[int, int]:
        sign = self.peek()
        if sign and sign in "?*+":
            self.take()
            return {"?": (0, 1), "*": (0, _MORE), "+": (1, _MORE)}[sign]
        if sign != "{":
            return 1, 1
        body, _, _ = self.text[self.at + 1 :].partition("}")
        self.at += len(body) + 2
        least, comma, most = body.partition(",")
        low = int(least or 0)
        return low, (int(most) if most else low + _MORE) if comma else low

    def atom(self) -> str:
        char = self.take()
        if char == "(":
            if self.text.startswith("?:", self.at):
                self.at += 2
            inner = self.alternatives()
            self.take()
            return inner
        if char == "[":
            return self.rng.choice(self.members())
        if char == ".":
            return self.rng.choice(_PLAIN)
        if char == "\\":
            name = self.take()
            return self.rng.choice(_CLASSES[name]) if name in _CLASSES else name
        return char

    def members(self) -> str:
        """The characters of a class, those of a negated one among letters and digits."""
        negated = self.peek() == "^"
        self.at += negated
        found = ""
        while self.peek() not in ("", "]") or not found:
            char = self.take()
            if char == "\\":
                name = self.take()
                found += _CLASSES.get(name, name)
            elif self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("", "]"):
                self.take()
                found += "".join(map(chr, range(ord(char), min(ord(self.take()), ord(char) + 200) + 1)))
            else:
                found += char
        self.take()
        left = "".join(c for c in _PLAIN + " -_." if c not in found) if negated else found
        return left or "x"

"""The regular expressions that `pattern` takes: those whose match takes time linear in the text, proved here.

Allowed are letters and other plain characters, escapes (`\\d \\w \\s \\D \\W \\S` in their ASCII sense, `\\.` and the like),
`.`, classes, groups, `|`, and `? * + {n} {n,m}`; the whole text must match. Refused is what makes a matcher try again:
back references, look-around, flags, and every place where two ways to go on begin with the same character.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["BadPattern", "check_pattern"]

MAX_PATTERN: Final = 200  # characters
_MAX_POSITIONS: Final = 300  # characters that the pattern stands for once counts are written out
_MAX_COUNT: Final = 1000
_MAX_GROUPS: Final = 12
_TOP: Final = 0x110000
_SLOW: Final = "so that matching can take quadratic time or worse"

Ranges = tuple[tuple[int, int], ...]  # inclusive, sorted, apart


class BadPattern(ValueError):
    """The pattern is outside the subset; the message says why, ``offset`` where (0-based)."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass
class _Piece:
    """A part of the pattern: whether it can be empty, the positions it can begin and end with."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


def check_pattern(pattern: str) -> str:
    """The pattern anchored at both ends, its escapes written as classes, so that every engine means the same by it.

    Raises BadPattern.
    """
    if len(pattern) > MAX_PATTERN:
        raise BadPattern(f"a pattern has at most {MAX_PATTERN} characters", 0)
    skip = 1 if pattern.startswith("^") else 0
    body = pattern[skip:]
    if body.endswith("$") and (len(body) - len(body[:-1].rstrip("\\"))) % 2 == 1:
        body = body[:-1]
    reader = _Reader(body, skip)
    piece = reader.alternatives()
    if reader.at < len(body):
        raise BadPattern("a closing bracket without an opening one", reader.at + skip)
    reader.deterministic(piece)
    return f"^(?:{_plain(body)})$" if "|" in body else f"^{_plain(body)}$"


def _plain(body: str) -> str:
    r"""`\d` as `[0-9]` and so on, `.` as it is: what the shorthands mean differs between engines and flags."""
    out: list[str] = []
    inside, at = False, 0
    while at < len(body):
        part = body[at : at + 2] if body[at] == "\\" else body[at]
        at += len(part)
        if part in _SHORT:
            part = _SHORT[part] if inside else f"[{_SHORT[part]}]"
        elif part.lower() in _SHORT:
            part = f"[^{_SHORT[part.lower()]}]"
        elif part in "[]":
            inside = part == "["
            if inside and body[at : at + 1] == "^":
                part, at = "[^", at + 1
            if inside and body[at : at + 1] == "]":
                part, at = part + r"\]", at + 1
        out.append(part)
    return "".join(out)


class _Reader:
    """Recursive descent over the pattern; the positions of its automaton are numbered as they are met."""

    def __init__(self, body: str, skip: int) -> None:
        self.body, self.skip, self.at, self.depth = body, skip, 0, 0
        self.sets: list[Ranges] = []
        self.origin: list[int] = []  # where in the pattern each position stands
        self.follow: list[set[int]] = []

    def fail(self, message: str, at: int | None = None) -> BadPattern:
        return BadPattern(message, (self.at if at is None else at) + self.skip)

    def peek(self) -> str:
        return self.body[self.at] if self.at < len(self.body) else ""

    def alternatives(self) -> _Piece:
        piece = self.sequence()
        while self.peek() == "|":
            self.at += 1
            other = self.sequence()
            piece = _Piece(piece.empty or other.empty, piece.first | other.first, piece.last | other.last)
        return piece

    def sequence(self) -> _Piece:
        piece = _Piece(True, frozenset(), frozenset())
        while self.peek() not in ("", "|", ")"):
            piece = self.joined(piece, self.repeated())
        return piece

    def joined(self, a: _Piece, b: _Piece) -> _Piece:
        for position in a.last:
            if again := self.follow[position] & b.first:
                at = self.origin[min(again)]
                raise self.fail(f"a repetition within a repetition: {self.part(at)} can go on in two ways, {_SLOW}", at)
            self.follow[position] |= b.first
        return _Piece(
            a.empty and b.empty, a.first | b.first if a.empty else a.first, a.last | b.last if b.empty else b.last
        )

    def repeated(self) -> _Piece:
        start = self.at
        piece = self.atom()
        least, most, loops = self.count()
        after = self.at
        if piece.empty and (least, most, loops) != (1, 1, False):
            raise self.fail("what is repeated here can match nothing", start)
        pieces = [piece] if most != 0 or loops else []
        for _ in range(max(least, most) - 1 if not loops else max(least, 1) - 1):
            self.at = start
            pieces.append(self.atom())
        self.at = after
        if loops:
            self.joined(pieces[-1], pieces[-1])
        whole = _Piece(True, frozenset(), frozenset())
        for number, part in reversed(list(enumerate(pieces))):  # x{1,3} is x(x(x)?)?, not xx?x?
            whole = self.joined(part, whole)
            whole.empty = whole.empty or number >= least
        if self.peek() in ("?", "*", "+", "{"):
            raise self.fail("a second repetition sign; lazy and possessive ones are not allowed")
        return whole

    def count(self) -> tuple[int, int, bool]:
        """(least, most, without end) of the repetition sign at hand."""
        sign = self.peek()
        if sign and sign in "?*+":
            self.at += 1
            return {"?": (0, 1, False), "*": (0, 1, True), "+": (1, 1, True)}[sign]
        if sign != "{":
            return 1, 1, False
        end = self.body.find("}", self.at)
        least, comma, most = self.body[self.at + 1 : end].partition(",")
        if end < 0 or not all(p.isascii() and p.isdigit() and len(p) < 5 for p in (least, most) if p or p is least):
            raise self.fail(r"expected {n} or {n,m}; a plain bracket is written \{")
        low = int(least)
        high = int(most) if most else low
        if not low <= high <= _MAX_COUNT:
            raise self.fail(f"expected counts that rise, to at most {_MAX_COUNT}")
        self.at = end + 1
        return low, high, bool(comma) and not most

    def atom(self) -> _Piece:
        char = self.peek()
        if char == "(":
            return self.group()
        start = self.at
        ranges = self.char_class() if char == "[" else self.single()
        if len(self.sets) >= _MAX_POSITIONS:
            raise self.fail(f"with its counts written out the pattern is longer than {_MAX_POSITIONS}", start)
        self.sets.append(ranges)
        self.origin.append(start)
        self.follow.append(set())
        only = frozenset((len(self.sets) - 1,))
        return _Piece(False, only, only)

    def group(self) -> _Piece:
        start = self.at
        self.at += 1
        if self.peek() == "?":
            if self.body[self.at : self.at + 2] != "?:":
                raise self.fail("of the special groups only (?:…) is allowed", start)
            self.at += 2
        self.depth += 1
        if self.depth > _MAX_GROUPS:
            raise self.fail(f"groups nest more than {_MAX_GROUPS} deep", start)
        piece = self.alternatives()
        self.depth -= 1
        if self.peek() != ")":
            raise self.fail("a bracket is not closed", start)
        self.at += 1
        return piece

    def single(self) -> Ranges:
        char = self.peek()
        self.at += 1
        if char == ".":
            return _inverted(_sorted([(10, 10)]))
        if char == "\\":
            return self.escape()
        if char in "*+?{}]^$":
            raise self.fail(rf"{char!r} has no meaning here; as a plain character it is written \{char}", self.at - 1)
        return ((ord(char), ord(char)),)

    def escape(self, inside: bool = False) -> Ranges:
        char = self.peek()
        self.at += 1
        if char in _CLASSES:
            if inside and char.isupper():
                raise self.fail(rf"\{char} may not stand in a class; use [^…]", self.at - 2)
            return _CLASSES[char]
        if char in _CONTROLS:
            return ((_CONTROLS[char], _CONTROLS[char]),)
        if not char or char.isalnum() or not char.isascii():
            raise self.fail(rf"the escape \{char} is not allowed", self.at - 2)
        return ((ord(char), ord(char)),)

    def char_class(self) -> Ranges:
        start = self.at
        self.at += 1
        negated = self.peek() == "^"
        self.at += negated
        found: list[tuple[int, int]] = []
        while self.peek() != "]" or not found:
            if not self.peek():
                raise self.fail("a class is not closed", start)
            found += self.member()
        self.at += 1
        return _inverted(_sorted(found)) if negated else _sorted(found)

    def member(self) -> Ranges:
        at = self.at
        low = self.class_char()
        if self.peek() != "-" or self.body[self.at + 1 : self.at + 2] in ("]", ""):
            return low
        self.at += 1
        high = self.class_char()
        if len(low) != 1 or len(high) != 1 or low[0][0] != low[0][1] or high[0][0] != high[0][1] or low > high:
            raise self.fail("not a range of characters", at)
        return ((low[0][0], high[0][1]),)

    def class_char(self) -> Ranges:
        char = self.peek()
        self.at += 1
        if char == "\\":
            return self.escape(inside=True)
        if char == "[" or (char and char in "&~|-" and self.peek() == char):
            raise self.fail(rf"{char!r} in a class is written \{char}", self.at - 1)
        return ((ord(char), ord(char)),) if char else ()

    def deterministic(self, whole: _Piece) -> None:
        """Every next character decides the way to go on, so a matcher never comes back to choose again."""
        for ways in ({*whole.first}, *self.follow):
            spans = sorted((low, high, p) for p in ways for low, high in self.sets[p])
            reach, by = -1, -1
            for low, high, position in spans:
                if low <= reach and position != by:
                    a, b = sorted((self.origin[by], self.origin[position]))
                    raise self.fail(
                        f"after the same beginning, {self.part(a)} and {self.part(b)} can take the same character, {_SLOW}",
                        b,
                    )
                if high > reach:
                    reach, by = high, position

    def part(self, at: int) -> str:
        end = at + 1
        if self.body[at] == "\\":
            end = at + 2
        elif self.body[at] == "[":
            while end < len(self.body) and (self.body[end] != "]" or end == at + 1):
                end += 2 if self.body[end] == "\\" else 1
            end += 1
        return repr(self.body[at:end])


def _sorted(ranges: list[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _inverted(ranges: Ranges) -> Ranges:
    edges, at = [], 0
    for low, high in ranges:
        if low > at:
            edges.append((at, low - 1))
        at = high + 1
    return (*edges, (at, _TOP)) if at <= _TOP else tuple(edges)


def _of(*spans: str) -> Ranges:
    return _sorted([(ord(s[0]), ord(s[-1])) for s in spans])


_DIGIT, _WORD, _SPACE = _of("09"), _of("09", "AZ", "az", "_"), _of("\t\r", " ")
_CLASSES: Final = {
    "d": _DIGIT, "w": _WORD, "s": _SPACE, "D": _inverted(_DIGIT), "W": _inverted(_WORD), "S": _inverted(_SPACE),
}  # fmt: skip
_SHORT: Final = {r"\d": "0-9", r"\w": "A-Za-z0-9_", r"\s": r" \t\n\r\f\v"}
_CONTROLS: Final = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11}

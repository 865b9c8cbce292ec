"""The language of logic as tables: built-ins, methods, statements and limits. Checker, card and reference read them here."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Final, Literal

from envscaler.spec.types import BOOL, DATE, DATETIME, DURATION, FLOAT, INT, LOCAL, MONEY, NUMBER, STR, TIME, ZONE, Type

__all__ = [
    "BUILTINS",
    "CLOCK_NAMES",
    "DATETIME_PARTS",
    "DATE_PARTS",
    "METHODS",
    "MOMENTS",
    "RESERVED_NAMES",
    "STATEMENTS",
    "TIME_DIRECTIVES",
    "TIME_PARTS",
    "UNHIDABLE",
    "Builtin",
    "Method",
    "methods_of",
]  # fmt: skip

Owner = Literal["str", "list", "dict", "collection", "struct"]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function of the language.

    ``params``/``returns`` are given when the plain rule suffices (each parameter accepts any of its types; a trailing
    None in ``params`` makes the rest optional); else the checker has a rule of that name. ``runtime`` is the function
    of `envscaler.runtime.builtins` that does the work, or "" where Python's own of the same name does.
    """

    name: str
    signature: str
    doc: str
    runtime: str = ""
    params: tuple[tuple[Type, ...], ...] | None = None
    optional: int = 0  # how many of ``params`` at the end may be left out
    returns: Type | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method of text, lists, dicts, collections or structs. Fields as in Builtin; ``writes`` when it changes its owner."""

    owner: Owner
    name: str
    signature: str
    doc: str
    runtime: str = ""
    params: tuple[tuple[Type, ...], ...] | None = None
    optional: int = 0
    returns: Type | None = None
    writes: bool = False

    @property
    def key(self) -> str:
        return f"{self.owner}.{self.name}"


_NUMERIC = (INT, FLOAT, NUMBER)

_BUILTINS = (
    Builtin("require", 'require(condition, message, rule="name")', "Fail the call with the message unless the condition holds.", "require"),
    Builtin("fail", 'fail(message, rule="name")', "Fail the call with the message.", "fail"),
    Builtin("len", "len(x) -> int", "Length of a text, list, dict or collection."),
    Builtin("sum", "sum(numbers) -> number", "Sum of numbers, money or durations; 0 when there are none."),
    Builtin("min", "min(xs, key=…, default=…)  min(a, b, …)", "The smallest; of nothing it fails the call unless `default` is given."),
    Builtin("max", "max(xs, key=…, default=…)  max(a, b, …)", "The largest; of nothing it fails the call unless `default` is given."),
    Builtin("any", "any(conditions) -> bool", "Whether one of the conditions holds."),
    Builtin("all", "all(conditions) -> bool", "Whether every condition holds."),
    Builtin("sorted", "sorted(xs, key=…, reverse=…) -> list", "The elements in order, as a list of copies."),
    Builtin("reversed", "reversed(xs) -> list", "The elements from the last to the first, as a list of copies.", "reversed_"),
    Builtin("list", "list(xs) -> list", "The elements as a list of copies."),
    Builtin("zip", "zip(xs, ys, …)", "Elements side by side, as far as the shortest goes; for `for` and comprehensions."),
    Builtin("range", "range(stop)  range(start, stop, step)", "Whole numbers; for `for` and comprehensions.", "range_"),
    Builtin("enumerate", "enumerate(xs, start)", "Pairs of index and element; for `for` and comprehensions."),
    Builtin("first", "first(xs)  first(xs, default)", "The first element; of nothing it fails the call unless a default is given.", "first"),
    Builtin("count", "count(xs) -> int", "How many elements there are; of conditions, how many hold is `count(1 for …)`.", "count"),
    Builtin("abs", "abs(x) -> number", "Absolute value of a number, money or duration."),
    Builtin("round", "round(x, digits)", "A number rounded as Python does; without digits to a whole number."),
    Builtin("int", "int(x) -> int", "A number cut to a whole number, or a text of digits read as one.", "to_int"),
    Builtin("float", "float(x) -> float", "A number, money or text as float.", "to_float"),
    Builtin("str", "str(x) -> str", "A number, money, date, enum or bool as text.", "to_str"),
    Builtin("money", "money(x) -> money", "A number as money, half a cent up.", "money"),
    Builtin("split", "split(amount, parts) -> list of money", "Shares that differ by a cent at most and add up.", "split", ((MONEY,), (INT,))),
    Builtin("as_type", "as_type(x, T) -> T", "An `any`, text or number taken as a T; fails the call when it is none.", "as_type"),
    Builtin("is_type", "is_type(x, T) -> bool", "Whether an `any` value is a T; narrows.", "is_type"),
    Builtin("days", "days(n) -> duration", "A stretch of n days.", "days", ((INT,),), 0, DURATION),
    Builtin("hours", "hours(n) -> duration", "A stretch of n hours.", "hours", ((INT,),), 0, DURATION),
    Builtin("minutes", "minutes(n) -> duration", "A stretch of n minutes.", "minutes", ((INT,),), 0, DURATION),
    Builtin("add_months", "add_months(date, n)", "The same day n months on, or the month's last day.", "add_months"),
    Builtin("month_start", "month_start(date) -> date", "The first day of the month.", "month_start", ((DATE, DATETIME),), 0, DATE),
    Builtin("date", "date(x) -> date", "A date from its text or from a datetime; `date(y, m, d)` from numbers.", "date"),
    Builtin("time", "time(x) -> time", "A time of day from its text; `time(h, m)` from numbers.", "time_of"),
    Builtin("instant", "instant(x) -> datetime", "A datetime from its text; `instant(date, time)` from the two.", "instant"),
    Builtin("instant_at", "instant_at(date, time, zone) -> datetime", "When the wall clock of a zone shows that: the first of two times, and a skipped one as if clocks had not changed.", "instant_at", ((DATE,), (TIME,), (ZONE, STR)), 0, DATETIME),
    Builtin("at_zone", "at_zone(datetime, zone) -> local datetime", "What the wall clock of a zone shows then: parts and text, no instant.", "at_zone", ((DATETIME,), (ZONE, STR)), 0, LOCAL),
    Builtin("rand_int", "rand_int(low, high) -> int", "A whole number from the episode's seed, both ends included.", "rand_int", ((INT,), (INT,)), 0, INT),
    Builtin("rand_float", "rand_float(low, high) -> float", "A number from the episode's seed, as Python's random.uniform.", "rand_float", (_NUMERIC, _NUMERIC), 0, FLOAT),
    Builtin("choice", "choice(xs)", "An element from the episode's seed.", "choice"),
    Builtin("child", "child(tree, key, name)", "The child of that name, or None; key None means the roots.", "child"),
    Builtin("children", "children(tree, key)", "The children in order; key None means the roots.", "children"),
    Builtin("walk", "walk(tree, key)", "The record and everything below it, parents first, in order.", "walk"),
    Builtin("path", "path(tree, key) -> list of str", "The names from the root down to the record.", "path"),
    Builtin("byte_len", "byte_len(text) -> int", "Length in UTF-8 bytes.", "byte_len", ((STR,),), 0, INT),
    Builtin("arith", "arith(text, otherwise) -> number", "The value of an arithmetic text; `otherwise` is the message when it is none.", "arith", ((STR,), (STR,)), 1, NUMBER),
)  # fmt: skip

_TEXT_TO_TEXT = "lower upper title capitalize casefold swapcase"
_TEXT_TESTS = "isdigit isalpha isalnum isupper islower isspace isnumeric isdecimal"

_METHODS = (
    *(Method("str", n, f"s.{n}() -> str", f"As Python's str.{n}.", "", (), 0, STR) for n in _TEXT_TO_TEXT.split()),
    *(Method("str", n, f"s.{n}() -> bool", f"As Python's str.{n}.", "", (), 0, BOOL) for n in _TEXT_TESTS.split()),
    *(Method("str", n, f"s.{n}(chars) -> str", f"As Python's str.{n}.", "", ((STR,),), 1, STR) for n in ("strip", "lstrip", "rstrip")),
    *(Method("str", n, f"s.{n}(part) -> bool", f"As Python's str.{n}.", "", ((STR,),), 0, BOOL) for n in ("startswith", "endswith")),
    *(Method("str", n, f"s.{n}(part) -> str", f"As Python's str.{n}.", "", ((STR,),), 0, STR) for n in ("removeprefix", "removesuffix")),
    *(Method("str", n, f"s.{n}(part) -> int", f"As Python's str.{n}.", "", ((STR,),), 0, INT) for n in ("find", "rfind", "count", "index")),
    *(Method("str", n, f"s.{n}(width, fill) -> str", f"As Python's str.{n}, bounded.", n, ((INT,), (STR,)), 1, STR) for n in ("ljust", "rjust", "center")),
    Method("str", "zfill", "s.zfill(width) -> str", "As Python's str.zfill, bounded.", "zfill", ((INT,),), 0, STR),
    Method("str", "replace", "s.replace(old, new) -> str", "As Python's str.replace, bounded.", "replace", ((STR,), (STR,)), 0, STR),
    Method("str", "split", "s.split(separator) -> list of str", "As Python's str.split.", "", ((STR,), (INT,)), 2),
    Method("str", "rsplit", "s.rsplit(separator, most) -> list of str", "As Python's str.rsplit.", "", ((STR,), (INT,)), 2),
    Method("str", "splitlines", "s.splitlines() -> list of str", "As Python's str.splitlines.", "", ()),
    Method("str", "join", "s.join(texts) -> str", "As Python's str.join, bounded.", "join"),
    Method("list", "append", "xs.append(x)", "Add at the end.", writes=True),
    Method("list", "extend", "xs.extend(ys)", "Add all of ys at the end.", writes=True),
    Method("list", "insert", "xs.insert(i, x)", "Add before index i.", writes=True),
    Method("list", "remove", "xs.remove(x)", "Remove the first equal element; fails the call when there is none.", writes=True),
    Method("list", "pop", "xs.pop(i)", "Remove and give an element, the last without i.", writes=True),
    Method("list", "clear", "xs.clear()", "Remove everything.", writes=True),
    Method("list", "sort", "xs.sort(key=…, reverse=…)", "Put in order.", writes=True),
    Method("list", "reverse", "xs.reverse()", "Turn round.", writes=True),
    Method("list", "index", "xs.index(x) -> int", "Index of the first equal element; fails the call when there is none."),
    Method("list", "count", "xs.count(x) -> int", "How many elements are equal."),
    Method("list", "copy", "xs.copy() -> list", "A copy.", "copy"),
    Method("dict", "get", "d.get(key)  d.get(key, default)", "The value, or None or the default."),
    Method("dict", "keys", "d.keys()", "The keys in order."),
    Method("dict", "values", "d.values()", "The values in order."),
    Method("dict", "items", "d.items()", "Pairs of key and value in order."),
    Method("dict", "pop", "d.pop(key)  d.pop(key, default)", "Remove and give a value.", writes=True),
    Method("dict", "update", "d.update(other)", "Set all of the other's entries.", writes=True),
    Method("dict", "clear", "d.clear()", "Remove everything.", writes=True),
    Method("dict", "copy", "d.copy()", "A copy.", "copy"),
    Method("collection", "get", "c.get(key)", "A view of the record, or None."),
    Method("collection", "keys", "c.keys()", "The keys in order."),
    Method("collection", "values", "c.values()", "Views of the records in order."),
    Method("collection", "items", "c.items()", "Pairs of key and view in order."),
    Method("collection", "add", "c.add(field=…)", "A new record; its key comes from `make` or is given by its name.", writes=True),
    Method("collection", "remove", "c.remove(key)", "Remove a record, in a tree with all below it; as `del c[key]`.", writes=True),
    Method("struct", "get", 'x.get("field")', "An absent field's value, or None."),
    Method("struct", "update", "x.update(partial)", "Set the fields that a `{partial: T}` value has.", writes=True),
)  # fmt: skip

BUILTINS: Final = {b.name: b for b in _BUILTINS}
METHODS: Final = {m.key: m for m in _METHODS}

CLOCK_NAMES: Final = {"now": DATETIME, "today": DATE}

MOMENTS: Final = ("initial", "final")
"""The states of an episode that goals and guards speak of: at its start, and at its end."""

DATE_PARTS: Final[dict[str, Type]] = {"year": INT, "month": INT, "day": INT, "weekday": INT}
TIME_PARTS: Final[dict[str, Type]] = {"hour": INT, "minute": INT, "second": INT}
TIME_DIRECTIVES: Final[dict[Type, str]] = {
    DATE: "YmdBbAa", TIME: "HMSIp", DATETIME: "YmdBbAaHMSIp", LOCAL: "YmdBbAaHMSIp",
}  # fmt: skip
"""What `%` may be followed by in an f-string's format, by what is shown."""

DATETIME_PARTS: Final[dict[str, Type]] = {**DATE_PARTS, **TIME_PARTS}

STATEMENTS: Final = (
    ("x = …", "bind a local name"),
    ("record.field = …  xs[i] = …", "write through a view; also += -= *= /= //= %="),
    ("del c[key]  del xs[i]  del record.field", "remove a record, an element, an absent-able field"),
    ("if … elif … else", "conditions are bool, never truthiness"),
    ("for x in …  break  continue", "over collections, lists, dicts, text, range, zip, enumerate"),
    ("return …", "the result of a tool or helper"),
    ("require(…)  fail(…)", "the first failing one decides the error"),
    ("helper(…)  c.add(…)  xs.append(…)", "calls of helpers and mutators"),
)

_HIDABLE: Final = frozenset(BUILTINS) - frozenset(dir(builtins)) - {"require", "fail"}
RESERVED_NAMES: Final = frozenset(BUILTINS) | frozenset(CLOCK_NAMES) | {"state", "it", "True", "False", "None"}
UNHIDABLE: Final = RESERVED_NAMES - _HIDABLE
"""Names that a parameter may not have; it may hide `minutes` or `date`, which generated code does not call by those names."""


def methods_of(owner: Owner) -> dict[str, Method]:
    """The methods of one kind of owner, by name."""
    return {m.name: m for m in _METHODS if m.owner == owner}

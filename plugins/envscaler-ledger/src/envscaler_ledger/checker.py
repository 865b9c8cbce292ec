"""The checker: after each call the sum of all balances has changed by what the call may bring in or take out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import Any

from envscaler.errors import UsageError
from envscaler.plugin import CallEvent, EndEvent, Judgement

__all__ = ["Ledger", "moved"]

_SETTINGS = ("balances", "transfers", "flows")


class Ledger:
    """``balances``: patterns of paths that hold money, `/*/*/balance` by default. ``transfers``: patterns of tools that must
    leave the sum of all balances as it is, `*transfer*` by default. ``flows``: by tool, the argument that says how much
    comes in, or, with a `-` before it, goes out: `{"deposit": "amount", "withdraw": "-amount"}`.

    A failed call and a tool that only reads may change no balance. Other tools are not judged. At the end, balances must
    have changed by what the calls changed, and by nothing else.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        unknown = sorted(set(settings) - set(_SETTINGS))
        if unknown:
            raise UsageError(f"ledger has no setting {', '.join(unknown)}; it has {', '.join(_SETTINGS)}")
        self._balances = _patterns(settings, "balances", ["/*/*/balance"])
        self._transfers = _patterns(settings, "transfers", ["*transfer*"])
        flows = settings.get("flows", {})
        if not isinstance(flows, Mapping) or not all(isinstance(name, str) and name for name in flows.values()):
            raise UsageError(f"flows must map tools to arguments, not {flows!r}")
        self._flows = dict(flows)
        self._booked = Decimal(0)

    def on_call(self, event: CallEvent) -> Judgement | None:
        """Whether the call's changes of balances add up; None for calls that it has no rule for."""
        changes = moved(event.changes, self._balances)
        total = sum(changes.values(), Decimal(0))
        self._booked += total
        if not event.ok or event.kind != "write":
            what = "a call that failed" if not event.ok else f"{event.tool}, which only reads,"
            return _changed(f"{what} changed balances", changes) if changes else None
        flow = self._flows.get(event.tool)
        if flow is not None:
            return self._flowed(event, flow, total, changes)
        if not any(fnmatchcase(event.tool, pattern) for pattern in self._transfers):
            return None
        if total:
            return _changed(f"{event.tool} changed the sum of all balances by {total:+}", changes)
        return Judgement("pass")

    def _flowed(self, event: CallEvent, flow: str, total: Decimal, changes: Mapping[str, Decimal]) -> Judgement:
        amount = _amount(event.arguments, flow.removeprefix("-"))
        if amount is None:
            return Judgement("warn", f"{event.tool} has no amount in {flow.removeprefix('-')!r} to compare with")
        wanted = -amount if flow.startswith("-") else amount
        if total != wanted:
            return _changed(f"{event.tool} should change the sum of all balances by {wanted:+}, not {total:+}", changes)
        return Judgement("pass")

    def on_end(self, event: EndEvent) -> Judgement | None:
        """Whether balances changed by what the calls changed."""
        changes = moved(event.changes, self._balances)
        total = sum(changes.values(), Decimal(0))
        if total != self._booked:
            return Judgement(
                "fail", f"the calls changed the sum of all balances by {self._booked:+}, but it is {total:+}"
            )
        return Judgement("pass") if changes else None


def moved(changes: Sequence[Mapping[str, Any]], balances: Sequence[str]) -> dict[str, Decimal]:
    """By how much each balance changed, by its path; those that did not are left out."""
    found: dict[str, Decimal] = {}
    for change in changes:
        for sign, side in ((1, "value"), (-1, "before")):
            for path, value in _leaves(change["path"], change.get(side)):
                if any(_matches(path, pattern) for pattern in balances) and (number := _number(value)) is not None:
                    found[path] = found.get(path, Decimal(0)) + sign * number
    return {path: by for path, by in found.items() if by}


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The values below a path, each with its own: a record that came or went brings its fields."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{path}/{key}", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(f"{path}/{index}", item)
    else:
        yield path, value


def _matches(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _amount(arguments: Any, name: str) -> Decimal | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    return _number(arguments.get(name)) if isinstance(arguments, Mapping) else None


def _changed(what: str, changes: Mapping[str, Decimal]) -> Judgement:
    shown = ", ".join(f"{path} {by:+}" for path, by in list(changes.items())[:4])
    more = f" and {len(changes) - 4} more" if len(changes) > 4 else ""
    return Judgement("fail", f"{what}: {shown or 'no balance changed'}{more}")


def _patterns(settings: Mapping[str, Any], name: str, default: list[str]) -> list[str]:
    given = settings.get(name, default)
    if isinstance(given, str) or not all(isinstance(item, str) for item in given):
        raise UsageError(f"{name} must be a list of patterns, not {given!r}")
    return list(given)

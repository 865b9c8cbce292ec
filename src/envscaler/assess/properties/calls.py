"""What must hold of every call. Each is a function of one call and gives the breach, or None."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from envscaler.assess.events import Breach, Seen
from envscaler.assess.guard import Overrun
from envscaler.assess.layout import records_of
from envscaler.assess.properties.conforming import misfit
from envscaler.errors import StateError
from envscaler.plugin.records import CallEvent
from envscaler.runtime.values import clean_text, same

__all__ = [
    "after_each_settles", "always_ends", "failed_call_changes_nothing", "moves_as_declared", "never_raises",
    "reads_write_nothing", "results_are_json", "results_as_declared", "state_is_allowed", "tells_what_changed",
]  # fmt: skip


def never_raises(seen: Seen) -> Breach | None:
    """A call never raises, and never fails by a fault of the code (code `internal`)."""
    raised, error = seen.raised, seen.error
    if raised is not None and not isinstance(raised, Overrun):
        return Breach(
            f"{seen.tool} raises {type(raised).__name__}", str(raised)[:500], _lines(seen), type(raised).__name__
        )
    if raised is None and getattr(error, "code", None) == "internal":
        cause = getattr(error, "cause", None)
        name = type(cause).__name__ if cause is not None else "an error"
        return Breach(f"{seen.tool} fails by a fault of its code: {name}", str(cause)[:500], _lines(seen), name)
    if raised is None and not isinstance(seen.result, dict):
        return Breach(f"{seen.tool} gives no result", repr(seen.outcome)[:500], kind="no result")
    return None


def always_ends(seen: Seen) -> Breach | None:
    """A call ends: by itself, or at its limit of steps."""
    if isinstance(seen.raised, Overrun):
        return Breach(f"{seen.tool} does not end", "", _lines(seen))
    return None


def failed_call_changes_nothing(event: CallEvent) -> Breach | None:
    """After a failed call the state is what it was before."""
    if not event.ok and event.changes:
        return Breach(f"{event.tool} fails and has changed the state", _changes(event), kind=_parts(event))
    return None


def reads_write_nothing(event: CallEvent) -> Breach | None:
    """A tool of kind `read` changes nothing, and so no rule or bound can be what refuses it."""
    if event.kind == "read" and event.ok and event.changes:
        return Breach(f"{event.tool} is a read tool and changes the state", _changes(event), kind=_parts(event))
    error = getattr(event, "error", None)
    if event.kind == "read" and getattr(error, "code", "") in ("rule", "constraint"):
        title = f"{event.tool} is a read tool and is refused because of what it would change"
        return Breach(title, str(getattr(error, "message", "")), kind="refused")
    return None


def tells_what_changed(seen: Seen) -> Breach | None:
    """`changed` of a result says whether the state is another than before."""
    claimed = getattr(seen.outcome, "changed", None)
    if claimed is None or not seen.ok or seen.kind == "read" or bool(claimed) == bool(seen.changes):
        return None  # what failed calls and reads change is told by the properties about those
    if claimed:
        return Breach(f"{seen.tool} says that it changed the state, which is as before", kind="claimed")
    return Breach(f"{seen.tool} says that nothing changed, and something did", _changes(seen), kind="kept silent")


def state_is_allowed(event: CallEvent) -> Breach | None:
    """After each call the whole state obeys types, bounds, references, uniqueness and rules, all of them checked anew."""
    if not event.changes or not event.ok or not hasattr(event.environment, "prepare"):
        return None
    try:
        event.environment.prepare(dict(event.state()))
    except StateError as error:
        problem = error.problems[0]
        rule = next((r for r in event.environment.rules if f"the rule {r.name}" in problem), None)
        lines = () if rule is None or not rule.line else (rule.line,)
        title = f"after {event.tool} the state is not allowed: {problem}"
        return Breach(_line(title), "\n".join(error.problems[:5]), lines, rule.name if rule else _shape_of(problem))
    return None


def results_are_json(event: CallEvent) -> Breach | None:
    """What a call gives is JSON: it can be written, has no NaN or infinity, and its text is valid Unicode."""
    try:
        json.dumps(event.result, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return Breach(f"{event.tool} gives what is no JSON", str(error)[:300], kind=type(error).__name__)
    return None


def results_as_declared(seen: Seen) -> Breach | None:
    """A result is of the type that the tool declares, or that the checker inferred; keys of objects stand in order."""
    tool = seen.tool_facts
    if tool is None or tool.returns is None or not seen.ok:
        return None
    problem = misfit(tool.returns, seen.result.get("data"), seen.facts.spec)
    if problem is None:
        return None
    where, words = problem
    return Breach(f"{seen.tool} gives another result than declared{where}: {words}", "", (tool.line,), where)


def moves_as_declared(seen: Seen) -> Breach | None:
    """A field with `moves` becomes only what its rule allows."""
    for rule, key, old, new in moved(seen):
        if old != new and new not in (rule.moves[1].get(old) or ()):
            title = f"{seen.tool} moves {rule.moves[0]} of {key} from {old} to {new}"
            return Breach(title, rule.text, (rule.line,), rule.name)
    return None


def moved(seen: Seen) -> Iterator[tuple[Any, str, str, str]]:
    """The rule, the key of the record, and what its field was and is, for every move that a call made."""
    if not seen.changes or not seen.ok:
        return
    for rule in seen.facts.rules:
        if rule.moves is None:
            continue
        state, _, name = rule.moves[0].partition(".")
        shape = next((s for s in seen.facts.shapes if s.name == state), None)
        if shape is None:
            continue
        field = shape.record.field(name).json
        before, after = records_of(shape, seen.before), records_of(shape, seen.after)
        for key, record in after.items():
            old, new = before.get(key, {}).get(field), record.get(field)
            if old is not None and new is not None and old != new:
                yield rule, key, old, new


def after_each_settles(seen: Seen) -> Breach | None:
    """Running `after_each` once more after a call changes nothing."""
    hooks = seen.environment.after_each if seen.facts.compiled else ()
    if not hooks or not seen.ok or not seen.changes:
        return None
    twin = seen.env.fork()
    for hook in hooks:
        try:
            hook(twin._state)
        except Exception as error:
            return Breach(f"after_each fails when it is run again after {seen.tool}", str(error), kind="fails")
    if same(twin.state, seen.after):
        return None
    lines = tuple(t.span.line for t in seen.facts.spec.after_each) if seen.facts.spec is not None else ()
    return Breach(f"after_each changes the state again when it is run again after {seen.tool}", "", lines)


# -- words


def _lines(seen: Seen) -> tuple[int, ...]:
    line = getattr(seen.error, "line", 0)
    return (line,) if line else ()


def _changes(event: CallEvent) -> str:
    rows = [f"{c['op']} {c['path']}: {_short(c.get('before'))} -> {_short(c.get('value'))}" for c in event.changes[:5]]
    return "\n".join(rows)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _parts(event: CallEvent) -> str:
    """The states that were changed."""
    return ", ".join(dict.fromkeys(str(c["path"]).split("/")[1] for c in event.changes if "/" in str(c["path"])))


def _line(text: str) -> str:
    line = " ".join(text.split())
    line = line if clean_text(line) else line.encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= 300 else f"{line[:297]}..."


def _shape_of(problem: str) -> str:
    """A problem without what differs from record to record: `accounts.A-1.balance: must be …` gives `accounts balance`."""
    path = problem.partition(":")[0].split(".")
    return " ".join(dict.fromkeys((path[0].partition("[")[0], path[-1])))

"""The world of two versions: what is told first, rules, constants, states, and the state that episodes begin with."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from envscaler.changes.fields import accepted, alike, default_words, optional
from envscaler.changes.logic import meaning
from envscaler.changes.model import Audience, Changes
from envscaler.changes.pairs import paired
from envscaler.diagnostics import one_of
from envscaler.spec.model import Constant, RuleDef, Spec, StateDef
from envscaler.spec.prose import render
from envscaler.spec.read import parse_spec
from envscaler.spec.report import Report
from envscaler.spec.types import MISSING, Field
from envscaler.spec.words import json_text, value_json, value_words
from envscaler.spec.yamltree import Mapping as YamlMapping

__all__ = ["compare_world"]

_ALL: tuple[Audience, ...] = ("agent", "scenario", "recording")
_DONE: tuple[Audience, ...] = ("scenario", "recording")


def compare_world(old: Spec, new: Spec, out: Changes) -> None:
    """All but tools, helpers and setup functions."""
    _head(old, new, out)
    _constants(old, new, out)
    _rules(old, new, out)
    _states(old, new, out)
    _initial_state(old, new, out)


# -- the head of the file


def _head(old: Spec, new: Spec, out: Changes) -> None:
    if old.name != new.name:
        what = f"was called {old.name}, is {new.name}"
        out.add("scenario", "spec", what, "it is loaded by another name, its class has another", breaking=True)
    if old.version != new.version:
        out.add(
            "scenario",
            "spec",
            f"was version {old.version}, is {new.version}",
            "traces name the version",
            breaking=False,
        )
    for what, was, now in (
        ("title", old.title, new.title),
        ("introduction", old.description.value, new.description.value),
    ):
        was, now = render(was, old.constants).strip(), render(now, new.constants).strip()
        if was != now:
            out.add("agent", what, "reads otherwise", "it is told otherwise", breaking=False, was=was, now=now,
                    old=old.description.span if what != "title" else None,
                    new=new.description.span if what != "title" else None)  # fmt: skip
    if old.clock != new.clock:
        out.add(
            _DONE,
            "clock",
            f"was {old.clock}, is {new.clock}",
            "what depends on the time comes out otherwise",
            breaking=True,
        )
    if old.policy != new.policy:
        what = f"were taken {old.policy}, are taken {new.policy}"
        if new.policy == "strict":
            reason = "arguments of another JSON type are refused"
            out.add(("agent", "recording"), "arguments", what, reason, breaking=True)
        else:
            out.add("agent", "arguments", what, "what was taken still is", breaking=False)
    if old.errors != new.errors:
        out.add(("agent", "recording"), "errors", "have another form", "what is answered to a refused call reads otherwise",
                breaking=True, was=json_text(old.errors), now=json_text(new.errors))  # fmt: skip
    unknown = [None if s.unknown_tool is None else render(s.unknown_tool.value, s.constants) for s in (old, new)]
    if unknown[0] != unknown[1]:
        reason = "a call of no tool is answered with another text"
        out.add(("agent", "recording"), "unknown_tool", "reads otherwise", reason, breaking=True, was=unknown[0],
                now=unknown[1])  # fmt: skip
    before, after = [t.value for t in old.after_each], [t.value for t in new.after_each]
    if before != after:
        out.add(_DONE, "after_each", f"was {one_of(before) or 'none'}, is {one_of(after) or 'none'}",
                "states after a call may differ", breaking=True)  # fmt: skip


def _constants(old: Spec, new: Spec, out: Changes) -> None:
    for name, before in old.constants.items():
        after = new.constants.get(name)
        if after is None:
            out.add("scenario", f"constant {name}", "is gone", "where it was used is told by the other changes",
                    breaking=False, old=before.span)  # fmt: skip
        elif _constant(before) != _constant(after):
            what = f"was {_constant(before)}, is {_constant(after)}"
            out.add(_DONE, f"constant {name}", what, "what is computed with it comes out otherwise", breaking=True,
                    old=before.span, new=after.span)  # fmt: skip
    for name, constant in new.constants.items():
        if name not in old.constants:
            out.add("scenario", f"constant {name}", "is new", "where it is used is told by the other changes", breaking=False,
                    new=constant.span)  # fmt: skip


def _constant(constant: Constant) -> str:
    return f"{value_words(constant.value, constant.type)} ({constant.type})"


# -- rules


def _rules(old: Spec, new: Spec, out: Changes) -> None:
    pairs = paired(
        old.rules,
        new.rules,
        lambda a, b: a.text.value == b.text.value or (a.holds is not None and _kept(a) == _kept(b)),
    )
    for rule in pairs.gone:
        was = render(rule.text.value, old.constants)
        out.add("agent", f"rule {rule.name}", "is gone", "it is no longer told", breaking=False, old=rule.span, was=was)
        _enforced(rule, None, out)
    for rule in pairs.fresh:
        now = render(rule.text.value, new.constants)
        out.add("agent", f"rule {rule.name}", "is new", "it is told too", breaking=False, new=rule.span, now=now)
        _enforced(None, rule, out)
    for before, after in pairs.renamed:
        out.add("scenario", f"rule {before.name}", f"looks renamed to {after.name}", "what names it has to name it otherwise",
                breaking=True, old=before.span, new=after.span)  # fmt: skip
    for before, after in [*pairs.both, *pairs.renamed]:
        was, now = render(before.text.value, old.constants), render(after.text.value, new.constants)
        if " ".join(was.split()) != " ".join(now.split()):
            out.add("agent", f"rule {after.name}", "reads otherwise", "it is told otherwise", breaking=False,
                    old=before.text.span, new=after.text.span, was=was, now=now)  # fmt: skip
        if before.policy != after.policy:
            what = "was a policy, is a rule" if before.policy else "was a rule, is a policy"
            out.add("agent", f"rule {after.name}", what, "it is told under another heading", breaking=False,
                    old=before.span, new=after.span)  # fmt: skip
        _enforced(before, after, out)
    common = [n for n in old.rules if n in new.rules]
    if common != [n for n in new.rules if n in old.rules]:
        out.add("agent", "rules", "are told in another order", "nothing is refused otherwise", breaking=False)


def _kept(rule: RuleDef | None) -> tuple[str, str | None]:
    return ("", None) if rule is None or rule.holds is None else (meaning(rule.holds), rule.each)


def _enforced(old: RuleDef | None, new: RuleDef | None, out: Changes) -> None:
    """Conditions and moves, which code keeps."""
    rule = new if new is not None else old
    assert rule is not None
    subject = f"rule {rule.name}"
    places = (None if old is None else old.span, None if new is None else new.span)
    before, after = _kept(old), _kept(new)
    if before != after:
        if not before[0]:
            what = ("holds a new condition", "states that break it are refused", "calls that break it are refused")
        elif not after[0]:
            what = (
                "holds no condition any more",
                "states that it refused are allowed",
                "calls that it refused go through",
            )
        else:
            what = (
                "holds another condition",
                "states that were allowed may be refused",
                "calls may be refused or go through",
            )
        out.add("scenario", subject, what[0], what[1], breaking=bool(after[0]), at=places)
        out.add("recording", subject, what[0], what[2], breaking=True, at=places)
    for field, lost, gained in _moves(old, new):
        if lost:
            what = (
                f"{field} may no longer move {one_of(lost)}",
                "tasks that need it cannot be done",
                "calls that do it are refused",
            )
            out.add("scenario", subject, what[0], what[1], breaking=True, at=places)
            out.add("recording", subject, what[0], what[2], breaking=True, at=places)
        if gained:
            what = (
                f"{field} may also move {one_of(gained)}",
                "what was possible still is",
                "recorded refusals may go through",
            )
            out.add("scenario", subject, what[0], what[1], breaking=False, at=places)
            out.add("recording", subject, what[0], what[2], breaking=True, at=places)


def _moves(old: RuleDef | None, new: RuleDef | None) -> Iterator[tuple[str, list[str], list[str]]]:
    """For each field with moves: those lost and those gained, as `from → to`. Without a rule anything may move."""
    fields = dict.fromkeys(r.field for r in (old, new) if r is not None and r.field is not None)
    for field in fields:
        before, after = (_steps(r, field) for r in (old, new))
        name = ".".join(field)
        if before is None:
            yield name, ["in ways that the rule does not list"], []
        elif after is None:
            yield name, [], ["in any way"]
        else:
            yield name, [m for m in before if m not in after], [m for m in after if m not in before]


def _steps(rule: RuleDef | None, field: tuple[str, str]) -> list[str] | None:
    if rule is None or rule.field != field or rule.moves is None:
        return None
    return [f"{a} → {b}" for a, after in rule.moves.items() for b in after]


# -- states


def _states(old: Spec, new: Spec, out: Changes) -> None:
    pairs = paired(
        old.states, new.states, lambda a, b: a.record.name == b.record.name or [*a.record.fields] == [*b.record.fields]
    )
    for state in pairs.gone:
        out.add(
            "scenario",
            f"state {state.name}",
            "is gone",
            "states that hold it are refused",
            breaking=True,
            old=state.span,
        )
    for state in pairs.fresh:
        needed = [f.json for f in state.record.fields.values() if f.required] if state.single else []
        reason = f"a state has to give its {one_of(needed)}" if needed else "a state need not give it"
        out.add("scenario", f"state {state.name}", "is new", reason, breaking=bool(needed), new=state.span)
    for before, after in pairs.renamed:
        out.add("scenario", f"state {before.name}", f"looks renamed to {after.name}", "states that hold it are refused",
                breaking=True, old=before.span, new=after.span)  # fmt: skip
    for before, after in [*pairs.both, *pairs.renamed]:
        _state(before, after, out)


def _state(old: StateDef, new: StateDef, out: Changes) -> None:
    subject, places = f"state {new.name}", (old.span, new.span)

    def broken(what: str) -> None:
        out.add("scenario", subject, what, "states are written in another form", breaking=True, at=places)

    if old.form != new.form:
        broken(f"was a {old.form} in JSON, is a {new.form}")
    if old.single != new.single:
        broken("was one record, is a collection" if old.single else "was a collection, is one record")
    if old.key is not None and new.key is not None:
        for what, was, now in (
            ("its keys", str(old.key.type.of), str(new.key.type.of)),
            ("the key's name", old.key.json, new.key.json),
        ):
            if was != now:
                broken(f"{what} was {was}, is {now}" if what != "its keys" else f"its keys were {was}, are {now}")
        if old.key.in_record != new.key.in_record:
            broken("records repeat their key" if new.key.in_record else "records no longer repeat their key")
        if old.key.in_results != new.key.in_results:
            what = (
                "its records carry their key in results"
                if new.key.in_results
                else "its records carry no key in results"
            )
            out.add("recording", subject, what, "recorded results differ", breaking=True, at=places)
        if old.key.make != new.key.make:
            what = f"keys were made as {old.key.make or 'given'}, are made as {new.key.make or 'given'}"
            out.add("recording", subject, what, "new records have other keys", breaking=True, at=places)
            out.add(
                "scenario",
                subject,
                what,
                "new records have other keys; old ones keep theirs",
                breaking=False,
                at=places,
            )
    if _tree(old) != _tree(new):
        broken("is another tree" if old.tree and new.tree else "is a tree now" if new.tree else "is no tree any more")
    whole = _unique(old), _unique(new)
    for names in sorted(whole[1] - whole[0]):
        out.add(
            _DONE,
            subject,
            f"{' and '.join(names)} must be unique{_TOGETHER[len(names) > 1]}",
            "what repeats them is refused",
            breaking=True,
            at=places,
        )
    for names in sorted(whole[0] - whole[1]):
        what = f"{' and '.join(names)} need not be unique{_TOGETHER[len(names) > 1]}"
        out.add("scenario", subject, what, "what was allowed still is", breaking=False, at=places)
    _fields(old, new, out)


_TOGETHER = ("", " together")


def _unique(state: StateDef) -> set[tuple[str, ...]]:
    """What the state declares unique; what a field declares is told of the field."""
    fields = state.record.fields
    return {names for names in state.unique if len(names) > 1 or not fields[names[0]].unique}


def _tree(state: StateDef) -> tuple[str, str, str | None] | None:
    return None if state.tree is None else (state.tree.parent, state.tree.name, state.tree.nested)


def _fields(old: StateDef, new: StateDef, out: Changes) -> None:
    pairs = paired(
        {f.json: f for f in old.record.fields.values()}, {f.json: f for f in new.record.fields.values()}, alike
    )

    def subject(field: Field) -> str:
        return f"field {new.name}.{field.json}"

    for field in pairs.gone:
        out.add("scenario", subject(field), "is gone", "states that give it are refused", breaking=True, old=field.span)
    for field in pairs.fresh:
        if optional(field):
            out.add("scenario", subject(field), "is new and may be left out", "states without it are allowed", breaking=False,
                    new=field.span)  # fmt: skip
        else:
            out.add(
                "scenario",
                subject(field),
                "is new and required",
                "states without it are refused",
                breaking=True,
                new=field.span,
            )
    for before, after in pairs.renamed:
        out.add("scenario", subject(before), f"looks renamed to {after.json}", "states that give it are refused", breaking=True,
                old=before.span, new=after.span)  # fmt: skip
    for before, after in [*pairs.both, *pairs.renamed]:
        _field(before, after, subject(after), out)


def _field(old: Field, new: Field, subject: str, out: Changes) -> None:
    places = (old.span, new.span)
    values = accepted(old, new)
    if values is not None and values.narrower:
        out.add("scenario", subject, values.what, "states that were allowed may be refused", breaking=True, at=places)
        out.add(
            "recording", subject, values.what, "calls that write such a value are refused", breaking=True, at=places
        )
    elif values is not None:
        out.add("scenario", subject, values.what, "what was allowed still is", breaking=False, at=places)
    if optional(old) and not optional(new):
        out.add("scenario", subject, "is required now", "states without it are refused", breaking=True, at=places)
    elif optional(new) and not optional(old):
        out.add("scenario", subject, "may be left out now", "what was allowed still is", breaking=False, at=places)
    default = default_words(old, new)
    if default is not None:
        out.add(_DONE, subject, default, "records made without it are others", breaking=True, at=places)
    if old.incidental != new.incidental:
        what = "is left out of scoring" if new.incidental else "counts when scoring"
        out.add(
            "scenario", subject, what, "final states are compared otherwise", breaking=not new.incidental, at=places
        )


# -- the initial state


def _initial_state(old: Spec, new: Spec, out: Changes) -> None:
    differing = dict(_differing(old, new))
    lines = (_lines(old), _lines(new)) if differing else ({}, {})  # these read the whole files again
    for name, what in differing.items():
        out.add("scenario", f"initial state of {name}", what, "scenarios that begin with the spec's own state begin otherwise",
                breaking=True, old=lines[0].get(name), new=lines[1].get(name))  # fmt: skip


def _differing(old: Spec, new: Spec) -> Iterator[tuple[str, str]]:
    """The states that begin otherwise, and how."""
    for name in dict.fromkeys([*old.states, *new.states]):
        shared = {f.json for f in old.states[name].record.fields.values()} if name in old.states else set()
        shared &= {f.json for f in new.states[name].record.fields.values()} if name in new.states else set()
        before, after = (_records(s, name, shared) for s in (old, new))
        if before is None or after is None or before == after:
            continue
        if name in old.states and name in new.states and old.states[name].single:
            changed = [k for k in {**before, **after} if before.get(k, MISSING) != after.get(k, MISSING)]
            yield name, f"{one_of(changed)} changed"
            continue
        gone, fresh = [k for k in before if k not in after], [k for k in after if k not in before]
        changed = [k for k in before if k in after and before[k] != after[k]]
        parts = ((gone, "gone"), (fresh, "new"), (changed, "changed"))
        yield name, "; ".join(f"{one_of(map(str, keys), 6)} {word}" for keys, word in parts if keys) or "another order"


def _records(spec: Spec, name: str, shared: Collection[str]) -> dict[Any, Any] | None:
    """Records of a state by key, or the fields of a single one; None where there is no state.

    ``shared``: the fields that both versions have, the others are told of as fields. What is left out is filled in.
    """
    state = spec.states.get(name)
    if state is None:
        return None
    given = spec.initial_state
    if state.key is None:
        own = {f.json for f in state.record.fields.values()}
        part = {k: v for k, v in given.items() if k in own} if state.form == "flat" else given.get(name, {})
        return _filled(state, part, shared)
    part = given.get(name, {})
    if state.tree is not None and state.tree.nested is not None:
        return dict(part) if isinstance(part, Mapping) else dict(enumerate(part))
    if isinstance(part, Mapping):
        return {key: _filled(state, record, shared) for key, record in part.items()}
    return {record.get(state.key.json): _filled(state, record, shared) for record in part}


def _filled(state: StateDef, record: Mapping[str, Any], shared: Collection[str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for field in state.record.fields.values():
        if field.json not in shared:
            continue
        if field.json in record:
            result[field.json] = record[field.json]
        elif field.default is not MISSING:
            result[field.json] = value_json(field.default, field.type)
        elif not field.absent:
            result[field.json] = None
    return result


def _lines(spec: Spec) -> dict[str, int]:
    """Where the parts of the initial state stand; all in the line of `initial_state` when they are in another file."""
    document = parse_spec(spec.path, spec.source, Report())
    root = None if document is None else document.root
    entry = root.entries.get("initial_state") if isinstance(root, YamlMapping) else None
    if entry is None:
        return {}
    inner = entry.value.entries if isinstance(entry.value, YamlMapping) else {}
    return {name: inner[name].key.span.line if name in inner else entry.key.span.line for name in spec.states}

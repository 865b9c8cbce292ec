"""Tools, helpers and setup functions of two versions."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence

from envscaler.changes.fields import accepted, alike, default_words, optional
from envscaler.changes.kinds import covers, same, type_words
from envscaler.changes.logic import meaning
from envscaler.changes.model import Audience, Changes, Place
from envscaler.changes.pairs import paired
from envscaler.spec.checked import Checked
from envscaler.spec.model import HelperDef, Param, Spec, ToolDef
from envscaler.spec.prose import render
from envscaler.spec.refusals import Refusal, missing_refusals, tool_refusals
from envscaler.spec.types import MISSING
from envscaler.spec.words import json_text, value_words

__all__ = ["compare_functions", "compare_tools"]

_BOTH: tuple[Audience, ...] = ("agent", "recording")
_NEAR = 0.6  # texts at least as alike as this are one text, changed


class _Versions:
    """The two checked specs, and where changes go."""

    def __init__(self, old: Checked, new: Checked, out: Changes) -> None:
        assert old.spec is not None
        assert new.spec is not None
        self.old, self.new, self.out = old, new, out
        self.before: Spec = old.spec
        self.after: Spec = new.spec

    def told(self, old: str, new: str) -> tuple[str, str]:
        """Two texts with the constants of their versions."""
        return render(old, self.before.constants).strip(), render(new, self.after.constants).strip()


def compare_tools(old: Checked, new: Checked, out: Changes) -> None:
    """What agents and recordings meet."""
    versions = _Versions(old, new, out)
    pairs = paired(versions.before.tools, versions.after.tools, _alike)
    for tool in pairs.gone:
        out.add("agent", f"tool {tool.name}", "is gone", "a call of it is answered as that of an unknown tool",
                breaking=True, old=tool.span)  # fmt: skip
        out.add("recording", f"tool {tool.name}", "is gone", "recorded calls of it fail", breaking=True, old=tool.span)
    for tool in pairs.fresh:
        out.add(
            "agent", f"tool {tool.name}", "is new", "it can be called beside the others", breaking=False, new=tool.span
        )
    for before, after in pairs.renamed:
        out.add(_BOTH, f"tool {before.name}", f"looks renamed to {after.name}", "calls by the old name fail",
                breaking=True, old=before.span, new=after.span)  # fmt: skip
    for before, after in [*pairs.both, *pairs.renamed]:
        _Tool(versions, before, after).compare()
    _order(versions)


def _alike(old: ToolDef, new: ToolDef) -> bool:
    """Whether one tool may be the other under a new name: it does the same, or is described the same or almost so."""
    if [p.field.json for p in old.params] != [p.field.json for p in new.params]:
        return False
    near = difflib.SequenceMatcher(None, old.description.value, new.description.value).ratio()
    return meaning(old.do) == meaning(new.do) or near > 0.8


def _order(versions: _Versions) -> None:
    old = [name for name in versions.before.tools if name in versions.after.tools]
    new = [name for name in versions.after.tools if name in versions.before.tools]
    if old != new:
        versions.out.add("agent", "tools", "are listed in another order", "nothing is called otherwise", breaking=False)


class _Tool:
    def __init__(self, versions: _Versions, old: ToolDef, new: ToolDef) -> None:
        self.versions, self.out, self.old, self.new = versions, versions.out, old, new
        self.subject = f"tool {new.name}"

    def compare(self) -> None:
        old, new = self.old, self.new
        was, now = self.versions.told(old.description.value, new.description.value)
        if was != now:
            self.add("agent", "has another description", "it is told otherwise", breaking=False,
                     places=(old.description.span, new.description.span), was=was, now=now)  # fmt: skip
        if old.kind != new.kind:
            self.add("agent", f"was a {old.kind} tool, is a {new.kind} tool", "hosts that ask before changes may treat it "
                     "otherwise", breaking=False)  # fmt: skip
        if old.actor != new.actor:
            self.add(
                _BOTH,
                f"was the {old.actor}'s, is the {new.actor}'s",
                f"the {old.actor}'s calls of it fail",
                breaking=True,
            )
        compare_params(self.versions, old.params, new.params, f"tool {new.name}", _BOTH)
        self.refusals()
        self.result()
        if old.errors != new.errors:
            was, now = json_text(old.errors), json_text(new.errors)
            self.add(_BOTH, "has another form of errors", "what it answers when it refuses reads otherwise", breaking=True,
                     was=was, now=now)  # fmt: skip
        if meaning(old.do) != meaning(new.do):
            self.add("recording", "has other logic", "results and changes may differ; --recording says where", breaking=True,
                     places=(old.do.span, new.do.span))  # fmt: skip

    def add(
        self,
        audiences: Sequence[Audience] | Audience,
        what: str,
        reason: str,
        *,
        breaking: bool,
        places: tuple[Place, Place] | None = None,
        was: str | None = None,
        now: str | None = None,
    ) -> None:
        at = places if places is not None else (self.old.span, self.new.span)
        self.out.add(audiences, self.subject, what, reason, breaking=breaking, at=at, was=was, now=now)

    def result(self) -> None:
        old, new = self.versions.old.tools[self.old.name].returns, self.versions.new.tools[self.new.name].returns
        if same(old, new):
            return
        what = f"gives something else: {type_words(old, new)}"
        self.add("agent", what, "it reads another result", breaking=False)
        if covers(new, old, closed=True):
            self.add("recording", what, "recorded results can still come", breaking=False)
        else:
            self.add("recording", what, "recorded results may not come", breaking=True)

    # -- refusals

    def refusals(self) -> None:
        old = tool_refusals(self.versions.old, self.old)
        new = tool_refusals(self.versions.new, self.new)
        gone, fresh = _apart(old, new), _apart(new, old)
        for before, after in _partners(gone, fresh):
            if before.message != after.message:
                self.text_changed(before, after)
            if before.rule != after.rule:
                what = f"names rule {after.rule or 'none'} where it named {before.rule or 'none'}"
                self.add("recording", what, "the text is the same; what is counted by rules differs", breaking=False,
                         places=(before.line, after.line), was=before.message, now=after.message)  # fmt: skip
        for refusal in fresh:
            self.add("agent", "can refuse in a new way", "calls that went through may be refused", breaking=True,
                     places=(None, refusal.line), now=refusal.message)  # fmt: skip
            self.add("recording", "can refuse in a new way", "recorded calls that went through may be refused", breaking=True,
                     places=(None, refusal.line), now=refusal.message)  # fmt: skip
        for refusal in gone:
            self.add("agent", "no longer refuses in one way", "calls that were refused may go through", breaking=False,
                     places=(refusal.line, None), was=refusal.message)  # fmt: skip
            self.add("recording", "no longer refuses in one way", "recorded refusals may go through", breaking=True,
                     places=(refusal.line, None), was=refusal.message)  # fmt: skip

    def text_changed(self, before: Refusal, after: Refusal) -> None:
        places = (before.line, after.line)
        self.add("agent", "refuses with another text", "it reads another text", breaking=False, places=places,
                 was=before.message, now=after.message)  # fmt: skip
        self.add("recording", "refuses with another text", "recorded refusals have the old text", breaking=True,
                 places=places, was=before.message, now=after.message)  # fmt: skip


def _owner(refusal: Refusal) -> str:
    return "" if refusal.owner.startswith(("tool ", "setup ")) else refusal.owner


def _apart(these: Sequence[Refusal], those: Sequence[Refusal]) -> list[Refusal]:
    """What is in ``these`` and not in ``those``, by text and rule."""
    left = Counter((r.message, r.rule) for r in those)
    found = []
    for refusal in these:
        if left[refusal.message, refusal.rule]:
            left[refusal.message, refusal.rule] -= 1
        else:
            found.append(refusal)
    return found


def _partners(gone: list[Refusal], fresh: list[Refusal]) -> Iterator[tuple[Refusal, Refusal]]:
    """Refusals that are one, changed: taken out of both lists."""
    for fits in (_same_text, _same_test, _near_text):
        for before in list(gone):
            after = next((r for r in fresh if fits(before, r)), None)
            if after is not None:
                gone.remove(before)
                fresh.remove(after)
                yield before, after


def _same_text(old: Refusal, new: Refusal) -> bool:
    return old.message == new.message


def _same_test(old: Refusal, new: Refusal) -> bool:
    return _owner(old) == _owner(new) and old.needs == new.needs and old.when == new.when


def _near_text(old: Refusal, new: Refusal) -> bool:
    return difflib.SequenceMatcher(None, old.message, new.message).ratio() >= _NEAR


# -- parameters


def compare_params(
    versions: _Versions, old: Sequence[Param], new: Sequence[Param], owner: str, audiences: Sequence[Audience]
) -> None:
    """Parameters of a tool or setup function; ``audiences`` are those who call it."""
    out, first = versions.out, audiences[0]
    pairs = paired({p.field.json: p for p in old}, {p.field.json: p for p in new}, lambda a, b: alike(a.field, b.field))

    def subject(param: Param) -> str:
        return f"parameter {param.field.json} of {owner}"

    for param in pairs.gone:
        out.add(
            audiences, subject(param), "is gone", "calls that give it are refused", breaking=True, old=param.field.span
        )
    for param in pairs.fresh:
        if optional(param.field):
            out.add(first, subject(param), "is new and may be left out", "calls without it do as before", breaking=False,
                    new=param.field.span)  # fmt: skip
        else:
            out.add(audiences, subject(param), "is new and required", "calls without it are refused", breaking=True,
                    new=param.field.span)  # fmt: skip
    for before, after in pairs.renamed:
        out.add(audiences, subject(before), f"looks renamed to {after.field.json}", "calls by the old name are refused",
                breaking=True, old=before.field.span, new=after.field.span)  # fmt: skip
    for before, after in [*pairs.both, *pairs.renamed]:
        _param(versions, before, after, subject(after), audiences)


def _param(versions: _Versions, old: Param, new: Param, subject: str, audiences: Sequence[Audience]) -> None:
    out, first = versions.out, audiences[0]
    places = (old.field.span, new.field.span)
    values = accepted(old.field, new.field)
    if values is not None and values.narrower:
        out.add(audiences, subject, values.what, "values that were taken are refused", breaking=True, at=places)
    elif values is not None:
        out.add(first, subject, values.what, "what was taken still is", breaking=False, at=places)
    if optional(old.field) and not optional(new.field):
        out.add(audiences, subject, "is required now", "calls without it are refused", breaking=True, at=places)
    elif optional(new.field) and not optional(old.field):
        out.add(first, subject, "may be left out now", "calls that give it do as before", breaking=False, at=places)
    default = default_words(old.field, new.field)
    if default is not None:
        out.add(audiences, subject, default, "calls without it mean something else", breaking=True, at=places)
    was, now = versions.told(old.field.description, new.field.description)
    if was != now:
        out.add(
            first,
            subject,
            "has another description",
            "it is told otherwise",
            breaking=False,
            was=was,
            now=now,
            at=places,
        )


# -- helpers and setup functions


def compare_functions(old: Checked, new: Checked, out: Changes) -> None:
    """Helpers, by what they do for recordings, and setup functions, which scenarios call."""
    versions = _Versions(old, new, out)
    for name, before in versions.before.helpers.items():
        after = versions.after.helpers.get(name)
        if after is not None and _helper(before) != _helper(after):
            reason = "tools that call it may do otherwise; --recording says where"
            out.add("recording", f"helper {name}", "has other logic", reason, breaking=True,
                    old=before.do.span, new=after.do.span)  # fmt: skip
    pairs = paired(versions.before.setup, versions.after.setup, _setup_alike)
    for function in pairs.gone:
        out.add(
            "scenario",
            f"setup {function.name}",
            "is gone",
            "scenarios that call it fail",
            breaking=True,
            old=function.span,
        )
    for function in pairs.fresh:
        out.add(
            "scenario", f"setup {function.name}", "is new", "scenarios can call it", breaking=False, new=function.span
        )
    for before, after in pairs.renamed:
        out.add("scenario", f"setup {before.name}", f"looks renamed to {after.name}", "scenarios that call it fail",
                breaking=True, old=before.span, new=after.span)  # fmt: skip
    for before, after in [*pairs.both, *pairs.renamed]:
        compare_params(versions, before.params, after.params, f"setup {after.name}", ("scenario",))
        if meaning(before.do) != meaning(after.do) or _missing(versions.before, before) != _missing(
            versions.after, after
        ):
            out.add("scenario", f"setup {after.name}", "has other logic", "the states it makes may differ", breaking=True,
                    old=before.do.span, new=after.do.span)  # fmt: skip


def _setup_alike(old: HelperDef, new: HelperDef) -> bool:
    return [p.field.json for p in old.params] == [p.field.json for p in new.params] and meaning(old.do) == meaning(
        new.do
    )


def _missing(spec: Spec, function: HelperDef) -> list[str]:
    return [r.message for r in missing_refusals(spec, function.params, "")]


def _helper(helper: HelperDef) -> tuple[object, ...]:
    params = [
        (p.name, str(p.field.type), None if p.field.default is MISSING else value_words(p.field.default, p.field.type))
        for p in helper.params
    ]
    return params, str(helper.returns), meaning(helper.do)

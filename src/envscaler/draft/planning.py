"""A theme becomes a plan: states and rules first, then the tools over them, each held against itself and corrected."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from envscaler.draft.asking import Unusable, ask, one_line
from envscaler.draft.planned import state_problems, tool_problems
from envscaler.draft.plans import Plan, PlannedField, PlannedRule, PlannedState, PlannedTool, Size
from envscaler.draft.themes import Theme
from envscaler.llm import Llm, Message, labelled
from envscaler.spec.forms import SCALARS
from envscaler.spec.language import RESERVED_NAMES
from envscaler.spec.names import is_name, proposal

__all__ = ["plan"]

R = TypeVar("R", bound="_Reply")
_SHOWN = 20  # problems told at once


async def plan(
    theme: Theme, llm: Llm, size: Size | None = None, *, tries: int = 3, folders: Sequence[str] = (), sample: int = 0
) -> Plan:
    """The plan of an environment, by a model of the role `planner`. Calls are filed under `construction`, as the paper does.

    What is wrong with a reply goes back to the model; each half is asked for at most ``tries`` times; what is wrong then is
    kept in the plan's problems. Raises Unusable when the model gives no plan at all, LlmError when it cannot be asked.
    """
    size = size or Size()
    asking = _Asking(llm, tuple(folders), sample, tries)
    with labelled("construction"):
        first, problems = await asking.ask(
            _StatesReply,
            "plan.states",
            lambda r: r.settled(r.states),
            lambda r: state_problems(r.states, r.rules, size),
            theme=theme,
            size=size,
        )
        if not first.states:
            raise Unusable("llm-plan", "the plan has no states")
        states, rules = tuple(first.states), tuple(first.rules)
        second, more = await asking.ask(
            _ToolsReply, "plan.tools", lambda r: r.settled(states), lambda r: tool_problems(r.tools, states, size),
            theme=theme, size=size, states=states, rules=rules, reads=round(size.tools * size.reading),
        )  # fmt: skip
    if not second.tools:
        raise Unusable("llm-plan", "the plan has no tools")
    return Plan(theme=theme, states=states, rules=rules, tools=tuple(second.tools), problems=(*problems, *more))


class _Asking:
    def __init__(self, llm: Llm, folders: tuple[str, ...], sample: int, tries: int) -> None:
        self._llm = llm
        self._folders = folders
        self._sample = sample
        self._tries = tries

    async def ask(
        self, shape: type[R], name: str, settle: Callable[[R], R], check: Callable[[R], list[str]], **values: Any
    ) -> tuple[R, list[str]]:
        """The reply with the fewest problems, corrections laid over it, and its problems."""
        from envscaler.compiler.templates import render

        system = render(
            "prompts/draft/plan.system.j2", self._folders, reserved=sorted(RESERVED_NAMES), types=tuple(SCALARS)
        )
        user = render(f"prompts/draft/{name}.j2", self._folders, **values)
        question = [Message("system", system.strip()), Message("user", user.strip())]
        best = settle(await ask(self._llm, shape, question, sample=self._sample))
        problems = check(best)
        said, again = question, 0
        for _ in range(self._tries - 1):
            if not problems:
                break
            told = render("prompts/draft/plan.again.j2", self._folders, problems=problems[:_SHOWN])
            before = Message("assistant", json.dumps(best.short(), ensure_ascii=False))
            asked = [*question, before, Message("user", told.strip())]
            again = again + 1 if asked == said else 0  # the same once more: another sample
            said = asked
            try:
                fixes = await ask(self._llm, shape, asked, sample=self._sample + again)
            except Unusable:
                continue
            made = settle(best.over(fixes))
            found = check(made)
            if len(found) <= len(problems):
                best, problems = made, found
        return best, problems


# -- replies


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    drop: list[str] = []

    def short(self) -> dict[str, Any]:
        """What was planned, without what is empty."""
        made: dict[str, Any] = _dense(self.model_dump(exclude={"drop"}))
        return made

    def over(self: R, fixes: R) -> R:
        """This one with the entries of another laid over it by name, and those that it drops left out."""
        made: dict[str, Any] = {}
        for key in type(self).model_fields:
            if key != "drop":
                entries = {one.name: one for one in getattr(self, key)}
                entries |= {one.name: one for one in getattr(fixes, key)}
                made[key] = [
                    one for name, one in entries.items() if name not in fixes.drop or one in getattr(fixes, key)
                ]
        return self.model_copy(update=made)

    def settled(self: R, states: Sequence[PlannedState]) -> R:
        """This one with states called by their names where it means them: `Loan` and `loan` are the state `loans`."""
        names = {_bare(known): s.name for s in reversed(states) for known in (s.record, s.name)}
        names |= {_bare(s.name): s.name for s in states} | {s.name: s.name for s in states}
        made: dict[str, Any] = {}
        for key in set(type(self).model_fields) & {"rules", "tools"}:
            made[key] = [
                one.model_copy(
                    update={"states": tuple(dict.fromkeys(names.get(n) or names.get(_bare(n), n) for n in one.states))}
                )
                for one in getattr(self, key)
            ]
        return self.model_copy(update=made)


def _bare(name: str) -> str:
    return name.lower().replace("_", "").removesuffix("s")


class _StatesReply(_Reply):
    """What the environment keeps, and its rules."""

    model_config = ConfigDict(title="States", extra="ignore")

    states: list[PlannedState] = []
    rules: list[PlannedRule] = []

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        states = [
            {**s, "fields": _records(s.get("fields"), "type")} for s in _records(given.get("states"), "description")
        ]
        for state in states:
            state["fields"] = [_only(f, PlannedField) for f in state["fields"]]
            if isinstance(record := state.get("record"), str) and not is_name(record, "type"):
                state["record"] = proposal(record, "type") or record
        return {
            "states": [_only(s, PlannedState, record=_capital(s.get("name", ""))) for s in states],
            "rules": [_only(r, PlannedRule, text="") for r in _records(given.get("rules"), "text")],
            "drop": _texts(given.get("drop")),
        }


class _ToolsReply(_Reply):
    """The tools of the environment."""

    model_config = ConfigDict(title="Tools", extra="ignore")

    tools: list[PlannedTool] = []

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        tools = _records(given.get("tools"), "description")
        for tool in tools:
            tool["params"] = {
                p["name"]: _words(p) for p in _records(tool.get("params", tool.get("parameters")), "description")
            }
            tool["kind"] = _KINDS.get(str(tool.get("kind", "")).strip().lower(), tool.get("kind"))
            tool["effects"] = "; ".join(_texts(tool.get("effects")))
        return {"tools": [_only(t, PlannedTool) for t in tools], "drop": _texts(given.get("drop"))}


_KINDS = {
    "query": "read", "get": "read", "list": "read", "change": "write", "update": "write", "mutation": "write",
    "create": "write", "delete": "write",
}  # fmt: skip


def _records(value: Any, word: str) -> list[dict[str, Any]]:
    """Objects that have names: of a list, also of a mapping by name, whose texts are what ``word`` says."""
    if isinstance(value, dict):
        value = [{**v, "name": k} if isinstance(v, dict) else {"name": k, word: v} for k, v in value.items()]
    found = []
    for one in value if isinstance(value, list) else []:
        if isinstance(one, str):
            name, _, rest = one.partition(":")
            one = {"name": name.strip(), word: rest.strip() or "str" if word == "type" else rest.strip()}
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            found.append(dict(one))
    return found


def _only(given: dict[str, Any], of: type[BaseModel], **defaults: str) -> dict[str, Any]:
    """What the record has of it, texts as texts."""
    made: dict[str, Any] = {}
    for key, info in of.model_fields.items():
        value = given.get(key)
        if value is None:
            if key in defaults and info.is_required():
                made[key] = defaults[key]
        elif info.annotation is str:
            made[key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        elif info.annotation == tuple[str, ...]:
            made[key] = _texts(value)
        else:
            made[key] = value
    return made


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return (
        [v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in value]
        if isinstance(value, list)
        else []
    )


def _words(param: dict[str, Any]) -> str:
    """What a parameter means, its type first."""
    words = [str(param[k]) for k in ("type", "description") if param.get(k)]
    if param.get("required") is False or param.get("optional") is True:
        words.append("may be left out")
    return one_line(", ".join(words))


def _capital(name: Any) -> str:
    words = str(name).replace("-", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words).removesuffix("s")


def _dense(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _dense(v) for k, v in value.items() if v not in ("", (), [], {}, False)}
    return [_dense(v) for v in value] if isinstance(value, (list, tuple)) else value

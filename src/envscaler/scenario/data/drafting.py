"""A state written by a model: what is wrong with it goes back to the model, and what it cannot put right is left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from envscaler.errors import StateError, UsageError
from envscaler.llm import Llm, Message, labelled
from envscaler.runtime import shapes as s
from envscaler.scenario.data.records import Records, blamed
from envscaler.scenario.llm.asking import Unusable, ask, messages, one_line
from envscaler.scenario.world import World

__all__ = ["DraftSettings", "Drafted", "draft_state"]

_PARTS: Final = ("clock", "constants", "types", "states", "rules")
_SHOWN: Final = 12  # problems told at once
_EXAMPLES: Final = 3  # records of each collection
_AROUND: Final = 200  # rounds in which records are left out


@dataclass(frozen=True, slots=True)
class DraftSettings:
    """``size``: about how many records. ``tries``: how often the model is asked at most, the first time included.
    ``theme``: what the state is about, in a sentence."""

    size: int = 30
    tries: int = 3
    theme: str = ""

    def __post_init__(self) -> None:
        for name in ("size", "tries"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is at least 1, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Drafted:
    """``problems``: how many there were after each try; ``records``: how many were kept, ``repaired`` how many the model put
    right when told, ``dropped`` how many were left out at last, by collection."""

    state: Mapping[str, Any]
    problems: tuple[int, ...]
    records: int
    repaired: int
    dropped: Mapping[str, int]


class _StateReply(BaseModel):
    """The state, or the records of it that are put right."""

    model_config = ConfigDict(title="State")

    state: dict[str, Any]


async def draft_state(world: World, llm: Llm, settings: DraftSettings | None = None) -> Drafted:
    """A state by a model (of the role `planner`), allowed by the spec. Its calls are filed under the stage `data`.

    Raises Unusable when no reply has the shape, or nothing of the state can be kept; LlmError when the model cannot be
    asked.
    """
    chosen = settings or DraftSettings()
    env = world.environment.new()
    question = messages(
        "state",
        world.templates,
        spec=_sections(world),
        example=_example(env.state),
        size=chosen.size,
        theme=chosen.theme,
    )
    with labelled("data"):
        draft: dict[str, Any] = dict((await ask(llm, _StateReply, question)).state)
        counts = [len(_problems(world, draft))]
        put_right: set[tuple[str, str]] = set()
        while (problems := _problems(world, draft)) and len(counts) < chosen.tries:
            said = [*question, Message("assistant", _json({"state": draft})), Message("user", _told(world, problems))]
            try:
                reply = await ask(llm, _StateReply, said, sample=len(counts))
            except Unusable:
                counts.append(len(problems))
                continue
            put_right |= _merge(world, draft, reply.state)
            counts.append(len(_problems(world, draft)))
    dropped: Counter[str] = Counter()
    kept = _kept(world, draft, env.state, dropped)
    records = Records.taken(world.states, kept)
    if world.collections and not records.count:
        raise Unusable("llm-state", "nothing of the state could be kept")
    standing = {(name, str(key)) for name, key in records.places()}
    return Drafted(kept, tuple(counts), records.count, len(put_right & standing), dict(sorted((+dropped).items())))


def _sections(world: World) -> str:
    """The parts of the spec's text that say which states it allows."""
    lines, taking = [], False
    for line in world.spec.source.splitlines():
        if line[:1].isalpha():
            taking = line.partition(":")[0] in _PARTS
        if taking:
            lines.append(line)
    return "\n".join(lines).strip()


def _example(state: Mapping[str, Any]) -> str:
    """A few records of each collection, as JSON."""
    some = {
        name: dict(list(part.items())[:_EXAMPLES])
        if isinstance(part, dict)
        else part[:_EXAMPLES]
        if isinstance(part, list)
        else part
        for name, part in state.items()
    }
    return "{" + ",\n".join(f"{_json(name)}: {_json(part)}" for name, part in some.items()) + "}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _problems(world: World, draft: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        world.environment.prepare(draft)
    except StateError as error:
        return error.problems
    return ()


def _told(world: World, problems: Sequence[str]) -> str:
    from envscaler.compiler.templates import render

    shown = [one_line(problem) for problem in problems[:_SHOWN]]
    text = render("prompts/scenario/state.again.j2", world.templates, problems=shown, count=len(problems))
    return text.strip()


def _merge(world: World, draft: dict[str, Any], fixes: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Lay the records that were put right over the draft; which they are."""
    changed = set()
    for name, part in fixes.items():
        before = draft.get(name)
        if name not in world.collections or not isinstance(part, dict) or not isinstance(before, dict):
            draft[name] = part
            continue
        merged = dict(before)
        for key, record in part.items():
            if record is None:
                merged.pop(key, None)
            else:
                merged[key] = record
                changed.add((name, str(key)))
        draft[name] = merged
    return changed


# -- what cannot be put right


def _kept(world: World, draft: Mapping[str, Any], initial: Mapping[str, Any], dropped: Counter[str]) -> dict[str, Any]:
    """The draft without the records that are not allowed; single records fall back to those of the spec."""
    state = _sound(world, draft, initial, dropped)
    for _ in range(_AROUND):
        problems = _problems(world, state)
        if not problems:
            return world.environment.new(state).state
        records = Records.taken(world.states, state)
        wrong = {place for found in blamed(records, problems) for place in found}
        for name, key in wrong:
            del records.of[name][key]
            dropped[name] += 1
        if not wrong and not _fallen_back(records, Records.taken(world.states, initial)):
            break
        state = records.state()
    raise Unusable("llm-state", f"nothing of the state could be kept: {problems[0]}")


def _fallen_back(records: Records, initial: Records) -> bool:
    if records.singles == initial.singles:
        return False
    records.singles = dict(initial.singles)
    return True


def _sound(world: World, draft: Mapping[str, Any], initial: Mapping[str, Any], dropped: Counter[str]) -> dict[str, Any]:
    """The declared states of the draft, each of the right kind of container, with objects in it."""
    state: dict[str, Any] = {}
    for name, shape in world.states.items():
        if not isinstance(shape, s.Collection):
            names = [f.json for f in shape.record.fields] if shape.form == "flat" else [name]
            state |= {n: draft.get(n, initial[n]) for n in names if n in draft or n in initial}
            if shape.form != "flat" and not isinstance(state.get(name), dict):
                state[name] = initial[name]
            continue
        part, empty = draft.get(name), type(initial[name])()
        if not isinstance(part, type(empty)) or (shape.tree is not None and shape.tree.nested is not None):
            state[name] = part if shape.tree is not None and isinstance(part, type(empty)) else empty
            continue
        state[name] = _objects(shape, part)
        dropped[name] += len(part) - len(state[name])
    return state


def _objects(shape: s.Collection, part: Any) -> Any:
    """Its entries that are objects, under keys of the right form."""
    if isinstance(part, list):
        return [one for one in part if isinstance(one, dict) and isinstance(one.get(shape.key.json), str | int)]
    whole = shape.key.of is s.INT
    return {k: one for k, one in part.items() if isinstance(one, dict) and (not whole or k.lstrip("-").isdigit())}

"""A read as a question: what is to be looked up, and the one value of it that is to be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.runtime import shapes as s
from envscaler.scenario.plan import Plan
from envscaler.scenario.wording.english import listed, names_noun, topic, words_of
from envscaler.scenario.wording.requests import Speaker
from envscaler.scenario.wording.values import label_of, said, strip_null
from envscaler.scenario.world import World

__all__ = ["question"]


def question(world: World, plan: Plan, index: int, name: str, row: Mapping[str, Any], *, count: bool) -> str:
    """An imperative without a capital that asks for the field ``name`` of what the ``index``-th call gives.

    ``row``: what tells the entry of a list that is meant; ``count``: how many entries the list ``name`` has.
    """
    speaker = Speaker(world, plan, later=True)
    about, thing = _about(speaker, index)
    words = words_of(name)
    if count:
        some = f"how many {words} there are" if words.endswith("s") else f'how many entries there are under "{words}"'
        wanted = some if name else "how many entries that has"
    else:
        wanted = f'what it says under "{words}"'
    if row:
        wanted += f" for the entry with {listed([_mark(field, value) for field, value in row.items()])}"
    return f"look up {about}, and tell me {wanted}" if thing else f"{about}, and tell me {wanted}"


def _about(speaker: Speaker, index: int) -> tuple[str, bool]:
    call = speaker.plan.calls[index]
    tool = speaker.world.tools[call.tool]
    speaker.sources[index] = dict(call.sources)
    text, thing = topic(tool.description, tool.name)
    left: list[str] = []
    for name, value in call.arguments.items():
        field = tool.params.get(name)
        shape = strip_null(field.shape) if field is not None else s.ANY
        found = None
        if field is not None and isinstance(shape, s.Ref) and value is not None:
            nouns = dict.fromkeys((label_of(field), speaker.records.noun(shape.collection)))
            found = next((m for noun in nouns if (m := names_noun(text, noun)) is not None), None)
        if found is None and isinstance(shape, s.Ref):
            text += f" for {speaker.record(index, name, value, shape, label_of(field) if field is not None else name)}"
        elif found is None:
            left.append(speaker.detail(index, name).phrase)
        else:
            assert field is not None
            text = (
                text[: found.start()] + speaker.record(index, name, value, shape, label_of(field)) + text[found.end() :]
            )
    return (f"{text} ({listed(left)})" if left else text), thing


def _mark(name: str, value: Any) -> str:
    return f"{words_of(name)} {said(value, s.ANY)}"

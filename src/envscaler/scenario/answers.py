"""Answer slots: what an agent fills with `submit`, as its tool shows them and as goals read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envscaler.runtime import shapes as s
from envscaler.runtime.reading import BAD, reader
from envscaler.spec.types import Struct

__all__ = ["Slots", "Submitted", "slots_key"]


@dataclass(frozen=True, slots=True)
class Submitted:
    """What an agent ended with, in internal form: each slot, None where it is not filled, and the reason of a refusal."""

    answer: Mapping[str, Any]
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a scenario. ``type`` is what the checker knows `answer` as; ``key`` is equal for equal slots."""

    fields: Mapping[str, s.Field]
    type: Struct
    key: str

    @property
    def nothing(self) -> Submitted:
        """What was submitted where nothing was."""
        return Submitted(dict.fromkeys(self.fields))

    def read(self, submitted: Mapping[str, Any] | None) -> Submitted:
        """A `submit` in JSON form, `{"answer": {…}}` or `{"refusal": "reason"}`.

        A value that does not fit its slot leaves the slot unfilled, and one for no slot counts for nothing: a text in
        which the right number stands somewhere is no answer.
        """
        if not submitted:
            return self.nothing
        refusal = submitted.get("refusal")
        given = submitted.get("answer")
        given = given if isinstance(given, Mapping) and refusal is None else {}
        answer = {}
        for name, field in self.fields.items():
            value = given.get(field.json)
            read = None if value is None else reader(field.shape, "lenient")(value, name, [])
            answer[name] = None if read is BAD else read
        return Submitted(answer, refusal if isinstance(refusal, str) else None)


def slots_key(types: Mapping[str, Any]) -> str:
    """The text by which slots are told apart."""
    return json.dumps(types, sort_keys=True, default=str)

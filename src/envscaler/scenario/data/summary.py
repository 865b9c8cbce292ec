"""What a state holds, in figures: how many records, which mixes, what its amounts and dates range over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from envscaler.runtime import shapes as s
from envscaler.scenario.data.fakes import installed
from envscaler.scenario.data.records import Records
from envscaler.scenario.data.values import NUMBERS, scalar_of
from envscaler.scenario.world import World

__all__ = ["summary"]


def summary(world: World, state: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of an allowed state, as JSON. ``records``: how many each collection has; ``mixes``: by `collection.field` how
    often each value of an enum or flag stands there; ``ranges``: the least and greatest number or date; ``faker``: the
    version that values were invented with."""
    records = Records.taken(world.states, state)
    mixes: dict[str, dict[str, int]] = {}
    ranges: dict[str, list[Any]] = {}
    for name, shape in world.collections.items():
        for field in shape.record.fields:
            values = [r[field.json] for r in records.of[name].values() if r.get(field.json) is not None]
            of = scalar_of(field)
            if isinstance(of, s.Enum) or of is s.BOOL:
                mixes[f"{name}.{field.json}"] = dict(sorted(Counter(str(v).lower() for v in values).items()))
            elif values and (of in NUMBERS or of in (s.DATE, s.DATETIME, s.LOCAL_DATETIME)):
                ranges[f"{name}.{field.json}"] = [min(values), max(values)]
    counts = {name: len(part) for name, part in records.of.items()}
    return {"records": counts, "size": records.count, "mixes": mixes, "ranges": ranges, "faker": installed()}

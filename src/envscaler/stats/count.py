"""What is counted of a spec, and the table of the paper over many: each item with its mean, median, least and most.

The paper is EnvScaler (arXiv 2601.05808); its Table 2 is over 191 environments.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envscaler.spec.checked import Checked
from envscaler.spec.refusals import tool_refusals

__all__ = ["ITEMS", "Counts", "Item", "Summary", "count", "summarize"]


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of one spec. ``fields``: for each state, the fields of its records, the key among them.

    ``queries`` and ``changes`` are tools of kind read and write, of both actors; ``user_tools`` are those of the user.
    ``enforced``: rules that code keeps, all but the policies. ``params``, ``refusals`` and ``examples`` are sums over the
    tools; a refusal in a helper counts for each tool that can meet it. ``records``: of the initial state.
    """

    path: str
    name: str
    title: str
    rules: int
    enforced: int
    fields: Mapping[str, int]
    queries: int
    changes: int
    user_tools: int
    params: int
    refusals: int
    examples: int
    records: int
    lines: int

    @property
    def tools(self) -> int:
        return self.queries + self.changes

    @property
    def states(self) -> int:
        return len(self.fields)

    @property
    def all_fields(self) -> int:
        return sum(self.fields.values())


def count(checked: Checked) -> Counts:
    """The numbers of a spec that passed the check."""
    spec = checked.spec
    assert spec is not None
    tools = spec.tools.values()
    sizes = [spec.initial_state.get(s.name, ()) for s in spec.states.values() if not s.single]
    return Counts(
        path=checked.path,
        name=spec.name,
        title=spec.title,
        rules=len(spec.rules),
        enforced=sum(not r.policy for r in spec.rules.values()),
        fields={s.name: len(s.record.fields) + (s.key is not None) for s in spec.states.values()},
        queries=sum(t.kind == "read" for t in tools),
        changes=sum(t.kind == "write" for t in tools),
        user_tools=sum(t.actor == "user" for t in tools),
        params=sum(len(t.params) for t in tools),
        refusals=sum(len(tool_refusals(checked, t)) for t in tools),
        examples=sum(len(t.examples) for t in tools),
        records=sum(map(len, sizes)),
        lines=len(checked.source.splitlines()),
    )


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the table. ``values`` gives what a spec contributes: one number, or one for each of its states.

    ``paper`` is (mean, median) in the paper's Table 2, None for what it does not have.
    """

    name: str
    label: str
    group: str
    values: Callable[[Counts], Sequence[int]]
    paper: tuple[float, float] | None = None


ITEMS: Final = (
    Item("rules", "Constraint rules", "", lambda c: [c.rules], (4.58, 5)),
    Item("states", "Level 1 (states)", "State categories", lambda c: [c.states], (3.74, 4)),
    Item(
        "fields_per_state",
        "Level 2 per level 1 (fields)",
        "State categories",
        lambda c: [*c.fields.values()],
        (5.72, 5),
    ),
    Item("fields", "Total of level 2", "State categories", lambda c: [c.all_fields], (21.38, 21)),
    Item("queries", "Information query (read)", "Tools", lambda c: [c.queries], (10.44, 10)),
    Item("changes", "State change (write)", "Tools", lambda c: [c.changes], (8.14, 8)),
    Item("tools", "Total", "Tools", lambda c: [c.tools], (18.58, 18)),
    Item("enforced", "Rules kept by code", "Beside the paper", lambda c: [c.enforced]),
    Item("user_tools", "Tools of the user", "Beside the paper", lambda c: [c.user_tools]),
    Item("params", "Parameters", "Beside the paper", lambda c: [c.params]),
    Item("refusals", "Ways to be refused", "Beside the paper", lambda c: [c.refusals]),
    Item("examples", "Examples", "Beside the paper", lambda c: [c.examples]),
    Item("records", "Records at the start", "Beside the paper", lambda c: [c.records]),
    Item("lines", "Lines", "Beside the paper", lambda c: [c.lines]),
)


@dataclass(frozen=True, slots=True)
class Summary:
    """An item over several specs; ``values`` are all that were counted, in the order of the specs."""

    item: Item
    mean: float
    median: float
    least: int
    most: int
    values: tuple[int, ...] = field(repr=False, default=())


def summarize(counts: Sequence[Counts]) -> list[Summary]:
    """Each item over the specs; none when there are no specs. An item without a value (no states at all) is left out."""
    found = []
    for item in ITEMS:
        values = tuple(v for c in counts for v in item.values(c))
        if values:
            mean, median = statistics.fmean(values), float(statistics.median(values))
            found.append(Summary(item, mean, median, min(values), max(values), values))
    return found

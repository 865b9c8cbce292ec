"""Questions about a record that a plan writes to: what a read of it shows once that is done, and did not show before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.kinds.common import Found, found_plans
from envscaler.scenario.plan import Plan, PlannedCall
from envscaler.scenario.search import Question, SearchSettings
from envscaler.scenario.search.asking import changed_values
from envscaler.scenario.wording.leaves import leaves, source_of
from envscaler.scenario.wording.values import strip_null
from envscaler.scenario.world import ToolInfo, World

__all__ = ["afterwards"]

_SEARCH: Final = SearchSettings(writes=(0.65, 0.35), free=0.0, user_steps=False)
_MISSES: Final = 25  # plans in a row of which nothing comes


def afterwards(
    world: World, state: Mapping[str, Any], kind: str, seed: int, tools: Sequence[str] = ()
) -> Iterator[tuple[Found, Question]]:
    """Plans of one or two writes with a read at their end, and what that is to tell, as long as there are some."""
    missed = 0
    for found in found_plans(world, state, f"{kind}:after", seed, tools, _SEARCH):
        env = world.environment.new(world.base(state), found.seed)
        options = list(_options(world, env, found.plan))
        missed = 0 if options else missed + 1
        if options:
            asked = found.rng.choice(options)
            yield replace(found, plan=asked.plan), asked
        elif missed == _MISSES:
            return


def _options(world: World, env: Environment, plan: Plan) -> Iterator[Question]:
    reads = list(_reads(world, plan))
    start = env.snapshot()
    before = [env.call(call.tool, dict(call.arguments)) for _, call in reads]
    env.restore(start)
    for call in plan.calls:
        env.call(call.tool, dict(call.arguments), call.actor)
    told = [
        leaf.value for call in plan.calls for name, one in call.arguments.items() for leaf in leaves(name, one, None)
    ]
    for (tool, call), old in zip(reads, before, strict=True):
        result = env.call(call.tool, dict(call.arguments))
        changed = changed_values(result.value, old.value if old.ok else None, tool.returns) if result.ok else ()
        for path, name, value, kind in changed:
            if kind not in ("str", "bool") and value not in told:
                whole = replace(plan, calls=(*plan.calls, replace(call, result=result.to_json())))
                yield Question(path, "value", name, value, kind, plan=whole)


def _reads(world: World, plan: Plan) -> Iterator[tuple[ToolInfo, PlannedCall]]:
    """Reads of the records that the writes name, each once; where the key comes from is as for the write."""
    known: list[tuple[str, Any]] = []
    for index in plan.writes:
        call = plan.calls[index]
        for name, key in call.arguments.items():
            field = world.tools[call.tool].params.get(name)
            shape = strip_null(field.shape) if field is not None else s.ANY
            if not isinstance(shape, s.Ref) or key is None:
                continue
            for tool in world.reads:
                param = _only_record(tool, shape.collection)
                if param and (tool.name, key) not in known:
                    known.append((tool.name, key))
                    sources = {param: source_of(call.sources, name)}
                    yield tool, PlannedCall(tool.name, {param: key}, "read", {}, (), sources)


def _only_record(tool: ToolInfo, collection: str) -> str:
    """The parameter that takes a record of the collection, of a read that needs nothing else; empty for another."""
    needed = [param for param in tool.params.values() if param.required]
    shape = strip_null(needed[0].shape) if len(needed) == 1 else s.ANY
    return needed[0].json if isinstance(shape, s.Ref) and shape.collection == collection else ""

"""Walks from a state: writes that succeed, one after the other, each tried on the spot."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.results import ToolError
from envscaler.scenario.places import Place, places
from envscaler.scenario.search.arguments import Arguments
from envscaler.scenario.search.ground import Ground, Record
from envscaler.scenario.search.settings import SearchSettings
from envscaler.scenario.world import ToolInfo

__all__ = ["Move", "Walk"]

Changes = Sequence[tuple[Mapping[str, Any], Place]]
"""What a call changed, and where."""

_DEPTH: Final = 3  # writes that may stand before one to make it possible
_HELP: Final = 30  # writes that are tried in all on a walk to make others possible
_WAYS: Final = 8  # such writes that are tried


@dataclass(frozen=True, slots=True)
class Move:
    """A write that succeeded. ``needs``: how many of the moves before it were made to make it possible; ``refusal``: what it
    was refused with before them."""

    tool: str
    arguments: Mapping[str, Any]
    actor: str
    needs: int = 0
    refusal: ToolError | None = None


class Walk:
    """One way from the start of ``ground``. Draws from ``rng`` only."""

    def __init__(self, ground: Ground, settings: SearchSettings, rng: random.Random) -> None:
        self.ground = ground
        self.env = ground.env
        self.settings = settings
        self.rng = rng
        self.arguments = Arguments(ground, rng)
        self.moves: list[Move] = []
        self.touched: list[Record] = []
        self.left = _HELP
        self.env.restore(ground.start)

    # -- steps

    def reach(self, tool: ToolInfo, *, about: bool = False, depth: int = _DEPTH) -> bool:
        """Make a write of this tool, after others where it needs them; ``about``: what the walk has touched. Whether it was
        found; the environment stands behind it, or where it stood."""
        start = self.env.snapshot(), len(self.moves), list(self.touched)
        move, first = self._attempt(tool, about)
        furthest = first
        while move is None and depth > 0:
            helped = self._helped(tool, furthest, about, depth)
            if helped is None:
                break
            move, furthest = helped
            depth -= 1
        if move is None:
            self.env.restore(start[0])
            del self.moves[start[1] :]
            self.touched[:] = start[2]
            return False
        before = len(self.moves) - start[1]
        self.moves.append(Move(move.tool, move.arguments, move.actor, before, first if before else None))
        return True

    def _helped(
        self, tool: ToolInfo, refusal: ToolError | None, about: bool, depth: int
    ) -> tuple[Move | None, ToolError | None] | None:
        """Make another write after which a call of the tool succeeds, or gets further than to its refusal: that call, or
        the new refusal. None, and nothing is made, where no such write is found."""
        options = self.arguments.vocabulary.enabling(tool.name)
        for _ in range(min(_WAYS, 2 * len(options))):
            self.left -= 1
            if self.left < 0:
                return None
            name = self.rng.choices([n for n, _ in options], [w for _, w in options])[0]
            other = self.ground.world.tools[name]
            if other.actor == "user" and not self.settings.user_steps:
                continue
            kept = self.env.snapshot(), len(self.moves), list(self.touched)
            if self.reach(other, about=about, depth=depth - 1):
                move, further = self._attempt(tool, True)
                if move is not None or (
                    depth > 1 and further is not None and refusal is not None and further.line > refusal.line
                ):
                    return move, further
            self.env.restore(kept[0])
            del self.moves[kept[1] :]
            self.touched[:] = kept[2]
        return None

    def probe(self, tool: ToolInfo) -> tuple[Move, ToolError | None, Record | None]:
        """One call of the tool from where the walk stands: it, what it was refused with, and what it is about. The walk does
        not move."""
        before = self.env.snapshot()
        focus = self._focus(tool, False)
        given = self.arguments.of(tool, focus, self._related(focus))
        result = self.env.call(tool.name, given, tool.actor)
        self.env.restore(before)
        return Move(tool.name, given, tool.actor), result.error, focus

    def _attempt(self, tool: ToolInfo, about: bool) -> tuple[Move | None, ToolError | None]:
        """A call of the tool that changes something, or none and the refusal that came last in the tool's logic."""
        furthest: ToolError | None = None
        before = self.env.snapshot()
        for n in range(self.settings.tries):
            focus = self._focus(tool, about and n < self.settings.tries * 0.8)
            given = self.arguments.of(tool, focus, self._related(focus))
            result = self.env.call(tool.name, given, tool.actor)
            changes = list(places(self.env, self.env.diff(before))) if result.changed else []
            if _counts(changes):
                self._learn(result.value, changes)
                return Move(tool.name, given, tool.actor), furthest
            if result.changed:
                self.env.restore(before)
            elif result.error is not None and result.error.code != "invalid_argument":
                furthest = _further(furthest, result.error)
        return None, furthest

    def _learn(self, result: Any, changes: Changes) -> None:
        known = self.arguments.known
        known.learn(result)
        for op, place in changes:
            if place.key is None:
                continue
            at = (place.state, place.key)
            if at in self.touched:
                self.touched.remove(at)
            if op["op"] == "remove" and not place.path:
                continue
            self.touched.append(at)
            if op["op"] == "add" and not place.path:
                known.fresh.setdefault(place.state, []).append(place.key)

    # -- what a call is about

    def _focus(self, tool: ToolInfo, about: bool) -> Record | None:
        rng = self.rng
        wanted = [p.shape.collection for p in tool.params.values() if isinstance(p.shape, s.Ref)]
        if about and self.touched:
            fitting = [at for at in self.touched if at[0] in wanted]
            return rng.choice(fitting if fitting and rng.random() < 0.8 else self.touched)
        if not wanted or rng.random() < 0.2:
            wanted = [name for name, keys in self.ground.keys.items() if keys]
        name = rng.choice(wanted) if wanted else ""
        keys = self.ground.keys.get(name)
        return (name, rng.choice(keys)) if keys else None

    def _related(self, focus: Record | None) -> Mapping[str, Sequence[Any]]:
        if focus is None:
            return {}
        if focus[1] in self.ground.key_sets[focus[0]]:
            return self.ground.related(focus)
        part = getattr(self.env._state, focus[0])
        found: list[Record] = []
        record, refs = part.get(focus[1]), part.plan.refs
        if record is not None and refs is not None:
            refs(record, found)
        near: dict[str, list[Any]] = {}
        for at in found:
            near.setdefault(at[0], []).append(at[1])
            if at[1] in self.ground.key_sets[at[0]]:
                for name, keys in self.ground.related(at).items():
                    near.setdefault(name, []).extend(keys)
        return near


def _counts(changes: Changes) -> bool:
    """Whether something changed that is more than incidental."""
    return any(place.field is None or not place.field.incidental for _, place in changes)


def _further(one: ToolError | None, two: ToolError) -> ToolError:
    """Of two refusals the one that stands later in the spec's logic."""
    return two if one is None or two.line > one.line else one


def rarest(tools: Iterable[ToolInfo], counts: Mapping[str, int], rng: random.Random) -> ToolInfo:
    """One of some tools; the less it was used, the likelier."""
    listed = list(tools)
    return rng.choices(listed, [1.0 / (1 + counts.get(t.name, 0)) ** 1.5 for t in listed])[0]


__all__ += ["rarest"]

"""What must hold when a call is made to fail at its very end, which calls seldom do by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.assess.events import Breach, Played, call, differences, fresh
from envscaler.assess.findings import Call
from envscaler.assess.guard import Overrun, guarded
from envscaler.runtime import calls
from envscaler.runtime.results import Failure, ToolResult
from envscaler.runtime.values import same

__all__ = ["failure_is_undone"]

_MOST = 5  # calls of an episode are made to fail, each of another tool


def failure_is_undone(played: Played) -> Breach | None:
    """A call of a compiled class that is made to fail after its logic ran leaves the state as it was."""
    if not played.facts.compiled:
        return None
    wanted: dict[tuple[str, str], int] = {}
    for step, (made, outcome) in enumerate(zip(played.calls, played.outcomes, strict=True)):
        if getattr(outcome, "changed", False) and isinstance(made.arguments, Mapping | None):
            wanted[made.actor, made.tool] = step  # the last of each tool
    steps = sorted(wanted.values())[-_MOST:]
    if not steps:
        return None
    env = played.start.new()
    for step, made in enumerate(played.calls[: steps[-1] + 1]):
        if step in steps:
            fork = env.fork()
            before = fork.state
            if _failed(fork, made, played.seconds) and not same(fork.state, before):
                rows = [f"{c['op']} {c['path']}" for c in differences(before, fork.state)[:3]]
                return Breach(f"what {made.tool} wrote stays when it fails at its end", "\n".join(rows), kind=made.tool)
        _, raised = call(env, made, played.seconds)
        if raised is not None:
            return None
    return None


def _failed(env: Any, made: Call, seconds: float) -> bool:
    """Run a tool's logic and then have it fail; False when it is none that leaves something to be undone."""
    state = env._state
    run = state._model.runs[made.actor].get(made.tool)
    if run is None:
        return False
    try:
        kept = guarded(lambda: run(state, **fresh(dict(made.arguments or {}))), seconds)
    except (Exception, Overrun):
        kept = None
    if isinstance(kept, ToolResult):  # it puts what it writes into the state itself, at its end
        return False
    calls.failed(state, Failure("refused", "made to fail"), made.tool, made.actor)
    return True

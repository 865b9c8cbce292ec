"""Everything that changed between two checked specs."""

from __future__ import annotations

from envscaler.changes.model import Change, Changes
from envscaler.changes.tools import compare_functions, compare_tools
from envscaler.changes.world import compare_world
from envscaler.errors import SpecError
from envscaler.spec.checked import Checked

__all__ = ["compare"]


def compare(old: Checked, new: Checked) -> list[Change]:
    """What changed for an agent, a scenario, a recording, in this order, breaking changes first.

    Layout, comments, examples, and descriptions that no agent is told are no change. Raises SpecError for a spec that did
    not pass the check.
    """
    for checked in (old, new):
        if not checked.ok:
            raise SpecError(checked.diagnostics)
    assert old.spec is not None
    assert new.spec is not None
    out = Changes()
    compare_world(old.spec, new.spec, out)
    compare_tools(old, new, out)
    compare_functions(old, new, out)
    return out.sorted()

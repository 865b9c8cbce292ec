"""The plugin: a checker that holds an episode to its books."""

from collections.abc import Iterable

from envscaler.plugin import CheckerEntry, hookimpl
from envscaler_ledger.checker import Ledger

__all__ = ["Ledger", "envscaler_checkers"]

ENVSCALER_HOOKS = 1


@hookimpl
def envscaler_checkers() -> Iterable[CheckerEntry]:
    """The one checker of this distribution."""
    return [
        CheckerEntry("ledger", "Money neither appears nor vanishes: what is moved between balances adds up", Ledger)
    ]

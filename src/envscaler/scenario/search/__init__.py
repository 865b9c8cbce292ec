"""Plans of calls, found by searching forward from a state, with the reads that find their arguments."""

from envscaler.scenario.search.finding import plans
from envscaler.scenario.search.settings import SearchSettings

__all__ = ["SearchSettings", "plans"]

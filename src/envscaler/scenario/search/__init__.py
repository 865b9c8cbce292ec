"""Plans of calls, found by searching forward from a state, with the reads that find their arguments."""

from envscaler.scenario.search.asking import Question, questions
from envscaler.scenario.search.finding import plans
from envscaler.scenario.search.refusing import Refused, refusals
from envscaler.scenario.search.settings import SearchSettings

__all__ = ["Question", "Refused", "SearchSettings", "plans", "questions", "refusals"]

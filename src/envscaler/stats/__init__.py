"""How large and how ruled environments are: counts of specs, summed up beside those of the paper, and drawn."""

from envscaler.stats.count import ITEMS, Counts, Item, Summary, count, summarize
from envscaler.stats.plots import FORMATS, plot

__all__ = ["FORMATS", "ITEMS", "Counts", "Item", "Summary", "count", "plot", "summarize"]

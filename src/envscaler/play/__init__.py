"""A terminal session with an environment: lines, completion, undo and redo, recordings; nothing here prints."""

from envscaler.play.complete import Candidate
from envscaler.play.episode import Episode, Step
from envscaler.play.lines import LineError, parse, write_call
from envscaler.play.player import Files, Player
from envscaler.play.shown import Answer, Line, Source, View

__all__ = [
    "Answer", "Candidate", "Episode", "Files", "Line", "LineError", "Player", "Source", "Step", "View", "parse", "write_call",
]  # fmt: skip

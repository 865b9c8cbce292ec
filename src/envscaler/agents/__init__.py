"""Agents: the one parser of text replies, and the loop in which a policy acts in an episode and observes."""

from __future__ import annotations

from envscaler.agents.episode import Calls, EnvironmentEpisode, Episode, Observation, User, tools_of
from envscaler.agents.loop import Loop, play, read
from envscaler.agents.parsing import Parsed, parse
from envscaler.agents.policies import LlmPolicy, Move, Policy, ScriptedPolicy, Turn
from envscaler.agents.rendering import (
    as_native,
    as_text,
    render_call,
    render_more,
    render_reply,
    render_results,
    render_tools,
)
from envscaler.agents.stepper import End, Stepper
from envscaler.agents.transcript import CallRecord, Limits, Status, Step, Transcript

__all__ = [
    "CallRecord", "Calls", "End", "EnvironmentEpisode", "Episode", "Limits", "LlmPolicy", "Loop", "Move", "Observation",
    "Parsed", "Policy", "ScriptedPolicy", "Status", "Step", "Stepper", "Transcript", "Turn", "User", "as_native", "as_text",
    "parse", "play", "read", "render_call", "render_more", "render_reply", "render_results", "render_tools", "tools_of",
]  # fmt: skip

"""The verbs that draft specs from tasks, and what they keep in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

if TYPE_CHECKING:
    from envscaler.session.drafting.verbs import Drafted, Drafting, draft, run_folder, synth

__all__ = ["Drafted", "Drafting", "draft", "run_folder", "synth"]

_OFFERED = {"envscaler.session.drafting.verbs": "Drafted Drafting draft run_folder synth"}
__getattr__, __dir__ = public(__name__, _OFFERED)

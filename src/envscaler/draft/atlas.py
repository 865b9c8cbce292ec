"""The map of themes as a picture (the paper's Figure 10a)."""

from __future__ import annotations

from pathlib import Path

from envscaler.draft.selecting import Selection

__all__ = ["write_map"]


def write_map(selection: Selection, path: Path) -> None:
    """Write the map, as SVG or PNG by the path's suffix; the same bytes for the same selection."""
    raise NotImplementedError

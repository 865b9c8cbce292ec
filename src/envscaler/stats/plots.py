"""The paper's distributions (its Figure 10 b to d) over a set of specs, and that of its rules, as files of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler.errors import UsageError
from envscaler.stats.count import ITEMS, Counts, Item

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMATS", "plot"]

FORMATS: Final = ("png", "svg")
_BLUE, _AMBER, _GREY = "#2b6a9b", "#c98a2b", "#59636b"


def plot(counts: Sequence[Counts], folder: Path, form: str = "png") -> list[Path]:
    """Draw the distributions into ``folder`` as `tools`, `kinds`, `states`, `rules`; the same counts give the same bytes.

    Raises UsageError where matplotlib is not installed, or a file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("pictures need matplotlib, which is not installed: pip install 'envscaler[plots]'") from None
    import matplotlib as mpl

    drawings: dict[str, tuple[Callable[[Any], None], int]] = {
        "tools": (lambda axes: _tools(axes[0], counts), 1),
        "kinds": (lambda axes: _kinds(axes[0], counts), 1),
        "states": (lambda axes: _states(axes, counts), 3),
        "rules": (lambda axes: _rules(axes[0], counts), 1),
    }
    # Fixed identifiers and no dates, so that pictures can be compared.
    settings: Any = {"svg.hashsalt": "envscaler", "svg.fonttype": "none", "font.size": 10, "axes.titlesize": 11}
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    made = []
    with mpl.rc_context(settings):
        for name, (draw, panels) in drawings.items():
            figure = Figure(figsize=(6.4 if panels == 1 else 11.5, 3.6), layout="constrained")
            draw(figure.subplots(1, panels, squeeze=False)[0])
            made.append(folder / f"{name}.{form}")
            try:
                folder.mkdir(parents=True, exist_ok=True)
                figure.savefig(made[-1], format=form, dpi=150, metadata=metadata)
            except OSError as error:
                raise UsageError(f"{made[-1]}: {error.strerror or error}") from None
    return made


def _item(name: str) -> Item:
    return next(i for i in ITEMS if i.name == name)


def _tools(axes: Axes, counts: Sequence[Counts]) -> None:
    _histogram(axes, [c.tools for c in counts], _item("tools"), "Tools per environment", _BLUE)


def _rules(axes: Axes, counts: Sequence[Counts]) -> None:
    _histogram(axes, [c.rules for c in counts], _item("rules"), "Rules per environment", _BLUE)


def _states(axes: Sequence[Axes], counts: Sequence[Counts]) -> None:
    _histogram(axes[0], [c.states for c in counts], _item("states"), "States (level 1)", _BLUE)
    per_state = [n for c in counts for n in c.fields.values()]
    _histogram(axes[1], per_state, _item("fields_per_state"), "Fields per state (level 2)", _BLUE, "states")
    _histogram(axes[2], [c.all_fields for c in counts], _item("fields"), "Fields per environment", _BLUE)


def _histogram(
    axes: Axes, values: Sequence[int], item: Item, title: str, colour: str, of: str = "environments"
) -> None:
    """Bars over whole numbers, with the mean and the paper's mean as lines."""
    axes.hist(values, bins=_bins(values), color=colour, alpha=0.85, edgecolor="white", linewidth=0.6)
    if values:
        axes.axvline(
            sum(values) / len(values), color=colour, linewidth=1.6, label=f"mean {sum(values) / len(values):.2f}"
        )
    if item.paper is not None:
        axes.axvline(
            item.paper[0], color=_AMBER, linewidth=1.6, linestyle="--", label=f"paper's mean {item.paper[0]:.2f}"
        )
    _finish(axes, title, of)


def _bins(values: Sequence[int]) -> list[float]:
    """Edges between whole numbers, at most about 24 bars."""
    low, high = min(values, default=0), max(values, default=0)
    step = max(1, -(-(high - low + 1) // 24))
    return [low - 0.5 + step * i for i in range((high - low) // step + 2)]


def _kinds(axes: Axes, counts: Sequence[Counts]) -> None:
    """Tools that look up and tools that change, one bar for each environment, the largest first."""
    ordered = sorted(counts, key=lambda c: (-c.tools, c.name, c.path))
    places = list(range(len(ordered)))
    axes.bar(places, [c.queries for c in ordered], color=_BLUE, label="read", width=0.8)
    axes.bar(
        places,
        [c.changes for c in ordered],
        bottom=[c.queries for c in ordered],
        color=_AMBER,
        label="write",
        width=0.8,
    )
    if len(ordered) <= 24:
        names = [c.name.replace("$", r"\$") for c in ordered]  # no formula
        axes.set_xticks(places, names, rotation=45, ha="right", fontsize=8)
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(ordered)} environments")
    _finish(axes, "Tools by kind", "tools")


def _finish(axes: Axes, title: str, label: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title, loc="left")
    axes.set_ylabel(label, color=_GREY)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=_GREY)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, fontsize=9)

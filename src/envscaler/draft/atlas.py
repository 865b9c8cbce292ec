"""The map of themes as a picture (the paper's Figure 10a)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler.draft.selecting import Placed, Selection
from envscaler.errors import UsageError
from envscaler.texts import counted

if TYPE_CHECKING:
    Box = tuple[float, float, float, float]

__all__ = ["write_map"]

_STYLE: Final[Any] = {
    "svg.hashsalt": "envscaler",  # ids in the file are the same each time
    "svg.fonttype": "none",  # labels stay text
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
}
_COLOURS: Final = (
    "#4477aa",
    "#cc6677",
    "#228833",
    "#b8860b",
    "#aa3377",
    "#2aa1a1",
    "#8c564b",
    "#6a51a3",
    "#777777",
    "#d95f02",
)
_DPI: Final = 110
_LEGEND: Final = 3.6  # inches beside the map
_LONGEST: Final = 34  # characters of a label
_LISTED: Final = 20  # clusters in the legend
_SIDES: Final = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_REACHES: Final = (10, 19, 32)  # pixels between a point and its label


def write_map(selection: Selection, path: Path) -> None:
    """Write the map, as SVG or PNG by the path's suffix; the same bytes for the same selection.

    Chosen themes are full circles, dropped ones rings; colours are clusters. As many labels stand as find room, those of chosen
    themes first. Raises UsageError where matplotlib is missing, or the file cannot be written.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("a map of themes needs matplotlib: pip install 'envscaler[draft]'") from None
    shown = [one for one in selection.themes if one.place is not None]
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that the font has not got
        side = min(18.0, 5.5 + 0.6 * len(shown) ** 0.5)
        width = side + _LEGEND
        figure = Figure(figsize=(width, side), dpi=_DPI)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.15 / width, 0.15 / side, (side - 0.3) / width, 1 - 0.55 / side))
        _frame(axes, selection)
        for one in shown:
            _point(axes, one)
        _label(figure, axes, shown)
        _legend(axes, shown)
        try:
            suffix = path.suffix.lstrip(".").lower() or "svg"
            figure.savefig(path, format=suffix, dpi=_DPI, metadata={"Date": None} if suffix == "svg" else None)
        except ValueError as error:
            raise UsageError(f"{path}: a map is written as SVG or PNG: {error}") from None
        except OSError as error:
            raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _frame(axes: Any, selection: Selection) -> None:
    axes.set_xlim(-1.18, 1.18)
    axes.set_ylim(-1.12, 1.12)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color("#dddddd")
    total, chosen = len(selection.themes), len(selection.chosen)
    dropped = ", ".join(f"{count} {reason}" for reason, count in selection.counts.items())
    title = f"{counted(total, 'theme')}, {chosen} chosen{f' (dropped: {dropped})' if dropped else ''}"
    axes.set_title(title, loc="left", fontsize=10, color="#333333")


def _colour(cluster: int | None) -> str:
    return "#999999" if cluster is None else _COLOURS[cluster % len(_COLOURS)]


def _marker(cluster: int | None) -> str:
    """Colours come again after ten clusters, with another form."""
    return "osD^v"[(cluster or 0) // len(_COLOURS) % 5]


def _point(axes: Any, one: Placed) -> None:
    assert one.place is not None
    colour = _colour(one.cluster)
    form = _marker(one.cluster)
    if one.reason:
        axes.plot(*one.place, form, mfc="white", mec=colour, mew=0.9, ms=5, alpha=0.75, zorder=2)
    else:
        axes.plot(*one.place, form, mfc=colour, mec="#222222", mew=0.8, ms=8, zorder=3)


def _label(figure: Any, axes: Any, shown: Sequence[Placed]) -> None:
    """Labels where they cover nothing: beside the point, else a little off with a line to it, else none."""
    renderer = figure.canvas.get_renderer()
    bounds = axes.get_window_extent(renderer)
    spots = {id(one): axes.transData.transform(one.place) for one in shown}
    taken = [_around(x, y, 7.0) for x, y in spots.values()]
    for one in sorted(shown, key=lambda one: bool(one.reason)):
        text = axes.text(
            0, 0, _short(one.theme.title), transform=None, fontsize=6.4 if one.reason else 7.8, va="center",
            color="#8a8a8a" if one.reason else "#111111", parse_math=False, zorder=4,
        )  # fmt: skip
        extent = text.get_window_extent(renderer)
        spot = _room(spots[id(one)], extent.width + 3, extent.height + 1, taken, bounds.extents)
        if spot is None:
            text.remove()
            continue
        (x, y), box, side, off = spot
        taken.append(box)
        text.set(transform=axes.transData, ha=side)
        text.set_position(axes.transData.inverted().transform((x, y)))
        if off:
            middle = ((box[0] + box[2]) / 2, y)
            ends = axes.transData.inverted().transform([spots[id(one)], middle])
            axes.plot(*ends.T, color="#bbbbbb", lw=0.5, zorder=1)
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.3})


def _room(
    spot: Sequence[float], width: float, height: float, taken: Iterable[Box], bounds: Box
) -> tuple[tuple[float, float], Box, str, bool] | None:
    """Where a label near a spot is fixed, its box, on which side of it, and whether it stands off; None if there is no room."""
    for reach in _REACHES:
        for dx, dy in _SIDES:
            x, y = spot[0] + dx * (width / 2 + reach), spot[1] + dy * (height / 2 + reach)
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            inside = box[0] > bounds[0] and box[1] > bounds[1] and box[2] < bounds[2] and box[3] < bounds[3]
            if inside and not any(_overlap(box, other) for other in taken):
                fixed = box[0] if dx > 0 else box[2] if dx < 0 else x
                return (fixed, y), box, ("center", "left", "right")[dx], reach > _REACHES[0]
    return None


def _around(x: float, y: float, reach: float) -> Box:
    return x - reach, y - reach, x + reach, y + reach


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _short(text: str) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _legend(axes: Any, shown: Sequence[Placed]) -> None:
    """What the forms mean, and for each cluster its best theme and how many it has."""
    from matplotlib.lines import Line2D

    def entry(form: str, full: str, edge: str, label: str) -> Any:
        return Line2D([], [], ls="", marker=form, mfc=full, mec=edge, ms=7, label=label)

    entries = [entry("o", "#777777", "#222222", "chosen"), entry("o", "white", "#777777", "dropped")]
    clusters: dict[int, list[Placed]] = {}
    for one in shown:
        if one.cluster is not None:
            clusters.setdefault(one.cluster, []).append(one)
    for cluster in sorted(clusters)[:_LISTED]:
        members = clusters[cluster]
        first = next((one for one in members if not one.reason), members[0])
        more = f" and {len(members) - 1} more" if len(members) > 1 else ""
        colour = _colour(cluster)
        entries.append(entry(_marker(cluster), colour, colour, f"{_short(first.theme.title)}{more}"))
    if len(clusters) > _LISTED:
        entries.append(entry("", "none", "none", f"and {len(clusters) - _LISTED} more clusters"))
    legend = axes.legend(handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
    for text in legend.get_texts():
        text.set_parse_math(False)

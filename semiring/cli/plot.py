"""Pictures of answers: a map with routes on it, a heat map of a closure. Only these functions load Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.errors import SemiringError
from semiring.files.streams import created, suffix
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import clip, infinities, shown

INK, FAINT, ROAD = "#23272f", "#7b828e", "#c3c8d0"
COLOURS = ("#d1432b", "#1f5fa8", "#2f8f5b", "#8a4fa3")  # of routes, in order
EARTH = 6371.0088  # km, mean radius
NAMED = 40  # number of vertices up to which all are named
WIDTH = 7.6  # of a map, in inches
FLATTEST, TALLEST = 0.4, 1.8  # height by width of a map
MARGIN = 0.06  # around a map, as a part of it
# Where a name may stand: from its point to its middle, in halves of its size, and its distance in points. Best first.
SIDES = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)], np.float64)
GAPS = (4.5, 9.9)


@dataclass(frozen=True)
class Route:
    """A walk on a map: its vertices in order, and its label in the legend."""

    vertices: Sequence[int]
    label: str
    width: float = 2.2  # points


def to_km(longitude: NDArray[np.float64], latitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Degrees as kilometres east and north of the south-western corner, true to scale at the middle latitude.

    Examples
    --------
    >>> to_km(np.array([10.0, 10.0]), np.array([50.0, 51.0])).round(1).tolist()
    [[0.0, 0.0], [0.0, 111.2]]
    """
    middle = np.radians((latitude.min() + latitude.max()) / 2) if len(latitude) else 0.0
    east = EARTH * np.cos(middle) * np.radians(longitude)
    north = EARTH * np.radians(latitude)
    points = np.column_stack([east, north])
    return points - points.min(axis=0) if len(points) else points


def draw_map(
    file: Path,
    positions: NDArray[np.float64],
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    *,
    title: str,
    subtitle: str = "",
    edges: str = "edges",
    routes: Sequence[Route] = (),
    circled: Sequence[int] = (),
    circle: str = "",
    names: Sequence[Any] | None = None,
    unit: str = "",
) -> None:
    """Draw a graph on a map, with routes on top.

    Parameters
    ----------
    file : path
        Where the picture goes; its ending names the format.
    positions : array, shape (n, 2)
        Coordinates of the vertices, in the same unit for x and y.
    sources, targets : arrays, shape (m,)
        The ends of each edge.
    title, subtitle : str
    edges : str
        What the legend calls the edges.
    routes : sequence of Route
        Their ends are marked and named. Other vertices are named if there are few and their names fit.
    circled : sequence of int
        Vertices within a ring, which the legend calls `circle`.
    names : sequence, optional
        Of the vertices. Default: their numbers.
    unit : str
        Unit of the positions, for a scale bar. Default: no scale bar.

    Raises
    ------
    SemiringError
        If Matplotlib is missing.
    """
    middle, wide, high = _field(positions)
    figure, axes = _canvas((WIDTH, WIDTH * high / wide + 1.2))
    from matplotlib.collections import LineCollection

    lines = np.stack([positions[sources], positions[targets]], axis=1)
    axes.add_collection(LineCollection(list(lines), colors=ROAD, linewidths=0.8, label=edges, capstyle="round"))
    ends = _draw_routes(axes, positions, routes)
    others = [v for v in range(len(positions)) if v not in ends] if len(positions) <= NAMED else []
    _mark(axes, positions, ends, others)
    written = [_name(axes, positions, v, names, v in ends) for v in [*ends, *others]]
    if len(circled):
        x, y = positions[list(circled)].mean(axis=0)
        axes.plot(x, y, "o", markersize=13, markerfacecolor="none", markeredgecolor=COLOURS[2], markeredgewidth=1.6,
                  label=circle, linestyle="none", zorder=8)
    axes.set_aspect("equal")
    axes.set_xlim(middle[0] - wide / 2, middle[0] + wide / 2)
    axes.set_ylim(middle[1] - high / 2, middle[1] + high / 2)
    axes.set_axis_off()
    if unit:
        _scale_bar(axes, positions, middle[1] - high / 2, unit)
    _head(axes, title, subtitle)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.01), frameon=False, fontsize=9.5, labelcolor=INK,
                handlelength=1.8, borderaxespad=0.0, labelspacing=0.45)
    _place_names(figure, axes, written, positions[[*ends, *others]])
    _save(figure, file)


def draw_heat_map(file: Path, M: Matrix, *, title: str, subtitle: str = "") -> None:
    """Draw a matrix as colours; the algebra's zero and infinities are white.

    Parameters
    ----------
    file : path
    M : Matrix
        Numbers, or records, of which the first component is drawn. A small matrix shows the names of its vertices.
    title, subtitle : str

    Raises
    ------
    SemiringError
        If Matplotlib is missing, or the elements are Python objects.
    """
    matrix, infinite = M.array, infinities(M.semiring, M.dtype)
    if matrix.dtype.kind == "O":
        raise SemiringError("a heat map needs numbers or records, not Python objects")
    figure, axes = _canvas((6.4, 6.4))
    absent = matrix == M.semiring.zero_in(M.dtype)
    label = ""
    if matrix.dtype.names:
        label = matrix.dtype.names[0]
        matrix, infinite = matrix[label], infinite.get(label, {})
    for limit in infinite:  # an integer for an infinity does not belong to the scale
        absent = absent | (matrix == limit)
    values = np.ma.masked_array(matrix.astype(np.float64), mask=absent)
    values = np.ma.masked_invalid(values)
    image = axes.imshow(values, cmap="viridis_r", interpolation="nearest" if len(matrix) <= 400 else "antialiased")
    if matrix.dtype.kind != "b" and values.count():
        bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03, label=label)
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=FAINT, labelcolor=INK)
    if len(matrix) <= NAMED:
        labels = [_text(v, M.names) for v in range(M.n)]
        turned = 90 if max(map(len, labels), default=0) > 2 else 0
        axes.set_xticks(range(M.n), labels, rotation=turned, parse_math=False)
        axes.set_yticks(range(M.n), labels, parse_math=False)
    axes.tick_params(colors=FAINT, labelcolor=INK, length=3)
    axes.set_xlabel("to", color=INK)
    axes.set_ylabel("from", color=INK)
    for side in axes.spines.values():
        side.set_color(ROAD)
    _head(axes, title, subtitle)
    _save(figure, file)


def require_matplotlib() -> None:
    """Raise if Matplotlib is missing; call it before long work.

    Raises
    ------
    SemiringError
        If Matplotlib is missing.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise SemiringError("drawing needs Matplotlib: pip install matplotlib") from None


def _canvas(size: tuple[float, float]) -> tuple[Any, Any]:
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=160, facecolor="white")
    return figure, figure.add_subplot()


def _draw_routes(axes: Any, positions: NDArray[np.float64], routes: Sequence[Route]) -> dict[int, str]:
    """Draw routes; returns their ends, each with the colour of its first route."""
    ends: dict[int, str] = {}
    for k, route in enumerate(routes):
        x, y = positions[list(route.vertices)].T
        colour = COLOURS[k % len(COLOURS)]
        axes.plot(x, y, color=colour, linewidth=route.width, label=route.label, solid_capstyle="round",
                  solid_joinstyle="round", zorder=3 + k)
        for v in (route.vertices[0], route.vertices[-1]):
            ends.setdefault(v, colour)
    return ends


def _field(positions: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, float]:
    """The middle, the width and the height of a map, with a margin and a limited aspect ratio."""
    if not len(positions):
        return np.zeros(2), 1.0, 1.0
    low, high = positions.min(axis=0), positions.max(axis=0)
    wide, tall = (1 + 2 * MARGIN) * (high - low)
    wide = max(wide, tall / TALLEST) or 1.0
    return (low + high) / 2, wide, max(tall, wide * FLATTEST)


def _mark(axes: Any, positions: NDArray[np.float64], ends: dict[int, str], others: Sequence[int]) -> None:
    """Mark the named vertices, and the ends of routes with larger dots."""
    for v, colour in ends.items():
        axes.plot(*positions[v], "o", markersize=7.5, color=colour, markeredgecolor="white", markeredgewidth=1.4,
                  zorder=9)
    for v in others:
        axes.plot(*positions[v], "o", markersize=4, color=FAINT, zorder=2)


def _name(axes: Any, positions: NDArray[np.float64], v: int, names: Sequence[Any] | None, end: bool) -> Any:
    """Write the name of a vertex; `_place_names` moves it later."""
    style = {"color": INK, "fontsize": 10, "fontweight": "bold"} if end else {"color": FAINT, "fontsize": 9}
    frame = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    return axes.annotate(_text(v, names), positions[v], xytext=(0, 0), textcoords="offset points", parse_math=False,
                         ha="left", va="bottom", zorder=10, bbox=frame if end else None, **style)


def _text(v: int, names: Sequence[Any] | None) -> str:
    return clip(shown(v if names is None else names[v]))


def _place_names(figure: Any, axes: Any, written: Sequence[Any], marked: NDArray[np.float64]) -> None:
    """Move each name to a free place beside its point; remove those without a free place, except bold ones."""
    if not written:
        return
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()  # computes all positions
    unit = figure.dpi / 72
    dots = axes.transData.transform(marked)
    taken = [thing.get_window_extent() for thing in (*axes.texts, axes.get_legend()) if thing not in written]
    taken += [Bbox([dot - 3 * unit, dot + 3 * unit]) for dot in dots]
    for text, dot in zip(written, dots, strict=True):
        extent = text.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2
        tried = [Bbox([dot + side * (half + gap * unit) - half, dot + side * (half + gap * unit) + half])
                 for gap in GAPS for side in SIDES]
        box = min(tried, key=lambda box: box.count_overlaps(taken))  # the first of the best
        if box.count_overlaps(taken) and text.get_fontweight() != "bold":
            text.remove()
            continue
        taken.append(box)
        text.set_position((box.min - dot) / unit)


def _scale_bar(axes: Any, positions: NDArray[np.float64], low: float, unit: str) -> None:
    """A bar of a round length, about a fifth of the map's width, at its lower edge on the right."""
    fifth = max(np.ptp(positions[:, 0]), np.ptp(positions[:, 1])) / 5
    if not fifth > 0:
        return
    power = 10.0 ** np.floor(np.log10(fifth))
    length = power * max(m for m in (1, 2, 5) if m * power <= fifth)
    right = positions[:, 0].max()
    axes.plot([right - length, right], [low, low], color=INK, linewidth=2.0, solid_capstyle="butt", zorder=5)
    axes.annotate(f"{length:g} {unit}", (right - length / 2, low), xytext=(0, 4), textcoords="offset points",
                  ha="center", color=INK, fontsize=9)


def _head(axes: Any, title: str, subtitle: str) -> None:
    axes.annotate(title, (0, 1), xycoords="axes fraction", xytext=(0, 26 if subtitle else 10),
                  textcoords="offset points", fontsize=14, fontweight="bold", color=INK, parse_math=False)
    if subtitle:
        axes.annotate(subtitle, (0, 1), xycoords="axes fraction", xytext=(0, 9), textcoords="offset points",
                      fontsize=10, color=FAINT, parse_math=False)


def _save(figure: Any, file: Path) -> None:
    """Write a picture in the format of the file's ending, completely or not at all."""
    try:
        with created(file) as whole:
            figure.savefig(whole, format=suffix(file)[1:] or None, bbox_inches="tight", pad_inches=0.25)
    except OSError as e:
        raise SemiringError(f"the picture cannot be written to {file}: {e.strerror or e}") from None
    except ValueError as e:  # Matplotlib lists the formats that it writes
        raise SemiringError(f"the picture cannot be written to {file}: {e}") from None

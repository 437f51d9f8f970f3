"""Pictures of answers: a map with routes on it, a heat map of a closure. Only these functions load Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.errors import SemiringError

INK, FAINT, ROAD = "#23272f", "#7b828e", "#c3c8d0"
COLOURS = ("#d1432b", "#1f5fa8", "#2f8f5b", "#8a4fa3")  # routes, in the order in which they are given
EARTH = 6371.0088  # km, mean radius
NAMED = 40  # vertices up to which a picture writes all their names


@dataclass(frozen=True)
class Route:
    """Vertices in the order in which they are passed, and what the legend says of them."""

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
    """Draw a graph whose vertices have places, with routes on top.

    Parameters
    ----------
    file : path
        Where the picture goes; the suffix names its format.
    positions : array, shape (n, 2)
        Of each vertex, in one unit both ways.
    sources, targets : arrays, shape (m,)
        The ends of each edge.
    title, subtitle : str
    edges : str
        What the legend calls the edges.
    routes : sequence of Route
        The ends of the first are marked and named; other vertices are named where there are few.
    circled : sequence of int
        Vertices within a ring, which the legend calls `circle`.
    names : sequence, optional
        Of the vertices; their numbers when absent.
    unit : str
        Of the positions; a scale bar is drawn when it is given.

    Raises
    ------
    SemiringError
        When Matplotlib is missing.
    """
    figure, axes = _canvas(_proportions(positions))
    from matplotlib.collections import LineCollection

    lines = np.stack([positions[sources], positions[targets]], axis=1)
    axes.add_collection(LineCollection(list(lines), colors=ROAD, linewidths=0.8, label=edges, capstyle="round"))
    for k, route in enumerate(routes):
        x, y = positions[list(route.vertices)].T
        axes.plot(
            x, y, color=COLOURS[k % len(COLOURS)], linewidth=route.width, label=route.label,
            solid_capstyle="round", solid_joinstyle="round", zorder=3 + k,
        )
    if len(positions) <= NAMED:
        _write_names(axes, positions, [routes[0].vertices[0], routes[0].vertices[-1]] if routes else [], names)
    if routes:
        _mark_ends(axes, positions, routes[0], names)
    if len(circled):
        x, y = positions[list(circled)].mean(axis=0)
        axes.plot(x, y, "o", markersize=13, markerfacecolor="none", markeredgecolor=COLOURS[2], markeredgewidth=1.6,
                  label=circle, linestyle="none", zorder=8)
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.autoscale_view()
    axes.set_axis_off()
    if unit:
        _scale_bar(axes, positions, unit)
    _head(axes, title, subtitle)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.01), frameon=False, fontsize=9.5, labelcolor=INK,
                handlelength=1.8, borderaxespad=0.0, labelspacing=0.45)
    _save(figure, file)


def draw_heat_map(
    file: Path, matrix: np.ndarray, zero: Any, *, title: str, subtitle: str = "", names: Sequence[Any] | None = None
) -> None:
    """Draw a matrix of numbers as colours; white where it holds the algebra's zero.

    Parameters
    ----------
    file : path
    matrix : array, shape (n, n)
        Numbers, or records, of which the first component is drawn.
    zero : scalar
        The algebra's zero in the matrix's dtype.
    title, subtitle : str
    names : sequence, optional
        Of the vertices; written at the rows and columns of a small matrix.

    Raises
    ------
    SemiringError
        When Matplotlib is missing, or the elements are Python objects.
    """
    if matrix.dtype.kind == "O":
        raise SemiringError("elements that are Python objects have no colours: a heat map needs numbers or records")
    figure, axes = _canvas((6.4, 6.4))
    absent = matrix == zero
    label = ""
    if matrix.dtype.names:
        label = matrix.dtype.names[0]
        matrix = matrix[label]
    values = np.ma.masked_array(matrix.astype(np.float64), mask=absent)
    values = np.ma.masked_invalid(values)
    image = axes.imshow(values, cmap="viridis_r", interpolation="nearest" if len(matrix) <= 400 else "antialiased")
    if matrix.dtype.kind != "b" and values.count():
        bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03, label=label)
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=FAINT, labelcolor=INK)
    if len(matrix) <= NAMED:
        labels = [str(v) for v in (names if names is not None else range(len(matrix)))]
        axes.set_xticks(range(len(labels)), labels, rotation=90 if max(map(len, labels), default=0) > 2 else 0)
        axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(colors=FAINT, labelcolor=INK, length=3)
    axes.set_xlabel("to", color=INK)
    axes.set_ylabel("from", color=INK)
    for side in axes.spines.values():
        side.set_color(ROAD)
    _head(axes, title, subtitle)
    _save(figure, file)


def require_matplotlib() -> None:
    """Raise unless pictures can be drawn; to be asked before the work whose answer would be drawn.

    Raises
    ------
    SemiringError
        When Matplotlib is missing.
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


def _proportions(positions: NDArray[np.float64]) -> tuple[float, float]:
    """Width and height in inches of a figure whose map fills it."""
    wide, high = np.ptp(positions, axis=0) if len(positions) else (1.0, 1.0)
    ratio = float(np.clip(high / wide if wide else 1.0, 0.4, 1.8))
    return 7.6, 7.6 * ratio + 1.2


def _mark_ends(axes: Any, positions: NDArray[np.float64], route: Route, names: Sequence[Any] | None) -> None:
    middle = (positions.min(axis=0) + positions.max(axis=0)) / 2
    for end in (route.vertices[0], route.vertices[-1]):
        x, y = positions[end]
        axes.plot(x, y, "o", markersize=7.5, color=COLOURS[0], markeredgecolor="white", markeredgewidth=1.4, zorder=9)
        # Sideways towards the middle, so that the text stays on the map; up or down away from it, to hide little.
        left, high = x > middle[0], y > middle[1]
        axes.annotate(
            str(end if names is None else names[end]), (x, y), xytext=(-9 if left else 9, 7 if high else -7),
            textcoords="offset points", ha="right" if left else "left", va="bottom" if high else "top",
            color=INK, fontsize=10, fontweight="bold", zorder=10,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )


def _write_names(axes: Any, positions: NDArray[np.float64], but: Sequence[int], names: Sequence[Any] | None) -> None:
    for v, (x, y) in enumerate(positions):
        if v not in but:
            axes.plot(x, y, "o", markersize=4, color=FAINT, zorder=2)
            axes.annotate(str(v if names is None else names[v]), (x, y), xytext=(6, 4), textcoords="offset points",
                          color=FAINT, fontsize=9, zorder=10)


def _scale_bar(axes: Any, positions: NDArray[np.float64], unit: str) -> None:
    """A bar of a round length, about a fifth of the map's width, below its right corner."""
    fifth = max(np.ptp(positions[:, 0]), np.ptp(positions[:, 1])) / 5
    if not fifth > 0:
        return
    power = 10.0 ** np.floor(np.log10(fifth))
    length = power * max(m for m in (1, 2, 5) if m * power <= fifth)
    right, low = positions[:, 0].max(), positions[:, 1].min() - 0.02 * np.ptp(positions[:, 1])
    axes.plot([right - length, right], [low, low], color=INK, linewidth=2.0, solid_capstyle="butt", zorder=5)
    axes.annotate(f"{length:g} {unit}", (right - length / 2, low), xytext=(0, 4), textcoords="offset points",
                  ha="center", color=INK, fontsize=9)


def _head(axes: Any, title: str, subtitle: str) -> None:
    axes.annotate(title, (0, 1), xycoords="axes fraction", xytext=(0, 26 if subtitle else 10),
                  textcoords="offset points", fontsize=14, fontweight="bold", color=INK)
    if subtitle:
        axes.annotate(subtitle, (0, 1), xycoords="axes fraction", xytext=(0, 9), textcoords="offset points",
                      fontsize=10, color=FAINT)


def _save(figure: Any, file: Path) -> None:
    try:
        figure.savefig(file, bbox_inches="tight", pad_inches=0.25)
    except OSError as e:
        raise SemiringError(f"the picture cannot be written to {file}: {e.strerror or e}") from None
    except ValueError as e:  # Matplotlib lists the formats that it writes
        raise SemiringError(f"the picture cannot be written to {file}: {e}") from None

"""Figures as SVG within the page: graphs, bars, grids and floors, in the colours of the theme.

Each figure has a title, which screen readers read instead of the picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from inspect import signature
from itertools import pairwise
from typing import Any

Points = Sequence[Sequence[float]]
Line = tuple[str, Points, Points]

GOLD, BLUE = "#c07c00", "#3b7ddd"
LETTER = 8.6  # pixels of a letter, a little more than it takes in the fonts that site.css names


class Drawing:
    """An SVG, as a notebook shows it."""

    def __init__(self, title: str, width: float, height: float, body: Iterable[str]):
        self.title, self.width, self.height, self.body = title, width, height, "".join(body)

    def _repr_html_(self) -> str:
        return (f'<svg class="drawing" role="img" aria-label="{escape(self.title)}" width="{self.width:.0f}" '
                f'viewBox="0 0 {self.width:.0f} {self.height:.0f}">{self.body}</svg>')


def graph(title: str, edges: Iterable[tuple[str, str, Any]], places: Mapping[str, tuple[float, float]],
          walk: Sequence[str] = ()) -> Drawing:
    """Draw a directed graph with vertices at given positions, in units of 110 pixels; highlight a walk."""
    wide = max(17, 9 + 4.5 * max(map(len, places)))
    side = max(50, wide + 4)
    at = {name: (side + 110 * x, 50 + 110 * y) for name, (x, y) in places.items()}
    ends = {(u, v) for u, v, _ in edges}
    chosen = set(pairwise(walk))
    body = [_edge(at[u], at[v], str(label), (v, u) in ends, (u, v) in chosen, wide) for u, v, label in edges]
    body += [_vertex(x, y, name, name in walk, wide) for name, (x, y) in at.items()]
    return Drawing(title, max(x for x, _ in at.values()) + side, max(y for _, y in at.values()) + 50, body)


def _vertex(x: float, y: float, name: str, chosen: bool, wide: float) -> str:
    colour = GOLD if chosen else "currentColor"
    line = f'<ellipse cx="{x:.0f}" cy="{y:.0f}" rx="{wide}" ry="17" stroke="{colour}" stroke-width="2" fill="none"/>'
    return line + f'<text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle">{escape(name)}</text>'


def _edge(u: tuple[float, float], v: tuple[float, float], label: str, both: bool, chosen: bool, wide: float) -> str:
    """Draw an arrow, bent to the left if there is an opposite one; a loop is above its vertex."""
    colour, width = (GOLD, 3) if chosen else ("currentColor", 1.3)
    if u == v:
        x, y = u
        top = f"{x - 28:.0f} {y - 52:.0f} {x + 28:.0f} {y - 52:.0f}"
        line = f"M {x - 9:.0f} {y - 15:.0f} C {top} {x + 10:.0f} {y - 17:.0f}"
        return _arrow(line, x + 10, y - 17, 2.05, colour, width) + _label(x + 26, y - 34, label)
    far = math.hypot(v[0] - u[0], v[1] - u[1])
    along = (v[0] - u[0]) / far, (v[1] - u[1]) / far
    across = along[1], -along[0]
    bend = 34 if both else 0
    middle = [(a + b) / 2 + bend * c for a, b, c in zip(u, v, across, strict=True)]
    start, end = _rim(u, middle, wide), _rim(v, middle, wide)
    line = f"M {start[0]:.1f} {start[1]:.1f} Q {middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    angle = math.atan2(v[1] - middle[1], v[0] - middle[0])
    beside = bend / 2 + 12 + 3.5 * (len(label) - 1) * abs(across[0])
    where = [(a + b) / 2 + beside * c for a, b, c in zip(u, v, across, strict=True)]
    return _arrow(line, *end, angle, colour, width) + _label(*where, label)


def _rim(vertex: tuple[float, float], towards: Sequence[float], wide: float) -> tuple[float, float]:
    """Return the point at which an edge meets the ellipse around a vertex, a little outside."""
    x, y = towards[0] - vertex[0], towards[1] - vertex[1]
    share = 1 / math.hypot(x / (wide + 2), y / 19)
    return vertex[0] + share * x, vertex[1] + share * y


def _arrow(line: str, x: float, y: float, angle: float, colour: str, width: float) -> str:
    tips = [(x - 10 * math.cos(angle + turn), y - 10 * math.sin(angle + turn)) for turn in (-0.4, 0.4)]
    head = " ".join(f"{a:.1f},{b:.1f}" for a, b in [(x, y), *tips])
    return (f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
            f'<polygon points="{head}" fill="{colour}"/>')


def _label(x: float, y: float, text: str) -> str:
    return f'<text class="halo" x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle">{escape(text)}</text>'


def bars(title: str, rows: Iterable[tuple[str, float]]) -> Drawing:
    """Draw a bar for each row, between its name and its number."""
    rows = list(rows)
    left = 20 + 8.5 * max(len(name) for name, _ in rows)
    most = max(value for _, value in rows)
    body = []
    for k, (name, value) in enumerate(rows):
        y, wide = 10 + 30 * k, 300 * value / most
        body += [f'<text x="{left - 8:.0f}" y="{y + 16}" text-anchor="end">{escape(name)}</text>',
                 f'<rect x="{left:.0f}" y="{y}" width="{wide:.1f}" height="22" fill="{BLUE}"/>',
                 f'<text x="{left + wide + 6:.0f}" y="{y + 16}">{value:,g}</text>']
    return Drawing(title, left + 300 + 90, 20 + 30 * len(rows), body)


COLOURS = ("#c07c00", "#3b7ddd", "#2a9d5c", "#c2456b", "#8a5fd0", "#7d7d7d", "#b5651d")  # seen on light and on dark


def curves(title: str, lines: Iterable[Line], behind: Iterable[tuple[Points, Points]] = ()) -> Drawing:
    """Draw lines over logarithmic axes, with names at their ends.

    Parameters
    ----------
    title : str
    lines : iterable of (str, sequence of (x, y), sequence of (x, y))
        Name, points, and further points to which the line is dashed. All numbers above zero.
    behind : iterable of (sequence of (x, y), sequence of (x, y))
        Pale lines without names.
    """
    lines, behind = list(lines), list(behind)
    both = [*((solid, dashed) for _, solid, dashed in lines), *behind]
    points = [point for solid, dashed in both for point in (*solid, *dashed)]
    (least_x, least_y), (most_x, most_y) = (tuple(map(best, zip(*points, strict=True))) for best in (min, max))
    least_y, most_y = 10 ** math.floor(math.log10(least_y)), 10 ** math.ceil(math.log10(most_y))
    left, top, wide, high = 70, 16, 420, 300

    def place(point: Sequence[float]) -> tuple[float, float]:
        across = math.log(point[0] / least_x) / max(math.log(most_x / least_x), 1e-9)
        up = math.log(point[1] / least_y) / max(math.log(most_y / least_y), 1e-9)
        return left + wide * across, top + high * (1 - up)

    def line(solid: Points, dashed: Points, look: str) -> str:
        parts = [(solid, "")] + [((solid[-1], *dashed), ' stroke-dasharray="3 4"')] * bool(dashed)
        paths = [(" L ".join(f"{x:.1f} {y:.1f}" for x, y in map(place, part)), style) for part, style in parts]
        return "".join(f'<path d="M {path}" fill="none" {look}{style}/>' for path, style in paths)

    body = []
    for power in range(round(math.log10(least_y)), round(math.log10(most_y)) + 1):
        y = place((least_x, 10.0**power))[1]
        body += [f'<path d="M {left} {y:.1f} h {wide}" stroke="currentColor" stroke-opacity="0.25"/>',
                 f'<text x="{left - 8}" y="{y + 5:.1f}" text-anchor="end">{10.0**power:g}</text>']
    ticks = [least_x * 2**k for k in range(int(math.log2(most_x / least_x)) + 1)]
    for x in ticks:
        at = place((x, least_y))[0]
        body += [f'<path d="M {at:.1f} {top + high} v 5" stroke="currentColor"/>',
                 f'<text x="{at:.1f}" y="{top + high + 22}" text-anchor="middle">{x:,g}</text>']
    body += [line(solid, dashed, 'stroke="currentColor" stroke-opacity="0.18"') for solid, dashed in behind]
    free = top - 8.0
    ends = sorted(((place((dashed or solid)[-1])[1], k) for k, (_, solid, dashed) in enumerate(lines)))
    for at, (y, k) in enumerate(ends):
        name, solid, dashed = lines[k]
        colour = COLOURS[at % len(COLOURS)]
        body += [line(solid, dashed, f'stroke="{colour}" stroke-width="2"'),
                 *(f'<circle cx="{x:.1f}" cy="{z:.1f}" r="2.5" fill="{colour}"/>' for x, z in map(place, solid))]
        free = max(y + 5, free + 17)
        x, z = place((dashed or solid)[-1])
        body += [f'<path d="M {x:.1f} {z:.1f} L {left + wide + 22} {free - 5:.1f}" stroke="{colour}" fill="none" '
                 'stroke-opacity="0.5" stroke-width="0.8" stroke-dasharray="1 5"/>',  # no data: it leads to the name
                 f'<text x="{left + wide + 26}" y="{free:.1f}">{escape(name)}</text>']
    beyond = LETTER * max(len(name) for name, _, _ in lines) + 40
    return Drawing(title, left + wide + beyond, max(top + high + 30, free + 10), body)


def grid(title: str, rows: Sequence[Sequence[Any]], shade: Sequence[Sequence[float]]) -> Drawing:
    """Draw texts in a grid, each cell shaded by a number from 0 to 1."""
    side, body = 36, []
    for i, (texts, shares) in enumerate(zip(rows, shade, strict=True)):
        for j, (text, share) in enumerate(zip(texts, shares, strict=True)):
            x, y = 4 + side * j, 4 + side * i
            body += [f'<rect x="{x}" y="{y}" width="{side}" height="{side}" stroke="currentColor" stroke-width="0.5" '
                     f'fill="{GOLD}" fill-opacity="{0.75 * share:.2f}"/>',
                     f'<text x="{x + side / 2}" y="{y + 23}" text-anchor="middle">{escape(str(text))}</text>']
    return Drawing(title, 8 + side * len(rows[0]), 8 + side * len(rows), body)


def floors(title: str, rows: Iterable[tuple[str, str]], links: Iterable[tuple[int, int, str]] = ()) -> Drawing:
    """Draw boxes in a column, each with a name and a line of text, and arrows to the next.

    Parameters
    ----------
    title : str
    rows : iterable of (str, str)
        Name and text of each box, from above.
    links : iterable of (int, int, str), optional
        Arrows on the right from one box to another, by number, each with a label.
    """
    rows, links = list(rows), list(links)
    wide = 44 + LETTER * max(len(name) + len(text) for name, text in rows)
    middle, body = 4 + wide / 2, []
    for k, (name, text) in enumerate(rows):
        y = 4 + 58 * k
        body += [f'<rect x="4" y="{y}" width="{wide:.0f}" height="36" rx="5" stroke="currentColor" fill="none"/>',
                 f'<text x="18" y="{y + 23}" style="font-weight: bold">{escape(name)}</text>',
                 f'<text x="{32 + LETTER * len(name):.0f}" y="{y + 23}">{escape(text)}</text>']
        if k:
            line = f"M {middle} {y - 22} L {middle} {y - 2}"
            body.append(_arrow(line, middle, y - 1, math.pi / 2, "currentColor", 1.3))
    right = 4 + wide
    for at, (start, end, label) in enumerate(links):
        x, above, below = right + 26 + 22 * at, 22 + 58 * start, 22 + 58 * end + 8
        line = f"M {right} {above} L {x} {above} L {x} {below} L {right + 2} {below}"
        body += [_arrow(line, right + 1, below, math.pi, GOLD, 1.6),
                 f'<text x="{x + 6}" y="{(above + below) / 2 + 5}">{escape(label)}</text>']
    beyond = max((32 + 22 * at + LETTER * len(label) for at, (_, _, label) in enumerate(links)), default=0)
    return Drawing(title, right + beyond + 4, 4 + 58 * len(rows) - 18, body)


class Table:
    """Rows of text under a head."""

    def __init__(self, title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]):
        self.title, self.head, self.rows = title, head, list(rows)

    def _repr_html_(self) -> str:
        def cells(row: Sequence[Any], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(str(text))}</{tag}>" for text in row) + "</tr>"

        body = "".join(cells(row, "td") for row in self.rows)
        return f"<table><caption>{escape(self.title)}</caption>{cells(self.head, 'th')}{body}</table>"


class OptionsOfVerbs:
    """A table of the options of each verb, from the table of ways."""

    def _repr_html_(self) -> str:
        import semiring
        from semiring.algebra.tables import html_table
        from semiring.api import BUILDERS
        from semiring.solvers.ways import WAYS, called, options_of

        rows = []
        for verb in BUILDERS:
            alone = {name for way in WAYS if way.verb == verb for name in way.answers}
            known = signature(getattr(semiring, verb)).parameters  # solvers ask other solvers for some more
            names = sorted({called(name) for name in options_of(verb) - {"sources"}} & set(known))
            own = [name for name in names if name in {called(name) for name in alone}]
            rows.append((verb, ", ".join(names) or "none", ", ".join(own)))
        return html_table("Options of each verb", rows, ("verb", "options", "of these, with a way of their own"))


def options_of_verbs() -> OptionsOfVerbs:
    """What each verb may be asked for."""
    return OptionsOfVerbs()

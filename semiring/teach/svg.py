"""Drawings as SVG that need no other package: vertices, arrows with labels, tables of texts.

A drawing brings its own paper, so that it can be read on any page, dark where the reader prefers that; and a title and
a description, for people who do not see it.
"""

from __future__ import annotations

import html
import zlib
from collections.abc import Sequence
from math import hypot, sqrt
from unicodedata import east_asian_width

from semiring.algebra.tables import Cut
from semiring.graphs.texts import shown

Point = tuple[float, float]

CHARACTER, WIDE = 7.6, 13.0  # widths of a character at 13 pixels, at most; of Chinese or Japanese
HEIGHT = 24  # of a vertex
LINE = 20  # from a line of text to the next
MARGIN = 16  # around everything
HEAD = 8  # length of the head of an arrow
# Colours on light and on dark paper: the paper, lines, the insides of vertices, texts, and a walk that stands out.
LIGHT = ("#fff", "#57606a", "#f6f8fa", "#1f2328", "#9a5b00")
DARK = ("#161b22", "#9aa4af", "#21262d", "#e6edf3", "#f0b429")


def _rules(colours: tuple[str, ...], inside: str = "") -> str:
    """Rules of colours, for all drawings or for those inside of something."""
    paper, line, node, ink, walk = colours
    told = {".sr-paper": f"fill:{paper}", ".sr-line": f"stroke:{line};fill:none", ".sr-head": f"fill:{line}",
            ".sr-node": f"fill:{node};stroke:{line}", ".sr-drawing text": f"fill:{ink}",
            ".sr-drawing .sr-label": f"stroke:{paper}", ".sr-walk .sr-line": f"stroke:{walk};stroke-width:2.5",
            ".sr-walk .sr-head": f"fill:{walk}"}
    return "".join(f"{inside}{what}{{{rule}}}" for what, rule in told.items())


# What the reader prefers holds, unless the page around the drawing says what it is: sites, JupyterLab.
STYLE = (
    ".sr-drawing text{font:13px ui-sans-serif,system-ui,sans-serif}.sr-drawing .sr-strong{font-weight:600}"
    ".sr-drawing .sr-label{paint-order:stroke;stroke-width:4px;stroke-linejoin:round}"
    ".sr-drawing .sr-on{stroke-width:8px}"  # a label on its line, of which nothing is to be seen between the letters
    + _rules(LIGHT)
    + f"@media(prefers-color-scheme:dark){{{_rules(DARK)}}}"
    + _rules(LIGHT, ":is([data-theme=light],[data-jp-theme-light=true]) ")
    + _rules(DARK, ":is([data-theme=dark],[data-jp-theme-light=false]) ")
)


def width_of(text: str) -> float:
    """Pixels that a text takes, at most.

    >>> width_of("ab"), width_of("道")
    (15.2, 13.0)
    """
    return sum(WIDE if east_asian_width(c) in "WF" else CHARACTER for c in text)


class Drawing:
    """Shapes in the order in which they are drawn; the paper is as large as they are.

    Parameters
    ----------
    title : str
        A heading, which is not drawn.
    description : str
        What is to be seen, in words.

    Attributes
    ----------
    left, top, right, bottom : float
        How far the shapes reach.

    Examples
    --------
    >>> drawing = Drawing("An edge", "From a to b, 3.")
    >>> drawing.arrow((0, 0), (100, 0), "3")
    >>> drawing.vertex((0, 0), "a")
    >>> drawing.vertex((100, 0), "b")
    >>> str(drawing).count("<text")
    3
    """

    def __init__(self, title: str, description: str):
        self.title, self.description = title, description
        self._shapes: list[str] = []
        self.left = self.top = self.right = self.bottom = 0.0

    def _reach(self, x: float, y: float, half_width: float = 0, half_height: float = 0) -> None:
        self.left, self.right = min(self.left, x - half_width), max(self.right, x + half_width)
        self.top, self.bottom = min(self.top, y - half_height), max(self.bottom, y + half_height)

    def text(self, place: Point, text: str, kind: str = "", anchor: str = "middle") -> None:
        """A text, centred on a place, or with its start or end there."""
        x, y = place
        half = width_of(text) / 2
        centre = x + {"start": half, "middle": 0, "end": -half}[anchor]
        self._reach(centre, y, half, HEIGHT / 2)
        whole = f"<title>{html.escape(shown(text.whole))}</title>" if isinstance(text, Cut) else ""
        self._shapes.append(f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="{anchor}"'
                            + (f' class="{kind}"' if kind else "") + f">{html.escape(shown(text))}{whole}</text>")

    def vertex(self, place: Point, text: str) -> None:
        """A vertex with its name in it."""
        x, y = place
        half = half_width(text)
        self._reach(x, y, half, HEIGHT / 2)
        self._shapes.append(f'<rect x="{x - half:.1f}" y="{y - HEIGHT / 2:.1f}" width="{2 * half:.1f}" '
                            f'height="{HEIGHT}" rx="{HEIGHT / 2}" class="sr-node"/>')
        self.text(place, text)

    def line(self, points: Sequence[Point], kind: str = "") -> None:
        """A line through some places; `kind` as for an arrow."""
        for x, y in points:
            self._reach(x, y)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        shape = f'<polyline points="{path}" class="sr-line"/>'
        self._shapes.append(f'<g class="{kind}">{shape}</g>' if kind else shape)

    def arrow(
        self, start: Point, end: Point, label: str = "", bend: float = 0, room: float = HEIGHT / 2 + 2,
        kind: str = "",
    ) -> None:
        """An arrow between the middles of two vertices; its label is written beside its middle.

        Parameters
        ----------
        start, end : pair of float
        label : str
        bend : float
            How far its middle is off the straight line, to the left of who walks along it.
        room : float
            How far to the side of the last vertex's middle the arrow ends; above or below it, at its border.
        kind : str
            A class of the style, such as "sr-walk".
        """
        (x, y), (u, v) = start, end
        length = hypot(u - x, v - y) or 1.0
        normal = ((v - y) / length, (x - u) / length)
        control = control_of(start, end, bend)
        toward = hypot(u - control[0], v - control[1]) or 1.0
        along = ((u - control[0]) / toward, (v - control[1]) / toward)
        room = _to_border(room, *along)
        tip = (u - room * along[0], v - room * along[1])
        base = (tip[0] - HEAD * along[0], tip[1] - HEAD * along[1])
        side = (HEAD / 2 * along[1], -HEAD / 2 * along[0])
        head = [tip, (base[0] + side[0], base[1] + side[1]), (base[0] - side[0], base[1] - side[1])]
        for px, py in (start, end, ((x + u) / 2 + bend * normal[0], (y + v) / 2 + bend * normal[1])):
            self._reach(px, py)
        way = f"M{x:.1f} {y:.1f}Q{control[0]:.1f} {control[1]:.1f} {base[0]:.1f} {base[1]:.1f}"
        corners = " ".join(f"{px:.1f},{py:.1f}" for px, py in head)
        shapes = f'<path d="{way}" class="sr-line"/><polygon points="{corners}" class="sr-head"/>'
        self._shapes.append(f'<g class="{kind}">{shapes}</g>' if kind else shapes)
        if label:
            beside = bend + 8 + 4 * abs(normal[1])
            place = ((x + u) / 2 + beside * normal[0], (y + v) / 2 + beside * normal[1])
            self.text(place, label, "sr-label", _anchor(normal[0]))

    def loop(self, place: Point, label: str, away: Point) -> None:
        """An arrow from a vertex to itself, on its side in a direction of length 1."""
        (x, y), (dx, dy) = place, away
        out = [(x + 46 * dx + s * 22 * dy, y + 46 * dy - s * 22 * dx) for s in (1, -1)]
        points = " ".join(f"{px:.1f} {py:.1f}" for px, py in (*out, place))
        self._shapes.append(f'<path d="M{x:.1f} {y:.1f}C{points}" class="sr-line"/>')
        for px, py in out:
            self._reach(px, py)
        self.text((x + 44 * dx, y + 44 * dy), label, "sr-label", _anchor(dx))

    def table(self, place: Point, rows: Sequence[Sequence[str]]) -> float:
        """Texts in rows and columns, the first of each row and column strong; how far down they reach."""
        x, y = place
        widths = widths_of(rows)
        for i, row in enumerate(rows):
            right = x
            for j, (text, width) in enumerate(zip(row, widths, strict=True)):
                right += width
                if text:
                    self.text((right - 7, y), text, "sr-strong" if not (i and j) else "", "end")
            y += LINE
        return y

    def put(self, other: Drawing, place: Point) -> None:
        """Another drawing, with the left and upper ends of its shapes at a place."""
        x, y = place[0] - other.left, place[1] - other.top
        self._reach(other.left + x, other.top + y)
        self._reach(other.right + x, other.bottom + y)
        self._shapes.append(f'<g transform="translate({x:.1f} {y:.1f})">{"".join(other._shapes)}</g>')

    def __str__(self) -> str:
        left, top = self.left - MARGIN, self.top - MARGIN
        width, height = self.right - left + MARGIN, self.bottom - top + MARGIN
        about = f"{self.title} {self.description} {''.join(self._shapes)}"
        name = f"sr-{zlib.crc32(about.encode('utf-8', 'backslashreplace')):08x}"  # the same drawing has the same name
        title, description = (html.escape(shown(text)) for text in (self.title, self.description))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="sr-drawing" role="img" '
            f'aria-labelledby="{name}-t {name}-d" viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'style="max-width:100%;height:auto"><title id="{name}-t">{title}</title>'
            f'<desc id="{name}-d">{description}</desc><style>{STYLE}</style>'
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" class="sr-paper"/>'
            f'{"".join(self._shapes)}</svg>'
        )


def control_of(start: Point, end: Point, bend: float) -> Point:
    """The point that bends a line: the control point of its quadratic Bézier curve.

    >>> control_of((0, 0), (10, 0), 4)
    (5.0, -8.0)
    """
    (x, y), (u, v) = start, end
    length = hypot(u - x, v - y) or 1.0
    return ((x + u) / 2 + 2 * bend * (v - y) / length, (y + v) / 2 + 2 * bend * (x - u) / length)


def _to_border(half: float, dx: float, dy: float) -> float:
    """How far it is from the middle of a vertex to its border, with a little room, in a direction of length 1.

    A vertex is a rectangle of half this width whose ends are round.

    >>> _to_border(14, 0, 1), _to_border(60, 1, 0), _to_border(60, 0, 1)
    (14.0, 60.0, 14.0)
    """
    end = HEIGHT / 2 + 2  # the radius of the ends
    side = max(half - end, 0.0)  # from the middle to the middle of an end
    if end * abs(dx) < side * abs(dy):
        return end / abs(dy)
    return side * abs(dx) + sqrt(max(end**2 - (side * dy) ** 2, 0.0))


def _anchor(aside: float) -> str:
    """How a label beside a line is anchored, so that it does not lie on it; `aside` is how far to the right it is."""
    return "middle" if abs(aside) < 0.3 else "start" if aside > 0 else "end"


def widths_of(rows: Sequence[Sequence[str]]) -> list[float]:
    """How wide the columns of a table are.

    >>> widths_of([["", "b"], ["a", "12"]])
    [21.6, 29.2]
    """
    return [max(map(width_of, column)) + 14 for column in zip(*rows, strict=True)]


def half_width(text: str) -> float:
    """Half the width of a vertex with a name."""
    return max(HEIGHT, width_of(text) + 16) / 2

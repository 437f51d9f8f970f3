"""Pictures: heat maps and maps, and those that cannot be drawn."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.cli import plot


def test_heat_map_and_map(call, roads: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "closure.png"
    answer = call("closure", roads, "--algebra", "min-plus", "--plot", picture)
    assert (answer.status, answer.out) == (0, "") and picture.read_bytes().startswith(b"\x89PNG")
    places = tmp_path / "places.csv"
    places.write_text("town,longitude,latitude\nAyr,-4.6,55.4\nBute,-5.1,55.8\nColl,-6.5,56.6\nDale,-5.0,56.0\n")
    way = tmp_path / "way.svg"
    ends = "--from", "Ayr", "--to", "Dale"
    answer = call("closure", roads, "--algebra", "min-plus", *ends, "--positions", places, "--plot", way)
    assert (answer.status, answer.out) == (0, "Ayr\tDale\t7\n")
    assert way.read_text().startswith("<?xml")


def test_pictures_that_cannot_be_drawn(call, roads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    common = "closure", roads, "--algebra", "min-plus"
    ends = "--from", "Ayr", "--to", "Dale"
    picture, places = tmp_path / "p.png", tmp_path / "places.csv"
    places.write_text("Ayr,0,0\nBute,1,0\nColl,1,1\n")
    assert "Dale has no coordinates" in refused(call(*common, *ends, "--positions", places, "--plot", picture))
    assert "--positions needs --from and --to" in refused(call(*common, "--positions", places, "--plot", picture))
    assert "add --plot" in refused(call(*common, *ends, "--positions", places))
    back = "--from", "Dale", "--to", "Ayr"
    places.write_text("Ayr,0,0\nBute,1,0\nColl,1,1\nDale,2,2\n")
    assert "no path from Dale to Ayr" in refused(call(*common, *back, "--positions", places, "--plot", picture))
    assert "nowhere" in refused(call(*common, "--plot", tmp_path / "nowhere" / "p.png"))
    answer = call(*common, "--plot", tmp_path / "p.nonsense")
    assert "cannot be written" in refused(answer)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in refused(call(*common, "--plot", picture))
    assert not picture.exists()


# What is drawn, before it is a file


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The axes of the pictures that are drawn."""
    pytest.importorskip("matplotlib")
    kept: list[Any] = []
    monkeypatch.setattr(plot, "_save", lambda figure, file: kept.append(figure.axes[0]))
    return kept


def texts(axes: Any) -> list[str]:
    return [t.get_text() for t in axes.texts]


def great_circle(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Kilometres between two places, longitude and latitude in degrees."""
    (l, p), (m, q) = (map(math.radians, place) for place in (a, b))
    half = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin((m - l) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(half))


@settings(max_examples=50)
@given(st.floats(-180, 179), st.floats(-70, 70), st.floats(0, 0.2), st.floats(-0.1, 0.1))
def test_kilometres_are_those_on_the_globe(east: float, north: float, further: float, up: float) -> None:
    a, b = (east, north), (east + further, north + up)
    points = plot.to_km(*np.array([a, b]).T)
    assert points.shape == (2, 2) and points.min(axis=0).tolist() == [0, 0]
    assert math.dist(*points) == pytest.approx(great_circle(a, b), rel=1e-4, abs=1e-6)
    assert points[1, 0] >= points[0, 0]
    assert points[1, 1] - points[0, 1] == pytest.approx(6371.0088 * math.radians(b[1] - a[1]), abs=1e-6)


def test_no_places_are_no_kilometres() -> None:
    assert plot.to_km(np.empty(0), np.empty(0)).shape == (0, 2)


def test_a_map_has_its_roads_routes_and_names(drawn: list[Any]) -> None:
    points = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
    ends = np.array([0, 1, 2]), np.array([1, 2, 3])
    plot.draw_map(
        Path("p.png"), points, *ends, title="roads", subtitle="of a square", edges="3 roads", unit="km",
        routes=[plot.Route([0, 1, 2], "there"), plot.Route([3, 2], "back")], circled=[1, 2], circle="a bridge",
        names=["Ayr", "Bute", "Coll", "Dale"],
    )
    (axes,) = drawn
    (roads,) = axes.collections
    segments = np.stack([points[ends[0]], points[ends[1]]], axis=1)
    assert np.array_equal(roads.get_segments(), segments)
    labels = [t.get_text() for t in axes.get_legend().get_texts()]
    assert labels == ["3 roads", "there", "back", "a bridge"]
    route = next(line for line in axes.lines if line.get_label() == "there")
    assert np.array_equal(np.column_stack(route.get_data()), points[[0, 1, 2]])
    ring = next(line for line in axes.lines if line.get_label() == "a bridge")
    assert [float(v[0]) for v in ring.get_data()] == [10, 5]
    assert {"Ayr", "Bute", "Coll", "Dale", "roads", "of a square", "2 km"} == set(texts(axes))
    bold = {t.get_text() for t in axes.texts if t.get_fontweight() == "bold"}
    assert bold == {"Ayr", "Coll", "Dale", "roads"}, "the ends of routes stand out"


@pytest.mark.parametrize(
    ("wide", "length"), [(1.1, "0.2 km"), (5.1, "1 km"), (24.9, "2 km"), (26.0, "5 km"), (5001.0, "1000 km")]
)
def test_the_scale_bar_is_a_round_fifth(drawn: list[Any], wide: float, length: str) -> None:
    points = np.array([[0.0, 0.0], [wide, wide / 3]])
    plot.draw_map(Path("p.png"), points, np.array([0]), np.array([1]), title="", unit="km")
    plot.draw_map(Path("p.png"), points, np.array([0]), np.array([1]), title="")
    assert length in texts(drawn[0]) and not any("km" in text for text in texts(drawn[1]))
    bar = drawn[0].lines[-1].get_xdata()
    assert bar[1] - bar[0] == pytest.approx(float(length.split()[0])) and bar[1] - bar[0] <= wide / 5


def test_maps_of_little(drawn: list[Any]) -> None:
    nothing = np.empty(0, np.int64)
    plot.draw_map(Path("p.png"), np.empty((0, 2)), nothing, nothing, title="none")
    plot.draw_map(Path("p.png"), np.zeros((2, 2)), np.array([0]), np.array([1]), title="one place", unit="km")
    many = np.random.default_rng(1).random((plot.NAMED + 1, 2))
    plot.draw_map(Path("p.png"), many, nothing, nothing, title="many", routes=[plot.Route([7, 9], "way")])
    assert [texts(axes) for axes in drawn] == [["none"], ["0", "1", "one place"], ["7", "9", "many"]]


def test_a_heat_map_leaves_out_what_is_no_number_to_colour(drawn: list[Any]) -> None:
    matrix = np.array([[0.0, np.inf], [2.5, -np.inf]])
    plot.draw_heat_map(Path("p.png"), sr.Matrix(matrix, sr.min_plus, ["Ayr", "Bute"]), title="distances")
    (axes,) = drawn
    image = axes.images[0].get_array()
    assert np.ma.getmaskarray(image).tolist() == [[False, True], [False, True]]
    assert image.compressed().tolist() == [0, 2.5]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["Ayr", "Bute"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("to", "from") and len(axes.figure.axes) == 2


@pytest.mark.slow
def test_heat_maps_of_records_truth_values_and_nothing(drawn: list[Any]) -> None:
    record = np.array([[(0.0, 1.0), (np.inf, np.inf)]] * 2, sr.shortest_hops.element_dtype)
    for M, title in (
        (sr.Matrix(record, sr.shortest_hops), "costs"), (sr.Matrix(np.eye(2, dtype=bool), sr.boolean), "reach"),
        (sr.Matrix(np.array([[np.inf, -np.inf]] * 2), sr.min_plus), "no walk, or without end"),
        (sr.Matrix(np.zeros((60, 60)), sr.min_plus), "many"),
    ):
        plot.draw_heat_map(Path("p.png"), M, title=title)
    costs, reach, no_way, many = drawn
    assert costs.images[0].get_array().compressed().tolist() == [0, 0]
    assert costs.figure.axes[1].get_ylabel() == "cost"
    assert reach.images[0].get_array().compressed().tolist() == [1, 1]
    assert len(reach.figure.axes) == len(no_way.figure.axes) == 1, "no scale of colours where there is one colour"
    assert not no_way.images[0].get_array().count()
    assert len(many.get_xticklabels()) != 60
    with pytest.raises(sr.SemiringError, match="a heat map needs numbers or records, not Python objects"):
        plot.draw_heat_map(Path("p.png"), sr.adjacency([("a", "b", sr.letter("x"))], sr.regex), title="")


@pytest.mark.parametrize(("S", "dtype", "array"), [
    (sr.max_min, "i8", [[2**63 - 1, 3], [-(2**63), 5]]), (sr.min_plus, "i4", [[3, 2**31 - 1], [-(2**31), 5]]),
    (sr.counting, "u1", [[0, 255], [3, 5]]),
])
def test_no_scale_goes_up_to_the_integer_that_is_infinite(drawn: list[Any], S: sr.Semiring, dtype: str, array) -> None:
    plot.draw_heat_map(Path("p.png"), sr.Matrix(np.array(array, dtype), S), title="")
    assert drawn[0].images[0].get_array().compressed().tolist() == [3, 5]


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=25), st.booleans())
def test_names_on_a_map_cover_no_other_text(places: list[tuple[int, int]], alike: bool) -> None:
    pytest.importorskip("matplotlib")
    kept: list[Any] = []
    points = np.array(places, np.float64) * (1.0, 0.0 if alike else 1.0)
    ends = np.arange(len(points) - 1)
    names = [f"town of {v}" for v in range(len(points))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "_save", lambda figure, file: kept.append(figure))
        plot.draw_map(Path("p.png"), points, ends, ends + 1, title="a long title of a map", subtitle="below it",
                      routes=[plot.Route([0, 1], "the way")], names=names, unit="km")
    figure, axes = kept[0], kept[0].axes[0]
    figure.draw_without_rendering()
    boxes = {t.get_text(): t.get_window_extent() for t in (*axes.texts, *axes.get_legend().get_texts())}
    assert {names[0], names[1]} <= set(boxes), "the ends are always named"
    for name, box in boxes.items():
        for other, b in boxes.items():
            over = min(box.x1, b.x1) - max(box.x0, b.x0), min(box.y1, b.y1) - max(box.y0, b.y0)
            assert name == other or min(over) < 1, (name, other)


def test_a_picture_that_fails_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    file = tmp_path / "p.png"
    file.write_bytes(b"before")

    def fail(self: Any, whole: Any, **options: Any) -> None:
        whole.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(figure.Figure, "savefig", fail)
    with pytest.raises(KeyboardInterrupt):
        plot.draw_heat_map(file, sr.Matrix(np.eye(2), sr.plus_times), title="")
    assert file.read_bytes() == b"before" and list(tmp_path.iterdir()) == [file]


def test_pictures_are_written_in_the_format_of_their_ending(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for ending, mark in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        plot.draw_heat_map(tmp_path / f"p{ending}", sr.Matrix(np.eye(2), sr.plus_times), title="⊕")
        assert (tmp_path / f"p{ending}").read_bytes().startswith(mark)

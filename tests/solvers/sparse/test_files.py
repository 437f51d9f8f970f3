"""What is refused when factors and labels are written."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

import semiring as sr
from semiring.solvers.sparse import files


def test_objects_are_refused(tmp_path: Path) -> None:
    F = sr.factor(sr.as_graph([(0, 1, frozenset([frozenset("x")]))]), sr.why)
    with pytest.raises(sr.SemiringError, match=r"factors of Python objects are not saved: save_analysis keeps"):
        F.save_factors(tmp_path / "f")
    F.save_analysis(tmp_path / "a")
    assert sr.open_analysis(tmp_path / "a").n == 2
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_factors_on_a_gpu_are_refused(tmp_path: Path) -> None:
    given = SimpleNamespace(_by=SimpleNamespace(lowering=SimpleNamespace(on_gpu=True, kind="cuda")))
    with pytest.raises(sr.SemiringError, match=r"on a GPU are not saved: .* or factor with device='cpu'"):
        files.Saving.save_factors(given, tmp_path / "f")  # type: ignore[arg-type]


def test_names_that_no_file_keeps(tmp_path: Path) -> None:
    F = sr.factor(sr.as_graph([(b"a", "b", 3.0)]), sr.min_plus)
    for save in (F.save_factors, F.labels().save):
        with pytest.raises(sr.SemiringError, match=r"a vertex is called b'a': .* rename the vertices"):
            save(tmp_path / "f")


@pytest.mark.parametrize("path", [None, 3, "f.gz"])
def test_bad_paths(path: object) -> None:
    F = sr.factor(sr.as_graph([("a", "b", 3.0)]), sr.min_plus)
    for save in (F.save_factors, F.save_analysis, F.labels().save):
        with pytest.raises(sr.SemiringError, match=r"path must be|cannot be compressed"):
            save(path)  # type: ignore[operator]

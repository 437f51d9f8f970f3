"""What several processes bring, played by threads: one matrix and one algebra, or the same error for all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scale import played
from scale.played import Desk, World

import semiring as sr
from semiring.scale.connection import Rows
from semiring.scale.ranks import Agreed
from semiring.solvers.beyond.brought import facts_of, identity_of, of_first, one_algebra, read


def together(work: Callable[[World], Any], size: int = 3) -> list[Any]:
    """What the function gives, or raises for all, on each of the processes."""
    def one(world: World) -> Any:
        try:
            return work(world)
        except Agreed as e:
            return str(e.args[0])

    return played.together(one, size)


A = np.arange(49.0).reshape(7, 7)
CUTS = [0, 2, 2, 7]  # the second process has no rows


def by_rows(world: World, given: np.ndarray = A) -> Any:
    return Rows(given[CUTS[world.rank] : CUTS[world.rank + 1]])


def test_one_process_has_it_all_have_rows_or_all_read_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", A)
    for way, bring, bounds in (
        ("whole", lambda world: A if world.rank == 0 else None, [0, 7, 7, 7]),
        ("rows", by_rows, [0, 2, 2, 7]),
        ("stored", lambda world: tmp_path / "a.npy", [0, 0, 0, 0]),
    ):
        given = together(lambda world, bring=bring: read(world, bring(world), sr.min_plus))
        assert [(one.way, one.n, one.dtype, one.bounds) for one in given] == [(way, 7, np.dtype("f8"), bounds)] * 3
        assert [one.source is not None for one in given] == [way == "stored"] * 3
        facts = together(lambda world, given=given: facts_of(world, given[world.rank]))
        assert facts[0] == facts[1] == facts[2] == facts_of(World(0, 1, Desk(1)), together(
            lambda world: read(world, A, sr.min_plus), 1)[0])
        identity = identity_of(given[2])
        assert (way == "stored") == ("path" in str(identity)) and list(identity["shape"]) == [7, 7]


@pytest.mark.parametrize(("bring", "told"), [
    (lambda world: A, "rank 0 passes a matrix, rank 1 passes a matrix, .*pass the matrix on rank 0"),
    (lambda world: None, "rank 0 None"),
    (lambda world: by_rows(world, A[:5]), "pass 5 rows of 7 columns: a matrix that has a closure is square"),
    (lambda world: by_rows(world, A.astype("f4") if world.rank == 2 else A), "rank 2 passes 5 × 7 elements of float32"),
    (lambda world: Rows(A[:, :3] if world.rank == 1 else A[:1]), "rank 1 passes 7 × 3 elements"),
    (lambda world: A[:3] if world.rank == 0 else None, "square"),
    (lambda world: A * np.nan if world.rank == 0 else None, r"A\[0, 0\]"),
    (lambda world: by_rows(world, np.where(A == 44, np.nan, A)), r"A\[6, 2\]"),
])
def test_what_does_not_fit_is_refused_by_all_alike(bring: Callable[[World], Any], told: str) -> None:
    errors = together(lambda world: facts_of(world, read(world, bring(world), sr.min_plus)))
    assert len(set(map(str, errors))) == 1
    with pytest.raises(sr.SemiringError, match=told):
        raise sr.SemiringError(errors[0])


def test_the_algebra_is_that_of_the_first() -> None:
    found = together(lambda world: one_algebra(world, A, sr.max_min if world.rank == 0 else None))
    assert [S.name for S in found] == ["max-min"] * 3
    found = together(lambda world: one_algebra(world, A, sr.max_min if world.rank else sr.min_plus))
    assert found == ["rank 1 asks for the closure over max-min, and rank 0 over min-plus"] * 3


def test_files_are_seen_by_the_first_alone() -> None:
    assert together(lambda world: of_first(world, lambda: world.rank)) == [0, 0, 0]

    def refuse() -> None:
        raise sr.SemiringError("no such file")

    assert together(lambda world: of_first(world, refuse)) == ["no such file"] * 3

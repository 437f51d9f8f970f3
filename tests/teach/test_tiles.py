"""A product by tiles: its counts against a play of the kernel's indices, its values against `matmul`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from teach.cases import equal
from teach.node import NODE

import semiring as sr
from semiring.kernels.cuda.compile.geometry import ProductGeometry, product_geometries
from semiring.teach.elements import Elements
from semiring.teach.javascript import runtime
from semiring.teach.page import element_as_json, script
from semiring.teach.tiles import _operations, counts, drawn, explain_product, library_tiles, naive_counts

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
LIBRARY = list(dict.fromkeys(g for size, weight in product((1, 4, 8, 16, 24, 48), (2, 6, 20))
                             for g in product_geometries(size, weight)))
SMALL = [
    ProductGeometry(2, 2, 1, 1, 4, 2, 1, 2, 1, 4, 4), ProductGeometry(1, 1, 1, 1, 1, 2, 1, 1, 1, 8, 8),
    ProductGeometry(4, 2, 1, 2, 3, 4, 1, 1, 1, 2, 2), ProductGeometry(1, 4, 2, 1, 2, 3, 1, 2, 1, 2, 1),
]


ALGEBRAS = "min_plus max_min plus_times boolean viterbi gcd_lcm bitset_may shortest_count".split()


def held(g: ProductGeometry, thread: int) -> tuple[list[int], list[int]]:
    """Rows and columns of a thread, as product.cu has them in first_row, first_column, row_of and column_of."""
    lanes = g.LM * g.LN
    row = thread // lanes % g.WM * (g.TM * g.LM) + thread % lanes // g.LN
    column = thread // lanes // g.WM * (g.TN * g.LN) + thread % g.LN * g.VECTOR
    return ([row + i * g.LM for i in range(g.TM)],
            [column + j // g.VECTOR * g.VECTOR * g.LN + j % g.VECTOR for j in range(g.TN)])


def played(g: ProductGeometry, rows: int, columns: int, depth: int) -> list[tuple[str, int, int, int]]:
    """The kernel's events with their counts so far: each copy and each read of an element adds one."""
    from_global = from_shared = operations = 0
    events = []
    threads = [held(g, t) for t in range(g.LM * g.LN * g.WM * g.WN)]
    steps = -(-depth // g.BK)

    def copied(step: int) -> int:
        ks = [k for k in range(step * g.BK, (step + 1) * g.BK) if k < depth]
        return len([(i, k) for i in range(rows) for k in ks]) + len([(k, j) for k in ks for j in range(columns)])

    for step in range(min(g.STAGES - 1, steps)):
        from_global += copied(step)
        events.append(("fetch", from_global, from_shared, operations))
    for step in range(steps):
        if step + g.STAGES - 1 < steps:
            from_global += copied(step + g.STAGES - 1)
        events.append(("wait", from_global, from_shared, operations))
        for _ in range(g.BK):
            for i, j in threads:
                from_shared += len(i) + len(j)
                operations += len(list(product(i, j)))
            events.append(("multiply", from_global, from_shared, operations))
    events.append(("store", from_global, from_shared, operations))
    return events


def in_node(text: str, folder: Path, given: Any) -> Any:
    assert NODE is not None
    driver, asked = folder / "driver.cjs", folder / "asked.json"
    scripts = [runtime(), script("values"), script("tile")]
    read = 'const asked_ = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));\n'
    driver.write_text("\n".join([*scripts, read, text]), encoding="utf-8")
    asked.write_text(json.dumps(given), encoding="utf-8")
    done = subprocess.run([NODE, str(driver), str(asked)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("g", [*LIBRARY, *map(drawn, LIBRARY), *SMALL], ids=str)
def test_each_element_of_a_tile_is_kept_by_one_thread(g: ProductGeometry) -> None:
    threads = g.LM * g.LN * g.WM * g.WN
    kept = [place for t in range(threads) for place in product(*held(g, t))]
    assert sorted(kept) == list(product(range(g.BM), range(g.BN)))


@pytest.mark.parametrize("g", LIBRARY, ids=str)
def test_a_drawn_tile_has_the_proportions_of_the_library_s(g: ProductGeometry) -> None:
    small = drawn(g)
    assert (small.WM, small.WN, small.STAGES) == (g.WM, g.WN, g.STAGES)
    assert small.BK * 8 == g.BK
    if min(g.TM, g.TN) >= 4:
        assert (small.BM * 16, small.BN * 16) == (g.BM, g.BN)
        assert (small.TM * 4, small.TN * 4, small.LM * 4, small.LN * 4) == (g.TM, g.TN, g.LM, g.LN)


@pytest.mark.parametrize("g", [*map(drawn, LIBRARY), *SMALL], ids=str)
def test_counts_are_those_of_a_play(g: ProductGeometry) -> None:
    for rows, columns, depth in [(g.BM, g.BN, 2 * g.BK), (g.BM, max(1, g.BN - 1), 2 * g.BK + 1), (1, 1, 1)]:
        assert counts(g, rows, columns, depth) == played(g, rows, columns, depth)[-1][1:]


@needs_node
def test_the_page_counts_what_a_play_counts(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    asked = [(g, int(random.integers(1, g.BM + 1)), int(random.integers(1, g.BN + 1)), int(random.integers(1, 17)))
             for g in [*map(drawn, LIBRARY), *SMALL] * 3]
    asked += [(g, g.BM, g.BN, 2 * g.BK) for g in LIBRARY]
    script_ = """process.stdout.write(JSON.stringify(asked_.map(([g, ...sizes]) => [tiledEvents(g, ...sizes),
      naiveEvents(...sizes)].map(events => events.map(({kind, counts: {global, shared, operations}}) =>
        [kind, global, shared, operations])))))"""
    found = in_node(script_, tmp_path, [[asdict(g) | {"absorbs": True}, *sizes] for g, *sizes in asked])
    for (g, *sizes), (tiled, naive) in zip(asked, found, strict=True):
        assert list(map(tuple, tiled)) == played(g, *sizes), (g, sizes)
        assert tuple(naive[-1][1:]) == naive_counts(*sizes)
        assert len(naive) == sizes[2] + 1


@needs_node
def test_zeros_beyond_the_edge_are_left_out_where_they_do_not_absorb(tmp_path: Path) -> None:
    g = asdict(SMALL[0]) | {"absorbs": False}
    text = "process.stdout.write(JSON.stringify(tiledEvents(asked_, 8, 8, 5).map(event => event.k ?? -1)))"
    found = in_node(text, tmp_path, g)
    assert [k for k in found if k >= 0] == [0, 1, 2, 3, 4]


@needs_node
def test_a_block_holds_the_product(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    asked, expected = [], []
    for S in map(sr.catalogue.__getitem__, ALGEBRAS):
        E = Elements(S)
        for g in [*map(drawn, LIBRARY[:4]), *SMALL]:
            m, k, n = (int(x) for x in random.integers(1, [g.BM + 1, 12, g.BN + 1]))
            A, B = (random.integers(0, 2 if S in (sr.boolean, sr.viterbi) else 9, (rows, columns)).astype(object)
                    for rows, columns in ((m, k), (k, n)))
            if S is sr.shortest_count:
                A, B = ([[(int(x), 1) for x in row] for row in X] for X in (A, B))
            A, B = ([[E.element(x) for x in row] for row in X] for X in (A, B))
            info = [f"({_operations(S)})", element_as_json(E.zero), asdict(g) | {"absorbs": True},
                    *([list(map(element_as_json, row)) for row in X] for X in (A, B))]
            asked.append(info)
            expected.append(sr.matmul(np.array(A, E.dtype), np.array(B, E.dtype), S, device="cpu"))
    script_ = """const written_ = x => Array.isArray(x) ? x.map(written_) : typeof x === "bigint" ? {big: String(x)}
        : typeof x === "number" && !Number.isFinite(x) ? String(x) : x;
      process.stdout.write(JSON.stringify(asked_.map(([text, zero, g, A, B]) => {
        const S = {...eval(text), zero: decoded(zero)}, events = tiledEvents(g, A.length, B[0].length, B.length);
        return written_(blockAfter(S, g, decoded(A), decoded(B), events, events.length).C);
      })))"""
    for ours, theirs in zip(expected, in_node(script_, tmp_path, asked), strict=True):
        assert np.shape(theirs)[:2] == ours.shape
        assert all(equal(ours[i, j], theirs[i][j], True) for i, j in np.ndindex(ours.shape))


def test_tiles_are_the_kernel_s() -> None:
    E = explain_product(np.ones((3, 4)), np.ones((4, 2)), sr.min_plus)
    assert (E.tiles["float32"].BM, E.tiles["float64"].BN) == (128, 64)
    notes = {S.name: {name: note for name, _, note, _ in library_tiles(S)} for S in (sr.plus_times, sr.boolean, sr.log)}
    assert "NVIDIA" in notes["plus-times"]["float32"] and "packed" in notes["boolean"]["bool"]
    assert "powers" in notes["log"]["float64"] and not any(note for _, _, note, _ in library_tiles(sr.min_plus))
    assert repr(E) == "<ProductExplanation: min-plus, a product of 3 × 4 and 4 × 2>"


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="1 to 16 rows, columns and steps, not of 17 × 2 and 2 × 3: pass a part"):
        explain_product(np.ones((17, 2)), np.ones((2, 3)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="A has 2 columns, but B has 3 rows"):
        explain_product(np.ones((2, 2)), np.ones((3, 3)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"B must be a matrix of two axes, but has the shape \(1, 2, 2\)"):
        explain_product(np.ones((2, 2)), np.ones((1, 2, 2)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="Python objects"):
        explain_product([[frozenset()]], [[frozenset()]], sr.pareto)


def test_the_page_is_small(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    explain_product(np.full((8, 8), 7.0), np.full((8, 8), 9.0), sr.min_plus).save(file)
    assert file.stat().st_size <= 54_000
    assert "http" not in file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")

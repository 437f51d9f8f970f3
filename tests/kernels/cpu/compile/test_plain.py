"""Loops that Python runs as they stand give what their machine code gives, until that repays."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns, rows

from semiring.algorithms.sparse import costs, ordering, pattern
from semiring.algorithms.sparse.analysis import analyse
from semiring.kernels.cpu.compile import plain
from semiring.kernels.cpu.compile.cache import stem_of
from semiring.kernels.cpu.compile.parts import Part
from semiring.kernels.cpu.compile.plain import COMPILE, STEP, Loop, Rehearsal, compiled, takes

MODULES = "analysis", "costs", "ordering", "pattern", "supernodes", "symbolic"
FACTOR = 3


@compiled
def scaled(values: Any, by: int, count: int) -> Any:
    """Some values times a number and a constant, in place; and their sum."""
    total = 0
    for i in range(count):
        values[i] *= by * FACTOR
        total += values[i]
    return values, total


@compiled
def sum_of(*arrays: Any) -> Any:
    """It is never compiled."""
    return sum(array.sum() for array in arrays[1:])


@compiled
def scaled_twice(values: Any, by: int = 2) -> Any:
    """By way of another function."""
    scaled(values, by, len(values))
    return scaled(values, by, len(values))[1]


def loops() -> dict[str, Loop]:
    """All loops of the sparse algorithms."""
    modules = [import_module(f"semiring.algorithms.sparse.{name}") for name in MODULES]
    return {f"{x.__module__.rpartition('.')[2]}.{x.__name__}": x for module in modules
            for x in vars(module).values() if isinstance(x, Loop)}


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def assert_same(found: Any, wanted: Any) -> None:
    """Equal arrays of one dtype, or numbers, or tuples of such."""
    if isinstance(found, tuple):
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            assert_same(x, y)
    elif isinstance(found, np.ndarray):
        assert found.dtype == wanted.dtype and np.array_equal(found, wanted)
    else:
        assert found == wanted and isinstance(found, (float, np.floating)) == isinstance(wanted, float)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Every call is answered by both; the names of what was called."""
    called = set()

    def both(loop: Loop, *arguments: Any) -> Any:
        called.add(f"{loop.__module__.rpartition('.')[2]}.{loop.__name__}")
        others = copied(arguments)
        wanted = loop.machine_code(*others)
        found = loop.function(*arguments)
        if loop.__name__ == "_merge":  # behind the last neighbour there is room that means nothing
            assert_same((found[0], found[1][: found[0][-1]]), (wanted[0], wanted[1][: found[0][-1]]))
        else:
            assert_same(found, wanted)
        assert_same(arguments, others)
        return found

    monkeypatch.setattr(Loop, "__call__", both)
    yield called


def use(n: int, edges: list[tuple[int, int]], method: str, leaf: int, merge: bool) -> None:
    """Call all loops on the pattern of a graph."""
    indptr, indices = rows(n, edges)
    found = analyse(indptr, indices, method=method, leaf=leaf, merge=merge)
    assert sorted(found.order.tolist()) == list(range(n))
    for lanes in (1, 16):
        found.stack_layout(lanes, 3)
    assert found.lowest.shape == found.children[0].shape == found.heights.shape == found.depths.shape
    costs.work_of(found)
    costs._paths(found.first, found.pointer, found.parent, found.owner, np.arange(0, n, 2))
    costs._between(found.first, found.pointer, found.parent, found.owner, np.arange(0, n, 3), np.arange(0, n, 2))
    ordering.spread(*pattern.symmetric(indptr, indices))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns(24), st.sampled_from(["levels", "natural"]), st.sampled_from([0, 2, 32]), st.booleans())
def test_python_and_machine_code_agree(
    compared: set[str], graph: tuple[int, list[tuple[int, int]]], method: str, leaf: int, merge: bool
) -> None:
    use(*graph, method, leaf, merge)


def test_they_agree_on_graphs_that_are_cut(compared: set[str]) -> None:
    """Of more vertices than are ordered by minimum degree; and that every loop was called."""
    rng, n = np.random.default_rng(0), 150
    grid = [(v, v + 1) for v in range(n - 1) if v % 10 < 9] + [(v, v + 10) for v in range(n - 10)]
    dense = sorted({(int(u), int(v)) for u, v in rng.integers(0, 100, (900, 2))})
    apart = [(v, v + 1) for v in range(99) if v % 33 != 32]
    for edges in (grid, [(v, u) for u, v in grid], dense, apart, []):
        use(n, sorted(edges), "levels", 32, True)
    assert compared == set(loops())


class Fake(SimpleNamespace):
    """Says what repays, and notes what it was asked."""

    def __init__(self, answer: bool):
        super().__init__(answer=answer, asked=[], rented=[])

    def repays(self, seconds: float) -> bool:
        self.asked.append(seconds)
        return self.answer

    def rent(self, function: Any, *arguments: Any) -> Any:
        self.rented.append(function)
        return function(*arguments)


def test_a_loop_is_rented_until_it_repays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step for each element of the arrays; once there is machine code, none is counted."""
    machine_code = SimpleNamespace(calls=0)

    def njit(**options: Any) -> Any:
        assert options["cache"]

        def called(values: Any, by: int, count: int) -> str:
            machine_code.calls += 1
            return "by machine code"

        return lambda function: called

    monkeypatch.setattr("semiring.kernels.cpu.compile.jit.njit", njit)
    loop, code = compiled(scaled.function), Fake(False)
    monkeypatch.setattr(loop, "_code", code)
    for n in (0, 2, 5):
        values, total = loop(np.ones(n, np.int64), 2, n)
        assert values.tolist() == [6] * n and total == 6 * n
    assert code.asked == pytest.approx([0, 2 * STEP, 5 * STEP])
    assert code.rented == [scaled.function] * 3 and not machine_code.calls
    other = takes(2.5)(sum_of.function)
    monkeypatch.setattr(other, "_code", code)
    assert other(1000, np.ones(2), np.ones((3, 4))) == 14
    assert code.asked.pop() == pytest.approx(35 * STEP) and code.rented.pop() is sum_of.function
    assert not other.repays(10) and code.asked.pop() == pytest.approx(25 * STEP)
    code.answer = True
    assert loop.repays(3) and code.asked.pop() == pytest.approx(3 * STEP) and not machine_code.calls
    for _ in range(3):
        assert loop(np.ones(2), 1, 2) == "by machine code"
    assert len(code.asked) == 4 and len(code.rented) == 3 and machine_code.calls == 3
    code.answer = False
    assert loop.repays(0), "it has its machine code"


def test_loops_call_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python each rents for itself; in machine code one is a part of the other, whose price has its own."""
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path))
    inner, outer = Fake(False), Fake(False)
    names = scaled_twice._code._names()
    assert (scaled._code._each, scaled_twice._code._each) == (COMPILE, 2 * COMPILE)
    monkeypatch.setattr(scaled, "_code", inner)
    monkeypatch.setattr(scaled_twice, "_code", outer)
    first = np.arange(4)
    assert scaled_twice(first) == 6 * 36
    assert first.tolist() == [0, 36, 72, 108]
    assert len(inner.asked) == 2 and len(outer.asked) == 1
    outer.answer = True
    second = np.arange(4)
    assert scaled_twice(second) == 6 * 36
    assert np.array_equal(first, second)
    assert len(inner.asked) == 2 and len(outer.asked) == 2
    assert [name for name in names if not (tmp_path / f"{name}.nbi").exists()] == []
    assert names == [f"{stem_of(__name__)}.scaled_twice"]


def test_a_loop_looks_like_its_function() -> None:
    assert scaled.__name__ == "scaled" and scaled.__module__ == __name__
    assert scaled.__doc__ == "Some values times a number and a constant, in place; and their sum."
    with pytest.raises(AssertionError):
        compiled(len)  # not written in Python


@pytest.mark.parametrize("said", ["always", "never"])
def test_what_is_said_is_done(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", said)
    loop = plain.compiled(pattern.transposed.function)
    found = loop(np.array([0, 1, 1]), np.array([1]), 2)
    assert [x.tolist() for x in found] == [[0, 0, 1], [0], [0]]
    assert (loop._machine_code is not None) == (said == "always")


def test_parts_make_no_arrays_and_raise_nothing() -> None:
    """A part has no way to say that there was no memory."""
    packages = [import_module(f"semiring.{name}") for name in ("algorithms", "algorithms.sparse", "kernels.cpu.sparse")]
    modules = [import_module(f"{package.__name__}.{module.name}") for package in packages
               for module in pkgutil.iter_modules(package.__path__) if not module.name.endswith("_template")]
    found = {x for module in modules for x in vars(module).values() if isinstance(x, Loop)}
    parts = {part for loop in found for part in loop._with_called() - {loop}}
    assert len(found) > 30 and len(parts) > 3
    for part in parts:
        made = {"empty", "zeros", "ones", "full", "arange", "copy"} & set(part.function.__code__.co_names)
        assert not made and "raise " not in inspect.getsource(part.function), part.__name__


def test_a_loop_that_others_call_is_a_part_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made into machine code of its own only for calls from Python."""
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path))
    for loop in (scaled, scaled_twice):
        monkeypatch.setattr(loop, "_machine_code", None)
        vars(loop).pop("part", None)
    a = np.arange(3)
    assert scaled_twice.machine_code(a.copy()) == scaled_twice.function(a.copy())
    (compiled_for_others,) = scaled.part.overloads.values()
    assert type(compiled_for_others.library) is Part and scaled.part is not scaled.machine_code


def test_a_rehearsal_notes_what_is_called_from_outside() -> None:
    values, more = np.arange(3), np.arange(4.0)
    with Rehearsal().watched() as rehearsal:
        total = scaled_twice(values)
        assert scaled(more, 1, 2)[1] == FACTOR
        scaled_twice(values, 3)
    assert total == (0 + 1 + 2) * (2 * FACTOR) ** 2
    assert list(rehearsal.calls) == [scaled_twice, scaled]
    assert [len(arguments) for arguments in rehearsal.calls.values()] == [1, 3]
    assert rehearsal.calls[scaled][0] is more and len(rehearsal.steps()) == 2
    assert sum_of(values) == 0 and len(rehearsal.calls) == 2  # it is over


def test_what_was_rehearsed_is_compiled_for_such_arguments() -> None:
    @compiled
    def largest(values: Any, least: Any) -> Any:
        for value in values:
            least = max(least, value)
        return least

    with Rehearsal().watched() as rehearsal:
        largest(np.arange(3), 2.5)
    (step,) = rehearsal.steps()
    step()
    signatures = largest.machine_code.signatures
    assert len(signatures) == 1
    assert largest(np.arange(9), 0.5) == 8 and largest.machine_code.signatures == signatures

"""When compiling repays: who rents until the rent comes to the price, and what is already on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.build import PURPOSES, code_of
from semiring.kernels.choose import choose
from semiring.kernels.cpu.bits import choose as packed
from semiring.kernels.cpu.compile import price
from semiring.kernels.cpu.compile.cache import RENTS, cache_directory, kept_rents
from semiring.kernels.cpu.compile.price import COMPILE, IMPORT, Code, always, has_numba, when
from semiring.kernels.cpu.dense import step_gradients
from semiring.kernels.cpu.sparse import structure
from semiring.kernels.facts import Facts
from semiring.tensors.sequence_gradients import forward_gradients

loaded = pytest.mark.parametrize("loaded", [False, True], ids=["Numba is not loaded", "Numba is loaded"])


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time that passes when somebody works."""
    time = SimpleNamespace(now=100.0)
    monkeypatch.setattr(price, "perf_counter", lambda: time.now)

    def work(seconds: float) -> float:
        time.now += seconds
        return seconds

    time.work = work
    return time


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory, in which somebody else keeps something; and Numba, which is not loaded."""
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    monkeypatch.setattr(price, "sys", SimpleNamespace(modules={}))
    monkeypatch.setattr(price, "has_numba", lambda: True)
    keep(tmp_path, "another")
    return tmp_path


def keep(directory: Path, *names: str) -> None:
    """As if an earlier process had compiled some functions."""
    directory.chmod(0o700)
    for name in names:
        (directory / f"{name}.nbi").touch()


@pytest.mark.parametrize(("compile_", "cache", "wanted"), [
    (None, None, "auto"), ("", None, "auto"), (None, "", "auto"), (" ", "somewhere", "kept"),
    (None, "somewhere", "kept"), ("auto", "somewhere", "auto"), ("never", "somewhere", "never"),
    ("always", None, "always"), ("AUTO", None, "auto"), ("  Never\n", None, "never"),
])
def test_when_it_is_compiled(
    compile_: str | None, cache: str | None, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("SEMIRING_COMPILE", compile_), ("SEMIRING_CACHE_DIR", cache)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert when() == wanted
    with always():
        assert when() == "always"
    assert when() == wanted
    monkeypatch.setattr(price, "has_numba", lambda: False)
    assert when() == "never"
    with always():
        assert when() == "never"


@pytest.mark.parametrize("nonsense", ["1", "yes", "allways", "auto never", "никогда"])
def test_nonsense_is_refused(nonsense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", f" {nonsense.upper()} ")
    for ask in (when, lambda: Code(list).repays(0.0)):
        with pytest.raises(sr.SemiringError, match="SEMIRING_COMPILE must be one of auto, always, never, not ") as e:
            ask()
        assert repr(nonsense) in str(e.value)
    code = Code(list)
    code.bought = True
    assert code.repays(0.0), "who has it does not ask"


def test_always_ends_with_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is left, and for this thread alone."""
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    seen = []
    with pytest.raises(KeyError), always(), always():
        other = Thread(target=lambda: seen.append(when()))
        other.start()
        other.join()
        raise KeyError
    assert seen == ["never"] and when() == "never"


def test_whether_there_is_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = has_numba.__wrapped__
    assert ask()
    for modules, found, wanted in (
        ({}, object(), True), ({}, None, False), ({"numba": None}, object(), False), ({"numba": sys}, None, True),
    ):
        monkeypatch.setattr(price, "sys", SimpleNamespace(modules=modules))
        monkeypatch.setattr(price, "find_spec", lambda name, found=found: found if name == "numba" else None)
        assert ask() is wanted


pieces = st.lists(st.integers(0, 96).map(lambda k: k / 64), max_size=12)  # whose sums are exact


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces, st.integers(0, 3), st.booleans())
def test_the_rent_never_exceeds_the_price(
    directory: Path, clock: SimpleNamespace, pieces: list[float], missing: int, loaded: bool
) -> None:
    """Nor all that is spent twice what is best when the future is known."""
    price.sys.modules = {"numba": sys} if loaded else {}
    keep(directory, "there")
    code = Code(lambda: ["there", *(f"absent{i}" for i in range(missing))])
    cost = missing * COMPILE + (IMPORT if missing and not loaded else 0)
    rent, bought = 0.0, False
    for seconds in pieces:
        bought = bought or rent + seconds >= cost
        assert code.repays(seconds) is bought
        if not bought:
            assert code.rent(clock.work, seconds) == seconds
            rent += seconds
    assert code.spent == rent
    assert rent + cost * bought <= 2 * min(sum(pieces), cost) + 1e-9
    assert code.bought is bought


@loaded
def test_what_is_on_disk_is_used_at_once(directory: Path, loaded: bool) -> None:
    price.sys.modules = {"numba": sys} if loaded else {}
    keep(directory, "one", "two")
    assert Code(lambda: ["one", "two"]).repays(0.0)
    assert not Code(lambda: ["one", "two", "three"]).repays(0.0)
    assert Code(lambda: ["one", "two", "three"]).repays(COMPILE + (0 if loaded else IMPORT))
    (directory / "four.nbc").touch()  # machine code without an index
    (directory / "five").touch()
    assert not Code(lambda: ["four", "five"]).repays(0.0)


def test_what_is_on_disk_is_at_hand(directory: Path) -> None:
    """As is what this process has; what is incomplete is not."""
    keep(directory, "one")
    assert Code(lambda: ["one"]).at_hand and not Code(lambda: ["one", "two"]).at_hand
    code = Code(lambda: ["two"])
    code.bought = True
    assert code.at_hand


def test_a_loop_that_is_cheap_to_compile_is_not_at_hand(directory: Path) -> None:
    keep(directory, "one")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(price.sys, "modules", {"numba": sys})
        assert not Code(lambda: ["two"], shared=True, each=IMPORT / 2).at_hand
        assert Code(lambda: ["one"], shared=True).at_hand


def test_what_is_on_disk_is_asked_once(directory: Path) -> None:
    asked = []
    code = Code(lambda: asked.append(1) or ["one"])
    assert not asked
    assert not code.repays(0.1) and not code.repays(0.2)
    assert asked == [1]
    assert code.is_due(1e3) and not code.bought, "who only asks buys nothing"
    assert code.repays(1e3) and code.repays(0.0) and code.is_due(0.0)
    assert asked == [1]


def test_in_an_empty_directory_nobody_asks_what_is_missing(directory: Path) -> None:
    def names() -> Iterator[str]:
        raise AssertionError("to find names takes a while")

    (directory / "another.nbi").unlink()
    code = Code(names)
    assert not code.repays(0.1)
    assert code.repays(1e3)
    several = Code(names, number=5)
    assert not several.repays(IMPORT + 5 * COMPILE - 0.01) and several.repays(IMPORT + 5 * COMPILE)


def test_without_a_directory_all_is_missing(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(directory, "one")
    monkeypatch.setattr(price, "cache_directory", lambda: None)
    code = Code(lambda: ["one"])
    assert not code.repays(0.1)
    assert code.repays(1e3)


@pytest.mark.parametrize(("said", "seconds", "wanted"), [("always", 0.0, True), ("never", 1e9, False)])
def test_what_was_said_counts_for_more_than_what_it_costs(
    said: str, seconds: float, wanted: bool, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names() -> Iterator[str]:
        raise AssertionError("they are not needed")

    monkeypatch.setenv("SEMIRING_COMPILE", said)
    code = Code(names)
    assert code.repays(seconds) is code.bought is wanted
    keep(directory, "one")
    assert Code(lambda: ["one"]).repays(seconds) is wanted


def test_a_directory_that_is_set_keeps_the_code_of_algebras(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And that of all algebras where it repays, as elsewhere."""
    monkeypatch.delenv("SEMIRING_COMPILE")
    assert when() == "kept"
    assert Code(lambda: ["one"]).repays(0.0)
    shared = Code(lambda: ["one"], shared=True)
    assert not shared.repays(0.0)
    assert not shared.repays(0.9 * COMPILE) and shared.repays(IMPORT + COMPILE)
    keep(directory, "one")
    kept = Code(lambda: ["one"], shared=True)
    assert kept.at_hand and not kept.repays(0.9 * IMPORT) and kept.repays(IMPORT), "Numba must be imported"
    price.sys.modules = {"numba": sys}
    assert Code(lambda: ["one"], shared=True).repays(0.0)


def test_what_is_bought_stays_so(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = Code(lambda: ["one"])
    with always():
        assert code.repays(0.0)
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    assert code.repays(0.0)
    assert not Code(lambda: ["one"]).bought, "each for itself"


def test_without_numba_nothing_is_bought(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price, "has_numba", lambda: False)
    keep(directory, "one")
    for said in ("auto", "always", "never", "nonsense"):
        monkeypatch.setenv("SEMIRING_COMPILE", said)
        with always():
            assert not Code(lambda: ["one"]).repays(1e9)


def test_work_that_fails_is_not_paid_for(clock: SimpleNamespace) -> None:
    code = Code(list)

    def fail() -> None:
        clock.work(5)
        raise ValueError

    with pytest.raises(ValueError):
        code.rent(fail)
    assert code.spent == 0
    assert code.rent(lambda x, y: clock.work(x) + y, 3, 4) == 7
    assert code.spent == 3


def later() -> None:
    """What happens when a process ends, and the next one begins."""
    price._tell_later_processes()
    price._renting.clear()


@pytest.fixture
def nobody_rents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price, "_renting", {})


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces.map(lambda pieces: [each + 0.125 for each in pieces]), st.integers(1, 3))
def test_the_rent_of_all_processes_never_exceeds_the_price(
    directory: Path, clock: SimpleNamespace, nobody_rents: None, pieces: list[float], missing: int
) -> None:
    """As if one process had done the work of all, a piece each."""
    (directory / RENTS).unlink(missing_ok=True)
    rent, price = 0.0, IMPORT + missing * COMPILE
    for seconds in pieces:
        assume(abs(rent + seconds - price) > 1e-4)  # the kept rents are rounded to microseconds
        code = Code(lambda: [f"absent{i}" for i in range(missing)])
        assert code.repays(seconds) is (rent + seconds > price)
        if not code.bought:
            rent += code.rent(clock.work, seconds)
        later()
    assert sum(kept_rents().values()) == pytest.approx(rent, abs=1e-4)


def test_rent_is_of_functions_that_are_missing(directory: Path, clock: SimpleNamespace, nobody_rents: None) -> None:
    """One that has been compiled since takes its share along; short work and forbidden compiling leave nothing."""
    for names, seconds in ((["one", "two"], 1.0), (["three"], 0.01)):
        code = Code(lambda names=names: names)
        assert not code.repays(seconds)
        code.rent(clock.work, seconds)
    later()
    assert kept_rents() == {"one": 0.5, "two": 0.5}
    keep(directory, "one")
    code = Code(lambda: ["one", "two"])
    assert not code.repays(COMPILE + IMPORT - 0.51) and code.repays(COMPILE + IMPORT - 0.49)


def test_who_must_not_compile_tells_nobody(
    directory: Path, clock: SimpleNamespace, nobody_rents: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    code = Code(lambda: ["one"])
    assert not code.repays(1.0)
    code.rent(clock.work, 1.0)
    later()
    assert not (directory / RENTS).exists()


@pytest.mark.slow
def test_what_is_looked_for_on_disk_is_what_compiling_leaves_there() -> None:
    """Else every process would pay again, or would take what is missing for there."""
    directory = cache_directory()
    if directory is None:
        pytest.skip("no directory to keep code in")
    low, bottleneck = (
        choose(S, np.dtype("f8"), Facts(largest=1), 2, in_place=False) for S in (sr.min_plus, sr.max_min)
    )
    assert price._missing_names(lambda: ["no function is called so"]) == ["no function is called so"]
    sr.warmup(sr.min_plus, dtypes="f8", sparse=True)
    sr.warmup(sr.max_min, dtypes="f8")
    with always():
        A = sr.pack(np.eye(3, dtype=bool))
        A.to_dense()
        sr.matmul(np.eye(2), np.eye(2), sr.min_plus, argmax=True)
        for X in (np.eye(2), sp.eye_array(2, format="csr")):
            sr.matmul(X, X, sr.min_plus, argmax=True, mask=sp.eye_array(2, format="csr"))
        sr.matmul(WIDE, WIDE[0], sr.min_plus)
        sr.matmul(WIDE[0], WIDE, sr.min_plus)
        sr.closure(A, sr.boolean)
        sr.matmul(A, A, sr.boolean)
        rows = np.array([0, 2, 3]), np.array([0, 1, 1], np.int32)
        structure.state_of(*rows, 2)
        structure.transposed(*rows, 2)
        structure.product_structure(rows, rows, 2)
        for S in (sr.log, sr.max_plus):
            x, A = np.zeros(2), np.zeros((2, 2))
            y = sr.forward(x, A, S, steps=1)
            forward_gradients(S, y, y, x, A, steps=1)
    codes = {purpose: code_of(bottleneck if purpose == "spanning tree" else low, purpose) for purpose in PURPOSES}
    codes |= {"bits": packed.CODE, "rows of": structure.CODE}
    codes |= {"derivatives": step_gradients.LINEAR, "those of winners": step_gradients.FOLLOW}
    for purpose, code in codes.items():
        names = list(code._names())
        assert names, purpose
        assert [name for name in names if not (directory / f"{name}.nbi").exists()] == [], purpose


RELIABLE = np.array([[0, 0.5, 0], [0, 0, 0.25], [0.75, 0, 0]])
ROADS, VECTOR = sp.csr_array(RELIABLE), np.ones((3, 2))
CHAIN = sp.csr_array((np.full(149, 0.5), (np.arange(149), np.arange(1, 150))), shape=(150, 150))
STAR = sp.csr_array((np.full(130, 0.5), (np.zeros(130, int), np.arange(1, 131))), shape=(131, 131))
HALVES = sp.csr_array(np.where(RELIABLE > 0, 0.5, 0))
THIN, NINES = np.full((50, 4, 1), 0.5), np.full((60, 9, 9), 0.5)
MANY, WIDE = np.full((50, 4, 4), 0.5), np.random.default_rng(0).random((200, 200))
WORK: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "blocks": (lambda: sr.closure(RELIABLE, sr.max_times, reflexive=False),
               lambda: sr.plan("closure", RELIABLE, sr.max_times)),
    "rows": (lambda: sr.matmul(ROADS, VECTOR, sr.max_times), lambda: sr.plan("matmul", ROADS, VECTOR, sr.max_times)),
    "fronts": (lambda: sr.factor(ROADS, sr.max_times), lambda: sr.plan("factor", ROADS, sr.max_times)),
    "substitution": (lambda: sr.solve(CHAIN, np.ones(150), sr.max_times),
                     lambda: sr.plan("solve", CHAIN, np.ones(150), sr.max_times)),
    "search": (lambda: sr.closure_rows(ROADS, sr.max_times, [0]),
               lambda: sr.plan("closure_rows", ROADS, sr.max_times, [0])),
    "buckets": (lambda: sr.closure_rows(ROADS, sr.min_plus, [0]),
                lambda: sr.plan("closure_rows", ROADS, sr.min_plus, [0])),
    "levels": (lambda: sr.closure_rows(HALVES, sr.max_times, [0]),
               lambda: sr.plan("closure_rows", HALVES, sr.max_times, [0])),
    "trees": (lambda: sr.paths(ROADS, sr.max_times), lambda: sr.plan("paths", ROADS, sr.max_times)),
    "trees of hubs": (lambda: sr.paths(STAR, sr.max_times), lambda: sr.plan("paths", STAR, sr.max_times)),
    "walks": (lambda: sr.factor(ROADS, sr.max_times).path(0, 2), lambda: sr.plan("factor", ROADS, sr.max_times)),
    "pairs": (lambda: sr.factor(ROADS, sr.max_times).weight(0, 2), lambda: sr.plan("factor", ROADS, sr.max_times)),
    "predecessors": (lambda: sr.closure_rows(ROADS, sr.max_times, [0], predecessors=True),
                     lambda: sr.plan("closure_rows", ROADS, sr.max_times, [0])),
    "winners": (lambda: sr.matmul(RELIABLE, VECTOR, sr.max_times, argmax=True),
                lambda: sr.plan("matmul", RELIABLE, VECTOR, sr.max_times, argmax=True)),
    "winners of rows": (lambda: sr.matmul(ROADS, ROADS, sr.max_times, mask=ROADS, argmax=True),
                        lambda: sr.plan("matmul", ROADS, ROADS, sr.max_times, mask=ROADS, argmax=True)),
    "winners of dots": (lambda: sr.matmul(RELIABLE, VECTOR, sr.max_times, mask=sp.csr_array(VECTOR), argmax=True),
                        lambda: sr.plan("matmul", RELIABLE, VECTOR, sr.max_times, mask=sp.csr_array(VECTOR),
                                        argmax=True)),
    "sweep": (lambda: sr.closure_rows(ROADS, sr.max_times, [0, 1]),
              lambda: sr.plan("closure_rows", ROADS, sr.max_times, [0, 1])),
    "stacks": (lambda: sr.matmul(MANY, MANY, sr.max_times), lambda: sr.plan("matmul", MANY, MANY, sr.max_times)),
    "stacks in lanes": (lambda: sr.matmul(MANY, THIN, sr.max_times),
                        lambda: sr.plan("matmul", MANY, THIN, sr.max_times)),
    "closures of stacks": (lambda: sr.closure(NINES, sr.max_times), lambda: sr.plan("closure", NINES, sr.max_times)),
    "closures in lanes": (lambda: sr.closure(MANY, sr.max_times), lambda: sr.plan("closure", MANY, sr.max_times)),
    "sums": (lambda: sr.max_times.sum(WIDE, axis=1), lambda: sr.plan("matmul", WIDE, WIDE[0], sr.max_times)),
    "prods": (lambda: sr.max_times.prod(WIDE, axis=1), lambda: sr.plan("matmul", WIDE, WIDE[0], sr.max_times)),
    "prefix sums": (lambda: sr.max_times.cumsum(WIDE, axis=1),
                    lambda: sr.plan("matmul", WIDE, WIDE[0], sr.max_times)),
    "prefix products": (lambda: sr.max_times.cumprod(WIDE, axis=1),
                        lambda: sr.plan("matmul", WIDE, WIDE[0], sr.max_times)),
    "masked": (lambda: sr.matmul(ROADS, ROADS, sr.max_times, mask=ROADS),
               lambda: sr.plan("matmul", ROADS, ROADS, sr.max_times, mask=ROADS)),
    "dots": (lambda: sr.matmul(WIDE, WIDE, sr.max_times, mask=sp.eye_array(200, format="csr")),
             lambda: sr.plan("matmul", WIDE, WIDE, sr.max_times, mask=sp.eye_array(200, format="csr"))),
    "chains": (lambda: sr.forward(MANY[0, 0], MANY, sr.max_times), lambda: sr.plan("matmul", MANY, MANY, sr.max_times)),
    "thin": (lambda: sr.matmul(WIDE, WIDE[0], sr.max_times), lambda: sr.plan("matmul", WIDE, WIDE[0], sr.max_times)),
    "spanning tree": (lambda: sr.closure(np.minimum(WIDE, WIDE.T), sr.max_min, device="cpu"),
                      lambda: sr.plan("closure", np.minimum(WIDE, WIDE.T), sr.max_min, device="cpu")),
}


@pytest.mark.parametrize("purpose", [
    *(purpose for purpose in PURPOSES if not purpose.startswith("small ")),  # which tests/test_small.py looks at
])
@pytest.mark.usefixtures("by_numpy")  # whatever other tests have bought
def test_rent_is_counted_whatever_the_work_is_for(purpose: str) -> None:
    work, plan = WORK[purpose]
    low = plan().lowering
    code = code_of(low.in_machine_code, purpose)
    assert not plan().lowering.compiled
    before = code.spent
    work()
    assert code.spent > before


FIRST_CALLS = """
import os, sys
import numpy as np, scipy.sparse as sp, semiring as sr
S = sr.Semiring("own", add=np.minimum, mul=lambda a, b: a + b + 0.5 * a * b, zero=np.inf, one=0.0,
                carrier=lambda a: a >= 0)
A = np.array([[1.0, 2.0], [3.0, 4.0]])
B = sp.csr_array(A)
for call in (
    lambda: sr.matmul(A, A, S), lambda: sr.closure(A, S), lambda: sr.solve(A, A, S), lambda: sr.factor(A, S).solve(A),
    lambda: sr.paths(A, S), lambda: sr.path(A, S, 0, 1), lambda: sr.closure_rows(A, S, 0), lambda: S.sum(A),
    lambda: S.prod(A), lambda: S.cumsum(A, 0), lambda: sr.einsum("ij,jk->ik", A, A, S=S), lambda: sr.nearest(A, S, [0]),
    lambda: sr.scan(np.stack([A, A]), S), lambda: sr.forward(A[0], A, S, emissions=A), lambda: sr.diameter(A, S),
    lambda: sr.convolve(A[0], A[1], S), lambda: sr.matmul(A, A, S, mask=A > 1), lambda: sr.chain([A, A, A], S),
    lambda: sr.matmul(A, A, S, argmax=True), lambda: sr.matmul(B, B, S), lambda: sr.closure(B, S),
    lambda: sr.factor(B, S).row(0), lambda: sr.paths(B, S), lambda: sr.closure([("a", "b", 1.0)], S),
    lambda: sr.closure(A > 1, sr.boolean), lambda: sr.reach(B),
):
    call()
    assert "numba" not in sys.modules, call.__code__.co_names
assert os.listdir(os.environ["SEMIRING_CACHE_DIR"]) == []
"""


def test_first_small_calls_import_no_numba(tmp_path: Path) -> None:
    environment = os.environ | {"SEMIRING_COMPILE": "auto", "SEMIRING_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", FIRST_CALLS], env=environment, check=True)


def test_a_numba_that_cannot_be_imported_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError("Numba needs an older NumPy")

    monkeypatch.setattr(price, "import_module", refuse)
    monkeypatch.setattr(price, "has_numba", lambda: True)
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    price.loads_numba.cache_clear()
    try:
        code = price.Code(list)
        with pytest.warns(sr.SemiringWarning, match="needs an older NumPy"):
            assert not code.repays(1e9)
        assert not code.repays(1e9) and not code.bought, "and it says so once"
    finally:
        price.loads_numba.cache_clear()


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_while_numba_is_imported_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A C extension of its may answer one with an ImportError, which would leave all work to NumPy."""

    def losing(name: str) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(100):  # an interrupt is heard between two steps
                pass
        except KeyboardInterrupt:
            raise ImportError("numba._devicearray failed to import") from None

    monkeypatch.setattr(price, "import_module", losing)
    price.loads_numba.cache_clear()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            price.loads_numba()
    finally:
        signal.signal(signal.SIGINT, before)
        price.loads_numba.cache_clear()

"""The library's own functions compile whatever the user's settings of Numba are; the user's follow these."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import pytest
from numba import int64
from numba.core import config

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.jit import _HasBlas, address_of, from_python, njit

ROOT = Path(__file__).parents[4]

USERS = """
import sys, numba
user = numba.njit(lambda x: x + 1)
print(user(1), type(user).__name__, file=sys.stderr)
print(sorted(m for m in sys.modules if m.startswith("semiring.kernels.cpu")), file=sys.stderr)
"""
SOME = """
import numpy as np, scipy.sparse, semiring as sr
A = np.array([[0, 1, 0.5], [np.inf, 0, 2], [1, np.inf, 0]])
print(sr.matmul(A, A, sr.log).tolist())
print(sr.closure(A < 1, sr.boolean).tolist(), sr.matmul(A < 2, A < 1, sr.boolean).tolist())
"""
# A call for every module that compiles.
EVERYTHING = """
print(sr.closure(A, sr.min_plus).tolist())
print(sr.pack([(0, 1), (1, 2), (2, 0)]).to_sparse().indices.tolist())
bits = (np.arange(1024 * 1024) % 509).reshape(1024, 1024).astype(np.uint8)
print(sr.closure(bits, sr.bitset_may).sum())
i = np.arange(400)
street = scipy.sparse.csr_array((1.0 + i % 7, (i, (i + 1) % 400)))
F = sr.factor(street, sr.min_plus)
print(F.row(3).sum(), F.path(3, 7), F.weight(3, 7), sr.closure(street, sr.boolean).sum())
print(sr.closure_rows(street, sr.min_plus, [5], predecessors=True)[1][0, :9].tolist())
print(sr.closure_rows(street, sr.min_plus, [5]).sum(), sr.matmul(street, street, sr.min_plus).sum())
print(sr.reach(street).descendant_counts()[:3].tolist())
from semiring.teach import ladder
print(ladder.close(A, sr.min_plus, rung="floyd", device="cpu").tolist())
print(sr.matmul(A, A, sr.min_plus, argmax=True)[1].tolist(), sr.nearest(street, sr.min_plus, [3]).weights.sum())
"""


def run(code: str, **settings: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", code + USERS],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "SEMIRING_COMPILE": "always", **settings},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def modules_that_compile() -> set[str]:
    """Those that have functions compiled, or text of their own making."""
    found = set()
    for file in (ROOT / "kernels" / "cpu").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if not file.stem.endswith("template") and ("from .vectors import" in text or "cache.load(" in text):
            found.add(".".join(["semiring", *file.relative_to(ROOT).with_suffix("").parts]))
    return found


@pytest.mark.slow
def test_numba_is_told_not_to_compile_and_nothing_is_kept_yet(tmp_path: Path) -> None:
    answers, report = run(SOME)
    assert report.split()[:2] == ["2", "CPUDispatcher"]
    without, report = run(SOME, NUMBA_DISABLE_JIT="1", SEMIRING_CACHE_DIR=str(tmp_path))
    assert without == answers
    assert report.split()[:2] == ["2", "function"]
    assert list(tmp_path.glob("*.nbc"))


@pytest.mark.slow
def test_numba_is_told_not_to_compile_and_all_modules_run() -> None:
    answers, _ = run(SOME + EVERYTHING)
    without, report = run(SOME + EVERYTHING, NUMBA_DISABLE_JIT="1")
    assert without == answers
    assert len(modules_that_compile()) > 5
    assert modules_that_compile() <= set(ast.literal_eval(report.partition("\n")[2]))


@pytest.mark.parametrize("setting", [0, 1])
def test_the_setting_stays_as_it_was(setting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "DISABLE_JIT", setting)

    @njit([int64(int64)])
    def now(x: Any) -> Any:
        return x + 1

    @njit(error_model="numpy")
    def when_called(x: Any) -> Any:
        return max(x, 2.5)  # an overload of Numba's, which it compiles meanwhile

    @njit()
    def wrong(x: Any) -> Any:
        return x.absent

    assert setting == config.DISABLE_JIT
    assert (now(1), when_called(1.0), config.DISABLE_JIT) == (2, 2.5, setting)
    assert now.signatures and when_called.signatures
    with pytest.raises(numba.TypingError):
        wrong(1)
    assert setting == config.DISABLE_JIT
    assert hasattr(numba.njit(lambda x: x), "py_func") == (not setting)


def test_the_environment_may_change_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")

    @njit()
    def when_called(x: Any) -> Any:
        return max(x, 2.5)

    assert when_called(1.0) == 2.5
    assert when_called.signatures
    assert config.DISABLE_JIT == 1
    monkeypatch.delenv("NUMBA_DISABLE_JIT")
    config.reload_config()
    assert config.DISABLE_JIT == 0


def test_signatures_given_are_all_there_are() -> None:
    @njit([int64(int64)])
    def only(x: Any) -> Any:
        return x

    assert only(3.0) == 3
    assert [str(s) for s in only.signatures] == ["(int64,)"]


def test_a_signature_waits_for_the_first_call_of_any_thread() -> None:
    @njit([int64(int64)], nogil=True)
    def double(x: Any) -> Any:
        return 2 * x

    assert not double.signatures
    start = threading.Barrier(4)

    def call(x: int) -> int:
        start.wait()
        return double(x)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(call, range(4))) == [0, 2, 4, 6]
    assert sum(double.stats.cache_misses.values()) <= 1
    assert len(double.signatures) == 1


TWO = """
from numba import int64
from semiring.kernels.cpu.compile.jit import njit

@njit([int64(int64)], cache=True)
def first(x):
    return x + 1

@njit([int64(int64)], cache=True)
def second(x):
    return 2 * first(x)
"""


def test_a_copy_for_callers_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved on disk has one, and a caller has another made."""
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path))
    module = cache.load("two_functions", TWO)
    (compiled,) = module.first.made().overloads.values()
    assert compiled.library._final_module.get_function(compiled.fndesc.llvm_func_name)
    assert compiled.library._shared_module is None and len([*tmp_path.glob("*.nbc")]) == 1
    assert module.second(3) == 8 and module.first(3) == 4
    code = f"from semiring.kernels.cpu.compile import cache; print(cache.load('two_functions', {TWO!r}).second(4))"
    assert run(code, SEMIRING_CACHE_DIR=str(tmp_path))[0] == "10\n"


def test_what_is_made_is_compiled_before_its_first_call() -> None:
    @njit([int64(int64)])
    def double(x: int) -> int:
        return 2 * x

    assert not double.signatures and double.made() is double
    assert double.signatures == [(int64,)] and double.made()(4) == 8


def test_machine_code_that_was_kept_runs_without_numbas_library(tmp_path: Path) -> None:
    """What Numba compiles with takes longer to import than all the rest."""
    code = (
        "import sys; import numpy as np, semiring as sr\n"
        "sr.closure(np.eye(9), sr.min_plus); print('numba.np.linalg' in sys.modules)\n"
    )
    settings = {"SEMIRING_CACHE_DIR": str(tmp_path)}
    assert [run(code, **settings)[0].split() for _ in range(2)] == [["True"], ["False"]]


NEEDS_A_BLAS = """
import sys, numpy as np, semiring as sr
from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.jit import _HasBlas
sr.matmul(np.eye(9), np.eye(9), sr.min_plus)
import numba, numba.np.arraymath
print("scipy.linalg" in sys.modules, type(numba.np.arraymath._HAVE_BLAS) is _HasBlas, end=" ")
dot, convolve = numba.njit(lambda a: np.dot(a, a)), numba.njit(lambda a: np.convolve(a, a))
print(dot(np.eye(2))[1, 1], convolve(np.ones(2))[1], "scipy.linalg" in sys.modules)
"""


@pytest.mark.slow
def test_scipy_is_imported_for_linear_algebra_only(tmp_path: Path) -> None:
    """Numba asks for it whatever is compiled; the user's functions find it as they would."""
    assert run(NEEDS_A_BLAS, SEMIRING_CACHE_DIR=str(tmp_path))[0].split() == ["False", "True", "1.0", "2.0", "True"]


def test_without_a_blas_there_is_none() -> None:
    def absent() -> None:
        raise ImportError("scipy 0.16+ is required for linear algebra")

    assert not _HasBlas(absent)
    assert _HasBlas(lambda: None)


def test_compiled_functions_are_called_from_python_by_address() -> None:
    @njit([int64(int64, int64)], no_cpython_wrapper=True, no_cfunc_wrapper=True)
    def difference(x: int, y: int) -> int:
        return x - y

    function = from_python(address_of(difference), 2)
    assert function(2**62, -3) == 2**62 + 3
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(function, range(100), [7] * 100)) == [x - 7 for x in range(100)]
    with pytest.raises(TypeError):
        function(1)


def test_nobody_compiles_past_it() -> None:
    past = re.compile(r"from numba import[^\n]*\b(n?jit|vectorize|guvectorize)\b|\bnumba\.(n?jit|vectorize)\b")
    files = [p for f in ("semiring", "kernels", "algorithms") for p in (ROOT / f).rglob("*.py") if p.name != "jit.py"]
    assert len(files) > 300
    found = [str(p) for p in files if past.search(p.read_text(encoding="utf-8"))]  # headers of generated modules too
    assert found == []

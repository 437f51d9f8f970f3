"""The programs of docs/benchmarks: each runs at its smallest sizes, and says what it needs where that is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from together import launcher

from semiring.operands.devices import gpu_name

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
PARTS = {"energy", "graphs", "report", "searches", "sparse_products"}  # what the programs import
# A program, arguments for which it takes little time, and the packages that it cannot do without.
SMALL = [
    ("batches", "--quick", []),
    ("boolean", "--quick", ["igraph"]),
    ("choice", "--sizes 64", []),
    ("choice", "--sizes 64 --processor-time", []),
    ("cpu", "--quick", ["graphblas", "igraph", "networkx", "tropical_gemm"]),
    ("csgraph", "--quick", []),
    ("history", "--device cpu --sizes 32 --rungs floyd closure --seconds 0.1", []),
    ("networkx_backend", "--quick", ["networkx"]),
    ("networkx_backend", "--quick --sizes", ["networkx"]),
    ("parts", "--quick", []),
    ("parts", "--quick --hops", []),
    ("questions", "--sizes 2000 --social 8", []),
    ("ranks", "-n 64 --rounds 1", ["mpi4py"]),
    ("ranks", "-n 64 --rounds 1 --ray", ["ray"]),
    ("scale", "--n 1024 --parts 4 --turns 1", []),
    ("sequences", "--scale 0.01", []),
    ("small", "--quick", []),
    ("sparse_matrices", "--quick", ["edsger", "graphblas", "igraph", "networkit", "pandas", "rustworkx"]),
    ("stages", "--quick", []),
    ("torch_gradients", "4 8", ["torch"]),
]
ON_GPU = [
    ("boolean_gpu", "--products 512 --closures 512 --host 0"),
    ("fronts_gpu", "--only grid"),
    ("gpu", "--sizes 512 --only products"),
    ("gpus", "--sizes 512 --bits --planar"),
    ("history", "--device gpu"),
    ("shapes_gpu", ""),
    ("through", "--n 1024"),
]


# Some systems count processor time in ticks of 10 ms, in which the least sizes may end: here no tick comes at all.
NO_TICKS = """
import resource, time, types
used = resource.getrusage
def getrusage(who):
    return types.SimpleNamespace(ru_utime=0.0, ru_stime=0.0, ru_maxrss=used(who).ru_maxrss)
resource.getrusage, time.process_time = getrusage, lambda: 0.0
"""


def run(program: str, arguments: str, missing: str = "", before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program, in which one package cannot be imported, after some lines of Python."""
    file = FOLDER / f"{program}.py"
    start = f"{before}import runpy, sys\nsys.argv[:] = {[str(file), *arguments.split()]}\n"
    start += f"sys.path[0] = {str(FOLDER)!r}\n"
    if missing:
        start += f"sys.modules[{missing!r}] = None\n"
    code = f"{start}runpy.run_path({str(file)!r}, run_name='__main__')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                          env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})


def test_every_program_is_run_here() -> None:
    known = {name for name, *_ in (*SMALL, *ON_GPU)} | PARTS
    assert known == {file.stem for file in FOLDER.glob("*.py")}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="some of them read /proc")
@pytest.mark.parametrize(("program", "arguments", "packages"), SMALL)
def test_programs_run(program: str, arguments: str, packages: list[str]) -> None:
    for package in packages:
        if not find_spec(package):
            pytest.skip(f"{package} is not installed")
    if "mpi4py" in packages and launcher() is None:
        pytest.skip("a launcher of MPI's is missing")
    done = run(program, arguments, before=NO_TICKS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize(("program", "arguments", "packages"), [row for row in SMALL if row[2]])
def test_programs_name_the_package_that_is_missing(program: str, arguments: str, packages: list[str]) -> None:
    done = run(program, arguments, packages[-1])
    assert done.returncode == 1
    assert f"{program}.py needs packages that are not installed: pip install " in done.stderr
    assert packages[-1].replace("_", "-") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(gpu_name() is not None, reason="there is a GPU")
@pytest.mark.parametrize(("program", "arguments"), ON_GPU)
def test_programs_for_gpus_ask_for_one(program: str, arguments: str) -> None:
    done = run(program, arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{program}.py needs a GPU and CuPy: pip install 'semiring[cu13]', or cu12\n"

"""Measure the ladder: every algorithm that the library is based on, on one machine, and the library itself.

    python docs/benchmarks/history.py                       on the GPU if there is one, and on the CPU
    python docs/benchmarks/history.py --device cpu --seconds 20 --plots build/ladder
    python docs/benchmarks/history.py --write               and into docs/site/ladder_cpu.json, ladder_gpu.json
    python docs/benchmarks/history.py --write --rungs deng  only some; the others stay in the file as they are

Each rung first closes a small graph, whose closure is compared with that of tests/oracle.py, which shares no code with
the library. Every timed answer is compared with that of `semiring.closure` at the same size, to the bit: weights are
whole numbers, whose sums are exact. A rung that does not take the algebra takes max-min on the same weights, or truth
values, the same graph without its weights.

Sizes ascend. A rung is timed as long as `--seconds` last; larger sizes are predicted by the exponent of its last two
times while the program decides what to time. In the results, exponents are fitted to the sizes whose matrix is larger
than the last cache (docs/site/fits.py), and times of larger sizes are predicted from these alone. T is
10¹² multiply-adds (one ⊗ and one ⊕) a second, of the n³ that a closure needs; the limit is the inner loop of a product
alone, its operands already in the cache of each core, measured before and after, or in an H200's shared memory. Times
are the least of a few calls.

Energy is that of the device's own counter over a second or more of closures: NVML's of a GPU, the packages' by RAPL of
a CPU. What it takes idle, as measured for two seconds before, is subtracted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from semiring.operands.devices import gpu_name
from semiring.teach.ladder import RUNGS
from semiring.teach.rung import Rung

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import oracle
from energy import METERED, Meter
from fits import refit
from report import grid_of, require, require_gpu
from report import seconds as in_words

ROOT = Path(__file__).resolve().parents[2]

SIZES = tuple(range(1024, 21_504 + 1, 1024))  # the 21 of J. M. Kemp's thesis
CHECKED = 40  # vertices of the graph that the oracle closes
GPU_LIMIT = {("min-plus", "float32"): 17.0, ("max-min", "float32"): 11.0}  # T on an H200, as in docs/benchmarks/gpu.py
IN_16_BITS = {("max-min", "float32"): 21.9}
INSTEAD = (("max-min", "float32"), ("boolean", "bool"))  # for rungs that do not take the algebra asked for
REPEATED = 7  # calls of which the least time counts, since others may share the machine,
LONG = 1 / 40  # or fewer, once they have taken that share of a rung's seconds


@dataclass
class Record:
    """The measurements of one rung."""

    name: str
    algebra: str
    dtype: str
    times: list[tuple[int, float]] = field(default_factory=list)  # order, seconds
    predicted: list[tuple[int, float]] = field(default_factory=list)
    exponent: float | None = None
    share: float | None = None  # of the limit, at the largest measured size
    joules: float | None = None  # a closure of `metered` vertices
    metered: int | None = None
    refused: str = ""


def main() -> None:
    """Check, time, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "gpu"), action="append")
    parser.add_argument("--algebra", default="min-plus")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rungs", nargs="+", help="names; all when absent")
    parser.add_argument("--seconds", type=float, default=20, help="of timing for each rung")
    parser.add_argument("--degree", type=int, nargs=2, default=(1, 20), help="edges of a vertex, least and most")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw with matplotlib")
    parser.add_argument("--write", action="store_true", help="write what the page on the ladder shows")
    options = parser.parse_args()
    os.environ["SEMIRING_COMPILE"] = "always"  # ratios are of compiled code
    if "gpu" in (options.device or ()):
        require_gpu()
    if options.plots:
        require("matplotlib")
    known = {rung.name for rung in RUNGS}
    if unknown := set(options.rungs or ()) - known:
        names = ", ".join(rung.name for rung in RUNGS)
        raise SystemExit(f"unknown rungs {', '.join(sorted(unknown))}: they are {names}")
    for device in options.device or (["gpu"] if gpu_name() else []) + ["cpu"]:
        found = measure(device, options)
        print(text_of(found), flush=True)
        if options.plots:
            plot(found, options.plots)
        if options.write:
            file = ROOT / "docs" / "site" / f"ladder_{device}.json"
            if options.rungs and file.exists():
                found = among(json.loads(file.read_text(encoding="utf-8")), found)
            file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def among(before: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file with some rungs measured again."""
    for key in "machine", "algebra", "dtype", "degree", "seconds":
        if before[key] != found[key]:
            raise SystemExit(f"the file was measured with {key} {before[key]}, these rungs with {found[key]}: "
                             "measure all of them")
    anew = {record["name"]: record for record in found["rungs"]}
    return before | {"rungs": [anew.get(record["name"], record) for record in before["rungs"]]}


def measure(device: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure all rungs of a device."""
    S = catalogued(options.algebra)
    dtype = np.dtype(options.dtype)
    rungs = [rung for rung in RUNGS if rung.device == device and (not options.rungs or rung.name in options.rungs)]
    limit = GPU_LIMIT.get((S.name, dtype.name)) if device == "gpu" else cpu_limit(S, dtype)
    meter = Meter(device)
    records = {rung.name: begun(rung, S, dtype) for rung in rungs}
    spent = dict.fromkeys(records, 0.0)
    for n in sorted(options.sizes):
        graph = sr.random_graph(n, degree=tuple(options.degree), weights=(1, 100), seed=n)
        data: dict[str, tuple[Any, Any]] = {}  # a matrix and its closure
        for rung in rungs:
            record = records[rung.name]
            if record.refused:
                continue
            predicted = prediction(record, n)
            if record.predicted or spent[rung.name] + predicted > options.seconds:
                record.predicted.append((n, predicted))
                continue
            T, kind = taken(record)
            if T.name not in data:
                A = on(device, matrix(graph, T, kind))
                data[T.name] = A, sr.closure(A, T)
            began = time.perf_counter()
            used = timed(rung, *data[T.name], T, device, LONG * options.seconds, predicted)
            if isinstance(used, str):
                record.refused = used
                continue
            record.times.append((n, used))
            spent[rung.name] += time.perf_counter() - began
        print(f"{device}, n = {n:,}: " + ", ".join(
            f"{name} {in_words(record.times[-1][1])}" for name, record in records.items()
            if record.times and record.times[-1][0] == n
        ), file=sys.stderr, flush=True)
        if all(record.predicted or record.refused for record in records.values()):
            for record in records.values():
                later = [m for m in sorted(options.sizes) if m > n and record.times]
                record.predicted += [(m, prediction(record, m)) for m in later]
            break
    if device == "cpu":  # of a shared machine the faster moment
        limit = max(limit or 0, cpu_limit(S, dtype))
    for rung in rungs:
        finish(records[rung.name], rung, S, limit, meter, options, device)
    found = {
        "device": device, "machine": machine(device), "date": str(date.today()), "algebra": S.name,
        "dtype": dtype.name, "degree": list(options.degree), "seconds": options.seconds, "limit": limit,
        "energy": meter.source, "idle": round(meter.idle, 1), "rungs": [asdict(r) for r in records.values()],
    }
    refit(found)
    return found


def begun(rung: Rung, S: sr.Semiring, dtype: np.dtype) -> Record:
    """Measure a rung under the requested algebra, or the first one that it accepts, or return the reason."""
    reasons = []
    for name, kind in ((S.name, dtype.name), *INSTEAD):
        T, scalars = catalogued(name), np.dtype(kind)
        reasons.append(rung.refuses(T, scalars, CHECKED) or check(rung, T, scalars))
        if not reasons[-1]:
            return Record(rung.name, T.name, kind)
    return Record(rung.name, S.name, dtype.name, refused=reasons[0])


def catalogued(name: str) -> sr.Semiring:
    return sr.catalogue[name.replace("-", "_")]


def taken(record: Record) -> tuple[sr.Semiring, np.dtype]:
    return catalogued(record.algebra), np.dtype(record.dtype)


def matrix(graph: sr.Graph, S: sr.Semiring, dtype: np.dtype) -> np.ndarray:
    """Return the graph's matrix; for Booleans without its weights."""
    A = np.full((graph.n, graph.n), S.zero_in(dtype), dtype)
    A[graph.sources, graph.targets] = S.one_in(dtype) if S is sr.boolean else graph.weights
    return A


def check(rung: Rung, S: sr.Semiring, dtype: np.dtype) -> str:
    """A small closure beside the oracle's: the run ends where they differ; why there is none, where data decide."""
    graph = sr.random_graph(CHECKED, degree=(0, 4), weights=(1, 9), seed=1)
    A = matrix(graph, S, dtype)
    slow = oracle.for_dtype(oracle.ALGEBRAS[S.name.replace("-", "_")], dtype.name)
    expected = oracle.to_numpy(slow, oracle.closure_by_elimination(slow, oracle.from_numpy(slow, A)), dtype)
    try:
        answer = host(rung.close(on(rung.device, A), S))
    except sr.SemiringError as e:
        return str(e)
    if not same(S, answer, expected):
        raise SystemExit(f"{rung.name}: the closure of {CHECKED} vertices is not the oracle's")
    return ""


def timed(
    rung: Rung, A: Any, expected: Any, S: sr.Semiring, device: str, long: float, predicted: float
) -> float | str:
    """Return the least time of some calls whose answers are compared, or the reason: too little memory."""
    try:
        answer, first = once(rung, A, S, device)
        if not same(S, answer, expected):
            raise SystemExit(f"{rung.name}: the closure of {len(A):,} vertices is not that of semiring.closure")
        del answer
        best, total = (first, first) if first > long else (np.inf, 0.0)  # a first call may allocate
        for k in range(REPEATED):
            if total > long and (k or first < 1.5 * predicted):  # or compile
                break
            used = once(rung, A, S, device)[1]
            best, total = min(best, used), total + used
        return best
    except (MemoryError, sr.SemiringError) as e:  # CuPy's and the library's own are among them
        return f"{len(A):,} vertices: {e or type(e).__name__}"


def once(rung: Rung, given: Any, S: sr.Semiring, device: str) -> tuple[Any, float]:
    wait(device)
    start = time.perf_counter()
    answer = rung.close(given, S)
    wait(device)
    return answer, time.perf_counter() - start


def wait(device: str) -> None:
    if device == "gpu":
        import cupy

        cupy.cuda.Device().synchronize()


def on(device: str, A: np.ndarray) -> Any:
    if device == "cpu":
        return A
    import cupy

    return cupy.asarray(A)


def host(array: Any) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else np.asarray(array.get())


def same(S: sr.Semiring, answer: Any, expected: Any) -> bool:
    """Compare two answers: to the bit if ⊕ is selective, otherwise within rounding."""
    if isinstance(answer, np.ndarray):
        xp: Any = np
    else:
        import cupy as xp
    if S.selective:
        return bool(xp.array_equal(answer, expected))
    return bool(xp.allclose(answer, expected, rtol=1e-3, equal_nan=True))


def prediction(record: Record, n: int) -> float:
    """Predict the time of a larger size from the last two, or from one by its cube."""
    if not record.times:
        return 0.0
    m, last = record.times[-1]
    exponent = 3.0
    if len(record.times) > 1:
        before, earlier = record.times[-2]
        exponent = min(max(np.log(last / earlier) / np.log(m / before), 2.0), 4.0)
    return float(last * (n / m) ** exponent)


def finish(
    record: Record, rung: Rung, S: sr.Semiring, limit: float | None, meter: Meter, options: argparse.Namespace,
    device: str,
) -> None:
    """Return the share of the limit, and the energy at the largest measured size."""
    if not record.times:
        return
    n, last = record.times[-1]
    T, kind = taken(record)
    if device == "gpu":
        short = rung.name == "sixteen-bits"
        limit = (IN_16_BITS if short else GPU_LIMIT).get((record.algebra, record.dtype))
    elif record.algebra != S.name:
        limit = None
    if limit:
        record.share = n**3 / last / (limit * 1e12)
    metered = max((m for m, t in record.times if t <= 2 * METERED), default=None)
    if metered is not None:
        graph = sr.random_graph(metered, degree=tuple(options.degree), weights=(1, 100), seed=metered)
        given = on(device, matrix(graph, T, kind))
        record.joules = meter.closure(lambda: once(rung, given, T, device))
        record.metered = metered if record.joules is not None else None


def cpu_limit(S: sr.Semiring, dtype: np.dtype) -> float:
    """Return the rate of a product's inner loop on all threads, with operands in the caches."""
    from concurrent.futures import ThreadPoolExecutor

    from semiring.kernels.cpu.compile.jit import from_python
    from semiring.kernels.cpu.compile.program import geometry, program
    from semiring.kernels.cpu.dense.engine import TILE_ROWS
    from semiring.kernels.cpu.dense.operations import operations
    from semiring.machine.threads import thread_count
    from semiring.operands.dense import Dense

    low = Dense(np.array([[S.zero_in(dtype)]], dtype), S).form(1, packed=False)[1]
    text = program(low)
    sizes, threads = geometry(text.components), thread_count()
    multiply = from_python(operations(text).multiply, 13)
    rows, width, steps = -(-TILE_ROWS // sizes.rows) * sizes.rows, sizes.width, sizes.chunk
    planes = (rows * steps + steps * width + rows * width + 3 * 64) * sizes.size

    def run(calls: int) -> None:
        memory = np.zeros(planes + 64, np.uint8)
        a = -(-memory.ctypes.data // 64) * 64
        b = a + -(-rows * steps * sizes.size // 64) * 64
        c = b + steps * width * sizes.size
        for _ in range(calls):
            multiply(a, rows * steps, 0, steps, b, steps * width, c, rows * width, 0, width, rows, steps, 1)

    run(2)
    best, calls = 0.0, 100
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(20):
            start = time.perf_counter()
            list(pool.map(run, [calls] * threads))
            best = max(best, threads * calls * rows * width * steps / (time.perf_counter() - start))
    return best / 1e12


def machine(device: str) -> str:
    """Describe the machine."""
    if device == "gpu":
        import cupy

        return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    from semiring.machine.threads import thread_count

    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{name}, {thread_count()} threads"


def text_of(found: dict[str, Any]) -> str:
    """Return the table of a device."""
    limit = "unknown" if found["limit"] is None else f"{found['limit']:.3f} T"
    head = f"{found['machine']}, {found['algebra']}, {found['dtype']}, {found['date']}; limit {limit}; energy by " + (
        f"{found['energy']}, {found['idle']} W idle subtracted" if found["energy"] else "nothing that can be read here"
    )
    return head + "\n\n" + grid_of(HEAD, [row_of(record, found["algebra"]) for record in found["rungs"]])


HEAD = ("rung", "largest n", "time", "T", "share of the limit", "exponent", "joules a closure", "multiply-adds a joule")


def row_of(record: dict[str, Any], asked: str) -> list[str]:
    if not record["times"]:
        return [record["name"], record["refused"], *[""] * (len(HEAD) - 2)]
    n, last = record["times"][-1]
    joules, metered = record["joules"], record["metered"]
    return [
        record["name"] + ("" if record["algebra"] == asked else f", {record['algebra']}"), f"{n:,}", in_words(last),
        f"{n**3 / last / 1e12:.4f}", "" if record["share"] is None else f"{record['share']:.1%}",
        "" if record["exponent"] is None else f"{record['exponent']:.2f}",
        "" if joules is None else f"{joules:.3g}, n = {metered:,}",
        "" if joules is None else f"{metered**3 / joules:.2e}",
    ]


def plot(found: dict[str, Any], folder: Path) -> None:
    """Save pictures: time against n, the share of the limit, and the ladder as bars."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    measured = [record for record in found["rungs"] if record["times"]]
    title = f"{found['machine']}, {found['algebra']}, {found['dtype']}"
    figure, axes = plt.subplots(figsize=(9, 6))
    for k, record in enumerate(measured):
        line, = axes.loglog(*zip(*record["times"], strict=True), marker="os^vDP"[k % 6], label=record["name"])
        if record["predicted"]:
            points = [record["times"][-1], *record["predicted"]]
            axes.loglog(*zip(*points, strict=True), linestyle=":", color=line.get_color())
    axes.set(xlabel="vertices", ylabel="seconds (dotted: predicted)", title=title)
    axes.legend(fontsize="small")
    save(figure, folder / f"time_{found['device']}.png")
    shares = [(record["name"], record["share"]) for record in measured if record["share"] is not None]
    asked = {r["name"]: dict(r["times"]) for r in measured if r["algebra"] == found["algebra"]}
    n = max(set.intersection(*map(set, asked.values())), default=0) if asked else 0
    for name, values, label in (
        ("share", shares, "share of the limit at the largest size measured"),
        ("ladder", [(rung, n**3 / times[n] / 1e9) for rung, times in asked.items() if n],
         f"10⁹ multiply-adds a second, {n:,} vertices"),
    ):
        if values:
            figure, axes = plt.subplots(figsize=(9, 0.4 * len(values) + 1.5))
            axes.barh(*zip(*values[::-1], strict=True))
            axes.set(xlabel=label, title=title, xscale="log" if name == "ladder" else "linear")
            save(figure, folder / f"{name}_{found['device']}.png")


def save(figure: Any, file: Path) -> None:
    import matplotlib.pyplot as plt

    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

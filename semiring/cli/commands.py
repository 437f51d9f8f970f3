"""The commands `solve`, `random`, `laws`, `catalogue`, `info`, `warmup` and `demo`."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from itertools import chain
from time import perf_counter

import numpy as np

from semiring import __version__
from semiring.algebra.catalogue import catalogue
from semiring.algebra.laws import FLAGS
from semiring.algebra.semiring import Semiring
from semiring.api import check_laws, plan, solve
from semiring.errors import LawError, SemiringError, SemiringWarning
from semiring.files.archives import save_edges
from semiring.files.arrays import save_array
from semiring.files.streams import suffix
from semiring.graphs.generators import random_graph
from semiring.kernels.cpu.compile.price import has_numba
from semiring.operands.devices import gpu_facts, gpu_name

from .inputs import algebra_of, given_of, label_of, progress_of
from .options import asked_of
from .output import TABLES, check_output, element_text, put_rows, write_table
from .tables import right_hand_side

VECTORS = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512bw", "neon", "sve")


def run_solve(arguments: argparse.Namespace) -> int:
    """Print the least solution of X = A ⊗ X ⊕ B."""
    check_output(arguments.output, (*TABLES, ".npy"), "the solution")
    given = given_of(arguments)
    graph, S = given.graph, given.S
    B = right_hand_side(arguments.rhs, graph, S, given.A.dtype)
    X = np.asarray(solve(given.A, B, S, **asked_of(arguments, "solve"), progress=progress_of(arguments, "equations")))
    if arguments.output is not None and suffix(arguments.output) == ".npy":
        save_array(arguments.output, X)
    else:
        table = X.reshape(graph.n, -1)
        text = element_text(S, X.dtype)
        put_rows(arguments.output, ([label_of(graph, i), *map(text, table[i])] for i in range(graph.n)))
    return 0


def run_random(arguments: argparse.Namespace) -> int:
    """Print the edges of a random graph."""
    check_output(arguments.output, (*TABLES, ".npz"), "a graph")
    degree = None if arguments.degree is None else _numbers(arguments.degree, "--degree")
    weights = None if arguments.weights is None else _numbers(arguments.weights, "--weights")
    graph = random_graph(
        arguments.vertices, arguments.kind, p=arguments.p, weights=weights, seed=arguments.seed,
        degree=degree[0] if degree is not None and len(degree) == 1 else degree,
    )
    columns = [graph.sources, graph.targets, *([] if graph.weights is None else [graph.weights])]
    if not graph.directed:
        back = [graph.targets, graph.sources, *columns[2:]]
        columns = [np.stack(pair, axis=1).ravel() for pair in zip(columns, back, strict=True)]
    if arguments.output is not None and suffix(arguments.output) == ".npz":
        save_edges(arguments.output, graph.n, *columns)
        return 0
    last = max((int(column.max(initial=-1)) for column in columns[:2]), default=-1)
    if last + 1 < graph.n:
        warnings.warn(f"vertices from {last + 1} on have no edges, so a list of edges leaves them out: -o FILE.npz "
                      "keeps them", SemiringWarning, stacklevel=2)
    header = ["from", "to", "weight"][: len(columns)]
    edges = zip(*(column.tolist() for column in columns), strict=True)
    put_rows(arguments.output, chain([header], edges))
    return 0


def _numbers(text: str, option: str) -> tuple[int | float, ...]:
    """Numbers separated by commas; integers stay integers."""
    try:
        return tuple(int(part) if part.strip().lstrip("+-").isdigit() else float(part) for part in text.split(","))
    except ValueError:
        raise SemiringError(f"{option} {text}: give numbers, as in 2,6") from None


def run_laws(arguments: argparse.Namespace) -> int:
    """Test the laws of semirings; the status is 1 if one is broken."""
    try:
        report = check_laws(algebra_of(arguments.algebra))
    except LawError as e:  # the laws refute a declaration of the user: this is the answer
        print(e)
        return 1
    print(report)
    return 0 if report.ok else 1


def run_catalogue(arguments: argparse.Namespace) -> int:
    """List the built-in algebras."""
    short = sys.stdout.isatty()

    def dtypes(S: Semiring) -> str:
        names = [d.name if d.names is None else f"({', '.join(d.names)})" for d in S.dtypes]
        return " ".join(dict.fromkeys(name.rstrip("0123456789") if short else name for name in names))

    def flags(S: Semiring) -> str:
        return "".join(f[0].upper() if f in S.flags else "-" for f in FLAGS) if short else " ".join(S.flags)

    write_table(
        ["name", "algebra", "flags", "dtypes", "closure"],
        [[name, S.notation, flags(S), dtypes(S), S.description] for name, S in catalogue.items()],
    )
    if short:
        print(" Flags: " + ", ".join(FLAGS) + ", by their initials.")
    return 0


def run_demo(arguments: argparse.Namespace) -> int:
    """Answer five questions about the roads of Minnesota; the status is 1 if SciPy disagrees."""
    from .demo import run

    return 0 if run(arguments.plot) else 1


def run_warmup(arguments: argparse.Namespace) -> int:
    """Compile code for algebras now, or delete the cache."""
    from semiring.kernels.cpu.compile.cache import clear_cache
    from semiring.machine.memory import in_words
    from semiring.warming import warmup

    if not arguments.algebras and not arguments.clear:
        raise SemiringError("name an algebra to compile for, or give --clear")
    if not arguments.algebras and (arguments.dtype is not None or arguments.sparse):
        raise SemiringError("--dtype and --sparse say what to compile: name an algebra, or leave them out")
    if arguments.clear:
        print(f"deleted {in_words(clear_cache())}")
    for name in arguments.algebras:
        began = perf_counter()
        warmup(algebra_of(name), dtypes=arguments.dtype, sparse=arguments.sparse)
        print(f"{name}: {perf_counter() - began:.1f} s")
    return 0


def run_info(arguments: argparse.Namespace) -> int:
    """Print versions, facts about the machine, and the choices that follow."""
    write_table(["what", "is"], _facts())
    return 0


def _facts() -> Iterator[tuple[str, str]]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from semiring.kernels.cpu.compile.cache import cache_directory
    from semiring.machine.memory import available_bytes, in_words
    from semiring.machine.threads import thread_count

    yield "semiring", __version__
    yield "python", platform.python_version()
    for package in ("numpy", "numba", "scipy", "rich", "networkx", "pandas", "matplotlib"):
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "not installed"
    yield "system", platform.platform()
    yield "cpu", f"{platform.machine()}{_vector_instructions()}"
    yield "threads", str(thread_count())
    memory = available_bytes()
    yield "memory", "unknown" if memory is None else f"{in_words(memory)} available"
    yield "devices", ", ".join(["cpu", *([gpu] if (gpu := gpu_name()) else [])])
    yield from gpu_facts()
    yield "cache", str(cache_directory())
    example = np.arange(2048 * 2048, dtype=np.float32).reshape(2048, 2048)
    for line in str(plan("closure", example, "min-plus")).splitlines():
        what, _, choice = line.partition(" ")
        yield f"example: {what}", choice.strip()


def _vector_instructions() -> str:
    """The processor's vector instructions that compiled code uses."""
    if not has_numba():
        return ", and no Numba: NumPy does all work"
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return ": " + " ".join(sorted(f for f, has in features.items() if has and f in VECTORS))

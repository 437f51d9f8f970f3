"""An option is honoured, or refused by its name: verbs with each option, alone and in pairs, of all kinds of matrices.

Each option has an effect that can be seen, in the answer, in the plan, or in what the caller handed over. A cell asks a
verb for one option or two of them, and looks for the effects of all; an error has to name one of them. `sr.plan` is
asked for the same, and has to honour and refuse alike.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.operands.devices import gpu_name, is_on_gpu, to_host, upload
from semiring.results.path_stacks import StackedPaths
from semiring.solvers.dense.derived import Closures

inf = np.inf
N = 40
SLIGHT, TOL = 1e-9, 1e-6  # by how much a cycle improves, and how well weights are known
LIMIT, TILE, EDGES = 9.0, 16, 2
VERBS: dict[str, Callable[..., Any]] = {
    "closure": sr.closure, "matmul": sr.matmul, "factor": sr.factor, "solve": sr.solve, "power": sr.power,
    "closure_rows": sr.closure_rows, "path": sr.path, "paths": sr.paths, "nearest": sr.nearest,
    "cycle_mean": sr.cycle_mean,
}
PLACES = [3, 0, 7]
ORDER = [*range(1, N), 0]


def weights(cycle: float | None = None) -> np.ndarray:
    """A ring of edges of whole weights and some more; where wanted, with a cycle of two edges of that weight."""
    rng = np.random.default_rng(1)
    A = np.full((N, N), inf)
    i, j = rng.integers(0, N, (2, 2 * N))
    A[i, j] = rng.integers(1, 9, 2 * N)
    A[np.arange(N), (np.arange(N) + 1) % N] = 5
    np.fill_diagonal(A, inf)
    if cycle is not None:
        A[0, 1], A[1, 0] = 3, cycle - 3
    return A


def entries(A: np.ndarray) -> sp.csr_array:
    i, j = np.nonzero(np.inf != A)
    return sp.csr_array((A[i, j], (i, j)), A.shape)


def whole(A: np.ndarray) -> np.ndarray:
    return np.where(inf > A, A.clip(max=1e9).astype(np.int64), np.iinfo(np.int64).max)


def digraph(A: np.ndarray) -> nx.DiGraph:
    E = entries(A).tocoo()
    G = nx.DiGraph()
    G.add_nodes_from(range(len(A)))
    G.add_weighted_edges_from(zip(E.row.tolist(), E.col.tolist(), E.data.tolist(), strict=True))
    return G


def names(n: int) -> list[str]:
    return [f"v{i}" for i in range(n)]


KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda A: A.copy(),
    "nested lists": lambda A: A.tolist(),
    "stack": lambda A: np.stack([A, A]),
    "csr": entries,
    "Graph": lambda A: sr.as_graph(entries(A), names=names(N)),
    "Matrix": lambda A: sr.Matrix(A.copy(), sr.min_plus, names(N)),
    "NetworkX": digraph,
    "prepared": lambda A: sr.prepare(A.copy(), sr.min_plus),
    "stack of whole numbers": lambda A: whole(np.stack([A, A])),
    **({"CuPy": upload, "CuPy, packed": lambda A: sr.pack(upload(inf > A))} if gpu_name() else {}),
    "packed": lambda A: sr.pack(inf > A),
    "truth values": lambda A: inf > A,
    "truth values, csr": lambda A: entries(A).astype(bool),
}
PAIRED = ("array", "stack", "csr", "Graph", "packed")  # kinds of which options are tried in pairs, too


@dataclass
class Cell:
    """A verb that is asked for some options of a kind of matrix, and what comes of it."""

    verb: str
    kind: str
    options: dict[str, Any]
    folder: Path
    shares: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        mask = self.options.get("on_divergence") == "mask"
        slight = "tol" in self.options
        self.cycle = -SLIGHT if slight else -1.0 if mask or "check" in self.options else None
        if self.boolean or (self.verb in ("matmul", "power", "nearest", "cycle_mean", "path") and not slight):
            self.cycle = None
        self.plain = weights(self.cycle)
        self.A = KINDS[self.kind](self.plain)
        B = self.plain[:, :3]
        self.B = inf > B if self.boolean else whole(B) if self.dtype is int else B.copy()
        self.out = np.empty(self.product_shape, self.dtype)

    @property
    def boolean(self) -> bool:
        return "packed" in self.kind or "truth" in self.kind

    @property
    def S(self) -> sr.Semiring:
        return sr.boolean if self.boolean else sr.min_plus

    def called(self, v: Any) -> Any:
        return f"v{v}" if self.kind in ("Graph", "Matrix") else v

    def vertices(self, some: list[int]) -> list[Any]:
        return [self.called(v) for v in some]

    def value(self, name: str) -> Any:
        """What is passed for an option."""
        value = self.options[name]
        if name == "progress" and value is True:
            return self.shares.append
        if name in ("sources", "targets", "order") and value is not NONSENSE[name]:
            return self.vertices(value)
        if name in ("out", "next_hops") and isinstance(value, str):
            return self.folder / value
        if name == "out" and value is True:
            return self.out
        if name == "mask" and value is True:
            return wanted_of(self)
        if name == "accumulate" and value == 0:
            return np.zeros(self.product_shape, self.dtype)
        return value

    @property
    def dtype(self) -> Any:
        return bool if self.boolean else int if "whole" in self.kind else float

    @property
    def product_shape(self) -> tuple[int, ...]:
        return (2, N, 3) if "stack" in self.kind else (N, 3)

    def arguments(self) -> tuple[Any, ...]:
        B = self.B.T if self.options.get("left") else self.B
        if self.verb == "matmul" and "packed" in self.kind:
            B = sr.pack(np.pad(self.B, ((0, 0), (0, N - 3))))
        return {"matmul": (B, self.S), "solve": (B, self.S), "closure_rows": (self.S, self.vertices(PLACES)),
                "path": (self.S, self.called(0), self.called(3)), "nearest": (self.S, self.vertices(PLACES)),
                "power": (self.S, 3)}.get(self.verb, (self.S,))

    def ask(self) -> Any:
        return VERBS[self.verb](self.A, *self.arguments(), **{name: self.value(name) for name in self.options})

    def plan(self) -> Any:
        return sr.plan(self.verb, self.A, *self.arguments(), **{name: self.value(name) for name in self.options})

    def unseen(self, answer: Any, plan: Any) -> Iterator[str]:
        """The options without an effect."""
        for name in self.options:
            seen = SEEN.get((self.verb, name)) or SEEN["", name]
            if not seen(self, answer, plan):
                yield name


# What is expected, by sums along walks

def star(A: np.ndarray, reflexive: bool = True, most: int | None = None) -> np.ndarray:
    one = np.full((N, N), inf)
    np.fill_diagonal(one, 0)
    X = one if most is None else one.copy()
    for _ in range(N if most is None else most - (not reflexive)):
        X = np.minimum(one, np.min(A[:, :, None] + X[None], axis=1)) if most is not None else np.minimum(
            X, np.min(np.minimum(A, one)[:, :, None] + X[None], axis=1))
        if most is None and np.array_equal(X, np.minimum(X, np.min(A[:, :, None] + X[None], axis=1))):
            break
    return X if reflexive else np.min(A[:, :, None] + X[None], axis=1)


def dense(cell: Cell, answer: Any) -> np.ndarray:
    """An answer's values as an array."""
    found = elements(cell, answer)
    return np.where(found == np.iinfo(int).max, inf, found) if cell.dtype is int else found


def elements(cell: Cell, answer: Any) -> np.ndarray:
    if isinstance(answer, Closures):
        answer = answer.values
    if isinstance(answer, tuple) and cell.verb in ("closure_rows", "matmul"):
        answer = answer[0]
    if isinstance(answer, StackedPaths) or hasattr(answer, "next_hop"):
        answer = answer.weights
    if hasattr(answer, "closure") and cell.verb == "factor":
        answer = answer.closure()
    if hasattr(answer, "to_dense"):
        answer = answer.to_dense()
    answer = to_host(answer) if is_on_gpu(answer) else answer
    if sp.issparse(answer):
        full = np.full(answer.shape, inf)
        E = answer.tocoo()
        full[E.row, E.col] = E.data
        return full
    if hasattr(answer, "semiring") and hasattr(answer, "to_numpy"):
        return np.asarray(answer.to_numpy())
    return np.asarray(answer)


def closed_as_asked(cell: Cell, answer: Any, plan: Any) -> bool:
    """Whether values are those of walks as the options say."""
    if cell.cycle == -1.0:  # there are none
        return True
    o = cell.options
    wanted = star(weights(0.0) if cell.cycle is not None else cell.plain, o.get("reflexive", True), o.get("max_edges"))
    if cell.verb == "closure_rows":
        wanted = wanted[PLACES]
    if cell.verb in ("closure_rows", "paths"):
        wanted = wanted[o["sources"]] if "sources" in o else wanted
        wanted = np.where(wanted > LIMIT, inf, wanted) if "limit" in o else wanted
        wanted = wanted[:, o["targets"]] if "targets" in o else wanted
    found = dense(cell, answer)
    wanted = wanted < inf if cell.boolean else wanted
    return bool(np.allclose(np.broadcast_to(found, found.shape), np.broadcast_to(wanted, found.shape), rtol=0,
                            atol=100 * N * TOL)) and found.shape[-2:] == wanted.shape


def wanted_of(cell: Cell) -> np.ndarray:
    """A mask of a product: rows and columns in turn."""
    columns = N if "packed" in cell.kind else 3
    return np.add.outer(np.arange(N), np.arange(columns)) % 2 == 0


def product_as_asked(cell: Cell, answer: Any, plan: Any) -> bool:
    A, B = cell.plain, cell.plain[:, :3]
    terms = A[:, :, None] + B[None]
    wanted = np.min(terms, axis=1)
    if "mask" in cell.options:
        wanted = np.where(wanted_of(cell)[:, :3] ^ cell.options.get("complement", False), wanted, inf)
    if "accumulate" in cell.options:
        wanted = np.minimum(wanted, 0.0) if not cell.boolean else wanted
    found = dense(cell, answer)[..., :3]
    return bool((found == (wanted < inf if cell.boolean else wanted)).all())


def solved_as_asked(cell: Cell, answer: Any, plan: Any) -> bool:
    if cell.cycle == -1.0:
        return True
    X, B = star(weights(0.0) if cell.cycle is not None else cell.plain), cell.plain[:, :3]
    wanted = np.min(B.T[:, :, None] + X[None], axis=1) if cell.options.get("left") else np.min(
        X[:, :, None] + B[None], axis=1)
    wanted = wanted < inf if cell.boolean else wanted
    found = dense(cell, answer)
    return bool(np.allclose(found, np.broadcast_to(wanted, found.shape), rtol=0, atol=100 * N * TOL))


ONE_BY_ONE = "of each matrix"  # in a plan for a stack on several GPUs; each matrix has a plan of its own


def method_is_planned(cell: Cell, answer: Any, plan: Any) -> bool:
    """A plan's method is the schedule, or the solver's name for it."""
    wanted = {"sparse": "elimination"}.get(cell.options["method"], cell.options["method"])
    return plan is None or wanted in plan.method or ONE_BY_ONE in plan.method


def progress_is_told(cell: Cell, answer: Any, plan: Any) -> bool:
    return bool(cell.shares) and cell.shares == sorted(cell.shares) and cell.shares[-1] == 1.0


def limited(cell: Cell, answer: Any, plan: Any) -> bool:
    found = dense(cell, answer)
    return bool(((found <= LIMIT) | (found == inf)).all())


def overwritten(cell: Cell, answer: Any, plan: Any) -> bool:
    """Overwriting is a permission, which a closure of arrays in their own memory takes where nothing else is wanted."""
    others = {"reflexive", "max_edges", "on_divergence", "tol"}
    if cell.kind in ("array", "stack") and not cell.options.keys() & others and cell.options.get("device") != "gpu":
        return bool(np.shares_memory(answer, cell.A))
    return closed_as_asked(cell, answer, plan)


def argmax_is_given(cell: Cell, answer: Any, plan: Any) -> bool:
    found, which = answer
    return bool(product_as_asked(cell, found, plan)) and dense(cell, which).shape == dense(cell, found).shape


def written(cell: Cell, answer: Any, plan: Any) -> bool:
    """Whether the closure is in its file, and the answer maps it."""
    path = cell.folder / cell.options["out"]
    return path.exists() and np.array_equal(np.load(path), dense(cell, answer))


SEEN: dict[tuple[str, str], Callable[[Cell, Any, Any], bool]] = {
    ("", "method"): method_is_planned,
    ("", "reflexive"): closed_as_asked,
    ("", "max_edges"): closed_as_asked,
    ("", "tol"): lambda cell, answer, plan: True,  # without it there is no closure
    ("", "check"): lambda cell, answer, plan: True,  # likewise
    ("", "overwrite"): overwritten,
    ("", "device"): lambda cell, answer, plan: plan is None or cell.options["device"] == (
        "gpu" if plan.lowering.on_gpu or (gpu_name() or "GPU") in plan.device else "cpu"),
    ("", "devices"): lambda cell, answer, plan: plan is None or " GPU" in plan.device,
    ("", "tile"): lambda cell, answer, plan: plan is None or ONE_BY_ONE in plan.method or (
        plan.tile >= TILE and plan.tile % TILE == 0) or (
        cell.options.get("method") == "floyd-warshall" and "not in blocks of 16 rows" in str(plan)),
    ("", "packed"): lambda cell, answer, plan: isinstance(
        answer.values if isinstance(answer, Closures) else answer, sr.PackedMatrix),
    ("", "progress"): progress_is_told,
    ("", "on_divergence"): lambda cell, answer, plan: isinstance(answer, Closures) and bool(
        np.all(answer.exists == (cell.cycle != -1.0 or "max_edges" in cell.options))),
    ("", "out"): written,
    ("", "next_hops"): lambda cell, answer, plan: (cell.folder / cell.options["next_hops"]).exists(),
    ("", "memory"): lambda cell, answer, plan: plan is None or plan.memory <= 1 << 20,
    ("", "checkpoint"): lambda cell, answer, plan: plan is None or plan.storing.checkpoint == 1e-9,
    ("", "resume"): lambda cell, answer, plan: plan is None or plan.storing.resume is True,
    ("", "sources"): closed_as_asked,
    ("", "targets"): closed_as_asked,
    ("", "limit"): limited,
    ("", "predecessors"): lambda cell, answer, plan: isinstance(answer, tuple) and answer[1].dtype == np.int32,
    ("", "left"): solved_as_asked,
    ("", "order"): lambda cell, answer, plan: list(answer.analysis.order) == cell.options["order"],
    ("", "accumulate"): product_as_asked,
    ("matmul", "out"): lambda cell, answer, plan: answer is cell.out and product_as_asked(cell, answer, plan),
    ("", "argmax"): argmax_is_given,
    ("", "mask"): product_as_asked,
    ("", "complement"): product_as_asked,
}
AS_ASKED = {"closure": closed_as_asked, "closure_rows": closed_as_asked, "paths": closed_as_asked,
            "factor": closed_as_asked, "solve": solved_as_asked, "matmul": product_as_asked}
VALUES: dict[str, list[Any]] = {
    "method": ["floyd-warshall", "blocked", "r-kleene", "squaring", "elimination", "sparse", "search", "iterative"],
    "reflexive": [False], "overwrite": [True], "device": ["cpu", "gpu"], "tile": [TILE], "check": [False],
    "packed": [True], "progress": [True], "max_edges": [EDGES], "on_divergence": ["mask"], "tol": [TOL],
    "out": ["C.npy"], "next_hops": ["H.npy"], "memory": ["1M"], "checkpoint": [1e-9], "resume": [True],
    "devices": [1], "accumulate": [0], "argmax": [True], "left": [True], "order": [ORDER],
    "predecessors": [True], "sources": [PLACES], "targets": [[5, 1]], "limit": [LIMIT], "on": ["mpi"],
    "rtol": [1e-6], "mask": [True], "complement": [True],
}
OWN = {"A", "B", "S", "k", "source", "target", "places"}  # parameters besides the options


def options_of(verb: str) -> list[str]:
    return [name for name in inspect.signature(VERBS[verb]).parameters
            if name not in OWN and not (verb == "closure_rows" and name == "sources")]


def choices(verb: str, in_pairs: bool) -> Iterator[dict[str, Any]]:
    """Every option with each of its values, and every pair."""
    given = {name: [True] if verb == "matmul" and name == "out" else VALUES[name] for name in options_of(verb)}
    for name, values in given.items():
        yield from ({name: value} for value in values)
    for first, second in combinations(given, 2) if in_pairs else ():
        for a in given[first]:
            yield from ({first: a, second: b} for b in given[second])


def reply(ask: Callable[[], Any]) -> tuple[Any, str | None]:
    try:
        return ask(), None
    except sr.SemiringError as e:
        return None, str(e)


def offence(cell: Cell, base: str | None) -> str | None:
    """What is wrong with a cell; `base` is what is refused without any option."""
    plan, refused = reply(cell.plan)
    answer, why = reply(cell.ask)
    if why is not None and why == base:  # which this verb does not take, whatever the options
        return None if refused is not None else "a plan is made"
    if why is not None:
        spelt = [*cell.options, *(value for value in cell.options.values() if isinstance(value, str))]
        if cell.options.get("method") == "search" and "improving" in why:
            return None  # which ends no search
        if not any(name in why for name in spelt) and not (cell.options.get("devices") and "GPU" in why):
            return f"the error names no option: {why}"
        return None if refused is not None or plan is None or plan_finds_later(cell, why) else "a plan is made"
    if refused is not None:
        return f"only the plan is refused: {refused}"
    wrong = list(cell.unseen(answer, plan))
    if wrong:
        return f"no effect of {', '.join(wrong)}"
    if "argmax" not in cell.options and not AS_ASKED.get(cell.verb, lambda *_: True)(cell, answer, plan):
        return "another answer"
    if "overwrite" not in cell.options and isinstance(cell.A, np.ndarray) and cell.kind in ("array", "stack"):
        return None if (cell.plain == cell.A).all() else "A is overwritten"
    return None


def plan_finds_later(cell: Cell, why: str) -> bool:
    """What is known of cycles only when a plan runs."""
    return "improving" in why


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_honoured_or_refused_by_name(verb: str, kind: str, tmp_path: Path) -> None:
    base = Cell(verb, kind, {}, tmp_path)
    _, refused = reply(base.ask)
    found = [f"{{}}: {wrong}"] if (wrong := offence(base, refused)) is not None else []
    for k, options in enumerate(choices(verb, kind in PAIRED)):
        folder = tmp_path / str(k)
        folder.mkdir()
        wrong = offence(Cell(verb, kind, options, folder), refused)
        if wrong is not None:
            found.append(f"{options}: {wrong}")
    assert not found, "\n".join(found)


def test_every_option_of_every_verb_is_tried() -> None:
    assert set(VALUES) == set(NONSENSE) == {name for verb in VERBS for name in options_of(verb)}


# Values that no option takes.
NONSENSE: dict[str, Any] = {
    "method": "fastest", "reflexive": "no", "overwrite": "yes", "device": "tpu", "tile": 0, "check": "no",
    "packed": "yes", "progress": 0, "max_edges": -1, "on_divergence": "stop", "tol": -1, "out": object(),
    "next_hops": object(), "memory": "much", "checkpoint": -1, "resume": "yes", "devices": "all", "on": "mpi",
    "accumulate": "zeros", "argmax": "yes", "left": "yes", "order": "best", "predecessors": "yes", "limit": "near",
    "sources": ["nowhere"], "targets": ["nowhere"], "rtol": -1,
    "mask": "all", "complement": "yes",
}


@pytest.mark.parametrize("kind", PAIRED)
@pytest.mark.parametrize("verb", VERBS)
def test_nonsense_is_refused_beside_every_other_option(verb: str, kind: str, tmp_path: Path) -> None:
    """By name, as what is dropped is not; or the other option is."""
    _, base = reply(Cell(verb, kind, {}, tmp_path).ask)
    found = []
    for name in options_of(verb):
        bad = NONSENSE[name]
        others = [{}, *({other: VALUES[other][0]} for other in options_of(verb) if other != name)]
        for other in others:
            cell = Cell(verb, kind, {**other, name: bad}, tmp_path)
            named = {"sources": "nowhere", "targets": "nowhere"}.get(name, name), *other, str(bad), "GPU"
            _, why = reply(cell.ask)
            if why is None or not (why == base or any(word in why for word in named)):
                found.append(f"{name}={bad!r} beside {other}: {why or 'accepted'}")
            plan, refused = reply(cell.plan)
            if plan is not None and refused is None:
                found.append(f"{name}={bad!r} beside {other}: planned")
    assert not found, "\n".join(found)


# Values that options of other functions do not take.

ROADS = [("a", "b", 3.0), ("b", "c", 4.0)]


def factors() -> Any:
    return sr.factor(sr.as_graph(ROADS), sr.min_plus)


@pytest.mark.parametrize(("ask", "name"), [
    (lambda: sr.chain([np.eye(2)] * 2, sr.min_plus, check="no"), "check"),
    (lambda: sr.chain([np.eye(2)] * 2, sr.min_plus, device="tpu"), "device"),
    (lambda: sr.residual(np.eye(2), np.eye(2), sr.min_plus, left="no"), "left"),
    (lambda: sr.residual(np.eye(2), np.eye(2), sr.min_plus, device="tpu"), "device"),
    (lambda: sr.components(ROADS, weak="no"), "weak"),
    (lambda: sr.mean_weight(np.eye(2), sr.min_plus, rows=0), "rows"),
    (lambda: sr.mean_weight(np.eye(2), sr.min_plus, seed="x"), "seed"),
    (lambda: sr.pack(ROADS, directed="no"), "directed"),
    (lambda: sr.adjacency(ROADS, sr.min_plus).closure(method="fastest"), "fastest"),
    (lambda: sr.adjacency(ROADS, sr.min_plus).to_frame(long="no"), "long"),
    (lambda: factors().rows(["a"], reflexive="no"), "reflexive"),
    (lambda: factors().closure(reflexive="no"), "reflexive"),
    (lambda: factors().closure(progress=0), "progress"),
    (lambda: list(factors().blocks(reflexive="no")), "reflexive"),
    (lambda: list(factors().blocks(in_order="no")), "in_order"),
    (lambda: list(factors().blocks(rows=0)), "rows"),
    (lambda: factors().save("nowhere.npy", reflexive="no"), "reflexive"),
    (lambda: factors().reduce("mean", bins=3), "bins"),
])
def test_nonsense_is_refused_by_other_functions_too(ask: Callable[[], Any], name: str) -> None:
    with pytest.raises(sr.SemiringError, match=name):
        ask()

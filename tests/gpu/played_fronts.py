"""The kernels of `kernels/cuda/sparse/fronts.cu` in NumPy, over one algebra, for `host.Host`; called as the CUDA ones.

Pieces of one level are done in descending order, though a launch does them at the same time: what they write may not
depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.host import Array, Host
from gpu.played import Dense

from semiring.algebra.semiring import Semiring
from semiring.kernels import build
from semiring.kernels.cuda import choose
from semiring.kernels.cuda.compile import staging
from semiring.kernels.cuda.dense import closure, engine, product, rows
from semiring.kernels.cuda.sparse import front_code, fronts, spread
from semiring.operands import devices

inf = np.inf
ALGEBRAS = {
    "min_plus": (np.minimum, np.add, inf, 0.0, lambda a: 0.0 if a >= 0 else None),
    "max_min": (np.maximum, np.minimum, -inf, inf, lambda a: inf),
    "plus_times": (np.add, np.multiply, 0.0, 1.0, lambda a: 1 / (1 - a) if abs(a) < 1 else None),
}


def graph(n: int, degree: float, seed: int, values: Any) -> Any:
    """A random one."""
    rng = np.random.default_rng(seed)
    m = int(n * degree)
    A = sp.csr_array((np.ones(m), (rng.integers(0, n, m), rng.integers(0, n, m))), shape=(n, n))
    A.sum_duplicates()
    A.data = values(rng, A.nnz)
    return A


VALUES: dict[str, Any] = {
    "min_plus": lambda rng, k: rng.integers(0, 20, k).astype(float),
    "max_min": lambda rng, k: rng.integers(0, 20, k).astype(float),
    "plus_times": lambda rng, k: rng.integers(1, 4, k) / 64,
}


def played(monkeypatch: pytest.MonkeyPatch, name: str, count: int = 1) -> Host:
    """GPUs that compute with an algebra of 64-bit floats; `forget_kernels` afterwards."""
    host = Host(count=count)
    return _play(monkeypatch, host, Fronts(host, "f8", *ALGEBRAS[name]))


def played_over(monkeypatch: pytest.MonkeyPatch, S: Semiring, dtype: np.dtype, count: int) -> Host:
    """The same with any algebra in which every star is 1, as NumPy computes it."""
    host, T = Host(count=count), S.over(dtype)
    add, mul = (lambda a, b, f=f: np.array(f(a, b)) for f in (T.add, T.mul))  # which may give views
    kernels = Fronts(host, dtype, add, mul, None, None, lambda a: kernels.one)
    kernels.zero, kernels.one = (np.array(x, dtype)[()] for x in (S.zero_in(dtype), S.one_in(dtype)))
    return _play(monkeypatch, host, kernels)


def _play(monkeypatch: pytest.MonkeyPatch, host: Host, kernels: Fronts) -> Host:
    host.stand_in(monkeypatch)
    for module in (closure, engine, product, front_code):
        monkeypatch.setattr(module, "Module", kernels.module)
    for module in (closure, product):
        monkeypatch.setattr(module, "memory", host.memory)
    for module in (product, fronts):
        monkeypatch.setattr(module, "multiprocessors", lambda: 3)
    monkeypatch.setattr(fronts, "total_memory", lambda: 1 << 40)
    monkeypatch.setattr(front_code, "compile_ahead", list)  # the kernels are there, and none is compiled
    monkeypatch.setattr(front_code, "begin_context", lambda: None)
    monkeypatch.setattr(closure, "current_device", lambda: host.number)
    for module in (rows, spread):
        monkeypatch.setattr(module, "synchronize", host.finish)
    monkeypatch.setattr(closure, "_urgent", lambda *_: host.stream())
    monkeypatch.setattr(closure.Closure, "has_graph", lambda *_: False)
    monkeypatch.setattr(staging, "upload", host.array)
    monkeypatch.setattr(staging, "download", np.array)
    monkeypatch.setattr(devices, "gpu_name", lambda: "played by NumPy")
    monkeypatch.setattr(Array, "copy", lambda self: host.array(np.array(self)))
    forget_kernels()
    return host


def forget_kernels() -> None:
    """What was played is not kept for other tests."""
    front_code._module.cache_clear()
    front_code._function.cache_clear()
    for cached in (build.kernel, choose.kernel, choose.array_kernel):
        cached.cache_clear()
    choose._array_kernels.clear()


class Fronts(Dense):
    """The kernels of dense matrices, and those of fronts."""

    by_columns = False

    def play(self, name: str, threads: int, numbers: Any, *arguments: int) -> None:
        with self.host.lock:
            self.by_columns, self.threads = bool(vars(numbers).get("BY_COLUMNS")), threads
            super().play(name, threads, numbers, *arguments)

    def vector(self, address: int, dtype: str | np.dtype) -> np.ndarray:
        """All of the array that an address is in, from there on."""
        if not address:
            return np.empty(0, dtype)
        home = self.host.home(address)
        left = home.ptr + home.size - address
        return self.host.at(address, left, 1, left // np.dtype(dtype).itemsize, dtype)[0]

    def elements(self, address: int) -> np.ndarray:
        return self.vector(address, self.dtype)

    def _front(self, a: int, first: int, pointer: int) -> tuple[int, int, int, int]:
        """The first vertex of a supernode, s, u, and where its boundary begins."""
        S, p = self.vector(first, "i4"), self.vector(pointer, "i8")
        return int(S[a]), int(S[a + 1] - S[a]), int(p[a + 1] - p[a]), int(p[a])

    def _assembled(
        self, F: np.ndarray, a: int, pointer: int, child: int, sibling: int, position: int, entry_pointer: int,
        entry: int, entry_row: int, entry_column: int, weights: int, update_at: int, updates: int,
    ) -> None:
        e, p = self.vector(entry_pointer, "i8"), self.vector(pointer, "i8")
        some = slice(e[a], e[a + 1])
        rows, columns, numbers = (self.vector(x, "i4")[some] for x in (entry_row, entry_column, entry))
        F[rows, columns] = self.elements(weights)[numbers]
        c = int(self.vector(child, "i4")[a])
        while c >= 0:
            u = int(p[c + 1] - p[c])
            place = np.ix_(*2 * [self.vector(position, "i4")[p[c] : p[c + 1]]])
            begin = int(self.vector(update_at, "i8")[c])
            if u:
                F[place] = self.add(F[place], self.elements(updates)[begin : begin + u * u].reshape(u, u))
            c = int(self.vector(sibling, "i4")[c])

    def eliminate(
        self, g: Any, blocks: int, _: int, fronts: int, first: int, pointer: int, child: int, sibling: int,
        position: int, entry_pointer: int, entry: int, entry_row: int, entry_column: int, weights: int,
        update_at: int, updates: int, top_at: int, low_at: int, panels: int, failed: int,
    ) -> None:
        for a in self.vector(fronts, "i4")[:blocks][::-1].tolist():
            S, s, u, _begin = self._front(a, first, pointer)
            n = s + u
            F = np.full((n, n), self.zero)
            self._assembled(F, a, pointer, child, sibling, position, entry_pointer, entry, entry_row, entry_column,
                            weights, update_at, updates)
            for p in range(s):
                closed = self.star(F[p, p])
                if closed is None:
                    seen = self.vector(failed, "i4")
                    seen[0], closed = min(seen[0], S + p), self.one
                row, column = self.mul(closed, F[p]), F[:, p].copy()
                row[p] = closed
                F = np.where(np.isin(np.arange(n), p)[:, None], row, self.add(F, self.mul(column[:, None], row)))
                others = np.arange(n) != p
                F[others, p] = self.mul(column[others], closed)
            top, low, left = (int(self.vector(x, "i8")[a]) for x in (top_at, low_at, update_at))
            self.elements(panels)[top : top + s * n] = F[:s].ravel()
            self.elements(panels)[low : low + u * s] = F[s:, :s].ravel()
            if u:
                self.elements(updates)[left : left + u * u] = F[s:, s:].ravel()

    def assemble(
        self, g: Any, _: int, __: int, a: int, F: int, first: int, pointer: int, *others: int,
    ) -> None:
        _S, s, u, _begin = self._front(a, first, pointer)
        self._assembled(self.at(F, (s + u) * self.size, s + u, s + u), a, pointer, *others)

    def _rows(self, address: int, width: int) -> np.ndarray:
        found = self.elements(address)
        return found[: len(found) // width * width].reshape(-1, width)

    def begin(
        self, g: Any, blocks: int, across: int, fronts: int, first: int, sources: int, count: int, W: int, width: int
    ) -> None:
        assert across * self.threads * g.LANES == width
        w, starts = self._rows(W, width), self.vector(first, "i4")
        given = self.vector(sources, "i4")[:count]
        for a in self.vector(fronts, "i4")[:blocks].tolist():
            for v in range(starts[a], starts[a + 1]):
                w[v] = self.zero
                w[v, :count][given == v] = self.one

    def _panel(self, top: np.ndarray, low: np.ndarray, s: int, up: bool) -> np.ndarray:
        """What the right-hand sides are multiplied with, a row for each step: from S on the way up, from U down."""
        if up:
            return top if not self.by_columns else np.concatenate([top[:, :s].T, low.T], axis=1)
        return low if not self.by_columns else top[:, s:].T

    def _multiply(self, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        """⊕ over k of x[k, r] ⊗ m[k, t], or the other way round: a row for each t."""
        return self.times(m.T, x) if self.by_columns else self.times(x.T, m).T

    def _blocks(self, a: int, s: int, u: int, top_at: int, low_at: int, panels: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[override]
        top, low = (int(self.vector(x, "i8")[a]) for x in (top_at, low_at))
        held = self.elements(panels)
        return held[top : top + s * (s + u)].reshape(s, s + u), held[low : low + u * s].reshape(u, s)

    def collect(
        self, g: Any, blocks: int, across: int, fronts: int, first: int, pointer: int, child: int, sibling: int,
        position: int, W: int, Y: int, width: int,
    ) -> None:
        assert across * self.threads == width
        w, p = self._rows(W, width), self.vector(pointer, "i8")
        y = self._rows(Y, width) if Y else np.empty((0, width), self.dtype)
        for a in self.vector(fronts, "i4")[:blocks].tolist():
            S, s, _u, begin = self._front(a, first, pointer)
            y[begin : p[a + 1]] = self.zero
            c = int(self.vector(child, "i4")[a])
            while c >= 0:
                for q in range(p[c], p[c + 1]):
                    at = int(self.vector(position, "i4")[q])
                    home = w[S + at] if at < s else y[begin + at - s]
                    home[...] = self.add(home, y[q])
                c = int(self.vector(sibling, "i4")[c])

    def up(
        self, g: Any, blocks: int, across: int, pieces: int, first: int, pointer: int, boundary: int, top_at: int,
        low_at: int, panels: int, W: int, X: int, Y: int, width: int, spans: int,
    ) -> None:
        assert across * self.threads * g.LANES <= width and width % (self.threads * g.LANES) == 0
        w, x = self._rows(W, width), self._rows(X, width)
        for a, column in self.vector(pieces, "i4")[: 2 * blocks].reshape(-1, 2)[::-1].tolist():
            S, s, u, begin = self._front(a, first, pointer)
            head, tail = self.vector(spans, "i4")[2 * a : 2 * a + 2].tolist()
            own = column < s
            some = slice(column, min(column + g.TILE, s if own else s + u))
            panel = self._panel(*self._blocks(a, s, u, top_at, low_at, panels), s, True)[:, some]
            found = self._multiply(w[S : S + s, head:tail], panel)
            if own:
                x[S + some.start : S + some.stop] = self.zero
                x[S + some.start : S + some.stop, head:tail] = found
                continue
            beyond = slice(begin + some.start - s, begin + some.stop - s)
            if self.by_columns:
                y = self._rows(Y, width)
                y[beyond, head:tail] = self.add(y[beyond, head:tail], found)
            else:
                vertices = self.vector(boundary, "i4")[beyond]
                w[vertices, head:tail] = self.add(w[vertices, head:tail], found)

    def down(
        self, g: Any, blocks: int, across: int, pieces: int, first: int, pointer: int, boundary: int, top_at: int,
        low_at: int, panels: int, X: int, width: int, spans: int,
    ) -> None:
        assert across * self.threads * g.LANES <= width and width % (self.threads * g.LANES) == 0
        x = self._rows(X, width)
        for a, column in self.vector(pieces, "i4")[: 2 * blocks].reshape(-1, 2)[::-1].tolist():
            S, s, u, begin = self._front(a, first, pointer)
            head, tail = self.vector(spans, "i4")[2 * a : 2 * a + 2].tolist()
            some = slice(column, min(column + g.TILE, s))
            panel = self._panel(*self._blocks(a, s, u, top_at, low_at, panels), s, False)[:, some]
            vertices = self.vector(boundary, "i4")[begin : begin + u]
            target = x[S + some.start : S + some.stop]
            if head == tail:
                target[...] = self.zero
            target[...] = self.add(target, self._multiply(x[vertices], panel))

    def cycles(
        self, g: Any, blocks: int, _: int, sources: int, count: int, column_pointer: int, row: int, entry: int,
        weights: int, X: int, width: int,
    ) -> None:
        assert blocks * self.threads >= count
        x, p = self._rows(X, width), self.vector(column_pointer, "i8")
        found = []
        for r, v in enumerate(self.vector(sources, "i4")[:count].tolist()):
            some = slice(p[v], p[v + 1])
            rows, numbers = (self.vector(y, "i4")[some] for y in (row, entry))
            found.append(self.times(x[rows, r][None], self.elements(weights)[numbers][:, None])[0, 0])
        for r, v in enumerate(self.vector(sources, "i4")[:count].tolist()):
            x[v, r] = found[r]

    def spread(
        self, g: Any, across: int, down: int, X: int, width: int, ends: int, count_ends: int, sources: int,
        targets: int, count: int, out: int, stride: int, settled: int,
    ) -> None:
        assert across * g.ENDS >= count_ends and down * g.SOURCES >= count
        x, to = self._rows(X, width), self.elements(out)
        columns, rows = self.vector(ends, "i4")[:count_ends], self.vector(sources, "i4")[:count]
        for r, target in enumerate(self.vector(targets, "i8")[:count].tolist()):
            row = x[columns, r]
            if settled:
                row[columns == rows[r]] = self.one
            to[target * stride : target * stride + count_ends] = row

    def take_in(
        self, g: Any, n: int, across: int, order: int, B: int, stride: int, columns: int, W: int, width: int
    ) -> None:
        assert across * self.threads >= width
        w, b = self._rows(W, width), self.elements(B)
        for v, outside in enumerate(self.vector(order, "i4")[:n].tolist()):
            w[v] = self.zero
            w[v, :columns] = b[outside * stride : outside * stride + columns]

    def hand_out(
        self, g: Any, n: int, across: int, order: int, X: int, width: int, B: int, stride: int, columns: int
    ) -> None:
        assert across * self.threads >= columns
        x, b = self._rows(X, width), self.elements(B)
        for v, outside in enumerate(self.vector(order, "i4")[:n].tolist()):
            b[outside * stride : outside * stride + columns] = x[v, :columns]

    def summarise(
        self, g: Any, blocks: int, parts: int, X: int, n: int, width: int, sources: int, count: int, rows: int,
        found: int,
    ) -> None:
        assert blocks * self.threads >= count and parts * rows >= n
        x, to = self._rows(X, width), self.vector(found, "f8")
        given = self.vector(sources, "i4")[:count]
        for part in range(parts):
            some = slice(part * rows, min(n, (part + 1) * rows))
            for r in range(count):
                others = np.arange(n)[some] != given[r]
                values = [t for t in x[some, r][others] if t != self.zero]
                numbers = sum(values), len(values), min(values, default=np.inf), max(values, default=-np.inf)
                for i, number in enumerate(numbers):
                    to[(4 * part + i) * width + r] = number

    def unite(
        self, g: Any, blocks: int, _: int, found: int, parts: int, width: int, count: int, result: int
    ) -> None:
        assert blocks * self.threads >= count
        given, to = self.vector(found, "f8"), self.vector(result, "f8")
        for r in range(count):
            total, number, least, most = given[r : 4 * parts * width : width].reshape(parts, 4).T
            to[4 * r : 4 * r + 4] = total.sum(), number.sum(), least.min(), most.max()

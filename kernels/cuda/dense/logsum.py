"""Log-sum-exp on the GPU: products of powers by cuBLAS, and what is before and after them by powers.cu."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from semiring.kernels.cuda.compile.launch import Function, Module, in_c_order, memory, multiprocessors, rows_of
from semiring.kernels.cuda.compile.program import file_text
from semiring.kernels.cuda.compile.rules import literal
from semiring.kernels.lowering.logsum import LogSum
from semiring.kernels.numpy.logsum import SIDE_ON_GPU, Library, LogSumProduct, Powers, in_turn, lift_of, normal

from .exchange import report

LEAST_TERMS = 100_000_000  # terms from which the launches and the one wait of a product by powers repay
THREADS, WIDE = 256, 32  # of a block, and columns of it, as in powers.cu
LEAST_ROWS, MOST_PARTS = 64, 64  # of a part of the rows whose maxima are found beside each other, and such parts
NAMES = {np.dtype("f4"): "float", np.dtype("f8"): "double"}


class DeviceLogSum(LogSumProduct):
    """The products in device memory: three launches before cuBLAS, and two after it."""

    def __init__(self, form: LogSum, library: Library):
        super().__init__(form, library)
        self.form = form

    def needed(self, dtype: np.dtype) -> list[Function]:
        """The kernels for data of a dtype, unless powers underflow."""
        return list(functions(self.form, dtype, dtype).values())

    def _lifted(self, X: Any, axis: int, dtype: np.dtype, lift: int) -> Powers:
        import cupy

        X = rows_of(X)
        batch, rows, columns = X.shape
        across = (batch, rows, 1) if axis == 2 else (batch, 1, columns)
        numbers, top, spread = (cupy.empty(shape, dtype) for shape in (X.shape, across, across))
        targets = numbers.data.ptr, top.data.ptr, spread.data.ptr
        of, place = functions(self.form, X.dtype, dtype), (X.data.ptr, X.strides[1], X.strides[0])
        if axis == 2:
            of["rows_to_powers"](batch * rows, 1, *place, rows, columns, lift, *targets)
            return Powers(numbers, top, spread)
        blocks = -(-columns // WIDE)
        parts = max(min(8 * multiprocessors() // (blocks * batch), rows // LEAST_ROWS, MOST_PARTS), 1)
        chunk = -(-rows // parts)
        parts = -(-rows // chunk)
        cut, ends = (*place, rows, columns, parts, chunk), memory(2 * dtype.itemsize * batch * parts * columns)
        of["column_ends"](blocks * parts * batch, 1, *cut, ends.ptr)
        of["columns_to_powers"](blocks * parts * batch, 1, *cut, ends.ptr, lift, *targets)
        return Powers(numbers, top, spread)

    def _doubtful(self, G: Any, A: Any, B: Any, E: Powers, F: Powers) -> Any:
        (batch, m, n), k, found = G.shape, A.shape[2], report()
        found.clear()
        lines = [in_c_order(x) for x in (E.top, F.top, E.spread, F.spread)]  # which stay until the launch
        functions(self.form, A.dtype, G.dtype)["look"](
            batch * m, 1, G.data.ptr, *(x.data.ptr for x in lines), m, n, k, lift_of(G.dtype, k), found.host
        )
        return super()._doubtful(G, A, B, E, F) if found.read().flags else None

    def _finish(self, C: Any, G: Any, r: Any, c: Any, lift: int, accumulate: bool) -> None:
        (batch, m, n), rows, columns = G.shape, in_c_order(r), in_c_order(c)  # which stay until the launch
        functions(self.form, C.dtype, G.dtype)["take_logarithms"](
            batch * m, 1, G.data.ptr, rows.data.ptr, columns.data.ptr, m, n, lift,
            C.data.ptr, C.strides[2], C.strides[1], C.strides[0], int(accumulate),
        )


def functions(form: LogSum, given: np.dtype, held: np.dtype) -> dict[str, Function]:
    """The kernels for data of one dtype and powers of another; threads share them."""
    key = form, given, held
    if (found := _made.get(key)) is None:
        module = Module(source(form, given, held))
        found = _made.setdefault(key, {name: module.function(name, THREADS) for name in (
            "rows_to_powers", "column_ends", "columns_to_powers", "look", "take_logarithms")})
    return found


_made: dict[tuple[LogSum, np.dtype, np.dtype], dict[str, Function]] = {}


def source(form: LogSum, given: np.dtype, held: np.dtype) -> str:
    """The text of the kernels."""
    limits, unit = np.finfo(held), math.log(2) if form.binary else 1.0
    numbers = {
        "TINY": float(limits.tiny), "EPSILON": float(limits.eps), "NORMAL": normal(held, unit),
        "LARGEST": float(np.finfo(given).max) / 4,
    }
    return "".join([
        file_text("compile/ops.cuh"), f"using Given = {NAMES[given]};\nusing Held = {NAMES[held]};\n",
        f"constexpr bool NEGATED = {int(form.negated)}, BINARY = {int(form.binary)};\n",
        *(f"constexpr Held {name} = Held({number!r});\n" for name, number in numbers.items()),
        f"DEVICE Held infinite() {{ return {literal(held.type(np.inf))}; }}\n",
        file_text("dense/powers.cu"),
    ])


def log_sum_product(form: LogSum) -> DeviceLogSum:
    """Products of stacks in device memory; see `semiring.kernels.numpy.logsum`. Each waits for the device once."""
    import cupy

    def multiply(c: Any, a: Any, b: Any) -> None:
        cupy.matmul(a, b, out=c)

    # There is no cache for strips to stay in.
    return DeviceLogSum(form, Library(cupy, multiply, SIDE_ON_GPU, 1 << 62, 4, LEAST_TERMS, in_turn))

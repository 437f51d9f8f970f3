"""What is compiled for sparse factors on a GPU: the functions of fronts.cu, when they are first asked for, or ahead.

Compiling takes about as long as the analysis of a structure, so threads begin with it meanwhile.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from semiring.kernels.cuda.choose import array_kernel
from semiring.kernels.cuda.compile.launch import Function, Module, begin_context, compile_ahead
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.lowering import CudaLowering

from .pieces import geometry

LONGEST, SQUARE, MOST = 128, 256, 512  # threads of a block, as in fronts.cu
TOGETHER = 8  # pivots, as in fronts.cu
ASSEMBLERS = 1024  # threads that assemble a large front
MANY = 8192  # vertices from which some front is likely to be large,
LIKELY = (128, 128), (48, 192)  # … of about so many pivots and others


def source(low: CudaLowering, by_columns: bool) -> str:
    """The text of all kernels."""
    text = program(low)
    numbers = len(text.components) == 1 and text.components[0].kind in "fiu"
    constants = "#define NUMBERS\n" * numbers + f"constexpr bool BY_COLUMNS = {'true' if by_columns else 'false'};\n"
    return text.source(constants + geometry(text.size, text.light).constants(), "sparse/fronts.cu")


_making = Lock()  # one thread at a time: of two modules that are made at once one would be unloaded while its code runs


@lru_cache(64)
def _module(low: CudaLowering, by_columns: bool) -> Module:
    return Module(source(low, by_columns))


@lru_cache(512)
def _function(low: CudaLowering, name: str, threads: int, by_columns: bool, shared: int) -> Function:
    return _module(low, by_columns).function(name, threads, shared)


def function(low: CudaLowering, name: str, threads: int, by_columns: bool = False, shared: int = 0) -> Function:
    """A kernel, launched with so many threads a block and bytes of shared memory; made when it is first asked for."""
    with _making:
        return _function(low, name, threads, by_columns, shared)


def begin_kernels(low: CudaLowering, n: int) -> None:
    """Have threads compile what factors and closures need, while the host analyses the structure of n vertices.

    With many vertices some front is probably too large for shared memory, so its kernels are compiled too. If there is
    none, that was work of other cores only.
    """
    begin_context()
    compile_ahead(function(low, name, SQUARE) for name in ("up", "down", "eliminate", "spread", "begin", "collect"))
    if n >= MANY:
        begin_large(low, LIKELY)


@lru_cache(64)
def begin_large(low: CudaLowering, sizes: tuple[tuple[int, int], ...]) -> None:
    """Have threads compile what large fronts need, of so many pivots and others each."""
    dense = array_kernel(low)
    functions = {function(low, "assemble", ASSEMBLERS): None, dense.picks: None}
    compile_ahead(functions | dict.fromkeys(f for size in sizes for f in dense.for_front(*size)))

"""Derivatives of products on the GPU, over stacks of CuPy arrays of single or double precision; see gradients.cu."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.compile.rules import literal

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

SIDE = 64  # as in gradients.cu
THREADS = 256
RESIDENT = 8  # blocks of a multiprocessor


def weighted(low: CudaLowering, scale: float, G: Any, A: Any, B: Any, C: Any) -> Any:
    """X_ik = Σ_j G_ij exp(scale · (a_ik + b_kj − c_ij)) in each matrix of a stack, absent c_ij left out.

    Parameters
    ----------
    low : CudaLowering
        The general form, whose zero is an absent c_ij.
    scale : float
    G, A, B, C : array, shape (count, m, n), (count, m, k), (count, k, n) and (count, m, n)
        Of any strides, and of one dtype, float32 or float64.

    Returns
    -------
    array, shape (count, m, k)
    """
    import cupy

    count, m, n = G.shape
    X, k = cupy.empty(A.shape, A.dtype), A.shape[2]
    if X.size:
        strides = (s // X.itemsize for x in (G, A, B, C, X) for s in x.strides)
        _function(low, scale, "weighted")(
            count * -(-m // SIDE) * -(-k // SIDE), 1, *(x.data.ptr for x in (X, G, A, B, C)), m, k, n, *strides
        )
    return X


def winners(low: CudaLowering, A: Any, B: Any, C: Any) -> Any:
    """The least k of which a_ik ⊗ b_kj is c_ij, in each matrix of a stack; −1 where c_ij is zero.

    Parameters
    ----------
    low : CudaLowering
        The general form of an algebra whose ⊕ selects.
    A, B, C : array, shape (count, m, k), (count, k, n) and (count, m, n)
        Of one dtype; C is their product.

    Returns
    -------
    array of int32, shape (count, m, n)
    """
    import cupy

    A, B, C = (cupy.ascontiguousarray(x) for x in (A, B, C))
    W = cupy.empty(C.shape, np.int32)
    if W.size:
        blocks = max(1, min(-(-W.size // THREADS), RESIDENT * multiprocessors()))
        _function(low, 1.0, "winners")(
            blocks, 1, *(x.data.ptr for x in (W, A, B, C)), W.size, A.shape[1], A.shape[2], B.shape[2]
        )
    return W


def source(low: CudaLowering, scale: float) -> str:
    """The text of both kernels."""
    constants = f"DEVICE Value scale() {{ return {literal(low.dtype.type(scale))}; }}\n"
    return program(low).source(constants, "dense/gradients.cu")


@lru_cache(64)
def _module(low: CudaLowering, scale: float) -> Module:
    return Module(source(low, scale))


@lru_cache(64)
def _function(low: CudaLowering, scale: float, name: str) -> Function:
    return _module(low, scale).function(name, THREADS)

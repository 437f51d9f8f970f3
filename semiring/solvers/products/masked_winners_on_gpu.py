"""Which terms win, of the wanted entries of a product in a GPU's memory, of arrays or of an array and a sparse matrix.

The whole product says which terms win, in tiles, and the wanted entries are selected. A sparse matrix becomes an array.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.errors import OutOfRangeError, SemiringError
from semiring.graphs.held import refuse_unless
from semiring.operands.align import same_dtype
from semiring.operands.convert import as_dense, on_device, on_host
from semiring.operands.devices import require_gpu, to_host
from semiring.operands.wanted import Mask

from ..plan import Plan
from ..task import Task, compute, first_offer
from .arrays import Product, finish_product, product_shape, returned
from .masked_on_gpu import SELECT, read_wanted, zero_of
from .winners import NONE


def offer(task: Task) -> Plan:
    """The wanted entries and their winners, where an operand is on a GPU or device="gpu" asks for one."""
    mask, device = task.options.mask, task.options.device
    assert mask is not None
    if not any(given.on_gpu for given in task.given):
        require_gpu(task.S, "gpu", task.operands[0].dtype)
    if device == "cpu":
        raise SemiringError("operands of a product with a mask are on a GPU: leave out device='cpu', or pass a CuPy "
                            "array as A.get()")
    kinds = [given.kind for given in task.given]
    if kinds == ["sparse", "sparse"]:
        raise SemiringError("the winning terms of a product of two sparse matrices would be a sparse matrix of "
                            "integers, and CuPy has none: leave out device='gpu', and pass a matrix on a GPU as "
                            "A.get()")
    A, B = task.given
    same_dtype(A, B)
    shape = product_shape(A.shape, B.shape)
    if "sparse" in kinds:  # what is not stored is zero, which wins nowhere
        refuse_unless(task.S, "absorbs")
        if len(shape.full) > 2:
            raise SemiringError(f"a sparse matrix times an array of shape {(B if kinds[0] == 'sparse' else A).shape}: "
                                "the array must be 1-D or 2-D")
    A, B = (on_device(as_dense(given)) for given in task.given)
    wanted = read_wanted(mask, task.given[0], task.given[1], shape)
    if wanted.truths is None:
        raise SemiringError("the winning terms under a sparse mask would be a sparse matrix of integers, and CuPy has "
                            "none: pass mask as a Boolean array, such as mask.toarray() != 0")
    A, B = (X.changed(answers=None, of_graph=False, library=None, labels=None, callers_dtype=X.dtype) for X in (A, B))
    inner = Task.within("matmul", A, task.options.without("mask", "device"), (None,), beside=[B])
    found, size = first_offer(inner), prod(shape.full) * (A.dtype.itemsize + NONE.itemsize)
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method=SELECT, lowering=found.lowering,
        place=found.place, work=found.work, memory=found.memory + size,
        runner=partial(_selected, task, inner, wanted.truths, shape),
        reasons={"method": "tiles take less time than single entries"},
    )


def _selected(task: Task, inner: Task, truths: Any, shape: Product, plan: Plan) -> tuple[Any, Any]:
    """The wanted entries of the whole product, and of the terms that win in it; zero and −1 elsewhere."""
    import cupy

    from semiring.kernels.cuda.compile.launch import in_words

    try:
        values, which = compute(inner)
    except OutOfRangeError:  # perhaps of an entry that is not wanted: the host finds the others, or explains
        there = replace(task.options.without("device"), mask=Mask(to_host(cupy.ascontiguousarray(truths)), False))
        found = compute(Task("matmul", task.S, [on_host(given) for given in task.given], there, (None,)))
        values, which = (np.asarray(to_host(x)) for x in found)  # answers go back to where operands came from
        return finish_product(task, values), returned(task, which)[()]
    dtype, wanted = values.dtype, truths.reshape(shape.full)
    values, which = ((x if x.dtype.names else cupy.ascontiguousarray(x)).reshape(shape.full) for x in (values, which))
    words, nothing = in_words(values), in_words(zero_of(task, dtype, shape))
    words[...] = cupy.where(wanted[..., None] if dtype.names else wanted, words, nothing)
    return finish_product(task, values), returned(task, cupy.where(wanted, which, NONE))[()]

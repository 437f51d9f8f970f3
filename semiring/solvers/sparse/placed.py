"""Sparse matrices as arrays on the GPU, for the solvers of these; answers stay there, but for graphs."""

from __future__ import annotations

from typing import Any

from semiring.operands.convert import as_dense, on_device
from semiring.operands.device import Device
from semiring.operands.devices import require_gpu, upload
from semiring.operands.operand import Operand

from ..plan import Plan
from ..task import Task, first_offer


def offer(task: Task) -> Plan:
    """What the solvers of arrays on the GPU do with the same matrices."""
    first = task.operands[0]
    require_gpu(task.S, "gpu", first.dtype)
    return first_offer(Task(task.verb, task.S, [_placed(given) for given in task.operands], task.options,
                            task.arguments))


def _placed(given: Operand) -> Operand:
    """As an array on the GPU."""
    if given.kind != "sparse":
        return on_device(given)
    dense: Any = as_dense(given)
    if given.of_graph or given.names is not None:
        return on_device(dense)
    return Device(dense.array if dense.on_gpu else upload(dense.array), given.S, given.what)

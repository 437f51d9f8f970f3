"""Move operands to the device of the computation; answers go back to where the first one came from."""

from __future__ import annotations

from collections.abc import Sequence

from .convert import as_dense, on_device, on_host
from .devices import repays, require_gpu
from .operand import Operand


def place(operands: Sequence[Operand], device: str | None, work: float = 0.0) -> list[Operand]:
    """Move the operands to one device.

    Parameters
    ----------
    operands : sequence of Operand
    device : {None, "cpu", "gpu"}
        ``None``: a GPU if one of them is there; else the host, unless the GPU is worth the copies.
    work : float, optional
        Multiply-adds, if arrays of the host may be moved to a GPU without being asked for.

    Raises
    ------
    SemiringError
        For a GPU that does not exist.
    """
    here = [given.on_gpu for given in operands]
    if not any(here) and (device == "cpu" or (device is None and not _pays(operands, work))):
        return list(operands)
    if device == "cpu":
        return [on_host(given) for given in operands]
    first = operands[0]
    if not any(here):
        require_gpu(first.S, device, first.dtype)
    return [on_device(given if given.kind != "sparse" else as_dense(given)) for given in operands]


def _pays(operands: Sequence[Operand], work: float) -> bool:
    if not work or any(given.kind != "dense" for given in operands):
        return False
    dtypes = [given.dtype for given in operands]
    return repays(operands[0].S, dtypes, sum(given.nbytes for given in operands), work)

"""Connections to several processes or machines that close a matrix together."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr

KINDS = ("mpi", "ray")


class Connection:
    """Processes that compute together; made by `semiring.connect`."""

    kind: str  # of such processes, in `semiring.solvers.ways`


class MPI(Connection):
    """The processes that an MPI launcher started; all run the same program.

    Attributes
    ----------
    world : mpi4py.MPI.Comm
    rank, size : int
        The number of this process, and the number of processes.

    Examples
    --------
    >>> import semiring as sr
    >>> here = sr.connect("mpi")  # doctest: +SKIP
    >>> here.rank, here.size  # doctest: +SKIP
    (0, 4)
    """

    kind = "mpi"

    def __init__(self, world: Any):
        self.world, self.rank, self.size = world, int(world.rank), int(world.size)

    def rows(self, part: Any) -> Rows:
        """This process's rows of a matrix that no process has as a whole.

        Parameters
        ----------
        part : ndarray, shape (rows, n)
            They follow the rows of the previous process. A process may have 0 rows.

        Returns
        -------
        Rows
            Pass it to `semiring.closure` instead of a matrix. Each process gets the same rows of the closure.

        Raises
        ------
        SemiringError
            If it is not an array with two axes.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> here = sr.connect("mpi")  # doctest: +SKIP
        >>> n = 1000 * here.size  # doctest: +SKIP
        >>> mine = np.random.default_rng(here.rank).random((1000, n))  # doctest: +SKIP
        >>> sr.closure(here.rows(mine), sr.min_plus, on=here).shape == (1000, n)  # doctest: +SKIP
        True
        """
        return Rows(part)

    def __repr__(self) -> str:
        return f"MPI, rank {self.rank} of {self.size}"


class Ray(Connection):
    """A Ray cluster, whose workers compute tiles.

    Attributes
    ----------
    ray : module
        The package, with a running cluster.
    """

    kind = "ray"

    def __init__(self, ray: Any):
        self.ray = ray

    def __repr__(self) -> str:
        return f"Ray, {self.ray.cluster_resources().get('CPU', 0):g} processors"


class Rows:
    """Some rows of a matrix, owned by one of several processes.

    Parameters
    ----------
    part : ndarray, shape (rows, n)
    """

    def __init__(self, part: Any):
        if not isinstance(part, np.ndarray) or part.ndim != 2:
            raise SemiringError(f"rows of a matrix must be an array with two axes, not {clip_repr(part)}")
        self.part = part


def connect(kind: Any) -> Any:
    """Connect to processes that compute a closure together.

    Pass the connection as ``closure(A, S, on=connect("mpi"))``.

    Parameters
    ----------
    kind : {"mpi", "ray"} or mpi4py.MPI.Comm
        "mpi": all processes that the launcher started, as in ``mpiexec -n 4 python program.py``; a communicator: some
        of these. "ray": the cluster that Ray is connected to, or a new one on this machine.

    Returns
    -------
    MPI or Ray

    Raises
    ------
    SemiringError
        For an unknown kind, and if the package mpi4py or ray, or an MPI library, is missing.

    Notes
    -----
    MPI is faster, because it sends a panel once to all processes that need it; Ray moves tiles from task to task. A
    process computes on its CPUs; with MPI and ``device="gpu"`` on a GPU.

    Examples
    --------
    Every process runs this; rank 0 has the matrix, and gets the answer:

    >>> import semiring as sr
    >>> here = sr.connect("mpi")  # doctest: +SKIP
    >>> A = load() if here.rank == 0 else None  # doctest: +SKIP
    >>> C = sr.closure(A, sr.min_plus, on=here)  # doctest: +SKIP
    """
    name = kind if isinstance(kind, str) else ""
    if name == "mpi":
        try:
            from mpi4py import MPI as library
        except ImportError:
            raise SemiringError("MPI needs the package mpi4py: pip install 'semiring[mpi]', and start the program by "
                                "mpiexec -n 4 python …") from None
        except RuntimeError as e:  # mpi4py finds no library
            raise SemiringError(f"mpi4py finds no MPI library ({str(e).splitlines()[0]}): pip install mpich, or load "
                                "the one of your site") from None
        return MPI(library.COMM_WORLD)
    if name == "ray":
        try:
            import ray
        except ImportError:
            raise SemiringError("Ray needs the package ray: pip install ray") from None
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        return Ray(ray)
    if all(hasattr(kind, name) for name in ("Split", "Ibcast", "rank", "size")):
        return MPI(kind)
    raise SemiringError(f"unknown connection {clip_repr(kind)}: it must be {' or '.join(map(repr, KINDS))}, or a "
                        "communicator of mpi4py")

"""Real and complex equations X = A X + B of a sparse matrix by iteration, until a residual that is checked is reached.

    X ← X + D,  D ≈ (1 − A)⁻¹ R,  R = B + A X − X       until |R| ≤ ρ (|A| |X| + |X| + |B|) in every entry

D is found by BiCGSTAB, one column of B at a time. Columns for which that gets stuck go on by the power series
D = R + A R + A² R + …, if A is a contraction, so that it converges; or else by GMRES. Each round begins with the
residual of what was found so far, so that entries are right which are small beside others. BiCGSTAB sees entries only
relative to the largest. The series also reaches those that walks of many edges make tiny: until then all of their
residual is left, though each term makes the largest residual smaller.

The diagonal is divided out first, as C. G. J. Jacobi did: X = (1 − diag A)⁻¹ ((A − diag A) X + B).

H. A. van der Vorst, Bi-CGSTAB (1992); Y. Saad, M. H. Schultz, GMRES (1986); on residuals of every entry W. Oettli,
W. Prager, Compatibility of approximate solution of linear equations (1964).
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any

import numpy as np

CLOSE = 16  # machine epsilons of the residual that is reached by default
GAIN = 0.5  # the share of a residual that a round must leave at most, or another way takes its place
RESTART = 60  # steps of GMRES that are orthogonal to each other
ROUND = 1e-9  # of the residual is left by a round of GMRES: a smaller share may be out of reach, by rounding
WHOLE = 240  # vertices up to which GMRES never begins anew, so that it ends in as many steps
MOST_STEPS = 5000  # products with A for a matrix of which no norm is known


class Unreached(Exception):
    """The residual was not reached: `residual` is the least that was, relative as ρ, after so many `steps`."""

    def __init__(self, residual: float, steps: int):
        super().__init__(f"a residual of {residual:.2g} after {steps} steps")
        self.residual, self.steps = residual, steps


class Equations:
    """X = A X + B for a matrix of finite numbers.

    Parameters
    ----------
    A : csr_array
    rtol : float, optional
        ρ; rounding of the sums in R is added to it, and that of X and of products to multiples of the least subnormal
        number. Default: `CLOSE` machine epsilons.

    Attributes
    ----------
    steps : int
        Products with A so far.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> E = Equations(csr_array([[0.0, 0.5], [0.25, 0.0]]))
    >>> E.norm, E.solve(np.array([7.0, 0.0])).round(12).tolist()
    (0.5, [8.0, 2.0])
    """

    def __init__(self, A: Any, rtol: float | None = None):
        self.A, self.steps = A, 0
        self._eps = float(np.finfo(A.dtype).eps)
        self.rtol = CLOSE * self._eps if rtol is None else rtol
        real, terms = A.data.real.dtype, np.diff(A.indptr) + 2
        self._allowed = (self.rtol + terms * self._eps).astype(real)
        ulp = np.finfo(real).smallest_subnormal
        self._floor = self._sizes @ np.full(A.shape[1], ulp) + (2 * terms * ulp).astype(real)

    @cached_property
    def _pivots(self) -> np.ndarray | None:
        """1 − diag A; None if that is 1, or nothing to divide by."""
        own = self.A.diagonal()
        return 1 - own if own.any() and abs(1 - own).min() > np.sqrt(self._eps) else None

    @cached_property
    def _rest(self) -> Any:
        """A without its diagonal, each row divided by what is left of 1 there."""
        if self._pivots is None:
            return self.A
        from scipy.sparse import diags_array

        rest = (self.A - diags_array(self.A.diagonal())).tocsr()
        with np.errstate(all="ignore"):
            rest.data /= np.repeat(self._pivots, np.diff(rest.indptr))
        return rest

    @cached_property
    def _sizes(self) -> Any:
        return abs(self.A) if self.A.dtype.kind == "c" or self.A.data.min(initial=0) < 0 else self.A

    @cached_property
    def norm(self) -> float:
        """The least of two norms of A without its diagonal, by rows and by columns; below 1 the power series ends."""
        if not self.A.shape[0]:
            return 0.0
        sizes, pivots = self._sizes, self._pivots
        ones = np.ones(sizes.shape[0], sizes.dtype)
        by_rows, by_columns = sizes @ ones, sizes.T @ ones
        if pivots is not None:
            own, kept = abs(self.A.diagonal()), abs(pivots)
            with np.errstate(all="ignore"):
                by_rows, by_columns = (by_rows - own) / kept, (by_columns - own) / kept
        found = min(float(by_rows.max()), float(by_columns.max()))
        return found if found == found else np.inf

    @property
    def most(self) -> float:
        """The relative residual that `solve` leaves at most, in any entry."""
        return float(self._allowed.max(initial=0))

    @property
    def kept(self) -> int:
        """Vectors that GMRES keeps, if another way may not end."""
        return 0 if self.norm < 1 else len(self._allowed) if len(self._allowed) <= WHOLE else RESTART

    @property
    def terms(self) -> float:
        """The terms of the power series, of a norm below 1, up to a relative residual of `rtol`."""
        return float(np.log(min(max(self.rtol, self._eps), GAIN)) / np.log(max(self.norm, self._eps)))

    def solve(self, b: np.ndarray, most: int = MOST_STEPS) -> np.ndarray:
        """Return x for a vector, with at most about `most` products for each way.

        Raises
        ------
        Unreached
        """
        x, best, least, smallest = np.zeros_like(b), np.zeros_like(b), np.inf, np.inf
        others: list[tuple[Any, bool]] = [(self._by_series, True)]
        if not self.norm < 1:  # where rows are of unlike sizes, small residuals count beside large ones
            others = [(partial(self._by_gmres, goal=goal), False) for goal in (ROUND, self._eps)]
        for way, converges in ((self._by_bicgstab, False), *others):
            before, end = (np.inf, np.inf), self.steps + most
            while True:
                r = self.A @ x
                r += b
                r -= x
                found, largest = self.residual(r, x, b), float(abs(r).max(initial=0))
                least = min(least, found)
                if found <= 1:
                    return x
                if largest < smallest:
                    best, smallest = x.copy(), largest
                gains = converges or found <= GAIN * before[0] or largest <= GAIN * before[1]
                if not (gains and np.isfinite(found)) or self.steps >= end:
                    break
                before = found, largest
                if self._pivots is not None:
                    r /= self._pivots
                size = self._unit(r, squares=not converges)
                r.view(r.real.dtype)[:] /= size  # complex division by subnormal numbers overflows
                d = way(r, end)
                d *= size
                d += x
                if (d == x).all():
                    break
                x = d
            x = best.copy()
        raise Unreached(least * self.rtol, self.steps)

    def residual(self, r: np.ndarray, x: np.ndarray, b: np.ndarray) -> float:
        """The largest residual of an entry, relative to what is allowed."""
        x = abs(x)
        allowed = self._sizes @ x
        allowed += x
        allowed += abs(b)
        allowed *= self._allowed
        allowed += self._floor
        with np.errstate(all="ignore"):
            found = float((abs(r) / allowed).max(initial=0))
        return found if found == found else np.inf

    @staticmethod
    def _unit(r: np.ndarray, squares: bool) -> float:
        """The power of two to divide r by: its squares stay in range, or else as few small entries underflow as can."""
        limits, exponent = np.finfo(r.dtype), int(np.frexp(abs(r).max())[1]) - 1
        return math.ldexp(1.0, exponent if squares else max(exponent - limits.maxexp // 2, limits.minexp))

    def _by_bicgstab(self, shadow: np.ndarray, end: int) -> np.ndarray:
        """d with d ≈ N d + r, N being A without its diagonal; `shadow` is r."""
        N, d, r, p, w = self._rest, np.zeros_like(shadow), shadow.copy(), shadow.copy(), np.empty_like(shadow)
        rho = _dot(r, r)
        goal = rho.real * (max(self.rtol / CLOSE, self._eps) / 16) ** 2
        with np.errstate(all="ignore"):
            while self.steps < end:
                v = N @ p
                np.subtract(p, v, out=v)
                alpha = rho / _dot(shadow, v)
                r -= np.multiply(v, alpha, out=w)
                t = N @ r
                np.subtract(r, t, out=t)
                self.steps += 2
                omega = _dot(t, r) / _dot(t, t)
                d += np.multiply(p, alpha, out=w)
                if not np.isfinite(omega):  # r is 0, or so small that its square is
                    break
                d += np.multiply(r, omega, out=w)
                r -= np.multiply(t, omega, out=w)
                if not _dot(r, r).real > goal:
                    break
                before, rho = rho, _dot(shadow, r)
                p -= np.multiply(v, omega, out=w)
                p *= rho / before * (alpha / omega)
                p += r
        return d if np.isfinite(d).all() else np.zeros_like(d)

    def _by_series(self, r: np.ndarray, end: int) -> np.ndarray:
        """The power series: as many terms as at least halve the residual twice."""
        d = r.copy()
        terms = 2 + int(np.log(GAIN / 2) / np.log(self.norm)) if self.norm else 1
        for _ in range(min(terms, end - self.steps)):
            r = self._rest @ r
            d += r
            self.steps += 1
        return d

    def _by_gmres(self, r: np.ndarray, end: int, goal: float) -> np.ndarray:
        """SciPy's GMRES, which leaves a share `goal` of r."""
        from scipy.sparse.linalg import LinearOperator, gmres

        def image(x: np.ndarray) -> np.ndarray:
            self.steps += 1
            return np.asarray(x - self._rest @ x)

        d, _ = gmres(LinearOperator(self.A.shape, image, dtype=r.dtype), r, rtol=goal,
                     restart=self.kept, maxiter=max((end - self.steps) // self.kept, 1))
        return d if np.isfinite(d).all() else np.zeros_like(r)


def _dot(x: np.ndarray, y: np.ndarray) -> Any:
    """The inner product, by one thread: those of the BLAS take longer to start than the work takes."""
    return np.einsum("i,i->", x.conj() if x.dtype.kind == "c" else x, y)

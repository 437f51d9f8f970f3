"""Derivatives of chains and scans, on arrays of NumPy and CuPy, for automatic differentiation.

Rows of a chain are y_t = (y_{t−1} ⊗ A_t) ⊗ e_t. L depends on all of them; G_t is its derivative with respect to y_t
alone, and Y_t that through all rows after it. With s = y_{t−1} ⊗ A_t,

    Y_t = G_t + Y_{t+1} ∂y_{t+1}/∂y_t,        ∂L/∂A_t = Y_t ∂y_t/∂s ∂s/∂A_t,        ∂L/∂e_t = Y_t ∂y_t/∂e_t

from the last row to the first: the backward pass of Rabiner's tutorial (1989), as a chain over the reals. For the
log-sum-exp the matrices of this chain are ∂s_j/∂y_i = exp(y_i + a_ij − s_j), the probability that state j came from i.
Their columns add up to 1, so that nothing overflows; Y_t is then the posterior probability of each state, if L is the
logarithm of the sum of the last row. If ⊕ selects, they have one entry in each column, that of the term that won.
Backward variables (`reverse=True`) are the same of transposed matrices, from the other end; the algebras that have
derivatives commute. There emissions join before the product. Compiled loops take the steps of NumPy's arrays; those of
CuPy's are many at once, and their chain over the reals is a call of `forward`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.algebra.catalogue import plus_times
from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.dense.step_gradients import FOLLOW, LINEAR, Derivatives, follow, linear
from semiring.kernels.lowering.logsum import LogSum
from semiring.operands.devices import module_of
from semiring.shapes.sequences.forward import forward
from semiring.shapes.sequences.layout import layout

from .gradients import FIELD, differentiable, scale_of, shares

TERMS = 1 << 18  # terms of steps that are held at once
ON_GPU = 1 << 24  # and on a GPU
TERM = 9e-8  # seconds that NumPy takes for one


def forward_gradients(
    S: Semiring, G: np.ndarray, rows: np.ndarray, x: np.ndarray, stack: np.ndarray,
    emissions: np.ndarray | None = None, *, lengths: Any = None, steps: int | None = None, reverse: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the derivatives for x, stack and emissions of a number whose derivative for the rows is G.

    If ⊕ selects, the whole derivative goes to the term that was chosen, the first of equal terms.

    Parameters
    ----------
    S : Semiring
    G, rows : ndarray
        `rows` is what `forward` returned for the other arguments.
    x, stack, emissions, lengths, steps, reverse
        As for `forward`, of one dtype, float32 or float64; NumPy or CuPy, and lengths on the host.

    Returns
    -------
    tuple of ndarray
        Of the shapes of x, stack and emissions. Absent elements (the algebra's zero) have the derivative 0, except over
        the reals.

    Raises
    ------
    LawError
        If the algebra has no derivatives here.
    SemiringError
        For another dtype.

    Examples
    --------
    The posterior probability of each state is a derivative:

    >>> import numpy as np
    >>> import semiring as sr
    >>> x, A = np.log([0.5, 0.5]), np.log([[0.8, 0.2], [0.2, 0.8]])
    >>> e = np.log([[0.9, 0.1], [0.1, 0.9]])
    >>> y = sr.forward(x, A, sr.log, emissions=e)
    >>> last = np.zeros((2, 2))
    >>> last[-1] = np.exp(y[-1] - np.logaddexp.reduce(y[-1]))  # of the logarithm of the sum of the last row
    >>> forward_gradients(sr.log, last, y, x, A, e)[2].round(3)
    array([[0.76, 0.24],
           [0.24, 0.76]])
    """
    form = differentiable(S, x.dtype)
    found = layout(x.shape, stack.shape, None if emissions is None else emissions.shape, lengths, steps)
    options = {"emissions": emissions, "lengths": lengths, "steps": steps, "reverse": reverse}
    work = _Backward(S, form, found.sequences(x, stack, emissions), rows, G, reverse)
    if rows.size:
        work.run(lambda: forward(x, stack, S, argmax=True, **options).back)
    dx, dA = work.dx.reshape(x.shape), work.dA.reshape(stack.shape)
    return dx, dA, None if emissions is None or work.de is None else work.de.reshape(emissions.shape)


def scan_gradients(
    S: Semiring, G: np.ndarray, products: np.ndarray, stack: np.ndarray, initial: np.ndarray | None = None, *,
    reverse: bool = False,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the derivatives for a stack and the initial matrix of a number whose derivative for the products is G.

    Parameters
    ----------
    S : Semiring
    G, products : ndarray, shape (…, T, m, n), with `reverse` (…, T, n, m)
        `products` is what `scan` returned.
    stack : ndarray, shape (…, T, n, n)
        Of dtype float32 or float64.
    initial : ndarray, shape (…, m, n), with `reverse` (…, n, m), optional
    reverse : bool

    Returns
    -------
    tuple of ndarray
        Of the shapes of `stack` and `initial`.

    Raises
    ------
    LawError
        If the algebra has no derivatives here.
    SemiringError
        For another dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[[1.0, 4.0], [2.0, 3.0]], [[5.0, 0.0], [1.0, 6.0]]])
    >>> G = np.zeros((2, 2, 2))
    >>> G[1, 0, 1] = 1  # the best walk from 0 to 1 along both matrices goes through 0
    >>> scan_gradients(sr.min_plus, G, sr.scan(A, sr.min_plus), A)[0].tolist()
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]
    """
    xp = module_of(stack)
    if reverse:
        G, products, stack = (xp.flip(x, -3).swapaxes(-1, -2) for x in (G, products, stack))
        initial = None if initial is None else initial.swapaxes(-1, -2)
        of_stack, of_initial = scan_gradients(S, G, products, stack, initial)
        return xp.flip(of_stack, -3).swapaxes(-1, -2), None if of_initial is None else of_initial.swapaxes(-1, -2)
    if not stack.size or not products.size:
        differentiable(S, stack.dtype)
        return xp.zeros_like(stack), None if initial is None else xp.zeros_like(initial)
    if initial is None:
        first, rest = stack[..., 0, :, :], stack[..., 1:, :, :]
    else:
        first, rest = initial, stack
        shape = (*products.shape[:-3], 1, *products.shape[-2:])
        products = xp.concatenate([xp.broadcast_to(initial[..., None, :, :], shape), products], -3)
        G = xp.concatenate([xp.zeros(shape, G.dtype), G], -3)
    # Every row of the products is a chain of its own, along the same matrices.
    rows, of_rows = (xp.ascontiguousarray(x.swapaxes(-2, -3)) for x in (products, G))
    of_first, of_rest, _ = forward_gradients(
        S, of_rows, rows, first, rest[..., None, :, :, :], steps=rows.shape[-2] - 1)
    of_rest = of_rest[..., 0, :, :, :]
    if initial is None:
        return xp.concatenate([of_first[..., None, :, :], of_rest], -3), None
    return of_rest, of_first


class _Backward:
    """Derivatives of all sequences, from their last rows to their first ones, some steps of all of them at once.

    Steps are counted from the row where a sequence begins, which with `reverse` is the last one.
    """

    def __init__(self, S: Semiring, form: str | LogSum, at: Any, rows: np.ndarray, G: np.ndarray, reverse: bool):
        self.algebra, self.S, self.form, self.at, self.reverse = S, S.over(at.x.dtype), form, at, reverse
        self.n, self.xp = (n := at.x.shape[-1]), module_of(at.x)
        self.rows = rows.reshape(-1, n)
        self.G = G.reshape(-1, n)
        self._clear()

    def _clear(self) -> None:
        zeros = self.xp.zeros
        self.dx, self.dA = (zeros(x.shape, x.dtype) for x in (self.at.x, self.at.A))
        self.de = None if self.at.e is None else zeros(self.at.e.shape, self.at.e.dtype)

    def run(self, winners: Callable[[], np.ndarray]) -> None:
        """Fill the derivatives; `winners` gives the terms that won, for an algebra whose ⊕ selects."""
        code = FOLLOW if self._scale is None else LINEAR
        if self.xp is not np:
            self._by_arrays()
        elif not code.repays(self.at.terms * TERM):
            code.rent(self._by_arrays)
        elif not self._by_loops(winners):
            self._clear()
            self._by_arrays()

    @property
    def _scale(self) -> float | None:
        """The factor of natural logarithms, 0 over the reals, None if ⊕ selects."""
        if isinstance(self.form, LogSum):
            return scale_of(self.form)
        return 0.0 if self.form == FIELD else None

    def _by_loops(self, winners: Callable[[], np.ndarray]) -> bool:
        """Compiled loops over the steps; whether everything was finite, which they need."""
        at = self.at
        rows, G = (np.ascontiguousarray(x, at.x.dtype) for x in (self.rows, self.G))
        there = at.lengths > 0
        ends = np.where(there, at.rows_at + (0 if self.reverse else at.lengths - 1), 0)
        last = G[ends]
        if self.form != FIELD:
            last = np.where(self._there(rows[ends]), last, last.dtype.type(0))
        Y = np.where(there[:, None], last, 0).astype(np.float64)
        if not np.isfinite(Y).all():
            return False
        found = Derivatives(rows, G, Y, self.dA, self.de)
        if self._scale is not None:
            fine = linear(at, found, self.reverse, self._scale)
        else:
            back = winners().reshape(-1, self.n)
            fine = follow(at, found, self.reverse, str(self.form), float(self.S.zero), back)
        if fine:
            live = np.flatnonzero(there)
            self._begin(live, Y[live].astype(at.x.dtype))
        return fine

    def _by_arrays(self) -> None:
        """The same on arrays, some steps of all sequences at once."""
        terms = TERMS if self.xp is np else ON_GPU
        if self.form != FIELD:  # what comes back to an absent element may be no number
            self.G = self.xp.where(self._there(self.rows), self.G, self.G.dtype.type(0))
        lengths = self.at.lengths
        end, carry = int(lengths.max()), self.xp.zeros((len(lengths), self.n), self.G.dtype)
        while end:
            first = end - 1
            for _ in range(2):  # more sequences may have the earlier steps
                first = max(0, end - max(1, terms // (int((lengths > first).sum()) * self.n**2)))
            self._steps(first, end, carry)
            end = first
        live = np.flatnonzero(lengths > 0)
        self._begin(live, carry[self._index(live)])

    def _index(self, places: np.ndarray) -> Any:
        """Places, or truth values, in the memory of the arrays."""
        return self.xp.asarray(places)

    def _begin(self, live: np.ndarray, Y: Any) -> None:
        """The derivatives of x and of the emissions where sequences begin."""
        row = self._rows(live, np.zeros((len(live), 1), np.int64))[:, 0]
        at, mine = self.at.x_at[live], Y
        if self.at.e is not None and not self.reverse:
            e_at = self.at.e_at[live] + row
            there = self._there(self.rows[self._index(self.at.rows_at[live] + row)])
            by_x, by_e = self._factors(there, self.at.x[self._index(at)], self.at.e[self._index(e_at)])
            self._add(self.de, e_at, _times(by_e, Y))
            mine = _times(by_x, Y)
        self._add(self.dx, at, mine)

    def _rows(self, live: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """The rows of sequences at some steps; the last one for steps beyond."""
        last = self.at.lengths[live, None] - 1
        steps = np.minimum(steps, last)
        return last - steps if self.reverse else steps

    def _steps(self, first: int, end: int, carry: Any) -> None:
        """Steps from `end` down to `first`; `carry` has the Y of the step `end`, and gets that of `first`."""
        at, xp = self.at, self.xp
        live = np.flatnonzero(at.lengths > first)
        going, steps = self._index(live), np.arange(first, end)[None]
        on = steps + 1 < at.lengths[live, None]
        now, then = self._rows(live, steps), self._rows(live, steps + 1)
        inside = self._index(steps < at.lengths[live, None])[..., None]
        G = xp.where(inside, self.G[self._index(at.rows_at[live, None] + now)], self.G.dtype.type(0))
        if not on.any():
            carry[going] = G[:, 0]
            return
        y, z = (self.rows[self._index(at.rows_at[live, None] + row)] for row in (now, then))
        before, after, by_e = None, None, None
        u, e_at = y, at.e_at[live, None] + (now if self.reverse else then)
        e = None if at.e is None else at.e[self._index(e_at)]
        if e is not None and self.reverse:
            u = self._times_elements(e, y)
            by_e, before = self._factors(self._there(u), e, y)
        matrix = np.minimum(at.a_at[live, None] + at.a_step * np.minimum(now, then), len(at.A) - 1)
        a = at.A[:1, None] if len(at.A) == 1 else at.A[self._index(matrix)]
        by_u, by_a, s = self._weights(u, a.swapaxes(-1, -2) if self.reverse else a, self._there(z))
        if e is not None and not self.reverse:
            after, by_e = self._factors(self._there(z), s, e)
        P = by_u if after is None else _times(by_u, after[..., None, :])
        P = P if before is None else _times(P, before[..., None])
        P = xp.where(self._index(on)[..., None, None], P, P.dtype.type(0))
        Y = _carried(P, G, carry[going])
        carry[going] = Y[:, 0]
        of_s = Y[:, 1:] if after is None else _times(after, Y[:, 1:])
        of_A = _times(by_a, of_s[..., None, :])
        some = self._index(on)
        self._add(self.dA, matrix[on], (of_A.swapaxes(-1, -2) if self.reverse else of_A)[some])
        if by_e is not None:
            of = _times(by_u, of_s[..., None, :]).sum(-1) if self.reverse else Y[:, 1:]
            self._add(self.de, e_at[on], _times(by_e, of)[some])

    def _there(self, x: Any) -> Any:
        if self.xp is not np:
            return x != x.dtype.type(self.S.zero)
        return np.asarray(~np.asarray(self.S.is_zero(x)))

    def _factors(self, there: Any, a: Any, b: Any) -> tuple[Any, Any]:
        """∂(a ⊗ b)/∂a and ∂(a ⊗ b)/∂b, element by element."""
        if self.form == FIELD:
            return b, a
        one = there.astype(a.dtype)
        return (one, one) if isinstance(self.form, LogSum) else shares(self.xp, self.form, one, a, b)

    def _times_elements(self, a: Any, b: Any) -> Any:
        """a ⊗ b, element by element, of arrays with equally many axes."""
        if self.xp is np:
            return np.asarray(self.S.mul(a, b), b.dtype)
        from semiring.kernels.cuda.choose import general_on_device
        from semiring.kernels.cuda.dense.outer import outer

        return outer(general_on_device(self.algebra, b.dtype), a, b)

    def _total(self, terms: Any) -> Any:
        """⊕ along the last axis but one, where it selects."""
        if self.xp is not np:
            return self.algebra.sum(terms, -2)
        s = terms[..., 0, :]
        for i in range(1, self.n):
            s = np.asarray(self.S.add(s, terms[..., i, :]), s.dtype)
        return s

    def _weights(self, u: Any, a: Any, there: Any) -> tuple[Any, Any, Any]:
        """∂s_j/∂u_i and ∂s_j/∂a_ij for s = u ⊗ a, and s itself, which the factors of log-sum-exp do not need."""
        if self.form == FIELD:
            return a, u[..., None], (u[..., None, :] @ a)[..., 0, :]
        left, xp = u[..., None], self.xp
        if isinstance(self.form, LogSum):
            weights = _softmax(left, a, scale_of(self.form))
            return weights, weights, u
        pair = (a, left) if self.reverse else (left, a)
        terms = self._times_elements(*pair)
        s = self._total(terms)
        won = (terms == s[..., None, :]).argmax(-2)[..., None, :]
        one = there.astype(u.dtype)
        chosen = [xp.take_along_axis(xp.broadcast_to(x, terms.shape), won, -2)[..., 0, :] for x in pair]
        found, zero = shares(xp, self.form, one, *chosen), u.dtype.type(0)
        numbers = xp.arange(self.n)[:, None]
        by_u, by_a = (xp.where(numbers == won, share[..., None, :], zero) for share in found)
        return (by_a, by_u, s) if self.reverse else (by_u, by_a, s)

    def _add(self, total: Any, at: np.ndarray, parts: Any) -> None:
        """Add to the items of a stack; several parts may belong to one of them."""
        at = np.broadcast_to(at, parts.shape[: at.ndim]).reshape(-1)
        parts = parts.reshape(len(at), *total.shape[1:])
        if len(total) == 1:
            total[0] += parts.sum(0)
        elif len(at) and np.bincount(at).max() > 1:
            self.xp.add.at(total, self._index(at), parts)
        else:
            total[self._index(at)] += parts


def _times(a: Any, b: Any) -> Any:
    """The product of two derivatives; 0 · ∞ is 0, since nothing depends on an element that no walk takes."""
    xp = module_of(a)
    with np.errstate(all="ignore"):
        product = a * b
        return product if xp.isfinite(product).all() else xp.where((a == 0) | (b == 0), product.dtype.type(0), product)


def _softmax(u: Any, a: Any, scale: float) -> Any:
    """exp(t_i − ⊕ t) of terms t = u ⊗ a, along the last axis but one; infinite terms have equal shares."""
    xp = module_of(u)
    with np.errstate(invalid="ignore"):
        terms = u + a
    if scale != 1:
        terms *= terms.dtype.type(scale)
    top, zero, low = terms.max(-2, keepdims=True), terms.dtype.type(0), terms.dtype.type(-np.inf)
    if not xp.isfinite(top).all():
        terms = xp.where(xp.isnan(terms), low, terms)  # zero ⊗ ∞
        top = terms.max(-2, keepdims=True)
        terms = xp.where(top == np.inf, xp.where(terms == np.inf, zero, low), terms)
        top = xp.where(xp.isfinite(top), top, zero)
    powers = xp.exp(terms - top)
    total = powers.sum(-2, keepdims=True)
    total[total == 0] = 1
    powers /= total
    return powers


def _carried(P: Any, G: Any, last: Any) -> Any:
    """Y_t = G_t + P_t Y_{t+1} from the last Y, which the answer ends with; all sequences side by side."""
    xp, (count, steps, n) = module_of(G), G.shape
    if all(bool(xp.isfinite(x).all()) for x in (P, G, last)):
        # (Y_t, 1) is one matrix times (Y_{t+1}, 1).
        M = xp.zeros((count, steps, n + 1, n + 1), G.dtype)
        M[..., :n, :n], M[..., :n, n], M[..., n, n] = P, G, 1
        x = xp.concatenate([last, xp.ones((count, 1), G.dtype)], 1)
        answer: np.ndarray = forward(x, M, plus_times, steps=steps, reverse=True)[..., :n]
        return answer
    Y = xp.empty((count, steps + 1, n), G.dtype)
    Y[:, steps] = last
    for t in range(steps - 1, -1, -1):
        Y[:, t] = G[:, t] + _times(P[:, t], Y[:, t + 1, None, :]).sum(-1)
    return Y

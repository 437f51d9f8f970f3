"""Whether generated algebras answer right, in every dtype they claim.

`examine` asks one algebra and returns a `Tally` of what was tried and of every difference, each with the declaration
and the smallest matrices found, as code to paste.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import bases
import numpy as np
from asking import Check, Known, extremes, overflow_checks, single_checks, sparse_checks, stack_checks
from bases import EITHER, EXISTS, NONE, UNSURE, Array
from generated import Generated, larger, number

NARROW = 4  # the answer exists and does not fit an integer dtype


@dataclass
class Difference:
    """One wrong answer, with the smallest matrices for which it is wrong."""

    algebra: str
    code: str
    zero: Any
    dtype: np.dtype
    text: str
    kind: str
    detail: str
    inputs: tuple[Array, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        lines = [f"{self.algebra}, {_dtype_text(self.dtype)}: {self.text}{note}: {self.kind}: {self.detail}"]
        lines += ["    import numpy as np, scipy.sparse as sp, semiring as sr", f"    S = {self.code}"]
        for letter, array in zip("ABC", self.inputs, strict=False):
            lines.append(f"    {letter} = {_literal(array)}")
        if "M" in self.text:
            nothing = f"np.array({number(self.zero)}, A.dtype)" if self.dtype.names else number(self.zero)
            lines.append(f"    i, j = np.nonzero(A != {nothing})")
            lines.append("    M = sr.as_graph((i, j, A[i, j]), len(A))" if self.dtype.names else
                         "    M = sp.coo_array((A[i, j], (i, j)), A.shape).tocsr()")
        lines.append(f"    print({self.text})" + f"  # {self.note}" * bool(self.note))
        return "\n".join(lines)


@dataclass
class Tally:
    """What was tried, and what was wrong."""

    counts: Counter = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Put another tally into this one."""
        self.counts.update(other.counts)
        self.differences += other.differences
        self.refused |= other.refused


def _dtype_text(dtype: np.dtype) -> str:
    return str([(f, dtype[f].str[1:]) for f in dtype.names]) if dtype.names else dtype.name


def _literal(array: Array) -> str:
    text = str(array.tolist()).replace("inf", "np.inf").replace("nan", "np.nan")
    dtype = [(f, array.dtype[f].str[1:]) for f in array.dtype.names] if array.dtype.names else array.dtype.name
    return f"np.array({text}, {dtype!r})"


def same_bytes(x: Array, y: Array) -> bool:
    """Whether two arrays hold the same, NaN included; what lies between the fields of records does not count."""
    if x.dtype.names:
        return x.dtype == y.dtype and all(same_bytes(x[f], y[f]) for f in x.dtype.names)
    return bool(x.shape == y.shape and np.ascontiguousarray(x).tobytes() == np.ascontiguousarray(y).tobytes())


class Judge:
    """Compares what one algebra answers in one dtype with what is known."""

    def __init__(self, g: Generated, dtype: np.dtype, library: Any, tally: Tally):
        self.g, self.dtype, self.library, self.tally = g, dtype, library, tally
        self.closures = Known(g)

    def known(self, check: Check, inputs: Sequence[Array]) -> tuple[Array, Array, Array | None]:
        """The answers, and what is known of each matrix: also whether its answer has a place in the dtype."""
        with np.errstate(all="ignore"):
            want, code, counts = check.answer(self.closures, *inputs)
            if counts is None:
                fits = self.g.place(want, self.dtype)
                whole = all(k.kind in "iub" for k in _kinds(self.dtype))
                code = np.where(fits | (code == NONE), code, np.where((code == EXISTS) & whole, NARROW, UNSURE))
        return want, code, counts

    def wrong(self, want: Array, got: Any, inputs: Sequence[Array], counts: Array | None) -> Array:
        """Which matrices of a stack are wrong."""
        g = self.g
        if not isinstance(got, np.ndarray) or got.shape != want.shape or got.dtype != self.dtype:
            return np.ones(len(want), bool)
        scales = [g.scale(A) for A in inputs]
        scale = scales[0]
        for other in scales[1:]:
            scale = larger(scale, other)
        if counts is None:
            return g.differs(want, got, scale).any(axis=(1, 2))
        moderate = g.scale(np.where(np.isin(inputs[0], extremes(g, self.dtype)), inputs[0].dtype.type(0), inputs[0]))
        nan = np.isnan(got) if got.dtype.kind == "f" else np.zeros(got.shape, bool)
        return ((g.differs(want, got, moderate) & counts) | nan).any(axis=(1, 2))

    def ask(self, check: Check, inputs: Sequence[Array], few: int) -> None:
        """Judge the answers to stacks of inputs: all that exist in one call, and a few of the others one by one."""
        tally = self.tally
        want, code, counts = self.known(check, inputs)
        tally.counts["unsure"] += int((code == UNSURE).sum())
        exist = np.flatnonzero(code == EXISTS)
        some = [np.flatnonzero(code == c)[:few] for c in (NONE, EITHER, NARROW, UNSURE)]
        asked = len(exist) + sum(map(len, some))
        product = "matmul" in check.text or "convolve" in check.text
        tally.counts["answers" if product else "closures"] += asked
        if len(exist):
            chosen = [A[exist] for A in inputs]
            before = [A.copy() for A in chosen]
            try:
                got = check.run(*chosen)
            except Exception as error:
                suspects: Array = exist
                stack_error: Exception | None = error
            else:
                stack_error = None
                if not all(same_bytes(x, y) for x, y in zip(chosen, before, strict=True)):
                    self.report(check, "changed", "the input was changed", [A[:1] for A in chosen])
                suspects = exist[self.wrong(want[exist], got, chosen, None if counts is None else counts[exist])]
            if len(suspects):
                self.blame(check, inputs, suspects, stack_error)
        for group in some:
            for i in group:
                one = [A[i : i + 1] for A in inputs]
                fault = self.fault(check, one)
                if fault:
                    self.report(check, *fault, one)

    def blame(self, check: Check, inputs: Sequence[Array], suspects: Array, error: Exception | None) -> None:
        """Find which matrices of a stack are to blame; none, if only the stack as a whole goes wrong."""
        found = 0
        for i in suspects[:200]:
            one = [A[i : i + 1] for A in inputs]
            fault = self.fault(check, one)
            if fault:
                found += 1
                if found == 1:
                    self.report(check, *fault, one)
                else:
                    self.tally.counts["differences"] += 1
        if not found and error is None:
            detail = f"{len(suspects)} matrices are wrong in a stack of {len(inputs[0])}, and right by themselves"
            self.report(check, "stack", detail, [A[suspects] for A in inputs], shrink=False)
        elif not found and not self._may_be_refused(check, error):
            self.report(check, "stack", f"{type(error).__name__}: {error}", [A[suspects] for A in inputs], shrink=False)
        elif error is None:
            self.tally.counts["differences"] += max(len(suspects) - 200, 0)

    def fault(self, check: Check, one: Sequence[Array]) -> tuple[str, str] | None:
        """What is wrong with the answer to one matrix: the kind, and in words."""
        want, codes, counts = self.known(check, one)
        code = codes[0]
        try:
            got = check.run(*(A.copy() for A in one))
        except self.library.NoClosureError as e:
            self.tally.counts["no closure"] += 1
            if "is not known" in str(e) and (code == NARROW or (counts is not None and not counts.all())):
                return None  # numbers leave the dtype, or the rounding of large ones hides others
            if code in (EXISTS, NARROW) and not self._in_another_order(check, e):
                return "refused", f"the closure exists, and NoClosureError says: {e}"
            return None
        except self.library.SemiringError as e:
            if _says_too_narrow(e, self.dtype):
                self.tally.counts["too narrow"] += 1
                return None
            if counts is not None and not counts.all() and "no value" in str(e):
                self.tally.counts["no value"] += 1
                return None
            return ("refused", f"{type(e).__name__}: {e}") if code != UNSURE else None
        except Exception as e:
            return ("raw exception", f"{type(e).__name__}: {e}") if code != UNSURE else None
        if code == UNSURE:
            return None
        if code == NONE:
            if self.g.base.partial and check.any_order:
                return None
            return "answered", f"there is no closure, and the answer is {got[0].tolist()}"
        if code == NARROW:
            return "overflow", f"the answer does not fit {self.dtype.name}, and what comes is {got[0].tolist()}"
        if not self.wrong(want, got, one, counts)[0]:
            return None
        if code == EITHER and self.g.base.partial and self._roughly(want, got):
            return None
        if got.dtype != self.dtype:
            return "dtype", f"the answer has dtype {got.dtype}"
        kind = "NaN" if any(np.isnan(got[f] if f else got).any() for f in got.dtype.names or ("",)) else "wrong"
        right, _ = self.g.to_data(want, self.dtype)
        only = "" if counts is None else f" where {counts[0].tolist()}"
        return kind, f"{got[0].tolist()} instead of {right[0].tolist()}{only}"

    def _roughly(self, want: Array, got: Any) -> bool:
        """Whether floats agree to half of their digits: a ring's inverse is compared with no more than A X."""
        right, fits = self.g.to_data(want, self.dtype)
        if got.shape != right.shape or got.dtype != right.dtype or not fits.all():
            return False
        for f in right.dtype.names or ("",):
            x, y = (right[f], got[f]) if f else (right, got)
            if x.dtype.kind != "f":
                if not np.array_equal(x, y):
                    return False
                continue
            x, y = x.astype(float), y.astype(float)
            if not np.abs(x - y).max() <= 4 * np.finfo(got.dtype[f] if f else got.dtype).eps ** 0.5 * np.abs(x).max():
                return False
        return True

    def _may_be_refused(self, check: Check, error: Exception) -> bool:
        """Whether one matrix may be the reason that a stack is refused."""
        overflow = "limits" in check.note and ("no value" in str(error) or "is not known" in str(error))
        return overflow or _says_too_narrow(error, self.dtype) or self._in_another_order(check, error)

    def _in_another_order(self, check: Check, error: Exception) -> bool:
        """Whether a star may be undefined only because the vertices were eliminated in another order."""
        return check.any_order and self.g.base.partial and isinstance(error, self.library.NoClosureError)

    def report(self, check: Check, kind: str, detail: str, one: list[Array], shrink: bool = True) -> None:
        """Note a difference, on the smallest matrices that show it."""
        g = self.g
        self.tally.counts["differences"] += 1
        if shrink and kind != "changed" and len(self.tally.differences) < 40:
            one, detail = self.shrunk(check, kind, detail, one)
        inputs = tuple(A[0] if len(A) == 1 else A for A in one)
        self.tally.differences.append(
            Difference(g.name, g.code, g.zero, self.dtype, check.text, kind, detail, inputs, check.note)
        )

    def shrunk(self, check: Check, kind: str, detail: str, one: list[Array]) -> tuple[list[Array], str]:
        """Leave out vertices and edges, and make weights plain, as long as it still goes wrong in the same way."""
        tries, progress = 0, True
        while progress and tries < 300:
            progress = False
            for smaller in self._smaller(one):
                tries += 1
                fault = self.fault(check, smaller)
                if fault and fault[0] == kind:
                    one, detail, progress = smaller, fault[1], True
                    break
                if tries >= 300:
                    break
        return one, detail

    def _smaller(self, one: list[Array]) -> Iterator[list[Array]]:
        g = self.g
        n = one[0].shape[-1]
        for v in range(n if n > 1 else 0):
            yield [np.delete(np.delete(A, v, 1), v, 2) for A in one]
        constants, _ = g.to_data(g.base.full((2,), g.base.zero), self.dtype)
        constants[1] = g.to_data(g.base.full((1,), g.base.one), self.dtype)[0][0]
        for which, A in enumerate(one):
            for i, j in np.ndindex(n, n):
                for simple in constants:
                    if A[0, i, j] == simple:
                        break
                    changed = A.copy()
                    changed[0, i, j] = simple
                    yield [changed if k == which else B for k, B in enumerate(one)]


def _kinds(dtype: np.dtype) -> list[np.dtype]:
    return [dtype[f] for f in dtype.names] if dtype.names else [dtype]


def _says_too_narrow(error: Exception | None, dtype: np.dtype) -> bool:
    """Whether an error says that integers of this dtype cannot hold a result."""
    kinds = [k for k in _kinds(dtype) if k.kind in "iu"]
    words = (*(k.name for k in kinds), "bits", "wider")
    return bool(kinds) and isinstance(error, ValueError) and any(w in str(error) for w in words)


@dataclass(frozen=True)
class Effort:
    """How much to ask."""

    stack: int = 120  # matrices of each order in a stack
    orders: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    single: int = 4  # matrices of each order asked one by one
    dtypes: int = 3  # dtypes of an algebra that are tried
    few: int = 3  # matrices without a closure that are asked, of each stack and method
    sparse: bool = True


def dtypes_of(g: Generated, S: Any, rng: np.random.Generator, most: int) -> list[np.dtype]:
    """The default dtype and a few of the others."""
    if g.record_dtypes:
        return list(g.record_dtypes)[:most]
    others = [d for d in S.dtypes[1:] if d.kind != "b" or g.base.dtype != bases.REAL]
    rng.shuffle(others)
    return [S.default_dtype, *others[: most - 1]]


def examine(
    g: Generated, library: Any, seed: int = 0, effort: Effort | None = None, dtypes: Sequence[np.dtype] = ()
) -> Tally:
    """Ask one algebra everything, in some dtypes, and tell what was tried and what was wrong."""
    effort = effort or Effort()
    rng = np.random.default_rng([seed, sum(map(ord, g.name))])
    tally = Tally()
    tally.counts["algebras"] += 1
    try:
        S = g.declare(library)
        dtypes = dtypes or dtypes_of(g, S, rng, effort.dtypes)
    except library.SemiringError as e:
        tally.refused[g.name] = f"{type(e).__name__}: {e}"
        return tally
    except Exception as e:
        tally.counts["differences"] += 1
        detail = f"{type(e).__name__}: {e}"
        tally.differences.append(Difference(g.name, g.code, g.zero, np.dtype("f8"), "S", "raw exception", detail))
        return tally
    false = [flag for flag in S.flags if not g.base.has(flag)]
    if false:
        tally.counts["differences"] += 1
        detail = f"claimed, and false: {', '.join(false)}"
        tally.differences.append(Difference(g.name, g.code, g.zero, dtypes[0], "S.flags", "flags", detail))
    for dtype in dtypes:
        tally.counts["dtypes"] += 1
        with np.errstate(all="ignore"):
            _examine(Judge(g, dtype, library, tally), S, rng, effort)
    return tally


def _examine(judge: Judge, S: Any, rng: np.random.Generator, effort: Effort) -> None:
    g, dtype, library = judge.g, judge.dtype, judge.library
    orders = [int(n) for n in rng.permutation(effort.orders)]
    for n in orders:
        stacks = [g.draw(rng, effort.stack, n, dtype) for _ in range(3)]
        for check in stack_checks(g, S, library, rng):
            judge.ask(check, stacks[: check.inputs], effort.few)
        judge.tally.counts["matrices"] += 3 * effort.stack
    for n in orders[:4]:
        some = [g.draw(rng, effort.single, n, dtype) for _ in range(3)]
        for check in single_checks(g, S, library, rng):
            judge.ask(check, some[: check.inputs], effort.few)
        if effort.sparse and dtype.itemsize > 2:
            for check in sparse_checks(g, S, library):
                judge.ask(check, some[: check.inputs], effort.few)
    big = extremes(g, dtype)
    if len(big):
        for n in orders[:3]:
            A = g.draw(rng, effort.stack // 2, n, dtype)
            i, j = rng.integers(0, n, (2, len(A), 2))
            A[np.arange(len(A))[:, None], i, j] = rng.choice(big, i.shape)
            checks = overflow_checks(g, S, library, big) if dtype.kind == "f" else stack_checks(g, S, library, rng)
            for check in checks:
                if check.inputs == 1:
                    judge.ask(check, [A], effort.few)

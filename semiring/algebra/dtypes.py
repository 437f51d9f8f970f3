"""The dtypes that can carry an algebra: those that hold its constants, and in which its laws survive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import LawError, SemiringError, TraceError

from . import laws
from .arithmetic import Arithmetic, components
from .complexes import split_complex
from .constants import cast_constant, nearest_constant
from .elements import full, sequence
from .expression import show, typed
from .operations import BITWISE
from .witnesses import is_finite

if TYPE_CHECKING:
    from .arithmetic import Operations
    from .semiring import Semiring

SCALAR_DTYPES = tuple(
    np.dtype(d) for d in ("f8", "f4", "f2", "c16", "c8", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
)
FIELD_KINDS = "fiub"  # kinds of dtype for the components of a record
_ON_BITS = BITWISE | {"gcd", "lcm"}  # operations that do not exist on floats
_HARMLESS = frozenset(
    "minimum maximum where less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor "
    "logical_not saturating_add saturating_multiply".split()
)  # operations that cannot overflow unnoticed


def checked_fields(name: str, fields: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> dict[str, np.dtype]:
    """The components of a record, in native byte order.

    Raises
    ------
    SemiringError
        If they are not names with dtypes, or a dtype is not possible for a component.
    """
    try:
        pairs = dict(fields.items() if isinstance(fields, Mapping) else fields)
        found = {f: np.dtype(d).newbyteorder("=") for f, d in pairs.items()}
    except (TypeError, ValueError) as e:
        raise SemiringError(
            f'{name}: fields={fields!r} are not names with dtypes, such as {{"cost": "f8", "hops": "i4"}} ({e})'
        ) from None
    for f, d in found.items():
        if not isinstance(f, str) or not f.isidentifier():
            raise SemiringError(f"{name}: {f!r} cannot be a field; its name must be a Python identifier")
        if len(d.shape) > 1 or d.shape == (0,):
            raise SemiringError(f"{name}: the field {f!r} has shape {d.shape}; a vector has one axis, as in ('f8', 3)")
        if d.base.kind not in FIELD_KINDS or d.base.itemsize > 8:
            raise SemiringError(
                f"{name}: the field {f!r} cannot be {d}; components are floats of 64 bits at most, integers, truth "
                "values, or vectors of these. For elements of other kinds pass dtype=object"
            )
    return found


def safe_kinds(ops: Operations, is_tropical: bool) -> str:
    """The kinds in which no overflow can go unnoticed: always floats, complex numbers if nothing is compared.

    Sums under min or max are checked, so they count as safe.
    """
    used = ops.add.operations() | ops.raw_mul.operations()
    if used & _ON_BITS:
        return "uib"
    if used <= _HARMLESS or is_tropical:
        return "fiub" if used <= _HARMLESS else "fiu"
    return "fc" if _have_complex_meaning(ops) else "f"


def _have_complex_meaning(ops: Operations) -> bool:
    """Whether every operation has a meaning for complex numbers, which have no order."""
    try:
        split_complex((*ops.add.outputs, *ops.mul.outputs, *ops.star.outputs, ops.defined, ops.carrier))
    except TraceError:
        return False
    return True


def refusal(S: Semiring, dtype: np.dtype) -> str:
    """Why a dtype cannot hold 0 and 1; empty if it can."""
    try:
        zero = nearest_constant(S.zero, dtype)
        if S.one is not None and zero == nearest_constant(S.one, dtype) and not S.product_only:
            return f"zero and one are both {zero} and must differ"
    except (OverflowError, TypeError) as e:
        return str(e)
    return ""


def constants_refusal(S: Semiring, kinds: Sequence[np.dtype]) -> str:
    """Why expressions cannot be computed in these dtypes; empty if they can."""
    ops = S.traced
    assert ops
    try:
        for outputs in (ops.add.outputs, ops.raw_mul.outputs, ops.star.outputs, (ops.carrier,)):
            for step in typed(outputs, kinds):
                for a, d in zip(step.node.args, step.reads, strict=True):
                    if a.op == "constant":
                        cast_constant(a.value, d)
                inexact = step.node is outputs[0] and step.writes.kind == "f" != kinds[0].kind
                if len(kinds) == 1 and inexact:
                    return f"{show(step.node)} is not exact in it"
    except (OverflowError, TypeError) as e:
        return str(e)
    return ""


def ladder(dtype: np.dtype) -> list[np.dtype]:
    """The dtype and the wider ones of its kind, in order; the components of a record widen together."""
    if dtype.names:
        wide = [(f, ladder(dtype[f])[-1]) for f in dtype.names]
        # No target computes in half precision.
        least = [(f, np.dtype("f4") if dtype[f] == np.float16 else dtype[f]) for f in dtype.names]
        rungs = [np.dtype(least, align=True), np.dtype(wide, align=True)]
        return rungs[:1] if rungs[0] == rungs[1] else rungs
    sizes = {"f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "c": (8, 16)}.get(dtype.kind, ())
    return [dtype, *(np.dtype(f"{dtype.kind}{s}") for s in sizes if s > dtype.itemsize)]


def working_dtype(S: Semiring, dtype: np.dtype) -> np.dtype:
    """The narrowest dtype, at least as wide as the data's, that carries the algebra as declared.

    It must hold the constants; laws and flags must hold on random elements and at the carrier's ends.

    Raises
    ------
    SemiringError
        If no dtype does.
    """
    reasons = []
    for rung in ladder(dtype):
        why = _misfit(S, rung)
        if not why:
            return rung
        reasons.append(why)
    raise SemiringError(
        f"{S.name} cannot live in {dtype}: {reasons[0]}. Restrict the carrier, use saturating operations, or convert "
        f"the data to {S.default_dtype}"
    )


def _misfit(S: Semiring, dtype: np.dtype) -> str:
    why = constants_refusal(S, components(dtype))
    # Halves are computed in single precision; integer sums and truth values have forms that are right by themselves.
    guarded = dtype.kind in "iu" and (S.is_tropical or S.has_multiples)
    if why or dtype == np.float16 or dtype.kind == "b" or guarded or S.product_only:
        return why
    report = laws.check(Arithmetic(S, dtype, dtype, checked=False), S.elements_in(dtype), name=S.name)
    broken = [*report.failures, *(v for f, v in report.flags.items() if getattr(S, f) and not v.holds)]
    return f"in it {broken[0]}" if broken else ""


def check_neutral(S: Semiring, A: Any) -> None:
    """Refuse a carrier without 0 or 1."""
    if not A.contains(sequence([A.zero] if S.one is None else [A.zero, A.one], A.dtype)).all():
        raise SemiringError(f"{S.name}: zero or one is outside the declared carrier; widen carrier=")


def refuse_sums(S: Semiring, of_any: bool = False) -> None:
    """Refuse an algebra over which sums cannot begin with zero, as those of a product do.

    Parameters
    ----------
    S : Semiring
    of_any : bool
        Whether the terms may be any elements; they are products otherwise.

    Raises
    ------
    LawError
        For a bare product whose zero is not neutral for ⊕.
    """
    if not (S.has_neutral_zero if of_any else S.has_zero_for_products):
        broken = [v for v in S._law_report.axioms if v.law is laws.NEUTRAL]
        raise LawError(f"{S.name}: {broken[0]}, so the sums of a product cannot begin with zero: declare the neutral "
                       "element of ⊕ as zero=, or by carrier= the elements for which this one is neutral",
                       failures=broken)


def refuse(S: Semiring, report: laws.LawReport) -> None:
    """Refuse operations that are not a semiring, unless the algebra has products only."""
    if not report.failures or S.product_only:
        return
    failed = report.failures[0]
    assert failed.breach
    one = np.empty(1, failed.breach.arithmetic.dtype)  # `full` also fills vectors of records
    endless = not all(is_finite(full(one, x)).all() for x in failed.witness)
    hint = "; exclude infinities, for example by carrier=np.isfinite" if failed.law in laws.STAYS and endless else ""
    if "absorbs" in failed.law.name:
        hint += ("; zero= is the weight of a missing edge, and ⊗ must return it whenever an operand is zero: this may "
                 "need one more field, such as whether there is a walk at all, or an np.where in mul=")
    raise LawError(
        f"{S.name} is not a semiring: {failed}{hint}. Correct the operations, name the carrier "
        "in which the law holds (carrier=…), or pass product_only=True to use it for bare matrix products",
        failures=report.failures,
    )

"""`Semiring`: an algebra (S, ⊕, ⊗, 0, 1), declared by NumPy operations, and everything that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import count
from pickle import PicklingError
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from semiring.errors import LawError, SemiringError

from . import laws, stars
from .arithmetic import Arithmetic, Operations
from .declaration import functions, runs_on_objects, traced_operations
from .dtypes import check_neutral, checked_fields, refuse, safe_kinds
from .elements import equal, full, show
from .lifts import Lift
from .notation import notation_of
from .pickling import as_data, is_declared_so, key_of
from .proofs import is_bottleneck, proven_flags
from .reductions import Reductions
from .samples import Elements, elements, ordinary_elements
from .tables import dtype_text, html_table
from .verbs import verb

if TYPE_CHECKING:
    from semiring.teach.hasse import HasseDiagram
    from semiring.teach.tables import OperationTables


class Semiring(Reductions):
    """An algebra with two operations, written as expressions that run on every device.

    Parameters
    ----------
    name : str
        The name of the algebra.
    notation : str, optional
        The tuple (S, ⊕, ⊗, 0, 1) for people to read. Default: made from the expressions.
    add, mul : callable
        ⊕ and ⊗ of two elements, written with NumPy ufuncs, operators and ``np.where``. A record is passed with its
        fields as attributes; return a tuple, a mapping or one of the operands.
    zero, one : number, tuple or object
        Neutral elements of ⊕ and ⊗. Zero absorbs. ±∞ in an integer dtype are its limits. A bare product needs no `one`.
    star : callable, optional
        a* = 1 ⊕ a ⊕ a² ⊕ …, the least solution of x = 1 ⊕ a ⊗ x; return NaN (for Python objects None) if a has none.
        If ⊕ selects, `closure` and `solve` sum improving cycles by this star; the built-in algebras refuse such cycles.
        Default: a* is 1 if 1 ⊕ a = 1, and otherwise the sum of the powers if that becomes constant: within 128 powers
        in an expression; in closures of up to 4096 vertices by products, for walks of up to 2⁶⁴ edges; for Python
        objects within 1000 steps and 2¹⁷ parts. The star does not exist if the sum becomes constant only by rounding.
    lift : callable, optional
        Turns plain numbers into records, so that weights may be numbers in every matrix or graph:
        ``lambda w: (w, np.where(w == np.inf, 0, 1))``. Takes an array of float64 and returns the components. One of the
        numbers in zero must become zero: it is the weight of a missing edge. Default: numbers are refused.
    fields : mapping of str to dtype, or sequence of pairs, optional
        Components of an element that is a record, in order.
    dtype : ``object``, optional
        ``object`` if elements are Python objects; the operations are called on them one by one.
    dtypes : str, optional
        The kinds of scalar dtype the algebra lives in, of "f" float, "i" signed, "u" unsigned, "b" bool, best first.
        Default: floats, and the kinds in which the operations cannot overflow unnoticed.
    carrier : callable, optional
        Which numbers are elements, as an expression: ``lambda a: (0 <= a) & (a <= 1)``. NaN never is. For Python
        objects any predicate.
    samples : sequence, optional
        Elements to test the laws on, in addition to random ones. Default: a general set of numbers in the carrier.
    idempotent, selective, bounded, commutative : bool, optional
        a ⊕ a = a; a ⊕ b ∈ {a, b}; 1 ⊕ a = 1; a ⊗ b = b ⊗ a. If you pass a flag, it is tested on the samples. Default:
        the flag is set if it follows from the expressions, or holds on enough random elements other than 0 and 1.
        Otherwise it is unproven, and the general method is used.
    product_only : bool
        Accept operations that are not a semiring; only `matmul` takes such an algebra, if its zero is neutral for ⊕.
        Its zero absorbs only if ⊗ does so by itself. Terms are added in any order and in parts, so ⊕ should be
        associative and commutative; otherwise answers depend on the method.
    description : str
        What the closure computes.

    Attributes
    ----------
    name, notation, description : str
    zero, one : number, tuple or object
        As they were given.
    fields : dict of str to dtype, or None
        As they were given, in native byte order.
    product_only : bool
    lift : Lift or None
        A function of arrays of numbers; ``lift.absent`` is the weight of a missing edge.
    idempotent, selective, bounded, commutative : bool
        Whether the algebra has the law, as far as that is proven or declared.
    traced : Operations or None
        The operations as expressions; None if they run on Python objects.
    kinds : str
        The kinds of scalar dtype that hold the elements, best first: of "f", "i", "u" and "b".
    stages : tuple of Semiring, or None
        The two algebras of `lexicographic`: the first decides, the second breaks ties.
    refuses_cycles, sums_cycles : bool
        Whether improving cycles are refused, or summed by a declared star.
    origin : tuple or None
        A function and its arguments, which make the algebra again in another process.

    Raises
    ------
    LawError
        If an element refutes a law of semirings, or a declared flag.
    TraceError
        If an operation has no expression.
    SemiringError
        If `one` is missing, 0 or 1 is outside the carrier, no dtype holds both, `fields` or `dtype` is not possible
        for elements, or `lift` does not turn numbers into elements, and one number into zero.

    Warns
    -----
    SemiringWarning
        If operations cannot be traced, so that they run on Python objects, one by one.

    Notes
    -----
    The laws are those of closed semirings; see D. J. Lehmann, Algebraic structures for transitive closure (1977).

    Floats are computed as the expressions are written: each +, −, × and ÷ of real numbers rounds at most once, by no
    more than half a machine epsilon of its result unless it underflows; min, max, comparisons and ``np.where`` do not
    round. Half precision is computed in single, and what an operation returns is rounded to a half.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.Semiring("reliability", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
    ...             carrier=lambda a: (0 <= a) & (a <= 1))
    Semiring reliability: ({a: 0 ≤ a ≤ 1}, max(a, b), a · b, 0, 1)  idempotent, selective, bounded, commutative
    """

    name = notation = ""
    origin: tuple[Callable[..., Semiring], tuple[Any, ...]] | None = None  # how another process makes it, by name
    stages: tuple[Semiring, Semiring] | None = None  # the first decides, the second breaks ties; see lexicographic.py
    refuses_cycles = False  # improving cycles are refused, although elements better than 1 have declared stars
    sums_cycles = False  # improving cycles are summed by declared stars: set in `completed`
    idempotent = selective = bounded = commutative = False

    def __init__(
        self,
        name: str,
        notation: str = "",
        *,
        add: Callable[..., Any],
        mul: Callable[..., Any],
        zero: Any,
        one: Any = None,
        star: Callable[..., Any] | None = None,
        lift: Callable[..., Any] | None = None,
        fields: Mapping[str, Any] | Sequence[tuple[str, Any]] | None = None,
        dtype: Any = None,
        dtypes: str | None = None,
        carrier: Callable[..., Any] | None = None,
        samples: Sequence[Any] | None = None,
        idempotent: bool | None = None,
        selective: bool | None = None,
        bounded: bool | None = None,
        commutative: bool | None = None,
        product_only: bool = False,
        description: str = "",
    ):
        if one is None and not product_only:
            raise SemiringError(f"{name}: one= is missing, the neutral element of ⊗; only a bare product can omit it")
        if one is not None and not product_only and np.all(zero == one):
            raise SemiringError(f"{name}: zero and one are both {show(zero)}; they must differ")
        super().__init__()
        self.declared = self  # the algebra as declared, which users see even after `completed`
        self.name = name
        self.description = description
        self.zero, self.one = zero, one
        self.fields = checked_fields(name, fields) if fields else None  # as declared; some may be vectors
        self.product_only = product_only
        self._samples = samples
        self._callables: dict[str, Any] = functions(name, add=add, mul=mul, star=star, carrier=carrier)
        on_objects = runs_on_objects(name, self._callables, zero, one, self.fields, dtype)
        self.traced = None if on_objects else traced_operations(self, self._callables)
        self.kinds = dtypes or (safe_kinds(self.traced, self.is_tropical) if self.traced and not fields else "")
        self.notation = notation or notation_of(self, add, mul, carrier)
        home = self.default_dtype
        self._working[home] = home if self.traced is None else self._first_home(home)
        A = Arithmetic(self, home, self._working[home], checked=False)
        check_neutral(self, A)
        tried = elements(A, samples, ends=self._has_ends)
        declared = {"idempotent": idempotent, "selective": selective, "bounded": bounded, "commutative": commutative}
        proven = proven_flags(self.traced) if self.traced else frozenset()
        proven |= {flag for flag, value in declared.items() if value}
        # Sums of powers are stars once they become constant, and summing those of Python objects may take long.
        star_tried = not product_only and not (self.traced is None and star is None)
        ordinary = None if on_objects else partial(ordinary_elements, A)
        self._law_report = laws.check(A, tried, name=name, star=star_tried, proven=proven, ordinary=ordinary)
        if not self.absorbs and not product_only:  # other laws may be broken only as a consequence
            self._law_report = laws.check(laws.AsDeclared(A), tried, name=name, proven=proven, ordinary=ordinary)
        refuse(self, self._law_report)
        self._settle_flags(declared)
        if self.traced and not self.absorbs:
            self.traced.mul = self.traced.raw_mul
        self.has_reached_star = not product_only and not self.bounded and (
            self._reach_star(A, tried) if star is None else self.selective and self._reaches_its_star(A, tried)
        )
        self.lift = None if lift is None else Lift(self, lift)
        with _one_at_a_time:
            _declared[next(_numbers)] = self

    # Declaration

    @property
    def _algebra(self) -> Semiring:
        return self

    @cached_property
    def declared_as(self) -> str | None:
        """The declaration as text; None if it has functions without a name."""
        try:
            return key_of(as_data(self))
        except PicklingError:
            return None

    def _first_home(self, dtype: np.dtype) -> np.dtype:
        """The dtype in which the default dtype is computed: itself, except for halves."""
        if not dtype.names:
            return dtype
        return np.dtype([(f, "f4" if dtype[f] == np.float16 else dtype[f]) for f in dtype.names], align=True)

    def _reach_star(self, A: Arithmetic, tried: Elements) -> bool:
        """Use the sum of powers as the star if it becomes constant; return whether it ever does, beyond 1 ⊕ a = 1."""
        if self.traced is None:
            return True
        found = np.concatenate([tried.notable, tried.random])
        doublings = stars.doublings_that_reach(A, found, self.idempotent, self.selective)
        ops = self.traced
        zero, one = (stars.as_constants(self.components_of(e)) for e in (self.zero, self.one))
        reached = stars.reached_star(ops, zero, one, doublings, self.idempotent) if doublings else None
        if reached is None:
            return False
        self.traced = Operations(ops.add, ops.raw_mul, ops.mul, *reached, ops.carrier)
        return True

    def _reaches_its_star(self, A: Arithmetic, tried: Elements) -> bool:
        """Whether the declared star of a selective ⊕ is the sum of finitely many powers, for all elements."""
        found = np.concatenate([tried.notable, tried.random])
        return self.traced is not None and stars.doublings_that_reach(A, found, True, True) > 0

    @property
    def _has_ends(self) -> bool:
        """Whether numbers near an integer dtype's limits are ordinary elements.

        They are not if lowerings avoid them, nor in records, where a saturated component stands for ∞.
        """
        return not (self.fields or self.is_tropical or self.has_multiples)

    @cached_property
    def has_multiples(self) -> bool:
        """Whether ⊗ takes least common multiples, which may be very large."""
        return self.traced is not None and "lcm" in self.traced.raw_mul.operations()

    @cached_property
    def is_tropical(self) -> bool:
        """Whether ⊕ is min or max, ⊗ is +, and zero is the infinity that ⊕ ignores."""
        ops = self.traced
        if ops is None or self.fields or not ops.raw_mul.is_plain("add"):
            return False
        ignored = {"minimum": np.inf, "maximum": -np.inf}
        return any(ops.add.is_plain(op) and self.zero == infinity for op, infinity in ignored.items())

    def _settle_flags(self, declared: Mapping[str, bool | None]) -> None:
        report = self._law_report
        for flag, value in declared.items():
            verdict = report.flags.get(flag)
            if value and verdict is not None and not verdict.holds:
                raise LawError(f"{self.name} was declared {flag}, but {verdict}; drop the flag or mend the operations",
                               failures=[verdict])
        self.idempotent, self.selective, self.bounded, self.commutative = (
            report.derived.get(f, False) if declared[f] is None else bool(declared[f]) for f in laws.FLAGS
        )

    @cached_property
    def may_diverge(self) -> bool:
        """Whether cycles may improve without end: ⊕ selects, and some 1 ⊕ a ≠ 1."""
        return self.selective and not self.bounded and not self.has_reached_star and not self.sums_cycles

    @cached_property
    def completed(self) -> Semiring | None:
        """The algebra that sums improving cycles by the declared star, or None.

        None: no star is declared for them. Cycles are still searched for, and if none improves by more than rounding,
        this algebra is not used.
        """
        if not self.may_diverge or self.refuses_cycles or not self.declares_star:
            return None
        A, tried = self.over(self.default_dtype), self.elements_in(self.default_dtype)
        found = np.concatenate([tried.notable, tried.random])
        one = full(found, A.one)
        better = found[~equal(A.add(one, found), one)]
        return self.summing if np.any(A.defined(better)) else None

    @cached_property
    def summing(self) -> Semiring:
        """The same algebra, in which improving cycles have sums other than 1."""
        made = self._made_again()
        made.sums_cycles, made.declared, made.origin = True, self.declared, (_summing, (self,))
        return made

    @cached_property
    def sums_powers(self) -> bool:
        """Whether sums of powers replace a star that is not declared."""
        return not (self.product_only or self.bounded or self.declares_star or self.traced is None)

    @cached_property
    def opposite(self) -> Semiring:
        """The same algebra with the operands of ⊗ exchanged.

        The transposed X = X ⊗ A ⊕ B is X = A ⊗ X ⊕ B over it.
        """
        made = self._made_again()
        made._arithmetic = {}
        mul, ops = self._callables["mul"], self.traced
        made._callables = self._callables | {"mul": lambda a, b: mul(b, a)}
        if ops is not None:
            raw, guarded = ops.raw_mul.exchanged(), ops.mul.exchanged()
            made.traced = Operations(ops.add, raw, guarded, ops.star, ops.defined, ops.carrier)
        made.declared, made.origin = self.declared, (_opposite, (self,))
        return made

    def _made_again(self) -> Semiring:
        """A copy without what was found on demand."""
        made = object.__new__(Semiring)
        found = [k for k in vars(self) if isinstance(getattr(Semiring, k, None), cached_property)]
        vars(made).update({k: v for k, v in vars(self).items() if k not in found})
        return made

    @property
    def how_written(self) -> str:
        """A hint for messages: how an element that is a Python object is written."""
        if self.traced is not None:
            return ""
        samples = self.samples()
        some = next((x for x in samples[2:] if x not in (self.zero, self.one)), self.one)
        return f"; an element is written as {getattr(some, 'written', None) or repr(some)}"

    @property
    def declares_star(self) -> bool:
        """Whether a star was declared; otherwise it is a sum of powers."""
        return self._callables["star"] is not None

    @cached_property
    def has_unit_stars(self) -> bool:
        """Whether every star is 1 wherever a closure exists."""
        return self.bounded or self.may_diverge

    @cached_property
    def is_bottleneck(self) -> bool:
        """Whether ⊕ takes the better, ⊗ the worse of two: a walk is its worst edge."""
        return is_bottleneck(self)

    @property
    def absorbs(self) -> bool:
        """Whether 0 ⊗ a = a ⊗ 0 = 0; in a bare product this may not hold."""
        return all(v.holds for v in self._law_report.axioms if "absorbs" in v.law.name)

    @property
    def has_neutral_zero(self) -> bool:
        """Whether 0 ⊕ a = a for each a; a bare product may lack this."""
        return not self.product_only or all(v.holds for v in self._law_report.axioms if v.law is laws.NEUTRAL)

    @cached_property
    def has_zero_for_products(self) -> bool:
        """Whether 0 ⊕ (a ⊗ b) = a ⊗ b, so that products may begin with 0.

        If ⊕ is the maximum and ⊗ the distance of two numbers they may, though 0 is not neutral for −1.
        """
        if self.has_neutral_zero:
            return True
        A = laws.AsDeclared(self.over(self.default_dtype).unchecked)
        notable, random, _ = self.elements_in(self.default_dtype)
        return laws.judge(laws.NEUTRAL_FOR_PRODUCTS, A, notable, random).holds

    # Tables and drawings

    def table(self, elements: Sequence[Any] | np.ndarray | None = None, dtype: Any = None) -> OperationTables:
        """Make the tables of ⊕ and ⊗, and the stars, of a few elements.

        Parameters
        ----------
        elements : sequence or array, shape (count,), optional
            At most 64 elements; duplicates are dropped. Default: all elements that ⊕ and ⊗ make of 0, 1 and the samples
            if there are at most 16 (the whole of a small algebra); otherwise the ten simplest samples.
        dtype : dtype or what `numpy.dtype` takes, optional
            Default: the dtype of an array of elements, or the algebra's own.

        Returns
        -------
        OperationTables
            It prints as tables, and has `add`, `mul`, `star` and `elements` as arrays.

        Raises
        ------
        SemiringError
            If something is not an element, there are no or too many elements, the algebra cannot live in the dtype, or
            a sum or product does not fit it.
        TypeError
            If NumPy knows no such dtype.

        Examples
        --------
        >>> import semiring as sr
        >>> print(sr.gcd_lcm.table([0, 1, 2, 3, 4]))
        gcd-lcm on 5 elements, of which ⊕ and ⊗ make others, too
        <BLANKLINE>
        ⊕  0  1  2  3  4    ⊗  0  1  2   3   4    a  a*
        0  0  1  2  3  4    0  0  0  0   0   0    0   1
        1  1  1  1  1  1    1  0  1  2   3   4    1   1
        2  2  1  2  1  2    2  0  2  2   6   4    2   1
        3  3  1  1  3  1    3  0  3  6   3  12    3   1
        4  4  1  2  1  4    4  0  4  4  12   4    4   1
        """
        made: OperationTables = verb("OperationTables").of(self, elements, dtype)
        return made

    def hasse(self, elements: Sequence[Any] | np.ndarray | None = None, dtype: Any = None) -> HasseDiagram:
        """Make the Hasse diagram of the natural order a ≤ b ⇔ a ⊕ b = b; ⊕ is idempotent.

        Parameters
        ----------
        elements : sequence or array, shape (count,), optional
            As for `table`; of an infinite total order by default only seven, with zero, one and the two ends.
        dtype : dtype or what `numpy.dtype` takes, optional
            As for `table`.

        Returns
        -------
        HasseDiagram
            It prints as levels, a notebook draws it, and it has `covers`, the pairs of neighbours, and `levels`.

        Raises
        ------
        LawError
            If ⊕ is not idempotent, or not known to be, or does not order the elements.
        SemiringError
            If something is not an element, there are no or too many elements, the algebra cannot live in the dtype, or
            a sum or product does not fit it.
        TypeError
            If NumPy knows no such dtype.

        Notes
        -----
        If ⊕ takes the better of two, the better one is higher: in min-plus the smaller number.

        Examples
        --------
        >>> import semiring as sr
        >>> print(sr.min_plus.hasse([0, 1, float("inf")]))
        Natural order of min-plus on 3 elements: a ≤ b where a ⊕ b = b
          height 2: 0
          height 1: 1
          height 0: ∞
          1 < 0
          ∞ < 1
        """
        drawn: HasseDiagram = verb("HasseDiagram").of(self, elements, dtype)
        return drawn

    # Copies are the same algebra

    def __copy__(self) -> Semiring:
        return self

    def __deepcopy__(self, memo: Any) -> Semiring:
        return self

    def __reduce__(self) -> tuple[Callable[..., Semiring], tuple[Any, ...]]:
        return self.origin or (_declared_again, (as_data(self),))

    # Printing

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the flags that are set."""
        return tuple(f for f in laws.FLAGS if getattr(self, f))

    def __repr__(self) -> str:
        return f"Semiring {self.name}: {self.notation}  {', '.join(self.flags) or 'no flags'}"

    def _repr_html_(self) -> str:
        rows = {"(S, ⊕, ⊗, 0, 1)": self.notation, "flags": ", ".join(self.flags) or "none",
                "closure": self.description or "—", "dtypes": ", ".join(map(dtype_text, self.dtypes))}
        return html_table(self.name, rows.items())


_declared = WeakValueDictionary[int, Semiring]()  # algebras in use, by the order of their declaration
_numbers = count()
_one_at_a_time = Lock()


def _summing(S: Semiring) -> Semiring:
    """Complete an algebra in another process."""
    return S.summing


def _opposite(S: Semiring) -> Semiring:
    """Exchange the operands of ⊗ in another process."""
    return S.opposite


def _declared_again(data: dict[str, Any]) -> Semiring:
    """Return a pickled algebra: the last with this declaration in this process, or a new one."""
    key = key_of(data)
    with _one_at_a_time:
        latest_first = [S for _, S in sorted(_declared.items(), reverse=True)]
    alike = (S for S in latest_first if S.origin is None and S.declared_as == key)
    found = next((S for S in alike if is_declared_so(S, data)), None)
    return found or Semiring(**data)

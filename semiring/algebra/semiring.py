"""`Semiring`: an algebra (S, ⊕, ⊗, 0, 1), declared once with NumPy operations, and its arithmetic in each dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import count
from pickle import PicklingError
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from semiring.errors import LawError, SemiringError
from semiring.machine.memory import require

from . import laws, stars
from .arguments import whole_number
from .arithmetic import Arithmetic, Operations
from .constants import cast_constant
from .declaration import runs_on_objects, traced_operations
from .dtypes import SCALAR_DTYPES, check_neutral, checked_fields, refusal, refuse, safe_kinds, working_dtype
from .expression import Expression, without_minus_infinity
from .lifts import Lift
from .pickling import as_data, key_of
from .proofs import proven_flags
from .samples import Elements, elements, notable_elements
from .tables import html_table
from .vectors import flat_element, flattened
from .verbs import verb

if TYPE_CHECKING:
    from semiring.teach.hasse import HasseDiagram
    from semiring.teach.tables import OperationTables

_LARGE = 1 << 26  # bytes; larger allocations are checked against free memory


class Semiring:
    """An algebra with two operations, as expressions that run on every device.

    Parameters
    ----------
    name : str
        What to call it.
    notation : str, optional
        The tuple (S, ⊕, ⊗, 0, 1) for people to read; made from the expressions when absent.
    add, mul : callable
        ⊕ and ⊗ of two elements, written with NumPy ufuncs, operators and ``np.where``. Records arrive with their
        fields as attributes and are returned as a tuple, a mapping or one of the operands.
    zero, one : number, tuple or object
        Neutral elements of ⊕ and ⊗. Zero absorbs. ±∞ in an integer dtype are its limits. A bare product needs no one.
    star : callable, optional
        a* = 1 ⊕ a ⊕ a² ⊕ …, the least solution of x = 1 ⊕ a ⊗ x; NaN where it does not exist. When absent, a* is the
        sum of the powers where that is reached after finitely many steps (1 where 1 ⊕ a = 1), and does not exist
        elsewhere.
    lift : callable, optional
        The records that plain numbers stand for, so that weights may be numbers wherever a matrix or a graph comes in:
        ``lambda w: (w, np.where(w == np.inf, 0, 1))``. Takes an array of float64 and gives the components. One of the
        numbers in zero has to become zero: the weight of a missing edge. When absent, numbers are refused.
    fields : mapping of str to dtype, or sequence of pairs, optional
        Components of an element that is a record, in order.
    dtype : ``object``, optional
        Elements are Python objects and the operations are called on them one by one.
    dtypes : str, optional
        The kinds of scalar dtype the algebra lives in, of "f" float, "i" signed, "u" unsigned, "b" bool, best first.
        When absent: floats, and the kinds in which the operations cannot overflow unnoticed.
    carrier : callable, optional
        Which numbers are elements, as an expression: ``lambda a: (0 <= a) & (a <= 1)``. NaN never is. For Python
        objects any predicate.
    samples : sequence, optional
        Elements to try the laws on, beside random ones; a general set of numbers within the carrier when absent.
    idempotent, selective, bounded, commutative : bool, optional
        a ⊕ a = a; a ⊕ b ∈ {a, b}; 1 ⊕ a = 1; a ⊗ b = b ⊗ a. When absent they hold if they follow from the expressions,
        or were true of enough random elements of the carrier, neither 0 nor 1; in any other case they are unproven, and
        the general way runs. When given, they are tried on the same elements.
    product_only : bool
        Accept operations that are not a semiring; only `matmul` takes them. Their zero is made to absorb only if ⊗
        does so by itself.
    description : str
        What its closure computes.

    Attributes
    ----------
    name, notation, description : str
    zero, one : number, tuple or object
        As they were given.
    fields : dict of str to dtype, or None
        As they were given, in native byte order.
    product_only : bool
    lift : Lift or None
        As a function of arrays of numbers; `lift.absent` is the weight of a missing edge.
    idempotent, selective, bounded, commutative : bool
        Whether the algebra has the law, as far as is proven or was declared.

    Raises
    ------
    LawError
        When an element refutes a law of semirings, or a flag that was declared.
    TraceError
        When an operation has no expression.
    SemiringError
        When `one` is missing, 0 or 1 is outside the carrier, no dtype holds both, `fields` or `dtype` is not one
        that elements may have, or `lift` does not make elements of numbers, and zero of one of them.

    Warns
    -----
    SemiringWarning
        When operations cannot be traced, so that they run on Python objects, one by one.

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
    Semiring reliability: (S, max(a, b), a · b, 0, 1)  idempotent, selective, bounded, commutative
    """

    name = notation = ""
    origin: tuple[Callable[..., Semiring], tuple[Any, ...]] | None = None  # what gives it, by name, in another process
    stages: tuple[Semiring, Semiring] | None = None  # of which one decides, and one breaks ties; see lexicographic.py
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
            raise SemiringError(f"{name}: one= is missing, the neutral element of ⊗; only a bare product has none")
        self.name = name
        self.description = description
        self.zero, self.one = zero, one
        self.fields = checked_fields(name, fields) if fields else None  # as declared, some of them vectors
        self.product_only = product_only
        self._samples = samples
        self._callables: dict[str, Any] = {"add": add, "mul": mul, "star": star, "carrier": carrier}
        self._arithmetic: dict[np.dtype, Arithmetic] = {}
        self._resolved: dict[np.dtype, np.dtype] = {}
        self._working: dict[np.dtype, np.dtype] = {}
        on_objects = runs_on_objects(name, self._callables, zero, one, self.fields, dtype)
        self.traced = None if on_objects else traced_operations(self, self._callables)
        self.kinds = dtypes or (safe_kinds(self.traced, self.is_tropical) if self.traced and not fields else "")
        self.notation = notation or self._notation()
        home = self.default_dtype
        self._working[home] = home if self.traced is None else self._first_home(home)
        A = Arithmetic(self, home, self._working[home])
        check_neutral(self, A)
        tried = elements(A, samples, ends=self._has_ends)
        declared = {"idempotent": idempotent, "selective": selective, "bounded": bounded, "commutative": commutative}
        proven = proven_flags(self.traced) if self.traced else frozenset()
        proven |= {flag for flag, value in declared.items() if value}
        self._law_report = laws.check(A, tried, name=name, star=not product_only, proven=proven)
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

    @cached_property
    def declared_as(self) -> str | None:
        """What tells its declaration from others; None where functions are part of it that have no name."""
        try:
            return key_of(as_data(self))
        except PicklingError:
            return None

    def components_of(self, element: Any) -> tuple[Any, ...]:
        """The components of an element: one, unless it is a record.

        Parameters
        ----------
        element : number, object, tuple, list or mapping
            Of a record the fields in order, or by name.

        Returns
        -------
        tuple

        Raises
        ------
        SemiringError
            When a record has another number of components, or a vector of it another length.
        KeyError
            When a mapping lacks a field.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.components_of(3), sr.shortest_hops.components_of({"hops": 1, "cost": 2.5})
        ((3,), (2.5, 1))
        """
        if not self.fields:
            return (element,)
        if isinstance(element, Mapping):
            element = tuple(element[f] for f in self.fields)
        if isinstance(element, tuple) and len(element) == self._width != len(self.fields):
            return element  # number by number
        if not isinstance(element, (tuple, list)) or len(element) != len(self.fields):
            raise SemiringError(f"{self.name}: {element!r} needs the {len(self.fields)} components {list(self.fields)}")
        parts = flat_element(element, self.fields)
        if parts is None:
            raise SemiringError(f"{self.name}: a vector of {element!r} has another length than {self.element_dtype}")
        return tuple(parts)

    @cached_property
    def _width(self) -> int:
        """How many numbers an element has."""
        return len(flattened(self.element_dtype).names or ()) if self.fields else 1

    def _first_home(self, dtype: np.dtype) -> np.dtype:
        """Where the arithmetic of the default dtype takes place: in itself, but for halves."""
        if not dtype.names:
            return dtype
        return np.dtype([(f, "f4" if dtype[f] == np.float16 else dtype[f]) for f in dtype.names], align=True)

    def _reach_star(self, A: Arithmetic, tried: Elements) -> bool:
        """Take the sum of the powers for the star where it is reached; whether it ever is, beyond 1 ⊕ a = 1."""
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
        """Whether the star declared for a selective ⊕ is reached after finitely many steps, by all elements."""
        found = np.concatenate([tried.notable, tried.random])
        return self.traced is not None and stars.doublings_that_reach(A, found, True, True) > 0

    @property
    def _has_ends(self) -> bool:
        """Whether numbers near an integer dtype's limits are ordinary elements.

        Not where lowerings keep off them, nor in records, where a component that saturates stands for ∞.
        """
        return not (self.fields or self.is_tropical or self.has_multiples)

    @cached_property
    def has_multiples(self) -> bool:
        """Whether ⊗ takes least common multiples, which may be much larger than the operands."""
        return self.traced is not None and "lcm" in self.traced.raw_mul.operations()

    @cached_property
    def is_tropical(self) -> bool:
        """Whether ⊕ is min or max, ⊗ is +, and zero the infinity that ⊕ ignores."""
        ops = self.traced
        if ops is None or self.fields or not ops.raw_mul.is_plain("add"):
            return False
        ignored = {"minimum": np.inf, "maximum": -np.inf}
        return any(ops.add.is_plain(op) and self.zero == infinity for op, infinity in ignored.items())

    def _notation(self) -> str:
        if not self.traced:
            names = [getattr(self._callables[k], "__name__", k) for k in ("add", "mul")]
            return f"(S, {names[0]}, {names[1]}, {laws.show(self.zero)}, {laws.show(self.one)})"
        parts = [str(self.traced.add), str(self.traced.raw_mul), laws.show(self.zero)]
        return f"(S, {', '.join(parts if self.one is None else [*parts, laws.show(self.one)])})"

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
        """Whether cycles may improve without end, which shows as 1 ⊕ a ≠ 1: where ⊕ selects, and 1 is not the best."""
        return self.selective and not self.bounded and not self.has_reached_star

    @cached_property
    def has_unit_stars(self) -> bool:
        """Whether every star is 1 wherever a closure exists."""
        return self.bounded or self.may_diverge

    @cached_property
    def absorbs(self) -> bool:
        """Whether 0 ⊗ a = a ⊗ 0 = 0; of a bare product it need not be so."""
        laws_of_zero = [v for v in self._law_report.axioms if "absorbs" in v.law.name]
        return not self.product_only or all(v.holds for v in laws_of_zero)

    # Dtypes and elements

    @property
    def is_record(self) -> bool:
        """Whether an element has several named components."""
        return self.fields is not None

    @property
    def is_object(self) -> bool:
        """Whether elements are Python objects, whatever the data."""
        return self.traced is None

    @cached_property
    def dtypes(self) -> tuple[np.dtype, ...]:
        """The dtypes that can carry the algebra, best first."""
        if self.traced is None:
            return (np.dtype(object),)
        if self.fields:
            return (flattened(self.element_dtype),)
        return tuple(d for k in self.kinds for d in SCALAR_DTYPES if d.kind == k and not refusal(self, d))

    @property
    def element_dtype(self) -> np.dtype:
        """The dtype of data that bring none, as people write it: vectors of a record are fields."""
        return np.dtype(list(self.fields.items()), align=True) if self.fields else self.default_dtype

    @property
    def default_dtype(self) -> np.dtype:
        """The dtype of data that bring none.

        Raises
        ------
        SemiringError
            When no dtype can carry the algebra; then it cannot be declared.
        """
        if not self.dtypes:
            tried = {d: refusal(self, d) for k in self.kinds for d in SCALAR_DTYPES if d.kind == k}
            why = "; ".join(f"{d}: {reason}" for d, reason in tried.items()) or f"dtypes={self.kinds!r} names no kind"
            raise SemiringError(f"{self.name} lives in no dtype ({why}); see the parameter dtypes")
        return self.dtypes[0]

    def carrier_in(self, dtype: np.dtype) -> Expression:
        """The condition on elements of a dtype; of unsigned integers none is −∞ unless zero or one is.

        Parameters
        ----------
        dtype : dtype
            One that `resolve_dtype` gives, and not object.

        Returns
        -------
        Expression
            A truth value for an element.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.viterbi.carrier_in(np.dtype("f4"))
        (a ≥ 0) and (a ≤ 1)
        """
        assert self.traced
        everything = dtype.kind != "u" or -np.inf in (self.zero, self.one)
        return self.traced.carrier if everything else without_minus_infinity(self.traced.carrier)

    def working(self, dtype: np.dtype) -> np.dtype:
        """The dtype in which the algebra is computed on data of a dtype: a wider one where that is too narrow.

        Parameters
        ----------
        dtype : dtype

        Returns
        -------
        dtype
            The narrowest of its kind, and no narrower than it, in which the algebra's constants have a place and its
            laws hold.

        Raises
        ------
        SemiringError
            When there is none.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> S = sr.saturating_min_plus(1000)
        >>> S.working(np.dtype("u1")), S.working(np.dtype("u4"))
        (dtype('uint16'), dtype('uint32'))
        """
        found = self._working.get(dtype)
        if found is None:
            found = self._working[dtype] = dtype if dtype.kind == "O" else working_dtype(self, dtype)
        return found

    def resolve_dtype(self, dtype: Any) -> np.dtype:
        """The dtype of results on data of a dtype: that one, in native byte order, if it can carry the algebra.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes
            Fields of a record may be floats, integers or truth values of any size, and vectors written out as numbers.

        Returns
        -------
        dtype
            Of a record with the vectors written out.

        Raises
        ------
        SemiringError
            When the dtype cannot carry the algebra; the message names those that can.
        TypeError
            When NumPy knows no such dtype.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.resolve_dtype(">f4")
        dtype('float32')
        >>> sr.min_plus.resolve_dtype(complex)
        Traceback (most recent call last):
            ...
        semiring.errors.SemiringError: min-plus cannot live in complex128; it lives in float64, ...
        """
        dtype = np.dtype(dtype)
        found = self._resolved.get(dtype)
        if found is None:
            found = self._resolved[dtype] = self._resolve_dtype(dtype)
        return found

    def _resolve_dtype(self, dtype: np.dtype) -> np.dtype:
        if dtype.kind == "O" and not self.fields:
            return dtype
        if self.traced is not None and self.fields:
            flat = self.default_dtype.names or ()
            for order in (tuple(self.fields), flat):
                if dtype.names and set(dtype.names) == set(order) and self._has_shapes(dtype, order):
                    given = checked_fields(self.name, [(f.replace(".", "_"), dtype[f]) for f in order])
                    record = np.dtype(list(zip(order, given.values(), strict=True)), align=True)
                    self.working(flattened(record))
                    return flattened(record)
            wanted = ", ".join(f"{f} {d.name if d.subdtype is None else d}" for f, d in self.fields.items())
            raise SemiringError(f"{self.name} works on records ({wanted}), not on {dtype}; build them with S.array(…)")
        # Compared in native byte order: a file may bring the other one.
        native = dtype.newbyteorder("=")
        if native in self.dtypes:
            self.working(native)
            return native
        names = ", ".join(d.name for d in self.dtypes)
        why = refusal(self, dtype) if self.traced and dtype in SCALAR_DTYPES and dtype.kind in self.kinds else ""
        raise SemiringError(
            f"{self.name} cannot live in {dtype.name}{f' ({why})' if why else ''}; it lives in {names}. "
            f"Convert the data, for example with .astype({self.default_dtype.name!r})"
        )

    def _has_shapes(self, dtype: np.dtype, names: Sequence[str]) -> bool:
        """Whether the vectors of a record dtype are as long as the algebra's."""
        return all(dtype[f].shape == (self.fields or {}).get(f, np.dtype("f8")).shape for f in names)

    def over(self, dtype: Any) -> Arithmetic:
        """The algebra's operations on arrays of a dtype.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes

        Returns
        -------
        Arithmetic
            With `add`, `mul`, `star`, `zero`, `one`, and `contains`, which says what is an element.

        Raises
        ------
        SemiringError
            When neither the dtype nor a wider one of its kind can carry the algebra.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> A = sr.min_plus.over("f4")
        >>> A.zero, A.contains(np.array([1, np.nan], np.float32))
        (np.float32(inf), array([ True, False]))
        """
        dtype = np.dtype(dtype)
        found = self._arithmetic.get(dtype)
        if found is None:
            found = self._arithmetic[dtype] = Arithmetic(self, dtype, self.working(dtype))
        return found

    def zero_in(self, dtype: Any) -> Any:
        """The algebra's zero as a scalar of a dtype.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes

        Returns
        -------
        scalar
            Of integers their limits stand for ±∞.

        Raises
        ------
        SemiringError
            When neither the dtype nor a wider one of its kind can carry the algebra.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.zero_in("f4"), sr.min_plus.zero_in("i2")
        (np.float32(inf), np.int16(32767))
        """
        return self.over(dtype).zero

    def one_in(self, dtype: Any) -> Any:
        """The algebra's one as a scalar of a dtype.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes

        Returns
        -------
        scalar or None
            Of integers their limits stand for ±∞. A bare product may have no one.

        Raises
        ------
        SemiringError
            When neither the dtype nor a wider one of its kind can carry the algebra.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.one_in("f4"), sr.max_min.one_in("i2")
        (np.float32(0.0), np.int16(32767))
        """
        return self.over(dtype).one

    def array(self, values: Any, dtype: Any = None) -> np.ndarray:
        """An array of elements from nested lists; tuples are records, objects stay whole.

        Parameters
        ----------
        values : sequence or array
            Nested lists, of any shape; of objects one list, or a list of lists for a matrix.
        dtype : dtype or what `numpy.dtype` takes, optional
            By default `element_dtype`.

        Returns
        -------
        ndarray, of the shape of the lists
            Whether the values are elements is not looked at.

        Raises
        ------
        ValueError, TypeError
            From NumPy: when lists differ in length, or a value has no place in the dtype.
        SemiringError
            When no dtype is given and the algebra has none.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.shortest_hops.array([[(0.0, 0), (2.5, 1)]])["cost"]
        array([[0. , 2.5]])
        """
        dtype = np.dtype(dtype) if dtype is not None else self.element_dtype
        if dtype.kind != "O" or not isinstance(values, (list, tuple)):
            return np.array(values, dtype)
        if values and all(isinstance(row, list) for row in values):
            return np.stack([laws.sequence(row, dtype) for row in values])
        return laws.sequence(values, dtype)

    def eye(self, n: int, dtype: Any = None) -> np.ndarray:
        """The n × n identity matrix: one on the diagonal, zero elsewhere.

        Parameters
        ----------
        n : int
            Rows and columns.
        dtype : dtype or what `numpy.dtype` takes, optional
            By default `element_dtype`.

        Returns
        -------
        ndarray, shape (n, n)

        Raises
        ------
        SemiringError
            When n is not a whole number, or negative; the algebra cannot live in the dtype; or n² elements do not
            fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.eye(2)
        array([[ 0., inf],
               [inf,  0.]])
        """
        n = whole_number(n, "n", 0)
        S = self.over(dtype if dtype is not None else self.default_dtype)
        if n * n * S.dtype.itemsize > _LARGE:
            require(n * n * S.dtype.itemsize, f"a {n} × {n} identity matrix of {S.dtype}")
        result = laws.full(np.empty((n, n), S.dtype), S.zero)
        for i in range(n):
            result[i, i] = S.one
        return result.view(self.element_dtype) if S.dtype == self.default_dtype else result

    def samples(self) -> np.ndarray:
        """Notable elements in the default dtype, 0 and 1 first: those that were declared, or a general set.

        Returns
        -------
        ndarray, shape (count,)
            An element may be there twice.

        Raises
        ------
        SemiringError
            When an element that was declared has another number of components than a record of the algebra.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.saturating_min_plus(255).samples().tolist()
        [255, 0, 0, 1, 2, 85, 127, 254, 255]
        """
        return notable_elements(self.over(self.default_dtype), self._samples)

    def elements_in(self, dtype: np.dtype) -> Elements:
        """Elements to try laws on in a dtype.

        Parameters
        ----------
        dtype : dtype
            One that can carry the algebra.

        Returns
        -------
        Elements
            A tuple: notable elements, random ones that are neither 0 nor 1 (both arrays of shape (count,)), and whether
            the algebra has no others. The random ones are the same in each run.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> notable, random, complete = sr.viterbi.elements_in(np.dtype("f4"))
        >>> notable[:2].tolist(), random.dtype, complete
        ([0.0, 1.0], dtype('float32'), False)
        """
        return elements(Arithmetic(self, dtype, dtype), self._samples, ends=self._has_ends)

    # Arithmetic

    def add(self, x: Any, y: Any) -> Any:
        """x ⊕ y, element by element, in the dtype of x.

        Parameters
        ----------
        x, y : array_like
            Elements, of any shapes that broadcast; tuples are records. Python objects stand in lists, or alone.

        Returns
        -------
        ndarray, of the shape that both broadcast to, or scalar
            Of the dtype of x; of the default one where x has a dtype of plain numbers (float64, int64 or bool) that the
            algebra lacks.

        Raises
        ------
        SemiringError
            When the algebra cannot live in the dtype of x, or an element or a result has no place in it.
        ValueError
            When the shapes do not broadcast.

        Notes
        -----
        Floats are rounded as `Semiring` says: not at all where ⊕ is min or max.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.add([1.0, 5.0], [3.0, 4.0])
        array([1., 4.])
        """
        return self._on_arrays("add", x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x ⊗ y, element by element, in the dtype of x; zero absorbs.

        Parameters
        ----------
        x, y : array_like
            Elements, of any shapes that broadcast; tuples are records. Python objects stand in lists, or alone.

        Returns
        -------
        ndarray, of the shape that both broadcast to, or scalar
            Of the dtype of x; of the default one where x has a dtype of plain numbers (float64, int64 or bool) that the
            algebra lacks.

        Raises
        ------
        SemiringError
            When the algebra cannot live in the dtype of x, or an element or a result has no place in it: a sum of
            integers under min or max, say, that would reach a limit, which stands for ∞.
        ValueError
            When the shapes do not broadcast.

        Notes
        -----
        Floats are rounded as `Semiring` says: once where ⊗ is + or ×, not at all where it is min or max.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.mul([1.0, 5.0], [3.0, float("inf")])
        array([ 4., inf])
        """
        return self._on_arrays("mul", x, y)

    def star(self, x: Any) -> Any:
        """x* = 1 ⊕ x ⊕ x² ⊕ …, element by element.

        Parameters
        ----------
        x : array_like, any shape
            Elements; tuples are records. Python objects stand in lists, or alone.

        Returns
        -------
        ndarray, of the shape of x, or scalar
            Of the dtype of x; of the default one where x has a dtype of plain numbers (float64, int64 or bool) that the
            algebra lacks.

        Raises
        ------
        SemiringError
            Where the star does not exist, or the algebra cannot live in the dtype of x.

        Notes
        -----
        Floats are rounded as `Semiring` says: in plus-times 1 / (1 − x) rounds twice.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.plus_times.star([0.5, 0.75])
        array([2., 4.])
        """
        array, S = self._elements(x)
        defined = S.defined(array)
        if not np.all(defined):
            bad = array[~defined].flat[0] if array.ndim else array[()]
            raise SemiringError(f"{self.name}: the star of {laws.show(bad)} does not exist")
        result = S.star(array)
        return result[()] if isinstance(result, np.ndarray) else result

    def _on_arrays(self, op: str, x: Any, y: Any) -> Any:
        x, S = self._elements(x)
        y, _ = self._elements(y, S.dtype)
        result = getattr(S, op)(x, y)
        if self.fields and isinstance(result, np.ndarray) and S.dtype == self.default_dtype:
            result = result.view(self.element_dtype)
        return result[()] if isinstance(result, np.ndarray) else result

    def _elements(self, x: Any, dtype: Any = None) -> tuple[np.ndarray, Arithmetic]:
        if isinstance(x, (np.ndarray, np.generic)):
            x = np.asarray(x)
        elif self.traced is None:
            x = laws.sequence(x, np.dtype(object)) if isinstance(x, list) else laws.sequence([x], np.dtype(object))[0:1]
            x = x if x.size != 1 else x.reshape(())
        else:
            x = np.asarray(x, self.element_dtype if self.fields else None)
        if x.dtype.names and flattened(x.dtype) != x.dtype:
            x = np.ascontiguousarray(x).view(flattened(x.dtype)).reshape(x.shape)
        S = self.over(dtype if dtype is not None else self._home(x.dtype))
        if x.dtype.kind == "f" and S.dtype.kind in "iub":
            try:
                exact = [cast_constant(v, S.dtype) for v in x.ravel().tolist()]
            except OverflowError as e:
                raise SemiringError(f"{self.name}: {e}") from None
            return np.array(exact, S.dtype).reshape(x.shape), S
        return np.asarray(x, S.dtype), S

    def _home(self, dtype: np.dtype) -> np.dtype:
        """The dtype of data, or the default one for plain Python numbers that came as int64 or float64."""
        try:
            return self.resolve_dtype(dtype)
        except SemiringError:
            if dtype in (np.dtype("i8"), np.dtype("f8"), np.dtype("?")):
                return self.default_dtype
            raise

    # What people look at

    def table(self, elements: Sequence[Any] | np.ndarray | None = None, dtype: Any = None) -> OperationTables:
        """The tables of ⊕ and ⊗, and the stars, of a few elements.

        Parameters
        ----------
        elements : sequence or array, shape (count,), optional
            At most 64 elements; of equal ones the first stays. When absent, all that 0, 1 and the samples make of each
            other if these are at most 16, which shows a small algebra whole; else the ten simplest samples.
        dtype : dtype or what `numpy.dtype` takes, optional
            By default that of an array of elements, or the algebra's own.

        Returns
        -------
        OperationTables
            It prints as tables, and has `add`, `mul`, `star` and `elements` as arrays.

        Raises
        ------
        SemiringError
            When something is not an element, nothing or too much is given, the algebra cannot live in the dtype, or a
            sum or product has no place in it.
        TypeError
            When NumPy knows no such dtype.

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
        """The natural order a ≤ b ⇔ a ⊕ b = b of an algebra whose ⊕ is idempotent, as a Hasse diagram.

        Parameters
        ----------
        elements : sequence or array, shape (count,), optional
            As for `table`.
        dtype : dtype or what `numpy.dtype` takes, optional
            As for `table`.

        Returns
        -------
        HasseDiagram
            It prints as levels, is a drawing in notebooks, and has `covers`, the pairs of neighbours, and `levels`.

        Raises
        ------
        LawError
            When ⊕ is not idempotent, or not known to be, or makes no order of the elements.
        SemiringError
            When something is not an element, nothing or too much is given, the algebra cannot live in the dtype, or a
            sum or product has no place in it.
        TypeError
            When NumPy knows no such dtype.

        Notes
        -----
        Where ⊕ takes the better of two, what is better is higher: in min-plus that is the smaller number.

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

    # Copies, which are the same algebra

    def __copy__(self) -> Semiring:
        return self

    def __deepcopy__(self, memo: Any) -> Semiring:
        return self

    def __reduce__(self) -> tuple[Callable[..., Semiring], tuple[Any, ...]]:
        return self.origin or (_declared_again, (as_data(self),))

    # Showing

    @property
    def flags(self) -> tuple[str, ...]:
        """Names of the flags that hold."""
        return tuple(f for f in laws.FLAGS if getattr(self, f))

    def __repr__(self) -> str:
        return f"Semiring {self.name}: {self.notation}  {', '.join(self.flags) or 'no flags'}"

    def _repr_html_(self) -> str:
        rows = {"(S, ⊕, ⊗, 0, 1)": self.notation, "flags": ", ".join(self.flags) or "none",
                "closure": self.description or "—", "dtypes": ", ".join(map(str, self.dtypes))}
        return html_table(self.name, rows.items())


_declared = WeakValueDictionary[int, Semiring]()  # those that are in use, by when they were declared
_numbers = count()
_one_at_a_time = Lock()


def _declared_again(data: dict[str, Any]) -> Semiring:
    """An algebra from what it was pickled as: the last that was declared so in this process, or a new one."""
    key = key_of(data)
    with _one_at_a_time:
        latest_first = [S for _, S in sorted(_declared.items(), reverse=True)]
    found = next((S for S in latest_first if S.origin is None and S.declared_as == key), None)
    return found or Semiring(**data)

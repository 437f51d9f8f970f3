"""Python's control flow while a callable is traced: the callable runs once for each outcome of its conditions.

`if`, `min(a, b)`, `and`, `or`, `not` and chained comparisons ask a symbol for its truth value. Each answer starts a
path; paths are explored depth first, and their results are joined with `where`. On a path the earlier answers are
known, so ``0 <= a <= 1`` becomes ``(0 <= a) and (a <= 1)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar

from semiring.errors import SemiringError, TraceError

from .expression import Expression, apply, constant, negation, postorder, rebuild, show, truth

LIMIT = 64  # paths through one operation

# The relations that a comparison leaves possible between two numbers: less, equal, greater, or one of them is NaN.
_LESS, _EQUAL, _GREATER, _UNORDERED = 1, 2, 4, 8
_HOLDS = {
    "less": _LESS, "less_equal": _LESS | _EQUAL, "greater": _GREATER, "greater_equal": _GREATER | _EQUAL,
    "equal": _EQUAL, "not_equal": _LESS | _GREATER | _UNORDERED,
}
_ANYTHING = _LESS | _EQUAL | _GREATER | _UNORDERED

Outputs = tuple[Expression, ...]


class TooManyBranches(TraceError):
    """An error for a callable with too many paths: a loop until something converges, or a long sort."""


class Facts:
    """The conditions that are known on a path, and what follows from them about others on the same operands."""

    def __init__(self) -> None:
        self._known: dict[Expression, bool] = {}
        self._relations: dict[tuple[Expression, Expression], int] = {}

    def assume(self, condition: Expression, value: bool) -> None:
        """Take a condition as true or false."""
        self._known[condition] = value
        if condition.op == "logical_not":
            self.assume(truth(condition.args[0]), not value)
        elif (condition.op, value) in (("logical_and", True), ("logical_or", False)):
            for part in condition.args:
                self.assume(truth(part), value)
        elif condition.op in _HOLDS:
            pair, holds = _relation(condition)
            self._relations[pair] = self._possible(pair) & (holds if value else ~holds)

    def decide(self, condition: Expression) -> bool | None:
        """The value of a condition, or None if it is unknown."""
        if condition.op == "constant":
            return bool(condition.value)
        if condition in self._known:
            return self._known[condition]
        if condition.op in _HOLDS:
            pair, holds = _relation(condition)
            possible = self._possible(pair)
            if not possible & holds:
                return False
            if not possible & ~holds:
                return True
        return None

    def _possible(self, pair: tuple[Expression, Expression]) -> int:
        return self._relations.get(pair, _EQUAL | _UNORDERED if pair[0] is pair[1] else _ANYTHING)

    def simplify(self, outputs: Sequence[Expression]) -> Outputs:
        """Expressions with known conditions replaced by their values."""
        made: dict[Expression, Expression] = {}
        for e in postorder(outputs):
            node = rebuild(e, [made[a] for a in e.args])
            value = self.decide(node) if node.is_condition else None
            made[e] = node if value is None else constant(value)
        return tuple(made[e] for e in outputs)


def _relation(comparison: Expression) -> tuple[tuple[Expression, Expression], int]:
    """The operands of a comparison in a canonical order, and its meaning in that order."""
    x, y = comparison.args
    holds = _HOLDS[comparison.op]
    if id(x) <= id(y):
        return (x, y), holds
    swapped = (_GREATER if holds & _LESS else 0) | (_LESS if holds & _GREATER else 0)
    return (y, x), holds & (_EQUAL | _UNORDERED) | swapped


class _Path:
    """One run: the answers prescribed for it, those that it received, and its questions."""

    def __init__(self, script: Sequence[bool], paths: list[int]):
        self.script, self.paths = script, paths
        self.asked: list[Expression] = []
        self.answers: list[bool] = []
        self.facts = Facts()

    def answer(self, e: Expression) -> bool:
        (condition,) = self.facts.simplify([truth(e)])
        known = self.facts.decide(condition)
        if known is not None:
            return known
        if len(self.answers) < len(self.script):
            value = self.script[len(self.answers)]
        else:
            value = True
            self.paths[0] += 1
            if self.paths[0] > LIMIT:
                raise TooManyBranches(
                    f"there are more than {LIMIT} paths through its conditions, the first of which is "
                    f"{show(self.asked[0])}; write it with np.where and np.minimum, and loops with a fixed "
                    "number of rounds"
                )
        self.asked.append(condition)
        self.answers.append(value)
        self.facts.assume(condition, value)
        return value


_path: ContextVar[_Path | None] = ContextVar("path", default=None)


def decide(e: Expression) -> bool:
    """The truth of an expression on the path that is being traced.

    Raises
    ------
    TraceError
        If nothing is being traced.
    TooManyBranches
        If there are too many paths.
    """
    path = _path.get()
    if path is None:
        raise TraceError(f"{show(e)} is an expression while the operation is traced, and has no truth value here")
    return path.answer(e)


def explore(run: Callable[[], Outputs], undefined: Outputs) -> Outputs:
    """The result of a callable, over all paths; `undefined` where it raises an arithmetic error or a ValueError.

    Errors that every path raises are raised, and so is every other kind of error: a path that is not taken may divide
    by zero, but not misspell a name.
    """
    paths = [1]
    errors: list[Exception] = []
    ended: list[Outputs] = []

    def visit(script: list[bool]) -> Outputs:
        path = _Path(script, paths)
        token = _path.set(path)
        try:
            result = path.facts.simplify(run())
            ended.append(result)
        except SemiringError:
            raise
        except (ArithmeticError, AssertionError, ValueError) as e:
            errors.append(e)
            result = undefined
        finally:
            _path.reset(token)
        for k in reversed(range(len(script), len(path.answers))):
            other = visit([*path.answers[:k], False])
            result = tuple(_choice(path.asked[k], x, y) for x, y in zip(result, other, strict=True))
        return result

    result = visit([])
    if not ended:
        raise errors[0]
    return result


def _choice(condition: Expression, x: Expression, y: Expression) -> Expression:
    """``where(condition, x, y)`` of the results of two paths, which have much in common."""
    if x.op == y.op and x.op in ("minimum", "maximum"):
        shared = [a for a in x.args if a in y.args]
        if len(shared) == 1:
            (p,), (q,) = ([a for a in e.args if a is not shared[0]] for e in (x, y))
            return apply(x.op, shared[0], _choice(condition, p, q))
    if x.op == "where":
        inner, p, q = x.args
        if y is q:
            return apply("where", apply("logical_and", condition, inner), p, q)
        if y is p:
            return apply("where", apply("logical_or", negation(condition), inner), p, q)
        if y.op == "where" and y.args[1:] == (p, q):
            return apply("where", apply("where", condition, inner, y.args[0]), p, q)
    if y.op == "where":
        inner, p, q = y.args
        if x is p:
            return apply("where", apply("logical_or", condition, inner), p, q)
        if x is q:
            return apply("where", apply("logical_and", negation(condition), inner), p, q)
    return apply("where", condition, x, y)

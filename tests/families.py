"""The generated algebras: moved, finite and odd ones, each with its declaration as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from types import SimpleNamespace

import bases
import numpy as np
import record_bases
from bases import REAL, Base, Tables
from generated import STAY, Generated, Move, number

inf = np.inf

MOVES = (
    STAY,
    Move("x + 100", lambda x: x + 100, lambda x: x - 100, "{x} + 100", "{x} - 100", exact=True, whole=True,
         constant=100),
    Move("3 − 2 x", lambda x: 3 - 2 * x, lambda x: (3 - x) / 2, "3 - 2 * {x}", "(3 - {x}) / 2", True, exact=True,
         constant=3),
    Move("−x", lambda x: -x, lambda x: -x, "-{x}", "-{x}", True, exact=True, whole=True),
    Move("1 − x", lambda x: 1 - x, lambda x: 1 - x, "1 - {x}", "1 - {x}", True, exact=True, whole=True, constant=1),
    Move("exp(−x)", lambda x: np.exp(-x), lambda x: -np.log(x), "np.exp(-{x})", "-np.log({x})", True),
    Move("log x", lambda x: np.log(x), lambda x: np.exp(x), "np.log({x})", "np.exp({x})", domain=(0, inf), constant=1),
    Move("x³", lambda x: x**3, np.cbrt, "{x} ** 3",
         "np.where({x} < 0, -1.0, 1.0) * np.power(np.abs({x}), 1 / 3)"),
    Move("x²", lambda x: x * x, np.sqrt, "{x} ** 2", "np.sqrt({x})", domain=(0, inf)),
    Move("√x", np.sqrt, lambda x: x * x, "np.sqrt({x})", "{x} * {x}", domain=(0, inf)),
    Move("1/x", lambda x: 1 / x, lambda x: 1 / x, "1 / {x}", "1 / {x}", True, domain=(0, inf)),
    Move("1/(1 + x)", lambda x: 1 / (1 + x), lambda x: 1 / x - 1, "1 / (1 + {x})", "1 / {x} - 1", True,
         domain=(0, inf), constant=1),
    Move("10⁻¹⁰ x", lambda x: x / REAL.type(10**10), lambda x: x * REAL.type(10**10), "{x} * 1e-10", "{x} * 1e10"),
    Move("10¹⁰ x", lambda x: x * REAL.type(10**10), lambda x: x / REAL.type(10**10), "{x} * 1e10", "{x} / 1e10"),
    Move("x/1024 − 5", lambda x: x / 1024 - 5, lambda x: (x + 5) * 1024, "{x} / 1024 - 5", "({x} + 5) * 1024",
         exact=True, constant=5),
)  # fmt: skip

MINIMA = (
    "np.minimum({a}, {b})", "np.where({a} < {b}, {a}, {b})", "np.where({b} > {a}, {a}, {b})",
    "np.where(np.logical_or({a} < {b}, {a} == {b}), {a}, {b})", "np.where({a} >= {b}, {b}, {a})",
    "-np.maximum(-{a}, -{b})", "np.where(~({a} > {b}), {a}, {b})",
)  # fmt: skip
MAXIMA = (
    "np.maximum({a}, {b})", "np.where({a} > {b}, {a}, {b})", "np.where({b} < {a}, {a}, {b})",
    "np.where(np.logical_and({a} < {b}, {a} != {b}), {b}, {a})", "np.where({a} <= {b}, {b}, {a})",
    "-np.minimum(-{a}, -{b})", "np.where(({a} < {b}) & ({a} != {b}), {b}, {a})",
)  # fmt: skip


def declaration(name: str, add: str, mul: str, zero: str, one: str, **options: str | None) -> str:
    """The text of a declaration; options that are None are left out."""
    lines = [f"add=lambda a, b: {add}", f"mul=lambda a, b: {mul}", f"zero={zero}", f"one={one}"]
    lines += [f"{key}={text}" for key, text in options.items() if text is not None]
    return f"sr.Semiring({name!r},\n    " + ",\n    ".join(lines) + ")"


def _inside(base: Base, move: Move, letter: str) -> str:
    """The condition on an element, from the ends of the base's carrier; empty if there is none."""
    low, high, brackets = base.interval
    with np.errstate(all="ignore"):
        ends = [(float(move.forth(REAL.type(v))), b in "[]") for v, b in zip((low, high), brackets, strict=True)]
    if move.falling:
        ends.reverse()
    conditions = []
    for (value, closed), sign, limit in zip(ends, (">", "<"), (-inf, inf), strict=True):
        if not (closed and value == limit):
            conditions.append(f"({letter} {sign}{'=' if closed else ''} {number(value)})")
    return " & ".join(conditions)


def moved(base: Base, move: Move, variety: int) -> Generated:
    """A base whose carrier is an interval, carried elsewhere; `variety` picks one of the ways to write it."""
    with np.errstate(all="ignore"):
        zero, one = (float(move.forth(REAL.type(e))) for e in (base.zero, base.one))
    texts, back = base.texts, move.back_text
    a, b = (f"({back.format(x=x)})" if move is not STAY else x for x in "ab")

    def literally(text: str) -> str:
        inner = text.format(a=a, b=b, one=number(base.one))
        return move.text.format(x=f"({inner})") if move is not STAY else inner

    if move.name == "log x":
        # exp would underflow far from 0: sums of logarithms are products, and logaddexp sums.
        texts = texts | {"mul": "{a} + {b}", "add": texts["add"].replace("{a} + {b}", "np.logaddexp({a}, {b})")}
        star = texts["star"].replace("1 / (1 - {a})", "-np.log(1 - np.exp({a}))").replace(", 1)", ", 0)")
        texts["star"] = star.replace(">= 1", ">= 0").replace("> 1", "> 0").replace("== 0, 1", "== -np.inf, 0")

    def plainly(text: str) -> str:
        return text.format(a="a", b="b", one=number(base.one)) if move.name == "log x" else literally(text)

    add, mul = texts["dual" if move.falling and "dual" in texts else "add"], texts["mul"]
    if "dual" in texts:
        # ⊕ only compares, so that it is itself on the other side, or its opposite.
        spellings = MINIMA if "minimum" in add else MAXIMA
        add_text = spellings[variety % len(spellings)].format(a="a", b="b")
    else:
        add_text = plainly(add)
    if "dual mul" in texts and mul.startswith("np.m") and variety % 2 and "{a}, {b}" in mul:
        mul_text = texts["dual mul" if move.falling else "mul"].format(a="a", b="b")
    else:
        mul_text = plainly(mul)
    declared = variety % 3 != 2 or not base.has("bounded")
    star = None
    if declared:
        star = f"lambda a: {number(one)}" if texts["star"] == "{one}" else f"lambda a: {plainly(texts['star'])}"
    exact = base.exact and move.exact
    samples = None
    if variety % 4 == 3:
        with np.errstate(all="ignore"):
            values = np.asarray(move.forth(np.concatenate(base.pools)))
        samples = "[" + ", ".join(dict.fromkeys(map(number, values.tolist()))) + "]"
    sums = mul in ("{a} + {b}", "np.minimum({a} + {b}, 60)")
    whole = exact and move.whole and (sums or "dual mul" in texts)
    kinds = "'fi'" if whole and base.name != "fuzzy" and variety % 2 == 0 else None
    sides = [abs(v) for v in (zero, one) if np.isfinite(v)]
    name, inside = f"{base.name}, {move.name}", _inside(base, move, "a")
    return Generated(
        name,
        declaration(name, add_text, mul_text, number(zero), number(one), star=star,
                    carrier=f"lambda a: {inside}" if inside else None, samples=samples, dtypes=kinds),
        base, (("", "", move),), zero, one,
        tolerance=0.0 if exact else 256.0,
        relative=base.has("selective") and base.texts["mul"] == "{a} * {b}" and move.constant == 0,
        largest=max([move.constant, *sides]) if move.constant else 0.0,
        declared_star=declared,
    )  # fmt: skip


def moved_reals() -> Iterator[Generated]:
    """Every interval of `bases.REALS` under every move that takes it."""
    count = 0
    for base, move in product(bases.REALS, MOVES):
        low, high, _ = base.interval
        if low < move.domain[0] or high > move.domain[1]:
            continue
        if move.name == "log x" and base.texts["mul"] != "{a} * {b}":
            continue
        if base.name == "lukasiewicz" and move.name in ("10¹⁰ x", "√x"):
            continue  # rounding alone breaks a law by 10⁻⁶: the library refuses these rightly
        with np.errstate(all="ignore"):
            ends = [float(move.forth(REAL.type(e))) for e in (low, high, base.zero, base.one)]
        if any(np.isnan(ends)) or ends[2] == ends[3]:
            continue
        count += 1
        yield moved(base, move, count)


def simplified() -> Iterator[Generated]:
    """Moved algebras as textbooks write them: norms, resistors, t-norms, logarithms of sums."""
    real = {b.name: b for b in bases.REALS}
    tenth = REAL.type(1) / 3
    eighth = Move("8 (x − 1)", lambda x: 8 * (x - 1), lambda x: x / 8 + 1, "", "", exact=True, constant=8)
    sum_of = {
        "2": Move("log₂ x", np.log2, np.exp2, "", "", constant=1),
        "−": Move("−log x", lambda x: -np.log(x), lambda x: np.exp(-x), "", "", True, constant=1),
        "3": Move("∛x", lambda x: x**tenth, lambda x: x**3, "", ""),
    }
    move = {m.name: m for m in MOVES}
    positive, unit = "lambda a: a >= 0", "lambda a: (a >= 0) & (a <= 1)"
    rows: tuple[tuple[str, str, Move, str, str, str | None, str | None], ...] = (
        ("Einstein sums", "min-times", eighth, "np.minimum(a, b)", "a + b + a * b / 8", None, positive),
        ("Hamacher products", "min-plus ≥ 0", move["1/(1 + x)"], "np.maximum(a, b)", "a * b / (a + b - a * b)",
         None, unit),
        ("conductances in series", "min-plus ≥ 0", move["1/x"], "np.maximum(a, b)", "1 / (1 / a + 1 / b)",
         "lambda a: np.inf", positive),
        ("resistors in parallel", "plus-times up to ∞", move["1/x"], "1 / (1 / a + 1 / b)", "a * b",
         "lambda a: np.where(a <= 1, 0, 1 - 1 / a)", positive),
        ("resistors in parallel, by powers", "non-negative plus-times", move["1/x"], "(a ** -1.0 + b ** -1.0) ** -1.0",
         "a * b", "lambda a: np.where(a <= 1, np.nan, 1 - 1 / a)", "lambda a: a > 0"),
        ("roots of squares, least", "min-plus ≥ 0", move["√x"], "np.minimum(a, b)", "np.sqrt(a * a + b * b)", None,
         positive),
        ("roots of squares, summed", "non-negative plus-times", move["√x"], "np.sqrt(a * a + b * b)", "a * b",
         "lambda a: np.where(a >= 1, np.nan, 1 / np.sqrt(1 - a * a))", "lambda a: (a >= 0) & (a < np.inf)"),
        ("roots of cubes, summed", "non-negative plus-times", sum_of["3"], "(a ** 3 + b ** 3) ** (1 / 3)", "a * b",
         "lambda a: np.where(a >= 1, np.nan, (1 - a ** 3) ** (-1 / 3))", "lambda a: (a >= 0) & (a < np.inf)"),
        ("probabilistic sums", "viterbi", move["1 − x"], "np.minimum(a, b)", "a + b - a * b", "lambda a: 0", unit),
        ("bounded sums", "lukasiewicz", move["1 − x"], "np.minimum(a, b)", "np.minimum(a + b, 1)", None, unit),
        ("logarithms to base 2", "plus-times up to ∞", sum_of["2"], "np.logaddexp2(a, b)", "a + b",
         "lambda a: np.where(a >= 0, np.inf, -np.log2(1 - np.exp2(a)))", None),
        ("soft minimum", "plus-times up to ∞", sum_of["−"], "-np.logaddexp(-a, -b)", "a + b",
         "lambda a: np.where(a <= 0, -np.inf, np.log(1 - np.exp(-a)))", None),
        ("maximum by absolute values", "fuzzy", STAY, "(a + b + abs(a - b)) / 2", "(a + b - abs(a - b)) / 2", None,
         unit),
        ("maximum by truth values", "fuzzy", STAY, "(a > b) * a + (a <= b) * b", "(a < b) * a + (a >= b) * b", None,
         unit),
        ("minimum by clipping", "min-plus up to 60", STAY, "np.clip(a, 0, b)", "np.clip(a + b, 0, 60)", None,
         "lambda a: (a >= 0) & (a <= 60)"),
    )  # fmt: skip
    for name, of, by, add, mul, star, carrier in rows:
        base = real[of]
        with np.errstate(all="ignore"):
            zero, one = (float(by.forth(REAL.type(e))) for e in (base.zero, base.one))
        yield Generated(
            name, declaration(name, add, mul, number(zero), number(one), star=star, carrier=carrier), base,
            (("", "", by),), zero, one, tolerance=0.0 if base.exact and by.exact else 256.0,
            relative=base.has("selective") and by.constant == 0, largest=by.constant, declared_star=star is not None,
        )  # fmt: skip


# Finite algebras.


def _by_cases(table: Sequence[Sequence[int]], labels: Sequence[int], variety: int) -> str:
    """A table of two operands as nested choices, the most frequent value last."""
    values = [v for row in table for v in row]
    usual = max(set(values), key=values.count)
    text = number(labels[usual])
    pattern = "np.logical_and(a == {}, b == {})" if variety % 2 else "(a == {}) & (b == {})"
    for i, row in enumerate(table):
        if len(set(row)) == 1 and row[0] != usual:
            text = f"np.where(a == {labels[i]}, {labels[row[0]]}, {text})"
            continue
        for j, v in enumerate(row):
            if v != usual:
                text = f"np.where({pattern.format(labels[i], labels[j])}, {labels[v]}, {text})"
    return text


def by_table(name: str, tables: Tables, labels: Sequence[int], variety: int, **texts: str) -> Generated:
    """A finite algebra with labels for its elements; operations that `texts` does not give are nested choices."""
    base = bases.finite(name, tables)
    stars = tables.stars()
    star = "np.nan"
    for label, s in zip(labels, stars, strict=True):
        if s is not None:
            star = f"np.where(a == {label}, {labels[s]}, {star})"
    declared = variety % 3 != 1
    inside = " | ".join(f"(a == {label})" for label in labels)
    kinds = "i" if min(labels) < 0 else "iu"
    code = declaration(
        name, texts.get("add", _by_cases(tables.plus, labels, variety)),
        texts.get("mul", _by_cases(tables.times, labels, variety)), number(labels[0]), number(labels[1]),
        star=f"lambda a: {star}" if declared else None,
        carrier=texts.get("carrier", f"lambda a: {inside}"),
        dtypes=repr(kinds if variety % 2 else "f" + kinds) if "dtypes" not in texts else texts["dtypes"],
        samples=repr(list(labels)) if variety % 2 else None,
    )  # fmt: skip
    return Generated(name, code, base, zero=labels[0], one=labels[1], declared_star=declared, labels=tuple(labels))


ODD = ((7, -3, 2, 0), (0, 1, 2, 3), (-128, 127, 5, 6), (1, 0, 3, 2), (100, 101, 0, 1), (-1, -2, -3, -4), (3, 2, 1, 0))


def finite_algebras() -> Iterator[Generated]:
    """All semirings of two to four elements, fields, residues, chains, lattices and relations."""
    count = 0
    for m in (2, 3, 4):
        for i, tables in enumerate(bases.all_semirings(m)):
            count += 1
            yield by_table(f"semiring {i} of {m} elements", tables, ODD[count % len(ODD)][:m], count)
    for q, (p, k, modulus, texts) in {
        4: (2, 2, (1, 1), {"add": "a ^ b", "mul": "np.where((a == 0) | (b == 0), 0, (a + b - 2) % 3 + 1)"}),
        8: (2, 3, (1, 1, 0), {"add": "a ^ b"}),
        9: (3, 2, (2, 0), {"add": "(a % 3 + b % 3) % 3 + 3 * ((a // 3 + b // 3) % 3)",
                           "mul": "((a % 3) * (b % 3) + 2 * (a // 3) * (b // 3)) % 3"
                                  " + 3 * (((a % 3) * (b // 3) + (a // 3) * (b % 3)) % 3)"}),
    }.items():  # fmt: skip
        yield by_table(f"field of {q}", bases.field(p, k, modulus), range(q), 3, dtypes="'iu'", **texts)
    for n in (4, 5, 6, 9, 11, 12):
        yield by_table(
            f"modulo {n}", bases.modulo(n), range(n), 3 + n, add=f"(a + b) % {n}", mul=f"(a * b) % {n}",
            carrier=f"lambda a: (a >= 0) & (a < {n}) & (a == np.floor(a))" if n % 2 == 0 else
            f"lambda a: (a >= 0) & (a < {n})", dtypes=repr("iu" if n % 2 else "fiu"),
        )  # fmt: skip
    for n, top in ((5, 250), (7, -3)):
        # Residues that are not those of 0 … n − 1: moved by a constant.
        low = top - n + 1
        yield by_table(
            f"modulo {n} from {low}", bases.modulo(n), range(low, top + 1), n + 4,
            add=f"(a + b - {2 * low}) % {n} + {low}", mul=f"((a - {low}) * (b - {low})) % {n} + {low}",
            dtypes="'i'" if low < 0 else "'iu'",
        )  # fmt: skip


def whole_algebras() -> Iterator[Generated]:
    """Sets as bits, divisors, relations, at home and moved by a constant."""
    for base, by in (
        (bases.bits(8), 0), (bases.bits(8, must=True), 0), (bases.bits(8), 1000), (bases.bits(4, must=True), -5),
        (bases.bits(1), 0), (bases.bits(5), 0), (bases.divisors(60), 0), (bases.divisors(60, turned=True), 0),
        (bases.divisors(30), 70), (bases.relations(), 0), (bases.relations(), -128),
    ):  # fmt: skip
        declared = by == 0 or not base.has("bounded")
        zero, one = base.zero + by, base.one + by
        a, b = ("a", "b") if not by else (f"(a - {by})", f"(b - {by})")

        def text(which: str, base: Base = base, a: str = a, b: str = b, by: int = by) -> str:
            inner = base.texts[which].format(a=a, b=b, one=base.one)
            return f"({inner}) + {by}" if by else inner

        every = np.unique(np.concatenate((*base.pools, np.array([base.zero, base.one])))) + by
        inside = f"({a} >= 0) & ({a} <= {2**8 - 1 if '8 bits' in base.name else max(every) - by})"
        if "divisors" in base.name:
            of = max(base.zero, base.one)
            inside = f"({a} > 0) & ({of} % np.maximum({a}, 1) == 0)"
        move = STAY if not by else Move(f"x + {by}", lambda x, by=by: x + by, lambda x, by=by: x - by, "", "",
                                        exact=True, whole=True)  # fmt: skip
        name = base.name + (f", x + {by}" if by else "")
        code = declaration(
            name, text("add"), text("mul"), str(zero), str(one),
            star=f"lambda a: {text('star')}" if declared else None,
            carrier=f"lambda a: {inside}", dtypes="'i'" if min(every) < 0 else "'iu'",
            samples=None if by == 0 else repr(every[:: max(len(every) // 12, 1)].tolist()),
        )  # fmt: skip
        yield Generated(name, code, base, (("", "", move),), zero, one, declared_star=declared)


# Records.


def by_components(
    name: str, base: Base, components: Sequence[tuple[str, Move, str]], add: Sequence[str], mul: Sequence[str],
    star: Sequence[str] | None, carrier: str | None, *, tolerance: float = 0.0, samples: str | None = None,
    other: Sequence[str] = (),
) -> Generated:  # fmt: skip
    """An algebra of records: a field of the library's, a move and a dtype for each field p, q, r of the base's.

    The texts name the components of the operands {x.p}, {y.p}, {x.q} and so on; `other` are dtypes to compute in, too.
    """

    def operand(letter: str) -> SimpleNamespace:
        texts = {}
        for f, (library, move, _) in zip("pqr", components, strict=False):
            text = f"{letter}.{library}"
            texts[f] = text if move is STAY else f"({move.back_text.format(x=text)})"
        return SimpleNamespace(**texts)

    x, y = operand("x"), operand("y")

    def result(texts: Sequence[str]) -> str:
        outputs = []
        for text, (_, move, _) in zip(texts, components, strict=True):
            inner = text.format(x=x, y=y)
            outputs.append(inner if move is STAY else move.text.format(x=f"({inner})"))
        return f"({', '.join(outputs)})"

    with np.errstate(all="ignore"):
        zero, one = (
            tuple(float(m.forth(REAL.type(v))) for v, (_, m, _) in zip(e, components, strict=True))
            for e in (base.zero, base.one)
        )
    fields = ", ".join(f"{library!r}: {kind!r}" for library, _, kind in components)
    lines = [
        f"fields={{{fields}}}", f"add=lambda x, y: {result(add)}", f"mul=lambda x, y: {result(mul)}",
        f"zero=({', '.join(map(number, zero))})", f"one=({', '.join(map(number, one))})",
    ]  # fmt: skip
    lines += [f"star=lambda x: {result(star)}"] if star else []
    lines += [f"carrier=lambda x: {carrier.format(x=x)}"] if carrier else []
    lines += [f"samples={samples}"] if samples else []
    names = [library for library, _, _ in components]
    dtypes = [np.dtype(list(zip(names, kinds, strict=True)), align=True)
              for kinds in ([kind for _, _, kind in components], list(other)) if kinds]  # fmt: skip
    return Generated(
        name, f"sr.Semiring({name!r},\n    " + ",\n    ".join(lines) + ")", base,
        tuple((n, f, m) for n, f, (_, m, _) in zip(names, "pqr", components, strict=False)), zero, one,
        tolerance=tolerance, declared_star=star is not None, record_dtypes=tuple(dtypes),
    )  # fmt: skip


_GUARDED = "np.where(np.logical_or({a} == 0, {b} == 0), 0, {a} * {b})"


def _of(base: Base, which: str, field: str) -> str:
    """An operation of a base on one field of records, in which 0 · ∞ has to be spelled."""
    if which == "mul" and base.texts["mul"] == "{a} * {b}" and base.interval[1:] == (inf, "[]"):
        return _GUARDED.format(a=f"{{x.{field}}}", b=f"{{y.{field}}}")
    return base.texts[which].format(a=f"{{x.{field}}}", b=f"{{y.{field}}}", one=number(base.one))


def records() -> Iterator[Generated]:
    """Direct and lexicographic products, dual numbers, triangular matrices, two best, polynomials."""
    real = {b.name: b for b in bases.REALS}
    move = {m.name: m for m in MOVES}
    for i, (p, q, first, second, kinds) in enumerate((
        ("min-plus ≥ 0", "max-min", "as it is", "as it is", ("f8", "f4")),
        ("min-plus ≥ 0", "viterbi", "x + 100", "as it is", ("f8", "f8")),
        ("viterbi", "viterbi", "as it is", "1 − x", ("f4", "f8")),
        ("max-min", "fuzzy", "−x", "as it is", ("f8", "f8")),
        ("lukasiewicz", "min-plus up to 60", "as it is", "−x", ("f8", "i4")),
        ("min-plus up to 60", "min-plus up to 60", "as it is", "x + 100", ("i2", "i8")),
        ("fuzzy", "min-times", "x + 100", "as it is", ("f8", "f8")),
        ("max-plus ≤ 0", "min-plus ≥ 0", "as it is", "3 − 2 x", ("f8", "f8")),
        ("min-plus ≥ 0", "min-plus up to 60", "√x", "as it is", ("f8", "u1")),
        ("plus-times", "plus-times", "as it is", "x + 100", ("f8", "f8")),
        ("plus-times", "min-plus ≥ 0", "as it is", "as it is", ("f8", "f4")),
        ("plus-times up to ∞", "fuzzy", "as it is", "as it is", ("f8", "f8")),
    )):  # fmt: skip
        a, b = real[p], real[q]
        moves = (move[first], move[second])
        base = record_bases.pair(a, b, i)
        exact = base.exact and all(m.exact for m in moves)
        text = {w: [_of(a, w, "p"), _of(b, w, "q")] for w in ("add", "mul", "star")}
        yield by_components(
            f"{base.name}, {first}, {second}", base, [("u", moves[0], kinds[0]), ("v", moves[1], kinds[1])],
            text["add"], text["mul"], text["star"] if i % 3 or not base.has("bounded") else None,
            " & ".join(filter(None, (_inside(a, moves[0], "x.u"), _inside(b, moves[1], "x.v")))) or None,
            tolerance=0.0 if exact else 256.0,
            samples=repr([]) if "i" in kinds[0] + kinds[1] and i % 2 else None,
        )  # fmt: skip
    less = "({x.p} < {y.p})"
    tie = "({x.p} == {y.p})"
    one_zero = "(({x.p} < np.inf) | ({x.q} == %s))"
    known = record_bases.lexicographic()
    for key, ties, times, star, inside in (
        ("counted", "{x.q} + {y.q}", _GUARDED.format(a="{x.q}", b="{y.q}"),
         "np.where(({x.p} == 0) & ({x.q} > 0), np.inf, 1)",
         "({x.p} >= 0) & ({x.q} >= 0) & (({x.q} == 0) | ({x.q} >= 1)) & " + one_zero % "0"),
        ("hops", "np.minimum({x.q}, {y.q})", "{x.q} + {y.q}", "0",
         "({x.p} >= 0) & ({x.q} >= 0) & " + one_zero % "np.inf"),
        ("signed hops", "np.minimum({x.q}, {y.q})", "{x.q} + {y.q}", None,
         "({x.p} > -np.inf) & ({x.q} >= 0) & ({x.q} < np.inf) & ({x.p} < np.inf)"
         " | ({x.p} == np.inf) & ({x.q} == np.inf)"),
        ("wide", "np.maximum({x.q}, {y.q})", "np.minimum({x.q}, {y.q})", "np.inf",
         "({x.p} >= 0) & " + one_zero % "-np.inf"),
    ):  # fmt: skip
        for first, second in (("as it is", "as it is"), ("−x", "x + 100"), ("x + 100", "−x")):
            moves = (move[first], move[second])
            add = [f"np.where({less}, {{x.p}}, {{y.p}})",
                   f"np.where({less}, {{x.q}}, np.where({tie}, {ties}, {{y.q}}))"]  # fmt: skip
            yield by_components(
                f"{known[key].name}, {first}, {second}", known[key],
                [("cost", moves[0], "f8"), ("beside", moves[1], "f8")], add, ["{x.p} + {y.p}", times],
                ["0", star] if star else None, inside, other=("f4", "f8"),
            )  # fmt: skip
    for first, second in (("as it is", "as it is"), ("−x", "x/1024 − 5")):
        yield by_components(
            f"dual numbers, {first}, {second}", record_bases.dual_numbers(),
            [("p", move[first], "f8"), ("r", move[second], "f8")], ["{x.p} + {y.p}", "{x.q} + {y.q}"],
            ["{x.p} * {y.p}", "{x.p} * {y.q} + {x.q} * {y.p}"],
            ["np.where({x.p} == 1, np.nan, 1 / (1 - {x.p}))",
             "np.where({x.p} == 1, np.nan, {x.q} / ((1 - {x.p}) * (1 - {x.p})))"],
            "(abs({x.p}) < np.inf) & (abs({x.q}) < np.inf)", tolerance=256.0,
        )  # fmt: skip
    inverse = "np.where({x.%s} == 1, np.nan, 1 / (1 - {x.%s}))"
    for p, s in (("min-plus ≥ 0", "0"), ("max-min", "np.inf"), ("plus-times", inverse)):
        a = real[p]
        plus = {f: _of(a, "add", f) for f in "pqr"}
        mul = a.texts["mul"]
        first, second = (f"({mul})".format(a=f"{{x.{f}}}", b=f"{{y.{g}}}") for f, g in ("pq", "qr"))
        above = a.texts["add"].format(a=first, b=second)
        between = "np.where(({x.p} == 1) | ({x.r} == 1), np.nan, {x.q} / ((1 - {x.p}) * (1 - {x.r})))"
        stars = [s.replace("%s", "p"), between if "%" in s else "{x.q}", s.replace("%s", "r")]
        yield by_components(
            f"triangular matrices over {p}", record_bases.triangular(a), [(f, STAY, "f8") for f in ("a", "b", "d")],
            list(plus.values()), [_of(a, "mul", "p"), above, _of(a, "mul", "r")], stars,
            " & ".join(filter(None, (_inside(a, STAY, f"x.{f}") for f in "abd"))) or None,
            tolerance=256.0 if p == "plus-times" else 0.0,
            other=("f4", "f4", "f4"),
        )  # fmt: skip
    a, b, c, d = "{x.p}", "{x.q}", "{y.p}", "{y.q}"
    yield by_components(
        "two best", record_bases.two_best(), [("d0", STAY, "f8"), ("d1", STAY, "f8")],
        [f"np.minimum({a}, {c})", f"np.minimum(np.maximum({a}, {c}), np.minimum({b}, {d}))"],
        [f"{a} + {c}", f"np.minimum({a} + {d}, {b} + {c})"], ["0", a], f"({a} >= 0) & ({b} >= {a})",
        samples="[(0, 1), (1, 1), (2.5, 7), (3, np.inf), (1, 4), (0, 0)]", other=("f4", "f4"),
    )  # fmt: skip
    for declared in (True, False):
        yield by_components(
            f"tropical polynomials, star {'declared' if declared else 'derived'}", record_bases.polynomials(),
            [(f, STAY, "f8") for f in ("c0", "c1", "c2")], [f"np.minimum({{x.{f}}}, {{y.{f}}})" for f in "pqr"],
            ["{x.p} + {y.p}", "np.minimum({x.p} + {y.q}, {x.q} + {y.p})",
             "np.minimum(np.minimum({x.p} + {y.r}, {x.r} + {y.p}), {x.q} + {y.q})"],
            ["0", "{x.q}", "np.minimum({x.r}, 2 * {x.q})"] if declared else None,
            "({x.p} >= 0) & ({x.q} >= 0) & ({x.r} >= 0)",
        )  # fmt: skip


def residue_sets() -> Iterator[Generated]:
    """Sets of residues, whose stars nobody declares."""
    for n in (4, 6):
        base = bases.sums_of_residues(n)
        code = declaration(
            base.name, "a | b", base.texts["mul"].format(a="a", b="b"), "0", "1",
            carrier=f"lambda a: (a >= 0) & (a < {2**n})", dtypes="'iu'",
        )  # fmt: skip
        yield Generated(base.name, code, base, zero=0, one=1, declared_star=False)


def families() -> dict[str, Generated]:
    """All generated algebras by name."""
    result: dict[str, Generated] = {}
    for g in (*moved_reals(), *simplified(), *finite_algebras(), *whole_algebras(), *residue_sets(), *records()):
        assert g.name not in result, g.name
        result[g.name] = g
    return result

"""The generated algebras: moved, finite and odd ones, each with its declaration as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import bases
import numpy as np
from bases import REAL, Base, Tables
from generated import MOVES, STAY, Generated, Move, declaration, inside_text, number
from record_families import records

inf = np.inf

MINIMA = (
    "np.minimum({a}, {b})", "np.where({a} < {b}, {a}, {b})", "np.where({b} > {a}, {a}, {b})",
    "np.where(np.logical_or({a} < {b}, {a} == {b}), {a}, {b})", "np.where({a} >= {b}, {b}, {a})",
    "-np.maximum(-{a}, -{b})", "np.where(~({a} > {b}), {a}, {b})",
)
MAXIMA = (
    "np.maximum({a}, {b})", "np.where({a} > {b}, {a}, {b})", "np.where({b} < {a}, {a}, {b})",
    "np.where(np.logical_and({a} < {b}, {a} != {b}), {b}, {a})", "np.where({a} <= {b}, {b}, {a})",
    "-np.minimum(-{a}, -{b})", "np.where(({a} < {b}) & ({a} != {b}), {b}, {a})",
)


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
    name, inside = f"{base.name}, {move.name}", inside_text(base, move, "a")
    return Generated(
        name,
        declaration(name, add_text, mul_text, number(zero), number(one), star=star,
                    carrier=f"lambda a: {inside}" if inside else None, samples=samples, dtypes=kinds),
        base, (("", "", move),), zero, one,
        tolerance=0.0 if exact else 256.0,
        relative=base.has("selective") and base.texts["mul"] == "{a} * {b}" and move.constant == 0,
        largest=max([move.constant, *sides]) if move.constant else 0.0,
        declared_star=declared,
    )


def moved_reals() -> Iterator[Generated]:
    """Every interval of `bases.REALS` under every move that takes it."""
    count = 0
    for base, move in product(bases.REALS, MOVES):
        low, high, _ = base.interval
        if low < move.domain[0] or high > move.domain[1]:
            continue
        if move.name == "log x" and base.texts["mul"] != "{a} * {b}":
            continue
        if base.name == "lukasiewicz" and move.name in ("10¹⁰ x", "√x", "1/x"):
            continue  # rounding near 0 is magnified: laws break by 10⁻⁶ and more, or 0 is missed
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
    )
    for name, of, by, add, mul, star, carrier in rows:
        base = real[of]
        with np.errstate(all="ignore"):
            zero, one = (float(by.forth(REAL.type(e))) for e in (base.zero, base.one))
        yield Generated(
            name, declaration(name, add, mul, number(zero), number(one), star=star, carrier=carrier), base,
            (("", "", by),), zero, one, tolerance=0.0 if base.exact and by.exact else 256.0,
            relative=base.has("selective") and by.constant == 0, largest=by.constant, declared_star=star is not None,
        )


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
    )
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
    }.items():
        yield by_table(f"field of {q}", bases.field(p, k, modulus), range(q), 3, dtypes="'iu'", **texts)
    for n in (4, 5, 6, 9, 11, 12):
        yield by_table(
            f"modulo {n}", bases.modulo(n), range(n), 3 + n, add=f"(a + b) % {n}", mul=f"(a * b) % {n}",
            carrier=f"lambda a: (a >= 0) & (a < {n}) & (a == np.floor(a))" if n % 2 == 0 else
            f"lambda a: (a >= 0) & (a < {n})", dtypes=repr("iu" if n % 2 else "fiu"),
        )
    for n, top in ((5, 250), (7, -3)):
        # Residues that are not those of 0 … n − 1: moved by a constant.
        low = top - n + 1
        yield by_table(
            f"modulo {n} from {low}", bases.modulo(n), range(low, top + 1), n + 4,
            add=f"(a + b - {2 * low}) % {n} + {low}", mul=f"((a - {low}) * (b - {low})) % {n} + {low}",
            dtypes="'i'" if low < 0 else "'iu'",
        )


def whole_algebras() -> Iterator[Generated]:
    """Sets as bits, divisors, relations, at home and moved by a constant."""
    for base, by in (
        (bases.bits(8), 0), (bases.bits(8, must=True), 0), (bases.bits(8), 1000), (bases.bits(4, must=True), -5),
        (bases.bits(1), 0), (bases.bits(5), 0), (bases.divisors(60), 0), (bases.divisors(60, turned=True), 0),
        (bases.divisors(30), 70), (bases.relations(), 0), (bases.relations(), -128),
    ):
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
                                        exact=True, whole=True)
        name = base.name + (f", x + {by}" if by else "")
        code = declaration(
            name, text("add"), text("mul"), str(zero), str(one),
            star=f"lambda a: {text('star')}" if declared else None,
            carrier=f"lambda a: {inside}", dtypes="'i'" if min(every) < 0 else "'iu'",
            samples=None if by == 0 else repr(every[:: max(len(every) // 12, 1)].tolist()),
        )
        yield Generated(name, code, base, (("", "", move),), zero, one, declared_star=declared)


def residue_sets() -> Iterator[Generated]:
    """Sets of residues, without declared stars."""
    for n in (4, 6):
        base = bases.sums_of_residues(n)
        code = declaration(
            base.name, "a | b", base.texts["mul"].format(a="a", b="b"), "0", "1",
            carrier=f"lambda a: (a >= 0) & (a < {2**n})", dtypes="'iu'",
        )
        yield Generated(base.name, code, base, zero=0, one=1, declared_star=False)


def families() -> dict[str, Generated]:
    """All generated algebras by name."""
    result: dict[str, Generated] = {}
    for g in (*moved_reals(), *simplified(), *finite_algebras(), *whole_algebras(), *residue_sets(), *records()):
        assert g.name not in result, g.name
        result[g.name] = g
    return result

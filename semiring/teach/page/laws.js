// The laws of semirings, tried first on different elements other than 0, 1 and ∞, from the simplest on: so are witnesses.

const LAWS = [
  ["⊕ is associative", "(a ⊕ b) ⊕ c = a ⊕ (b ⊕ c)", 3,
    (S, a, b, c) => [S.add(S.add(a, b), c), S.add(a, S.add(b, c))]],
  ["⊕ is commutative", "a ⊕ b = b ⊕ a", 2, (S, a, b) => [S.add(a, b), S.add(b, a)]],
  ["0 is neutral for ⊕", "0 ⊕ a = a", 1, (S, a) => [S.add(S.zero, a), a]],
  ["⊗ is associative", "(a ⊗ b) ⊗ c = a ⊗ (b ⊗ c)", 3,
    (S, a, b, c) => [S.mul(S.mul(a, b), c), S.mul(a, S.mul(b, c))]],
  ["1 is neutral on the left", "1 ⊗ a = a", 1, (S, a) => [S.mul(S.one, a), a]],
  ["1 is neutral on the right", "a ⊗ 1 = a", 1, (S, a) => [S.mul(a, S.one), a]],
  ["0 absorbs on the left", "0 ⊗ a = 0", 1, (S, a) => [S.absorbed(S.raw(S.zero, a)), S.zero]],
  ["0 absorbs on the right", "a ⊗ 0 = 0", 1, (S, a) => [S.absorbed(S.raw(a, S.zero)), S.zero]],
  ["⊗ distributes on the left", "a ⊗ (b ⊕ c) = a ⊗ b ⊕ a ⊗ c", 3,
    (S, a, b, c) => [S.mul(a, S.add(b, c)), S.add(S.mul(a, b), S.mul(a, c))]],
  ["⊗ distributes on the right", "(a ⊕ b) ⊗ c = a ⊗ c ⊕ b ⊗ c", 3,
    (S, a, b, c) => [S.mul(S.add(a, b), c), S.add(S.mul(a, c), S.mul(b, c))]],
  ["the star unfolds", "a* = 1 ⊕ a ⊗ a*", 1,
    (S, a) => S.defined(a) ? [S.star(a), S.add(S.one, S.mul(a, S.star(a)))] : [0, 0]],
  ["⊕ stays in the carrier", "a ⊕ b ∈ S", 2, (S, a, b) => S.inside(S.add(a, b))],
  ["⊗ stays in the carrier", "a ⊗ b ∈ S", 2, (S, a, b) => S.inside(S.mul(a, b))],
];
const near = (x, y) => isPair(x) && isPair(y) ? near(x[0], y[0]) && near(x[1], y[1]) : same(x, y)
  || (Number.isFinite(x) && Number.isFinite(y) && Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(x), Math.abs(y)));

// What elements may be: the kind of expressions, which values are elements, and those on which laws are tried.
const SIMPLE = [0, 1, 2, Infinity, 0.5, 3, -1, -Infinity];
const pairs = of => of.flatMap((x, i) => of.map((y, j) => [i + j, x, y])).sort((p, q) => p[0] - q[0]).map(([, x, y]) => [x, y]);
const parts = x => isPair(x) ? x.flatMap(parts) : [x], undefinedIn = x => parts(x).some(part => part !== part);
const ELEMENTS = {
  real: {name: "real numbers and ±∞", kind: "number", is: x => typeof x === "number" && x === x,
    pool: [0, 1, 2, 3, 5, 7, 12, 0.5, 0.25, 0.75, -1, -2, -2.5, Infinity, -Infinity]},
  finite: {name: "real numbers", kind: "number", is: x => Number.isFinite(x),
    pool: [0, 1, 2, 3, 5, 7, 12, 0.5, 0.25, 0.75, -1, -2, -2.5]},
  whole: {name: "whole numbers and ±∞", kind: "number", is: x => whole(x) || x === Infinity || x === -Infinity,
    pool: [0, 1, 2, 3, 5, 4, 6, 7, 12, -1, -2, -3, Infinity, -Infinity]},
  truth: {name: "truth values", kind: "truth", is: x => typeof x === "boolean", pool: [false, true]},
  pair: {name: "pairs of numbers", kind: "pair", is: x => isPair(x) && x[0] === x[0] && x[1] === x[1],
    pool: pairs(SIMPLE), ordinary: pairs([2, 3, 5, 0.5])},
};

// An algebra from what a reader typed: of (what elements are), add, mul, zero, one, and if not empty carrier and star.
function ownAlgebra(given) {
  const {kind, is} = ELEMENTS[given.of] ?? ELEMENTS.real;
  const field = (name, names, wanted = kind) => {
    try {
      return parsed(given[name], names, kind, wanted);
    } catch (error) {
      throw Object.assign(error, {field: name});
    }
  };
  const value = x => kind === "truth" && (x === 0 || x === 1) ? x === 1 : x;  // min and × of truth values are numbers
  const add = field("add", ["a", "b"]), mul = field("mul", ["a", "b"]);
  const zero = value(field("zero", [])({})), one = value(field("one", [])({}));
  const carrier = given.carrier.trim() ? field("carrier", ["a"], "truth") : () => true;
  const star = given.star.trim() ? field("star", ["a"]) : null;
  const S = {
    zero, one, add: (a, b) => value(add({a, b})), raw: (a, b) => value(mul({a, b})),
    mul: (a, b) => same(a, zero) || same(b, zero) ? zero : value(mul({a, b})),
    // IEEE answers NaN to 0·∞ and ∞ − ∞, where the algebra means zero.
    absorbed: x => undefinedIn(x) ? zero : x,
    carrier: a => is(a) && !!carrier({a}),
    inside: x => S.carrier(x) ? [x, x] : [x, "an element"],
  };
  S.star = star ? a => value(star({a})) : () => one;
  S.defined = star ? a => S.carrier(S.star(a)) : a => same(S.add(one, a), one);
  return S;
}

function tried(S, of = "real") {
  const elements = some => some.filter((x, i) => S.carrier(x) && some.findIndex(y => same(x, y)) === i);
  const pool = elements([...ELEMENTS[of].pool, S.zero, S.one]), special = [0, 1, Infinity, -Infinity, ...parts(S.zero), ...parts(S.one)];
  const ordinary = elements(ELEMENTS[of].ordinary ?? pool).filter(x => !parts(x).some(part => special.includes(part)));
  const alike = (x, y) => parts(x).some((part, i) => part === parts(y)[i]);
  let skipped = false;
  const search = (arity, sides, strict) => {
    let witness = null;
    const choose = (from, apart, chosen = []) => {
      if (chosen.length < arity) return from.some(x => !(apart && chosen.some(y => alike(x, y))) && choose(from, apart, [...chosen, x]));
      const [left, right] = sides(S, ...chosen);
      if (near(left, right)) return false;
      // Where a side is undefined it is not this law that is broken: an operation leaves the carrier.
      if (!strict && (undefinedIn(left) || undefinedIn(right))) return !(skipped = true);
      witness = {chosen, left, right};
      return true;
    };
    choose(ordinary, true) || choose(ordinary, false) || choose(pool, false);
    return witness;
  };
  const stays = law => law[0].endsWith("carrier"), leaves = LAWS.some(law => stays(law) && search(law[2], law[3], true));
  const laws = LAWS.map(law => {
    const [name, formula, arity, sides] = law;
    skipped = false;
    return {name, formula, witness: search(arity, sides, stays(law)) ?? (skipped && !leaves ? search(arity, sides, true) : null)};
  });
  for (const [name, x] of [["0", S.zero], ["1", S.one]])
    if (!S.carrier(x))
      laws.unshift({name: `${name} is an element`, formula: `${name} is in the carrier`, witness: {chosen: [x], left: x, right: "an element"}});
  const all = (arity, holds) => pool.every(a => arity === 1 ? holds(a) : pool.every(b => holds(a, b)));
  const flags = {
    idempotent: all(1, a => same(S.add(a, a), a)), selective: all(2, (a, b) => [a, b].some(x => same(x, S.add(a, b)))),
    bounded: all(1, a => same(S.add(S.one, a), S.one)), commutative: all(2, (a, b) => near(S.mul(a, b), S.mul(b, a))),
  };
  return {pool, laws, holds: laws.every(law => !law.witness), flags: Object.keys(flags).filter(flag => flags[flag])};
}

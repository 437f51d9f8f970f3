// What a schedule does to a matrix, entry by entry: its recorded kernel calls, carried out over an algebra.
// As semiring/teach/replay.py, step by step.

const ROUNDING = 1e-12;  // of the largest weight: what a cycle may seem to improve by rounding alone
const square = (n, x) => range(0, n).map(() => Array(n).fill(x));
const copied = rows => rows.map(row => [...row]);

// A block is [matrix, first row, end of rows, first column, end of columns].
function replay(S, calls, given) {
  const n = given.length, steps = [], start = copied(given);
  const startWalks = given.map((row, i) => row.map((x, j) => same(x, S.zero) ? WALKS.none : WALKS.edge(i, j)));
  const values = {A: copied(given)}, walks = {A: copied(startWalks)};
  const scale = Math.max(0, ...given.flat().filter(x => typeof x === "number" && Number.isFinite(x)).map(Math.abs)) || 1;
  const told = S.recorded ? {entries: S.recorded.entries.values(), stars: S.recorded.stars.values()} : null;
  let call = 0, opened = [], failure = null;

  function improves(a) {
    if (!S.diverges) return false;
    const best = S.add(S.one, a);
    if (same(best, S.one)) return false;
    return !(Number.isFinite(best) && Number.isFinite(S.one) && Math.abs(best - S.one) <= ROUNDING * scale);
  }

  // Write an entry; false where nothing is to follow.
  function put(kind, name, i, j, value, over, pivots, more = {}) {
    const old = values[name][i][j], before = walks[name][i][j];
    values[name][i][j] = value;
    walks[name][i][j] = over;
    steps.push({call, kind, name, i, j, pivots, old, value, before, walks: over, opened, changed: !same(old, value), ...more});
    if (told) {
      failure = S.recorded.failure && steps.length === S.recorded.failure.after ? S.recorded.failure : null;
      return !failure;
    }
    if (i === j && improves(value)) failure = {vertex: i, weight: value, walks: over, improves: true};
    return !failure;
  }

  // c_ij ← (c_ij ⊕) ⊕_k a_ik ⊗ b_kj; where ⊕ selects the walks are those of the first term that is as good.
  function sum(kind, name, i, j, A, B, a, b, v, w, through, adds) {
    let value = adds ? values[name][i][j] : S.zero, over = adds ? walks[name][i][j] : WALKS.none;
    const record = told?.entries.next().value;
    for (const k of through) {
      const joined = WALKS.joined(v[i][k], w[k][j]);
      if (told && S.selective) {
        if (record[1] === k) over = joined;
        continue;
      }
      const total = told ? value : S.add(value, S.mul(a[i][k], b[k][j]));
      if (!S.selective) over = WALKS.union(over, joined);
      else if (!same(total, value)) over = joined;
      value = total;
    }
    if (told) value = record[0];
    const terms = through.map(k => ({k, first: a[i][k], second: b[k][j], firstWalks: v[i][k], secondWalks: w[k][j]}));
    const pivots = kind === "square" ? [] : through;
    return put(kind, name, i, j, value, over, pivots, {terms, adds, sources: [A, B]});
  }

  function product(kind, C, A, B, adds = false) {
    const [a, b] = [copied(values[A[0]]), copied(values[B[0]])], [v, w] = [copied(walks[A[0]]), copied(walks[B[0]])];
    const through = range(A[3], A[4]);
    return range(C[1], C[2]).every(i => range(C[3], C[4]).every(
      j => sum(kind, C[0], i, j, A[0], B[0], a, b, v, w, through, adds)));
  }

  const kernel = {
    close(D) {
      const name = D[0], all = range(D[1], D[2]), X = values[name], W = walks[name];
      for (const k of all) {
        const others = all.filter(i => i !== k), a = X[k][k], pivots = [k];
        if (told) {
          if (S.recorded.failure && steps.length === S.recorded.failure.after) {
            failure = S.recorded.failure;
            return false;
          }
        } else if (improves(a) || !(S.unit || S.defined(a))) {
          failure = {vertex: k, weight: a, walks: W[k][k], improves: improves(a)};
          return false;
        }
        const factor = told ? told.stars.next().value : S.unit ? S.one : S.star(a);
        const round = S.unit || (S.selective && same(factor, S.one)) ? WALKS.staying(k) : WALKS.repeated(W[k][k], k);
        const scaled = (x, y) => told ? told.entries.next().value[0] : S.mul(x, y);
        opened = [...opened, k];
        for (const j of others)
          put("row", name, k, j, scaled(factor, X[k][j]), WALKS.joined(round, W[k][j]), pivots, {factor});
        for (const i of others) for (const j of others)
          if (!sum("pivot", name, i, j, name, name, X, X, W, W, pivots, true)) return false;
        for (const i of others)
          put("column", name, i, k, scaled(X[i][k], factor), WALKS.joined(W[i][k], round), pivots, {factor});
        if (told) told.entries.next();
        put("star", name, k, k, factor, round, pivots);
      }
      return true;
    },
    multiply_add: (C, A, B) => product("product", C, A, B, true),
    multiply: (C, A, B) => product("square", C, A, B),
    left: (D, R) => product("left", R, D, R),
    right: (C, D) => product("right", C, C, D),
    add_one(A) {
      return range(A[1], A[2]).every(i => {
        const old = values[A[0]][i][i], stay = WALKS.staying(i);
        const value = told ? told.entries.next().value[0] : S.add(S.one, old), before = walks[A[0]][i][i];
        const over = !S.selective ? WALKS.union(stay, before) : same(value, S.one) ? stay : before;
        return put("one", A[0], i, i, value, over, []);
      });
    },
    equal: (A, B) => !values[A[0]].every((row, i) => row.every((x, j) => same(x, values[B[0]][i][j]))),
    assign(A, B) {
      const was = [values[A[0]], walks[A[0]]];
      values[A[0]] = copied(values[B[0]]);
      walks[A[0]] = copied(walks[B[0]]);
      const all = [copied(values[A[0]]), copied(walks[A[0]])];
      if (told) told.entries.next();
      steps.push({call, kind: "copy", name: A[0], i: -1, j: -1, pivots: [], opened, changed: true, was, all});
      return true;
    },
  };

  for (const [number, [operation, ...blocks]] of calls.entries()) {
    call = number;
    for (const [name] of blocks) {
      values[name] ??= square(n, S.zero);
      walks[name] ??= square(n, WALKS.none);
    }
    if (!kernel[operation](...blocks)) break;
  }
  return {steps, start, startWalks, values, walks, failure};
}

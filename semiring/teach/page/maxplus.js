// A timetable over max-plus, in exact whole numbers (BigInt): means of cycles, critical edges, trajectory, transient, slack.
// Edges are [u, v, duration]: v's next event waits for u's event and the duration. A fraction is [p, q] with q > 0, in lowest terms.

const MOST_ROUNDS = 3000;
const gcdOf = (a, b) => { a = a < 0n ? -a : a; while (b) [a, b] = [b, a % b]; return a; };
const fraction = (p, q) => { const d = gcdOf(p, q) || 1n; return [p / d, q / d]; };
const below = ([p, q], [r, s]) => p * s < r * q;
const equalTo = (x, y) => x === y || (x !== null && y !== null && x[0] === y[0] && x[1] === y[1]);
const lcmOf = (a, b) => a / gcdOf(a, b) * b;

// Strongly connected components, as lists of vertices in the order of their first one, and who reaches whom.
function componentsOf(n, edges) {
  const reach = range(0, n).map(u => range(0, n).map(v => u === v));
  for (const [u, v] of edges) reach[u][v] = true;
  for (let k = 0; k < n; k++) for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) reach[i][j] ||= reach[i][k] && reach[k][j];
  const lists = range(0, n).filter(v => range(0, v).every(u => !(reach[u][v] && reach[v][u]))).map(v => range(v, n).filter(u => reach[u][v] && reach[v][u]));
  return {lists, reach};
}

// Karp's theorem: the greatest mean of a cycle of a strongly connected graph; null if it has no edge.
function meanOf(vertices, edges) {
  if (!edges.length) return null;
  const m = vertices.length, best = [new Map([[vertices[0], 0n]])];
  for (let k = 1; k <= m; k++) {
    const next = new Map();
    for (const [u, v, w] of edges) {
      if (!best[k - 1].has(u)) continue;
      const x = best[k - 1].get(u) + w;
      if (!next.has(v) || x > next.get(v)) next.set(v, x);
    }
    best.push(next);
  }
  let mean = null;
  for (const [v, x] of best[m]) {
    let least = null;
    for (let k = 0; k < m; k++) {
      if (!best[k].has(v)) continue;
      const found = fraction(x - best[k].get(v), BigInt(m - k));
      if (!least || below(found, least)) least = found;
    }
    if (!mean || below(mean, least)) mean = least;
  }
  return mean;
}

// The best walks within a component after the mean is taken off each edge (times its denominator): none exceeds 0 on a cycle.
function criticalOf(vertices, edges, [p, q]) {
  const best = new Map(vertices.map(u => [u, new Map([[u, 0n]])])), reduced = edges.map(([,, w]) => w * q - p);
  const improve = (u, v, x) => { if (!best.get(u).has(v) || x > best.get(u).get(v)) best.get(u).set(v, x); };
  edges.forEach(([u, v], e) => improve(u, v, reduced[e]));
  for (const k of vertices) for (const i of vertices) for (const j of vertices)
    if (best.get(i).has(k) && best.get(k).has(j)) improve(i, j, best.get(i).get(k) + best.get(k).get(j));
  // Of all cycles through an edge, the one that is nearest to the mean: so much longer may the edge be before the mean grows.
  return edges.map(([u, v], e) => fraction(-(reduced[e] + best.get(v).get(u)), q));
}

// The greatest common divisor of the lengths of cycles of a strongly connected graph.
function cyclicityOf(root, edges) {
  const level = new Map([[root, 0]]);
  for (const u of level.keys()) for (const [x, v] of edges) if (x === u && !level.has(v)) level.set(v, level.get(u) + 1);
  return edges.reduce((d, [u, v]) => gcdOf(d, BigInt(level.get(u) + 1 - level.get(v))), 0n);
}

// A cycle through these edges, each of which is on one; its first vertex is also its last.
function cycleOf(root, edges) {
  const walk = [root];
  for (;;) {
    const next = edges.find(([u]) => u === walk[walk.length - 1])[1], at = walk.indexOf(next);
    walk.push(next);
    if (at >= 0) return walk.slice(at);
  }
}

function analysed(n, edges, start) {
  const {lists, reach} = componentsOf(n, edges), of = v => lists.findIndex(list => list.includes(v));
  const slackOfMean = edges.map(() => null);  // null: on no cycle
  const components = lists.map(vertices => {
    const own = range(0, edges.length).filter(e => vertices.includes(edges[e][0]) && vertices.includes(edges[e][1])), inside = own.map(e => edges[e]);
    const mean = meanOf(vertices, inside);
    if (!mean) return {vertices, mean, critical: [], cycles: [], cyclicity: 1n};
    const slack = criticalOf(vertices, inside, mean);
    own.forEach((e, i) => { slackOfMean[e] = slack[i]; });
    const critical = own.filter((_, i) => slack[i][0] === 0n), list = critical.map(e => edges[e]);
    const parts = componentsOf(n, list).lists.map(part => [part[0], list.filter(([u]) => part.includes(u))]).filter(([, part]) => part.length);
    return {vertices, mean, critical, cycles: parts.map(part => cycleOf(...part)), cyclicity: parts.map(part => cyclicityOf(...part)).reduce(lcmOf, 1n)};
  });
  // An event's rate is the greatest mean of the components from which it is reached; null if there is none.
  const rates = range(0, n).map(v => components.filter(({mean, vertices}) => mean && reach[vertices[0]][v])
    .reduce((most, {mean}) => most && !below(most, mean) ? most : mean, null));
  const cyclicity = components.map(c => c.cyclicity).reduce(lcmOf, 1n);
  return {components, of, rates, cyclicity, slackOfMean, ...trajectory(n, edges, start, rates, Number(cyclicity))};
}

// x(0), x(1), … until they repeat, times a number `scale` that makes rates whole; null is −∞: such an event does not take place.
function trajectory(n, edges, start, rates, c) {
  const scale = rates.filter(Boolean).map(rate => rate[1]).reduce(lcmOf, 1n), rate = rates.map(r => r && r[0] * scale / r[1]);
  const x = [start.map(value => value * scale)];
  const step = now => range(0, n).map(v => edges.reduce((most, [u, to, w]) => to !== v || now[u] === null || (most !== null && now[u] + w * scale <= most) ? most : now[u] + w * scale, null));
  // Each event waits for one that has its rate; then slower ones are never waited for again.
  const settled = (now, next) => next.every((value, v) => value === null || (rate[v] !== null && edges.some(([u, to, w]) => to === v && rate[u] === rate[v] && now[u] !== null && now[u] + w * scale === value)));
  const repeats = (t, d) => x[t].every((value, v) => value === null ? x[t + d][v] === null : rate[v] !== null && x[t + d][v] === value + BigInt(d) * rate[v]);
  let run = 0, transient = null;
  while (transient === null && x.length <= MOST_ROUNDS + c) {
    const now = x[x.length - 1], next = step(now);
    x.push(next);
    run = settled(now, next) ? run + 1 : 0;
    const t = x.length - 1 - c;
    if (run >= c && t >= 0 && repeats(t, c)) transient = t;
  }
  if (transient === null) return {x, step, scale, transient, period: null, slackOfTimes: edges.map(() => null)};
  while (x.length < transient + 2 * c + 1) x.push(step(x[x.length - 1]));
  const period = range(1, c + 1).find(d => c % d === 0 && range(transient, transient + c).every(t => repeats(t, d)));
  // How much later an arrival could be without moving a departure, once times repeat; Infinity where it gains time in every round.
  const slackOfTimes = edges.map(([u, v, w]) => rate[u] === null || rate[u] !== rate[v] ? Infinity
    : fraction(range(transient, transient + c).map(t => x[t + 1][v] - x[t][u] - w * scale).reduce((least, gap) => gap < least ? gap : least), scale));
  return {x, step, scale, transient, period, slackOfTimes};
}

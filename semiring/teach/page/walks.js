// Sets of walks, cut to the few shortest: the free algebra, which runs beside any other. As semiring/teach/walks.py.

const KEPT = 4;
const WALKS = {
  none: {shortest: [], more: false},
  staying: vertex => ({shortest: [[vertex]], more: false}),
  edge: (u, v) => ({shortest: [[u, v]], more: false}),
  cut(walks, more) {
    const ordered = [...new Map(walks.map(walk => [walk.join(), walk])).values()].sort(WALKS.order);
    return {shortest: ordered.slice(0, KEPT), more: more || ordered.length > KEPT};
  },
  order(p, q) {
    const at = p.length === q.length ? p.findIndex((v, i) => v !== q[i]) : -1;
    return at < 0 ? p.length - q.length : p[at] - q[at];
  },
  union: (x, y) => WALKS.cut([...x.shortest, ...y.shortest], x.more || y.more),
  joined(x, y) {
    if (!x.shortest.length || !y.shortest.length) return WALKS.none;
    return WALKS.cut(x.shortest.flatMap(p => y.shortest.map(q => [...p, ...q.slice(1)])), x.more || y.more);
  },
  repeated(x, vertex) {
    const loops = {shortest: x.shortest.filter(walk => walk.length > 1), more: x.more};
    let total = WALKS.staying(vertex), power = total;
    if (!loops.shortest.length) return total;
    for (let i = 0; i < KEPT; i++) {
      power = WALKS.joined(power, loops);
      total = WALKS.union(total, power);
    }
    return {shortest: total.shortest, more: true};
  },
};

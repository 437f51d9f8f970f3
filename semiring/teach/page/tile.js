// A product by tiles, event by event, as kernels/cuda/dense/product.cu computes it, and the naive one; each load and each operation is counted.
// A geometry has the names of ProductGeometry in kernels/cuda/compile/program.py.

const sidesOf = g => ({BM: g.TM * g.LM * g.WM, BN: g.TN * g.LN * g.WN, threads: g.LM * g.LN * g.WM * g.WN});

// The rows and columns of a thread within the block: rows are LM apart, columns come in runs of VECTOR.
function placesOf(g, thread) {
  const lanes = g.LM * g.LN, warp = Math.floor(thread / lanes), lane = thread % lanes;
  const row = warp % g.WM * (g.TM * g.LM) + Math.floor(lane / g.LN);
  const column = Math.floor(warp / g.WM) * (g.TN * g.LN) + lane % g.LN * g.VECTOR;
  return {warp, lane, rows: range(0, g.TM).map(i => row + i * g.LM),
    columns: range(0, g.TN).map(j => column + Math.floor(j / g.VECTOR) * g.VECTOR * g.LN + j % g.VECTOR)};
}

const threadAt = (g, i, j) => range(0, sidesOf(g).threads).find(thread => {
  const {rows, columns} = placesOf(g, thread);
  return rows.includes(i) && columns.includes(j);
});

// What a block does for `rows` × `columns` elements of C and all `depth` steps of k. Each event has the counts up to its end.
function tiledEvents(g, rows, columns, depth) {
  const {threads} = sidesOf(g), steps = Math.ceil(depth / g.BK), events = [], counts = {global: 0, shared: 0, operations: 0};
  const add = event => events.push({...event, counts: {...counts}});
  const fetch = step => {
    const left = Math.min(g.BK, depth - step * g.BK);
    for (let k = 0; k < left; k++) {
      for (let i = 0; i < rows; i++) counts.global++;
      for (let j = 0; j < columns; j++) counts.global++;
    }
  };
  for (let step = 0; step < g.STAGES - 1; step++) {
    if (step >= steps) continue;
    fetch(step);
    add({kind: "fetch", step, fetched: step});
  }
  for (let step = 0; step < steps; step++) {
    const next = step + g.STAGES - 1, fetched = next < steps ? next : null;
    if (fetched !== null) fetch(fetched);
    add({kind: "wait", step, fetched});
    for (let k = 0; k < g.BK; k++) {
      if (!g.absorbs && step * g.BK + k >= depth) continue;
      for (let thread = 0; thread < threads; thread++) {
        for (let i = 0; i < g.TM; i++) counts.shared++;
        for (let j = 0; j < g.TN; j++) counts.shared++;
        for (let i = 0; i < g.TM; i++) for (let j = 0; j < g.TN; j++) counts.operations++;
      }
      add({kind: "multiply", step, k: step * g.BK + k});
    }
  }
  add({kind: "store", step: steps - 1});
  return events;
}

// One thread for each element: it reads its row of A and its column of B from global memory.
function naiveEvents(rows, columns, depth) {
  const events = [], counts = {global: 0, shared: 0, operations: 0};
  for (let k = 0; k < depth; k++) {
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        counts.global += 2;
        counts.operations++;
      }
    events.push({kind: "naive", k, counts: {...counts}});
  }
  events.push({kind: "store", counts: {...counts}});
  return events;
}

// The block of C after some events, and which tile is in each buffer. A and B are the block's rows and columns; beyond them tiles hold zeros.
function blockAfter(S, g, A, B, events, done) {
  const rows = A.length, columns = B[0].length, depth = B.length, buffers = Array(g.STAGES).fill(null);
  const C = range(0, rows).map(() => Array(columns).fill(S.zero));
  let old = C;
  for (const event of events.slice(0, done)) {
    old = C.map(row => [...row]);
    if (event.fetched !== undefined && event.fetched !== null) buffers[event.fetched % g.STAGES] = {step: event.fetched, arrived: false};
    if (event.kind === "wait") buffers[event.step % g.STAGES].arrived = true;
    if (event.k === undefined || event.k >= depth) continue;
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) C[i][j] = S.add(C[i][j], S.mul(A[i][event.k], B[event.k][j]));
  }
  return {C, old, buffers};
}

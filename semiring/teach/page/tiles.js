// The page of a product: three levels of memory, what a step moves between them, and the counts.

const DATA = JSON.parse($("data").textContent);
const ALGEBRAS = DATA.algebras.map(algebra => ({...algebra, ...OPERATIONS[algebra.name], zero: decoded(algebra.zero), A: decoded(DATA.factors[algebra.factors[0]]), B: decoded(DATA.factors[algebra.factors[1]])}));
const TILES = ["for large products", "for few tiles", "for short sides"], LONG = 1024;
const OWN = {block: ["8 × 8", "4 × 4", "2 × 2", "8 × 4", "8 × 2"], thread: ["1 × 1", "2 × 1", "2 × 2", "4 × 2", "4 × 4"], depth: ["1", "2", "4", "8"], stages: ["2", "3", "4"]};
const REGISTERS = 172;  // pixels
const state = {chosen: [0, 0]};
const many = x => x.toLocaleString("en"), count = (n, one) => `${many(n)} ${n === 1 ? one : `${one}s`}`;
let S, g, sides, part, events, naive, tiled, grids;

// Tables of elements

class Grid {
  constructor(table, caption, rows, columns) {
    this.cells = rows.map(() => columns.map(() => element("td")));
    table.replaceChildren(element("caption", {}, caption),
      element("thead", {}, element("tr", {}, element("td", {class: "corner"}), ...columns.map(name => element("th", {scope: "col"}, name)))),
      element("tbody", {}, ...rows.map((name, i) => element("tr", {}, element("th", {scope: "row"}, name), ...this.cells[i]))));
    table.style.setProperty("--side", "26px");
    this.table = table;
  }

  // Each cell by a function of its place: [element or null, classes].
  paint(of) {
    this.cells.forEach((row, i) => row.forEach((cell, j) => {
      const [x, ...classes] = of(i, j), none = x === null || same(x, S.zero);
      cell.textContent = none ? "·" : small(x);
      cell.title = none || cell.textContent === exact(x) ? "" : exact(x);
      put(cell, "class", [...classes, none ? "none" : ""].join(" ").trim());
    }));
  }
}

// An element in few letters; the cell's title has all of it.
function small(x) {
  const text = typeof x === "number" && Number.isFinite(x) && !Number.isInteger(x) ? String(+x.toPrecision(2)).replace("-", "−") : shown(x);
  return cut(text.replace(/^(−?)0\./, "$1."), 5);
}

// What is chosen

function chosenTile() {
  const {at, absorbs} = S.tiles[+$("dtype").value] ?? {at: []}, tile = +$("tile").value;
  const geometry = list => ({...Object.fromEntries(DATA.numbers.map((name, i) => [name, list[i]])), absorbs});
  if (tile >= 0) return [geometry(DATA.drawn[at[tile]]), geometry(DATA.library[at[tile]])];
  const pair = id => $(id).value.split(" × ").map(Number), [BM, BN] = pair("own-block");
  const [TM, TN] = pair("own-thread").map((side, i) => Math.min(side, [BM, BN][i]));
  const own = {TM, TN, LM: BM / TM, LN: BN / TN, WM: 1, WN: 1, VECTOR: Math.min(TN, 2), BK: +$("own-depth").value, STAGES: +$("own-stages").value, absorbs: true};
  return [own, null];
}

function options(id, list) {
  const before = $(id).value;
  $(id).replaceChildren(...list.map(([value, text]) => element("option", {value}, text)));
  if (list.some(([value]) => String(value) === before)) $(id).value = before;
}

function rebuild() {
  S = ALGEBRAS[+$("algebra").value];
  used = S;
  options("dtype", S.tiles.map(({dtype}, i) => [i, dtype]));
  const found = S.tiles[+$("dtype").value]?.at ?? [];
  options("tile", [...found.map((_, i) => [i, `the library's, ${TILES[i]}`]), [-1, "one of your own"]]);
  $("own").hidden = $("tile").value !== "-1" || $("kind").value === "naive";
  let library;
  [g, library] = chosenTile();
  sides = sidesOf(g);
  const m = S.A.length, n = S.B[0].length, down = Math.ceil(m / sides.BM), across = Math.ceil(n / sides.BN);
  options("block", range(0, down * across).map(b => [b, `rows ${Math.floor(b / across) * sides.BM}–${Math.min(m, Math.floor(b / across) * sides.BM + sides.BM) - 1}, columns ${b % across * sides.BN}–${Math.min(n, b % across * sides.BN + sides.BN) - 1}`]));
  $("blocks").hidden = down * across === 1;
  const top = Math.floor(+$("block").value / across) * sides.BM, left = +$("block").value % across * sides.BN;
  part = {top, left, A: S.A.slice(top, top + sides.BM), B: S.B.map(row => row.slice(left, left + sides.BN)), depth: S.B.length};
  part.rows = part.A.length;
  part.columns = part.B[0].length;
  naive = naiveEvents(part.rows, part.columns, part.depth);
  tiled = tiledEvents(g, part.rows, part.columns, part.depth);
  events = $("kind").value === "naive" ? naive : tiled;
  state.chosen = [Math.min(state.chosen[0], part.rows - 1), Math.min(state.chosen[1], part.columns - 1)];
  writeScale(library);
  build();
  player.reset(events.length);
}

function writeScale(library) {
  const tile = `${sides.BM} × ${sides.BN} elements of C, ${count(sides.threads, "thread")} with ${g.TM} × ${g.TN} each, ${count(g.BK, "step")} of k in each of ${g.STAGES} buffers`;
  const note = S.tiles[+$("dtype").value]?.note, real = library && sidesOf(library);
  $("scale").textContent = $("kind").value === "naive" ? "One thread for each element of C. Each reads its row of A and its column of B from global memory." : library
    ? `The library's tile is ${real.BM} × ${real.BN}. It is drawn smaller, in the same layout: ${tile}.`
    : `Your tile: ${tile}.`;
  $("library").hidden = !library;
  if (library) drawReal(library, note ? `${note}. This is the tile of the generated kernel.` : "");
}

// The tables, and how large their cells are

function build() {
  const {top, left, depth, rows, columns} = part, I = range(top, top + rows), J = range(left, left + columns), K = range(0, depth), byTiles = events !== naive;
  grids = {A: new Grid($("A"), "A", I, K), B: new Grid($("B"), "B", K, J), C: new Grid($("C"), "C", I, J), buffers: []};
  $("formula").textContent = "C ← A ⊗ B";
  $("sharedpart").hidden = !byTiles;
  put($("sharedpart").parentElement, "class", byTiles ? "levels" : "levels naive");
  $("buffers").replaceChildren();
  for (let s = 0; byTiles && s < g.STAGES; s++) {
    const [title, A, B] = [element("h3"), element("table", {class: "matrix"}), element("table", {class: "matrix"})];
    const box = element("div", {class: "buffer"}, title, element("div", {class: "scroll"}, element("div", {class: "pair"}, A, B)));
    $("buffers").append(box);
    grids.buffers.push({box, title, A: new Grid(A, "from A", range(top, top + sides.BM), range(0, g.BK)), B: new Grid(B, "from B", range(0, g.BK), range(left, left + sides.BN))});
  }
  grids.C.cells.forEach((row, i) => row.forEach((cell, j) => {
    cell.onclick = () => cell.focus();
    cell.onfocus = () => choose(i, j);
  }));
  choose(...state.chosen, false);
  fit();
}

// As many buffers side by side as there is room for, beside global memory and registers.
function place() {
  const whole = $("C").closest(".levels"), one = (g.BK + sides.BN) * 23 + 62, first = (part.depth + part.columns) * 27 + 58, left = whole.clientWidth - first - REGISTERS - 28;
  const beside = Math.max(1, Math.min(g.STAGES, Math.floor((left + 8) / (one + 8))));
  $("buffers").style.setProperty("--buffer", `${one}px`);
  whole.style.setProperty("--levels", `minmax(0, ${first}fr) minmax(0, ${beside * (one + 8)}fr) ${REGISTERS}px`);
}

function choose(i, j, draw = true) {
  state.chosen = [i, j];
  grids.C.cells.flat().forEach(cell => put(cell, "tabindex", "-1"));
  put(grids.C.cells[i][j], "tabindex", "0");
  const byTiles = events !== naive, thread = byTiles ? threadAt(g, i, j) : i * part.columns + j, places = byTiles ? placesOf(g, thread) : {rows: [i], columns: [j]};
  state.thread = {...places, thread};
  $("who").textContent = `Thread ${thread}${byTiles && g.WM * g.WN > 1 ? `, of warp ${places.warp}` : ""}`;
  grids.a = new Grid($("a"), "a", places.rows.map(x => x + part.top), [""]);
  grids.b = new Grid($("b"), "b", [""], places.columns.map(x => x + part.left));
  grids.c = new Grid($("c"), "c", places.rows.map(x => x + part.top), places.columns.map(x => x + part.left));
  fitRegisters();
  if (draw) player.draw(player.at);
}

$("C").addEventListener("keydown", event => {
  const way = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
  if (!way) return;
  event.preventDefault();
  grids.C.cells[state.chosen[0] + way[0]]?.[state.chosen[1] + way[1]]?.focus();
});

function fit() {
  place();
  const wide = $("C").closest(".scroll").clientWidth, longest = Math.max(2, ...[...part.A.flat(), ...part.B.flat(), ...blockAfter(S, g, part.A, part.B, naive, part.depth).C.flat()].map(x => small(x).length));
  const size = (room, cells) => Math.max(16, Math.min(innerWidth <= 760 ? 22 : 26, Math.floor(room / cells) - 1));
  const style = (grid, side) => {
    grid.table.style.setProperty("--side", `${side}px`);
    grid.table.style.setProperty("--letters", `${Math.max(8, Math.min(14, (side - 3) / (0.56 * longest))).toFixed(1)}px`);
  };
  const side = size(wide - 56, part.depth + part.columns);
  for (const name of ["A", "B", "C"]) style(grids[name], side);
  for (const {box, A, B} of grids.buffers) {
    const tile = Math.min(side, size(box.clientWidth - 66, g.BK + sides.BN));
    style(A, tile);
    style(B, tile);
  }
  grids.longest = longest;
  fitRegisters();
}

function fitRegisters() {
  for (const name of ["a", "b", "c"]) {
    grids[name].table.style.setProperty("--side", "40px");
    grids[name].table.style.setProperty("--letters", `${Math.min(15, 37 / (0.56 * (grids.longest ?? 3))).toFixed(1)}px`);
  }
}

// A position

function draw(at) {
  const event = at ? events[at - 1] : {kind: "start"}, {rows, columns, depth} = part, byTiles = events !== naive;
  const {C, old, buffers} = blockAfter(S, g, part.A, part.B, events, at), mine = state.thread;
  const computes = event.k !== undefined, k = event.k, coming = event.fetched ?? -1, inTile = (k, step) => step >= 0 && Math.floor(k / g.BK) === step;
  const now = byTiles && at && event.kind !== "store" ? event.step : -1, mineA = i => mine.rows.includes(i), mineB = j => mine.columns.includes(j);
  const fromGlobal = (k, own) => byTiles ? inTile(k, coming) ? "coming" : event.kind !== "fetch" && inTile(k, now) ? "band" : "" : !computes || k !== event.k ? "" : own;
  grids.A.paint((i, k) => [part.A[i][k], fromGlobal(k, mineA(i) ? "first" : "band")]);
  grids.B.paint((k, j) => [part.B[k][j], fromGlobal(k, mineB(j) ? "second" : "band")]);
  grids.C.paint((i, j) => [C[i][j], mineA(i) && mineB(j) ? computes ? "target" : "kept" : computes ? "band" : ""]);
  grids.C.cells.forEach((row, i) => row.forEach((cell, j) => put(cell, "aria-label", `C ${part.top + i}, ${part.left + j}: ${same(C[i][j], S.zero) ? "zero" : exact(C[i][j])}`)));
  grids.buffers.forEach(({box, title, A, B}, s) => {
    const held = buffers[s], reading = computes && event.step % g.STAGES === s, first = held ? held.step * g.BK : 0;
    title.textContent = `Buffer ${s + 1}: ${!held ? "empty" : `k = ${g.BK > 1 ? `${first}–` : ""}${first + g.BK - 1}${held.arrived ? reading ? ", in use" : "" : ", arriving"}`}`;
    put(box, "class", reading ? "buffer reading" : "buffer");
    const at = (M, i, j) => M[i]?.[j] ?? S.zero, look = (step, own) => held.arrived ? reading && first + step === k ? own : "" : "coming";
    A.paint((i, kk) => held ? [at(part.A, i, first + kk), look(kk, mineA(i) ? "first" : "band")] : [null, "empty"]);
    B.paint((kk, j) => held ? [at(part.B, first + kk, j), look(kk, mineB(j) ? "second" : "band")] : [null, "empty"]);
  });
  const valid = computes && k < depth;
  grids.a.paint(i => valid && mine.rows[i] < rows ? [part.A[mine.rows[i]][k], "first"] : [null, "empty"]);
  grids.b.paint((_, j) => valid && mine.columns[j] < columns ? [part.B[k][mine.columns[j]], "second"] : [null, "empty"]);
  grids.c.paint((i, j) => [C[mine.rows[i]]?.[mine.columns[j]] ?? null, computes ? "target" : "kept"]);
  const words = wordsOf(event, C, old);
  $("heading").textContent = words.heading;
  texts($("rule"), words.rule);
  texts($("numbers"), words.numbers);
  writeCounts(at ? event.counts : {global: 0, shared: 0, operations: 0});
}

// A step in words, and as an equation for the chosen element

function equation(k, C, old) {
  const [i, j] = state.chosen, number = (x, role = "") => [cut(shown(x), 30), role, exact(x)], [plus, times] = S.signs;
  const product = joinedBy(times, [[number(part.A[i][k], "first")], [number(part.B[k][j], "second")]]);
  const brackets = plus[0] === "between" && times[0] === "between" && !["×", ""].includes(times[1]);
  return ["= ", ...joinedBy(plus, [[number(old[i][j])], brackets ? ["(", ...product, ")"] : product]), " = ", number(C[i][j], "result")];
}

function wordsOf(event, C, old) {
  const {top, left, depth, rows, columns} = part, steps = Math.ceil(depth / g.BK), k = event.k, byTiles = events !== naive;
  const buffer = step => `buffer ${step % g.STAGES + 1}`, at = `[${top + state.chosen[0]}, ${left + state.chosen[1]}]`, others = g.TM * g.TN - 1;
  const words = (heading, ...rule) => ({heading, rule, numbers: k < depth ? equation(k, C, old) : []});
  if (k >= depth) return words(`k = ${k} is beyond the edge`, "The tile holds zeros there. The threads combine them, and nothing changes.");
  const rule = [`C${at} ← C${at} ⊕ `, [`A[${top + state.chosen[0]}, ${k}]`, "first"], " ⊗ ", [`B[${k}, ${left + state.chosen[1]}]`, "second"], byTiles && others ? `, and ${count(others, "more element")} of this thread` : ""];
  switch (event.kind) {
    case "start": return words(`Each thread sets its ${byTiles ? "registers" : "element"} to zero`, "Step on with ▶ or the arrow keys.");
    case "fetch": return words(`Copy tile ${event.step + 1} of ${steps} to ${buffer(event.step)}: ${rows} × ${g.BK} elements of A, ${g.BK} × ${columns} of B`, "From global to shared memory. Each thread copies a part, and nothing waits for the copies yet.");
    case "wait": return words(`Wait until tile ${event.step + 1} of ${steps} is in ${buffer(event.step)}`, event.fetched === null ? "All tiles are copied: no copy starts." : `Then start to copy tile ${event.fetched + 1} to ${buffer(event.fetched)}. It arrives while the threads compute.`);
    case "multiply": return words(`k = ${k}: each thread reads ${g.TM} of A and ${g.TN} of B from shared memory`, ...rule);
    case "naive": return words(`k = ${k}: each thread reads an element of A and one of B from global memory`, ...rule);
    default: return words("Each thread writes its elements to C in global memory", "Done: this block of C is computed.");
  }
}

// Counts, as numbers and as bars

const COUNTED = [["global", "loads from global memory"], ["shared", "loads from shared memory"], ["operations", "pairs of ⊗ and ⊕"]];
const times = x => x >= 100 ? many(Math.round(x)) : String(+x.toPrecision(3));
const total = list => list[list.length - 1].counts;

function bar(value, whole, most) {
  const width = x => `width: ${(most ? 100 * x / most : 0).toFixed(2)}%`;
  return element("span", {class: "track", "aria-hidden": "true"}, element("i", {style: width(whole)}), element("i", {style: width(value)}));
}

function table(node, caption, heads, rows) {
  node.replaceChildren(element("caption", {class: "sr"}, caption), element("thead", {}, element("tr", {}, ...heads.map(head => element("th", {scope: "col"}, head)))),
    element("tbody", {}, ...rows.map(([name, ...cells]) => element("tr", {}, element("th", {scope: "row"}, name), ...cells.map(cell => element("td", {}, ...[cell].flat()))))));
}

const saved = (naive, tiled) => tiled === 0 ? "–" : naive === tiled ? "the same" : naive > tiled ? `${times(naive / tiled)} times fewer` : `${times(tiled / naive)} times as many`;

function writeCounts(now) {
  const isNaive = events === naive, all = {tiled: total(tiled), naive: total(naive)}, [own, other] = isNaive ? ["naive", "tiled"] : ["tiled", "naive"];
  const rows = COUNTED.map(([name, text]) => {
    const most = Math.max(all.tiled[name], all.naive[name]), [mine, theirs] = [all[own][name], all[other][name]];
    return [text, [element("span", {class: "now"}, many(now[name])), ` of ${many(mine)}`, bar(now[name], mine, most)], [many(theirs), bar(theirs, theirs, most)],
      name === "shared" ? "–" : saved(all.naive[name], all.tiled[name])];
  });
  table($("counts"), "Counts for this block", ["", isNaive ? "naive, so far" : "by tiles, so far", isNaive ? "by tiles" : "naive", "difference"], rows);
}

// The library's tile, to scale: an element is a unit of the drawing.

const counted = new Map();

function drawReal(tile, note) {
  const {BM, BN, threads} = sidesOf(tile), key = JSON.stringify(tile);
  if (!counted.has(key)) counted.set(key, [total(tiledEvents(tile, BM, BN, LONG)), total(naiveEvents(BM, BN, LONG))]);
  const [tiled, all] = counted.get(key);
  $("real").textContent = `${S.name} over ${S.tiles[+$("dtype").value].dtype}: a block of ${count(threads, "thread")} computes ${BM} × ${BN} elements of C, ${tile.BK} steps of k at a time. ${note}`;
  table($("realcounts"), `Counts of a block for ${many(LONG)} steps of k`, [`${many(LONG)} steps of k`, "by tiles", "naive", "difference"], [...COUNTED.map(([name, text]) => [text, many(tiled[name]), many(all[name]), name === "shared" ? "–" : saved(all[name], tiled[name])]),
    ["pairs for each load from global memory", times(tiled.operations / tiled.global), times(all.operations / all.global), ""]]);
  const about = {TM: "rows of C that a thread keeps", TN: "columns of C that a thread keeps", LM: "threads of a warp, one below the other", LN: "threads of a warp, side by side", WM: "warps, one below the other", WN: "warps, side by side", BK: "steps of k in a buffer", STAGES: "buffers in shared memory", VECTOR: "elements that a thread loads at once", UNROLL: "steps of k that are written out", RESIDENT: "blocks that should fit in a multiprocessor"};
  table($("geometry"), "The numbers of the tile", ["", "library", "drawn"], Object.entries(about).map(([name, text]) => [`${name}: ${text}`, String(tile[name]), ["UNROLL", "RESIDENT"].includes(name) ? "–" : String(g[name])]));
  put($("thread"), "max", String(threads - 1));
  drawThread(tile);
}

function drawThread(tile) {
  const {BM, BN} = sidesOf(tile), gap = 12, x0 = tile.BK + gap, y0 = tile.BK + gap, thread = +$("thread").value, {warp, rows, columns} = placesOf(tile, thread);
  const rect = (kind, x, y, width, height) => element("svg:rect", {class: kind, x, y, width, height}), text = (x, y, said) => element("svg:text", {x, y, "font-size": BN / 12}, said);
  const warps = range(0, tile.WM * tile.WN).map(w => rect("warp", x0 + Math.floor(w / tile.WM) * tile.TN * tile.LN, y0 + w % tile.WM * tile.TM * tile.LM, tile.TN * tile.LN, tile.TM * tile.LM));
  $("drawing").replaceChildren(rect("frame", 0, y0, tile.BK, BM), rect("frame", x0, 0, BN, tile.BK), rect("frame", x0, y0, BN, BM),
    ...rows.map(i => rect("first", 0, y0 + i, tile.BK, 1)), ...columns.map(j => rect("second", x0 + j, 0, 1, tile.BK)), ...warps,
    ...rows.flatMap(i => columns.map(j => rect("kept", x0 + j, y0 + i, 1, 1))),
    text(tile.BK / 2, y0 - 3, "A"), text(x0 - gap / 2, tile.BK / 2 + 3, "B"), text(x0 - gap / 2, y0 + 10, "C"));
  put($("drawing"), "viewBox", `-1 -1 ${x0 + BN + 2} ${y0 + BM + 2}`);
  put($("drawing"), "aria-label", `The tile to scale: A ${BM} × ${tile.BK}, B ${tile.BK} × ${BN}, C ${BM} × ${BN}; the elements of thread ${thread}.`);
  put($("thread"), "aria-valuetext", `thread ${thread}, of warp ${warp}`);
  $("threadtext").textContent = `Thread ${thread}, of warp ${warp}, keeps ${rows.length} × ${columns.length} elements, in rows ${rows[0]} to ${rows.at(-1)} and columns ${columns[0]} to ${columns.at(-1)}. For each k it reads ${rows.length} elements of A and ${columns.length} of B, and combines ${rows.length * columns.length} pairs. Boxes are warps.`;
}

// Controls

document.title = $("title").textContent = DATA.title;
$("algebra").append(...ALGEBRAS.map(({name}, i) => element("option", {value: i}, name)));
for (const [name, list] of Object.entries(OWN)) options(`own-${name}`, list.map(text => [text, text]));
$("own-thread").value = "2 × 2";
$("own-depth").value = "4";
const player = new Player(draw, () => `${$("heading").textContent}. ${$("rule").textContent} ${$("numbers").textContent}`);
for (const id of ["algebra", "dtype", "kind", "tile", "block", "own-block", "own-thread", "own-depth", "own-stages"])
  $(id).onchange = () => {
    rebuild();
    $("said").textContent = $("scale").textContent;
  };
$("thread").oninput = () => drawThread(chosenTile()[1]);
addEventListener("resize", fit);
rebuild();

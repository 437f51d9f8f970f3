// The page: its state, what its controls do, and the link that opens it as it is.

const matrixView = new MatrixView($("matrix"), picked);
const graphView = new GraphView($("graph"));
const state = {algebra: DATA.start[0], method: DATA.start[1], step: 0, by: "change", timer: null, asked: null, edited: new Set()};
let S, trace, stops, shownAt, matrices;

// Running a method under an algebra

const methodOf = key => DATA.methods.find(method => method.key === key);
const algebraOf = key => ALGEBRAS.find(algebra => algebra.key === key);
// Letters of blocks, which are explained below the drawing, are shown for methods that have some.
const hasBlocks = () => methodOf(state.method).calls.length > 1;
const label = (i, j) => `${NAMES[i]} → ${NAMES[j]}`;

function given(algebra) {
  const matrix = square(NAMES.length, algebra.zero);
  EDGES.forEach(([u, v], e) => { matrix[u][v] = algebra.weights[e]; });
  return matrix;
}

function run(keep = false) {
  S = algebraOf(state.algebra);
  used = S;
  if (S.refusals[state.method]) state.method = DATA.methods.find(method => !S.refusals[method.key]).key;
  if (S.records) S.recorded = S.records[state.method];
  trace = replay(S, methodOf(state.method).calls, given(S));
  matrices = {A: copied(trace.start)};
  matrices.walks = {A: copied(trace.startWalks)};
  shownAt = 0;
  findStops();
  matrixView.width(["·", ...new Set([...trace.start.flat(), ...trace.steps.map(step => step.value ?? S.zero)].map(shown))]);
  writeAround();
  go(keep ? Math.min(state.step, trace.steps.length) : 0);
}

// Where "one step on" halts; a position is the number of steps that are done. Among changes, a star of a vertex without loops is passed over.
function findStops() {
  const steps = trace.steps, round = step => `${step.call} ${step.kind === "square" ? "" : step.pivots.join()}`;
  const teaches = step => step.changed && !(step.kind === "star" && S.unit && same(step.old, S.zero));
  const halts = (step, next) => !next || state.by === "entry" || (state.by === "change" && teaches(step))
    || (state.by === "round" && round(step) !== round(next));
  stops = [0, ...steps.flatMap((step, i) => halts(step, steps[i + 1]) ? [i + 1] : [])];
}

// Bring the matrices to a position, forwards or backwards from where they are.
function bring(to) {
  for (; shownAt < to; shownAt++) apply(trace.steps[shownAt], true);
  for (; shownAt > to; shownAt--) apply(trace.steps[shownAt - 1], false);
}

function apply(step, forwards) {
  const n = NAMES.length;
  if (step.kind === "copy") {
    const [values, walks] = forwards ? step.all : step.was;
    matrices[step.name] = copied(values);
    matrices.walks[step.name] = copied(walks);
    return;
  }
  matrices[step.name] ??= square(n, S.zero);
  matrices.walks[step.name] ??= square(n, WALKS.none);
  matrices[step.name][step.i][step.j] = forwards ? step.value : step.old;
  matrices.walks[step.name][step.i][step.j] = forwards ? step.walks : step.before;
}

// Drawing

function picked(place) {
  state.asked = place;
  draw();
}

function classesOf(step) {
  const n = NAMES.length, classes = range(0, n).map(() => range(0, n).map(() => []));
  if (step && step.kind !== "copy") {
    const block = (name, [, r0, r1, c0, c1]) => { for (const i of range(r0, r1)) for (const j of range(c0, c1)) classes[i][j].push(name); };
    const blocks = methodOf(state.method).calls[step.call].slice(1);
    if (["pivot", "row", "column", "star"].includes(step.kind)) {
      const [, r0, r1] = blocks[0], k = step.pivots[0];
      block("band", ["", k, k + 1, r0, r1]);
      block("band", ["", r0, r1, k, k + 1]);
    } else if (step.kind !== "one" && step.kind !== "square") block("block", blocks[step.kind === "left" ? 1 : 0]);
    for (const term of step.terms ?? []) {
      if (!isTerm(S, term)) continue;
      classes[step.i][term.k].push("first");
      classes[term.k][step.j].push("second");
    }
    if (step.factor !== undefined) classes[step.pivots[0]][step.pivots[0]].push("first");
    classes[step.i][step.j] = ["target"];
  }
  if (state.asked) classes[state.asked[0]][state.asked[1]].push("asked");
  return classes;
}

function draw() {
  const t = state.step, step = t ? trace.steps[t - 1] : null, ended = t === trace.steps.length;
  bring(t);
  const values = copied(matrices.A), walks = copied(matrices.walks.A);
  if (step && step.name !== "A" && step.kind !== "copy") {
    values[step.i][step.j] = step.value;
    walks[step.i][step.j] = step.walks;
  }
  const failed = ended && trace.failure;
  const terms = (step?.terms ?? []).filter(term => isTerm(S, term)), list = all => S.selective ? all.shortest.slice(0, 1) : all.shortest;
  const asked = state.asked && walks[state.asked[0]][state.asked[1]];
  graphView.draw({
    weights: S.weights, zero: S.zero, pivots: step?.pivots ?? [], opened: step?.opened ?? [],
    firsts: asked || failed ? [] : terms.flatMap(term => list(term.firstWalks)),
    seconds: asked || failed ? [] : terms.flatMap(term => list(term.secondWalks)),
    walks: failed ? trace.failure.walks.shortest.slice(0, 1) : asked ? list(asked) : terms.length || !step?.walks ? [] : list(step.walks),
    target: step && step.i >= 0 && !asked && !failed ? [step.i, step.j] : null,
    ends: asked ? state.asked : step && step.i >= 0 ? [step.i, step.j] : [],
  });
  matrixView.draw({values, walks, zero: S.zero, classes: classesOf(step), pivots: step?.pivots ?? [], tell});
  drawEquation(step, ended, asked, values);
  matrixView.show();  // once the controls have their height
  const at = stops.findLastIndex(stop => stop <= t);
  put($("slider"), "max", String(stops.length - 1));
  $("slider").value = at;
  put($("slider"), "aria-valuetext", `step ${at} of ${stops.length - 1}`);
  $("where").textContent = `${at} / ${stops.length - 1}`;
  // Not `disabled`, which takes the focus away.
  for (const [id, off] of [["first", t === 0], ["back", t === 0], ["last", ended], ["next", ended]]) put($(id), "aria-disabled", String(off));
  mark($("rounds"), button => +button.dataset.step < t);
  mark($("log"), button => +button.dataset.step === t);
}

function tell(i, j, value, walks, classes) {
  const roles = {target: "written now", first: "first factor", second: "second factor"};
  const role = Object.keys(roles).filter(name => classes.includes(name)).map(name => `, ${roles[name]}`).join("");
  const none = same(value, S.zero) && !walks.shortest.length;
  return `${NAMES[i]} to ${NAMES[j]}: ${none ? "no walk" : `${exact(value)}, ${byWalks(S, walks)}`}${role}`;
}

function drawEquation(step, ended, asked, values) {
  const walk = $("walk");
  walk.className = "";
  if (!step) {
    $("heading").textContent = trace.steps.length ? "The edges" : "Nothing to do";
    $("blocks").textContent = "A* = 1 ⊕ A ⊕ A² ⊕ …";
    texts($("rule"), []);
    texts($("numbers"), []);
    walk.textContent = "Each entry holds an edge; · means no edge. Step on with ▶ or the arrow keys.";
  } else {
    const words = wordsOf(S, step);
    $("heading").textContent = words.title;
    $("blocks").textContent = hasBlocks() ? words.blocks : "";
    texts($("rule"), words.rule);
    texts($("numbers"), words.numbers.length ? ["= ", ...words.numbers, " = "] : []);
    if (words.numbers.length) {
      const was = step.changed ? ` was ${same(step.old, S.zero) && !step.before.shortest.length ? `${shown(step.old)}, no walk` : brief(step.old)}` : " unchanged";
      $("numbers").append(element("mark", {title: exact(step.value)}, shown(step.value)), element("span", {class: "soft"}, was));
    }
    walk.textContent = step.walks?.shortest.length ? byWalks(S, step.walks) : "";
    if (ended && !trace.failure) walk.append(element("b", {class: "holds"}, `${walk.textContent ? " · " : ""}Done: this is A*`));
  }
  if (ended && trace.failure) {
    walk.className = "wrong";
    walk.textContent = failureText(S, trace.failure);
  }
  if (asked) {
    const [i, j] = state.asked;
    walk.className = "asked";
    walk.textContent = `${label(i, j)} so far: ${asked.shortest.length ? `${shown(values[i][j])}, ${byWalks(S, asked)}` : "no walk"}`;
  }
}

// The button of this step in a list, scrolled into it; places are asked for only where something changed and is open.
function mark(list, is) {
  const before = list.querySelector("[aria-current]"), current = [...list.querySelectorAll("button")].findLast(is);
  if (current === before) return;
  before?.removeAttribute("aria-current");
  current?.setAttribute("aria-current", "step");
  if (!current || list.closest("details:not([open])")) return;
  list.scrollLeft = current.offsetLeft - list.offsetLeft - list.clientWidth / 2;
  list.scrollTop = current.offsetTop - list.offsetTop - 60;
}

// What stands around the drawing, and changes with the algebra or the method alone.

function writeAround() {
  $("algebra").replaceChildren(...ALGEBRAS.map(({key, name}) => element("option", {value: key}, name)));
  $("method").replaceChildren(...DATA.methods.map(({key, name}) => element("option",
    {value: key, disabled: S.refusals[key] ? "" : null, title: S.refusals[key] ?? ""}, name + (S.refusals[key] ? " (not here)" : ""))));
  $("algebra").value = state.algebra;
  $("method").value = state.method;
  $("by").value = state.by;
  $("question").textContent = S.question;
  $("notation").textContent = S.notation;
  $("note").hidden = !S.records;
  if (S.records) $("note").textContent = "This algebra works on Python objects. The steps were recorded; edges cannot be edited here.";
  const refused = Object.values(S.refusals);
  $("facts").replaceChildren(...[["S, ⊕, ⊗, 0, 1", S.notation], ["closure", S.description], ["laws", S.flags.join(", ") || "those of every semiring"],
    ["method", methodOf(state.method).about], ["letters", hasBlocks() && state.method !== "squaring" && DATA.letters], ...refused.map(reason => ["not here", reason])]
    .filter(([, text]) => text).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  writeRounds();
  $("log").replaceChildren(...trace.steps.flatMap((step, i) => step.changed && step.kind !== "copy" && step.name === "A" ? [element("li", {}, element("button",
    {"data-step": i + 1, onclick: () => visit(i + 1)}, `${label(step.i, step.j)}: ${same(step.old, S.zero) ? "·" : brief(step.old)} ⇒ ${brief(step.value)}, ${walksText(S, step.walks)}`))] : []));
  writeEdges();
}

function writeRounds() {
  let last = null, squares = 0;
  const names = {left: "R", product: "X", right: "C", one: "1"};
  $("rounds").replaceChildren(...trace.steps.flatMap((step, i) => {
    const pivot = ["row", "pivot", "column", "star"].includes(step.kind), key = `${step.call} ${pivot ? step.pivots[0] : ""}`;
    if (key === last || step.kind === "copy") return [];
    last = key;
    const name = pivot ? NAMES[step.pivots[0]] : step.kind === "square" ? `≤ ${2 ** ++squares}` : names[step.kind];
    return [element("button", {"data-step": i, class: pivot ? "pivot" : null, title: wordsOf(S, step).title, onclick: () => visit(i + 1)}, cut(name, 6))];
  }));
}

function writeEdges() {
  $("edgehelp").textContent = S.records ? $("note").textContent
    : `Weights are elements of ${S.name}${S.fields ? `, as (${S.fields.join(", ")})` : ""}. An empty field removes the edge.`;
  $("edgelist").replaceChildren(...EDGES.map(([u, v], e) => element("label", {}, label(u, v), element("input", {
    value: same(S.weights[e], S.zero) ? "" : exact(S.weights[e]), autocomplete: "off", disabled: S.records ? "" : null,
    onchange: event => changeEdge(event.target, e)}))));
  for (const id of ["from", "to", "weight", "add"]) $(id).disabled = !!S.records;
}

function read(text) {
  const value = text.trim() === "" ? S.zero : typed(text, S.zero);
  if (!S.carrier(value)) throw Error(`${shown(value)} is not in the carrier of ${S.name}, ${S.notation}`);
  return value;
}

function changeEdge(input, e) {
  try {
    S.weights[e] = read(input.value);
    state.edited.add(S.key);
    put(input, "aria-invalid", "false");
    $("edgewrong").textContent = "";
    play(false);
    const at = document.activeElement;
    run(true);
    if (at === input) $("edgelist").querySelectorAll("input")[e].focus();
    remember();
  } catch (error) {
    put(input, "aria-invalid", "true");
    $("edgewrong").textContent = `${label(...EDGES[e])}: ${error.message}. The edge stays ${shown(S.weights[e])}.`;
  }
}

function addEdge(u, v) {
  if (EDGES.some(([x, y]) => x === u && y === v)) throw Error("this edge is there already: change its weight above");
  EDGES.push([u, v]);
  for (const algebra of ALGEBRAS) algebra.weights.push(algebra.zero);
  graphView.build();
}

// Moving

function go(step) {
  state.step = Math.max(0, Math.min(trace.steps.length, step));
  state.asked = null;
  draw();
}

function visit(step) {
  play(false);
  go(step);
  say();
  remember();
}

function move(by) {
  const at = stops.findLastIndex(stop => stop <= state.step), between = stops[at] < state.step;
  go(stops[Math.max(0, Math.min(stops.length - 1, at + (by < 0 && between ? 0 : by)))]);
}

function say() {
  const step = state.step ? trace.steps[state.step - 1] : null;
  const {title, numbers = []} = step ? wordsOf(S, step) : {title: "The edges"}, before = title === state.title ? "" : title;
  state.title = title;
  if (!step || step.kind === "copy") $("said").textContent = title;
  else {
    const failed = state.step === trace.steps.length && trace.failure ? ` ${failureText(S, trace.failure)}` : "";
    const by = plainText(numbers);
    $("said").textContent = `${before ? `${before}. ` : ""}${tell(step.i, step.j, step.value, step.walks, [])}${step.changed ? `, was ${exact(step.old)}` : ", unchanged"}${by ? `: ${by}` : ""}.${failed}`;
  }
}

function play(on) {
  clearInterval(state.timer);
  if (on && state.step === trace.steps.length) go(0);
  state.timer = on ? setInterval(() => {
    move(1);
    if (state.step === trace.steps.length) {
      play(false);
      say();
    }
  }, +$("speed").value) : null;
  if (on) $("said").textContent = "Playing";
  put($("play").querySelector("path"), "d", on ? "M7 5h4v14H7zM14 5h4v14h-4z" : "M8 5l11 7-11 7z");
  put($("play"), "aria-label", on ? "Pause" : "Play");
  if (!on) remember();
}

// The link: algebra, method, step; edges and weights where they were changed; an algebra of the reader's own.

function link() {
  const known = new URLSearchParams({a: state.algebra, m: state.method, t: state.step, by: state.by});
  const added = EDGES.slice(DATA.edges.length).map(edge => edge.join("-"));
  if (added.length) known.set("e", added.join());
  if (state.edited.has(S.key) || added.length) known.set("w", JSON.stringify(S.weights.map(w => same(w, S.zero) ? "" : written(w))));
  if (S.own) known.set("own", JSON.stringify(S.own));
  return `#${known}`;
}

const written = x => Array.isArray(x) ? x.map(written).join(", ") : typeof x === "boolean" ? String(+x) : isText(x) ? x.text : String(x);

// Not at each step: it takes longer than the step, and browsers refuse a hundred in half a minute.
function remember() {
  clearTimeout(state.link);
  state.link = setTimeout(() => {
    if (location.protocol !== "about:" && !state.timer) history.replaceState(null, "", link());
  }, 150);
}

// What a link asks for and the page has not is left as it is.
function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  try {
    if (asked.get("own")) {
      const own = JSON.parse(asked.get("own"));
      if (useOwn(own).holds) fillOwn(own, ELEMENTS[own.of] ? own.of : "real");
    }
  } catch {
    asked.delete("a");
  }
  if (algebraOf(asked.get("a"))) state.algebra = asked.get("a");
  if (methodOf(asked.get("m"))) state.method = asked.get("m");
  if (["change", "entry", "round"].includes(asked.get("by"))) state.by = asked.get("by");
  S = algebraOf(state.algebra);
  for (const edge of (asked.get("e") ?? "").split(",").filter(Boolean)) {
    const [u, v] = edge.split("-").map(Number);
    if (NAMES[u] !== undefined && NAMES[v] !== undefined && !EDGES.some(([x, y]) => x === u && y === v)) addEdge(u, v);
  }
  try {
    const weights = JSON.parse(asked.get("w") ?? "[]").map(read);
    if (weights.length === EDGES.length && !S.records) {
      S.weights = weights;
      state.edited.add(S.key);
    }
  } catch (error) {
    $("edgewrong").textContent = `The link's weights were left out: ${error.message}.`;
  }
  run();
  if (Number.isInteger(+asked.get("t"))) go(+asked.get("t"));
}

// An algebra of the reader's own

const OWN = [["add", "⊕, between walks"], ["mul", "⊗, along a walk"], ["zero", "0, no walk"], ["one", "1, to stay"],
  ["carrier", "which of them (may be empty)"], ["star", "a* (may be empty)"]];
const EXAMPLES = {  // an algebra, then one that breaks a law, in the order of OWN
  real: [["max(a, b)", "a * b", "0", "1", "0 <= a <= 1", ""], ["(a + b) / 2", "a + b", "∞", "0", "", ""]],
  finite: [["a + b", "a * b", "0", "1", "", "1 / (1 - a)"], ["max(a, b)", "a * b", "0", "1", "", ""]],
  whole: [["gcd(a, b)", "lcm(a, b)", "0", "1", "a >= 0 and a < ∞", ""], ["a + b", "max(a, b)", "0", "0", "a >= 0", ""]],
  truth: [["a or b", "a and b", "0", "1", "", ""], ["a != b", "a or b", "0", "0", "", ""]],
  pair: [["where(a[0] < b[0], a, where(b[0] < a[0], b, (a[0], a[1] + b[1])))", "(a[0] + b[0], a[1] * b[1])", "(∞, 0)", "(0, 1)",
    "a[0] == ∞ ? a[1] == 0 : a[0] >= 0 and a[1] >= 1", ""],
  ["where(a[0] > b[0] or a[0] == b[0] and a[1] <= b[1], a, b)", "(min(a[0], b[0]), a[1] + b[1])", "(0, ∞)", "(∞, 0)",
    "a[0] >= 0 and a[1] >= 0 and (a[0] > 0 or a[1] == ∞)", ""]],
};
const HELP = {
  real: "", finite: "", whole: " Bits are combined by | & ^.", truth: " They are written 0 and 1; and, or, not, == and != will do.",
  pair: " The numbers of a pair are a[0] and a[1], and (x, y) makes one; < and min look at the first numbers, then at the second.",
};

const ownOf = () => $("own-of").value;

function fillOwn(values, of = ownOf()) {
  $("own-of").value = of;
  $("ownhelp").textContent = HELP[of];
  for (const [i, [name]] of OWN.entries()) {
    $(`own-${name}`).value = Array.isArray(values) ? values[i] : values[name];
    put($(`own-${name}`), "aria-invalid", "false");
  }
}

function signOf(text, otherwise) {
  const call = text.match(/^\s*(min|max|logaddexp|gcd|lcm)\(\s*a\s*,\s*b\s*\)\s*$/), between = text.match(/^\s*a\s*([-+*·×|&^]|or|and)\s*b\s*$/);
  return call ? ["before", call[1]] : ["between", between ? between[1].replace(/[*·]/, "×") : otherwise];
}

// The laws of what was typed; where they hold the algebra joins the others.
function useOwn(given) {
  const of = ELEMENTS[given.of] ? given.of : "real", own = ownAlgebra(given), report = tried(own, of);
  if (!report.holds) return report;
  const has = flag => report.flags.includes(flag), diverges = has("selective") && !has("bounded");
  const refusals = {};
  if (!has("idempotent")) refusals.squaring = "squaring counts walks twice where ⊕ is not idempotent";
  else if (!has("bounded") && !diverges) refusals.squaring = "squaring needs longer and longer walks to stop improving";
  const lengths = DATA.lengths, short = x => +x.toPrecision(3);
  const scaled = [short, x => short(1 / (1 + Math.abs(x)))], fits = {real: scaled, finite: scaled, whole: [Math.round], truth: [() => true],
    pair: [x => [short(x), 1], x => [short(x), short(x)]]}[of];
  const algebra = {...own, key: "own", name: "your own", own: given, question: has("selective") ? "What is the value of the best walk?" : "What do the values of all walks combine to?", description: "", refusals,
    notation: `(${given.carrier.trim() ? `{a: ${given.carrier}}` : ELEMENTS[of].name}, ${given.add}, ${given.mul}, ${shown(own.zero)}, ${shown(own.one)})`, flags: report.flags, selective: has("selective"),
    diverges, unit: has("bounded") || diverges, signs: [signOf(given.add, "⊕"), signOf(given.mul, "⊗")],
    weights: EDGES.map((_, e) => lengths[e] === undefined ? own.zero : fits.map(fit => fit(lengths[e])).find(own.carrier) ?? own.one)};
  const at = ALGEBRAS.findIndex(({key}) => key === "own");
  ALGEBRAS.splice(at < 0 ? ALGEBRAS.length : at, 1, algebra);
  return report;
}

function tryOwn() {
  const values = {of: ownOf(), ...Object.fromEntries(OWN.map(([name]) => [name, $(`own-${name}`).value]))}, out = $("laws");
  for (const [name] of OWN) put($(`own-${name}`), "aria-invalid", "false");
  try {
    const report = useOwn(values);
    const lines = report.laws.map(({name, formula, witness}) => element("li", {class: witness ? "wrong" : "holds"}, witness
      ? `✗ ${name}: ${formula} does not hold for ${witness.chosen.map((x, i) => `${"abc"[i]} = ${shown(x)}`).join(", ")}: ${shown(witness.left)} ${witness.right === "an element" ? "is not" : "≠"} ${typeof witness.right === "string" ? witness.right : shown(witness.right)}`
      : `✓ ${name}`));
    const said = report.holds ? `No law failed on ${report.pool.length} test elements: ${report.flags.join(", ") || "no further law holds"}. The algebra is in use now.` : "Not a semiring:";
    const opposite = report.laws.some(({witness}) => witness && [witness.left, witness.right].some(x => x !== x) && witness.chosen.some(x => Math.abs(x) === Infinity));
    const remedy = opposite ? [element("p", {}, `This operation has no value for some infinities: name a carrier, such as a > −∞ and a < ∞, or let elements be ${ELEMENTS.finite.name}.`)] : [];
    out.replaceChildren(element("p", {class: report.holds ? "holds" : "wrong"}, said), element("ul", {}, ...lines), ...remedy);
    if (!report.holds) return;
    play(false);
    state.algebra = "own";
    state.edited.delete("own");
    run();
    remember();
  } catch (error) {
    if (!error.field) throw error;
    put($(`own-${error.field}`), "aria-invalid", "true");
    out.replaceChildren(element("p", {class: "wrong"}, `${OWN.find(([name]) => name === error.field)[1]}: ${error.message}.`));
  }
}

// Controls

document.title = $("title").textContent = DATA.title;
$("own-of").append(...Object.entries(ELEMENTS).map(([of, {name}]) => element("option", {value: of}, name)));
$("ownfields").append(...OWN.map(([name, text]) => element("label", {class: ["add", "mul", "carrier", "star"].includes(name) ? "wide" : null}, text, element("input", {id: `own-${name}`, autocomplete: "off", spellcheck: "false"}))));
fillOwn(EXAMPLES.real[0]);
$("own-of").onchange = () => { $("laws").replaceChildren(); fillOwn(EXAMPLES[ownOf()][0]); };
for (const id of ["from", "to"]) $(id).append(...NAMES.map((name, v) => element("option", {value: v}, name)));
$("algebra").onchange = event => { play(false); state.algebra = event.target.value; $("edgewrong").textContent = ""; run(); remember(); };
$("method").onchange = event => { play(false); state.method = event.target.value; run(); remember(); };
$("by").onchange = event => { state.by = event.target.value; findStops(); draw(); remember(); };
$("speed").onchange = () => state.timer && play(true);
$("slider").oninput = event => { play(false); go(stops[+event.target.value]); };
$("slider").onchange = () => { say(); remember(); };
$("first").onclick = () => visit(0);
$("last").onclick = () => visit(trace.steps.length);
const onwards = by => { play(false); move(by); say(); remember(); };
$("back").onclick = () => onwards(-1);
$("next").onclick = () => onwards(1);
$("play").onclick = () => play(!state.timer);
$("changes").ontoggle = () => {
  $("log").querySelector("[aria-current]")?.removeAttribute("aria-current");
  mark($("log"), button => +button.dataset.step === state.step);
};
$("link").onclick = async () => {
  const address = location.href.split("#")[0] + link();
  try {
    await navigator.clipboard.writeText(address);
    $("said").textContent = $("copied").textContent = location.protocol === "file:" ? "Copied; it opens this file, on this computer" : "Copied";
    setTimeout(() => { $("copied").textContent = ""; }, 3000);
  } catch {
    prompt("A link to this step:", address);
  }
};
$("add").onclick = () => {
  try {
    const value = read($("weight").value);
    if (same(value, S.zero)) throw Error($("weight").value.trim() ? `${shown(value)} means that there is no edge` : "a weight is missing");
    addEdge(+$("from").value, +$("to").value);
    S.weights[EDGES.length - 1] = value;
    state.edited.add(S.key);
    $("weight").value = $("edgewrong").textContent = "";
    run(true);
    remember();
  } catch (error) {
    $("edgewrong").textContent = `${error.message}.`;
  }
};
$("try").onclick = tryOwn;
$("good").onclick = () => fillOwn(EXAMPLES[ownOf()][0]);
$("bad").onclick = () => fillOwn(EXAMPLES[ownOf()][1]);
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (event.key === " " && event.target.closest("button, summary")) return;
  const act = {ArrowRight: () => onwards(1), ArrowLeft: () => onwards(-1), Home: () => visit(0), End: () => visit(trace.steps.length),
    " ": () => play(!state.timer)}[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
// What is below the controls is announced above, as long as it is out of sight.
function tellOfMore() {
  const most = document.documentElement.scrollHeight - innerHeight;
  $("below").hidden = most < 40 || scrollY > most - 40;
}
$("below").onclick = () => {
  $("more").scrollIntoView();
  $("more").querySelector("summary").focus();
};
for (const name of ["resize", "scroll"]) addEventListener(name, tellOfMore);
addEventListener("resize", () => matrixView.fit());
if (location.protocol === "about:") $("link").hidden = true;  // there is no address to copy
addEventListener("hashchange", restore);
restore();
new ResizeObserver(tellOfMore).observe(document.body);

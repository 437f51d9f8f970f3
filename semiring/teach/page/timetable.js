// The page of a timetable: sliders, what follows from them, the network, and times as a diagram.

const DATA = JSON.parse($("data").textContent), NAMES = DATA.names, EDGES = DATA.edges, UNIT = BigInt(DATA.unit);
const MOST_SHOWN = 60, WINDOW = 8, LIMIT = 1e6;
const state = {event: 0};
let found, live, rounds, sliders;

// Numbers as texts: decimals where they end, else a fraction.

const minus = text => text.replace("-", "−");
function text([p, q], both = false) {
  const [a, b] = fraction(p, q * UNIT), ends = 10n ** 6n % b === 0n, decimal = minus(String(ends ? Number(a) / Number(b) : +(Number(a) / Number(b)).toPrecision(6)));
  if (b === 1n || (ends && !both)) return decimal;
  return both ? `${minus(`${a}/${b}`)} ${ends ? "=" : "≈"} ${decimal}` : minus(`${a}/${b}`);
}
const timeText = value => value === null ? "–" : text([value, found.scale]);
const plain = value => Number(value) / Number(UNIT);
const walkOf = walk => walk.map(v => NAMES[v]).join(" → ");
const listed = parts => parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
const count = (n, one) => `${n} ${n === 1 ? one : `${one}s`}`;

function analyse() {
  live = range(0, EDGES.length).filter(e => state.on[e]);
  found = analysed(NAMES.length, live.map(e => [...EDGES[e], state.durations[e]]), state.start);
  found.critical = new Set(found.components.flatMap(({critical}) => critical.map(e => live[e])));
  rounds = Math.min(MOST_SHOWN, found.transient === null ? MOST_SHOWN : Math.max(WINDOW, found.transient + 2 * found.period + 1));
  while (found.x.length < rounds + WINDOW + 2) found.x.push(found.step(found.x[found.x.length - 1]));
}

// What follows, in sentences

function sentences() {
  const cyclic = found.components.filter(({mean}) => mean), {transient, period, rates} = found;
  if (!cyclic.length) return ["It has no cycle, and so no cycle time λ.", transient === 0 ? "No event waits for another one." : `Each round has fewer events. From round ${transient} on, none takes place.`];
  const cycleText = ({cycles, mean}) => `${cycles.length > 1 ? "Critical cycles" : "Critical cycle"}: ${cycles.map(cycle => `${walkOf(cycle)} (${text([mean[0] * BigInt(cycle.length - 1), mean[1]])} in ${count(cycle.length - 1, "round")})`).join("; ")}.`;
  const same = rates.every(rate => equalTo(rate, rates[0])), many = cyclic.length > 1, first = [];
  if (same) first.push(`The cycle time λ is ${text(rates[0], true)}: in the long run, each event takes place every ${text(rates[0])}.`);
  else first.push("The events do not share a cycle time λ.");
  if (!many) first.push(cycleText(cyclic[0]));
  else for (const part of cyclic) first.push(`Component of ${listed(part.vertices.map(v => NAMES[v]))}: λ is ${text(part.mean, true)}. ${cycleText(part)}`);
  if (!same) {
    const groups = [];
    rates.forEach((rate, v) => {
      const group = groups.find(([other]) => equalTo(other, rate));
      if (group) group[1].push(NAMES[v]);
      else groups.push([rate, [NAMES[v]]]);
    });
    first.push(groups.map(([rate, names]) => rate ? `${listed(names)}: every ${text(rate)}` : `${listed(names)}: only in the first rounds`).join("; ") + ".");
  }
  if (transient === null) first.push(`Times do not repeat within ${MOST_ROUNDS} rounds: another cycle is nearly critical.`);
  else {
    const later = same ? `: ${count(period, "round")} later, each event is ${text([BigInt(period) * rates[0][0], rates[0][1]])} later` : ` in every ${period > 1 ? `${period} rounds` : "round"}, each event at its own pace`;
    first.push(`From round ${transient} on, times repeat${later}.${found.cyclicity > 1n ? ` The cyclicity of the network is ${found.cyclicity}.` : ""}`);
  }
  return first;
}

// The table of durations

function buildEdges() {
  const heads = ["", "From → to", "Duration", "", "Longer, same λ", "Longer, same times"];
  sliders = EDGES.map(([u, v], e) => {
    const name = `${NAMES[u]} → ${NAMES[v]}`, w = plain(state.durations[e]), limits = {min: Math.min(0, 2 * w), max: Math.max(10, Math.ceil(2 * Math.abs(w)))};
    const on = element("input", {type: "checkbox", "aria-label": `${name} counts`, onchange: () => { state.on[e] = on.checked; refresh(true); }});
    const slider = element("input", {type: "range", "aria-label": `Duration ${name}`, ...limits, step: DATA.step, oninput: () => change(e, slider.value, slider), onchange: announce});
    const field = element("input", {type: "number", "aria-label": `Duration ${name} as a number`, step: DATA.step, onchange: () => { change(e, field.value, field); announce(); }});
    const slack = [4, 5].map(i => element("td", {class: "slack", "data-head": heads[i]}));
    const row = element("tr", {}, element("td", {}, on), element("th", {scope: "row"}, name), element("td", {}, field), element("td", {class: "wide"}, slider), ...slack);
    return {on, slider, field, slack, row};
  });
  $("edges").replaceChildren(element("caption", {class: "sr"}, "Durations, and how much longer they may be"), element("thead", {}, element("tr", {}, ...heads.map(head => head ? element("th", {scope: "col"}, head) : element("td")))),
    element("tbody", {}, ...sliders.map(({row}) => row)));
  $("start").replaceChildren(...NAMES.map((name, v) => element("label", {}, name, element("input", {type: "number", step: DATA.step, value: plain(state.start[v]), onchange: event => changeStart(v, event.target)}))));
}

function readNumber(given) {
  const value = given.trim() === "" ? NaN : Number(given);
  if (!(Math.abs(value) <= LIMIT)) throw Error(`“${given}” is not a number up to ${LIMIT.toLocaleString("en")}`);
  const exact = Math.round(value * DATA.unit);
  if (Math.abs(exact - value * DATA.unit) > 1e-6) throw Error(`“${given}” has more than 3 decimals`);
  return BigInt(exact);
}

function attempt(input, act) {
  try {
    act();
    $("wrong").textContent = "";
    put(input, "aria-invalid", "false");
    return true;
  } catch (error) {
    $("wrong").textContent = `${input.getAttribute("aria-label") ?? "Start"}: ${error.message}.`;
    put(input, "aria-invalid", "true");
    return false;
  }
}

const change = (e, given, input) => attempt(input, () => { state.durations[e] = readNumber(given); }) && refresh();
const changeStart = (v, input) => attempt(input, () => { state.start[v] = readNumber(input.value); }) && refresh(true);
const announce = () => { $("said").textContent = sentences().join(" "); };

function refresh(aloud = false) {
  analyse();
  $("results").replaceChildren(...sentences().map((sentence, i) => element("p", {class: i ? null : "period"}, sentence)));
  sliders.forEach(({on, slider, field, slack, row}, e) => {
    const at = live.indexOf(e), w = plain(state.durations[e]), isCritical = found.critical.has(e);
    on.checked = state.on[e];
    if (w > +slider.max) slider.max = w;
    if (w < +slider.min) slider.min = w;
    if (document.activeElement !== slider) slider.value = w;
    if (document.activeElement !== field) field.value = w;
    for (const input of [slider, field]) input.disabled = at < 0;
    put(row, "class", `${isCritical ? "critical" : ""} ${at < 0 ? "off" : ""}`.trim());
    const mean = at < 0 ? null : found.slackOfMean[at], times = at < 0 ? null : found.slackOfTimes[at];
    slack[0].textContent = at < 0 ? "–" : mean === null ? "any, it is on no cycle" : isCritical ? "0, critical" : text(mean);
    slack[1].textContent = at < 0 ? "–" : times === Infinity ? "any" : times === null ? "?" : text(times);
  });
  writeAll();
  player.resize(rounds, Math.min(player.at, rounds));
  if (aloud) announce();
}

function writeAll() {
  const shown = range(0, rounds + 1);
  $("all").replaceChildren(element("caption", {class: "sr"}, "Times by round and event"), element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "round"), ...NAMES.map(name => element("th", {scope: "col"}, name)))),
    element("tbody", {}, ...shown.map(t => element("tr", {}, element("th", {scope: "row"}, `${t}${t === found.transient ? ", repeats from here" : ""}`), ...found.x[t].map(value => element("td", {}, timeText(value)))))));
}

// A round

function decidesAt(t, v) {
  const into = live.filter(e => EDGES[e][1] === v && found.x[t][EDGES[e][0]] !== null);
  const arrival = e => found.x[t][EDGES[e][0]] + state.durations[e] * found.scale;
  return {into, arrival, deciding: into.filter(e => arrival(e) === found.x[t + 1][v])};
}

function draw(t) {
  const v = state.event, {into, deciding} = decidesAt(t, v), pair = e => EDGES[e], critical = [...found.critical];
  graphView.draw({
    weights: EDGES.map((_, e) => state.on[e] ? plain(state.durations[e]) : -Infinity), zero: -Infinity, pivots: [v],
    opened: critical.flatMap(pair), firsts: deciding.map(pair), seconds: [], walks: critical.map(pair), target: null, ends: [],
  });
  drawTimes(t);
  const now = found.x[t], next = found.x[t + 1][v];
  $("heading").textContent = `Round ${t + 1}: ${NAMES[v]}${next === null ? " does not take place" : ` at ${timeText(next)}`}`;
  texts($("rule"), into.length ? [`It waits for ${listed(into.map(e => `${NAMES[EDGES[e][0]]} + ${plain(state.durations[e])}`))}, and `, [listed(deciding.map(e => NAMES[EDGES[e][0]])), "first"], deciding.length > 1 ? " decide." : " decides."]
    : [t ? "Nothing that it waits for took place in the round before." : "It waits for no event, so it takes place in round 0 alone."]);
  texts($("numbers"), into.length ? [`x(${NAMES[v]}, ${t + 1}) = max(`, ...into.flatMap((e, i) => [i ? ", " : "", [`${timeText(now[EDGES[e][0]])} + ${minus(String(plain(state.durations[e])))}`, deciding.includes(e) ? "first" : ""]]), `) = ${timeText(next)}`] : []);
}

// Times from left to right, an event a row; WINDOW rounds of them.
function drawTimes(t) {
  const from = Math.max(0, Math.min(t - 2, rounds - WINDOW)), shown = range(from, from + WINDOW), {x, scale} = found, row = 42, top = 16;
  const value = z => Number(z) / Number(scale * UNIT), wide = Math.max(260, $("times").clientWidth || 600), left = Math.min(12, Math.max(...NAMES.map(name => [...name].length))) * 7.8 + 14;
  const points = range(from, from + WINDOW + 1).flatMap(s => x[s].flatMap((z, v) => z === null ? [] : [[s, v, value(z)]]));
  const low = Math.min(...points.map(p => p[2])), high = Math.max(low + 1e-9, ...points.map(p => p[2])), end = top + row * (NAMES.length - 1);
  const X = z => left + 8 + (z - low) / (high - low) * (wide - left - 24), Y = v => top + row * v, line = (kind, x1, y1, x2, y2) => element("svg:line", {class: kind, x1: x1.toFixed(1), y1, x2: x2.toFixed(1), y2});
  const lines = shown.flatMap(s => live.flatMap(e => {
    const [u, v] = EDGES[e];
    if (x[s][u] === null) return [];
    const arrival = x[s][u] + state.durations[e] * scale, tight = arrival === x[s + 1][v], first = s === t && v === state.event && tight;
    return [line(`way${found.critical.has(e) ? " critical" : ""}${first ? " first" : ""}`, X(value(x[s][u])), Y(u), X(value(arrival)), Y(v)), ...tight ? [] : [line("wait", X(value(arrival)), Y(v), X(value(x[s + 1][v])), Y(v))]];
  }));
  const unit = 10 ** Math.floor(Math.log10((high - low) / 5)), step = [1, 2, 5, 10].map(m => m * unit).find(size => (high - low) / size <= Math.max(3, wide / 90)) ?? unit * 10;
  const ticks = range(Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9) + 1).map(i => +(i * step).toPrecision(12));
  $("times").replaceChildren(...ticks.flatMap(z => [line("grid", X(z), top - 8, X(z), end + 12), element("svg:text", {class: "tick", x: X(z), y: end + 28}, minus(String(z)))]),
    ...NAMES.map((_, v) => line("row", left, Y(v), wide, Y(v))), ...lines, ...NAMES.map((name, v) => element("svg:text", {x: 0, y: Y(v) + 4}, cut(name, 12))),
    ...points.map(([s, v, z]) => element("svg:circle", {class: s === t ? "now" : s === t + 1 ? "next" : null, cx: X(z).toFixed(1), cy: Y(v), r: s === t ? 6 : 4.5}, element("svg:title", {}, `${NAMES[v]}, round ${s}: ${timeText(x[s][v])}`))));
  put($("times"), "viewBox", `0 0 ${wide} ${end + 36}`);
  put($("times"), "aria-label", `Times of rounds ${from} to ${from + WINDOW}. The table All times has them as numbers. Round ${t}: ${NAMES.map((name, v) => `${name} ${timeText(x[t][v])}`).join(", ")}.`);
  $("all").querySelectorAll("tbody tr").forEach((tr, s) => tr.querySelectorAll("td").forEach(td => put(td, "class", s === t ? "now" : "")));
}

// Controls

document.title = $("title").textContent = DATA.title;
$("event").append(...NAMES.map((name, v) => element("option", {value: v}, name)));
const graphView = new GraphView($("graph"));
const player = new Player(draw, () => `${$("heading").textContent}. ${$("rule").textContent} ${$("numbers").textContent}`);
$("event").onchange = () => {
  state.event = +$("event").value;
  player.go(player.at);
  player.say();
};
function begin() {
  Object.assign(state, {durations: DATA.durations.map(BigInt), on: EDGES.map(() => true), start: NAMES.map(() => 0n)});
  buildEdges();
  refresh();
}
$("reset").onclick = () => {
  begin();
  announce();
};
addEventListener("resize", () => drawTimes(player.at));
begin();

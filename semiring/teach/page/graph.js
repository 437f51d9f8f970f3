// The graph, as SVG: vertices at their places, edges as curves, and what a step reads and writes in colour.

const RADIUS = 17, WIDTH = 400, HEIGHT = 320;

// Boxes are [left, top, right, bottom].
const boxAround = (x, y, width, height) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
const overlap = (p, q) => p[0] < q[2] && q[0] < p[2] && p[1] < q[3] && q[1] < p[3];
const LINE = 18;  // the height of a weight
const PEN = document.createElement("canvas").getContext("2d"), FAMILY = getComputedStyle(document.body).fontFamily;
function widthOf(text, font) {
  PEN.font = `${font} ${FAMILY}`;
  PEN.textRendering = "geometricPrecision";  // in a drawing of any size letters are as wide
  return PEN.measureText(text).width + 6;
}
const ALONG = [0.42, 0.5, 0.34, 0.58, 0.27, 0.66, 0.2, 0.74], ASIDE = [0, 9, -9, 16, -16];
const DIAGONALS = [[0.7, -0.7], [0.7, 0.7], [-0.7, -0.7], [-0.7, 0.7]];
const DENSE = 3;  // edges for each vertex: beyond that only a step's weights are drawn

class GraphView {
  constructor(svg) {
    this.svg = svg;
    this.places = DATA.positions.map(([x, y]) => [60 + x * (WIDTH - 120), 40 + y * (HEIGHT - 80)]);
    this.short = NAMES.every(name => [...name].length <= 2);
    this.radius = this.short ? RADIUS : 8;
    this.build();
  }

  build() {
    const markers = ["plain", "first", "second", "walk"].map(kind => element("svg:marker", {
      id: `arrow-${kind}`, class: `arrow ${kind}`, viewBox: "0 0 10 10", refX: 8.5, refY: 5, markerWidth: 9,
      markerHeight: 9, orient: "auto", markerUnits: "userSpaceOnUse"}, element("svg:path", {d: "M0,1L10,5L0,9z"})));
    this.target = element("svg:path", {class: "target"});
    this.edges = EDGES.map(([u, v]) => this.edge(u, v));
    this.circles = this.places.map(([x, y]) => boxAround(x, y, 2 * this.radius + 4, 2 * this.radius + 4));
    this.names = [];
    this.vertices = NAMES.map((name, v) => this.vertex(name, v));
    this.svg.replaceChildren(element("svg:defs", {}, ...markers), this.target,
      ...this.edges.map(edge => edge.group), ...this.vertices, ...this.edges.map(edge => edge.label));
    this.texts = null;  // until they are arranged
  }

  // The drawing has room for every vertex, name and weight, and for a loop at each vertex, which a step may draw.
  frame(boxes) {
    const all = [...boxes, ...this.circles, ...this.names.filter(Boolean), ...NAMES.map((_, v) => this.loopBox(v))];
    const end = i => Math[i < 2 ? "min" : "max"](...all.map(box => box[i])) + (i < 2 ? -4 : 4);
    const [left, top, right, bottom] = [0, 1, 2, 3].map(end), wide = Math.max(right - left, 340), high = Math.max(bottom - top, 220);
    const x = left - (wide - right + left) / 2, y = top - (high - bottom + top) / 2;
    put(this.svg, "viewBox", [x, y, wide, high].map(number => number.toFixed(1)).join(" "));
  }

  loopBox(v) {
    const [x, y] = this.places[v], [ux, uy] = this.outwards(v), middle = this.radius + 12;
    return boxAround(x + ux * middle, y + uy * middle, 40, 40);
  }

  // Where a weight can stand: at its edge, first in the middle and on the line, or above a loop.
  stands(u, v, bend) {
    if (u === v) {
      const [x, y] = this.places[u], [ux, uy] = this.outwards(u), r = this.radius;
      return [[0, 25], [0, 34], [20, 20], [-20, 20], [32, 12], [-32, 12], [0, 44]].map(([side, out]) =>
        [x + ux * (r + out) - uy * side, y + uy * (r + out) + ux * side]);
    }
    const {p, middle: m, q} = this.curve(u, v, bend), at = t => [0, 1].map(i => (1 - t) ** 2 * p[i] + 2 * t * (1 - t) * m[i] + t * t * q[i]);
    const length = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, normal = [-(q[1] - p[1]) / length, (q[0] - p[0]) / length];
    return ASIDE.flatMap(aside => ALONG.map(t => at(t).map((x, i) => x + normal[i] * aside)));
  }

  // Give each weight a place where it is on no vertex, name or other weight; those without one are shown by a step that uses their edge.
  arrange(texts) {
    this.texts = texts;
    const boxes = this.edges.map(() => null), length = ([u, v]) => Math.hypot(this.places[u][0] - this.places[v][0], this.places[u][1] - this.places[v][1]);
    const inTurn = EDGES.length > DENSE * NAMES.length ? [] : EDGES.map((_, e) => e);
    for (const e of inTurn.sort((a, b) => length(EDGES[a]) - length(EDGES[b]))) boxes[e] = this.free(e, boxes);
    this.boxes = boxes;
    this.frame(boxes.filter(Boolean));
  }

  // The first box for the weight of an edge that is on nothing else.
  free(e, boxes) {
    const width = widthOf(this.texts[e], "14px"), taken = [...this.circles, ...this.names.filter(Boolean), ...boxes.filter(Boolean)];
    const found = this.edges[e].stands.map(([x, y]) => boxAround(x, y, width, LINE));
    return found.find(box => !taken.some(other => overlap(box, other))) ?? null;
  }

  // The weights that are drawn: those of the step's edges, then all others that are on none of these.
  shown(used) {
    const boxes = this.edges.map(() => null);
    for (const e of used) boxes[e] = this.boxes[e] && !boxes.some(box => box && overlap(box, this.boxes[e])) ? this.boxes[e] : this.free(e, boxes);
    this.boxes.forEach((box, e) => {
      if (box && !boxes[e] && !boxes.some(other => other && overlap(box, other))) boxes[e] = box;
    });
    return boxes;
  }

  // The direction from the middle of the drawing to a vertex.
  outwards(v) {
    const [x, y] = this.places[v], dx = x - WIDTH / 2, dy = y - HEIGHT / 2, length = Math.hypot(dx, dy);
    return length < 1 ? [0, -1] : [dx / length, dy / length];
  }

  // A quadratic curve that bends to its right, trimmed to the circles: its path, its ends and the point between them.
  curve(u, v, bend) {
    const [[x1, y1], [x2, y2]] = [this.places[u], this.places[v]], r = this.radius;
    if (u === v) {
      const [ux, uy] = this.outwards(u), at = (side, out) => [x1 + ux * out - uy * side, y1 + uy * out + ux * side];
      const [p, q, a, b] = [at(-r / 2, r * 0.85), at(r / 2, r * 0.85), at(-24, r + 30), at(24, r + 30)];
      return {d: `M${p}C${a} ${b} ${q}`};
    }
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, ux = (x2 - x1) / length, uy = (y2 - y1) / length;
    const mx = (x1 + x2) / 2 - uy * bend, my = (y1 + y2) / 2 + ux * bend;
    const trimmed = (x, y) => {
      const far = Math.hypot(mx - x, my - y) || 1;
      return [x + (mx - x) / far * (r + 1), y + (my - y) / far * (r + 1)];
    };
    const [p, q] = [trimmed(x1, y1), trimmed(x2, y2)], round = ([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`;
    return {d: `M${round(p)}Q${round([mx, my])} ${round(q)}`, p, middle: [mx, my], q};
  }

  edge(u, v) {
    const back = u !== v && EDGES.some(([x, y]) => x === v && y === u);
    const bend = back ? 22 : 8, label = element("svg:g", {class: "weight"}, element("svg:title"), element("svg:rect", {rx: 3}), element("svg:text"));
    return {group: element("svg:path", {class: "edge", d: this.curve(u, v, bend).d}), label, stands: this.stands(u, v, bend)};
  }

  vertex(name, v) {
    const [x, y] = this.places[v];
    const label = element("svg:text", this.short ? {x, y} : this.nameAt(name, v), cut(name, 12));
    return element("svg:g", {class: "vertex"}, element("svg:title", {}, name),
      element("svg:circle", {cx: x, cy: y, r: this.radius}), label);
  }

  // A long name stands outside of its vertex, where it is on no loop, vertex or other name.
  nameAt(name, v) {
    const [x, y] = this.places[v], [ox, oy] = this.outwards(v), away = this.radius + 5, width = widthOf(cut(name, 12), "600 14px");
    const loop = EDGES.some(([a, b]) => a === v && b === v) ? [this.loopBox(v)] : [];
    const taken = [...loop, ...this.circles.filter((_, w) => w !== v), ...this.names.filter(Boolean)];
    const found = [[ox, oy], ...DIAGONALS, [-oy, ox], [oy, -ox], [-ox, -oy]].map(([ux, uy]) => {
      const anchor = Math.abs(ux) < 0.35 ? "middle" : ux > 0 ? "start" : "end";
      const place = [x + ux * away, y + uy * away + (Math.abs(uy) > 0.5 ? Math.sign(uy) * 5 : 0)];
      const middle = place[0] + (anchor === "middle" ? 0 : Math.sign(ux) * width / 2);
      return {at: {x: place[0], y: place[1], "text-anchor": anchor}, box: boxAround(middle, place[1], width, 17)};
    });
    const best = found.find(({box}) => !taken.some(other => overlap(box, other))) ?? found[0];
    this.names[v] = best.box;
    return best.at;
  }

  // What is in colour: lists of walks, the entry that is written, the pivots, the vertices already open.
  draw({weights, zero, firsts, seconds, walks, target, pivots, opened, ends}) {
    const of = (u, v) => EDGES.findIndex(([x, y]) => x === u && y === v);
    const kinds = EDGES.map(() => new Set());
    for (const [kind, list] of [["first", firsts], ["second", seconds], ["walk", walks]])
      for (const walk of list)
        for (let i = 1; i < walk.length; i++) {
          const e = of(walk[i - 1], walk[i]);
          if (e >= 0) kinds[e].add(kind);
        }
    const texts = weights.map(weight => cut(shown(weight), 14));
    if (texts.length !== this.texts?.length || texts.some((text, e) => text !== this.texts[e])) this.arrange(texts);
    const boxes = this.shown(EDGES.map((_, e) => e).filter(e => kinds[e].size));
    this.edges.forEach(({group, label}, e) => {
      const none = same(weights[e], zero), kind = ["walk", "second", "first"].find(name => kinds[e].has(name));
      put(group, "class", ["edge", none ? "none" : "", ...kinds[e]].join(" "));
      put(group, "marker-end", `url(#arrow-${kind ?? "plain"})`);
      put(label, "class", none ? "weight none" : "weight");
      const [title, ground, text] = label.children, box = boxes[e];
      put(label, "display", box ? "inline" : "none");
      title.textContent = exact(weights[e]);
      text.textContent = texts[e];
      if (!box) return;
      for (const [name, value] of [["x", box[0]], ["y", box[1]], ["width", box[2] - box[0]], ["height", box[3] - box[1]]]) put(ground, name, value.toFixed(1));
      put(text, "x", ((box[0] + box[2]) / 2).toFixed(1));
      put(text, "y", ((box[1] + box[3]) / 2).toFixed(1));
    });
    this.vertices.forEach((node, v) => put(node, "class", ["vertex", opened.includes(v) ? "open" : "",
      pivots.includes(v) ? "pivot" : "", ends.includes(v) ? "end" : ""].join(" ")));
    put(this.target, "d", target ? this.curve(...target, target[0] === target[1] ? 0 : 44).d : "");
  }
}

// The graph, as SVG: vertices at their places, edges as curves, and what a step reads and writes in colour.

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 17, WIDTH = 400, HEIGHT = 320;

function element(tag, attributes = {}, ...children) {
  const made = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function put(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

const cut = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

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
    this.vertices = NAMES.map((name, v) => this.vertex(name, v));
    this.svg.replaceChildren(element("svg:defs", {}, ...markers), this.target,
      ...this.edges.map(edge => edge.group), ...this.vertices, ...this.edges.map(edge => edge.label));
    const loops = EDGES.some(([u, v]) => u === v) ? 30 : 0, ys = this.places.map(place => place[1]);
    const room = this.short ? RADIUS + 6 : 26, top = Math.min(...ys) - room - loops;
    const reach = NAMES.map((name, v) => {  // how far a vertex and its name go to the left and to the right
      const [x] = this.places[v], [ux] = this.outwards(v), long = this.short ? 0 : Math.min([...name].length, 12) * 9.4 + 14;
      return Math.abs(ux) < 0.35 ? [x - long / 2, x + long / 2] : ux < 0 ? [x - long, x] : [x, x + long];
    });
    const left = Math.min(36, ...reach.map(([from]) => from)) - loops, right = Math.max(WIDTH - 36, ...reach.map(([, to]) => to)) + loops;
    this.svg.setAttribute("viewBox", `${left} ${top} ${right - left} ${Math.max(...ys) + room + loops - top}`);
  }

  // The direction from the middle of the drawing to a vertex.
  outwards(v) {
    const [x, y] = this.places[v], dx = x - WIDTH / 2, dy = y - HEIGHT / 2, length = Math.hypot(dx, dy);
    return length < 1 ? [0, -1] : [dx / length, dy / length];
  }

  // A quadratic curve that bends to its right, trimmed to the circles: its path, and where its label stands.
  curve(u, v, bend) {
    const [[x1, y1], [x2, y2]] = [this.places[u], this.places[v]], r = this.radius;
    if (u === v) {
      const [ux, uy] = this.outwards(u), at = (side, out) => [x1 + ux * out - uy * side, y1 + uy * out + ux * side];
      const [p, q, a, b] = [at(-r / 2, r * 0.85), at(r / 2, r * 0.85), at(-24, r + 30), at(24, r + 30)];
      return [`M${p}C${a} ${b} ${q}`, at(0, r + 25)];
    }
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, ux = (x2 - x1) / length, uy = (y2 - y1) / length;
    const mx = (x1 + x2) / 2 - uy * bend, my = (y1 + y2) / 2 + ux * bend;
    const trimmed = (x, y) => {
      const far = Math.hypot(mx - x, my - y) || 1;
      return [x + (mx - x) / far * (r + 1), y + (my - y) / far * (r + 1)];
    };
    const [p, q] = [trimmed(x1, y1), trimmed(x2, y2)], round = ([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`;
    // A point a bit before the middle, so that labels of edges that cross in the middle stay apart.
    const t = 0.42, label = [0, 1].map(i => (1 - t) ** 2 * p[i] + 2 * t * (1 - t) * [mx, my][i] + t * t * q[i]);
    return [`M${round(p)}Q${round([mx, my])} ${round(q)}`, label];
  }

  edge(u, v) {
    const back = u !== v && EDGES.some(([x, y]) => x === v && y === u);
    const [d, [x, y]] = this.curve(u, v, back ? 22 : 8);
    return {group: element("svg:path", {class: "edge", d}), label: element("svg:text", {class: "weight", x, y})};
  }

  vertex(name, v) {
    const [x, y] = this.places[v], [ux, uy] = this.outwards(v), away = this.radius + 5;
    const at = this.short ? {x, y} : {
      x: x + ux * away, y: y + uy * away + (Math.abs(uy) > 0.5 ? Math.sign(uy) * 5 : 0),
      "text-anchor": Math.abs(ux) < 0.35 ? "middle" : ux > 0 ? "start" : "end"};
    const label = element("svg:text", at, cut(name, 12));
    return element("svg:g", {class: "vertex"}, element("svg:title", {}, name),
      element("svg:circle", {cx: x, cy: y, r: this.radius}), label);
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
    this.edges.forEach(({group, label}, e) => {
      const none = same(weights[e], zero), kind = ["walk", "second", "first"].find(name => kinds[e].has(name));
      put(group, "class", ["edge", none ? "none" : "", ...kinds[e]].join(" "));
      put(group, "marker-end", `url(#arrow-${kind ?? "plain"})`);
      put(label, "class", none ? "weight none" : "weight");
      const text = cut(shown(weights[e]), 14);
      if (label.textContent !== text) label.textContent = text;
    });
    this.vertices.forEach((node, v) => put(node, "class", ["vertex", opened.includes(v) ? "open" : "",
      pivots.includes(v) ? "pivot" : "", ends.includes(v) ? "end" : ""].join(" ")));
    put(this.target, "d", target ? this.curve(...target, target[0] === target[1] ? 0 : 44)[0] : "");
  }
}

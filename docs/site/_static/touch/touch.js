"use strict";
// What the small pages of the course share: elements, numbers as text, announcements, the theme and the height of a frame.

const $ = id => document.getElementById(id);

function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) node[name] = value;
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  node.append(...children);
  return node;
}
const make = (tag, attributes = {}, ...children) => dress(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  dress(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Whole numbers in full, others rounded; undefined is what IEEE calls NaN.
function shown(x, digits = 4) {
  if (Array.isArray(x)) return `(${x.map(part => shown(part, digits)).join(",\u00a0")})`;
  if (typeof x === "boolean") return x ? "1" : "0";
  if (x !== x) return "undefined";
  if (Math.abs(x) === Infinity) return x > 0 ? "∞" : "−∞";
  return (Number.isInteger(x) ? x.toLocaleString("en-US") : String(+x.toPrecision(digits))).replace("-", "−");
}
const many = (n, one, more = `${one}s`) => `${shown(n)} ${n === 1 ? one : more}`;

// One announcement at a time; the same text twice is read twice. While a slider moves, only where it stops is announced.
let pending = null;
function say(text) {
  clearTimeout(pending);
  const said = $("said");
  said.textContent = said.textContent === text ? `${text}\u00a0` : text;
}
function saySoon(text) {
  clearTimeout(pending);
  pending = setTimeout(() => say(text), 500);
}

// A button that can do nothing now keeps its focus.
function enable(button, can) {
  button.setAttribute("aria-disabled", String(!can));
}
const can = button => button.getAttribute("aria-disabled") !== "true";

function options(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => make("option", {value}, text ?? value)));
  if (chosen !== undefined) select.value = chosen;
}

// The arrow keys in a group of which one member is in the tab order; `move` gives the next member, or nothing.
function roving(group, members, move) {
  group.addEventListener("keydown", event => {
    const at = members().indexOf(event.target);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = move(event.target, event.key);
    if (!to) return;
    event.preventDefault();
    to.focus();
  });
  group.addEventListener("focusin", event => {
    if (members().includes(event.target)) for (const one of members()) one.tabIndex = one === event.target ? 0 : -1;
  });
}

// A directed graph: places in units of a vertex's distance, edges [u, v, label], bent if there is an opposite one;
// `wide` is the number of letters that labels may get later.
function graphOf(places, edges, {unit = 100, radius = 17, pad = 20, wide = 0} = {}) {
  const at = Object.fromEntries(Object.entries(places).map(([v, [x, y]]) => [v, [pad + unit * x, pad + unit * y]]));
  const paths = {}, labels = {};
  const parts = edges.map(([u, v, label]) => {
    const [x, y] = at[u], [z, w] = at[v];
    let line, label_at, tip, angle;
    if (u === v) {
      line = `M ${x - 9} ${y - 15} C ${x - 30} ${y - 54} ${x + 30} ${y - 54} ${x + 10} ${y - 17}`;
      [label_at, tip, angle] = [[x, y - 54], [x + 10, y - 17], 2.05];
    } else {
      const far = Math.hypot(z - x, w - y), [p, q] = [(w - y) / far, (x - z) / far];
      const bend = edges.some(([s, t]) => s === v && t === u) ? 26 : 0;
      const middle = [(x + z) / 2 + bend * p, (y + w) / 2 + bend * q];
      const rim = ([a, b], r) => {
        const d = Math.hypot(middle[0] - a, middle[1] - b);
        return [a + r / d * (middle[0] - a), b + r / d * (middle[1] - b)];
      };
      const start = rim(at[u], radius + 1);
      tip = rim(at[v], radius + 2);
      const end = rim(at[v], radius + 8);
      line = `M ${start} Q ${middle} ${end}`;
      angle = Math.atan2(w - middle[1], z - middle[0]);
      const off = bend / 2 + 12 + 3.4 * (Math.max(wide, String(label ?? "").length) - 1) * Math.abs(p);
      label_at = [(x + z) / 2 + off * p, (y + w) / 2 + off * q];
    }
    const tips = [-0.4, 0.4].map(turn => [tip[0] - 10 * Math.cos(angle + turn), tip[1] - 10 * Math.sin(angle + turn)]);
    const path = draw("path", {class: "edge", d: line}), head = draw("polygon", {class: "arrow", points: [tip, ...tips].join(" ")});
    const text = draw("text", {class: "weight", x: label_at[0], y: label_at[1]}, label ?? "");
    paths[`${u} ${v}`] = [path, head];
    labels[`${u} ${v}`] = text;
    return [path, head, text];
  });
  const vertices = Object.fromEntries(Object.entries(at).map(([v, [x, y]]) =>
    [v, draw("g", {class: "vertex"}, draw("circle", {cx: x, cy: y, r: radius}), draw("text", {x, y}, v))]));
  const boxes = [...Object.values(at).map(([x, y]) => [x, y, pad, pad]), ...Object.values(labels).map(text =>
    [+text.getAttribute("x"), +text.getAttribute("y"), 4 * Math.max(wide, text.textContent.length), 10])];
  const side = (k, sign) => Math.max(...boxes.map(box => sign * box[k] + box[k + 2]));
  const [left, top, right, bottom] = [-side(0, -1), -side(1, -1), side(0, 1), side(1, 1)];
  const svg = draw("svg", {role: "img", viewBox: `${left} ${top} ${right - left} ${bottom - top}`,
    style: `width: ${right - left}px; height: auto; margin-inline: auto`},
    ...parts.flatMap(part => part.slice(0, 2)), ...parts.map(part => part[2]), ...Object.values(vertices));
  return {svg, paths, labels, vertices};
}

// The theme of the page around this one, if it may be read, else the system's. A frame is as high as its content.
const around = (() => {
  try {
    return parent === window ? null : parent.document;
  } catch {
    return null;  // of another origin
  }
})();
const isDark = matchMedia("(prefers-color-scheme: dark)");
function follow() {
  const theme = around?.documentElement.dataset.theme;
  document.documentElement.dataset.theme = ["light", "dark"].includes(theme) ? theme : isDark.matches ? "dark" : "light";
}
follow();
isDark.addEventListener("change", follow);
if (around) {
  new MutationObserver(follow).observe(around.documentElement, {attributeFilter: ["data-theme"]});
  addEventListener("DOMContentLoaded", () => new ResizeObserver(() => {
    frameElement.style.height = `${Math.ceil(document.querySelector("main").getBoundingClientRect().height) + 2}px`;
  }).observe(document.querySelector("main")));
}

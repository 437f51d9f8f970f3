// Elements: Numbers, BigInts, Booleans, arrays of them (records), and objects with a `text` (all others).

const isText = x => x !== null && typeof x === "object" && x.text !== undefined;

function same(x, y) {
  if (Array.isArray(x)) return x.every((part, i) => same(part, y[i]));
  if (isText(x)) return x.text === y.text;
  return x === y || (x !== x && y !== y);
}

// Infinities and integers of 64 bits have no JSON.
function decoded(x) {
  if (Array.isArray(x)) return x.map(decoded);
  if (x === "inf") return Infinity;
  if (x === "-inf") return -Infinity;
  return x !== null && typeof x === "object" && x.big !== undefined ? BigInt(x.big) : x;
}

// Whole numbers in full, others by 4 to 6 digits; `exact` has all digits. 64 bits are a set, or ∞, where the algebra
// in use says so.
let used = {};
const exact = x => textOf(x, y => y), shown = x => textOf(x, y => +y.toPrecision(Math.abs(y) < 100 ? 4 : 6));
function textOf(x, rounded) {
  if (Array.isArray(x)) return `(${x.map(part => textOf(part, rounded)).join(", ")})`;
  if (isText(x)) return x.kind ? x.text.replaceAll("(?:", "(") : x.text;
  if (typeof x === "boolean") return x ? "1" : "0";
  if (typeof x === "bigint") return used.sets ? setText(x) : used.limits?.[x] ?? String(x).replace("-", "−");
  if (x === Infinity || x === -Infinity) return x > 0 ? "∞" : "−∞";
  if (x !== x) return "undefined";
  return String(!Number.isInteger(x) ? rounded(x) : Math.abs(x) < 1e21 ? BigInt(x) : x).replaceAll("-", "−");
}

const BITS = 64, ALL = (1n << 64n) - 1n;
const bitsOf = x => Array.from({length: BITS}, (_, i) => i).filter(i => x >> BigInt(i) & 1n);
function setText(x) {
  if (x === 0n) return "∅";
  if (x === ALL) return "all";
  const inside = bitsOf(x);
  return inside.length <= BITS / 2 ? `{${inside.join(", ")}}` : `all but {${bitsOf(x ^ ALL).join(", ")}}`;
}

// A set as `setText` writes it; null for any other text.
function typedSet(text) {
  if (text === "∅" || text === "{}") return 0n;
  const found = /^(all(?: but)?)?\s*(?:\{([\d\s,]*)\})?$/.exec(text);
  if (!found || !found[0] || (found[1] === "all") !== (found[2] === undefined)) return null;
  const inside = (found[2] ?? "").split(",").filter(part => part.trim()).map(Number);
  if (inside.some(i => i >= BITS)) throw Error(`members of a set are 0 to ${BITS - 1}`);
  const bits = inside.reduce((set, i) => set | 1n << BigInt(i), 0n);
  return found[1] ? bits ^ ALL : bits;
}

const WHOLE = /^[-+]?\d+$/;

// What a person typed, as an element like another one. Throws what is wrong with it.
function typed(text, like) {
  if (isText(like)) {
    const letter = text.trim();
    if (letter === "" || letter === "∅") return REGEX.zero;
    if (!/^[\p{L}\p{N}]$/u.test(letter) || letter === "ε") throw Error(`“${letter}” is not one letter or digit`);
    return REGEX.letter(letter);
  }
  if (Array.isArray(like)) {
    const parts = text.trim().replace(/^\(|\)$/g, "").split(/[,;]/);
    if (parts.length !== like.length) throw Error(`“${text}” needs ${like.length} numbers with commas between them`);
    return parts.map((part, i) => typed(part, like[i]));
  }
  const word = text.trim().replaceAll("−", "-");
  if (/^[-+]?(inf|infinity|∞)$/i.test(word) && typeof like !== "boolean") {
    const limit = Object.entries(used.limits ?? {}).find(([, sign]) => (sign[0] === "−") === (word[0] === "-"));
    if (typeof like === "number") return word[0] === "-" ? -Infinity : Infinity;
    if (limit) return BigInt(limit[0]);
  }
  if (typeof like === "boolean" && /^(true|false)$/i.test(word)) return word[0].toLowerCase() === "t";
  const set = typeof like === "bigint" && used.sets ? typedSet(word) : null;
  if (set !== null) return set;
  const value = word === "" ? NaN : Number(word);
  if (value !== value) throw Error(`“${text}” is not a number`);
  if (typeof like === "bigint" && WHOLE.test(word)) {
    if (used.wide && BigInt[`as${used.wide}N`](BITS, BigInt(word)) !== BigInt(word)) throw Error(`“${text}” needs more than ${BITS} bits`);
    return BigInt(word);
  }
  if (typeof like === "bigint") throw Error(`“${text}” is not a whole number`);
  if (typeof like !== "boolean") return value;
  if (value !== 0 && value !== 1) throw Error(`“${text}” is neither 0 nor 1`);
  return value === 1;
}

const range = (from, to) => Array.from({length: to - from}, (_, i) => from + i);
const cut = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

// ⊕ or ⊗ of parts, each a list of texts.
function joinedBy([place, sign], parts) {
  if (parts.length === 1) return parts[0];
  const between = place === "before" ? ", " : sign ? ` ${sign} ` : "";
  const list = parts.flatMap((part, i) => i ? [between, ...part] : part);
  return place === "before" ? [`${sign}(`, ...list, ")"] : list;
}

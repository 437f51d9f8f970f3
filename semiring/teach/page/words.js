// The description of a step: a title, the equation over blocks, the rule of its entry, and the rule with its numbers.
// Texts are strings, or [string, class, all of it] if they have the colour of the entries they name or are numbers.

const LONG = 80;  // characters of a list of walks
const FULL = 4;  // terms that a rule names one by one
const brief = x => cut(shown(x), 44);

const first = text => [text, "first"], second = text => [text, "second"];
const number = (x, role = "") => [brief(x), role, exact(x)];
const walkText = (walk, stay = "staying") => walk.length === 1 ? `${stay} at ${NAMES[walk[0]]}` : walk.map(v => NAMES[v]).join(" → ");

function walksText(S, walks) {
  if (!walks.shortest.length) return "no walk";
  if (S.selective) return walkText(walks.shortest[0]);
  const several = walks.shortest.length > 1 || walks.more, over = several ? "combines: " : "";
  const texts = walks.shortest.map(walk => walkText(walk, several ? "stay" : "staying"));
  const long = texts.findIndex((_, i) => i > 0 && texts.slice(0, i + 1).join("; ").length > LONG);
  const fitting = long < 0 ? texts.length : long;
  return over + texts.slice(0, fitting).join("; ") + (walks.more || fitting < texts.length ? "; …" : "");
}

function byWalks(S, walks) {
  const text = walksText(S, walks);
  return /^(combines|no walk)/.test(text) ? text : `by ${text}`;
}

function entryText(name, i, j) {
  return `${name === "A" ? "d" : "new d"}(${NAMES[i] ?? "k"}, ${NAMES[j] ?? "k"})`;
}

const isTerm = (S, term) => !same(term.first, S.zero) && !same(term.second, S.zero);

// A text in brackets, or one sign, needs no further ones.
const starred = text => [/^(\([^()]*\)|\{.*\}|∅)$/.test(text) ? `${text}*` : `(${text})*`];

function wordsOf(S, step) {
  const words = DATA.words[step.kind], [plus, times] = S.signs;
  const title = words.title.replace("{p}", step.pivots.map(v => NAMES[v]).join(", "));
  if (step.kind === "copy") return {title, blocks: words.blocks, rule: [words.rule], numbers: []};
  const target = entryText(step.name, step.i, step.j);
  let rule, numbers;
  if (step.terms) {
    const [a, b] = step.sources, old = {left: ["", "old "], right: ["old ", ""]}[step.kind] ?? ["", ""];
    const present = step.terms.filter(term => isTerm(S, term));
    const product = (i, j, k) => [old[0] + entryText(a, i, k), old[1] + entryText(b, k, j)];
    if (step.terms.length > FULL) {
      const [x, y] = product(step.i, step.j, -1), through = present.map(({k}) => NAMES[k]).join(", ");
      rule = [`${target} ← ${step.adds ? `${target} ⊕ ` : ""}⊕ₖ `, first(x), " ⊗ ", second(y), through ? `, k = ${through}` : ""];
    } else {
      const products = step.terms.map(term => {
        const [x, y] = product(step.i, step.j, term.k);
        return isTerm(S, term) ? [first(x), " ⊗ ", second(y)] : [`${x} ⊗ ${y}`];
      });
      rule = [`${target} ← `, ...joinedBy(["between", "⊕"], step.adds ? [[target], ...products] : products)];
    }
    const brackets = plus[0] === "between" && times[0] === "between" && times[1] !== "×" && times[1] !== "";
    const filled = present.map(term => {
      const numbers = joinedBy(times, [[number(term.first, "first")], [number(term.second, "second")]]);
      return brackets ? ["(", ...numbers, ")"] : numbers;
    });
    const summands = step.adds ? [[number(step.old)], ...filled] : filled;
    numbers = summands.length ? joinedBy(plus, summands) : [shown(S.zero)];
  } else {
    const pivot = step.pivots[0] ?? step.i;
    rule = [words.rule.replaceAll("{t}", target).replace("{s}", entryText(step.name, pivot, pivot))];
    if (step.kind === "star") numbers = starred(brief(step.old));
    else if (step.kind === "one") numbers = joinedBy(plus, [[shown(S.one)], [number(step.old)]]);
    else {
      const factors = [[number(step.factor, "first")], [number(step.old, "second")]];
      numbers = joinedBy(times, step.kind === "row" ? factors : factors.reverse());
    }
  }
  return {title, blocks: words.blocks, rule, numbers};
}

const plainText = texts => texts.map(text => Array.isArray(text) ? text[0] : text).join("");

function failureText(S, failure) {
  const {vertex, weight, walks, improves} = failure;
  if (!improves) return `No closure: the star of ${shown(weight)}, the loops at ${NAMES[vertex]}, does not exist.`;
  return `No closure: the cycle ${walkText(walks.shortest[0])} has the weight ${shown(weight)}, and each round is better.`;
}

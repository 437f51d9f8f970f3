// Regular expressions, as semiring.algebra.objects writes them: the one algebra of objects that a page computes with.

const REGEX = (() => {
  const bracket = (x, ...loose) => loose.includes(x.kind) ? `(?:${x.text})` : x.text;
  const made = (kind, parts, text) => ({kind, parts, text});
  const empty = made("empty", [], "∅"), epsilon = made("iteration", [empty], "ε");
  function alternative(x, y) {
    const parts = new Map();
    for (const r of [x, y]) for (const p of r.kind === "alternative" ? r.parts : [r]) if (p !== empty) parts.set(p.text, p);
    if (parts.size <= 1) return [...parts.values()][0] ?? empty;
    const ordered = [...parts.values()].sort((p, q) => p.text.length - q.text.length || (p.text < q.text ? -1 : 1));
    return made("alternative", ordered, ordered.map(p => p.text).join("|"));
  }
  function concatenation(x, y) {
    if (x === empty || y === empty) return empty;
    if (x === epsilon || y === epsilon) return x === epsilon ? y : x;
    const parts = [x, y].flatMap(r => r.kind === "concatenation" ? r.parts : [r]);
    return made("concatenation", parts, parts.map(p => bracket(p, "alternative")).join(""));
  }
  function iteration(x) {
    if (x === epsilon || x === empty) return epsilon;
    return x.kind === "iteration" ? x
      : made("iteration", [x], bracket(x, "alternative", "concatenation") + "*");
  }
  return {
    zero: empty, one: epsilon, add: alternative, mul: concatenation, star: iteration,
    defined: () => true, carrier: () => true, letter: text => made("letter", [], text),
  };
})();

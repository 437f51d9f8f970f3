// The algebras of this page: what Python says of each, with the functions of the rule table. EDGES may grow.

const DATA = JSON.parse(document.getElementById("data").textContent);
const NAMES = DATA.names, EDGES = DATA.edges.map(edge => [...edge]);
const element_ = x => x !== null && typeof x === "object" && typeof x.text === "string" ? x : decoded(x);
const ALGEBRAS = DATA.algebras.map(algebra => {
  const live = algebra.regex ? REGEX : OPERATIONS[algebra.key] ?? {carrier: () => true};
  const one = algebra.regex ? {} : {zero: element_(algebra.zero), one: element_(algebra.one)};
  const weights = algebra.weights.map(w => algebra.regex ? typed(w, REGEX.zero) : element_(w));
  return {...algebra, ...live, ...one, weights, records: algebra.records && opened(algebra.records)};
});

// Recorded steps: each entry a text and, where ⊕ selects, the vertex in the middle of the walk that won.
function opened(records) {
  const value = at => ({text: records.texts[at]});
  return Object.fromEntries(Object.entries(records.methods).map(([key, {entries, stars, failure}]) => [key, {
    entries: entries.map(entry => Array.isArray(entry) ? [value(entry[0]), entry[1]] : [value(entry), -1]),
    stars: stars.map(value), failure: failure && {...failure, weight: value(failure.weight)}}]));
}

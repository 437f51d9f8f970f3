/* A public name comes first, then entries of the index whose words are those of the query, in any order and form. If
   no page has all words of a query, pages with some of them are shown. */
"use strict";

(() => {
  const little = new Set(["a", "an", "and", "any", "can", "compute", "do", "does", "find", "for", "get", "how", "i", "in",
    "is", "it", "make", "my", "of", "on", "one", "or", "own", "the", "to", "use", "using", "what", "where", "which", "with",
    "you", "your"]);
  const stemmer = new Stemmer();
  const stems = (text) => {
    const all = text.toLowerCase().replace(/['’]s\b/g, "").split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
    const kept = all.filter((word) => !little.has(word));
    return new Set((kept.length ? kept : all).map((word) => stemmer.stemWord(word)));
  };

  const names = (query) => {  // a page of its own has no anchor, an algebra of the catalogue has one
    const asked = query.trim().replace(/^(sr|semiring)\.|\(.*\)$/g, ""), {docnames, titles, filenames, objects} = Search._index;
    return Object.entries(objects).flatMap(([prefix, found]) => found
      .filter(([, , , , name]) => `${prefix}.${name}` === `semiring.${asked}`)
      .map(([page, , , , name]) => [docnames[page], titles[page], titles[page] === asked ? "" : `#${prefix}.${name}`, null,
        2000, filenames[page], SearchResultKind.object]));
  };

  const entries = (query) => {
    const asked = stems(query), found = [];
    for (const [entry, places] of Object.entries(Search._index.indexentries)) {
      const words = stems(entry), common = [...asked].filter((word) => words.has(word)).length;
      if (!common || (common < asked.size && common < words.size)) continue;
      const exact = entry === query.trim().toLowerCase(), score = 1000 * common / (asked.size + words.size) + exact;
      for (const [page, anchor, main] of places) if (main)
        found.push([Search._index.docnames[page], Search._index.titles[page], anchor ? "#" + anchor : "", `“${entry}”`,
          anchor.startsWith("term-") ? 0.9 * score : score, Search._index.filenames[page], SearchResultKind.index]);
    }
    const best = new Map();
    for (const one of found.sort((a, b) => a[4] - b[4])) { best.delete(one[0] + one[2]); best.set(one[0] + one[2], one); }
    return [...best.values()].slice(-5);
  };

  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;  // pages cannot be fetched there
  const plain = Search._performSearch;
  Search._performSearch = (query, wanted, excluded, ...rest) => {  // the best result is the last
    const first = [...entries(query), ...names(query)], there = new Set(first.map((one) => one[0] + one[2]));
    let others = plain(query, wanted, excluded, ...rest);
    if (!others.length && !first.length)
      others = [...wanted].flatMap((word) => Search.performTermsSearch(new Set([word]), excluded))
        .sort((a, b) => a[4] - b[4]);
    return [...others.filter((one) => !there.has(one[0] + one[2])), ...first];
  };
})();

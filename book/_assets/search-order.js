/* The order of search results: a page whose index has the word comes first, then titles,
   then text. Chapters come before pages of reference, and those before long lists. */
"use strict";
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 60, partialTitle: 20, term: 5, partialTerm: 2,
  score: (result) => {
    const [page, , , , score] = result;
    if (/changelog|bibliography|concordance/.test(page)) return score / 4;
    if (/errata|\/api|verdicts|glossary/.test(page)) return score / 1.5;
    return score;
  },
};

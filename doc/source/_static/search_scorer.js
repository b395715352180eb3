// SPDX-License-Identifier: Apache-2.0
// Guides and reference pages come before methods that have a word of the query.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 1,
  objPrio: { 0: 2, 1: 1, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

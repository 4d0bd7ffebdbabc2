// Two rewards that pull against each other inside groups: flagged in words, with the correlation and its interval.
import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { signed } from '../format.js';
import { verdict } from './parts.js';

const KIND = { against: 'warn', fine: 'pass', unclear: 'skip', constant: 'skip' };

/** Fills `place`. `groups[g][i][k]`: reward k of completion i of group g. `quiet`: only what is flagged. */
export async function conflictList(place, names, groups, weights, { quiet = false } = {}) {
  const asked = (place.asked = (place.asked ?? 0) + 1);
  const large = groups.filter((group) => group.length > 1);
  if (names.length < 2 || !large.length) return void fill(place, quiet ? null : h('p', { class: 'muted', t: names.length < 2 ? 'lab.conflict_one' : 'lab.conflict_groups' }));
  let answer;
  try {
    answer = await api.post('/api/lab/conflicts', { rewards: names, groups: large, weights });
  } catch (error) {
    if (error.status === undefined) throw error;
    if (asked === place.asked) fill(place, quiet ? null : h('p', { class: 'muted', t: error.error }));
    return undefined;
  }
  if (asked !== place.asked) return undefined;
  const pairs = quiet ? answer.pairs.filter((pair) => pair.verdict === 'against') : answer.pairs;
  return void fill(place, pairs.length ? h('ul', { class: 'lab-checks' }, pairs.map((pair) =>
    h('li', { class: 'lab-check', data: { verdict: KIND[pair.verdict] ?? 'skip', pair: `${pair.a}/${pair.b}` } },
      verdict(KIND[pair.verdict] ?? 'skip', `lab.conflict_${pair.verdict}`),
      h('div', { class: 'lab-check-words' }, h('p', { t: pair.words }),
        pair.low === null ? null : h('p', { class: 'caption num', t: 'lab.conflict_interval', vars: { r: signed(pair.r), low: signed(pair.low), high: signed(pair.high), groups: pair.groups } }))))) : null);
}

// The table of scores, asked for all rewards at once; where one of them refuses, each by itself, so that the others
// still score and the one says why.
import * as api from '../api.js';
import { t } from '../i18n.js';

/** {rewards, rows, problems}: as POST /api/lab/table, and what speaks against a reward by its name ({en, ko}). */
export async function scoreTable(bench, rows) {
  const { names, weights, args } = bench;
  const ask = (rewards, given) => api.post('/api/lab/table', { rewards, weights: given, args: Object.fromEntries(Object.entries(args).filter(([name]) => rewards.includes(name))), rows });
  try {
    return { ...(await ask(names, weights)), problems: {} };
  } catch (error) {
    if (error.status !== 422 && error.status !== 404) throw error;
    if (names.length === 1) return { rewards: names, rows: [], problems: { [names[0]]: error.error }, error };
  }
  const problems = {};
  const parts = await Promise.all(names.map(async (name, at) => {
    try {
      return await ask([name], [weights[at]]);
    } catch (error) {
      if (error.status !== 422 && error.status !== 404) throw error;
      problems[name] = error.error;
      return null;
    }
  }));
  const merged = rows.map((_, row) => {
    const cells = Object.fromEntries(names.map((name, at) => [name, parts[at]?.rows[row].cells[name] ?? { score: null, extracted: null, reason: t(problems[name]), failed: true }]));
    const scored = names.map((name, at) => (cells[name].score === null ? null : cells[name].score * weights[at])).filter((one) => one !== null);
    return { cells, total: scored.length ? scored.reduce((sum, one) => sum + one, 0) : null };
  });
  return { rewards: names, rows: merged, problems };
}

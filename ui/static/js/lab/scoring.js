// The table of scores, asked for all rewards at once; where one of them refuses, each by itself, so that the others
// still score and the one says why. Many rows go in several requests: a body has a limit.
import * as api from '../api.js';

const LARGEST = 1_000_000; // bytes of rows in a request

const refusal = (error) => error.status === 422 || error.status === 404;

function portions(rows) {
  const found = [];
  const coder = new TextEncoder();
  let size = Infinity;
  for (const row of rows) {
    const bytes = coder.encode(JSON.stringify(row)).length;
    if (size + bytes > LARGEST) {
      found.push([]);
      size = 0;
    }
    size += bytes;
    found[found.length - 1].push(row);
  }
  return found;
}

/** Rows of POST /api/lab/table for these rewards. */
async function ask(names, weights, args, rows) {
  const own = Object.fromEntries(Object.entries(args).filter(([name]) => names.includes(name)));
  const scored = [];
  for (const part of portions(rows)) {
    const answer = await api.post('/api/lab/table', { rewards: names, weights, args: own, rows: part });
    scored.push(...answer.rows);
  }
  return scored;
}

/** {rewards, rows, problems}: `rows` as the table has them, and what speaks against a reward by its name ({en, ko}).
 * `error` where no reward could be asked. */
export async function scoreTable({ names, weights, args }, rows) {
  try {
    return { rewards: names, rows: await ask(names, weights, args, rows), problems: {} };
  } catch (error) {
    if (!refusal(error)) throw error;
    if (names.length === 1) return { rewards: names, rows: [], problems: { [names[0]]: error.error }, error };
  }
  const problems = {};
  const columns = await Promise.all(names.map(async (name, at) => {
    try {
      return await ask([name], [weights[at]], args, rows);
    } catch (error) {
      if (!refusal(error)) throw error;
      problems[name] = error.error;
      return null;
    }
  }));
  const merged = rows.map((_, row) => {
    const cells = Object.fromEntries(names.map((name, at) => [name, columns[at]?.[row].cells[name] ?? { score: null, extracted: null, reason: problems[name], failed: true }]));
    const scored = names.map((name, at) => (cells[name].score === null ? null : cells[name].score * weights[at])).filter((one) => one !== null);
    return { cells, total: scored.length ? scored.reduce((sum, one) => sum + one, 0) : null };
  });
  return { rewards: names, rows: merged, problems };
}

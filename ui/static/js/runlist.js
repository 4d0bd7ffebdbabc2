// The list of runs, fetched once for the whole app: the header's picker and the Runs page both look at it.
import * as api from './api.js';

const listeners = new Set();
let runs = null;
let failed = null;
let poller = null;
let every = 4000;
const call = api.ordered();

/** RunViews, newest first; null before the first answer. */
export const list = () => runs;
/** The ApiError of the last try, or null. */
export const error = () => failed;
export const find = (id) => runs?.find((run) => run.id === id);

export function onChange(callback) {
  listeners.add(callback);
  return () => listeners.delete(callback);
}

async function tick() {
  const newest = call();
  try {
    const answer = await api.get('/api/runs');
    if (!newest()) return every;
    const changed = failed !== null || JSON.stringify(answer.runs) !== JSON.stringify(runs);
    runs = answer.runs;
    failed = null;
    if (changed) for (const listener of listeners) listener(runs, null);
  } catch (caught) {
    if (!newest()) return every;
    failed = caught;
    for (const listener of listeners) listener(runs, caught);
  }
  return every;
}

/** Ask more or less often: 1 s while a page lists the runs, 4 s otherwise. */
export function pace(ms) {
  const faster = ms < every;
  every = ms;
  if (faster) poller?.now();
}

export function begin() {
  poller ??= api.poll(tick, every);
}

export const refresh = () => tick();

// Runs of one sweep stand under one row, folded until somebody opens it: a grid must not push everything else away.

import { ENDED, done } from './columns.js';

const ACTIVE = ['running', 'stopping', 'starting'];
const BAD = ['failed', 'lost'];
const opened = new Set();

/** RunViews with one row more for each sweep that several of them belong to; its runs follow it, or are folded away.
 * `all`: nothing is folded (a search shows what it finds). `redraw()`: after a row was opened or folded. */
export function grouped(runs, all, redraw) {
  const bySweep = new Map();
  for (const run of runs) if (run.sweep) bySweep.set(run.sweep.id, [...(bySweep.get(run.sweep.id) ?? []), run]);
  const items = [];
  for (const run of runs) {
    const members = run.sweep ? bySweep.get(run.sweep.id) : null;
    if (!members || members.length < 2) items.push(run);
    else if (members[0] === run) {
      const open = all || opened.has(run.sweep.id);
      items.push(whole(run.sweep, members, open, () => {
        if (!opened.delete(run.sweep.id)) opened.add(run.sweep.id);
        redraw();
      }));
      if (open) items.push(...[...members].sort((a, b) => a.sweep.position - b.sweep.position).map((one) => ({ ...one, under: `sweep-${run.sweep.id}` })));
    }
  }
  return items;
}

/** A sweep in the shape of a RunView, so that the same columns show it. */
function whole(sweep, runs, open, toggle) {
  const sum = (of) => runs.reduce((total, run) => total + (of(run) ?? 0), 0);
  const has = (states) => runs.some((run) => states.includes(run.state));
  const state = ACTIVE.find((one) => has([one])) ?? (has(['queued']) ? 'queued' : has(['stopped']) ? 'stopped' : has(BAD) ? 'failed' : 'succeeded');
  return {
    id: `sweep-${sweep.id}`, sweepId: sweep.id, kind: 'sweep', name: sweep.name, runs: runs.length, open, toggle, state,
    preset: runs[0].preset, model: runs[0].model, stages: [], attempt: 1, can: {}, accuracy: null, last: null, reason: null,
    // In runs, not in steps: what still waits does not say how many steps it will take.
    ended: runs.filter((run) => ENDED.has(run.state)).length, share: sum((run) => (ENDED.has(run.state) ? 1 : done(run))) / runs.length,
    created_at: Math.max(...runs.map((run) => run.created_at ?? 0)), elapsed_s: sum((run) => run.elapsed_s), eta_s: null,
  };
}

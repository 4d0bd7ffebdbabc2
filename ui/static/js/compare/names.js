// Names of runs as they stand beside each other: two of the same name are told apart by the end of their ids.
import { visible } from '../plain.js';

/** A function from an id to what it is called among `runs` ({id, name}). */
export function namesOf(runs) {
  const plain = (run) => visible(run.name || run.id);
  const times = new Map();
  for (const run of runs) times.set(plain(run), (times.get(plain(run)) ?? 0) + 1);
  const names = new Map(runs.map((run) => [run.id, times.get(plain(run)) > 1 ? `${plain(run)} · ${run.id.slice(-4)}` : plain(run)]));
  return (id) => names.get(id) ?? visible(id);
}

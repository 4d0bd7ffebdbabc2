// The stored sets, fetched once for the Data page and the form, and again whenever one of them changed something.

import * as api from '../api.js';

const listeners = new Set();
let sets = null;
let limit = null;
let paths = true;
let failed = null;
const call = api.ordered();

/** Metas, newest first; null before the first answer. */
export const list = () => sets;
/** The most bytes that an upload may have; null before the first answer. */
export const largestUpload = () => limit;
/** Whether files of the server's machine can be named. */
export const pathsAllowed = () => paths;
/** The ApiError of the last try, or null. */
export const error = () => failed;
export const find = (name) => sets?.find((one) => one.name === name);

export function onChange(callback) {
  listeners.add(callback);
  return () => listeners.delete(callback);
}

export async function refresh() {
  const newest = call();
  try {
    const answer = await api.get('/api/data/sets');
    if (!newest()) return;
    sets = answer.sets;
    limit = answer.largest_upload ?? null;
    paths = answer.paths ?? true;
    failed = null;
  } catch (caught) {
    if (!newest()) return;
    failed = caught;
  }
  for (const listener of listeners) listener();
}

// What the page shows stands in its address (?run=&tab=&set=&lang=&theme=), so that a link opens the same view.
const SAMPLES = ['view', 'group', 'place', 'index', 'sort', 'order', 'from', 'to', 'phase', 'prompt', 'kind', 'correct', 'truncated', 'reward', 'low', 'high', 'text'];
const OTHERS = ['runs', 'sweep', 'change', 'finding'];
const KEYS = ['run', 'tab', 'step', 'set', 'lab', 'evaluation', 'files', 'chat', ...SAMPLES, ...OTHERS];
const OF_ONE_TAB = ['set', 'lab', 'rewards', 'rows', 'args', 'evaluation', 'files', 'chat', ...SAMPLES, ...OTHERS]; // what stands on one page means nothing on the next
const OF_ONE_RUN = ['step', 'evaluation', 'finding', 'group', 'place', 'index', 'prompt', 'from', 'to', 'reward', 'low', 'high'];
const listeners = new Set();

function remembered(key) {
  try {
    return localStorage.getItem(`studio.${key}`);
  } catch {
    return null; // storage may be forbidden; the page works without
  }
}

function remember(key, value) {
  try {
    localStorage.setItem(`studio.${key}`, value);
  } catch {
    // as above
  }
}

/** Each of KEYS as a string, absent ones undefined. */
export function get() {
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(KEYS.map((key) => [key, query.get(key) ?? undefined]));
}

/** Change some of them; null takes one out. A new run or tab is a new entry in the browser's history. */
export function set(patch, { replace = false } = {}) {
  const before = get();
  const query = new URLSearchParams(location.search);
  if ('run' in patch && patch.run !== before.run) for (const key of OF_ONE_RUN) if (!(key in patch)) query.delete(key);
  if ('tab' in patch && patch.tab !== before.tab) for (const key of OF_ONE_TAB) query.delete(key);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined || value === '') query.delete(key);
    else query.set(key, value);
  }
  const address = `?${query}`;
  if (address === location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  announce();
}

/** The address of a view, for links that can be opened in a new tab. */
export function link(patch) {
  const query = new URLSearchParams(location.search);
  query.delete('step');
  if ('tab' in patch) for (const key of OF_ONE_TAB) query.delete(key);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) query.delete(key);
    else query.set(key, value);
  }
  return `?${query}`;
}

/** A press on a link that is for the app; with a modifier or another button it is the browser's (a new tab, a download). */
export const ours = (event) => !(event.metaKey || event.ctrlKey || event.shiftKey || event.button);

/** Follow a link in place: `go` is a patch of the address, or does what is to be done. */
export function follow(event, go) {
  if (!ours(event)) return;
  event.preventDefault();
  if (typeof go === 'function') go();
  else set(go);
}

export function onChange(callback) {
  listeners.add(callback);
  return () => listeners.delete(callback);
}

function announce() {
  const now = get();
  for (const listener of listeners) listener(now);
}

addEventListener('popstate', announce);

/** A choice of this person (lang, theme, smoothing ...): from the address, else remembered here, else `fallback`. */
export function preference(key, fallback) {
  return new URLSearchParams(location.search).get(key) ?? remembered(key) ?? fallback;
}

/** Remember a choice; if the address names it, the address follows. */
export function prefer(key, value) {
  remember(key, value);
  const query = new URLSearchParams(location.search);
  if (query.has(key)) {
    query.set(key, value);
    history.replaceState(null, '', `?${query}`);
  }
}

// The server's JSON routes. Every failure becomes an ApiError that carries words in both languages.
const OFFLINE = {
  en: 'The server does not answer.',
  ko: '서버가 응답하지 않습니다.',
};

// Who asks, on a public demo: it keeps one visitor from stopping another one's run. Made here, and known to nobody.
const VISITOR = 'studio.visitor';

function remembered() {
  const made = Array.from(crypto.getRandomValues(new Uint8Array(18)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  try {
    const known = localStorage.getItem(VISITOR);
    if (known) return known;
    localStorage.setItem(VISITOR, made);
  } catch {
    // Storage may be forbidden, in a frame say: then it lasts as long as the page.
  }
  return made;
}

/** The headers that every request of the page carries. */
export const HEADERS = { 'X-Studio-Visitor': remembered() };

export class ApiError extends Error {
  /** status 0: no answer at all. `error` is {en, ko}; `body` the whole answer (422 carries `check`). */
  constructor(status, error, body) {
    super(error.en);
    this.status = status;
    this.error = error;
    this.body = body;
  }
}

async function call(method, path, body, { signal } = {}) {
  const options = { method, signal, cache: 'no-cache', headers: { Accept: 'application/json', ...HEADERS } };
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, OFFLINE, null);
  }
  let data = null;
  try {
    data = await response.json();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
  }
  if (response.ok && data !== null) return data;
  const status = { en: `The server answered ${response.status}.`, ko: `서버가 ${response.status}로 응답했습니다.` };
  throw new ApiError(response.status, data?.error ?? status, data);
}

export const get = (path, options) => call('GET', path, undefined, options);
export const post = (path, body = {}, options) => call('POST', path, body, options);
export const del = (path, options) => call('DELETE', path, undefined, options);

/** '/api/runs/<id>/live?after=3' from its parts; undefined parameters are left out. */
export function address(path, params = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) if (value !== undefined && value !== null) query.set(key, value);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** Calls whose answers may come in another order: `call()` begins one and gives a function that says, once the answer is
 * there, whether it may be shown. It may not where the answer of a later call has been. */
export function ordered() {
  let begun = 0;
  let shown = 0;
  return () => {
    const mine = ++begun;
    return () => {
      if (mine < shown) return false;
      shown = mine;
      return true;
    };
  };
}

/** Call `tick()` every `ms` while the page is visible; one call at a time; nothing at all while hidden. `now()` during a
 * call means that its answer may be old: another call follows at once. */
export function poll(tick, ms) {
  let timer = null;
  let busy = false;
  let again = false;
  let stopped = false;
  const visible = () => document.visibilityState !== 'hidden';
  async function round() {
    clearTimeout(timer);
    timer = null;
    if (busy) again = true;
    if (busy || stopped || !visible()) return;
    busy = true;
    again = false;
    let wait = ms;
    try {
      wait = (await tick()) ?? ms;
    } finally {
      busy = false;
      if (!stopped && visible()) timer = setTimeout(round, again ? 0 : wait);
    }
  }
  const onVisibility = () => (visible() ? round() : clearTimeout(timer));
  document.addEventListener('visibilitychange', onVisibility);
  round();
  return {
    now: round,
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    },
  };
}

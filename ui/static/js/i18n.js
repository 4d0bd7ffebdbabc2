// Two languages at once: every text on the page knows its message, and a switch rewrites them in place without a reload.
let texts = {};
let current = 'en';
const listeners = new Set();
const labels = new WeakMap();
const attributes = new WeakMap();

export const LANGUAGES = { ko: '한국어', en: 'English' };

export function setTexts(more) {
  texts = { ...texts, ...more };
}

/** The text of a key, of an {en, ko} pair, or of a function; `{name}` in it is filled from `vars`. */
export function t(message, vars) {
  if (typeof message === 'function') return message();
  const pair = message !== null && typeof message === 'object' ? message : texts[message];
  let text = pair ? (pair[current] ?? pair.en ?? '') : String(message ?? '');
  if (vars) text = text.replace(/\{(\w+)\}/g, (whole, name) => (name in vars ? resolve(vars[name]) : whole));
  return text;
}

// A variable may itself be a pair or a message of its own; a plain string stays as it is.
function resolve(value) {
  return value !== null && (typeof value === 'object' || typeof value === 'function') ? t(value) : String(value);
}

export const lang = () => current;

/** Show `message` as the text of `node`, now and after every change of language. */
export function label(node, message, vars) {
  labels.set(node, [message, vars]);
  node.dataset.t = '';
  const text = t(message, vars);
  if (node.textContent !== text) node.textContent = text;
  return node;
}

export function labelAttribute(node, name, message, vars) {
  const all = attributes.get(node) ?? new Map();
  all.set(name, [message, vars]);
  attributes.set(node, all);
  node.dataset.tt = '';
  node.setAttribute(name, t(message, vars));
  return node;
}

export function setLanguage(chosen) {
  const next = chosen === 'ko' ? 'ko' : 'en';
  document.documentElement.lang = next;
  if (next === current) return;
  current = next;
  for (const node of document.querySelectorAll('[data-t]')) {
    const [message, vars] = labels.get(node) ?? [];
    if (message !== undefined) node.textContent = t(message, vars);
  }
  for (const node of document.querySelectorAll('[data-tt]')) {
    for (const [name, [message, vars]] of attributes.get(node) ?? []) node.setAttribute(name, t(message, vars));
  }
  for (const listener of listeners) listener(current);
}

/** `callback(lang)` after each change; returns the way to take it back. */
export function onLanguage(callback) {
  listeners.add(callback);
  return () => listeners.delete(callback);
}

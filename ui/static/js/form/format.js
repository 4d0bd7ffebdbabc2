// Numbers as the form needs them beyond the shell's: whole counts, sizes, and values as a person would type them.

import { DASH, compact, number } from '../format.js';

export const count = (value) => (Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : DASH);

/** For totals whose last digits do not matter: 12345678 -> "12.3M". */
export const about = (value) => (Math.abs(value) < 1e4 ? count(value) : compact(value));

export function bytes(value) {
  if (!Number.isFinite(value)) return DASH;
  if (value < 1e6) return `${Math.ceil(value / 1e3)} kB`;
  return value < 1e9 ? `${number(value / 1e6)} MB` : `${number(value / 1e9)} GB`;
}

/** 1e-6 stays 1e-6, true is a word, lists are joined. */
export function typed(value) {
  if (value === null || value === undefined || value === '') return DASH;
  if (typeof value === 'number') return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
  if (Array.isArray(value)) return value.length ? value.map(typed).join(', ') : '[]';
  if (typeof value === 'object') {
    const pairs = Object.entries(value);
    return pairs.length ? pairs.map(([name, each]) => `${name}=${typed(each)}`).join(', ') : '{}';
  }
  return String(value);
}

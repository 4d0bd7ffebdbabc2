// What several parts of the Sweeps page share: places, figures with their ranges, names of settings.
import { h } from '../dom.js';
import { DASH, duration, number, percent } from '../format.js';
import { t } from '../i18n.js';
import * as state from '../state.js';

export const ended = (sweep) => sweep.can.delete;
export const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
export const plural = (key, n, vars = {}) => t(n === 1 ? `${key}_1` : key, { n, ...vars });

/** A link within the app that can also be opened in a new tab. */
export function link(patch, props, ...children) {
  return h('a', { href: state.link(patch), ...props, onclick: (event) => state.follow(event, patch) }, ...children);
}

/** A value of a setting as a person would type it. */
export function shown(value) {
  if (value === null || value === undefined) return DASH;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const points = (value) => (known(value) ? `${value > 0 ? '+' : ''}${(100 * value).toFixed(1).replace('-', '−')}` : DASH);

/** The measures of a setting: how a figure is written, and whether more of it is better. */
export const MEASURES = [
  { key: 'accuracy', title: 'sweeps.c_accuracy', write: (value) => percent(value, 1), low: 0, high: 1 },
  { key: 'gain', title: 'sweeps.c_gain', write: (value) => t('sweeps.points', { n: points(value) }) },
  { key: 'reward', title: 'sweeps.c_reward', write: (value) => number(value) },
  { key: 'length', title: 'sweeps.c_length', write: (value) => t('sweeps.tokens', { n: number(value) }) },
  { key: 'reward_spread', title: 'sweeps.c_reward_spread', write: (value) => number(value, 2) },
  { key: 'grad_spread', title: 'sweeps.c_grad_spread', write: (value) => number(value, 2) },
  { key: 'seconds', title: 'sweeps.c_seconds', write: (value) => duration(value) },
];

/** '91.2 to 95.0' of an interval, in the unit of its measure without the sign of it. */
export function interval(key, one) {
  if (!one || !known(one.low)) return '';
  const write = key === 'gain' ? points : (value) => (100 * value).toFixed(1);
  return t('sweeps.range', { low: write(one.low), high: write(one.high) });
}

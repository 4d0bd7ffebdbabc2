// Parts that the list and the group share: values with their own words for what is no number, marks, kinds, rewards.
import { h } from '../dom.js';
import { DASH, number, signed } from '../format.js';
import { rewardHue } from '../live/colors.js';
import { plain } from '../plain.js';

const WORDS = { nan: 'NaN', inf: '∞', '-inf': '−∞' };

/** The number behind a value of the server ("nan", "inf" or "-inf" where JSON has no word), or null. */
export const real = (value) => (typeof value === 'string' ? { nan: NaN, inf: Infinity, '-inf': -Infinity }[value] : value ?? null);

export const figure = (value) => (typeof value === 'string' ? WORDS[value] : number(value));
export const signedFigure = (value) => (typeof value === 'string' ? WORDS[value] : value === null || value === undefined ? DASH : Math.abs(value) < 1e-6 ? '0' : signed(value));

/** Right, wrong or not judged: a sign of its own shape, a word and a hue; `short`: the word is for readers of the screen. */
export function mark(correct, short = false) {
  const kind = correct === true ? 'right' : correct === false ? 'wrong' : 'unjudged';
  return h('span', { class: 's-mark', data: { kind }, tt: short ? { title: `samples.${kind}` } : undefined },
    h('i', { 'aria-hidden': 'true' }, { right: '✓', wrong: '×', unjudged: '?' }[kind]), h('span', { class: short ? 'visually-hidden' : '', t: `samples.${kind}` }));
}

/** Which way a group is dead, or that it is live, as a small tag. */
export const kindTag = (kind) => h('span', { class: 's-kind', data: { kind } }, h('i', { 'aria-hidden': 'true' }), h('span', { t: `samples.kind_${kind}` }));

/** The name of a reward behind its hue, the same on every page. */
export const rewardName = (run, name) => {
  const at = (run?.reward_names ?? []).indexOf(name);
  return h('span', { class: 's-reward-name' }, h('i', { class: 'dot', 'aria-hidden': 'true', style: { background: `var(--hue-${rewardHue(at)})` } }), plain(name, h));
};

/** Each reward of a row: hue and value; the name stands in the title and for readers of the screen. */
export const rewardList = (run, names, values) => names.map((name, at) => h('span', { class: 's-reward' }, rewardName(run, name), ' ', h('b', { class: 'num' }, figure(values[at]))));

/** An excerpt: what was left out before and after it is an ellipsis; where `needle` stands is marked. */
export function excerpt({ text, before, after }, needle) {
  const nodes = [];
  if (before) nodes.push(h('span', { class: 'muted' }, '…'));
  nodes.push(...marked(text, needle));
  if (after) nodes.push(h('span', { class: 'muted' }, '…'));
  return nodes;
}

/** Text nodes with every place of `needle` in a <mark>. Case does not count, as in the search. */
export function marked(text, needle) {
  if (!needle) return plain(text, h);
  const nodes = [];
  const wanted = new RegExp(needle.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi');
  let from = 0;
  for (const found of text.matchAll(wanted)) {
    nodes.push(...plain(text.slice(from, found.index), h), h('mark', { class: 's-found' }, plain(found[0], h)));
    from = found.index + found[0].length;
    if (nodes.length > 400) break;
  }
  nodes.push(...plain(text.slice(from), h));
  return nodes;
}

/** The notice of a failed call, with a way to try again. */
export const failed = (error, again) => h('div', { class: 'notice', data: { level: 'error' }, role: 'alert' },
  h('span', { t: error.error ?? String(error.message ?? error) }),
  again ? h('button', { class: 'btn small', type: 'button', t: 'app.retry', onclick: again }) : null);

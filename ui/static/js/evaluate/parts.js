// Parts that several sections of the page share: numbers with their intervals, marks that differ in shape, CSV, errors.
import { h } from '../dom.js';
import { DASH, number, percent, signed } from '../format.js';
import { labelAttribute, t } from '../i18n.js';

const RATES = new Set(['accuracy', 'format_rate', 'eos_rate', 'strict', 'balanced_accuracy', 'pass_at_1', 'pass_at_k', 'maj_at_k']);

export const isRate = (name) => RATES.has(name);
export const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

/** A measure as people read it: a rate in per cent, anything else with three digits. */
export const figure = (name, value) => (isRate(name) ? percent(value, 1) : number(value));

/** Points of a change of a rate, signed: 0.41 -> '+41.0'. */
export const points = (value) => (known(value) ? `${value > 0 ? '+' : ''}${(100 * value).toFixed(1).replace('-', '−')}` : DASH);

/** A change: of a rate in points, of anything else signed. */
export const change = (name, value) => (!known(value) ? DASH : isRate(name) ? t('evaluate.points', { n: points(value) }) : signed(value, 3));

/** '34.0 to 48.0' of [low, high]; '' where there is none. */
export function between(name, range, sign = false) {
  if (!range || !known(range[0]) || !known(range[1])) return '';
  const one = sign ? (value) => (isRate(name) ? points(value) : signed(value, 3)) : (value) => (isRate(name) ? (100 * value).toFixed(1) : number(value));
  return t('evaluate.interval', { low: one(range[0]), high: one(range[1]) });
}

/** Right, wrong or not judged: an icon of its own shape, a word, and a hue. */
export function mark(correct) {
  const kind = correct === true ? 'right' : correct === false ? 'wrong' : 'unjudged';
  return h('span', { class: 'ev-mark', data: { kind } }, h('i', { 'aria-hidden': 'true' }, kind === 'right' ? '✓' : kind === 'wrong' ? '×' : '?'), h('span', { t: `evaluate.mark_${kind}` }));
}

/** The key of base and trained, as every drawing of this page shows them. */
export const legend = (...kinds) => h('p', { class: 'ev-legend caption' }, kinds.map((kind) =>
  h('span', null, h('i', { class: 'ev-dot', data: { kind }, 'aria-hidden': 'true' }), h('span', { t: `evaluate.${kind}` }))));

/** A link that gives what is drawn as CSV: `rows()` are lists of cells, the first the header. */
export function csv(name, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    const safe = typeof value === 'string' && /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text; // no cell may start a formula
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const link = h('button', { class: 'btn ghost small ev-csv', type: 'button', t: 'chart.csv', tt: { title: 'chart.csv_title' } });
  link.addEventListener('click', () => {
    const text = rows().map((row) => row.map(cell).join(',')).join('\n');
    const address = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/csv' }));
    const anchor = h('a', { href: address, download: `${name()}.csv` });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  return link;
}

/** The head of a section: title, what stands beside it, and at the end its CSV. */
export function head(title, ...more) {
  // Several lists give their CSV: each button says whose.
  for (const one of more) if (one.classList?.contains('ev-csv')) labelAttribute(one, 'aria-label', () => `${t(title)}: ${t('chart.csv')}`);
  return h('header', { class: 'ev-head' }, h('h2', { t: title }), more);
}

/** Whether `value` differs from what this section drew last; a tick that brings nothing new redraws nothing. */
export function moved(section, value) {
  const key = JSON.stringify(value ?? null);
  if (section.drawn === key) return false;
  section.drawn = key;
  return true;
}

/** {field: [messages]} of a refusal: what its check found, or the one field that it names, or '' for all of them. */
export function problems(error) {
  const found = {};
  const add = (field, text) => (found[field] ??= []).push(text);
  for (const { field, rule } of error.body?.check?.errors ?? []) add(field, rule);
  if (Object.keys(found).length) return found;
  const named = error.body?.field ?? /^(\w+)\s*[=:]/.exec(error.error?.en ?? '')?.[1];
  add(named ?? '', error.error ?? String(error.message));
  return found;
}

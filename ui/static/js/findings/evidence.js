// The numbers of a finding as they were taken, by their names; folded, since the text says the main ones in words.
import { count, number } from '../format.js';
import { plain } from '../plain.js';

const MOST = 12; // items of one list

/** A folded table, or null where a finding has no numbers. */
export function evidence({ h }, one) {
  const entries = Object.entries(one.evidence);
  if (entries.length === 0) return null;
  return h('details', { class: 'fi-evidence' }, h('summary', { class: 'caption', t: 'findings.numbers' }),
    h('table', {}, h('tbody', {}, entries.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, h('code', {}, plain(name, h))), h('td', {}, shown(value, h)))))),
    one.calibrated ? null : h('p', { class: 'caption', t: 'findings.uncalibrated' }));
}

function shown(value, h) {
  if (Number.isInteger(value)) return count(value);
  if (typeof value === 'number' || value === null) return number(value, 4);
  if (typeof value === 'boolean') return value ? '✓' : '×'; // a dash is what is not known
  if (typeof value === 'string') return plain(value, h);
  if (Array.isArray(value)) {
    const parts = value.slice(0, MOST).flatMap((item, i) => [i ? ', ' : '', shown(item, h)]);
    return h('span', {}, parts, value.length > MOST ? ' …' : '');
  }
  return h('span', {}, Object.entries(value).slice(0, MOST).flatMap(([name, item], i) => [i ? ', ' : '', plain(name, h), ' ', shown(item, h)]));
}

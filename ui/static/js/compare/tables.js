// What the runs came to on held-out rows, and in what their settings differ.
import { fill, h } from '../dom.js';
import { DASH, count, number, percent, signed } from '../format.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import { dashOf, variableOf } from './hues.js';
import { namesOf } from './names.js';

const known = (value) => value !== null && value !== undefined;
const points = (value) => (known(value) ? signed(100 * value, 3) : DASH);
const key = (place) => h('i', { class: 'cmp-key', data: { dash: dashOf(place) }, style: { '--hue': variableOf(place) } });

function side(one) {
  if (!one || !known(one.accuracy)) return [DASH];
  return [h('span', null, percent(one.accuracy, 1)), h('span', { class: 'caption cmp-range' }, `${percent(one.low, 1)} – ${percent(one.high, 1)}`), h('span', { class: 'caption cmp-range' }, t('compare.rows', { n: count(one.n) }))];
}

function moved(one) {
  if (!one || !known(one.difference)) return [DASH];
  const apart = one.low > 0 || one.high < 0;
  return [h('span', { class: apart ? 'strong' : '' }, `${points(one.difference)} ${t('compare.points')}`), h('span', { class: 'caption cmp-range' }, `${points(one.low)} … ${points(one.high)}`), h('span', { class: 'caption cmp-range' }, t('compare.rows', { n: count(one.n) }))];
}

/** One row a run. `link(run)` gives the address of its Live page. */
export function evaluations(runs, link, lang) {
  const columns = ['before', 'after', 'gain', 'against', 'reward', 'length', 'spread', 'verdict'];
  // The roles by name, as in the table of settings: on a narrow screen a run is a card, each figure under its own title.
  const head = h('tr', { role: 'row' }, h('th', { scope: 'col', role: 'columnheader', t: 'compare.run' }), columns.map((name) => h('th', { scope: 'col', role: 'columnheader', class: name === 'verdict' ? '' : 'num', t: `compare.${name}` })));
  const titled = (at) => ({ role: 'cell', data: { title: t(`compare.${columns[at]}`) } });
  const named = namesOf(runs);
  const rows = runs.map((run, place) => {
    const found = run.measured;
    const cells = [side(found.before), side(found.after), moved(found.gain), place ? moved(run.against) : [DASH], [number(found.reward)], [number(found.length)], [number(found.reward_spread)]];
    const said = found.finding?.text;
    return h('tr', { role: 'row' },
      h('th', { scope: 'row', role: 'rowheader' }, h('span', { class: 'cmp-who' }, key(place), h('a', link(run), named(run.id)))),
      cells.map((cell, at) => h('td', { class: 'num', ...titled(at) }, cell)),
      h('td', { class: 'cmp-said', ...titled(columns.length - 1) }, said ? (said[lang] ?? said.en ?? String(said)) : DASH));
  });
  return h('table', { class: 'cmp-table', id: 'compare-evaluations', role: 'table' }, h('thead', { role: 'rowgroup' }, head), h('tbody', { role: 'rowgroup' }, rows));
}

/** JSON with a blank after each comma and colon, where a line may break; the text of a string stays as it is. */
function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (value && typeof value === 'object') return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${spaced(one)}`).join(', ')}}`;
  return JSON.stringify(value);
}

const shown = (value) => (value === null || value === undefined ? DASH : typeof value === 'object' ? visible(spaced(value)) : typeof value === 'number' ? (Math.abs(value) < 1e-3 && value !== 0 ? value.toExponential() : String(value)) : visible(String(value)));

/** One row a setting that differs. */
export function settings(found) {
  if (!found.settings.length) return h('p', { class: 'muted', t: 'compare.settings_same' });
  const named = namesOf(found.runs);
  // The roles by name: on a narrow screen the rows are laid out as grids, and would be no table to a reader of the screen.
  const head = h('tr', { role: 'row' }, h('th', { scope: 'col', role: 'columnheader', t: 'compare.setting' }), found.runs.map((run, place) => h('th', { scope: 'col', role: 'columnheader' }, h('span', { class: 'cmp-who' }, key(place), h('span', null, named(run.id))))));
  const rows = found.settings.map((row) => h('tr', { role: 'row' },
    h('th', { scope: 'row', role: 'rowheader' }, h('span', { t: row.label }), ' ', h('span', { class: 'caption mono' }, row.field)),
    row.values.map((value, i) => h('td', { class: 'mono', role: 'cell' }, h('div', { class: 'cmp-value' }, row.known[i] ? shown(value) : h('span', { class: 'muted', t: 'compare.unknown' }))))));
  return h('table', { class: 'cmp-table', id: 'compare-settings', role: 'table', style: { '--runs': found.runs.length } }, h('thead', { role: 'rowgroup' }, head), h('tbody', { role: 'rowgroup' }, rows));
}

/** A table in a box that scrolls on its own; the same table again changes nothing, a new one stays scrolled. */
export function replace(box, title, node) {
  const before = box.firstElementChild;
  if (before?.firstElementChild?.isEqualNode(node)) {
    return;
  }
  const at = before?.scrollLeft ?? 0;
  fill(box, h('div', { class: 'cmp-scroll', tabIndex: 0, role: 'region', tt: { 'aria-label': title } }, node));
  box.firstElementChild.scrollLeft = at;
}

// All stored sets, the newest first: what each one holds and where it came from.

import { fill, h } from '../dom.js';
import { DASH, ago, count } from '../format.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import { deleteButton, labLink, useButton } from './actions.js';
import { link, plural, saying, words } from './parts.js';
import * as store from './store.js';

const COLUMNS = ['name', 'kind', 'rows', 'columns', 'source', 'stored', 'used_by'];
const NUMBERS = new Set(['rows']);

const clipped = (text, name) => h('span', { class: `d-clip ${name}`, title: text }, text);

const CELLS = {
  name: (set) => [link({ tab: 'data', set: set.name }, { class: 'd-name', title: visible(set.name) }, visible(set.name)), h('code', { class: 'd-hash', title: set.sha256 }, shortHash(set))],
  kind: (set) => t(set.kind === 'sft' ? 'data.short_sft' : 'data.short_prompts'),
  rows: (set) => count(set.rows),
  columns: (set) => clipped(ownColumns(set).map(visible).join(', ') || DASH, 'd-columns-text'),
  source: (set) => [clipped(visible(String(set.source ?? DASH)), 'd-source-text'), set.encoding ? h('span', { class: 'caption' }, set.encoding) : null],
  stored: (set) => ago(set.created_at),
  used_by: (set) => (set.used_by?.length ? plural('data.runs', set.used_by.length) : DASH),
};

/** Without the one that every set has. */
export const ownColumns = (set) => (set.columns ?? []).filter((name) => name !== 'prompt_id');

export const shortHash = (set) => (set.sha256 ? set.sha256.slice(0, 10) : DASH);

export function setList() {
  const body = h('tbody', { role: 'rowgroup' });
  const table = h('div', { class: 'table-wrap d-sets' }, h('table', { class: 'table d-list', role: 'table' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, COLUMNS.map((name) => h('th', { scope: 'col', role: 'columnheader', class: NUMBERS.has(name) ? 'num' : '', data: { column: name }, t: `data.col_${name}` })),
      h('th', { scope: 'col', role: 'columnheader', class: 'd-head-actions' }, h('span', { class: 'visually-hidden', t: 'data.actions' })))), body));
  const empty = h('p', { class: 'card d-empty', hidden: true }, h('span', { class: 'strong', t: 'data.empty' }), h('span', { class: 'muted', t: 'data.empty_lead' }));
  const loading = h('p', { class: 'muted', t: 'app.loading' });
  const why = h('span', null);
  const lost = h('div', { class: 'notice', data: { level: 'warn' }, role: 'status', hidden: true }, why, h('button', { type: 'button', class: 'btn small', t: 'app.retry', onclick: () => store.refresh() }));
  const root = h('section', { class: 'd-stored' }, h('h2', { t: 'data.stored_sets' }), lost, loading, empty, table);
  let drawn = null;

  function row(set) {
    return h('tr', { role: 'row', data: { set: set.name } },
      COLUMNS.map((name) => h('td', { role: 'cell', class: `${NUMBERS.has(name) ? 'num ' : ''}d-col-${name}` },
        h('span', { class: 'd-cell-label', 'aria-hidden': 'true' }, t(`data.col_${name}`)), h('div', { class: 'd-value' }, CELLS[name](set)))),
      h('td', { role: 'cell', class: 'd-actions' }, h('div', { class: 'd-buttons' }, useButton(set), labLink(set), deleteButton(set))));
  }

  function draw() {
    const sets = store.list();
    const error = store.error();
    lost.hidden = !error;
    if (error) why.textContent = t('data.list_failed', { why: words(error) });
    loading.hidden = sets !== null || Boolean(error);
    empty.hidden = sets === null || sets.length > 0;
    table.hidden = !sets?.length;
    const signature = JSON.stringify([sets, document.documentElement.lang, (sets ?? []).map((set) => ago(set.created_at))]);
    if (signature === drawn) return;
    drawn = signature;
    const focused = body.contains(document.activeElement) ? [document.activeElement.closest('tr').dataset.set, document.activeElement.className] : null;
    fill(body, (sets ?? []).map(row));
    if (focused) [...body.rows].find((tr) => tr.dataset.set === focused[0])?.getElementsByClassName(focused[1])[0]?.focus({ preventScroll: true });
  }

  store.onChange(draw);
  saying(draw);
  return { root, draw };
}

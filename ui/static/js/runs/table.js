// The table of runs: sorted, filtered, patched in place. Rows are kept by run id, so nothing flickers and focus stays.

import { h, keyed, setText } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import * as actions from './actions.js';
import { COLUMNS, kindOf, nameOf } from './columns.js';

export class RunTable {
  constructor() {
    this.sorting = { key: 'age', down: true };
    this.heads = COLUMNS.map((column) => this.head(column));
    this.body = h('tbody', { role: 'rowgroup' });
    const last = h('th', { scope: 'col', role: 'columnheader', class: 'r-head-actions' }, h('span', { class: 'visually-hidden', t: 'runs.actions' }));
    this.root = h('div', { class: 'table-wrap r-wrap' },
      h('table', { class: 'table r-table', role: 'table' },
        h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, this.heads.map((head) => head.cell), last)), this.body));
    this.runs = [];
    onLanguage(() => this.draw(true));
    this.mark();
  }

  head(column) {
    const arrow = h('span', { class: 'r-arrow', 'aria-hidden': 'true' });
    const button = h('button', { type: 'button', class: 'r-sort', data: { sort: column.key }, onclick: () => this.sort(column) }, h('span', { t: `runs.${column.key}` }), arrow);
    const cell = h('th', { scope: 'col', role: 'columnheader', class: column.num ? 'num' : '', data: { column: column.key } }, button);
    return { column, cell, arrow };
  }

  sort(column) {
    const same = this.sorting.key === column.key;
    this.sorting = { key: column.key, down: same ? !this.sorting.down : Boolean(column.down) };
    this.mark();
    this.draw();
  }

  mark() {
    for (const { column, cell, arrow } of this.heads) {
      const on = column.key === this.sorting.key;
      if (on) cell.setAttribute('aria-sort', this.sorting.down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
      setText(arrow, on ? (this.sorting.down ? '↓' : '↑') : '');
    }
  }

  /** `runs`: RunViews that pass the filter. */
  set(runs) {
    this.runs = runs;
    this.draw();
  }

  draw(everything = false) {
    const { sort } = COLUMNS.find((column) => column.key === this.sorting.key);
    const sign = this.sorting.down ? -1 : 1;
    // The runs of a sweep stay under its row, in the order of its grid, however the rest is sorted.
    const under = (id) => this.runs.filter((run) => run.under === id);
    const rows = this.runs.filter((run) => !run.under).sort((a, b) => {
      const [x, y] = [sort(a), sort(b)];
      const first = typeof x === 'string' ? x.localeCompare(y) : x === y ? 0 : x < y ? -1 : 1;
      return sign * first || (b.created_at ?? 0) - (a.created_at ?? 0);
    }).flatMap((run) => (run.kind === 'sweep' ? [run, ...under(run.id)] : [run]));
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    keyed(this.body, rows, (run) => run.id, () => this.row(), (row, run) => this.patch(row, run, everything));
    // A row that moves loses the focus: give it back.
    if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
  }

  row() {
    const cells = COLUMNS.map((column) => h('td', { role: 'cell', class: `${column.num ? 'num ' : ''}r-${column.key}`, data: { column: column.key } },
      h('span', { class: 'r-label', 'aria-hidden': 'true', t: `runs.${column.key}` }), h('div', { class: 'r-value' }, column.make?.())));
    return h('tr', { role: 'row' }, cells, h('td', { role: 'cell', class: 'r-actions' }, h('div', { class: 'r-buttons' })));
  }

  patch(row, run, everything) {
    row.dataset.state = run.state;
    row.dataset.run = run.id;
    row.dataset.kind = run.kind ?? 'train';
    row.toggleAttribute('data-under', Boolean(run.under));
    COLUMNS.forEach((column, at) => column.show(row.cells[at].querySelector('.r-value'), run));
    const cell = row.querySelector('.r-buttons');
    if (everything) delete cell.dataset.signature;
    actions.show(cell, run, () => this.draw());
  }
}

/** Every word of `query` stands in the run's name, kind, id, state, preset or model. */
export function fits(run, query) {
  const text = [nameOf(run), kindOf(run), run.id, run.state, t(`state.${run.state}`), run.preset, run.model].filter(Boolean).join(' ').toLowerCase();
  return query.toLowerCase().split(/\s+/).filter(Boolean).every((word) => text.includes(word));
}

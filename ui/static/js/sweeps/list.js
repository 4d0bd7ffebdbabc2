// Every sweep: what it varies, where it stands. Rows are kept by id, so nothing flickers.
import * as demo from '../demo.js';
import { h, keyed, setText } from '../dom.js';
import { ago, duration, percent } from '../format.js';
import { stateBadge, updateBadge } from '../header.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import { link, shown } from './parts.js';

const COLUMNS = ['name', 'state', 'over', 'runs', 'left', 'age'];

export class List {
  constructor() {
    this.create = link({ tab: 'sweeps', sweep: 'new' }, { class: 'btn primary', id: 'sweeps-new', t: 'sweeps.new' });
    const first = link({ tab: 'sweeps', sweep: 'new' }, { class: 'btn primary', id: 'sweeps-first', t: 'sweeps.new' });
    this.first = first;
    this.words = h('p', { t: 'sweeps.none_body' });
    this.none = h('div', { class: 'card empty', hidden: true, id: 'sweeps-none' }, h('h2', { t: 'sweeps.none' }), this.words, first);
    this.body = h('tbody', { role: 'rowgroup' });
    this.table = h('div', { class: 'table-wrap card sw-list' }, h('table', { class: 'table', role: 'table' },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, COLUMNS.map((name) => h('th', { scope: 'col', role: 'columnheader', class: ['left', 'age'].includes(name) ? 'num' : '', t: `sweeps.col_${name}` })))), this.body));
    this.root = h('div', { class: 'sw-list-view', hidden: true }, h('div', { class: 'sw-bar' }, h('h1', { t: 'sweeps.title' }), h('div', { class: 'spacer' }), this.create), h('p', { class: 'muted', t: 'sweeps.lead' }), this.none, this.table);
    onLanguage(() => this.sweeps && this.draw(this.sweeps));
  }

  draw(sweeps) {
    this.sweeps = sweeps;
    const there = !demo.get()?.demo;
    this.none.hidden = sweeps.length > 0;
    this.table.hidden = sweeps.length === 0;
    this.first.hidden = !there;
    this.create.hidden = !there || sweeps.length === 0;
    if (!there) setText(this.words, t('sweeps.none_demo'));
    keyed(this.body, sweeps, (one) => one.id, (one) => this.#row(one), (row, one) => this.#patch(row, one));
  }

  #row(one) {
    const cell = (name, ...inside) => h('td', { role: 'cell', class: `sw-l-${name}${['left', 'age'].includes(name) ? ' num' : ''}` }, h('span', { class: 'sw-label', 'aria-hidden': 'true', t: `sweeps.col_${name}` }), h('div', null, inside));
    return h('tr', { role: 'row', data: { sweep: one.id } },
      cell('name', link({ tab: 'sweeps', sweep: one.id }, { class: 'sw-open' }), h('code', { class: 'sw-id' }, one.id)),
      cell('state', stateBadge(one)),
      cell('over', h('span', { class: 'sw-over', 'data-exact': '' }, over(one))),
      cell('runs', h('div', { class: 'bar-track', 'aria-hidden': 'true' }, h('i')), h('span', { class: 'caption num' })),
      cell('left'), cell('age'));
  }

  #patch(row, one) {
    const inside = (name) => row.querySelector(`.sw-l-${name} > div`);
    const open = row.querySelector('.sw-open');
    setText(open, visible(one.name));
    open.href = state.link({ tab: 'sweeps', sweep: one.id });
    updateBadge(row.querySelector('.badge'), one);
    const bar = inside('runs').querySelector('i');
    bar.style.width = percent(one.done);
    setText(inside('runs').querySelector('.caption'), t('sweeps.finished_of', { n: one.ended, all: one.runs }));
    setText(inside('left'), duration(one.eta_s));
    setText(inside('age'), ago(one.created_at));
  }
}

/** loss_type: grpo, dapo · seed: 1, 2 */
export function over(one) {
  const axes = Object.entries(one.axes ?? {}).map(([name, values]) => `${name}: ${values.map(shown).join(', ')}`);
  return visible([...axes, ...(one.seeds?.length ? [`seed: ${one.seeds.join(', ')}`] : [])].join(' · '));
}

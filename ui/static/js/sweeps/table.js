// The table: a setting a row, its seeds as one with their range; under each setting its runs, one line a seed.
import { fill, h, keyed, setText } from '../dom.js';
import { DASH, duration, percent } from '../format.js';
import { stateBadge, updateBadge } from '../header.js';
import { label, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import { MEASURES, interval, known, link } from './parts.js';

const FINDINGS = new Set(['learning', 'learning_slowly', 'not_learning', 'broken', 'cannot_tell']);
const RANGED = new Set(['accuracy', 'gain']);

export class Table {
  /** `onPoint(index | null)`: a setting is pointed at. */
  constructor(onPoint) {
    this.onPoint = onPoint;
    this.body = h('tbody', { role: 'rowgroup' });
    this.once = h('p', { class: 'caption', t: 'sweeps.one_seed', hidden: true });
    this.sorting = null; // {key, down}; null: in the order of the grid
    const head = (title, num) => h('th', { scope: 'col', role: 'columnheader', class: num ? 'num' : '', t: title });
    this.heads = MEASURES.map(({ key, title }) => {
      const arrow = h('span', { class: 'r-arrow', 'aria-hidden': 'true' });
      const cell = h('th', { scope: 'col', role: 'columnheader', class: 'num' }, h('button', { type: 'button', class: 'r-sort', data: { sort: key }, onclick: () => this.#sort(key) }, h('span', { t: title }), arrow));
      return { key, cell, arrow };
    });
    this.root = h('section', { class: 'card sw-table', id: 'sweep-table', tt: { 'aria-label': 'sweeps.table' } },
      h('h2', { t: 'sweeps.table' }), h('p', { class: 'caption', t: 'sweeps.table_lead' }), this.once,
      h('div', { class: 'table-wrap' }, h('table', { class: 'table', role: 'table' },
        h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, head('sweeps.c_setting'), this.heads.map(({ cell }) => cell), head('sweeps.c_finding'), head('sweeps.runs'))), this.body)));
  }

  draw(sweep) {
    this.once.hidden = !sweep.settings.length || sweep.settings.some((one) => one.runs.length > 1);
    this.rows = sweep.rows;
    this.best = sweep.best.setting;
    this.sweep = sweep;
    const items = this.#sorted(sweep.settings.map((one, at) => ({ ...one, at })));
    keyed(this.body, items, (one) => one.at, (one) => this.#row(one), (row, one) => this.#patch(row, one));
  }

  mark(at) {
    for (const row of this.body.children) row.toggleAttribute('data-marked', at !== null && row.dataset.key === String(at));
  }

  /** First the highest, then the lowest, then the order of the grid again. */
  #sort(key) {
    const { sorting } = this;
    this.sorting = sorting?.key !== key ? { key, down: true } : sorting.down ? { key, down: false } : null;
    for (const { key: of, cell, arrow } of this.heads) {
      const on = this.sorting?.key === of;
      if (on) cell.setAttribute('aria-sort', this.sorting.down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
      setText(arrow, on ? (this.sorting.down ? '↓' : '↑') : '');
    }
    this.draw(this.sweep);
  }

  /** What is not known stands last, whichever way. */
  #sorted(items) {
    if (!this.sorting) return items;
    const { key, down } = this.sorting;
    const value = (one) => (known(one[key]?.value) ? one[key].value : null);
    return items.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return x === null || y === null ? (x === null) - (y === null) : down ? y - x : x - y;
    });
  }

  #row(one) {
    const cell = (name, title, inside, num = true) => h('td', { role: 'cell', class: `${num ? 'num ' : ''}sw-c-${name}` }, h('span', { class: 'sw-label', 'aria-hidden': 'true', t: title }), h('div', null, inside));
    const row = h('tr', { role: 'row', data: { setting: one.at } },
      h('td', { role: 'cell', class: 'sw-c-setting' }, h('span', { class: 'sw-best', hidden: true, t: 'sweeps.best' }), h('span', { class: 'sw-setting', 'data-exact': '' })),
      MEASURES.map(({ key, title }) => cell(key, title, [h('span', { class: 'sw-value' }), h('span', { class: 'caption sw-interval' }), h('span', { class: 'caption sw-seeds' })])),
      cell('finding', 'sweeps.c_finding', h('span', { class: 'sw-finding' }), false),
      cell('runs', 'sweeps.runs', h('ul', { class: 'sw-runs' }), false));
    row.addEventListener('pointerenter', () => this.onPoint(one.at));
    row.addEventListener('pointerleave', () => this.onPoint(null));
    row.addEventListener('focusin', () => this.onPoint(one.at));
    row.addEventListener('focusout', () => this.onPoint(null));
    return row;
  }

  #patch(row, one) {
    row.toggleAttribute('data-best', this.best === one.at);
    row.querySelector('.sw-best').hidden = this.best !== one.at;
    setText(row.querySelector('.sw-setting'), one.label ? visible(one.label) : t('sweeps.seeds_only'));
    for (const { key, write } of MEASURES) {
      const cell = row.querySelector(`.sw-c-${key}`);
      const found = one[key];
      setText(cell.querySelector('.sw-value'), found ? write(found.value) : DASH);
      setText(cell.querySelector('.sw-interval'), RANGED.has(key) ? interval(key, found) : '');
      const several = found && one.seeds > 1 && known(found.least) && write(found.least) !== write(found.most);
      setText(cell.querySelector('.sw-seeds'), several ? t('sweeps.seeds_range', { low: write(found.least), high: write(found.most) }) : '');
    }
    const bad = one.not_finite ? t('sweeps.not_finite', { n: one.not_finite }) : '';
    if (bad) setText(row.querySelector('.sw-c-grad_spread .sw-seeds'), bad);
    this.#finding(row.querySelector('.sw-finding'), one.findings ?? []);
    const runs = one.runs.map((at) => this.rows[at]);
    keyed(row.querySelector('.sw-runs'), runs, (each) => `${each.position}/${each.run?.id ?? ''}`, (each) => this.#run(each), (item, each) => this.#patchRun(item, each));
  }

  /** The states of the runs' headlines, each once. */
  #finding(node, findings) {
    const states = [...new Set(findings.map((each) => each.state))].filter((each) => FINDINGS.has(each));
    const key = states.join();
    if (node.dataset.states === key) return;
    node.dataset.states = key;
    fill(node, states.length ? states.map((each, at) => [at ? ', ' : null, h('span', { t: `sweeps.f_${each}`, data: { finding: each } })]) : DASH);
  }

  #run(each) {
    if (!each.run) return h('li', null, h('span', { class: 'caption', t: 'sweeps.no_run' }));
    return h('li', { data: { run: each.run.id } }, link({ tab: 'live', run: each.run.id, sweep: null }, { class: 'sw-run' }), stateBadge(each.run), h('span', { class: 'caption num' }));
  }

  #patchRun(item, each) {
    if (!each.run) return;
    const open = item.querySelector('.sw-run');
    open.href = state.link({ tab: 'live', run: each.run.id });
    const seed = each.values.seed;
    setText(open, seed === undefined ? each.run.id.slice(-4) : t('sweeps.seed', { n: seed }));
    label(open, () => (seed === undefined ? t('sweeps.open_run', { name: each.run.id.slice(-4) }) : t('sweeps.seed', { n: seed })));
    open.title = visible(each.run.name);
    updateBadge(item.querySelector('.badge'), each.run);
    const { last_step: step, total_steps: total, state: now, elapsed_s: took } = each.run;
    const words = now === 'running' ? (total ? percent(step / total) : '') : now === 'succeeded' && each.measures?.after ? `${percent(each.measures.after.accuracy, 1)} · ${duration(took)}` : '';
    setText(item.querySelector('.caption'), words);
  }
}

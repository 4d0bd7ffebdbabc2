// Accuracy by the values of one column: where it got better, where it did not, and on how many rows.
import { fill, h } from '../dom.js';
import { count, percent } from '../format.js';
import { label, onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import { between, change, csv, head, known, legend, moved } from './parts.js';

const MOST = 24;

export class Breakdown {
  constructor() {
    this.picker = h('select', { id: 'evaluate-column', class: 'input', tt: { 'aria-label': 'evaluate.column' }, onchange: () => { this.column = this.picker.value; this.#bars(); } });
    this.bars = h('div', { class: 'ev-bars' });
    this.more = h('p', { class: 'caption' });
    this.root = h('section', { class: 'card ev-breakdown', id: 'evaluate-breakdown', tt: { 'aria-label': 'evaluate.breakdown' } },
      head('evaluate.breakdown', this.picker, csv(() => `${this.run}-by-${this.column}`, () => this.#csv())),
      legend('base', 'trained'), this.bars, this.more);
    onLanguage(() => this.found && this.#bars());
  }

  draw(report) {
    const columns = Object.keys(report.breakdown ?? {}).filter((name) => report.breakdown[name].length > 0);
    this.root.hidden = columns.length === 0;
    if (this.root.hidden || !moved(this, [report.run, report.breakdown])) return;
    this.run = report.run;
    this.found = report.breakdown;
    if (!columns.includes(this.column)) [this.column] = columns;
    fill(this.picker, columns.map((name) => h('option', { value: name }, visible(name))));
    this.picker.value = this.column;
    this.#bars();
  }

  #bars() {
    const all = this.found[this.column];
    const bar = (kind, share) => h('div', { class: 'ev-bar' }, h('span', { class: 'ev-bar-track', 'aria-hidden': 'true' }, h('i', { data: { kind }, style: { width: known(share) ? `${100 * share}%` : '0' } })), h('span', { class: 'num' }, percent(share, 1)));
    fill(this.bars, all.slice(0, MOST).map((one) => h('div', { class: 'ev-bar-row' },
      h('div', { class: 'ev-bar-name' }, h('span', { class: 'mono' }, one.value === null ? t('evaluate.no_value') : visible(String(one.value)).slice(0, 60)), ' ', h('span', { class: 'caption num' }, t('evaluate.n_rows', { n: count(one.n) }))),
      h('div', { class: 'ev-bar-pair' }, bar('base', one.base), bar('trained', one.trained)),
      h('div', { class: 'ev-bar-change num' }, h('span', { class: 'strong' }, change('accuracy', one.difference)), ' ', h('span', { class: 'caption' }, between('accuracy', [one.low, one.high], true))))));
    this.more.hidden = all.length <= MOST;
    label(this.more, 'evaluate.more_values', { n: count(all.length - MOST) });
  }

  #csv() {
    return [[this.column, 'n', 'base', 'trained', 'difference', 'low', 'high'], ...this.found[this.column].map((one) => [one.value, one.n, one.base, one.trained, one.difference, one.low, one.high])];
  }
}

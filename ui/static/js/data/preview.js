// Rows as a table that scrolls inside itself. Every cell is text: what a file holds is shown and never acted on.

import { fill, h } from '../dom.js';
import { DASH, count } from '../format.js';
import { t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { plural, saying } from './parts.js';

const FIRST = ['prompt', 'completion', 'ground_truth'];
const LAST = ['prompt_id'];
const LONGEST = 600; // characters of one cell; the server clips before

export class Preview {
  constructor() {
    this.rows = [];
    this.total = null;
    this.caption = h('p', { class: 'caption d-preview-caption' });
    this.table = h('table', { class: 'd-table' });
    this.box = h('div', { class: 'd-scroll', tabindex: '0', role: 'region', tt: { 'aria-label': 'data.preview' } }, this.table);
    this.root = h('section', { class: 'd-preview', hidden: true }, h('div', { class: 'd-part-head' }, h('h3', { t: 'data.preview' }), this.caption), this.box);
    saying(() => this.draw());
  }

  /** `rows`: [{column: value}]; `total`: how many there are in all. */
  set(rows, total = null) {
    const same = JSON.stringify(rows) === JSON.stringify(this.rows) && total === this.total;
    if (same) return;
    this.rows = rows;
    this.total = total;
    this.draw();
  }

  draw() {
    const { rows } = this;
    this.root.hidden = rows.length === 0;
    const columns = ordered(rows);
    this.caption.textContent = this.total !== null && this.total > rows.length
      ? t('data.first_rows', { n: count(rows.length), all: count(this.total) }) : plural('data.all_rows', rows.length, { n: count(rows.length) });
    const head = h('tr', null, h('th', { class: 'd-row-number num', scope: 'col' }, h('span', { class: 'visually-hidden', t: 'data.row' })),
      columns.map((name) => h('th', { scope: 'col', class: FIRST.includes(name) ? 'd-own' : '', title: visible(name) }, visible(name))));
    fill(this.table, h('thead', null, head), h('tbody', null, rows.map((row, at) => h('tr', null,
      h('th', { scope: 'row', class: 'd-row-number num' }, count(at + 1)),
      columns.map((name) => h('td', null, h('div', { class: 'd-cell' }, cell(row[name]))))))));
  }
}

function ordered(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const rank = (name) => (FIRST.includes(name) ? FIRST.indexOf(name) : LAST.includes(name) ? 99 : 50);
  return names.map((name, at) => [name, at]).sort((a, b) => rank(a[0]) - rank(b[0]) || a[1] - b[1]).map(([name]) => name);
}

function cell(value) {
  if (value === null || value === undefined) return h('span', { class: 'muted' }, DASH);
  if (isConversation(value)) {
    return value.map((message) => h('div', { class: 'd-message' }, h('span', { class: 'd-role' }, visible(message.role)), plain(content(message.content), h, LONGEST)));
  }
  return plain(typeof value === 'string' ? value : JSON.stringify(value), h, LONGEST);
}

const isConversation = (value) => Array.isArray(value) && value.length > 0 && value.every((one) => one && typeof one === 'object' && 'role' in one && 'content' in one);

const content = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

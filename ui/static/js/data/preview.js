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
  /** `title`: the key of its heading. */
  constructor(title) {
    this.rows = [];
    this.total = null;
    this.roles = {};
    this.caption = h('p', { class: 'caption d-preview-caption' });
    this.table = h('table', { class: 'd-table' });
    this.box = h('div', { class: 'd-scroll', tabindex: '0', role: 'region', tt: { 'aria-label': title } }, this.table);
    this.root = h('section', { class: 'd-preview', hidden: true }, h('div', { class: 'd-part-head' }, h('h3', { t: title }), this.caption), this.box);
    saying(() => this.draw());
  }

  /** `rows`: [{column: value}]; `total`: how many there are in all; `roles`: {column: key of what it is meant as}. */
  set(rows, total = null, roles = {}) {
    const asked = JSON.stringify([rows, total, roles]);
    if (asked === this.asked) return;
    Object.assign(this, { rows, total, roles, asked });
    this.draw();
  }

  draw() {
    const { rows, roles } = this;
    this.root.hidden = rows.length === 0;
    const columns = ordered(rows);
    this.caption.textContent = this.total !== null && this.total > rows.length
      ? t('data.first_rows', { n: count(rows.length), all: count(this.total) }) : plural('data.all_rows', rows.length, { n: count(rows.length) });
    const head = h('tr', null, h('th', { class: 'd-row-number num', scope: 'col' }, h('span', { class: 'visually-hidden', t: 'data.row' })),
      columns.map((name) => h('th', { scope: 'col', class: name in roles ? 'd-own' : '', title: visible(name) }, visible(name),
        roles[name] && roles[name] !== `data.${name}` ? h('span', { class: 'd-role-of' }, t(roles[name])) : null)));
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

/** Nodes of one value: a conversation as its messages, everything else as the text it is. */
export function cell(value) {
  if (value === null || value === undefined) return h('span', { class: 'muted' }, DASH);
  if (isConversation(value)) {
    return value.map((message) => h('div', { class: 'd-message' }, h('span', { class: 'd-role' }, visible(message.role)), plain(content(message.content), h, LONGEST)));
  }
  return plain(content(value), h, LONGEST);
}

const isConversation = (value) => Array.isArray(value) && value.length > 0 && value.every((one) => one && typeof one === 'object' && 'role' in one && 'content' in one);

const content = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The first rows as a run would have them: prompt (or completion) and ground truth, one under the other. */
export class Rendered {
  constructor() {
    this.rows = [];
    this.list = h('div', { class: 'd-rendered' });
    this.root = h('section', { hidden: true }, h('h3', { t: 'data.rendered' }), this.list);
    saying(() => this.draw());
  }

  set(rows) {
    this.rows = rows;
    this.draw();
  }

  draw() {
    this.root.hidden = this.rows.length === 0;
    fill(this.list, this.rows.map((row) => h('dl', { class: 'd-rendered-row' }, FIRST.filter((name) => row[name] !== undefined).map((name) =>
      h('div', null, h('dt', { t: `data.${name}` }), h('dd', { class: 'd-cell' }, cell(row[name])))))));
  }
}

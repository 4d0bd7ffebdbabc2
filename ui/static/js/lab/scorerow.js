// One completion on the bench: its text, editable, and what each reward said of it.
import { fill, h, setText } from '../dom.js';
import { number } from '../format.js';
import { label as say } from '../i18n.js';
import { rewardHue, variable } from '../live/colors.js';
import { plain, visible } from '../plain.js';

const WIDEST = 500; // characters of what was extracted, and of a reason

export class ScoreRow {
  /** `onEdit(row)` when the text changes; `onRemove(row)` or null where it is the only one. */
  constructor(text, { label, onEdit, onRemove }) {
    Object.assign(this, { text, cells: null, total: null, version: 0 });
    this.input = h('textarea', { class: 'input mono lab-text', rows: 2, spellcheck: 'false', autocomplete: 'off', value: text, tt: { 'aria-label': label, placeholder: 'lab.text_here' } });
    this.hidden = h('p', { class: 'caption lab-hidden', hidden: true });
    this.lines = h('div', { class: 'lab-lines' });
    this.sum = h('div', { class: 'lab-total' }, h('span', { class: 'caption lab-total-word', t: 'lab.total' }), h('span', { class: 'num strong' }, '–'));
    this.remove = h('button', { type: 'button', class: 'btn ghost small lab-icon', hidden: !onRemove, tt: { 'aria-label': 'lab.remove_completion', title: 'lab.remove_completion' }, onclick: () => onRemove(this) }, '×');
    this.input.addEventListener('input', () => {
      this.text = this.input.value;
      this.#symbols();
      this.stale();
      onEdit(this);
    });
    this.root = h('div', { class: 'lab-row', role: 'group', tt: { 'aria-label': label } },
      h('div', { class: 'lab-cell-text' }, this.input, this.hidden), this.lines, this.sum, h('div', { class: 'lab-cell-end' }, this.remove));
    this.#symbols();
  }

  /** A text area shows control characters as nothing: they are named beside it. */
  #symbols() {
    const found = [...new Set((visible(this.text).match(/\[(?:[A-Z]{2,3}\d?|U\+[0-9A-F]{4,6})\]/g) ?? []).filter((one) => !this.text.includes(one)))];
    this.hidden.hidden = found.length === 0;
    if (found.length) say(this.hidden, 'lab.hidden_characters', { what: found.map((one) => one.slice(1, -1)).join(', ') });
  }

  stale() {
    this.version += 1;
    this.root.toggleAttribute('data-stale', true);
    this.lines.setAttribute('aria-busy', 'true');
  }

  show(names, { cells, total }, fresh = true) {
    this.cells = cells;
    this.total = total;
    if (fresh) this.fresh();
    fill(this.lines, names.map((name, at) => line(name, at, cells[name])));
    setText(this.sum.lastElementChild, number(total));
  }

  fresh() {
    this.root.removeAttribute('data-stale');
    this.lines.removeAttribute('aria-busy');
  }

  /** No answer for it: the old scores would be a lie. */
  clear() {
    this.cells = null;
    this.total = null;
    this.fresh();
    fill(this.lines);
    setText(this.sum.lastElementChild, '–');
  }
}

/** A reason in both languages, as it can be shown; it may quote a completion. */
const shown = ({ en, ko }) => ({ en: visible(en.slice(0, WIDEST)), ko: visible(ko.slice(0, WIDEST)) });

function line(name, at, cell) {
  const { score = null, extracted = null, reason = null, failed = false } = cell ?? {};
  const share = score === null ? 0 : Math.min(1, Math.abs(score));
  return h('div', { class: 'lab-line', data: { reward: name, ...(failed ? { failed: 'yes' } : {}) } },
    h('span', { class: 'lab-line-name' }, h('i', { class: 'dot', style: { background: `var(${variable(rewardHue(at))})` }, 'aria-hidden': 'true' }), h('span', null, visible(name))),
    h('span', { class: 'num lab-line-score' }, number(score)),
    h('span', { class: 'lab-line-bar', 'aria-hidden': 'true' }, h('i', { class: score !== null && score < 0 ? 'negative' : '', style: { width: `${100 * share}%`, background: `var(${variable(rewardHue(at))})` } })),
    h('span', { class: 'lab-line-why' },
      extracted === null ? null : h('span', { class: 'mono lab-read', tt: { title: 'lab.extracted' } }, plain(String(extracted), h, WIDEST)),
      failed ? h('span', { class: 'lab-failed', t: 'lab.reward_raised' }) : null,
      reason ? h('span', { class: 'lab-reason', t: shown(reason) }) : null));
}

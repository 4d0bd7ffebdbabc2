// One field of the grid: its label and TRL name, its values as ticks where there are few to choose from, else typed.
import { fill, h, setText } from '../dom.js';
import { typed } from '../form/format.js';
import { readList, same } from '../form/values.js';
import { onLanguage, t } from '../i18n.js';

// What is worth trying beside the value of the base, where the settings themselves offer nothing.
const OFFERS = { temperature: [0.3, 0.8, 1.2], num_generations: [4, 8, 16], lora_r: [4, 8, 16, 32], learning_rate: [1e-5, 5e-5, 1e-4, 5e-4], beta: [0, 0.01, 0.04], max_steps: [20, 50, 150] };

export class Axis {
  /** `field`: of the schema; `base()`: its value there; `onChange()`, `onRemove()`. */
  constructor(field, { base, onChange, onRemove }) {
    Object.assign(this, { field, base, onChange });
    this.id = `sw-f-${field.name}`;
    this.ticks = choicesOf(field);
    this.lists = ['list', 'numbers'].includes(field.type);
    this.title = h('label', { class: 'sw-f-label', htmlFor: this.id, id: `${this.id}-label` });
    this.was = h('span', { class: 'caption sw-f-base' });
    this.error = h('p', { class: 'sw-problem', id: `${this.id}-error`, hidden: true, 'aria-live': 'polite' });
    const away = h('button', { class: 'btn ghost small', type: 'button', tt: { 'aria-label': () => t('sweeps.remove', { field: t(field.label) }) }, onclick: onRemove }, '×');
    this.input = this.ticks ? null : h('input', { id: this.id, class: 'input', type: 'text', autocomplete: 'off', spellcheck: 'false', tt: { placeholder: this.lists ? 'sweeps.lists_hint' : 'sweeps.values_hint' }, 'aria-describedby': `${this.id}-error`, oninput: () => this.#changed() });
    this.offers = h('span', { class: 'sw-offers' });
    this.boxes = this.ticks?.map((option, at) => h('input', { type: 'checkbox', id: at ? `${this.id}-${at}` : this.id, onchange: () => this.#changed() }));
    const control = this.ticks
      ? h('div', { class: 'sw-ticks', role: 'group', 'aria-labelledby': `${this.id}-label`, 'aria-describedby': `${this.id}-error` }, this.ticks.map((option, at) => h('label', { class: 'sw-tick-one' }, this.boxes[at], h('span', { t: option.label }))))
      : h('div', { class: 'sw-typed' }, this.input, this.offers);
    this.root = h('div', { class: 'sw-axis-row', data: { axis: field.name } },
      h('div', { class: 'sw-f-head' }, this.title, h('code', { class: 'sw-f-trl' }, field.name), this.was, away), control, this.error);
    onLanguage(() => this.say());
    this.say();
  }

  say() {
    setText(this.title, t(this.field.label));
    const base = this.base();
    setText(this.was, base === undefined ? '' : t('sweeps.base_value', { value: typed(base) }));
    if (!this.input) return;
    const now = this.values();
    const offers = [...(base === undefined || base === null || this.lists ? [] : [base]), ...(OFFERS[this.field.name] ?? this.field.suggestions ?? [])];
    const left = offers.filter((value, at) => !now.some((one) => same(one, value)) && offers.findIndex((one) => same(one, value)) === at).slice(0, 6);
    fill(this.offers, left.map((value) => h('button', { type: 'button', class: 'sw-chip', 'aria-label': t('sweeps.offer', { value: typed(value) }), onclick: () => this.add(value) }, `+ ${typed(value)}`)));
  }

  /** The values chosen, as typed ones. */
  values() {
    if (this.ticks) return this.ticks.filter((_, at) => this.boxes[at].checked).map(({ value }) => value);
    const text = this.input.value;
    if (this.lists) return text.split(';').map((part) => readList(part)).filter((part) => part.length);
    return readList(text);
  }

  add(value) {
    const text = this.input.value.trim().replace(/,$/, '');
    this.input.value = text ? `${text}, ${typed(value)}` : typed(value);
    this.#changed();
    this.input.focus();
  }

  refuse(texts) {
    this.error.hidden = texts.length === 0;
    fill(this.error, texts.map((text) => h('span', { t: text })));
    this.input?.setAttribute('aria-invalid', String(texts.length > 0));
  }

  focus() { (this.input ?? this.boxes[0]).focus(); }

  #changed() {
    this.say();
    this.onChange();
  }
}

/** [{value, label}] of a field with few values to choose from; null where they are typed. */
function choicesOf(field) {
  if (field.type === 'bool') return [...(field.optional ? [{ value: null, label: 'form.auto' }] : []), { value: true, label: 'form.on' }, { value: false, label: 'form.off' }];
  return field.type === 'choice' ? field.choices : null;
}

// The filters of the list: they stand in the address, under the names that the server takes.
import { fill, h, setText } from '../dom.js';
import { label, onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';

export const NAMES = ['from', 'to', 'phase', 'prompt', 'kind', 'correct', 'truncated', 'reward', 'low', 'high', 'text'];
const PAUSE = 450; // ms after the last key before a text is searched
const CHOICES = {
  kind: [['', 'samples.any_group'], ['live', 'samples.only_live'], ['dead', 'samples.only_dead'], ['all_right', 'samples.only_all_right'], ['all_wrong', 'samples.only_all_wrong'], ['tied', 'samples.only_tied']],
  correct: [['', 'samples.any_answer'], ['true', 'samples.only_right'], ['false', 'samples.only_wrong']],
  truncated: [['', 'samples.any_end'], ['true', 'samples.only_cut'], ['false', 'samples.only_whole']],
  order: [['', 'samples.newest'], ['oldest', 'samples.oldest']],
};

/** What the address asks for, by the server's names; a step alone is both ends. */
export function asked(address = state.get()) {
  const found = {};
  for (const name of NAMES) if (address[name]) found[name] = address[name];
  if (/^\d+$/.test(address.step ?? '') && !found.from && !found.to) found.from = found.to = address.step;
  return found;
}

/** Take every filter out of the address. */
export const clear = (more = {}) => state.set({ ...Object.fromEntries(NAMES.map((name) => [name, null])), step: null, ...more });

export class Filters {
  constructor() {
    this.text = h('input', { id: 'samples-text', type: 'search', class: 'input', autocomplete: 'off', spellcheck: 'false', maxlength: 500, tt: { placeholder: 'samples.search', 'aria-label': 'samples.search' }, oninput: () => this.#later() });
    this.text.addEventListener('change', () => this.#search());
    this.order = this.#select('order');
    const select = (name) => this.#field(name, this.#select(name));
    const step = (name) => h('input', { id: `samples-${name}`, class: 'input num s-number', type: 'number', min: 0, step: 1, inputmode: 'numeric', tt: { 'aria-label': `samples.f_${name}` }, onchange: () => this.#steps() });
    const bound = (name) => h('input', { id: `samples-${name}`, class: 'input num s-number', type: 'number', step: 'any', tt: { 'aria-label': `samples.f_${name}`, placeholder: `samples.f_${name}` }, onchange: (event) => state.set({ [name]: event.currentTarget.value.trim() || null }) });
    this.from = step('from');
    this.to = step('to');
    this.low = bound('low');
    this.high = bound('high');
    this.reward = h('select', { id: 'samples-reward', class: 'input', tt: { 'aria-label': 'samples.f_reward' }, onchange: () => state.set({ reward: this.reward.value === 'total' ? null : this.reward.value }) });
    this.phase = h('select', { id: 'samples-phase', class: 'input', tt: { 'aria-label': 'samples.f_phase' }, onchange: () => state.set({ phase: this.phase.value || null }) });
    this.phaseField = this.#field('phase', this.phase);
    this.phaseField.hidden = true;
    this.prompt = h('input', { id: 'samples-prompt', class: 'input mono', type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: 300, tt: { placeholder: 'samples.f_prompt_hint', 'aria-label': 'samples.f_prompt' }, onchange: () => state.set({ prompt: this.prompt.value.trim() || null }) });
    this.count = h('span', { class: 'num' });
    const summary = h('summary', null, h('span', { t: 'samples.filters' }), ' ', this.count);
    this.more = h('details', { class: 's-more', open: matchMedia('(min-width: 900px)').matches }, summary, h('div', { class: 's-fields' },
      h('div', { class: 's-field' }, h('span', { class: 'caption', t: 'samples.f_steps' }), h('div', { class: 's-pair' }, this.from, h('span', { class: 'muted', 'aria-hidden': 'true' }, '–'), this.to)),
      select('kind'), select('correct'), select('truncated'),
      h('div', { class: 's-field s-range' }, h('span', { class: 'caption', t: 'samples.f_reward' }), h('div', { class: 's-pair' }, this.reward, this.low, h('span', { class: 'muted', 'aria-hidden': 'true' }, '–'), this.high)),
      this.#field('prompt', this.prompt), this.phaseField));
    this.chips = h('div', { class: 's-chips', id: 'samples-chips', hidden: true });
    this.wrong = h('p', { id: 'samples-filter-error', class: 's-wrong', hidden: true, role: 'alert' });
    this.side = h('div', { class: 's-side' });
    this.root = h('div', { class: 's-filters card', role: 'search', tt: { 'aria-label': 'samples.filters' } },
      h('div', { class: 's-first' }, this.text, this.order, this.side), this.more, this.wrong, this.chips);
    onLanguage(() => this.values && this.#options());
  }

  #field(name, control) {
    return h('label', { class: 's-field', htmlFor: control.id }, h('span', { class: 'caption', t: `samples.f_${name}` }), control);
  }

  #select(name) {
    const select = h('select', { id: `samples-${name}`, class: 'input', tt: { 'aria-label': `samples.f_${name}` }, onchange: () => state.set({ [name]: select.value || null }) },
      CHOICES[name].map(([value, word]) => h('option', { value, t: word })));
    this[name] = select;
    return select;
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), PAUSE);
  }

  // One entry in the browser's history for one search, however many keys it took.
  #search() {
    clearTimeout(this.timer);
    const text = this.text.value || null;
    const { text: before } = state.get();
    if ((before ?? null) !== text) state.set({ text }, { replace: Boolean(before) && Boolean(text) });
  }

  #steps() {
    state.set({ step: null, from: this.from.value.trim() || null, to: this.to.value.trim() || null });
  }

  /** `phases`: those that were seen among the samples; one alone needs no choice. */
  use(run, address, phases = []) {
    this.run = run;
    this.values = asked(address);
    const put = (input, value) => {
      if (document.activeElement !== input && input.value !== (value ?? '')) input.value = value ?? '';
    };
    put(this.text, address.text);
    put(this.from, this.values.from);
    put(this.to, this.values.to);
    put(this.low, this.values.low);
    put(this.high, this.values.high);
    put(this.prompt, this.values.prompt);
    this.order.value = address.order === 'oldest' ? 'oldest' : '';
    for (const name of ['kind', 'correct', 'truncated']) this[name].value = this.values[name] ?? '';
    this.phases = [...new Set([...phases, this.values.phase].filter(Boolean))];
    this.phaseField.hidden = this.phases.length < 2 && !this.values.phase;
    this.#options();
    this.fault(null);
    this.#chips();
  }

  #options() {
    const rewards = JSON.stringify([this.run?.reward_names, this.phases, t('samples.total')]);
    if (rewards !== this.drawn) {
      this.drawn = rewards;
      // A reward may itself be called "total": by its whole name it is not taken for the sum.
      const whole = (name) => (name === 'total' || name.startsWith('reward:') ? `reward:${name}` : name);
      fill(this.reward, h('option', { value: 'total' }, t('samples.total')), (this.run?.reward_names ?? []).map((name) => h('option', { value: whole(name) }, visible(name))));
      fill(this.phase, h('option', { value: '', t: 'samples.any_phase' }), this.phases.map((name) => h('option', { value: name }, visible(name))));
    }
    this.reward.value = this.values.reward ?? 'total';
    this.phase.value = this.values.phase ?? '';
    this.#chips();
  }

  // What holds samples back, each with the way to take it out.
  #chips() {
    const { values } = this;
    const chips = [];
    const add = (words, patch, exact = null) => {
      const button = h('button', { class: 's-chip', type: 'button', data: { filter: Object.keys(patch)[0] }, onclick: () => state.set(patch) }, h('span', { t: words }), exact === null ? null : [' ', h('span', { class: 'mono' }, exact)], h('i', { 'aria-hidden': 'true' }, '×'), h('span', { class: 'visually-hidden', t: 'samples.take_out' }));
      chips.push(button);
    };
    const word = (name) => () => t(CHOICES[name].find(([value]) => value === values[name])?.[1] ?? values[name]);
    if (values.from && values.from === values.to) add(() => t('samples.chip_step', { n: values.from }), { step: null, from: null, to: null });
    else if (values.from || values.to) add(() => t(!values.to ? 'samples.chip_from' : values.from ? 'samples.chip_steps' : 'samples.chip_to', { from: values.from, to: values.to }), { step: null, from: null, to: null });
    if (values.prompt) add('samples.f_prompt', { prompt: null }, visible(values.prompt));
    if (values.phase) add('samples.f_phase', { phase: null }, visible(values.phase));
    for (const name of ['kind', 'correct', 'truncated']) if (values[name]) add(word(name), { [name]: null });
    if (values.low || values.high) add(() => (values.reward ? visible(values.reward.replace(/^reward:/, '')) : t('samples.total')), { low: null, high: null, reward: null }, `${values.low ?? '−∞'} … ${values.high ?? '∞'}`);
    if (values.text) add('samples.chip_text', { text: null }, visible(values.text));
    this.chips.hidden = chips.length === 0;
    setText(this.count, chips.length ? `(${chips.length})` : '');
    const key = JSON.stringify([values, t('samples.filters')]);
    if (key === this.chipped) return;
    this.chipped = key;
    fill(this.chips, chips, chips.length > 1 ? h('button', { id: 'samples-clear', class: 'btn ghost small', type: 'button', t: 'samples.clear', onclick: () => clear() }) : null);
  }

  /** The server's words about one field, or null. */
  fault(error) {
    const field = error?.body?.field;
    for (const name of NAMES) this[name]?.setAttribute?.('aria-invalid', String(field === name));
    this.wrong.hidden = !field;
    if (field) {
      label(this.wrong, error.error);
      this.more.open = true;
    }
    return Boolean(field);
  }
}

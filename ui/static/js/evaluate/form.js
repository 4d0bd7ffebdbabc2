// A new evaluation: on what, how many rows, how many samples, which weights. What is refused is said at its field.
import * as api from '../api.js';
import { fill, h, keyed, setText } from '../dom.js';
import { label, onLanguage, t } from '../i18n.js';
import { readNumber, writeNumber } from '../form/values.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { problems } from './parts.js';
import { Rows } from './rows.js';

const ENDED = new Set(['succeeded', 'failed', 'stopped', 'lost']);
const NUMBERS = { n: 200, k: 0, seed: 0, temperature: 1 };

export class Form {
  /** `onStart(run id)`: after it was queued. */
  constructor(onStart) {
    this.onStart = onStart;
    this.rows = new Rows();
    this.checkpoint = h('select', { id: 'evaluate-checkpoint', class: 'input' });
    this.numbers = Object.fromEntries(Object.entries(NUMBERS).map(([name, value]) => [name, h('input', { id: `evaluate-${name}`, class: 'input num', type: 'text', inputmode: 'decimal', autocomplete: 'off', spellcheck: 'false', value: writeNumber(value) })]));
    this.errors = {};
    this.start = h('button', { id: 'evaluate-start', class: 'btn primary', type: 'submit', t: 'evaluate.start' });
    this.cost = h('span', { class: 'caption' });
    this.refused = h('div', { 'aria-live': 'polite' });
    this.root = h('form', { class: 'card ev-form', id: 'evaluate-form', hidden: true, novalidate: true, tt: { 'aria-label': 'evaluate.new' } },
      this.#field('data', this.rows.root, 'div'),
      h('div', { class: 'ev-fields' }, ['n', 'k', 'checkpoint', 'seed', 'temperature'].map((name) => this.#field(name, name === 'checkpoint' ? this.checkpoint : this.numbers[name]))),
      this.refused, h('div', { class: 'row' }, this.start, this.cost));
    this.root.addEventListener('submit', (event) => { event.preventDefault(); this.#send(); });
    for (const input of Object.values(this.numbers)) input.addEventListener('input', () => this.#clear(input.id.replace('evaluate-', '')));
    onLanguage(() => this.run && this.#checkpoints());
  }

  #field(name, control, tag = 'label') {
    this.errors[name] = h('p', { class: 'ev-problem', hidden: true, id: `evaluate-${name}-error` });
    const title = h('span', { class: 'caption' }, h('span', { t: `evaluate.f_${name}` }));
    const words = h('span', { class: 'caption muted ev-field-help', t: `evaluate.h_${name}` });
    const target = control.tagName === 'DIV' ? control.querySelector('[role=radiogroup]') : control;
    target.setAttribute('aria-describedby', `evaluate-${name}-error`);
    return h('div', { class: 'ev-field', data: { field: name } }, tag === 'label' ? h('label', { htmlFor: control.id }, title) : title, control, words, this.errors[name]);
  }

  /** `run`: view of the trained run; `checkpoints`: [{name, step}] that can be evaluated. */
  use(run, checkpoints, heldOut) {
    if (this.run?.id !== run.id) {
      this.#clear();
      if (run.settings?.temperature) this.numbers.temperature.value = writeNumber(run.settings.temperature);
    }
    this.run = run;
    this.found = checkpoints;
    this.rows.use(heldOut, run.settings?.dataset);
    this.#checkpoints();
    const over = ENDED.has(run.state);
    if (!this.sending) this.start.disabled = checkpoints.length === 0;
    label(this.cost, checkpoints.length ? (over ? 'evaluate.cost' : 'evaluate.waits') : over ? 'evaluate.no_weights' : 'evaluate.no_weights_yet');
  }

  #checkpoints() {
    const before = this.checkpoint.value;
    const all = this.found.length ? this.found : [{ name: '' }];
    keyed(this.checkpoint, all, (one) => one.name, (one) => h('option', { value: one.name }), (option, one) => setText(option, one.name ? named(one) : t('evaluate.none_saved')));
    this.checkpoint.disabled = this.found.length === 0;
    if (this.found.some((one) => one.name === before)) this.checkpoint.value = before;
  }

  #clear(field) {
    for (const [name, line] of Object.entries(this.errors)) {
      if (field && field !== name) continue;
      line.hidden = true;
      this.root.querySelector(`[data-field="${name}"]`)?.querySelectorAll('[aria-invalid]').forEach((node) => node.removeAttribute('aria-invalid'));
    }
    if (!field) fill(this.refused);
  }

  async #send() {
    this.#clear();
    this.sending = true;
    this.start.disabled = true;
    label(this.start, 'evaluate.starting');
    try {
      const values = Object.fromEntries(Object.entries(this.numbers).map(([name, input]) => [name, readNumber(input.value)]));
      const data = await this.rows.data(values.n);
      const { run } = await api.post(`/api/runs/${encodeURIComponent(this.run.id)}/evaluations`, { ...values, checkpoint: this.checkpoint.value, data });
      await runlist.refresh();
      state.set({ evaluation: run.id });
      this.onStart(run.id);
    } catch (error) {
      if (error.status === undefined) throw error;
      this.#refuse(error);
    } finally {
      this.sending = false;
      this.start.disabled = false;
      label(this.start, 'evaluate.start');
    }
  }

  #refuse(error) {
    const rest = [];
    let first = null;
    for (const [field, texts] of Object.entries(problems(error))) {
      const name = { dataset: 'data', dataset_args: 'data', eval_size: 'n' }[field] ?? field;
      const line = this.errors[name];
      if (!line) {
        rest.push(...texts);
        continue;
      }
      fill(line, texts.map((text) => h('span', { t: text })));
      line.hidden = false;
      const input = name === 'data' ? this.rows.root.querySelector('input:checked') : name === 'checkpoint' ? this.checkpoint : this.numbers[name];
      input.setAttribute('aria-invalid', 'true');
      first ??= input;
    }
    if (rest.length) fill(this.refused, h('div', { class: 'notice', data: { level: 'error' }, role: 'alert' }, h('span', null, rest.map((text) => h('p', { t: text })))));
    first?.focus();
  }
}

/** 'final', or 'checkpoint-60 (step 60)' where the name does not say it. */
const named = ({ name, step }) => {
  const word = ['final', 'best'].includes(name) ? t(`evaluate.checkpoint_${name}`) : name;
  return step === null || step === undefined || name.endsWith(`-${step}`) ? word : `${word} · ${t('live.progress_open', { step })}`;
};

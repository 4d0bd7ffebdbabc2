// What is asked: a problem that no training row has shown (with its ground truth), or an own prompt; and how it is sampled.
import { fill, h, setText } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { promptText } from '../lab/parts.js';
import { plain, visible } from '../plain.js';
import * as kept from './kept.js';
import { asked } from './parts.js';
import * as wire from './wire.js';

// [name, text key, least, most, step]; the server's limits replace these when they are known.
const NUMBERS = [
  ['temperature', 'chat.temperature', 0, 2, 0.1],
  ['top_p', 'chat.top_p', 0.01, 1, 0.05],
  ['max_tokens', 'chat.max_tokens', 1, 4096, 1],
  ['seed', 'chat.seed', 0, 2 ** 31 - 1, 1],
  ['n', 'chat.n', 1, 16, 1],
];
const ON_THE_WIRE = { max_tokens: 'max_new_tokens' };
const DEFAULTS = { temperature: 0, top_p: 1, max_tokens: 256, seed: 0, n: 1 };

export class Question {
  /** `onAsk()` for Ctrl+Enter; `onChange()` when what could be asked changed. */
  constructor(onAsk, onChange) {
    Object.assign(this, { onAsk, onChange, run: null, rows: 0, problem: null, mode: 'own', turn: 0 });
    this.modes = ['held', 'own'].map((mode) => h('button', { type: 'button', id: `chat-mode-${mode}`, 'aria-pressed': 'false', t: `chat.mode_${mode}`, onclick: () => { this.use(mode); this.#keep(); } }));
    this.step = (by) => h('button', { type: 'button', class: 'btn small', id: by > 0 ? 'chat-next' : 'chat-previous', tt: { 'aria-label': by > 0 ? 'chat.next' : 'chat.previous' }, onclick: () => this.show((this.problem?.index ?? 0) + by) }, by > 0 ? '→' : '←');
    this.place = h('span', { class: 'caption num', 'aria-live': 'polite' });
    this.random = h('button', { type: 'button', class: 'btn small', id: 'chat-random', t: 'chat.random', onclick: () => this.show(Math.floor(Math.random() * this.rows)) });
    this.picker = h('div', { class: 'row' }, this.step(-1), this.step(1), this.random, this.place);
    this.noRows = h('span', { class: 'caption', id: 'chat-no-rows', hidden: true, t: 'chat.no_rows' });
    this.shown = h('div', { class: 'c-problem' });
    this.prompt = this.#area('chat-prompt', 'chat.prompt', 3);
    this.truth = h('input', { class: 'input mono', id: 'chat-truth', autocomplete: 'off', spellcheck: 'false' });
    this.own = h('div', { class: 'c-own' }, h('label', { class: 'caption', htmlFor: 'chat-prompt', t: 'chat.prompt' }), this.prompt,
      this.truthField = h('div', { class: 'c-field' }, h('label', { class: 'caption', htmlFor: 'chat-truth', t: 'chat.truth_optional' }), this.truth));
    this.system = this.#area('chat-system', 'chat.system', 2);
    this.raw = h('input', { type: 'checkbox', id: 'chat-raw' });
    this.fields = Object.fromEntries(NUMBERS.map(([name, , least, most, step]) => [name, h('input', {
      class: 'input num', type: 'number', id: `chat-${name}`, min: least, max: most, step, inputmode: 'decimal', value: DEFAULTS[name], 'aria-describedby': `chat-${name}-fault`,
      oninput: (event) => { event.target.dataset.touched = 'yes'; this.check(name); },
    })]));
    this.faults = Object.fromEntries(NUMBERS.map(([name]) => [name, h('span', { class: 'c-fault', id: `chat-${name}-fault`, 'aria-live': 'polite' })]));
    this.settings = h('div', { class: 'c-settings' }, NUMBERS.map(([name, key]) =>
      h('div', { class: 'c-field', data: { field: name } }, h('label', { class: 'caption', htmlFor: `chat-${name}`, t: key }), this.fields[name], this.faults[name])));
    this.root = h('div', { class: 'c-ask' },
      h('div', { class: 'row c-mode' }, h('div', { class: 'segmented', role: 'group', tt: { 'aria-label': 'chat.mode' } }, this.modes), this.picker, this.noRows),
      this.shown, this.own,
      h('details', { class: 'c-system-fold' }, h('summary', { class: 'caption', t: 'chat.system' }), h('label', { class: 'visually-hidden', htmlFor: 'chat-system', t: 'chat.system' }), this.system,
        h('label', { class: 'row caption' }, this.raw, h('span', { t: 'chat.raw' }))),
      this.settings);
    this.root.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.onAsk();
    });
    onLanguage(() => { this.#place(); for (const [name] of NUMBERS) this.check(name); });
    this.#restore();
    this.root.addEventListener('input', () => this.#keep());
    this.use('own');
  }

  /** What stood here before the page was loaded again. */
  #restore() {
    const was = kept.recall();
    if (!was) return;
    for (const name of ['prompt', 'truth', 'system']) this[name].value = String(was[name] ?? '');
    this.raw.checked = was.raw === true;
    for (const [name, value] of Object.entries(was.numbers ?? {})) {
      if (!this.fields[name]) continue;
      this.fields[name].value = value;
      this.fields[name].dataset.touched = 'yes';
    }
    this.wished = was.mode;
  }

  #keep() {
    const numbers = Object.fromEntries(Object.entries(this.fields).filter(([, field]) => field.dataset.touched).map(([name, field]) => [name, field.value]));
    kept.keep({ mode: this.mode, prompt: this.prompt.value, truth: this.truth.value, system: this.system.value, raw: this.raw.checked, numbers });
  }

  #area(id, key, rows) {
    return h('textarea', { class: 'input mono c-area', id, rows, spellcheck: 'false', oninput: () => this.onChange() });
  }

  /** A run's held-out rows, defaults and limits; `run` null: only own prompts. */
  async follow(run, { rows = 0, system = null, defaults = {}, limits = {} }) {
    const other = run !== this.run;
    this.run = run;
    this.rows = rows;
    for (const [name] of NUMBERS) {
      const range = limits[ON_THE_WIRE[name] ?? name];
      if (Array.isArray(range)) [this.fields[name].min, this.fields[name].max] = range;
      const given = defaults[ON_THE_WIRE[name] ?? name];
      if (other && given !== undefined && given !== null && !this.fields[name].dataset.touched) this.fields[name].value = given;
    }
    if (!other) return;
    this.problem = null;
    if (system !== null && !this.system.value) this.system.placeholder = visible(system);
    this.modes[0].disabled = !rows;
    this.noRows.hidden = Boolean(rows) || !run;
    this.use(rows && this.wished !== 'own' ? 'held' : 'own');
    this.wished = null; // another run begins with its own problems
    for (const [name] of NUMBERS) this.check(name);
    if (rows) await this.show(0);
  }

  /** Whether there are rewards that score an own prompt. */
  set judged(yes) {
    this.truthField.hidden = !yes;
  }

  use(mode) {
    this.mode = mode;
    this.modes.forEach((button, at) => button.setAttribute('aria-pressed', String(['held', 'own'][at] === mode)));
    this.picker.hidden = this.shown.hidden = mode !== 'held';
    this.own.hidden = mode !== 'own';
    this.onChange();
  }

  async show(index) {
    if (!this.rows) return;
    const mine = ++this.turn;
    const at = ((index % this.rows) + this.rows) % this.rows;
    try {
      const problem = await wire.problem(this.run, at);
      if (mine !== this.turn) return;
      this.problem = problem;
      this.rows = problem.total;
      fill(this.shown, asked(promptText(wire.parts(problem.prompt).prompt), true),
        problem.ground_truth === null || problem.ground_truth === undefined ? null
          : h('p', { class: 'c-truth' }, h('span', { class: 'caption', t: 'chat.truth' }), ' ', h('span', { class: 'mono', id: 'chat-gold' }, plain(String(problem.ground_truth), h, 400))));
    } catch (error) {
      if (error.status === undefined) throw error;
      if (mine !== this.turn) return;
      this.problem = null;
      fill(this.shown, h('div', { class: 'notice', data: { level: 'error' } }, h('span', { t: error.error }), h('button', { class: 'btn small', type: 'button', t: 'app.retry', onclick: () => this.show(at) })));
    }
    this.#place();
    this.onChange();
  }

  #place() {
    setText(this.place, this.problem ? t('chat.problem_at', { n: this.problem.index + 1, total: this.rows.toLocaleString('en-US') }) : '');
  }

  /** Says under the field what is wrong with its number; true when it can be used. */
  check(name) {
    const field = this.fields[name];
    const value = field.value.trim() === '' ? NaN : Number(field.value);
    const whole = !['temperature', 'top_p'].includes(name);
    const ok = Number.isFinite(value) && value >= Number(field.min) && value <= Number(field.max) && (!whole || Number.isInteger(value));
    field.setAttribute('aria-invalid', String(!ok));
    setText(this.faults[name], ok ? '' : t(whole ? 'chat.whole_from_to' : 'chat.from_to', { least: field.min, most: field.max }));
    this.onChange();
    return ok;
  }

  /** Why it cannot be asked: a text key, or null. */
  get missing() {
    if (Object.values(this.fields).some((field) => field.getAttribute('aria-invalid') === 'true')) return 'chat.missing_number';
    if (this.mode === 'held') return this.problem ? null : 'chat.missing_problem';
    return this.prompt.value.trim() ? null : 'chat.missing_prompt';
  }

  /** {prompt, system, run, index, ground_truth, settings}. */
  get value() {
    const held = this.mode === 'held';
    const settings = Object.fromEntries(NUMBERS.map(([name]) => [name, Number(this.fields[name].value)]));
    return {
      run: this.run, index: held ? this.problem.index : null,
      prompt: held ? this.problem.prompt : this.prompt.value,
      ground_truth: held ? this.problem.ground_truth ?? null : this.truthField.hidden ? null : this.truth.value.trim() || null,
      system: this.system.value.trim() || null,
      settings: { ...settings, raw: this.raw.checked },
    };
  }

  /** Put an earlier question back. */
  recall(request) {
    if (request.index !== null && request.run === this.run && this.rows) {
      this.use('held');
      this.show(request.index);
    } else {
      this.use('own');
      this.prompt.value = promptText(wire.parts(request.prompt).prompt);
      this.truth.value = request.ground_truth ?? '';
    }
    this.system.value = request.system ?? '';
    for (const [name] of NUMBERS) if (request.settings[name] !== null) this.fields[name].value = request.settings[name];
    for (const [name] of NUMBERS) this.check(name);
  }
}

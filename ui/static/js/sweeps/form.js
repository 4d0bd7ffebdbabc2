// A new sweep: what it starts from, the fields and their values, seeds; beside it what this would do, asked anew at every
// change. What is refused is named with its field, value, rule and what would do.
import * as api from '../api.js';
import { fill, h, keyed, setText } from '../dom.js';
import { Checker } from '../form/checker.js';
import { Schema, matches } from '../form/schema.js';
import { readList, same } from '../form/values.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { Axis } from './axis.js';
import { link } from './parts.js';
import { Planned } from './planned.js';

const OFTEN = ['loss_type', 'algorithm', 'scale_rewards', 'temperature', 'num_generations', 'lora_r', 'learning_rate', 'beta'];
const NEVER = new Set(['name', 'seed', 'evaluation', 'control_of', 'reward_versions', 'dataset_sha256', 'attached', 'alert_webhook']);
const FOUND = 8;

export class Form {
  constructor() {
    Object.assign(this, { schema: null, axes: [], config: null, run: null });
    this.kinds = ['preset', 'run'].map((kind) => h('input', { type: 'radio', name: 'sw-base', value: kind, id: `sw-base-${kind}`, checked: kind === 'preset', onchange: () => this.#base() }));
    this.which = h('select', { id: 'sw-which', class: 'input', tt: { 'aria-label': 'sweeps.base_which' }, onchange: () => this.#base() });
    this.often = h('div', { class: 'sw-often', role: 'group', tt: { 'aria-label': 'sweeps.often' } });
    this.search = h('input', { id: 'sw-search', class: 'input', type: 'search', autocomplete: 'off', spellcheck: 'false', tt: { placeholder: 'sweeps.search', 'aria-label': 'sweeps.search' }, oninput: () => this.#find() });
    this.search.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      this.found.querySelector('button')?.click();
    });
    this.found = h('ul', { class: 'sw-found', hidden: true });
    this.list = h('div', { class: 'sw-axes' });
    this.seeds = h('input', { id: 'sw-seeds', class: 'input', type: 'text', autocomplete: 'off', spellcheck: 'false', placeholder: '1, 2, 3', 'aria-describedby': 'sw-seeds-help sw-seeds-error', oninput: () => this.#changed() });
    this.seedsError = h('p', { class: 'sw-problem', id: 'sw-seeds-error', hidden: true });
    this.name = h('input', { id: 'sw-name', class: 'input', type: 'text', maxLength: 80, autocomplete: 'off', tt: { placeholder: 'sweeps.name_hint' }, oninput: () => this.#changed() });
    this.planned = new Planned({ onStart: (accept) => this.#start(accept), onLeaveOut: () => this.#changed(0), onUse: (name, value) => this.#use(name, value) });
    this.checker = new Checker((body) => api.post('/api/sweeps/plan', body), { onAnswer: (answer) => this.#planned(answer), onPending: () => this.planned.pending() });
    const field = (title, target, ...inside) => h('div', { class: 'sw-field' }, h('label', { htmlFor: target, class: 'sw-f-label', t: title }), inside);
    this.root = h('div', { hidden: true, class: 'sw-new' },
      h('p', null, link({ tab: 'sweeps', sweep: null, from: null }, { t: 'sweeps.all', class: 'caption' })), h('h1', { t: 'sweeps.new' }),
      h('div', { class: 'sw-columns' },
        h('form', { class: 'card sw-form', id: 'sweeps-form', tt: { 'aria-label': 'sweeps.new' }, onsubmit: (event) => event.preventDefault() },
          h('section', null, h('h2', { t: 'sweeps.base' }), h('div', { class: 'sw-base' },
            h('div', { class: 'sw-kinds', role: 'radiogroup', tt: { 'aria-label': 'sweeps.base' } }, this.kinds.map((input) => h('label', { class: 'sw-tick-one' }, input, h('span', { t: `sweeps.base_${input.value}` })))), this.which)),
          h('section', null, h('h2', { t: 'sweeps.fields' }), h('p', { class: 'caption', t: 'sweeps.fields_help' }), this.list,
            h('div', { class: 'sw-add' }, this.search, this.found), h('p', { class: 'caption', t: 'sweeps.often' }), this.often),
          h('section', { class: 'sw-two' }, field('sweeps.seeds', 'sw-seeds', this.seeds, h('p', { class: 'caption', id: 'sw-seeds-help', t: 'sweeps.seeds_help' }), this.seedsError), field('sweeps.name', 'sw-name', this.name))),
        this.planned.root));
    onLanguage(() => { if (this.schema) { this.#which(); this.#offer(); this.#find(); } });
    runlist.onChange(() => this.schema && this.kind === 'run' && this.#which());
  }

  get kind() { return this.kinds.find((input) => input.checked).value; }

  /** Called at every look at the page; `from`: a run in the address. */
  async open(from) {
    if (this.schema) return;
    const json = await api.get('/api/schema');
    // No field of the schema: a method of the recipes, laid over the base. `label` is a key, translated where it is shown.
    json.fields.push({ name: 'algorithm', type: 'choice', optional: false, group: 'loss', label: 'sweeps.method', suggestions: [], choices: json.algorithms.map((one) => ({ value: one.name, label: one.title })), trl_name: null });
    this.schema = new Schema(json);
    if (!runlist.list()) await runlist.refresh();
    if (from) this.kinds.find((input) => input.value === 'run').checked = true;
    this.#which(from);
    await this.#base();
    this.#offer();
  }

  /** What can be started from: the presets, or the runs that trained. */
  #which(wanted = this.which.value) {
    const items = this.kind === 'preset' ? this.schema.presets.map((one) => ({ value: one.name, text: t(one.title) || one.name })) : (runlist.list() ?? []).filter((run) => ['train', 'control'].includes(run.kind)).map((run) => ({ value: run.id, text: visible(run.name || run.id) }));
    keyed(this.which, items, (one) => one.value, (one) => h('option', { value: one.value }), (option, one) => setText(option, one.text));
    if (items.some((one) => one.value === wanted)) this.which.value = wanted;
    else if (items.length && !this.which.value) this.which.value = items[0].value;
    this.which.disabled = items.length === 0;
  }

  async #base() {
    this.#which();
    const wanted = this.which.value;
    this.config = null;
    if (this.kind === 'run' && wanted) {
      try {
        this.config = (await api.get(`/api/runs/${encodeURIComponent(wanted)}`)).config;
      } catch (error) {
        if (error.status !== 404) throw error;
      }
    }
    for (const axis of this.axes) axis.say();
    this.#changed(0);
  }

  #value(field) {
    if (field.name === 'algorithm') return undefined;
    const values = this.config ?? this.schema.preset(this.which.value)?.values ?? {};
    return field.name in values ? values[field.name] : field.default;
  }

  #offer() {
    const left = OFTEN.map((name) => this.schema.field(name)).filter((field) => field && !this.axes.some((axis) => axis.field === field));
    fill(this.often, left.map((field) => h('button', { type: 'button', class: 'sw-chip', data: { add: field.name }, onclick: () => this.#add(field) }, '+ ', h('span', { t: field.label }), ' ', h('code', null, field.name))));
  }

  #find() {
    const query = this.search.value.trim();
    const there = query ? this.schema.fields.filter((field) => !NEVER.has(field.name) && field.type !== 'dict' && matches(field, query) && !this.axes.some((axis) => axis.field === field)) : [];
    this.found.hidden = query === '';
    fill(this.found, there.length ? there.slice(0, FOUND).map((field) => h('li', null, h('button', { type: 'button', class: 'sw-hit-field', data: { add: field.name }, onclick: () => this.#add(field) }, h('span', { t: field.label }), h('code', null, field.name)))) : query ? h('li', { class: 'caption', t: 'sweeps.no_field' }) : null);
  }

  #add(field) {
    const axis = new Axis(field, { base: () => this.#value(field), onChange: () => this.#changed(), onRemove: () => this.#remove(axis) });
    this.axes.push(axis);
    this.list.append(axis.root);
    this.search.value = '';
    this.#find();
    this.#offer();
    axis.focus();
    this.#changed(0);
  }

  #remove(axis) {
    this.axes = this.axes.filter((one) => one !== axis);
    axis.root.remove();
    this.search.focus();
    this.#offer();
    this.#changed(0);
  }

  /** A suggestion of a refusal: the value takes the place of the one refused, or is set for every run. */
  #use(problem, { name, value }) {
    let axis = this.axes.find((one) => one.field.name === name);
    if (!axis) {
      const field = this.schema.field(name);
      if (!field) return;
      this.#add(field);
      axis = this.axes[this.axes.length - 1];
    }
    if (axis.ticks) axis.boxes.forEach((box, at) => { if (same(axis.ticks[at].value, value)) box.checked = true; else if (name === problem.field && same(axis.ticks[at].value, problem.value)) box.checked = false; });
    else {
      const kept = axis.values().filter((one) => !(name === problem.field && same(one, problem.value)) && !same(one, value));
      axis.input.value = '';
      for (const one of name === problem.field ? [...kept, value] : [value]) axis.add(one);
    }
    this.#changed(0);
  }

  /** The sweep as it is asked; null while there is nothing to vary. */
  asked() {
    const sweep = {};
    const values = {};
    for (const axis of this.axes) {
      const chosen = axis.values();
      if (chosen.length > 1) sweep[axis.field.name] = chosen;
      else if (chosen.length === 1) [values[axis.field.name]] = chosen;
    }
    const seeds = readList(this.seeds.value);
    if (!Object.keys(sweep).length && seeds.length < 2) return null;
    const base = this.kind === 'preset' ? { preset: this.which.value } : { from: this.which.value };
    return { ...base, values, sweep, seeds, name: this.name.value.trim(), leave_out: this.planned.leavesOut };
  }

  #changed(pause) {
    this.#refuse(null);
    const sweep = this.asked();
    if (!sweep) {
      this.checker.newest += 1; // an answer that is on its way is about something else
      clearTimeout(this.checker.timer);
      this.planned.nothing();
    } else this.checker.due({ sweep }, pause);
  }

  #planned({ check: plan, error }) {
    if (error && error.status === undefined) throw error;
    if (plan) this.planned.draw(plan);
    else {
      this.#refuse(error);
      this.planned.refused(error);
    }
  }

  #refuse(error) {
    const field = error?.body?.field;
    for (const axis of this.axes) axis.refuse(field === axis.field.name ? [error.error] : []);
    const seeds = field === 'seeds' || field === 'seed';
    this.seedsError.hidden = !seeds;
    this.seeds.setAttribute('aria-invalid', String(seeds));
    fill(this.seedsError, seeds ? h('span', { t: error.error }) : null);
  }

  async #start(accept) {
    const sweep = this.asked();
    if (!sweep || this.planned.busy) return; // two presses are one sweep
    this.planned.starting(true);
    try {
      const made = await api.post('/api/sweeps', { sweep, accept });
      await runlist.refresh();
      for (const axis of this.axes) axis.root.remove();
      Object.assign(this, { axes: [] });
      for (const input of [this.seeds, this.name]) input.value = '';
      this.#offer();
      this.#changed(0); // nothing to vary: a plan that is on its way is about something else
      state.set({ sweep: made.id, from: null });
    } catch (error) {
      if (error.status === undefined) throw error;
      this.#refuse(error);
      this.planned.notStarted(error);
    } finally {
      this.planned.starting(false);
    }
  }
}

// Which rows to evaluate on: the run's held-out ones, a stored set, or rows made now by a generator.
import * as api from '../api.js';
import { argument } from '../data/arguments.js';
import { TaskPicker } from '../data/tasks.js';
import * as store from '../data/store.js';
import { fill, h, setText } from '../dom.js';
import { count } from '../format.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';

const KINDS = ['held-out', 'set', 'make'];
const SEED = 20261; // rows made here should not be those of a set made with the default seed

export class Rows {
  constructor() {
    this.kind = 'held-out';
    this.values = {};
    this.inputs = KINDS.map((kind) => h('input', { type: 'radio', class: 'f-radio', name: 'evaluate-data', id: kind === 'held-out' ? 'evaluate-data' : `evaluate-data-${kind}`, value: kind, checked: kind === this.kind, onchange: () => this.#choose(kind) }));
    this.set = h('select', { id: 'evaluate-set', class: 'input', tt: { 'aria-label': 'evaluate.set' }, onchange: () => this.#warn() });
    this.setWords = h('p', { class: 'caption' });
    this.generator = h('select', { id: 'evaluate-generator', class: 'input', tt: { 'aria-label': 'evaluate.generator' }, onchange: () => this.#generator() });
    this.seen = h('p', { class: 'ev-seen', hidden: true, t: 'evaluate.seen' });
    this.arguments = h('div', { class: 'ev-arguments' });
    this.made = h('div', { class: 'ev-make', hidden: true }, this.generator, this.arguments);
    this.root = h('div', { class: 'ev-rows' },
      h('div', { class: 'f-segments ev-kinds', role: 'radiogroup', tt: { 'aria-label': 'evaluate.f_data' } }, this.inputs.map((input, at) => h('label', { class: 'f-segment' }, input, h('span', { t: `evaluate.data_${KINDS[at].replace('-', '_')}` })))),
      this.set, this.setWords, this.made, this.seen);
    store.onChange(() => this.#sets());
    onLanguage(() => this.#sets());
    this.#choose(this.kind);
  }

  /** `heldOut`: whether the run has held-out rows; without them, another set is what is left. `trained`: its dataset. */
  use(heldOut, trained) {
    this.trained = trained;
    this.inputs[0].disabled = !heldOut;
    if (!heldOut && this.kind === 'held-out') this.#choose('set');
    this.#warn();
  }

  /** Rows of what the run was trained on may be the very rows: only its held-out ones are kept apart. */
  #warn() {
    const chosen = this.kind === 'set' ? this.set.value : this.kind === 'make' ? this.generator.value : null;
    this.seen.hidden = !chosen || chosen !== this.trained;
  }

  #choose(kind) {
    this.kind = kind;
    this.inputs.forEach((input) => { input.checked = input.value === kind; });
    this.set.hidden = this.setWords.hidden = kind !== 'set';
    this.made.hidden = kind !== 'make';
    if (kind === 'set') store.refresh();
    if (kind === 'make' && !this.generators) this.#generators();
    this.#warn();
  }

  #sets() {
    const sets = (store.list() ?? []).filter((one) => (one.kind ?? 'prompts') === 'prompts');
    const before = this.set.value;
    fill(this.set, sets.map((one) => h('option', { value: one.name }, `${visible(one.name)} · ${t('evaluate.n_rows', { n: count(one.rows) })}`)));
    if (sets.some((one) => one.name === before)) this.set.value = before;
    this.set.disabled = sets.length === 0;
    this.#warn();
    setText(this.setWords, sets.length ? t('evaluate.set_words') : t('evaluate.set_none'));
  }

  async #generators() {
    try {
      this.generators = (await api.get('/api/data/generators')).generators.filter((one) => one.available);
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.arguments, h('p', { class: 'ev-problem', t: error.error }));
      return;
    }
    fill(this.generator, this.generators.map((one) => h('option', { value: one.name, t: one.label })));
    this.#generator();
  }

  #generator() {
    const chosen = this.generators.find((one) => one.name === this.generator.value);
    this.values = {};
    this.picker = chosen.args.some((one) => one.name === 'task') ? new TaskPicker(() => {}) : null;
    // How many rows is asked for once, below; the other settings of a generator are its own.
    const own = chosen.args.filter((one) => !['task', 'n'].includes(one.name)).map((one) => (one.name === 'seed' ? { ...one, default: SEED } : one));
    fill(this.arguments, h('p', { class: 'caption', t: chosen.help }), this.picker?.root,
      h('details', null, h('summary', { class: 'caption', t: 'evaluate.generator_args' }), h('div', { class: 'd-args' }, own.map((one) => argument(one, (value) => {
        if (value === undefined) delete this.values[one.name];
        else this.values[one.name] = value;
      })))));
    this.picker?.load();
    this.#warn();
  }

  /** What to send as `data`; rows are made first where they are to be made. `n`: how many. */
  async data(n) {
    if (this.kind === 'held-out') return undefined;
    // No set at all would mean the held-out rows to the server: it is refused here, at its field.
    if (this.kind === 'set' && !this.set.value) throw { status: 422, error: 'evaluate.set_none', body: { field: 'data' } };
    if (this.kind === 'set') return this.set.value;
    const stem = `eval-${this.picker?.chosen ?? this.generator.value}`;
    await store.refresh();
    let at = 1;
    while (store.find(`${stem}-${at}`)) at += 1;
    const args = { seed: SEED, ...this.values, ...this.picker?.args, n };
    const { set } = await api.post('/api/data/make', { generator: this.generator.value, name: `${stem}-${at}`, args });
    await store.refresh();
    return set.name;
  }
}

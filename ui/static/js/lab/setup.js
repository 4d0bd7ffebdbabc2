// The one set-up of the Lab: which rewards, which rows, how many; and the way from here to a run.
import { fill, h, setText } from '../dom.js';
import { handOver } from '../form/handoff.js';
import { pairs } from '../form/pairs.js';
import { writeNumber } from '../form/values.js';
import { plural, saying } from '../form/words.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import { MOST_ROWS } from './bench.js';
import { rewardList } from './rewardlist.js';

const BUILT_IN = ['arithmetic', 'article-math'];

export class Setup {
  /** `fresh()`: the values of the New-run draft as it stands now. */
  constructor(bench, fresh) {
    this.bench = bench;
    this.rewards = rewardList(bench);
    this.dataset = h('input', { id: 'lab-dataset', class: 'input', type: 'text', autocomplete: 'off', spellcheck: 'false', list: 'lab-datasets' });
    this.offered = h('datalist', { id: 'lab-datasets' });
    this.about = h('p', { class: 'caption' });
    // A generated set knows the rewards that it was made for.
    this.suits = h('button', { id: 'lab-suits', class: 'btn small', type: 'button', hidden: true, onclick: () => bench.set({ rewards: this.#suiting().map((name) => ({ name, weight: name === 'format' ? 0.2 : 1, args: {} })) }) });
    this.toData = h('a', { class: 'caption', t: 'lab.to_data', href: state.link({ tab: 'data' }), onclick: (event) => state.follow(event, { tab: 'data' }) });
    this.rows = h('input', { id: 'lab-rows', class: 'input num', type: 'number', min: 1, max: MOST_ROWS, step: 1 });
    this.args = pairs('lab-dataset-args', (value) => bench.set({ datasetArgs: value }));
    this.argsBox = h('details', { class: 'lab-arguments' }, h('summary', { class: 'caption', t: 'lab.dataset_args' }), this.args.root);
    let pause = null;
    this.dataset.addEventListener('input', () => {
      clearTimeout(pause);
      pause = setTimeout(() => this.#choose(this.dataset.value.trim()), 400);
    });
    this.dataset.addEventListener('change', () => { clearTimeout(pause); this.#choose(this.dataset.value.trim()); });
    this.rows.addEventListener('input', () => { if (this.rows.checkValidity() && this.rows.value) bench.set({ rows: Number(this.rows.value) }); });
    this.rows.addEventListener('blur', () => { this.rows.value = String(bench.rows); });
    this.start = h('button', { id: 'lab-start', class: 'btn primary', type: 'button', t: 'lab.start_here', onclick: () => handOver(bench.values(), null, 'lab.handed') });
    const take = h('button', { id: 'lab-take', class: 'btn', type: 'button', t: 'lab.take_draft', tt: { title: 'lab.take_draft_title' }, onclick: () => bench.take(fresh()) });
    this.line = h('span');
    // On a narrow screen the set-up is one line that unfolds: what is under test stays in sight, the section too.
    this.fold = h('button', { id: 'lab-fold', type: 'button', class: 'lab-fold', 'aria-expanded': 'false', onclick: () => this.fold.setAttribute('aria-expanded', String(this.root.toggleAttribute('data-open'))) }, h('i', { 'aria-hidden': 'true' }), this.line);
    this.root = h('section', { class: 'card lab-setup', tt: { 'aria-label': 'lab.setup' } }, this.fold,
      h('div', { class: 'lab-setup-part' }, h('h2', { t: 'lab.rewards' }), this.rewards.root),
      h('div', { class: 'lab-setup-part' },
        h('h2', { t: 'lab.rows_title' }),
        h('div', { class: 'lab-data' },
          h('div', null, h('label', { class: 'caption', htmlFor: 'lab-dataset', t: 'lab.dataset' }), this.dataset, this.offered),
          h('div', null, h('label', { class: 'caption', htmlFor: 'lab-rows', t: 'lab.rows' }), this.rows)),
        h('div', { class: 'row lab-about' }, this.about, this.toData), this.suits, this.argsBox,
        h('div', { class: 'row lab-setup-foot' }, this.start, take)));
    bench.onChange(() => this.show());
    saying(() => this.#say());
    this.show();
  }

  #suiting() { return this.bench.sets.find((set) => set.name === this.bench.dataset)?.rewards ?? []; }

  /** Another set's arguments mean nothing to this one. */
  #choose(dataset) {
    if (dataset && dataset !== this.bench.dataset) this.bench.set({ dataset, datasetArgs: {} });
  }

  show() {
    const { bench } = this;
    this.rewards.show();
    if (document.activeElement !== this.dataset) this.dataset.value = bench.dataset;
    if (document.activeElement !== this.rows) this.rows.value = String(bench.rows);
    this.args.show(bench.datasetArgs);
    this.start.disabled = !bench.ready;
    this.#say();
  }

  /** After a reward or a set was saved. */
  learn() {
    this.rewards.again();
    this.show();
  }

  #say() {
    const { sets, dataset } = this.bench;
    fill(this.offered, [...BUILT_IN, ...sets.map((set) => set.name)].map((name) => h('option', { value: name })));
    const stored = sets.find((set) => set.name === dataset);
    const words = stored ? t('lab.set_stored', { rows: stored.rows ?? '–' })
      : BUILT_IN.includes(dataset) ? t('lab.set_built_in')
        : /[./\\]\w+$/.test(dataset) ? t('lab.set_file', { path: visible(dataset) }) : t('lab.set_other');
    setText(this.about, words);
    const suiting = this.#suiting();
    this.suits.hidden = suiting.length === 0 || suiting.every((name) => this.bench.names.includes(name));
    if (!this.suits.hidden) setText(this.suits, t('lab.suits', { names: suiting.join(', ') }));
    const rewards = this.bench.rewards.map(({ name, weight }) => (weight === 1 ? name : `${writeNumber(weight)} × ${name}`));
    setText(this.line, [rewards.join(' + ') || t('lab.rewards_none'), dataset, plural('lab.n_rows', this.bench.rows)].map(visible).join(' · '));
  }
}

// Warm-up rows from the completions of a run that earned most.

import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { readNumber } from '../form/values.js';
import { visible } from '../plain.js';
import * as runlist from '../runlist.js';
import { opened } from './actions.js';
import { faultLine, labelled, nameField, plainName, saying, words } from './parts.js';
import * as store from './store.js';

export class BestPanel {
  constructor() {
    this.run = h('select', { class: 'input', id: 'data-best-run' });
    this.least = h('input', { type: 'text', inputmode: 'decimal', class: 'input num', id: 'data-best-least', autocomplete: 'off' });
    this.each = h('input', { type: 'text', inputmode: 'numeric', class: 'input num', id: 'data-best-each', autocomplete: 'off', value: '1' });
    this.name = nameField(store);
    this.fault = faultLine();
    this.make = h('button', { type: 'submit', class: 'btn primary', id: 'data-best' });
    this.none = h('p', { class: 'muted', t: 'data.best_none', hidden: true });
    this.fields = h('div', { class: 'd-best-fields' },
      h('div', { class: 'd-args' }, labelled('data.best_run', this.run), labelled('data.best_least', this.least, { help: 'data.best_least_help' }), labelled('data.best_each', this.each, { help: 'data.best_each_help' })),
      this.fault.root, h('div', { class: 'd-foot' }, this.name.root, h('div', { class: 'd-foot-do' }, this.make)));
    this.root = h('form', { class: 'd-best' }, h('p', { class: 'muted', t: 'data.best_lead' }), this.none, this.fields);
    this.root.addEventListener('submit', (event) => { event.preventDefault(); this.send(); });
    this.run.addEventListener('change', () => this.suggest());
    this.name.input.addEventListener('input', () => { this.named = true; });
    runlist.onChange(() => this.draw());
    onLanguage(() => this.draw());
    saying(() => { this.make.textContent = t(this.busy ? 'data.making' : 'data.best_make'); });
    this.draw();
  }

  draw() {
    const runs = (runlist.list() ?? []).filter((run) => run.last_step > 0);
    this.none.hidden = runlist.list() === null || runs.length > 0;
    this.fields.hidden = runs.length === 0;
    const signature = JSON.stringify(runs.map((run) => [run.id, run.name]));
    if (signature === this.drawn) return;
    this.drawn = signature;
    const chosen = this.run.value;
    fill(this.run, runs.map((run) => h('option', { value: run.id }, run.name ? `${visible(run.name)} (${run.id})` : run.id)));
    if (runs.some((run) => run.id === chosen)) this.run.value = chosen;
    this.suggest();
  }

  suggest() {
    const run = runlist.find(this.run.value);
    if (run && !this.named) this.name.value = `${plainName(run.name || run.id) || 'run'}-best`;
  }

  async send() {
    if (this.busy) return;
    this.busy = true;
    this.make.disabled = true;
    this.make.textContent = t('data.making');
    this.fault.say(null);
    const least = this.least.value.trim() === '' ? null : readNumber(this.least.value);
    try {
      const { set } = await api.post('/api/data/best_of', { run: this.run.value, name: this.name.value, min_reward: least, per_prompt: readNumber(this.each.value) });
      await opened(set);
    } catch (error) {
      this.fault.say(words(error));
    } finally {
      this.busy = false;
      this.make.disabled = false;
      this.make.textContent = t('data.best_make');
    }
  }
}

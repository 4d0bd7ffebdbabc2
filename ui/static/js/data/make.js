// Rows from a generator: sums of our own making, or any task of reasoning-gym.

import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { opened } from './actions.js';
import { argument } from './arguments.js';
import { faultLine, nameField, saying, uid, words } from './parts.js';
import * as store from './store.js';
import { TaskDetail, TaskPicker } from './tasks.js';

export class MakePanel {
  constructor() {
    this.choices = h('div', { class: 'd-generators', role: 'radiogroup', tt: { 'aria-label': 'data.generator' } });
    this.form = h('div', { class: 'd-make-form' });
    this.fault = faultLine();
    this.name = nameField(store);
    this.make = h('button', { type: 'submit', class: 'btn primary', id: 'data-make' });
    this.foot = h('div', { class: 'd-foot' }, this.name.root, h('div', { class: 'd-foot-do' }, this.make));
    this.root = h('form', { class: 'd-make' }, this.choices, this.form, this.fault.root, this.foot);
    this.root.addEventListener('submit', (event) => { event.preventDefault(); this.send(); });
    this.values = {};
    this.name.input.addEventListener('input', () => { this.named = true; });
    saying(() => { this.make.textContent = t(this.busy ? 'data.making' : 'data.make'); });
    this.load();
  }

  async load() {
    fill(this.form, h('p', { class: 'muted', t: 'app.loading' }));
    this.foot.hidden = true;
    try {
      this.generators = (await api.get('/api/data/generators')).generators;
    } catch (error) {
      fill(this.form, h('div', { class: 'notice', data: { level: 'error' } }, h('span', { t: words(error) }), h('button', { type: 'button', class: 'btn small', t: 'app.retry', onclick: () => this.load() })));
      return;
    }
    const group = uid('generator');
    fill(this.choices, this.generators.map((one) => {
      const input = h('input', { type: 'radio', name: group, value: one.name, onchange: () => this.choose(one) });
      return h('label', { class: 'f-card d-generator', data: { generator: one.name } }, input, h('span', { class: 'f-card-title', t: one.label }), h('code', { class: 'f-card-name' }, one.name), h('span', { class: 'f-card-summary', t: one.help }));
    }));
    if (this.generators.length) {
      this.choices.querySelector('input').checked = true;
      this.choose(this.generators[0]);
    } else fill(this.form);
  }

  choose(generator) {
    this.generator = generator;
    this.fault.say(null);
    this.values = {};
    this.picker = null;
    this.detail = null;
    this.foot.hidden = !generator.available;
    if (!generator.available) {
      fill(this.form, h('div', { class: 'notice', data: { level: 'warn' } }, h('span', { t: generator.why ?? 'data.not_available' })));
      return;
    }
    const asks = generator.args.some((arg) => arg.name === 'task');
    const rows = generator.args.filter((arg) => arg.name !== 'task').map((arg) => argument(arg, (value) => this.set(arg.name, value)));
    this.named = false;
    this.name.value = asks ? '' : free(generator.name);
    if (asks) this.picker = new TaskPicker((task) => { if (!this.named) this.name.value = free(task); });
    else if (generator.task) this.detail = new TaskDetail();
    fill(this.form, this.picker?.root, h('div', { class: 'd-args' }, rows), this.detail?.root);
    this.picker?.load();
    this.detail?.show(generator.task);
  }

  set(name, value) {
    if (value === undefined) delete this.values[name];
    else this.values[name] = value;
  }

  async send() {
    if (this.busy) return;
    const args = { ...this.values, ...this.picker?.args, ...this.detail?.settings };
    this.fault.say(null);
    this.busy = true;
    this.make.disabled = true;
    this.make.textContent = t('data.making');
    try {
      const { set } = await api.post('/api/data/make', { generator: this.generator.name, name: this.name.value, args });
      await opened(set);
    } catch (error) {
      this.fault.say(words(error));
    } finally {
      this.busy = false;
      this.make.disabled = false;
      this.make.textContent = t('data.make');
    }
  }
}

/** A name that no set has yet: a built-in name itself cannot be taken. */
function free(name) {
  for (let n = 1; ; n += 1) if (!store.find(`${name}-${n}`)) return `${name}-${n}`;
}

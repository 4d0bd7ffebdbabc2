// The tasks of reasoning-gym: a list to search, what each one asks, and its settings.

import * as api from '../api.js';
import { address } from '../api.js';
import { fill, h } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { argument } from './arguments.js';
import { faultLine, labelled, plural, uid, words } from './parts.js';

const FIRST = ['syllogism', 'propositional_logic'];

export class TaskPicker {
  /** `onTask(name)` when one is chosen. */
  constructor(onTask) {
    this.onTask = onTask;
    this.tasks = [];
    this.chosen = null;
    this.settings = {};
    this.group = uid('task');
    this.search = h('input', { type: 'search', class: 'input', id: 'data-task-search', autocomplete: 'off', spellcheck: 'false' });
    this.search.addEventListener('input', () => this.draw());
    this.found = h('p', { class: 'caption', 'aria-live': 'polite' });
    this.list = h('div', { class: 'd-tasks', role: 'radiogroup', tt: { 'aria-label': 'data.task' } });
    this.presets = h('div', { class: 'row d-presets' });
    this.detail = h('div', { class: 'd-task' });
    this.fault = faultLine();
    this.root = h('div', { class: 'd-picker' },
      h('div', null, labelled('data.task', this.search), this.presets, this.found, this.list),
      h('div', null, this.fault.root, this.detail));
    onLanguage(() => this.draw());
  }

  get args() { return { task: this.chosen, ...(Object.keys(this.settings).length ? { settings: this.settings } : {}) }; }

  async load() {
    fill(this.list, h('p', { class: 'muted', t: 'app.loading' }));
    try {
      this.tasks = (await api.get('/api/data/tasks')).tasks;
      this.fault.say(null);
    } catch (error) {
      this.tasks = [];
      this.fault.say(words(error));
    }
    const names = this.tasks.map((task) => task.name);
    fill(this.presets, FIRST.filter((name) => names.includes(name)).map((name) => h('button', { type: 'button', class: 'f-chip', data: { task: name }, onclick: () => this.choose(name) }, name)));
    this.draw();
    if (this.chosen === null && names.length) this.choose(FIRST.find((name) => names.includes(name)) ?? names[0]);
  }

  draw() {
    const query = this.search.value.trim().toLowerCase();
    const shown = this.tasks.filter((task) => query.split(/\s+/).every((word) => `${task.name} ${task.name.replaceAll('_', ' ')} ${task.category ?? ''}`.toLowerCase().includes(word)));
    this.search.placeholder = t('data.task_search');
    this.found.textContent = query && !shown.length ? t('data.no_task', { query: visible(this.search.value.trim()) }) : plural('data.tasks', shown.length);
    fill(this.list, shown.map((task) => h('label', { class: 'd-task-row' },
      h('input', { type: 'radio', name: this.group, value: task.name, checked: task.name === this.chosen, onchange: () => this.choose(task.name) }),
      h('span', { class: 'd-task-name' }, visible(task.name)), task.category ? h('span', { class: 'caption' }, visible(task.category)) : null)));
  }

  async choose(name) {
    this.chosen = name;
    this.settings = {};
    this.onTask(name);
    for (const input of this.list.querySelectorAll('input')) input.checked = input.value === name;
    for (const button of this.presets.children) button.setAttribute('aria-pressed', String(button.dataset.task === name));
    const known = this.tasks.find((task) => task.name === name);
    if (known && !known.settings) fill(this.detail, h('p', { class: 'muted', t: 'app.loading' }));
    try {
      const [task] = (await api.get(address('/api/data/tasks', { task: name }))).tasks;
      if (this.chosen !== name) return;
      this.fault.say(null);
      this.describe(task);
    } catch (error) {
      if (this.chosen === name) this.fault.say(words(error));
    }
  }

  describe(task) {
    const { example } = task;
    const question = typeof example === 'string' ? example : example?.question ?? example?.prompt;
    fill(this.detail,
      h('h3', { class: 'mono' }, visible(task.name)),
      question ? h('figure', { class: 'f-example' }, h('figcaption', { class: 'caption', t: 'data.example' }), h('blockquote', { class: 'f-example-text' }, plain(String(question), h, 3000)),
        example.answer !== undefined && example.answer !== null ? h('p', { class: 'caption d-example-answer' }, t('data.example_answer'), ' ', h('code', null, visible(String(example.answer)))) : null) : null,
      task.settings?.length ? h('div', null, h('h3', { t: 'data.settings' }), h('div', { class: 'd-args' }, task.settings.map((setting) => argument(setting, (value) => {
        if (value === undefined) delete this.settings[setting.name];
        else this.settings[setting.name] = value;
      })))) : null);
  }
}

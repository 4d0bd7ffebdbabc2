// The tasks of reasoning-gym: a list to search, what each one asks, and its settings.

import { address, get } from '../api.js';
import { fill, h } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { argument } from './arguments.js';
import { faultLine, labelled, plural, uid, words } from './parts.js';

/** What one task asks, with an example, and its settings. */
export class TaskDetail {
  constructor() {
    this.settings = {};
    this.fault = faultLine();
    this.box = h('div', { class: 'd-task' });
    this.root = h('div', null, this.fault.root, this.box);
  }

  async show(name) {
    this.name = name;
    this.settings = {};
    if (!this.box.childElementCount) fill(this.box, h('p', { class: 'muted', t: 'app.loading' }));
    try {
      const [task] = (await get(address('/api/data/tasks', { task: name }))).tasks;
      if (this.name !== name) return;
      this.fault.say(null);
      this.describe(task);
    } catch (error) {
      if (this.name !== name) return;
      fill(this.box);
      this.fault.say(words(error));
    }
  }

  describe(task) {
    const { example } = task;
    const question = typeof example === 'string' ? example : example?.question ?? example?.prompt;
    fill(this.box,
      h('h3', { class: 'mono' }, visible(task.name)),
      question ? h('figure', { class: 'f-example' }, h('figcaption', { class: 'caption', t: 'data.example' }), h('blockquote', { class: 'f-example-text' }, plain(String(question), h, 3000)),
        example.answer !== undefined && example.answer !== null ? h('p', { class: 'caption d-example-answer' }, t('data.example_answer'), ' ', h('code', null, visible(String(example.answer)))) : null) : null,
      task.settings?.length ? h('div', null, h('h3', { t: 'data.settings' }), h('div', { class: 'd-args' }, task.settings.map((setting) => argument(setting, (value) => this.set(setting.name, value))))) : null);
  }

  set(name, value) {
    if (value === undefined) delete this.settings[name];
    else this.settings[name] = value;
  }
}

export class TaskPicker {
  /** `onTask(name)` when one is chosen. */
  constructor(onTask) {
    this.onTask = onTask;
    this.tasks = [];
    this.chosen = null;
    this.group = uid('task');
    this.search = h('input', { type: 'search', class: 'input', id: 'data-task-search', autocomplete: 'off', spellcheck: 'false' });
    this.search.addEventListener('input', () => this.draw());
    this.found = h('p', { class: 'caption', 'aria-live': 'polite' });
    this.list = h('div', { class: 'd-tasks', role: 'radiogroup', tt: { 'aria-label': 'data.task' } });
    this.detail = new TaskDetail();
    this.fault = faultLine();
    this.root = h('div', { class: 'd-picker' },
      h('div', null, labelled('data.task', this.search), this.found, this.list),
      h('div', null, this.fault.root, this.detail.root));
    onLanguage(() => this.draw());
  }

  get args() { return { task: this.chosen, ...this.detail.settings }; }

  async load() {
    fill(this.list, h('p', { class: 'muted', t: 'app.loading' }));
    try {
      this.tasks = (await get('/api/data/tasks')).tasks;
      this.fault.say(null);
    } catch (error) {
      this.tasks = [];
      this.fault.say(words(error));
    }
    const names = this.tasks.map((task) => task.name);
    this.draw();
    if (this.chosen === null && names.length) this.choose(names[0]);
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

  choose(name) {
    this.chosen = name;
    this.onTask(name);
    for (const input of this.list.querySelectorAll('input')) input.checked = input.value === name;
    this.detail.show(name);
  }
}

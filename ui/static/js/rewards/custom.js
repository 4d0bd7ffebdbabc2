// The editor of custom rewards: write or open one, look at it while typing, test it as the trainer would call it, save.
import * as api from '../api.js';
import { confirm, fill, h, setText, toast } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { nameBar } from './bar.js';
import { codeBox } from './code.js';
import { recall, remember } from './memory.js';
import { options } from './options.js';
import { problemList } from './problems.js';
import { result } from './result.js';
import { rowsBox, writeRows } from './rows.js';
import { shelf } from './shelf.js';

const LOOK_MS = 350;

/** {root}: fills itself; `onSaved(name)` after one was saved or deleted; `rows()`: real rows to test on, where there are. */
export function customEditor(ctx, { onSaved = () => {}, rows = null } = {}) {
  const root = h('div', { class: 'cr-editor' }, h('p', { class: 'muted loading', t: 'app.loading' }));
  const begin = async () => {
    try {
      const known = await api.get('/api/custom');
      if (known.allowed) fill(root, new Editor(known, onSaved, rows).root);
      else fill(root, h('div', { id: 'cr-off', class: 'notice', data: { level: 'info' } }, h('span', { t: known.why })));
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(root, h('div', { class: 'notice', data: { level: 'error' } }, h('span', { t: error.error }), h('button', { type: 'button', class: 'btn small', t: 'app.retry', onclick: begin })));
    }
  };
  begin();
  return { root };
}

class Editor {
  /** `base`: the saved version that is open; `seen`: the last look; `chosen`: the function that was picked. */
  constructor(known, onSaved, rows) {
    Object.assign(this, { known, onSaved, base: null, seen: null, chosen: null, timer: null, saved: '', asked: 0, waiting: null });
    const change = () => this.changed();
    this.bar = nameBar({ templates: known.templates, on: {
      name: change, version: (number) => this.open(this.base.name, number), fn: (name) => this.take(name), template: (id) => this.fromTemplate(id),
    } });
    this.code = codeBox({ id: 'cr-code', onInput: change });
    this.options = options({ confirmText: known.confirm, onChange: change });
    this.rows = rowsBox({ onChange: change, real: rows });
    this.result = result({ go: (line) => this.code.go(line) });
    this.problems = problemList({ source: () => this.code.value, on: {
      go: (line) => this.code.go(line),
      signature: (text, range) => this.code.replace(text, ...range),
      column: (parameter, column) => this.options.map(parameter, column),
      fn: (name) => this.take(name),
      trusted: () => this.options.setLevel('trusted'),
    } });
    this.shelf = shelf({ onOpen: (name) => this.open(name), onDelete: (name) => this.drop(name), onNew: () => this.fresh() });
    this.test = h('button', { id: 'cr-test', type: 'button', class: 'btn', t: 'custom.test', onclick: () => this.tryIt() });
    this.save = h('button', { id: 'cr-save', type: 'button', class: 'btn primary', onclick: () => this.keep() });
    this.stop = h('button', { id: 'cr-stop', type: 'button', class: 'btn ghost', t: 'custom.cancel', hidden: true, onclick: () => this.waiting?.abort() });
    this.status = h('span', { class: 'caption num', 'aria-live': 'polite' });
    const main = h('div', { class: 'cr-main' }, this.bar.root, this.code.root, h('p', { id: 'cr-code-hint', class: 'caption', t: 'custom.code_hint' }), this.problems.root,
      h('div', { class: 'cr-sides' }, this.options.root, this.rows.root),
      h('div', { class: 'cr-actions' }, this.test, this.save, this.stop, this.status), this.result.root);
    this.root = h('div', { class: 'cr-page' }, h('p', { class: 'muted cr-lead', t: 'custom.lead' }), h('div', { class: 'cr-columns-two' }, this.shelf.root, main));
    onLanguage(() => this.#draw());
    const kept = recall();
    if (kept) {
      this.base = kept.base;
      this.lay({ ...kept, rows: null });
      this.rows.set(kept.rows ?? '');
      this.saved = ''; // it is not
    } else this.lay(known.templates[0]);
    this.#draw();
  }

  #draw() {
    const known = this.known.rewards.find((each) => each.name === this.bar.name);
    setText(this.save, t('custom.save', { n: Math.max(0, ...(known?.versions ?? [])) + 1 }));
    this.bar.show(this.base, this.seen?.choices ?? [], this.chosen ?? this.seen?.function?.name);
    this.shelf.show(this.known.rewards, this.base?.name);
    if (!this.waiting) setText(this.status, this.dirty ? t('custom.unsaved') : '');
  }

  get state() {
    return { name: this.bar.name, source: this.code.value, level: this.options.level, function: this.chosen, settings: this.options.settings() };
  }

  get dirty() { return this.#kept() !== this.saved; }

  #kept() { return JSON.stringify({ ...this.state, function: null }); }

  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), LOOK_MS);
    remember(this.dirty ? { ...this.state, rows: this.rows.text, base: this.base } : null);
    this.#draw();
  }

  /** Ask what the server sees in the source, without running it. */
  async look() {
    clearTimeout(this.timer);
    const turn = this.asked += 1;
    const { settings, ...state } = this.state;
    const columns = this.rows.columns();
    let seen;
    try {
      seen = await api.post('/api/custom/look', { ...state, columns: columns && [...columns, ...Object.keys(settings.columns ?? {})] });
    } catch (error) {
      if (error.status === undefined) throw error;
      return;
    }
    if (turn !== this.asked) return;
    if (this.chosen && seen.problems.some((problem) => problem.code === 'no_function')) {
      this.chosen = null; // it was renamed or taken out
      await this.look();
      return;
    }
    this.seen = seen;
    this.problems.show(state.source.trim() ? seen.problems : []);
    this.code.mark(Object.fromEntries(seen.problems.filter((p) => p.line).map((p) => [p.line, p.stops ? 'stop' : 'warn'])));
    this.#draw();
  }

  take(name) {
    this.chosen = name;
    this.changed();
  }

  lay({ name = '', source, level, settings = {}, function: fn = null, rows = null }) {
    this.bar.name = name;
    this.code.set(source);
    this.options.set({ level, settings });
    if (rows) this.rows.set(writeRows(rows));
    this.seen = null;
    this.chosen = fn;
    this.result.hide();
    this.problems.show([]);
    this.code.mark({});
    this.saved = this.#kept();
    this.changed();
  }

  async leave() {
    return !this.dirty || confirm({ title: 'custom.leave_title', action: 'custom.leave' });
  }

  async fromTemplate(id) {
    const chosen = this.known.templates.find((each) => each.id === id);
    if (!chosen || !(await this.leave())) return;
    this.base = null;
    this.lay(chosen);
  }

  async fresh() {
    if (!(await this.leave())) return;
    this.base = null;
    this.lay(this.known.templates[0]);
    this.bar.focus();
  }

  async open(name, version = null) {
    if (!(await this.leave())) {
      this.#draw();
      return;
    }
    try {
      this.base = await api.get(api.address(`/api/custom/rewards/${encodeURIComponent(name)}`, { version }));
      this.lay(this.base);
    } catch (error) {
      toast(error.error ?? error.message, 'error');
    }
  }

  async drop(name) {
    if (!(await confirm({ title: 'custom.delete_title', body: 'custom.delete_body', vars: { name }, action: 'custom.delete' }))) return;
    try {
      await api.del(`/api/custom/rewards/${encodeURIComponent(name)}`);
      toast(() => t('custom.deleted', { name }));
    } catch (error) {
      toast(error.error ?? error.message, 'error');
    }
    if (this.base?.name === name) this.base = null;
    await this.relist(name);
  }

  async relist(name) {
    const { rewards } = await api.get('/api/custom');
    this.known.rewards = rewards;
    this.#draw();
    dispatchEvent(new CustomEvent('studio:rewards'));
    this.onSaved(name);
  }

  #busy(on) {
    for (const button of [this.test, this.save]) button.disabled = on;
    this.stop.hidden = !on || !this.waiting;
  }

  async tryIt() {
    const { rows, bad } = this.rows.read();
    if (bad !== null) {
      this.rows.area.focus();
      return;
    }
    const waiting = this.waiting = new AbortController();
    this.#busy(true);
    const begun = performance.now();
    const say = () => setText(this.status, t('custom.testing', { s: Math.round((performance.now() - begun) / 1000) }));
    const tick = setInterval(say, 250);
    try {
      await this.look();
      this.result.show(await api.post('/api/custom/test', { ...this.state, confirmed: this.options.confirmed, rows, shape: this.rows.shape }, { signal: waiting.signal }));
    } catch (error) {
      if (error.name !== 'AbortError') this.#refused(error);
    } finally {
      clearInterval(tick);
      this.waiting = null;
      this.#busy(false);
      this.#draw();
    }
  }

  async keep() {
    this.#busy(true);
    try {
      await this.look();
      const made = await api.post('/api/custom/save', { ...this.state, confirmed: this.options.confirmed });
      const same = this.known.rewards.find((each) => each.name === made.name)?.versions.includes(made.version);
      this.base = await api.get(`/api/custom/rewards/${encodeURIComponent(made.name)}`);
      this.saved = this.#kept();
      remember(null);
      await this.relist(made.name);
      toast(() => (same ? t('custom.same', { n: made.version }) : t('custom.saved_as', { name: made.name, n: made.version })));
    } catch (error) {
      this.#refused(error);
    } finally {
      this.#busy(false);
    }
  }

  #refused(error) {
    if (error.status === undefined) throw error;
    this.result.fail(error.error);
    if (this.options.level === 'trusted' && !this.options.confirmed) this.options.needSure();
    else if (!this.bar.name) this.bar.focus();
  }
}

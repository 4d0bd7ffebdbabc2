// The New run page: presets and the four steps on the left, what it will do on the right.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import * as sets from '../data/store.js';
import { Checker } from './checker.js';
import { Draft } from './draft.js';
import { fromRun } from './fromrun.js';
import { handedOver } from './handoff.js';
import { methodPicker } from './methods.js';
import { notices } from './notices.js';
import { pasteBox } from './paste.js';
import { PlanPanel } from './plan.js';
import { presetCards } from './presets.js';
import { Schema } from './schema.js';
import { Steps } from './steps.js';
import { toolbar } from './toolbar.js';
import { plural, said } from './words.js';

const RETRY_MS = 3000;

export async function mount(root, ctx) {
  root.replaceChildren(h('p', { class: 'f-loading', t: 'form.loading' }));
  let json;
  try {
    // The stored sets too, so that the dataset field is whole at once; without them it goes on as a line of text.
    [json] = await Promise.all([ctx.api.get('/api/schema'), sets.refresh()]);
  } catch (error) {
    root.replaceChildren(h('div', { class: 'notice', data: { level: 'error' } },
      h('span', { t: 'form.load_failed', vars: { why: error.error ?? error.message } }),
      h('button', { class: 'btn small', t: 'form.again', onclick: () => mount(root, ctx) })));
    return;
  }
  root.replaceChildren();
  new FormPage(root, ctx, new Schema(json));
}

class FormPage {
  constructor(root, ctx, schema) {
    Object.assign(this, { ctx, schema, edits: 0 });
    this.draft = new Draft(schema);
    this.steps = new Steps(schema, this.draft);
    this.notices = notices();
    this.presets = presetCards(schema, this.draft, (preset) => this.choose(preset));
    this.methods = methodPicker(schema, this.draft, (method) => this.lay(method));
    this.paste = pasteBox({ onTake: (values, notes) => this.take(values, notes) });
    this.bar = toolbar(this.steps, this.draft, { onDiscard: () => this.discard() });
    this.plan = new PlanPanel(this.draft, {
      onStart: (accept) => this.start(accept),
      onGoto: (name) => this.goto(name),
      labelOf: (name) => (schema.field(name) ? t(schema.field(name).label) : name),
    });
    this.checker = new Checker((body) => ctx.api.post('/api/check', body), {
      onPending: () => this.plan.set({ pending: true }),
      onAnswer: (answer) => this.answered(answer),
    });
    const intro = h('header', { class: 'f-intro' },
      h('div', null, h('h1', { t: 'form.title' }), h('p', { class: 'f-lead', t: 'form.lead' })),
      h('button', { type: 'button', class: 'btn small f-paste-open', t: 'form.paste', onclick: () => this.paste.open() }));
    this.page = h('div', { class: 'f-page' },
      h('div', { class: 'f-main' }, intro, this.presets.root, this.methods.root, this.bar.root, this.notices.root, this.steps.root),
      this.plan.root, this.paste.root);
    root.append(this.page);
    this.fit();
    for (const event of ['scroll', 'resize']) addEventListener(event, () => this.fit(), { passive: true });
    ctx.onTab(() => {
      this.fit();
      if (!ctx.isOpen('new')) return;
      this.receive();
      sets.refresh(); // one may have been stored meanwhile
      if (this.plan.state.offline) this.check(0);
    });
    this.draft.onChange((names) => this.changed(names));
    this.check(0);
    this.receive();
  }

  /** The plan ends where the window ends, also while the header above it is still in sight: Start stays visible. */
  fit() {
    this.page.style.setProperty('--f-above', `${Math.max(0, Math.round(this.page.getBoundingClientRect().top))}px`);
  }

  check(pause) {
    this.checker.due({ values: this.draft.values, preset: this.draft.preset }, pause);
  }

  changed(names) {
    this.edits += 1;
    this.steps.show(names);
    this.presets.show();
    this.methods.show();
    this.bar.show();
    this.plan.set({ failed: null, preflight: null });
    this.check();
  }

  answered({ check, error }) {
    if (error) {
      this.plan.set({ pending: false, offline: said(error) });
      setTimeout(() => { if (this.plan.state.offline && this.ctx.isOpen('new')) this.check(0); }, RETRY_MS);
      return;
    }
    this.steps.setProblems(check.errors ?? []);
    this.steps.setNotes(check.notes ?? []);
    this.bar.show();
    this.plan.set({ check, pending: false, offline: null });
  }

  choose(preset) {
    const n = this.draft.changes.length;
    const undo = this.draft.choose(preset.name);
    if (n) this.notices.say(() => plural('form.switched', n, { preset: t(preset.title) || preset.name }), undo);
  }

  discard() {
    const undo = this.draft.discard();
    this.notices.say(() => t('form.discarded'), undo);
  }

  take(values, notes) {
    const n = Object.keys(values).length;
    this.put(values, () => [plural('form.pasted', n), ...notes.map((note) => t(note.text))].join('\n'));
  }

  lay(method) {
    const n = Object.keys(method.values).length;
    this.put(method.values, () => [plural('form.method_laid', n, { method: t(method.title) }), ...method.changes.map((text) => t(text))].join('\n'));
  }

  /** Several values at once, with a message and a way back. */
  put(values, message) {
    this.notices.say(message, this.draft.lay(values));
  }

  /** What another page asks this form to hold, with a message and a way back. */
  receive() {
    this.#takeRun();
    const given = handedOver();
    if (!given) return;
    const { values, preset, message, vars } = given;
    const undo = this.schema.preset(preset) ? this.draft.replace(preset, values) : this.draft.lay(values);
    this.notices.say(() => t(message, { n: Object.keys(values).length, ...vars }), undo);
    this.notices.root.scrollIntoView({ block: 'center' });
  }

  /** The settings of a run that the address names, with a finding's change: ?tab=new&from=RUN&change=JSON. */
  async #takeRun() {
    const asked = fromRun(this.ctx, this.schema);
    if (!asked) return;
    try {
      const { preset, values, message, changed } = await asked;
      const undo = this.draft.replace(preset, values);
      this.notices.say(message, () => { undo(); this.steps.mark([]); });
      this.steps.mark(changed);
      this.notices.root.scrollIntoView({ block: 'center' });
    } catch (error) {
      if (error.status === undefined) throw error;
      this.notices.say(() => (error.status === 404 ? t('findings.gone') : said(error)));
    }
  }

  goto(name) {
    if (name === 'name') this.plan.name.focus();
    this.bar.clear();
    this.steps.of(name)?.focus();
  }

  /** `accept`: ids of the warnings that the person has read and passes over. */
  async start(accept = []) {
    if (this.plan.state.starting) return; // two presses are one run
    const { edits } = this;
    this.plan.set({ starting: true, failed: null });
    try {
      const { run } = await this.ctx.api.post('/api/runs', { values: this.draft.values, preset: this.draft.preset, accept });
      this.plan.set({ starting: false, preflight: null });
      this.draft.reset('name'); // the next run gets a name of its own; everything else stays
      this.ctx.runlist.refresh();
      this.ctx.state.set({ run: run.id, tab: 'live' });
    } catch (error) {
      if (edits !== this.edits && error?.body) return void this.plan.set({ starting: false }); // said of other settings
      const preflight = error?.body?.preflight ?? null;
      this.plan.set({ starting: false, failed: preflight ? null : error.error ?? said(error) });
      this.plan.showPreflight(preflight);
      if (error?.body?.check) this.answered({ check: error.body.check });
    }
    return undefined;
  }
}

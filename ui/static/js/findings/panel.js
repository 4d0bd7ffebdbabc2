// What the diagnosis found, under the live page's sentence: findings with their numbers, causes, change and samples.
import { keyed, setText } from '../dom.js';
import { typed } from '../form/format.js';
import { visible } from '../plain.js';
import { follow } from '../state.js';
import { evidence } from './evidence.js';

export const ICONS = { stop: '■', critical: '◆', warn: '▲', info: 'ⓘ' };
const AGAIN_MS = 2000;
const KINDS = new Set(['probe', 'evaluate']); // they train nothing

export class Findings {
  /** `button` opens the panel. `onSpans` gets [{id, severity, from, to}] (`to` null: it stands) when they change. */
  constructor(root, ctx, onSpans) {
    Object.assign(this, { ctx, onSpans, run: null, key: '', report: null, asking: false, next: null, later: 0, drawn: '' });
    const { h } = ctx;
    this.button = h('button', {
      id: 'live-findings', class: 'btn small fi-open', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'findings', hidden: true,
      onclick: () => this.#toggle(),
    });
    this.step = h('span', { class: 'caption' });
    this.again = h('button', { id: 'findings-again', class: 'btn ghost small', type: 'button', t: 'findings.again', tt: { title: 'findings.again_title' }, onclick: () => this.#judgeAgain() });
    this.note = h('p', { class: 'muted', 'aria-live': 'polite', hidden: true });
    this.list = h('div', { class: 'fi-list' });
    this.folds = Object.fromEntries(['symptoms', 'cleared', 'untold'].map((name) => [name, this.#fold(name)]));
    this.node = h('section', { id: 'findings', class: 'card fi-panel', hidden: true, tt: { 'aria-label': 'findings.title' } },
      h('header', { class: 'fi-head' }, h('h2', { class: 'h3', t: 'findings.title' }), this.step, h('span', { class: 'spacer' }), this.again),
      h('div', { class: 'fi-body' }, this.note, this.list, ...Object.values(this.folds).map((fold) => fold.node)));
    root.append(this.node);
    ctx.i18n.onLanguage(() => { this.drawn = ''; this.#draw(); });
  }

  #fold(name) {
    const { h } = this.ctx;
    const word = h('summary', { class: 'caption' });
    const body = h('div', { class: name === 'untold' ? 'fi-untold' : 'fi-list' });
    return { node: h('details', { class: `fi-fold fi-${name}`, hidden: true }, word, body), word, body };
  }

  #toggle(open = this.node.hidden) {
    this.node.hidden = !open;
    if (!this.report?.going) delete this.node.dataset.going;
    this.button.setAttribute('aria-expanded', String(open));
  }

  /** Another run is shown. */
  forget() {
    clearTimeout(this.later);
    Object.assign(this, { run: null, key: '', report: null, drawn: '' });
    this.button.hidden = true;
    this.#toggle(false);
    this.onSpans([]);
  }

  /** After each answer of /headline: `said.step` tells whether there is a newer report. */
  use(run, said) {
    if (this.run?.id !== run.id) this.forget();
    this.run = run;
    if (KINDS.has(run.kind)) return;
    const key = JSON.stringify([run.id, run.attempt, run.state, said?.step ?? null, said?.findings ?? null]);
    if (key === this.key) return;
    if (this.asking) {
      this.next = [run, said]; // another run, or a newer step, while the answer of the last is under way
      return;
    }
    this.key = key;
    this.#ask();
  }

  async #ask(again = false) {
    const { api, state } = this.ctx;
    const { run } = this;
    clearTimeout(this.later);
    this.asking = true;
    try {
      const path = `/api/runs/${encodeURIComponent(run.id)}/diagnosis`;
      const report = again ? await api.post(path, {}) : await api.get(path);
      if (this.run?.id !== run.id) return;
      if (report.pending === true && !report.going) this.later = setTimeout(() => this.run?.id === run.id && this.#ask(), AGAIN_MS);
      const first = this.report === null;
      this.report = report;
      this.#draw();
      if (first && state.get().finding && !report.pending) this.#show(state.get().finding);
    } catch (error) {
      if (error.status === undefined) throw error;
      this.key = '';
      // Nothing else would ask again about a run that has ended.
      if (this.run?.id === run.id && error.status !== 404) this.later = setTimeout(() => this.run?.id === run.id && this.#ask(), AGAIN_MS);
    } finally {
      this.asking = false;
      const { next } = this;
      this.next = null;
      if (next && next[0].id === this.run?.id) this.use(...next);
    }
  }

  async #judgeAgain() {
    this.again.disabled = true;
    await this.#ask(true);
    this.again.disabled = false;
  }

  /** Open at one finding: the address may name it. */
  #show(id) {
    this.#toggle(true);
    const node = this.node.querySelector(`[data-finding="${CSS.escape(id)}"]`);
    for (let at = node?.parentElement; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    node?.scrollIntoView({ block: 'nearest' });
  }

  #draw() {
    const { report, ctx } = this;
    const now = JSON.stringify(report);
    if (!report || now === this.drawn) return;
    this.drawn = now;
    const { label } = ctx.i18n;
    this.button.hidden = false;
    this.again.hidden = report.going;
    // Findings come and go while the run goes: the room is the same for all of them, so that the charts below stay. It
    // is given back when the panel is opened the next time, not under somebody's eyes when the run ends.
    if (report.going) this.node.dataset.going = '';
    if (report.pending) {
      label(this.note, report.pending === 'failed' ? 'findings.failed' : report.going ? 'findings.waiting_first' : 'findings.pending');
      this.note.hidden = false;
      this.button.hidden = report.going;
      label(this.button, report.pending === 'failed' ? 'findings.failed' : 'findings.pending');
      return;
    }
    const fired = report.findings.filter((one) => one.state === 'fired');
    const symptoms = fired.filter((one) => one.because_of);
    const standing = fired.filter((one) => !one.because_of);
    const cleared = report.findings.filter((one) => one.state === 'cleared');
    const untold = report.rules.filter((rule) => rule.state === 'unknown');
    label(this.step, 'findings.as_of', { step: report.step.toLocaleString('en-US') });
    this.#count(standing);
    this.note.hidden = standing.length > 0;
    label(this.note, 'findings.none');
    this.#list(this.list, standing);
    this.#fill('symptoms', symptoms.length, (body) => this.#list(body, symptoms));
    this.#fill('cleared', cleared.length, (body) => this.#list(body, cleared));
    this.#fill('untold', untold.length, (body) => this.#untold(body, untold));
    // What another finding explains would only darken the same steps.
    this.onSpans(standing.concat(cleared).map((one) => ({ id: one.id, severity: one.severity, title: one.title, from: one.since_step, to: one.cleared_step })));
  }

  #count(standing) {
    const { h, dom } = this.ctx;
    const told = standing.filter((one) => one.severity !== 'info');
    const n = standing.length;
    const worst = told[0]?.severity ?? (n ? 'info' : '');
    this.button.dataset.severity = worst;
    dom.fill(this.button, worst ? h('i', { 'aria-hidden': 'true' }, ICONS[worst]) : null,
      h('span', { t: n === 0 ? 'findings.count_0' : n === 1 ? 'findings.count_1' : 'findings.count', vars: { n } }), h('i', { class: 'fi-chevron', 'aria-hidden': 'true' }, '▾'));
  }

  #fill(name, n, draw) {
    const { node, word, body } = this.folds[name];
    node.hidden = n === 0;
    this.ctx.i18n.label(word, `findings.${name}`, { n });
    draw(body);
  }

  #untold(body, rules) {
    const { h } = this.ctx;
    keyed(body, rules, (rule) => `${rule.id}/${rule.needs}/${rule.failed ? 1 : 0}`, (rule) => h('p', { class: 'caption' },
      h('span', { class: 'fi-id' }, rule.id), ' ', h('span', { t: rule.title }), ': ',
      h('span', { t: rule.failed ? 'findings.broken_rule' : rule.needs === null ? 'findings.needs_data' : rule.needs === 1 ? 'findings.needs_1' : 'findings.needs', vars: { n: rule.needs } })));
  }

  #list(body, findings) {
    keyed(body, findings, (one) => one.id, (one) => this.#frame(one), (node, one) => this.#update(node, one));
  }

  #frame(one) {
    return this.ctx.h('article', { class: 'fi-one', data: { finding: one.id } });
  }

  #update(node, one) {
    const now = JSON.stringify([one, this.ctx.i18n.lang()]);
    if (node.drawn === now) return;
    node.drawn = now;
    const open = [...node.querySelectorAll('details')].map((fold) => fold.open);
    node.dataset.severity = one.severity;
    node.dataset.state = one.state;
    this.ctx.dom.fill(node, this.#parts(one));
    [...node.querySelectorAll('details')].forEach((fold, i) => { fold.open = open[i] ?? false; });
  }

  #parts(one) {
    const { h } = this.ctx;
    const explained = one.because_of && this.report.findings.find((other) => other.id === one.because_of);
    const when = one.cleared_step === null || one.state === 'fired'
      ? { t: 'findings.since', vars: { step: one.since_step } }
      : { t: 'findings.span', vars: { from: one.since_step, to: one.cleared_step } };
    return [
      h('header', {},
        h('span', { class: 'fi-severity' }, h('i', { 'aria-hidden': 'true' }, ICONS[one.severity]), h('span', { t: `findings.${one.severity}` })),
        h('h3', { t: one.title }), h('span', { class: 'fi-id' }, one.id), h('span', { class: 'caption', ...when })),
      h('p', { t: one.text }),
      explained ? h('p', { class: 'caption', t: 'findings.because_of', vars: { id: explained.id, title: explained.title } }) : null,
      one.causes.length ? h('div', {}, h('p', { class: 'caption', t: 'findings.causes' }), h('ol', { class: 'fi-causes' }, one.causes.map((cause) => h('li', { t: cause.text })))) : null,
      one.change.length ? this.#change(one) : null,
      one.samples.length ? this.#samples(one) : null,
      evidence(this.ctx, one),
    ];
  }

  #change(one) {
    const { h, state } = this.ctx;
    const change = one.change.map(({ field, to }) => ({ field, to }));
    const patch = { tab: 'new', from: this.run.id, finding: one.id, change: JSON.stringify(change) };
    return h('div', { class: 'fi-change' },
      h('div', {}, h('p', { class: 'caption', t: 'findings.change' }),
        h('ul', {}, one.change.map(({ field, from, to }) => h('li', {}, h('code', {}, field), ': ', h('span', { class: 'muted' }, visible(typed(from))), ' → ', h('strong', {}, visible(typed(to))))))),
      h('a', { class: 'btn small fi-apply', t: 'findings.apply', href: state.link(patch), onclick: (event) => follow(event, patch) }));
  }

  #samples(one) {
    const { h, state } = this.ctx;
    const link = (sample) => {
      const one = sample.index === null ? {} : { index: String(sample.index) };
      const at = { ...(sample.id === null ? { place: String(sample.group) } : { group: String(sample.id) }), ...one };
      const patch = { tab: 'samples', run: this.run.id, step: String(sample.step), ...at };
      return h('a', {
        class: 'fi-sample', t: sample.index === null ? 'findings.sample' : 'findings.sample_one',
        vars: { step: sample.step, group: sample.group + 1, index: (sample.index ?? 0) + 1 },
        href: state.link(patch), onclick: (event) => follow(event, patch),
      });
    };
    return h('div', {}, h('p', { class: 'caption', t: 'findings.samples' }), h('p', { class: 'fi-samples' }, one.samples.slice(0, 8).map(link)));
  }
}

/** A mark in the list of runs: how many findings stand. */
export function showCount(node, run, t) {
  const n = run.findings ?? 0;
  node.hidden = n === 0;
  setText(node, n ? `▲ ${n}` : '');
  const words = n ? t(n === 1 ? 'findings.in_runs_1' : 'findings.in_runs', { n }) : '';
  if (node.title !== words) {
    node.title = words;
    node.setAttribute('aria-label', words);
  }
}

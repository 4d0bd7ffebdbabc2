// Probe: the model sampled before it is trained. A probe is a run with the one stage "probe"; this is its form, its
// progress and, once there is one, its report.
import * as api from '../api.js';
import { fill, h, keyed, setText } from '../dom.js';
import { ago, count, duration } from '../format.js';
import { Draft } from '../form/draft.js';
import { readNumber, writeNumber } from '../form/values.js';
import { plural, said } from '../form/words.js';
import { stateBadge, updateBadge } from '../header.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { failed } from './parts.js';
import { probeReport } from './report.js';

const ENDED = new Set(['succeeded', 'failed', 'stopped', 'lost']);
const TICK = 1000;
const FIELDS = ['model', 'max_completion_length', 'temperature', 'probe_prompts', 'probe_completions'];

/** probe-arithmetic-2: what it is, of what, and the first number that is free. */
function freeName(dataset) {
  const stem = `probe-${dataset.replace(/^.*[/\\]/, '').replace(/\.\w+$/, '').slice(0, 40)}`;
  const taken = new Set((runlist.list() ?? []).map((run) => run.name));
  for (let n = 1; ; n++) if (!taken.has(`${stem}-${n}`)) return `${stem}-${n}`;
}

const isProbe = (run) => run.stages.includes('probe');

export class Probe {
  constructor(lab) {
    Object.assign(this, { lab, run: null, id: null, typed: {}, shown: '' });
    this.inputs = Object.fromEntries(FIELDS.map((name) => [name, this.#input(name)]));
    this.model = h('p', { class: 'caption' });
    this.start = h('button', { id: 'lab-probe-start', class: 'btn primary', type: 'button', t: 'lab.probe_start', onclick: () => this.begin() });
    this.refused = h('div', { class: 'lab-notice', 'aria-live': 'polite' });
    this.earlier = h('div', { class: 'lab-earlier' });
    this.none = h('p', { class: 'muted', t: 'lab.probe_none' });
    this.head = h('div', { class: 'lab-probe-head' });
    this.report = h('div', { class: 'lab-report', id: 'lab-probe-report' });
    this.stage = h('section', { class: 'card lab-probe-run', hidden: true }, this.head, this.report);
    this.root = h('section', { id: 'lab-probe', tt: { 'aria-label': 'lab.nav_probe' } },
      h('p', { class: 'muted lab-lead', t: 'lab.probe_lead' }),
      h('div', { class: 'card lab-probe-form' },
        h('div', { class: 'lab-probe-fields' }, FIELDS.map((name) => this.#field(name))),
        this.model, h('div', { class: 'row' }, this.start, this.refused)),
      this.stage,
      h('section', { class: 'lab-sub' }, h('h3', { t: 'lab.probe_earlier' }), this.none, this.earlier));
    this.#parts();
    lab.bench.onChange(() => this.#fields());
    runlist.onChange(() => this.#list());
    onLanguage(() => { this.#list(); this.#fields(); this.#draw(); });
    this.poller = api.poll(() => this.#tick(), TICK);
    this.#list();
  }

  /** Shown (again), or the address changed: the settings of New run may be others now, and so the run. */
  open() {
    this.draft = new Draft(this.lab.schema);
    this.#fields();
    this.#list();
    const { run } = state.get();
    if (run === this.id) return;
    this.id = run ?? null;
    this.run = null;
    this.shown = '';
    this.stage.hidden = true;
    fill(this.report);
    this.poller.now();
  }

  #input(name) {
    const about = this.lab.schema.field(name);
    const numeric = about.type !== 'text';
    const input = h('input', { id: `lab-${name}`, class: numeric ? 'input num' : 'input', type: 'text', inputmode: numeric ? 'decimal' : 'text', autocomplete: 'off', spellcheck: 'false' });
    if (about.suggestions.length) input.setAttribute('list', `lab-${name}-offered`);
    input.addEventListener('input', () => {
      input.removeAttribute('aria-invalid');
      if (input.value.trim() === '') delete this.typed[name];
      else this.typed[name] = numeric ? readNumber(input.value) : input.value.trim();
    });
    return input;
  }

  #field(name) {
    const about = this.lab.schema.field(name);
    return h('div', { class: 'lab-probe-field', data: { field: name } }, h('label', { class: 'caption', htmlFor: `lab-${name}` }, h('span', { t: `lab.field_${name}` })), this.inputs[name],
      about.suggestions.length ? h('datalist', { id: `lab-${name}-offered` }, about.suggestions.map((value) => h('option', { value }))) : null);
  }

  #fields() {
    if (!this.draft) return;
    for (const name of FIELDS) {
      const value = name in this.typed ? this.typed[name] : this.draft.value(name);
      if (document.activeElement !== this.inputs[name]) this.inputs[name].value = typeof value === 'number' ? writeNumber(value) : String(value ?? '');
    }
    const preset = this.lab.schema.preset(this.draft.preset);
    setText(this.model, t('lab.probe_rest', { preset: preset ? t(preset.title) : '–', n: this.draft.changes.length }));
    this.start.disabled = this.starting || !this.lab.bench.ready;
  }

  async begin() {
    const { bench } = this.lab;
    this.draft = new Draft(this.lab.schema);
    const { name: _name, ...rest } = this.draft.values;
    const own = Object.fromEntries(FIELDS.map((name) => [name, name in this.typed ? this.typed[name] : this.draft.value(name)]));
    const values = { ...rest, ...bench.values(), ...own, stages: ['probe'], name: freeName(bench.dataset) };
    this.starting = true;
    this.start.disabled = true;
    fill(this.refused);
    for (const input of Object.values(this.inputs)) input.removeAttribute('aria-invalid');
    try {
      const { run } = await this.#post(values);
      await runlist.refresh();
      state.set({ run: run.id });
    } catch (error) {
      if (error.status === undefined) throw error;
      this.#refused(error);
    } finally {
      this.starting = false;
      this.start.disabled = !bench.ready;
    }
  }

  /** A probe evaluates nothing, so a set that is too small for New run's held-out rows is no reason against it. */
  async #post(values) {
    const { preset } = this.draft;
    const { errors = [] } = await api.post('/api/check', { values, preset });
    const small = errors.length > 0 && errors.every((one) => one.field === 'eval_size');
    return api.post('/api/runs', { values: small ? { ...values, eval_size: 0 } : values, preset });
  }

  /** What speaks against it: at the field where it is one of these, else what the checks of the rewards found. */
  #refused(error) {
    const problems = error.body?.check?.errors ?? [];
    for (const { field } of problems) this.inputs[field]?.setAttribute('aria-invalid', 'true');
    const items = [...problems.map((one) => one.rule), ...(error.body?.preflight?.stops ?? []).map((check) => () => `${t(check.title)}: ${t(check.words)}`)];
    fill(this.refused, h('div', { class: 'notice', data: { level: 'error' }, role: 'alert' },
      h('span', null, items.length ? h('ul', { class: 'lab-plain' }, items.map((one) => h('li', { t: one }))) : h('span', { t: () => said(error) })),
      problems.some(({ field }) => !(field in this.inputs)) ? h('button', { class: 'btn small', type: 'button', t: 'lab.to_new', onclick: () => state.set({ tab: 'new' }) }) : null));
  }

  #parts() {
    this.name = h('h3');
    this.badge = stateBadge({ state: 'queued' });
    this.bar = h('div', { class: 'bar-track lab-track', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100, tt: { 'aria-label': 'stage.probe' } }, h('i'));
    this.status = h('p', { id: 'lab-probe-status', class: 'caption num' });
    this.stop = h('button', { id: 'lab-probe-stop', class: 'btn', type: 'button', t: 'lab.probe_stop', onclick: () => this.#stop() });
    const log = h('a', { class: 'caption', t: 'lab.probe_log', onclick: (event) => state.follow(event, { tab: 'live' }) });
    this.log = log;
    this.why = h('div');
    fill(this.head, h('div', { class: 'row' }, this.name, this.badge, h('span', { class: 'spacer' }), log, this.stop), this.bar, this.status, this.why);
  }

  async #stop() {
    this.stop.disabled = true;
    try {
      await api.post(`/api/runs/${encodeURIComponent(this.id)}/stop`, { now: this.run?.stop_requested === true });
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.why, failed(error));
    }
    this.stop.disabled = false;
    this.poller.now();
  }

  async #tick() {
    if (document.body.dataset.tab !== 'rewards' || this.root.hidden || !this.id) return TICK;
    const { id } = this;
    if (this.run && ENDED.has(this.run.state) && this.shown === this.run.state) return 5 * TICK;
    try {
      const run = await api.get(`/api/runs/${encodeURIComponent(id)}`);
      if (id !== this.id) return TICK;
      if (!isProbe(run)) { this.stage.hidden = true; return 5 * TICK; }
      const moved = !this.run || run.stage_step !== this.run.stage_step || run.state !== this.run.state;
      this.run = run;
      this.#draw();
      if (moved || !this.shown) await this.#ask();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (error.status === 404) { this.id = null; this.stage.hidden = true; }
      return 2 * TICK;
    }
    return TICK;
  }

  async #ask() {
    const { id, run } = this;
    try {
      const report = await api.get(`/api/lab/probe/${encodeURIComponent(id)}`);
      if (id !== this.id) return;
      this.shown = run.state;
      probeReport(this.report, report, { run, ended: ENDED.has(run.state), lab: this.lab });
    } catch (error) {
      if (error.status === undefined) throw error;
      if (id === this.id) fill(this.report, failed(error, () => this.#ask()));
    }
  }

  #draw() {
    const { run } = this;
    if (!run) return;
    const ended = ENDED.has(run.state);
    this.stage.hidden = false;
    setText(this.name, visible(run.name || run.id));
    updateBadge(this.badge, run);
    const probing = run.stage === 'probe' || run.state === 'succeeded';
    const all = run.stage === 'probe' ? run.stage_total : probing ? run.total_steps : run.stage_total;
    const at = run.state === 'succeeded' ? all : run.stage_step ?? 0;
    const share = all ? Math.min(1, at / all) : 0;
    this.bar.hidden = ended;
    this.bar.firstElementChild.style.width = `${100 * share}%`;
    this.bar.setAttribute('aria-valuenow', Math.round(100 * share));
    const stage = run.stage ? t(`stage.${run.stage}`) : t(`state.${run.state}`);
    const parts = [probing ? (all ? t('lab.probe_at', { n: count(at), all: count(all) }) : stage) : all ? `${stage} ${count(at)}/${count(all)}` : stage];
    if (run.elapsed_s !== null) parts.push(t(ended ? 'live.took' : 'live.gone_time', { time: duration(run.elapsed_s) }));
    if (!ended && run.eta_s !== null && run.eta_s !== undefined) parts.push(t('live.left', { time: duration(run.eta_s) }));
    setText(this.status, parts.join(' · '));
    this.stop.hidden = ended;
    this.log.href = state.link({ tab: 'live' });
    const reason = run.reason_text ?? run.reason;
    fill(this.why, ended && run.state !== 'succeeded' && reason ? h('div', { class: 'notice', data: { level: run.state === 'stopped' ? 'warn' : 'error' } }, h('span', { t: reason })) : null);
  }

  #list() {
    const runs = (runlist.list() ?? []).filter(isProbe);
    this.none.hidden = runs.length > 0;
    keyed(this.earlier, runs, (run) => run.id, (run) => h('a', { class: 'lab-earlier-run', href: '#', onclick: (event) => state.follow(event, () => {
      state.set({ run: run.id });
      this.stage.scrollIntoView({ block: 'nearest' });
    }) }, h('span', { class: 'strong' }), stateBadge(run), h('span', { class: 'caption' })), (node, run) => {
      node.href = state.link({ run: run.id });
      setText(node.firstElementChild, visible(run.name || run.id));
      updateBadge(node.children[1], run);
      setText(node.lastElementChild, [visible(run.model ?? ''), visible(run.dataset ?? ''), run.total_steps ? plural('lab.n_prompts', run.total_steps) : '', ago(run.created_at)].filter(Boolean).join(' · '));
      if (run.id === this.id) node.setAttribute('aria-current', 'true');
      else node.removeAttribute('aria-current');
    });
  }
}

// The top of the page: what the run is called, whether it learns, and what may be done with it.
import { plain } from '../plain.js';
import { stateBadge, updateBadge } from '../header.js';
import { kindOf } from '../runs/columns.js';
import { follow } from '../state.js';

export class Top {
  /** `onSaid(run, answer)`: after each sentence. */
  constructor(root, ctx, onChange, onSaid = () => {}) {
    Object.assign(this, { ctx, onChange, onSaid, run: null, key: '', asked: 0, wait: 0, step: null });
    const { h } = ctx;
    this.name = h('h1', { id: 'live-name' });
    this.badge = stateBadge({ state: 'queued' });
    this.attempt = h('span', { class: 'caption' });
    this.kind = h('a', { id: 'live-kind', class: 'caption', hidden: true, onclick: (event) => this.run?.of && follow(event, { run: this.run.of.id }) });
    this.actions = h('div', { class: 'row actions' });
    this.sentence = h('p', { id: 'live-headline', class: 'headline', 'aria-live': 'polite' });
    this.said = h('div', { class: 'fi-said' }, this.sentence);
    this.banner = h('div', { id: 'live-banner' });
    ctx.i18n.onLanguage(() => this.run && this.#kind());
    root.append(
      h('div', { class: 'live-top' }, h('div', { class: 'row title' }, this.name, this.badge, this.kind, this.attempt), this.actions),
      this.said, this.banner);
  }

  /** After each tick; `attempts` is [[attempt, resume_step], ...]. */
  draw(run, attempts) {
    const { ctx } = this;
    this.run = run;
    const name = run.name || run.id;
    if (this.shown !== name) ctx.dom.fill(this.name, plain(name, ctx.h));
    this.shown = name;
    updateBadge(this.badge, run);
    this.#kind();
    const last = attempts?.[attempts.length - 1];
    if (run.attempt > 1 && last) ctx.i18n.label(this.attempt, 'live.attempt', { n: run.attempt, step: last[1] });
    else ctx.dom.fill(this.attempt);
    const key = JSON.stringify([run.state, !run.stage, run.can, run.stop_requested, run.reason, run.id, run.queue]);
    if (key === this.key) return;
    this.key = key;
    this.#buttons(run);
    this.#banner(run);
  }

  /** What a run that is no training is, with the way to the run that it is of. */
  #kind() {
    const { run, kind, ctx } = this;
    ctx.dom.setText(kind, kindOf(run));
    kind.hidden = kind.textContent === '';
    if (run.of && run.of.name !== null) kind.href = ctx.state.link({ run: run.of.id });
    else kind.removeAttribute('href');
  }

  #buttons(run) {
    const { ctx } = this;
    const { h } = ctx;
    const act = (path, body) => async (event) => {
      event.currentTarget.disabled = true;
      await this.#post(run.id, path, body);
    };
    const asked = run.stop_requested || run.state === 'stopping';
    const buttons = [];
    if (run.can.stop && !asked) {
      const word = run.state === 'queued' ? 'live.cancel_queue' : run.kind === 'evaluate' ? 'evaluate.stop' : run.kind === 'probe' ? 'lab.probe_stop' : 'live.stop';
      buttons.push(h('button', { id: 'live-stop', class: 'btn', type: 'button', t: word, onclick: act('stop', { now: false }) }));
    } else if (run.can.stop_now && asked) {
      const end = async () => {
        const sure = await ctx.confirm({ title: 'live.stop_now_title', body: 'live.stop_now_body', action: 'live.stop_now' });
        if (sure) await this.#post(run.id, 'stop', { now: true });
      };
      buttons.push(h('button', { id: 'live-stop-now', class: 'btn danger', type: 'button', t: 'live.stop_now', onclick: end }));
    }
    if (run.can.resume) buttons.push(h('button', { id: 'live-resume', class: 'btn primary', type: 'button', t: run.kind === 'evaluate' ? 'evaluate.resume' : 'live.resume', onclick: act('resume', {}) }));
    const to = (id, t, patch) => h('a', { id, class: 'btn', t, href: ctx.state.link({ run: run.id, ...patch }), onclick: (event) => follow(event, patch) });
    if (run.kind !== 'evaluate') buttons.push(to('live-samples', 'samples.open', { tab: 'samples' }));
    if (run.kind === 'evaluate' && run.of?.name) buttons.push(to('live-evaluate', 'live.evaluate', { run: run.of.id, tab: 'evaluate', evaluation: run.id }));
    else if (run.kind !== 'probe') buttons.push(to('live-evaluate', 'live.evaluate', { tab: 'evaluate' }));
    if (!['probe', 'evaluate'].includes(run.kind)) {
      buttons.push(to('live-compare', 'compare.open', { tab: 'compare', runs: run.id }), to('live-chat', 'chat.open', { tab: 'chat' }), to('live-files', 'exports.open', { tab: 'runs', files: '1' }));
    }
    ctx.dom.fill(this.actions, buttons);
  }

  async #post(id, path, body) {
    const { api, toast } = this.ctx;
    try {
      await api.post(`/api/runs/${encodeURIComponent(id)}/${path}`, body);
    } catch (error) {
      toast(error.error ?? String(error), 'error');
    }
    this.key = '';
    this.onChange();
  }

  #banner(run) {
    const { ctx } = this;
    const { h } = ctx;
    const reason = run.reason_text ?? run.reason ?? '';
    const notice = (level, t, vars, ...more) => h('div', { class: 'notice', data: { level } }, h('span', {}, h('span', { t, vars }), more));
    let content = null;
    if (run.state === 'queued') content = run.queue ? notice('info', 'sweeps.live_place', run.queue) : notice('info', 'live.queued');
    else if (run.state === 'starting' || (run.state === 'running' && !run.stage)) content = notice('info', 'live.starting');
    else if (run.state === 'stopping') content = notice('warn', 'live.stopping');
    else if (run.state === 'failed') content = notice('error', reason ? 'live.failed_why' : 'live.failed', { reason });
    else if (run.state === 'lost') content = notice('error', reason ? 'live.lost_why' : 'live.lost', { reason });
    ctx.dom.fill(this.banner, content);
    if (run.state === 'failed') this.#lastLines(run.id);
  }

  async #lastLines(id) {
    const { api, h } = this.ctx;
    try {
      const { log_tail: tail } = await api.get(`/api/runs/${encodeURIComponent(id)}`);
      if (!tail || this.run?.id !== id || this.run.state !== 'failed') return;
      const lines = tail.split('\n').slice(-12).join('\n');
      this.banner.firstElementChild?.querySelector('span')?.append(
        h('details', {}, h('summary', { class: 'caption', t: 'live.last_lines' }), h('pre', { class: 'mono tail' }, plain(lines, h))));
    } catch (error) {
      if (error.status !== 404) console.warn(error.message);
    }
  }

  /** Ask for the sentence when the run moved, and never more than a tenth of the time it costs. */
  async headline(run, force = false) {
    const { api, dom, i18n } = this.ctx;
    // An ended run's row changes when its records have been judged (again).
    const moved = JSON.stringify([run.id, run.last_step, run.state, run.stage, run.ended_at ? run.revision : 0]);
    if (!force && (moved === this.step || performance.now() - this.asked < this.wait)) return;
    this.asked = performance.now();
    this.wait = 60_000;
    try {
      const answer = await api.get(`/api/runs/${encodeURIComponent(run.id)}/headline`);
      if (this.run?.id !== run.id) return;
      this.step = moved;
      i18n.label(this.sentence, answer.text);
      this.sentence.dataset.verdict = answer.verdict;
      this.onSaid(run, answer);
    } catch (error) {
      if (error.status && this.run?.id === run.id) dom.fill(this.sentence);
    }
    this.wait = Math.max(2500, 10 * (performance.now() - this.asked));
  }

  /** Another run is opened: an answer about this one that is still under way is not said of that one. */
  forget() {
    this.run = null;
    this.key = '';
    this.step = null;
    this.wait = 0;
    this.ctx.dom.fill(this.sentence);
    delete this.sentence.dataset.verdict;
  }
}

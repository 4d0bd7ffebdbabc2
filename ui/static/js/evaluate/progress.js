// An evaluation on its way: which side, how many rows, how long still; Stop and Resume; and why one failed.
import * as api from '../api.js';
import { fill, h, setText } from '../dom.js';
import { count, duration } from '../format.js';
import { stateBadge, updateBadge } from '../header.js';
import { label, onLanguage, t } from '../i18n.js';
import { failed } from '../lab/parts.js';
import * as state from '../state.js';

const ENDED = new Set(['succeeded', 'failed', 'stopped', 'lost']);
export const ended = (run) => ENDED.has(run.state);

/** Whether a side has begun to answer: the stages before it only make the model. */
const answered = (run) => Boolean(run.stage?.startsWith('evaluate_') && (run.stage_step || run.stage !== 'evaluate_base'));

export class Progress {
  constructor(onChange) {
    this.onChange = onChange;
    this.badge = stateBadge({ state: 'queued' });
    this.status = h('p', { id: 'evaluate-status', class: 'num ev-status', 'aria-live': 'off' });
    this.bar = h('div', { class: 'bar-track', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100, tt: { 'aria-label': 'evaluate.progress' } }, h('i'));
    this.stop = h('button', { id: 'evaluate-stop', class: 'btn', type: 'button', t: 'evaluate.stop', onclick: () => this.#post('stop', { now: this.run.stop_requested === true || this.run.state === 'stopping' }) });
    this.resume = h('button', { id: 'evaluate-resume', class: 'btn primary', type: 'button', t: 'evaluate.resume', onclick: () => this.#post('resume') });
    this.log = h('a', { class: 'caption', t: 'evaluate.log', onclick: (event) => state.follow(event, { run: this.run.id, tab: 'live' }) });
    this.why = h('div');
    this.root = h('section', { class: 'card ev-progress', id: 'evaluate-progress', hidden: true, tt: { 'aria-label': 'evaluate.progress' } },
      h('div', { class: 'row' }, this.badge, this.status, h('span', { class: 'spacer' }), this.log, this.stop, this.resume), this.bar, this.why);
    onLanguage(() => this.run && this.draw(this.run));
  }

  /** `run`: view of the evaluation, or null for what a run measured itself. One that went well needs no words. */
  draw(run) {
    if (run?.id !== this.run?.id) fill(this.why);
    this.run = run;
    this.root.hidden = !run || run.state === 'succeeded';
    if (this.root.hidden) return;
    const over = ended(run);
    updateBadge(this.badge, run);
    const at = run.stages.indexOf(run.stage);
    const share = run.stage_total ? Math.min(1, run.stage_step / run.stage_total) : 0;
    const whole = at < 0 ? 0 : (at + share) / run.stages.length;
    this.bar.hidden = over;
    this.bar.firstElementChild.style.width = `${(100 * whole).toFixed(1)}%`;
    this.bar.setAttribute('aria-valuenow', Math.round(100 * whole));
    const parts = [];
    const asked = !over && (run.stop_requested || run.state === 'stopping');
    if (asked) parts.push(t(run.stage && run.stage_step ? 'evaluate.stopping' : 'evaluate.stopping_load'));
    else if (run.stage && !over) parts.push(`${t(`stage.${run.stage}`)}${run.stage_total ? ` ${count(run.stage_step)}/${count(run.stage_total)}` : ''}`);
    else if (run.state === 'queued') parts.push(t('evaluate.queued'));
    else if (run.state === 'starting' || run.state === 'running') parts.push(t('evaluate.loading'));
    if (run.elapsed_s !== null && run.elapsed_s !== undefined) parts.push(t(over ? 'live.took' : 'live.gone_time', { time: duration(run.elapsed_s) }));
    if (!over && run.eta_s !== null && run.eta_s !== undefined) parts.push(t('live.left', { time: duration(run.eta_s) }));
    setText(this.status, parts.join(' · '));
    label(this.stop, asked ? 'evaluate.stop_now' : run.state === 'queued' ? 'evaluate.stop_queued' : 'evaluate.stop');
    this.stop.hidden = over || !(run.can.stop || run.can.stop_now);
    this.resume.hidden = !run.can.resume;
    this.log.href = state.link({ run: run.id, tab: 'live' });
    const reason = over ? run.reason_text ?? run.reason : null;
    const key = JSON.stringify([run.id, run.state, reason]);
    if (key !== this.said) {
      this.said = key;
      fill(this.why, reason ? h('div', { class: 'notice', role: 'alert', data: { level: run.state === 'stopped' ? 'warn' : 'error' } }, h('span', { t: reason })) : run.state === 'stopped' ? h('p', { class: 'muted', t: answered(run) ? 'evaluate.stopped' : 'evaluate.stopped_empty', vars: { stage: () => t(`stage.${run.stage}`), done: count(run.stage_step), total: count(run.stage_total) } }) : null);
    }
  }

  async #post(path, body = {}) {
    const button = path === 'stop' ? this.stop : this.resume;
    button.disabled = true;
    try {
      await api.post(`/api/runs/${encodeURIComponent(this.run.id)}/${path}`, body);
      fill(this.why);
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.why, failed(error));
    }
    this.said = null;
    button.disabled = false;
    // The button that was pressed may go away: the keyboard stays with the card.
    this.root.tabIndex = -1;
    this.root.focus({ preventScroll: true });
    this.onChange();
  }
}

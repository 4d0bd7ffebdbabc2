// The control: the same run, its rewards shuffled inside each group, so that nothing can be learnt from them. What it
// gains all the same was not taught by the rewards.
import * as api from '../api.js';
import * as demo from '../demo.js';
import { fill, h, setText } from '../dom.js';
import { count, duration } from '../format.js';
import { stateBadge, updateBadge } from '../header.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { between, change, head, known, moved, points } from './parts.js';
import { about, intervals } from './plot.js';
import { failed } from '../lab/parts.js';

const ENDED = new Set(['succeeded', 'failed', 'stopped', 'lost']);

export class Control {
  /** `onStart()`: after a control was queued. */
  constructor(onStart) {
    this.onStart = onStart;
    this.start = h('button', { id: 'evaluate-control', class: 'btn', type: 'button', t: 'evaluate.control_start', onclick: () => this.#begin() });
    this.cost = h('span', { class: 'caption num' });
    this.refused = h('div');
    this.offer = h('div', { class: 'row' }, this.start, this.cost);
    this.badge = stateBadge({ state: 'queued' });
    this.link = h('a', { onclick: (event) => state.follow(event, { run: this.run.id, tab: 'live' }) });
    this.status = h('span', { class: 'caption num' });
    this.line = h('div', { class: 'row', id: 'evaluate-control-run', hidden: true }, this.badge, this.link, this.status);
    this.why = h('div');
    this.result = h('div', { class: 'ev-control-result' });
    this.root = h('section', { class: 'card', id: 'evaluate-controls', tt: { 'aria-label': 'evaluate.control' } }, head('evaluate.control'), h('p', { class: 'muted', t: 'evaluate.control_lead' }), this.offer, this.refused, this.line, this.why, this.result);
    onLanguage(() => this.trained && this.draw(this.trained, this.controls, this.report, this.own));
  }

  /** `trained`: view of the run; `controls`: its controls, newest first; `report`: the comparison, or null; `own`:
   *  whether the run has measured a gain of its own, without which there is nothing to hold a control against. */
  draw(trained, controls, report, own) {
    Object.assign(this, { trained, controls, report, own });
    const may = own && !demo.get()?.demo && trained && ENDED.has(trained.state) && trained.kind === 'train' && trained.stages.includes('grpo');
    this.root.hidden = !trained || (!may && controls.length === 0 && !report?.sentence);
    if (this.root.hidden) return;
    if (this.of !== trained.id) fill(this.refused);
    this.of = trained.id;
    const [run] = controls;
    const going = run && !ENDED.has(run.state);
    this.offer.hidden = !may || Boolean(going) || run?.state === 'succeeded';
    const costs = report?.estimate_s ?? trained.elapsed_s;
    setText(this.cost, known(costs) ? t('evaluate.control_cost', { time: duration(costs) }) : '');
    this.run = run;
    this.line.hidden = !run;
    if (run) {
      updateBadge(this.badge, run);
      setText(this.link, visible(run.name || run.id));
      this.link.href = state.link({ run: run.id, tab: 'live' });
      const parts = [going && run.total_steps ? t('live.progress', { step: count(run.last_step), total: count(run.total_steps) }) : '', going && known(run.eta_s) ? t('live.left', { time: duration(run.eta_s) }) : ''];
      setText(this.status, parts.filter(Boolean).join(' · '));
    }
    const reason = run && ['failed', 'lost'].includes(run.state) ? run.reason_text ?? run.reason : null;
    fill(this.why, reason ? h('div', { class: 'notice', data: { level: 'error' } }, h('span', { t: reason })) : null);
    this.#result(report);
  }

  #result(report) {
    const gains = ['run_gain', 'control_gain', 'difference'].filter((name) => known(report?.[name]?.difference));
    if (!moved(this, [report, gains])) return;
    // By name: on the control's own page "this run" would be the wrong one.
    const title = (name) => () => t(`evaluate.${name}`, { name: visible(report.name ?? report.run ?? '') });
    if (!report?.sentence && !gains.length) return void fill(this.result);
    fill(this.result, report.sentence ? h('p', { class: 'ev-said strong', t: report.sentence }) : null,
      gains.length ? intervals(gains.map((name) => ({ name, title: title(name), marks: [{ kind: name === 'control_gain' ? 'base' : name === 'run_gain' ? 'trained' : 'difference', ...report[name], value: report[name].difference, words: () => words(report[name]) }] })),
        about(gains.flatMap((name) => [report[name].difference, report[name].low, report[name].high]), (at) => (at === 0 ? '0' : points(at).replace(/\.0$/, '')))) : null,
      h('ul', { class: 'ev-plain caption num' }, gains.map((name) => h('li', null, h('span', { class: 'strong', t: title(name) }), ': ', h('span', { t: () => words(report[name]) })))));
  }

  async #begin() {
    this.start.disabled = true;
    fill(this.refused);
    try {
      await api.post(`/api/runs/${encodeURIComponent(this.trained.id)}/control`);
      await runlist.refresh();
      this.onStart();
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.refused, failed(error));
    } finally {
      this.start.disabled = false;
    }
  }
}

const words = (one) => [change('accuracy', one.difference), between('accuracy', [one.low, one.high], true) && `(${between('accuracy', [one.low, one.high], true)})`].filter(Boolean).join(' ');

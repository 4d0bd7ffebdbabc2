// One sweep: where it stands, what can be done with it as a whole, the sentence, the table, the plot.
import * as api from '../api.js';
import * as demo from '../demo.js';
import { confirm, fill, h, setText, toast } from '../dom.js';
import { duration, percent } from '../format.js';
import { stateBadge, updateBadge } from '../header.js';
import { label, onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { over } from './list.js';
import { ended, link, plural } from './parts.js';
import { Plot } from './plot.js';
import { Table } from './table.js';

export class One {
  /** `onChange()`: after something was done, look again. */
  constructor(onChange) {
    Object.assign(this, { onChange, id: null, sweep: null, turn: 0, looking: null, leaving: null });
    this.name = h('h1', { id: 'sweep-name' });
    this.badge = stateBadge({ state: 'queued' });
    this.about = h('p', { class: 'caption sw-about', 'data-exact': '' });
    this.actions = h('div', { class: 'row actions', id: 'sweep-actions' });
    this.bar = h('i');
    this.track = h('div', { class: 'bar-track', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100, tt: { 'aria-label': 'sweeps.progress' } }, this.bar);
    this.counts = h('p', { class: 'caption num', id: 'sweep-counts', 'aria-live': 'polite' });
    this.sentence = h('p', { class: 'headline', id: 'sweep-best', 'aria-live': 'polite' });
    this.out = h('details', { class: 'sw-left-out', hidden: true }, h('summary'), h('ul'));
    this.table = new Table((at) => this.#follow(at));
    this.plot = new Plot((at) => this.#follow(at));
    this.view = h('div', { class: 'sw-one' },
      h('div', { class: 'sw-top' }, h('div', { class: 'row title' }, this.name, this.badge), this.actions),
      this.about, this.track, this.counts, this.sentence, this.out, this.table.root, this.plot.root);
    this.gone = h('div', { class: 'empty', id: 'sweep-gone', hidden: true }, h('h2', { t: 'sweeps.gone' }), h('p', { t: 'sweeps.gone_body' }), link({ tab: 'sweeps', sweep: null }, { class: 'btn', t: 'sweeps.all' }));
    this.root = h('div', { hidden: true }, h('p', null, link({ tab: 'sweeps', sweep: null }, { t: 'sweeps.all', class: 'caption' })), this.gone, this.view);
    onLanguage(() => this.sweep && this.draw(this.sweep));
    addEventListener('studio:theme', () => this.sweep && this.plot.draw(this.sweep, true));
  }

  /** Ask for the sweep and draw it; whether it goes on. Not while it is being deleted: the answer may be that it is gone. */
  async look(id) {
    if (id === this.leaving) return true;
    this.looking = this.#look(id);
    return this.looking;
  }

  async #look(id) {
    const { turn } = this;
    try {
      const sweep = await api.get(`/api/sweeps/${encodeURIComponent(id)}`);
      // An answer from before something was done would offer again what was just pressed.
      if (state.get().sweep !== id || turn !== this.turn) return true;
      this.id = id;
      this.draw(sweep);
      return !ended(sweep);
    } catch (error) {
      if (error.status !== 404) throw error;
      this.id = id;
      this.sweep = null;
      this.gone.hidden = false;
      this.view.hidden = true;
      return false;
    }
  }

  draw(sweep) {
    this.sweep = sweep;
    this.gone.hidden = true;
    this.view.hidden = false;
    setText(this.name, visible(sweep.name));
    updateBadge(this.badge, sweep);
    setText(this.about, [sweep.preset ? t('sweeps.of_preset', { name: sweep.preset }) : sweep.from ? t('sweeps.of_run', { name: visible(runlist.find(sweep.from)?.name || sweep.from) }) : null, over(sweep)].filter(Boolean).join(' · '));
    this.bar.style.width = percent(sweep.done, 1);
    this.track.setAttribute('aria-valuenow', Math.round(100 * sweep.done));
    const words = Object.entries(sweep.counts).map(([name, n]) => t('sweeps.count_state', { n, state: t(name === 'missing' ? 'sweeps.missing' : `state.${name}`) }));
    if (sweep.eta_s !== null) words.push(t('sweeps.left', { time: duration(sweep.eta_s) }));
    setText(this.counts, words.join(' · '));
    label(this.sentence, sweep.best.words);
    this.#leftOut(sweep.left_out ?? []);
    this.#buttons(sweep);
    this.table.draw(sweep);
    this.plot.draw(sweep);
  }

  #leftOut(points) {
    this.out.hidden = points.length === 0;
    if (!points.length) return;
    setText(this.out.firstChild, plural('sweeps.left_out', points.length));
    fill(this.out.lastChild, points.map((point) => h('li', null, h('code', null, point.label), ' ', point.errors.map((error) => `${error.field}: ${t(error.rule)}`).join('; '))));
  }

  #buttons(sweep) {
    const mine = !demo.get()?.demo;
    const runs = sweep.rows.filter((row) => row.run && row.measures).map((row) => row.run.id);
    const key = JSON.stringify([sweep.id, sweep.can, runs, mine]);
    if (key === this.key) return;
    this.key = key;
    const act = (path, body) => async (event) => {
      event.currentTarget.disabled = true;
      await this.#post(path, body);
    };
    const press = (id, t_, onclick, more = {}) => h('button', { id, class: 'btn', type: 'button', t: t_, onclick, ...more });
    fill(this.actions,
      mine && sweep.can.stop ? press('sweep-stop', 'sweeps.stop', act('stop', {}), { tt: { title: 'sweeps.stop_title' } }) : null,
      mine && !sweep.can.stop && sweep.can.stop_now ? press('sweep-stop-now', 'sweeps.stop_now', act('stop', { now: true }), { class: 'btn danger' }) : null,
      mine && sweep.can.resume ? press('sweep-resume', 'sweeps.resume', act('resume', {}), { class: 'btn primary', tt: { title: 'sweeps.resume_title' } }) : null,
      mine && sweep.can.retry ? press('sweep-retry', 'sweeps.retry', act('resume', { failed: true })) : null,
      runs.length > 1 ? link({ tab: 'compare', runs: runs.join(',') }, { class: 'btn', id: 'sweep-compare', t: 'sweeps.compare' }) : null,
      h('a', { class: 'btn', id: 'sweep-csv', t: 'sweeps.csv', tt: { title: 'sweeps.csv_title' }, href: `/api/sweeps/${encodeURIComponent(sweep.id)}/results.csv`, download: '' }),
      mine && sweep.can.delete ? press('sweep-delete', 'sweeps.delete', () => this.#delete(), { class: 'btn ghost' }) : null);
  }

  async #post(path, body) {
    this.turn += 1;
    try {
      const answer = await api.post(`/api/sweeps/${encodeURIComponent(this.id)}/${path}`, body);
      this.turn += 1;
      for (const one of answer.refused ?? []) toast(() => t('sweeps.not_resumed', { what: `${one.label}: ${t(one.words)}` }), 'error');
      if (state.get().sweep === answer.id) this.draw(answer);
    } catch (error) {
      toast(error.error ?? String(error), 'error');
    }
    this.key = '';
    runlist.refresh();
    this.onChange();
  }

  async #delete() {
    if (!(await confirm({ title: 'sweeps.delete_title', body: 'sweeps.delete_body', vars: { name: visible(this.sweep.name) }, action: 'sweeps.delete_yes' }))) return;
    this.leaving = this.id;
    try {
      await this.looking?.catch(() => {});
      await api.del(`/api/sweeps/${encodeURIComponent(this.id)}`);
      toast('sweeps.deleted');
      runlist.refresh();
      state.set({ sweep: null });
    } catch (error) {
      toast(error.error ?? String(error), 'error');
    } finally {
      this.leaving = null;
    }
  }

  /** A setting is pointed at, in the table or in the plot; null: none. */
  #follow(at) {
    this.table.mark(at);
    this.plot.mark(at);
  }
}

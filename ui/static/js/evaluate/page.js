// Evaluate: did it get better, and can that be believed? The sentence on top, the evidence under it, the problems last.
import * as demo from '../demo.js';
import { RunFrame } from '../runframe.js';
import { follow } from '../state.js';
import { Breakdown } from './breakdown.js';
import { Control } from './control.js';
import { Form } from './form.js';
import { Jump } from './jump.js';
import { Plot } from './plot.js';
import { Problems } from './problems.js';
import { Progress, ended } from './progress.js';
import { Proof } from './proof.js';
import { Table } from './table.js';
import { Timeline } from './timeline.js';
import { Shift } from './tokens.js';
import { Top } from './top.js';

const TICK = 1000;
const IDLE = 5000; // an evaluation may be started from elsewhere

export function mount(root, ctx) {
  new Page(root, ctx);
}

class Page {
  constructor(root, ctx) {
    Object.assign(this, { ctx, asked: {} });
    const { h } = ctx;
    this.#forget();
    this.view = h('div', { id: 'evaluate-view', class: 'ev-page', hidden: true });
    this.top = new Top(() => this.#fold(this.form.root.hidden));
    this.form = new Form(() => { this.#fold(false); this.progress.root.tabIndex = -1; this.toProgress = true; this.poller.now(); });
    this.progress = new Progress(() => this.poller.now());
    this.none = h('div', { class: 'ev-none', id: 'evaluate-none', hidden: true });
    this.table = new Table();
    this.plot = new Plot();
    this.breakdown = new Breakdown();
    this.proof = new Proof();
    this.shift = new Shift();
    this.timeline = new Timeline();
    this.control = new Control(() => this.poller.now());
    this.problems = new Problems();
    this.measured = h('div', { class: 'ev-measured', id: 'evaluate-measured' }, this.table.root, h('div', { class: 'ev-beside' }, this.plot.root, this.table.facts));
    this.found = [this.measured, this.breakdown.root, this.proof.root, this.shift.root];
    this.jump = new Jump([['evaluate.table', this.measured], ['evaluate.to_breakdown', this.breakdown.root], ['evaluate.proof', this.proof.root], ['evaluate.shift', this.shift.root], ['evaluate.timeline', this.timeline.root], ['evaluate.control', this.control.root], ['evaluate.problems', this.problems.root]]);
    this.view.append(this.top.root, this.form.root, this.progress.root, this.top.sentence, this.jump.root, this.top.warnings, this.none, ...this.found, this.timeline.root, this.control.root, this.problems.root);
    this.frame = new RunFrame(ctx, root, 'evaluate', this.view, { quickstart: 'evaluate-quickstart' });
    ctx.state.onChange(() => this.poller.now());
    ctx.onTab(() => ctx.isOpen('evaluate') && this.poller.now());
    this.poller = ctx.api.poll(() => this.#tick(), TICK);
  }

  #forget() {
    Object.assign(this, { run: null, overview: null, report: null, refused: null, key: '', curve: null, curveKey: '', compared: null, comparedKey: '', ticks: 0, folded: null });
  }

  #fold(open) {
    this.form.root.hidden = !open;
    this.folded = !open;
    this.top.mark(open);
    if (open) this.form.root.querySelector('input:checked, input:not([type=radio])')?.focus();
  }

  #address() {
    const { run, evaluation } = this.ctx.state.get();
    return `${run}/${evaluation}`;
  }

  async #tick() {
    if (!this.ctx.isOpen('evaluate')) return TICK;
    const { run } = this.ctx.state.get();
    const address = this.#address();
    let wait = IDLE;
    try {
      if (!run) return this.#without(null);
      if (run !== this.run) {
        this.#forget();
        this.run = run;
        this.frame.show('loading');
      }
      wait = await this.#look(run);
      this.frame.online(true);
    } catch (error) {
      if (error.status === undefined) throw error;
      if (error.status === 404) return this.#without(run);
      this.frame.online(false);
      wait = 2 * TICK;
    }
    return address === this.#address() ? wait : 0; // the address moved meanwhile: look again at once
  }

  /** No run is chosen (`run` null), or it is gone. */
  #without(run) {
    this.frame.online(true);
    this.#forget();
    this.run = run;
    if (run === null) this.frame.none('evaluate.none', 'evaluate.none_body');
    else this.frame.gone();
    return IDLE;
  }

  /** One look at the server; the milliseconds until the next. */
  async #look(run) {
    const { api } = this.ctx;
    this.ticks += 1;
    const overview = await api.get(`/api/runs/${encodeURIComponent(run)}/evaluations`);
    const chosen = this.#chosen(run, overview);
    const one = overview.evaluations.find((each) => each.id === chosen) ?? null;
    const trained = overview.run ?? one ?? overview.evaluations[0];
    await this.#report(chosen === 'own' ? trained : one);
    if (overview.run) await this.#beside(overview);
    if (this.ctx.state.get().run !== run) return 0;
    this.#draw(overview, trained, chosen, one);
    const going = [one, overview.run, ...overview.controls].some((each) => each && !ended(each));
    return going ? TICK : IDLE;
  }

  /** What can be done with a run that has nothing to evaluate: go on with it, or see why it ended. */
  #ways(run) {
    const { h, api, state, toast, runlist } = this.ctx;
    const resume = async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      try {
        await api.post(`/api/runs/${encodeURIComponent(run.id)}/resume`, {});
        await runlist.refresh();
        state.set({ run: run.id, tab: 'live' });
      } catch (error) {
        toast(error.error ?? String(error), 'error');
      }
      button.disabled = false;
    };
    return h('div', { class: 'row' },
      run.can.resume ? h('button', { id: 'evaluate-run-resume', class: 'btn', type: 'button', t: 'runs.resume', onclick: resume }) : null,
      h('a', { class: 'btn', t: 'evaluate.run_log', href: state.link({ run: run.id, tab: 'live' }), onclick: (event) => follow(event, { run: run.id, tab: 'live' }) }));
  }

  #chosen(run, { evaluations, own }) {
    const { evaluation } = this.ctx.state.get();
    if (evaluation === 'own' && own) return 'own';
    return (evaluations.find((one) => one.id === (evaluation ?? run)) ?? evaluations[0])?.id ?? (own ? 'own' : null);
  }

  /** The report, asked for again when there may be more in it. */
  async #report(source) {
    const { api } = this.ctx;
    const key = source ? [source.id, source.state, source.stage, source.attempt].join() : '';
    const grows = source && source.kind === 'run' && !ended(source) && this.report?.trained && this.ticks % 5 === 0;
    if (key === this.key && !grows) return;
    try {
      this.report = source ? await api.get(`/api/runs/${encodeURIComponent(source.id)}/evaluation`) : null;
      this.refused = null;
    } catch (error) {
      if (!error.status || error.status >= 500) throw error;
      this.report = null;
      this.refused = error.error; // nothing to compare, or not yet: in words
    }
    this.key = key;
  }

  /** What belongs to the trained run itself: accuracy while it trained, and its control. */
  async #beside({ run, controls }) {
    const { api } = this.ctx;
    const path = `/api/runs/${encodeURIComponent(run.id)}`;
    const slow = this.ticks % 5 === 0;
    const curve = [run.id, run.state, run.stage].join();
    if (curve !== this.curveKey || (!ended(run) && slow)) this.curve = await ask(api, `${path}/timeline`);
    this.curveKey = curve;
    const compared = [run.id, controls.map((one) => [one.id, one.state])].join();
    if (compared !== this.comparedKey) this.compared = controls.length || run.kind === 'control' ? await ask(api, `${path}/control`) : null;
    this.comparedKey = compared;
  }

  #draw(overview, trained, chosen, one) {
    const { h, dom } = this.ctx;
    this.overview = overview;
    this.top.draw(trained, overview, chosen, barren(overview) || Boolean(demo.get()?.demo)); // a public Space trains, and evaluates nothing
    const heldOut = (overview.run?.settings?.eval_size ?? 0) > 0;
    if (overview.run) this.form.use(overview.run, overview.checkpoints, heldOut);
    if (this.folded === null) {
      this.folded = Boolean(chosen) || !overview.run || barren(overview);
      this.form.root.hidden = this.folded;
      this.top.mark(!this.folded);
    }
    this.progress.draw(one);
    if (this.toProgress && !this.progress.root.hidden) {
      this.toProgress = false;
      this.progress.root.focus({ preventScroll: true }); // the form that was sent is gone
    }
    const { report } = this;
    const measured = Boolean(report?.base || report?.trained) && (!one || ended(one) || Boolean(report.base && report.trained));
    this.top.say(report?.base || report?.trained ? report : null);
    for (const part of this.found) part.hidden = !measured;
    if (measured) for (const part of [this.table, this.plot, this.breakdown, this.proof, this.shift]) part.draw(report);
    else if (report?.adapter || report?.padding) this.proof.draw(report); // why it failed can be seen here
    this.problems.root.hidden = !measured || !report.paired;
    if (!this.problems.root.hidden) this.problems.draw(report.run, this.key, report.paired);
    if (overview.run) this.timeline.draw(overview.run.id, this.curve);
    else this.timeline.root.hidden = true;
    this.control.draw(overview.run, overview.controls, this.compared, overview.own);
    const first = () => (barren(overview) ? (overview.run.kind === 'probe' ? 'evaluate.probe_run' : overview.run.state === 'failed' ? 'evaluate.failed_run' : 'evaluate.ended_run') : !heldOut ? 'evaluate.no_rows' : ended(overview.run) ? 'evaluate.first_over' : 'evaluate.first');
    const words = measured ? null : one && !ended(one) ? (one.stop_requested || one.state === 'stopping' ? null : 'evaluate.soon') : !chosen ? first() : one ? this.refused : this.refused ?? first();
    this.none.hidden = !words;
    const key = JSON.stringify([words, overview.run?.id, overview.run?.can.resume]);
    if (this.said !== key) dom.fill(this.none, words ? h('p', { class: 'muted', t: words }) : null, words && !chosen && barren(overview) ? this.#ways(overview.run) : null);
    this.said = key;
    this.jump.draw();
    this.frame.show('view');
  }
}

/** A run that has ended and left nothing that could be evaluated. */
const barren = ({ run, checkpoints, own }) => Boolean(run) && ended(run) && checkpoints.length === 0 && !own;

/** An answer that the page can do without: null where it is refused. */
async function ask(api, path) {
  try {
    return await api.get(path);
  } catch (error) {
    if (!error.status || error.status >= 500) throw error;
    return null;
  }
}

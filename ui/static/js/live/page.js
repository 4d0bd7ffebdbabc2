// The live page: one history, then only what is new. Ticks stop with the page hidden, slow down once the run has ended.
import { Findings } from '../findings/panel.js';
import { RunFrame } from '../runframe.js';
import { Charts } from './charts.js';
import { Controls } from './controls.js';
import { Evaluation } from './evaluation.js';
import { Groups } from './groups.js';
import { Log } from './log.js';
import { Picked } from './picked.js';
import { Stages } from './stages.js';
import { Store } from './store.js';
import { Tiles } from './tiles.js';
import { Top } from './top.js';

const POINTS = 2000;
const TICK = 1000;
const IDLE = 5000; // an ended run may still be resumed from elsewhere

export async function mount(root, ctx) {
  const { panels } = await ctx.api.get('/api/panels');
  new Live(root, ctx, panels);
}

class Live {
  constructor(root, ctx, panels) {
    Object.assign(this, { ctx, id: null, store: null, run: null, cursor: 0, groupCursor: 0, attempts: [], stale: false });
    const { h } = ctx;
    this.view = h('div', { id: 'live-view', class: 'live', hidden: true });
    this.frame = new RunFrame(ctx, root, 'live', this.view, { quickstart: 'start-quickstart', fresh: true });
    this.top = new Top(this.view, ctx, () => this.poller.now(), (run, said) => this.findings.use(run, said));
    this.findings = new Findings(this.view, ctx, (spans) => this.charts?.mark(spans));
    this.top.said.append(this.findings.button);
    this.stages = new Stages(this.view, ctx);
    this.tiles = new Tiles(this.view, ctx);
    this.evaluation = new Evaluation(this.view, ctx);
    this.controls = new Controls(this.view, ctx, () => this.charts.refresh(), () => this.charts.resetZoom());
    this.waiting = h('p', { class: 'muted empty-charts', hidden: true, t: 'live.no_points' });
    this.view.append(this.waiting);
    this.charted = h('div', { class: 'charted' });
    this.view.append(this.charted);
    this.charts = new Charts(this.charted, panels, ctx, () => this.controls, (step, box, left) => {
      ctx.state.set({ step }, { replace: true });
      this.picked.show(step, box, left);
    });
    this.charts.onZoom = (zoomed) => (this.controls.reset.disabled = !zoomed);
    this.groups = new Groups(this.view, ctx);
    this.picked = new Picked(this.groups.node);
    this.log = new Log(this.view, ctx);
    ctx.state.onChange(() => this.#follow());
    ctx.onTab(() => ctx.isOpen('live') && this.poller.now());
    this.poller = ctx.api.poll(() => this.#tick(), TICK);
    setInterval(() => ctx.isOpen('live') && document.visibilityState !== 'hidden' && !this.view.hidden && this.stages.clock(), 1000);
  }

  #follow() {
    const { run, step } = this.ctx.state.get();
    if (run !== this.id || step === undefined) this.picked.hide();
    if (run !== this.id) return void this.poller.now();
    if (this.store) this.groups.use(this.run, this.groupCursor, asStep(step), this.store.config.reward_weights);
    return undefined;
  }

  async #tick() {
    if (!this.ctx.isOpen('live')) return TICK;
    const { run } = this.ctx.state.get();
    try {
      if (!run) return this.#without(null, TICK);
      if (run !== this.id || this.store === null) await this.#open(run);
      else await this.#more(run);
      this.frame.online(true);
    } catch (error) {
      if (this.ctx.state.get().run !== run) return 0; // of the run before: nothing to say of this one
      if (error.status === 404) return this.#without(run, IDLE);
      if (error.status === undefined) throw error;
      this.frame.online(false);
      return 2 * TICK;
    }
    return this.stages.ended ? IDLE : TICK;
  }

  /** No run is chosen (`id` null), or it is gone; the milliseconds until the next look. */
  #without(id, wait) {
    this.frame.online(true);
    if (id === null) this.frame.none('live.none', 'live.none_body');
    else this.frame.gone();
    this.id = id;
    this.store = null;
    return wait;
  }

  async #open(id) {
    const { api } = this.ctx;
    if (id !== this.id) {
      this.id = null; // until it is there: who goes back to the run before meanwhile, opens that one again
      this.frame.show('loading');
      this.top.forget();
      this.findings.forget();
      this.charts.prepare();
    }
    const history = await api.get(`/api/runs/${encodeURIComponent(id)}/history?points=${POINTS}`);
    if (this.ctx.state.get().run !== id) return;
    this.id = id;
    this.store = new Store(history, POINTS);
    Object.assign(this, { run: history.run, cursor: history.cursor, groupCursor: history.group_cursor, attempts: history.attempts });
    this.stage = `${history.run.stage}/${history.run.state}`;
    this.frame.show('view');
    this.log.use(id);
    this.charts.use(id, this.store);
    this.evaluation.draw(this.store.evaluations);
    this.#draw();
  }

  async #more(id) {
    const { api } = this.ctx;
    const answer = await api.get(api.address(`/api/runs/${encodeURIComponent(id)}/live`, { after: this.cursor, revision: this.run.revision, group_after: this.groupCursor }));
    if (this.ctx.state.get().run !== id || this.id !== id) return;
    this.cursor = answer.cursor;
    if (answer.group_cursor !== undefined) this.groupCursor = answer.group_cursor;
    if (answer.attempts) this.attempts = answer.attempts;
    if (answer.run) this.run = answer.run;
    if (answer.queue && JSON.stringify(answer.queue) !== JSON.stringify(this.run.queue)) {
      this.run = { ...this.run, queue: answer.queue };
      this.top.draw(this.run, this.attempts);
    }
    if (answer.points) this.store.take(answer.points);
    const stage = `${this.run.stage}/${this.run.state}`;
    // A new attempt takes points back, a new stage may bring an evaluation: both come with the history.
    if (this.store.overfull || (answer.attempts && JSON.stringify(answer.attempts) !== this.store.attempts) || (answer.run && stage !== this.stage)) {
      await this.#open(id);
      return;
    }
    if (answer.points) this.charts.refresh();
    if (answer.points || answer.run) this.#draw();
    else {
      this.top.headline(this.run); // put off, or refused, when the run last moved
      this.log.tick();
    }
  }

  #draw() {
    const { run, store } = this;
    if (run.reward_names.length) store.rewardNames = run.reward_names;
    this.top.draw(run, this.attempts);
    this.top.headline(run);
    this.stages.draw(run);
    this.tiles.draw(store);
    const drawn = run.kind !== 'evaluate' && (store.has('train') || store.has('sft'));
    this.charted.hidden = run.kind === 'evaluate'; // it has two sides and no steps: nothing to draw over steps
    this.waiting.hidden = drawn || this.stages.ended || ['evaluate', 'probe'].includes(run.kind);
    this.controls.node.hidden = !drawn;
    this.tiles.box.hidden = !store.has('train');
    this.groups.node.hidden = this.groupCursor === 0;
    this.groups.use(run, this.groupCursor, asStep(this.ctx.state.get().step), store.config.reward_weights);
    this.log.tick();
  }
}

const asStep = (text) => (/^\d+$/.test(text ?? '') ? Number(text) : undefined);

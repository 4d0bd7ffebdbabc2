// Samples: every completion of a run, found and shown whole. The list, a group, and three views of all of them at once.
import { RunFrame } from '../runframe.js';
import { follow } from '../state.js';
import { GroupView } from './group.js';
import { List } from './list.js';

const TICK = 3000;
// The other views, loaded at their first opening: [module, class].
const VIEWS = { prompts: ['./prompts.js', 'Prompts'], budget: ['./budget.js', 'Budget'], plots: ['./plots.js', 'Plots'] };

export function mount(root, ctx) {
  new Page(root, ctx);
}

class Page {
  constructor(root, ctx) {
    Object.assign(this, { ctx, views: new Map(), run: null });
    const { h } = ctx;
    this.tabs = ['list', ...Object.keys(VIEWS)].map((view) => h('a', { id: `samples-view-${view}`, data: { view }, t: `samples.view_${view}`, onclick: (event) => follow(event, { view: view === 'list' ? null : view, group: null, place: null, index: null }) }));
    this.list = new List(ctx);
    this.group = new GroupView(ctx);
    this.panes = h('div', { class: 's-panes' }, this.list.root, this.group.root);
    this.view = h('div', { id: 'samples-view', class: 's-page', hidden: true },
      h('header', { class: 's-top' }, h('h1', { t: 'samples.title' }), h('nav', { class: 's-views', tt: { 'aria-label': 'samples.views' } }, this.tabs)), this.panes);
    this.frame = new RunFrame(ctx, root, 'samples', this.view, { quickstart: 'samples-quickstart' });
    ctx.state.onChange(() => this.#follow());
    ctx.runlist.onChange(() => this.#follow());
    ctx.onTab(() => this.#follow());
    this.poller = ctx.api.poll(() => this.#tick(), TICK);
    this.#follow();
  }

  /** What the address names, drawn; nothing is asked for twice. */
  #follow() {
    const { ctx } = this;
    if (!ctx.isOpen('samples')) return;
    const address = ctx.state.get();
    const runs = ctx.runlist.list();
    this.frame.online(ctx.runlist.error() === null);
    if (!address.run) return void this.frame.none('live.none', 'live.none_body');
    if (runs === null) return void this.frame.show('loading');
    const run = ctx.runlist.find(address.run);
    if (!run && this.asked !== address.run) {
      this.asked = address.run; // it may be younger than the list
      ctx.runlist.refresh().then(() => this.#follow());
      return void this.frame.show('loading');
    }
    if (!run) return void this.frame.gone();
    this.run = run;
    this.frame.show('view');
    const name = address.view in VIEWS ? address.view : 'list';
    const grouped = name === 'list' && Boolean(address.group || (address.place && address.step));
    for (const tab of this.tabs) {
      tab.href = ctx.state.link({ run: run.id, tab: 'samples', view: tab.dataset.view === 'list' ? null : tab.dataset.view });
      if (tab.dataset.view === name) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    }
    const before = this.group.root.hidden;
    if (before && grouped) this.place = scrollY; // before the list is gone, and the page is short
    this.list.root.hidden = name !== 'list' || grouped;
    this.group.root.hidden = !grouped;
    for (const [other, { root }] of this.views) root.hidden = other !== name;
    if (name !== 'list') this.#open(name, run, address);
    else if (grouped) {
      this.group.use(run, address);
      if (before) scrollTo(0, 0);
    } else {
      this.group.forget();
      this.list.use(run, address);
      if (!before && this.place !== undefined) scrollTo(0, this.place); // back where the eye was
    }
    return undefined;
  }

  /** One of the other views; what fails says so and is tried again at the next opening. */
  async #open(name, run, address) {
    const { h, dom } = this.ctx;
    let view = this.views.get(name);
    if (!view) {
      const root = h('div', { class: `s-view s-view-${name}` }, h('p', { class: 'muted loading', t: 'app.loading' }));
      view = { root, made: null };
      this.views.set(name, view);
      this.panes.append(root);
      const [module, kind] = VIEWS[name];
      try {
        const found = await import(module);
        dom.fill(root);
        view.made = new found[kind](root, this.ctx);
      } catch (error) {
        console.error(error);
        this.views.delete(name);
        dom.fill(root, h('div', { class: 'notice', data: { level: 'error' } }, h('span', { t: 'app.page_failed' }), h('button', { class: 'btn small', type: 'button', t: 'app.retry', onclick: () => { root.remove(); this.#follow(); } })));
        return;
      }
      this.#follow(); // the address may have moved meanwhile
      return;
    }
    view.made?.use(run, address);
  }

  async #tick() {
    if (!this.ctx.isOpen('samples') || this.view.hidden || this.list.root.hidden || !this.run) return TICK;
    try {
      await this.list.tick(this.ctx.runlist.find(this.run.id) ?? this.run);
    } catch (error) {
      if (error.status === undefined) throw error; // said by the list of runs, which asks the same server
    }
    return TICK;
  }
}

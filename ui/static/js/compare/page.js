// Runs beside each other. Which ones stands in the address (?runs=a,b,c); the axis and the smoothing are remembered.
import { plain } from '../plain.js';
import * as runlist from '../runlist.js';
import { Controls } from '../live/controls.js';
import { follow } from '../state.js';
import { Charts } from './charts.js';
import { Chooser } from './chooser.js';
import { evaluations, replace, settings } from './tables.js';

const AGAIN_MS = 5000;

export function mount(root, ctx) {
  const page = new ComparePage(root, ctx);
  page.follow();
  return page;
}

class ComparePage {
  constructor(root, ctx) {
    Object.assign(this, { ctx, ids: [], found: null, state: '' });
    const { h } = ctx;
    this.chooser = new Chooser((ids) => ctx.state.set({ runs: ids.join(',') || null }));
    this.said = h('p', { class: 'muted', id: 'compare-said' });
    this.gone = h('p', { class: 'caption', hidden: true });
    this.table = h('div');
    this.settings = h('div');
    this.bar = h('div', { class: 'cmp-bar' });
    this.controls = new Controls(this.bar, ctx, () => this.#curves(), () => this.charts.redraw(), 'compare-');
    this.controls.reset.hidden = true; // a double click resets a chart; the zooms are not shared here
    this.singles = h('input', { id: 'compare-singles', type: 'checkbox', onchange: () => this.charts.redraw() });
    this.singlesBox = h('label', { class: 'pair caption', hidden: true }, this.singles, h('span', { t: 'compare.single' }));
    this.bands = h('p', { class: 'caption', t: 'compare.seeds_note', hidden: true });
    this.bar.append(this.singlesBox);
    this.charts = new Charts(ctx, () => ({ singles: this.singles.checked }), (name) => this.#fetch(name), (run, step) => ctx.state.set({ tab: 'samples', run, step: String(step) }));
    this.body = h('div', { class: 'stack', hidden: true },
      this.evaluated = h('section', { class: 'card' }, h('h2', { t: 'compare.evaluations' }), h('p', { class: 'caption', t: 'compare.evaluations_lead' }), this.table),
      h('section', { class: 'card' }, h('h2', { t: 'compare.settings' }), this.settings),
      this.bar, h('p', { class: 'caption', t: 'compare.click' }), this.bands, this.charts.root);
    root.append(h('div', { class: 'stack cmp-page', id: 'compare-page' }, h('div', { class: 'row' }, h('h1', { t: 'compare.title' })), this.chooser.root, this.gone, this.said, this.body));
    ctx.state.onChange(() => this.follow());
    ctx.onTab(() => this.follow());
    ctx.i18n.onLanguage(() => this.#tables());
    runlist.onChange(() => this.#grown());
  }

  follow() {
    if (!this.ctx.isOpen('compare')) return;
    const ids = (this.ctx.state.get().runs ?? '').split(',').filter(Boolean);
    this.chooser.use(ids);
    if (JSON.stringify(ids) === JSON.stringify(this.ids) && this.found) return void this.#grown();
    this.ids = ids;
    this.#load();
    return undefined;
  }

  /** A run that goes on has new steps: read again, no oftener than every few seconds. */
  #grown() {
    if (!this.ctx.isOpen('compare') || !this.found) return;
    const revisions = this.#now();
    if (revisions === this.revisions) return;
    this.revisions = revisions;
    this.#later(Math.max(0, AGAIN_MS - (performance.now() - this.asked)));
  }

  #now() {
    return JSON.stringify((runlist.list() ?? []).filter((run) => this.ids.includes(run.id)).map((run) => [run.id, run.revision]));
  }

  #later(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.ctx.isOpen('compare') && this.found) this.#load();
      else this.revisions = ''; // looked at again, it is read again
    }, wait);
  }

  async #load() {
    const { api, dom, i18n } = this.ctx;
    const wanted = this.ids;
    const mine = this.loading = {};
    this.asked = performance.now();
    clearTimeout(this.timer);
    this.revisions = this.#now();
    if (!wanted.length) {
      this.found = null;
      this.body.hidden = true;
      this.gone.hidden = true;
      i18n.label(this.said, (runlist.list() ?? []).length ? 'compare.lead' : 'compare.none');
      this.said.hidden = false;
      return;
    }
    try {
      const found = await api.get(api.address('/api/compare', { runs: wanted.join(',') }));
      if (mine !== this.loading) return; // asked for again, or other runs, meanwhile
      this.found = found;
    } catch (error) {
      if (mine !== this.loading) return;
      i18n.label(this.said, 'compare.failed', { why: error.error ?? error.message });
      this.said.hidden = false;
      return;
    }
    const { runs, gone } = this.found;
    if (runs.some((run) => run.measured.finding?.state === 'pending')) this.#later(AGAIN_MS); // being diagnosed
    this.gone.hidden = gone.length === 0;
    if (gone.length) dom.fill(this.gone, plain(this.ctx.t('compare.gone', { ids: gone.join(', ') }), this.ctx.h));
    this.said.hidden = runs.length > 1;
    if (runs.length <= 1) i18n.label(this.said, runs.length ? 'compare.only_one' : 'compare.lead');
    this.body.hidden = runs.length === 0;
    const several = this.found.groups.some((members) => members.length > 1);
    this.singlesBox.hidden = this.bands.hidden = !several;
    this.#tables();
    this.#curves();
  }

  #tables() {
    if (!this.found) return;
    const { ctx } = this;
    const { runs } = this.found;
    this.evaluated.hidden = false;
    replace(this.table, 'compare.evaluations', evaluations(runs, (run) => ({ href: ctx.state.link({ tab: 'live', run: run.id }), onclick: (event) => follow(event, { run: run.id, tab: 'live' }) }), ctx.i18n.lang()));
    replace(this.settings, 'compare.settings', settings(this.found));
  }

  #curves() {
    if (!this.found?.runs.length) return;
    const { mode, smoothing } = this.controls;
    this.charts.use(this.found, JSON.stringify([this.found.runs.map((run) => [run.id, run.revision]), mode, smoothing]));
  }

  #fetch(name) {
    const { api } = this.ctx;
    return api.get(api.address('/api/compare/curves', { runs: this.found.runs.map((run) => run.id).join(','), name, axis: this.controls.mode, smoothing: this.controls.smoothing }));
  }
}

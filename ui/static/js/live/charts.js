// The charts of a run: drawn only where they are on the screen and only when something is new; zoom and crosshair shared.
import { loadPlotly } from '../plotly.js';
import { chartsOf } from '../findings/spans.js';
import { palette } from './colors.js';
import { xScale } from './store.js';
import { figure, present } from './traces.js';

const CONFIG = {
  displaylogo: false,
  responsive: false,
  showSendToCloud: false,
  plotlyServerURL: '',
  doubleClick: 'reset',
  displayModeBar: false, // a drag zooms, a double click resets; CSV and PNG stand in the card's head
};

export class Charts {
  /** `options()` gives {smoothing, mode}; `onStep(step, box, left)` is called when a point is clicked:
   *  the box of its plot, and where in it the point is, in pixels. */
  constructor(root, panels, ctx, options, onStep) {
    Object.assign(this, { root, ctx, options, onStep, store: null, run: null, spans: [], plotly: null, zoom: new Map(), queue: new Set(), frame: 0 });
    this.cards = panels.map((panel) => this.#card(panel));
    const of = (group) => this.cards.filter((card) => card.panel.group === group).map((card) => card.node);
    this.notes = ctx.h('ul', { class: 'not-drawn caption', hidden: true });
    this.warmup = ctx.h('details', { id: 'live-warmup', class: 'warmup', hidden: true },
      ctx.h('summary', {}, ctx.h('h2', { class: 'h3', t: 'stage.sft' })), ctx.h('div', { class: 'charts' }, of('sft')));
    root.append(this.warmup, ctx.h('div', { class: 'charts' }, of('train')), this.notes);
    this.seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const card = this.cards.find((one) => one.node === target);
        card.visible = isIntersecting;
        if (isIntersecting) this.#want(card);
      }
    }, { rootMargin: '200px' });
    this.sized = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        const card = this.cards.find((one) => one.plot === target);
        const width = Math.round(contentRect.width);
        if (width && width !== card.width) {
          card.width = width;
          card.drawn = '';
          this.#want(card);
        }
      }
    });
    for (const card of this.cards) {
      this.seen.observe(card.node);
      this.sized.observe(card.plot);
    }
    const again = () => this.refresh();
    ctx.i18n.onLanguage(again);
    addEventListener('studio:theme', again);
  }

  #card(panel) {
    const { h } = this.ctx;
    const plot = h('div', { class: 'plot', id: `chart-${panel.id}` });
    const cross = h('i', { class: 'crosshair', hidden: true });
    const csv = h('a', { class: 'caption csv', t: 'chart.csv', download: true, tt: { title: 'chart.csv_title' } });
    const png = h('button', { class: 'btn ghost small png', type: 'button', t: 'chart.png', tt: { title: 'chart.png_title' }, onclick: () => this.#picture(panel) });
    const text = panel.help ? h('p', { class: 'caption chart-help', t: panel.help, hidden: true }) : null;
    const help = text && h('button', {
      class: 'btn ghost small help', type: 'button', 'aria-expanded': 'false', tt: { 'aria-label': 'chart.help', title: 'chart.help' },
      onclick: () => {
        text.hidden = !text.hidden;
        help.setAttribute('aria-expanded', String(!text.hidden));
      },
    }, '?');
    const notes = h('div', { class: 'caption chart-notes' });
    const node = h('section', { class: `card chart${panel.wide ? ' wide' : ''}`, hidden: true, 'aria-label': '', data: { panel: panel.id }, tt: { 'aria-label': panel.title } },
      h('header', {}, h('h2', { class: 'h3', t: panel.title }), help, h('span', { class: 'spacer' }), png, csv), text, h('div', { class: 'plot-box' }, plot, cross), notes);
    return { panel, node, plot, cross, csv, notes, visible: false, drawn: '', width: 0, live: false };
  }

  /** Fetch the chart library early, beside the history; if that fails, drawing tries again and says so. */
  prepare() {
    loadPlotly(this.ctx.plotly).then((plotly) => (this.plotly = plotly), () => {});
  }

  /** Another run, or its history fetched anew. */
  use(run, store) {
    if (this.run !== run) {
      this.zoom.clear();
      this.run = run;
      this.warmup.open = !store.has('train');
      for (const card of this.cards) {
        card.drawn = '';
        card.csv.href = `/api/runs/${encodeURIComponent(run)}/metrics.csv?panel=${card.panel.id}`;
      }
    }
    this.store = store;
    this.refresh();
  }

  /** Decide anew what has something to say, and draw what is visible and not up to date. */
  refresh() {
    if (!this.store) return;
    for (const card of this.cards) {
      const shown = present(card.panel, this.store);
      card.node.hidden = shown.length === 0;
      card.state = shown.map(({ key, curve, series }) => `${series.phase}/${key}:${curve.version}`).join();
      if (shown.length) this.#want(card);
    }
    this.warmup.hidden = !this.store.has('sft');
    this.warmup.classList.toggle('only', !this.store.has('train'));
    this.#reasons();
  }

  #reasons() {
    const { h, dom } = this.ctx;
    const homes = { kl: 'policy', clip: 'policy' };
    const wanted = JSON.stringify([this.store.notDrawn, this.ctx.i18n.lang(), this.cards.map((card) => card.node.hidden)]);
    if (wanted === this.reasons) return;
    this.reasons = wanted;
    const lines = new Map(this.cards.map((card) => [card.panel.id, []]));
    const rest = [];
    for (const { panel, why } of this.store.notDrawn) {
      const home = homes[panel] ?? panel;
      const card = this.cards.find((one) => one.panel.id === home);
      if (card && !card.node.hidden && home !== panel) lines.get(home).push(why);
      else if (!card || card.node.hidden) rest.push(why);
    }
    for (const card of this.cards) dom.fill(card.notes, lines.get(card.panel.id).map((why) => h('p', { t: why })));
    const any = this.cards.some((card) => !card.node.hidden && card.panel.group === 'train');
    dom.fill(this.notes, rest.map((why) => h('li', { t: why })));
    this.notes.hidden = rest.length === 0 || !any;
  }

  /** What findings lay on the charts: findings/spans.js. */
  mark(spans) {
    this.spans = spans;
    this.refresh();
  }

  #want(card) {
    if (!card.visible || card.node.hidden || !card.width || !this.store) return;
    this.queue.add(card);
    this.frame ||= requestAnimationFrame(() => this.#draw());
  }

  // One chart a frame: a tick never blocks the page for the time of all of them.
  async #draw() {
    this.frame = 0;
    const [card] = this.queue;
    if (!card) return;
    this.queue.delete(card);
    try {
      this.plotly ??= await loadPlotly(this.ctx.plotly);
      await this.#render(card);
    } catch (error) {
      console.error(error);
      this.ctx.dom.fill(card.notes, this.ctx.h('p', { t: 'chart.plotly_failed' }));
    }
    if (this.queue.size) this.frame ||= requestAnimationFrame(() => this.#draw());
  }

  #x(card) {
    const { mode } = this.options();
    const own = card.panel.group === 'train' ? mode : 'step';
    const scale = xScale(this.store, own);
    return { mode: scale ? own : 'step', scale: scale ?? ((step) => step) };
  }

  /** A finding that stands reaches to the newest step, so its band moves only with new points. */
  #spans(card) {
    return card.panel.group === 'train' ? this.spans.filter((span) => chartsOf(span.id).includes(card.panel.id)) : [];
  }

  async #render(card) {
    const { t } = this.ctx;
    const { smoothing } = this.options();
    const { mode, scale } = this.#x(card);
    const zoom = this.zoom.get(card.panel.group) ?? null;
    const theme = document.documentElement.dataset.theme;
    const wanted = JSON.stringify([this.run, card.state, mode, mode === 'step' ? 0 : this.store.version, smoothing, zoom, theme, this.ctx.i18n.lang(), card.width, this.#spans(card)]);
    if (wanted === card.drawn) return;
    const xTitle = t(mode === 'time' ? 'chart.x_minutes' : `chart.x_${mode}`);
    const { traces, layout } = figure(card.panel, this.store, {
      smoothing, scale, xTitle, zoom, t, colors: palette(), spans: this.#spans(card), narrow: card.width < 420, revision: `${this.run}/${mode}`,
    });
    layout.width = card.width;
    layout.height = card.plot.clientHeight;
    card.drawn = wanted;
    card.draws = (card.draws ?? 0) + 1;
    card.plot.dataset.draws = card.draws;
    await this.plotly.react(card.plot, traces, layout, CONFIG);
    if (!card.live) this.#listen(card);
  }

  #listen(card) {
    card.live = true;
    card.plot.on('plotly_relayout', (change) => {
      const range = change['xaxis.range'] ?? ('xaxis.range[0]' in change ? [change['xaxis.range[0]'], change['xaxis.range[1]']] : null);
      if (range) this.setZoom(card.panel.group, range);
      else if (change['xaxis.autorange']) this.setZoom(card.panel.group, null);
    });
    card.plot.on('plotly_hover', ({ points, xvals }) => this.#cross(card, xvals?.[0] ?? points[0]?.x));
    card.plot.on('plotly_unhover', () => this.#cross(card, null));
    card.plot.on('plotly_click', ({ points }) => {
      const step = points.find((point) => Number.isInteger(point.customdata?.[0]))?.customdata[0];
      if (step === undefined || card.panel.group !== 'train') return;
      const axis = card.plot._fullLayout.xaxis;
      this.onStep(step, card.node.querySelector('.plot-box'), axis._offset + axis.l2p(points[0].x));
    });
  }

  #picture(panel) {
    const { plot } = this.cards.find((card) => card.panel === panel);
    const surface = palette().surface;
    const layout = { ...plot.layout, paper_bgcolor: surface, plot_bgcolor: surface };
    const picture = { data: plot.data, layout, config: CONFIG };
    this.plotly?.downloadImage(picture, { format: 'png', scale: 2, width: layout.width, height: layout.height, filename: `${this.run}-${panel.id}` });
  }

  /** The same x range on every chart of a group; null shows everything again. */
  setZoom(group, range) {
    if (JSON.stringify(this.zoom.get(group) ?? null) === JSON.stringify(range)) return;
    if (range) this.zoom.set(group, range);
    else this.zoom.delete(group);
    this.onZoom?.(this.zoom.size > 0);
    this.refresh();
  }

  resetZoom() {
    for (const group of [...this.zoom.keys()]) this.setZoom(group, null);
  }

  #cross(from, x) {
    for (const card of this.cards) {
      const axis = card.plot._fullLayout?.xaxis;
      const show = x !== null && x !== undefined && card !== from && axis && !card.node.hidden && card.panel.group === from.panel.group;
      const pixel = show ? axis.l2p(x) : -1;
      card.cross.hidden = !show || pixel < 0 || pixel > axis._length;
      if (!card.cross.hidden) card.cross.style.left = `${axis._offset + pixel}px`;
    }
  }
}

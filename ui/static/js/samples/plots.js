// Advantages by step, and total reward against length, correctness and form (does the reward pay for the task?).
import { count, number, percent } from '../format.js';
import { fade } from '../live/colors.js';
import { csv } from '../evaluate/parts.js';
import { visible } from '../plain.js';
import { Chart, stepTicks } from './chart.js';

const REST = 10_000; // ms between two looks at a run that goes on

export class Plots {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx, run: null, x: 'tokens', asked: 0 });
    const { h } = ctx;
    this.problem = h('p', { class: 'muted', hidden: true });
    this.narrows = h('p', { id: 'sa-advantage-said', class: 'sa-said' });
    this.heat = new Chart(ctx, { id: 'sa-advantage-chart', label: 'smore.advantage', tall: true, onPoint: (point) => this.#span(point) });
    this.goes = h('p', { id: 'sa-scatter-said', class: 'sa-said', 'aria-live': 'polite' });
    this.dots = new Chart(ctx, { id: 'sa-scatter-chart', label: 'smore.scatter', tall: true, onPoint: (point) => this.#sample(point) });
    this.select = h('select', { class: 'input', id: 'sa-scatter-x', onchange: () => { this.x = this.select.value; this.#scatter(); } });
    this.more = h('p', { class: 'caption' });
    this.body = h('div', { class: 'sa-page', hidden: true },
      h('section', { class: 'card sa-card' }, h('header', { class: 'sa-head' }, h('h2', { class: 'h3', t: 'smore.advantage' }), csv(() => `${this.run.id}-advantages`, () => this.#heatRows())), this.narrows, this.heat.root, h('p', { class: 'caption', t: 'smore.advantage_help' })),
      h('section', { class: 'card sa-card' }, h('header', { class: 'sa-head' }, h('h2', { class: 'h3', t: 'smore.scatter' }), h('span', { class: 'spacer' }), h('label', { class: 'sa-pick' }, h('span', { class: 'caption', t: 'smore.against' }), this.select), csv(() => `${this.run.id}-reward-${this.x}`, () => this.#dotRows())), this.goes, this.dots.root, this.more, h('p', { class: 'caption', t: 'smore.scatter_help' })));
    root.append(this.problem, this.body);
  }

  use(run) {
    if (run.id === this.run?.id && (run.last_step === this.step || Date.now() - this.looked < REST)) return;
    if (run.id !== this.run?.id) {
      this.x = 'tokens';
      this.body.hidden = true;
    }
    Object.assign(this, { run, step: run.last_step, looked: Date.now() });
    this.#load();
  }

  #path(what, params) {
    return this.ctx.api.address(`/api/runs/${encodeURIComponent(this.run.id)}/samples/${what}`, params);
  }

  #fail(error) {
    if (!error.error) throw error;
    this.ctx.i18n.label(this.problem, error.error);
    this.problem.hidden = false;
  }

  async #load() {
    const { ctx, run } = this;
    try {
      const found = await ctx.api.get(this.#path('histogram'));
      if (this.run.id !== run.id) return;
      this.problem.hidden = found.spans.length > 0;
      this.body.hidden = found.spans.length === 0;
      if (!found.spans.length) return void ctx.i18n.label(this.problem, 'smore.none');
      this.found = found;
      ctx.i18n.label(this.narrows, found.text);
      this.heat.show(JSON.stringify(found), (look) => this.#heat(found, look));
      await this.#scatter();
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  async #scatter() {
    const { ctx, run, x } = this;
    const { h, dom } = ctx;
    const asked = ++this.asked;
    try {
      const found = await ctx.api.get(this.#path('scatter', { x }));
      if (asked !== this.asked || this.run.id !== run.id) return;
      const offered = JSON.stringify(found.choices);
      if (this.offered !== offered) {
        this.offered = offered;
        dom.fill(this.select, found.choices.map((one) => h('option', { value: one.x, ...(['tokens', 'correct'].includes(one.x) ? { t: `smore.x_${one.x}` } : {}) }, ['tokens', 'correct'].includes(one.x) ? null : visible(one.name))));
      }
      this.drawn = found;
      this.select.value = x;
      ctx.i18n.label(this.goes, found.text);
      const { n } = found;
      const drawn = found.points.x.length;
      ctx.i18n.label(this.more, found.more ? 'smore.drawn_some' : drawn < n ? 'smore.drawn_part' : 'smore.drawn_all', { n: count(drawn), of: count(n) });
      this.dots.show(JSON.stringify([run.id, x, n, found.within]), (look) => this.#dots(found, look));
    } catch (error) {
      this.#fail(error);
    }
  }

  #heat(found, { colors, t, narrow }) {
    // A column covers its steps and no more: the map takes edges, the line what lies between them.
    const edges = [found.spans[0][0] - 0.5, ...found.spans.map(([, last]) => last + 0.5)];
    const x = found.spans.map(([first, last]) => (first + last) / 2);
    const name = ([first, last]) => (first === last ? String(first) : `${first}–${last}`);
    const z = found.centres.map((_, row) => found.share.map((share) => share[row] ?? null));
    const text = found.centres.map((centre, row) => found.spans.map((span, i) => `${t('chart.x_step')} ${name(span)}<br>${t('groups.advantage')} ${number(centre, 2)}<br>${percent(found.share[i][row], 1)} / ${count(found.n[i])}`));
    const hue = colors.color('blue');
    // A square root: the bin of 0 would leave nothing of the others.
    const traces = [
      { type: 'heatmap', x: edges, y: found.centres, z: z.map((row) => row.map((value) => (value === null ? null : Math.sqrt(value)))), text, customdata: found.centres.map(() => found.spans), hovertemplate: '%{text}<extra></extra>', zmin: 0, zmax: 1, colorscale: [[0, fade(hue, 0)], [1e-6, fade(hue, 0.2)], [1, hue]], showscale: false, xgap: 1, hoverongaps: false },
      { type: 'scatter', mode: 'lines+markers', x, y: found.spread, name: t('smore.spread'), customdata: found.spans, line: { color: colors.color('orange'), width: 2 }, marker: { size: 5, symbol: 'diamond' }, hovertemplate: `${t('smore.spread')} %{y:.2f}<extra></extra>`, connectgaps: false },
    ];
    return { traces, layout: { xaxis: { title: t('chart.x_step'), showgrid: false, zeroline: false, ...stepTicks(edges, narrow) }, yaxis: { title: t('groups.advantage'), zeroline: true } } };
  }

  #dots(found, { colors, t }) {
    const { points } = found;
    const few = new Set(points.x).size <= 12; // a score of few values would be one dot on another
    const wide = few ? 0.3 * smallest(points.x) : found.x === 'tokens' ? 0.35 : 0; // tokens are whole
    const tall = new Set(points.y).size <= 12 ? 0.3 * smallest(points.y) : 0;
    const side = (cut, name, symbol, hue) => {
      const rows = points.truncated.flatMap((one, i) => (one === cut ? [i] : []));
      return {
        type: 'scatter', mode: 'markers', name: t(name), x: rows.map((i) => points.x[i] + wide * wobble(i)), y: rows.map((i) => points.y[i] + tall * wobble(i * 7 + 3)),
        customdata: rows.map((i) => [points.group[i], points.index[i], points.step[i]]), text: rows.map((i) => `${t('chart.x_step')} ${points.step[i]}<br>${number(points.x[i])} → ${number(points.y[i])}`),
        hovertemplate: '%{text}<extra></extra>', marker: { symbol, size: 6, color: fade(colors.color(hue), 0.65) },
      };
    };
    const traces = [side(false, 'smore.ended', 'circle', 'blue'), side(true, 'smore.part_cut', 'x', 'vermillion')].filter((trace) => trace.x.length);
    const title = ['tokens', 'correct'].includes(found.x) ? t(`smore.x_${found.x}`) : found.name;
    const ticks = found.x === 'correct' ? { tickvals: [0, 1], ticktext: [t('smore.wrong'), t('smore.right')] } : {};
    return { traces, layout: { xaxis: { title, zeroline: false, ...ticks }, yaxis: { title: t('smore.total'), zeroline: false } } };
  }

  #heatRows() {
    const { spans, centres, share, n } = this.found;
    return [['step', 'last_step', 'advantage', 'share', 'completions'], ...spans.flatMap(([first, last], i) => centres.map((centre, row) => [first, last, centre, share[i][row], n[i]]))];
  }

  #dotRows() {
    const { name, points } = this.drawn;
    return [['step', 'group', 'position', name, 'total', 'truncated'], ...points.x.map((value, i) => [points.step[i], points.group[i], points.index[i], value, points.y[i], points.truncated[i]])];
  }

  #sample({ customdata }) {
    this.ctx.state.set({ view: null, group: customdata[0], place: null, index: String(customdata[1]) });
  }

  #span({ customdata }) {
    this.ctx.state.set({ view: null, from: customdata[0], to: customdata[1] });
  }
}

/** The smallest distance between two values, at most a fifth of their range: what is spread stays near its value. */
function smallest(values) {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  return Math.min(...sorted.slice(1).map((value, i) => value - sorted[i]), sorted.length > 1 ? (sorted[sorted.length - 1] - sorted[0]) / 5 : 0.1);
}

/** The same small shift for the same point, −1..1: a chart that is drawn again does not move. */
const wobble = (i) => 2 * ((Math.sin(i * 12.9898) * 43758.5453) % 1) * 0.5;

// One chart a measure, a line a run; seeds of one setting as their mean in a band. Drawn where it is on the screen.
import { fill, h } from '../dom.js';
import { csv } from '../evaluate/parts.js';
import { labelAttribute, t } from '../i18n.js';
import { fade, palette } from '../live/colors.js';
import { loadPlotly } from '../plotly.js';
import { colorOf, dashOf, variableOf } from './hues.js';
import { namesOf } from './names.js';

const CONFIG = { displaylogo: false, responsive: false, displayModeBar: false, doubleClick: 'reset', showSendToCloud: false, plotlyServerURL: '' };
const literal = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export class Charts {
  /** `options()` gives {singles}; `fetch(name)` the curves of a measure; `onPoint(run, step)` answers a click on a line. */
  constructor(ctx, options, fetch, onPoint) {
    Object.assign(this, { ctx, options, fetch, onPoint, cards: new Map(), found: null, asked: '' });
    this.root = h('div', { class: 'charts cmp-charts' });
    this.seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const card = this.cards.get(target.dataset.name);
        if (!card) continue;
        card.visible = isIntersecting;
        if (isIntersecting) this.#want(card);
      }
    }, { rootMargin: '200px' });
    this.sized = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const card = [...this.cards.values()].find((one) => one.plot === target);
        if (card?.data && target.clientWidth !== card.width) this.#draw(card);
      }
    });
    ctx.i18n.onLanguage(() => this.redraw());
    addEventListener('studio:theme', () => this.redraw());
  }

  /** `found`: GET /api/compare. `state` changes whenever the curves may have. */
  use(found, state) {
    this.found = found;
    const names = found.charts.map((chart) => chart.name);
    for (const [name, card] of this.cards) {
      if (names.includes(name)) continue;
      card.node.remove();
      this.cards.delete(name);
    }
    for (const [at, chart] of found.charts.entries()) {
      const card = this.cards.get(chart.name) ?? this.#card(chart);
      card.chart = chart;
      // A node that is where it belongs stays: moved, it would lose the focus.
      if (this.root.children[at] !== card.node) this.root.insertBefore(card.node, this.root.children[at] ?? null);
      card.wanted = state;
      if (card.visible) this.#want(card);
    }
  }

  redraw() {
    for (const card of this.cards.values()) if (card.data) this.#draw(card);
  }

  #card(chart) {
    const plot = h('div', { class: 'plot cmp-plot' });
    const note = h('p', { class: 'caption chart-notes' });
    const key = h('ul', { class: 'cmp-legend caption' });
    const file = csv(() => `compare-${chart.name.replaceAll(/\W+/g, '-')}`, () => this.#rows(card));
    labelAttribute(file, 'aria-label', () => `${t(chart.title)}: ${t('chart.csv')}`);
    file.hidden = true;
    const unit = chart.unit ? h('span', { class: 'caption cmp-unit' }, `(${chart.unit})`) : null;
    const node = h('section', { class: 'card chart', data: { name: chart.name }, tt: { 'aria-label': chart.title } },
      h('header', {}, h('h2', { class: 'h3', t: chart.title }), unit, h('span', { class: 'spacer' }), file), h('div', { class: 'plot-box' }, plot), key, note);
    const card = { chart, node, plot, note, key, file, visible: false, data: null, got: null, width: 0 };
    this.cards.set(chart.name, card);
    this.seen.observe(node);
    this.sized.observe(plot);
    return card;
  }

  async #want(card) {
    if (card.got === card.wanted || card.busy) return;
    card.busy = true;
    const { wanted } = card;
    try {
      card.data = await this.fetch(card.chart.name);
      this.plotly = await loadPlotly(this.ctx.plotly);
      card.got = wanted;
      this.#draw(card);
    } catch (error) {
      fill(card.note, t('compare.failed', { why: error.error ?? error.message }));
    } finally {
      card.busy = false;
    }
    if (card.got === wanted && card.wanted !== wanted && card.visible) this.#want(card);
  }

  #draw(card) {
    const { runs } = this.found;
    const place = new Map(runs.map((run, i) => [run.id, i]));
    const name = namesOf(runs);
    const { singles } = this.options();
    // Curves that were asked for before a run was taken out: what is gone is drawn no more.
    const lines = card.data.lines.filter((line) => place.has(line.run));
    const bands = card.data.bands.filter((band) => band.runs.every((id) => place.has(id)));
    const banded = new Set(bands.flatMap((band) => band.runs));
    card.drawn = { bands, banded, lines: lines.filter((line) => singles || !banded.has(line.run)) };
    card.width = card.plot.clientWidth;
    const colors = palette();
    const { traces, layout } = figure(card, { place, name, colors });
    this.plotly.react(card.plot, traces, { ...layout, uirevision: `${card.data.axis}` }, CONFIG);
    if (!card.live) card.plot.on('plotly_click', (event) => this.#click(card, event));
    card.live = true;
    const left = card.data.without.filter((id) => place.has(id)).map(name);
    fill(card.note, left.length ? t('compare.without', { names: left.join(', ') }) : '');
    const entry = (id, text) => h('li', null, h('i', { class: 'cmp-key', data: { dash: dashOf(place.get(id)) }, style: { '--hue': variableOf(place.get(id)) } }), h('span', { class: 'cmp-name' }, text));
    fill(card.key,
      bands.map((band) => entry(band.runs[0], `${name(band.runs[0])} (${t('compare.seeds', { n: band.runs.length })})`)),
      card.drawn.lines.filter((line) => !banded.has(line.run)).map((line) => entry(line.run, name(line.run))));
    card.file.hidden = false;
  }

  /** Of all lines at that place the one that is nearest to the pointer. A band is several runs, an evaluation no step. */
  #click(card, { points, event }) {
    const { yaxis } = card.plot._fullLayout;
    const at = event.clientY - card.plot.getBoundingClientRect().top - yaxis._offset;
    const off = (point) => Math.abs(yaxis.d2p(point.y) - at);
    const [nearest] = points.filter((point) => point.customdata).sort((a, b) => off(a) - off(b));
    if (nearest) this.onPoint(...nearest.customdata);
  }

  /** What a chart draws, a row a point: of a run its value as logged and smoothed, of seeds their mean and its band. */
  #rows(card) {
    const named = new Map(this.found.runs.map((run) => [run.id, run.name || run.id]));
    const { axis } = card.data;
    const of = (ids) => ids.map((id) => named.get(id)).join(' + ');
    const rows = [['runs', 'names', 'seeds', 'step', ...(axis === 'step' ? [] : [axis]), 'value', 'smoothed', 'low', 'high']];
    const add = (ids, step, x, ...values) => rows.push([ids.join(' '), of(ids), ids.length, step, ...(axis === 'step' ? [] : [x]), ...values]);
    for (const band of card.drawn.bands) band.x.forEach((x, i) => add(band.runs, axis === 'step' ? x : null, x, null, band.mean[i], band.low[i], band.high[i]));
    for (const line of card.drawn.lines) {
      const held = line.low !== undefined;
      line.x.forEach((x, i) => add([line.run], line.step[i], x, held ? line.y[i] : line.raw[i], held ? null : line.y[i], line.low?.[i], line.high?.[i]));
    }
    return rows;
  }
}

/** Whether all of it is so small that its ticks would be rows of noughts. */
const small = (traces) => traces.every(({ y }) => y.every((value) => !(Math.abs(value) >= 1e-3)));

function figure(card, { place, name, colors }) {
  const { chart, drawn } = card;
  const { axis } = card.data;
  const percent = chart.unit === '%';
  const format = percent ? '.1%' : '.4~g';
  const traces = [];
  for (const band of drawn.bands) {
    const first = place.get(band.runs[0]);
    const hue = colorOf(first, colors);
    const label = t('compare.seeds', { n: band.runs.length });
    traces.push(
      { type: 'scatter', mode: 'lines', x: band.x, y: band.low, line: { width: 0 }, hoverinfo: 'skip', showlegend: false, uid: `low-${band.group}` },
      { type: 'scatter', mode: 'lines', x: band.x, y: band.high, line: { width: 0 }, fill: 'tonexty', fillcolor: fade(hue, 0.18), hoverinfo: 'skip', showlegend: false, uid: `high-${band.group}` },
      { type: 'scatter', mode: 'lines', x: band.x, y: band.mean, line: { color: hue, width: 2.2, dash: dashOf(first) }, name: literal(`${name(band.runs[0])} (${label})`), hovertemplate: `%{y:${format}}`, uid: `mean-${band.group}` });
  }
  for (const line of drawn.lines) {
    const at = place.get(line.run);
    const hue = colorOf(at, colors);
    const inBand = drawn.banded.has(line.run);
    const held = line.low !== undefined;
    traces.push({
      ...(held ? {} : { customdata: line.step.map((step) => [line.run, step]) }),
      type: 'scatter', mode: held ? 'lines+markers' : 'lines', x: line.x, y: line.y, uid: `run-${line.run}`, name: literal(name(line.run)), showlegend: false,
      line: { color: inBand ? fade(hue, 0.45) : hue, width: inBand ? 1 : 1.8, dash: dashOf(at) }, hovertemplate: `%{y:${format}}`,
      ...(held ? { marker: { color: colors.surface, size: 7, line: { color: hue, width: 1.8 } }, error_y: { type: 'data', symmetric: false, array: line.high.map((v, i) => v - line.y[i]), arrayminus: line.low.map((v, i) => line.y[i] - v), color: hue, thickness: 1, width: 3 } } : {}),
    });
  }
  const font = { family: colors.font, size: 12, color: colors.muted };
  const grid = { gridcolor: colors.line, zerolinecolor: colors.line, linecolor: colors.line, tickfont: font };
  return {
    traces,
    layout: {
      height: 250, width: card.width, margin: { l: 50, r: 12, t: 10, b: 40 }, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', font, showlegend: false, hovermode: 'x unified',
      hoverlabel: { bgcolor: colors.surface, bordercolor: colors.line, font: { family: colors.font, size: 12, color: colors.ink }, align: 'left' },
      xaxis: { ...grid, showgrid: false, zeroline: false, ticks: 'outside', ticklen: 4, tickcolor: colors.line, title: { text: literal(t(`compare.x_${axis}`)), font, standoff: 4 }, nticks: card.width < 420 ? 5 : 8, tickformat: axis === 'step' ? '' : '.3~s', hoverformat: ',.4~g' },
      yaxis: { ...grid, nticks: 6, automargin: true, ...(percent ? { tickformat: '.2~%', rangemode: 'tozero' } : { tickformat: small(traces) ? '.2~e' : '.3~g' }), hoverformat: format },
    },
  };
}

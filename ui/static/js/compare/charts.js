// One chart a measure, a line a run; seeds of one setting as their mean in a band. Drawn where it is on the screen.
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { fade, palette } from '../live/colors.js';
import { visible } from '../plain.js';
import { loadPlotly } from '../plotly.js';
import { colorOf, dashOf } from './hues.js';

const CONFIG = { displaylogo: false, responsive: false, displayModeBar: false, doubleClick: 'reset', showSendToCloud: false, plotlyServerURL: '' };
const literal = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export class Charts {
  /** `options()` gives {axis, smoothing, singles}; `fetch(name)` the curves of a measure. */
  constructor(ctx, options, fetch) {
    Object.assign(this, { ctx, options, fetch, cards: new Map(), found: null, asked: '' });
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
    for (const chart of found.charts) {
      const card = this.cards.get(chart.name) ?? this.#card(chart);
      card.chart = chart;
      this.root.append(card.node);
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
    const node = h('section', { class: 'card chart', data: { name: chart.name }, tt: { 'aria-label': chart.title } },
      h('header', {}, h('h2', { class: 'h3', t: chart.title })), h('div', { class: 'plot-box' }, plot), note);
    const card = { chart, node, plot, note, visible: false, data: null, got: null, width: 0 };
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
    const name = (id) => visible(runs[place.get(id)]?.name || id);
    card.width = card.plot.clientWidth;
    const colors = palette();
    const { traces, layout } = figure(card, { place, name, colors, ...this.options() });
    this.plotly.react(card.plot, traces, { ...layout, uirevision: `${card.data.axis}` }, CONFIG);
    const left = card.data.without.map(name);
    fill(card.note, left.length ? t('compare.without', { names: left.join(', ') }) : '');
  }
}

function figure(card, { place, name, colors, axis, singles }) {
  const { data, chart } = card;
  const percent = chart.unit === '%';
  const format = percent ? '.1%' : '.4~g';
  const banded = new Set(data.bands.flatMap((band) => band.runs));
  const traces = [];
  for (const band of data.bands) {
    const first = place.get(band.runs[0]);
    const hue = colorOf(first, colors);
    const label = t('compare.seeds', { n: band.runs.length });
    traces.push(
      { type: 'scatter', mode: 'lines', x: band.x, y: band.low, line: { width: 0 }, hoverinfo: 'skip', showlegend: false, uid: `low-${band.group}` },
      { type: 'scatter', mode: 'lines', x: band.x, y: band.high, line: { width: 0 }, fill: 'tonexty', fillcolor: fade(hue, 0.18), hoverinfo: 'skip', showlegend: false, uid: `high-${band.group}` },
      { type: 'scatter', mode: 'lines', x: band.x, y: band.mean, line: { color: hue, width: 2.2, dash: dashOf(first) }, name: literal(`${name(band.runs[0])} (${label})`), hovertemplate: `%{y:${format}}`, uid: `mean-${band.group}` });
  }
  for (const line of data.lines) {
    const at = place.get(line.run);
    const hue = colorOf(at, colors);
    const inBand = banded.has(line.run);
    if (inBand && !singles) continue;
    const held = line.low !== undefined;
    traces.push({
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
      yaxis: { ...grid, nticks: 6, ...(percent ? { tickformat: '.0%', rangemode: 'tozero' } : { tickformat: '.3~g' }), hoverformat: format },
    },
  };
}

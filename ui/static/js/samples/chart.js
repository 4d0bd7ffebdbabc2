// One chart in a card, as the Live page draws them: drawn when it is on the screen and something is new, the theme's
// colours, no bar of tools. `make({colors, t, narrow})` gives plotly's {traces, layout}; `onPoint(point)` answers a click.
import { palette } from '../live/colors.js';
import { visible } from '../plain.js';
import { loadPlotly } from '../plotly.js';

const CONFIG = { displaylogo: false, responsive: false, showSendToCloud: false, plotlyServerURL: '', doubleClick: 'reset', displayModeBar: false };

/** plotly reads a little HTML in names and labels; a reward may be called anything. */
export const literal = (text) => visible(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Ticks of an axis of steps: a few, and of a short run each whole step, since there is no step 0.5. */
export const stepTicks = (steps, narrow) => (steps.length && Math.max(...steps) - Math.min(...steps) < 5 ? { dtick: 1 } : { nticks: narrow ? 5 : 10 });

export class Chart {
  constructor(ctx, { id, label, tall = false, onPoint = null }) {
    Object.assign(this, { ctx, make: null, onPoint, width: 0, near: false, drawn: '', frame: 0, live: false });
    this.plot = ctx.h('div', { id, class: `sa-plot${tall ? ' tall' : ''}`, role: 'img', tt: { 'aria-label': label } });
    this.note = ctx.h('p', { class: 'caption', hidden: true });
    this.root = ctx.h('div', { class: 'sa-chart' }, this.plot, this.note);
    new ResizeObserver((entries) => {
      const width = Math.round(entries.at(-1).contentRect.width);
      if (!width || width === this.width) return;
      this.width = width;
      this.#want();
    }).observe(this.plot);
    new IntersectionObserver((entries) => {
      this.near = entries.at(-1).isIntersecting; // a busy page gets several at once: the last is how it is now
      this.#want();
    }, { rootMargin: '200px' }).observe(this.plot);
    ctx.i18n.onLanguage(() => this.#want());
    addEventListener('studio:theme', () => this.#want());
  }

  /** `key`: what it shows, as text; drawn anew only where it, the size, the theme or the language has changed. */
  show(key, make) {
    Object.assign(this, { key, make });
    this.#want();
  }

  #want() {
    if (!this.make || !this.near || !this.width) return;
    this.frame ||= requestAnimationFrame(() => this.#draw());
  }

  async #draw() {
    this.frame = 0;
    const { ctx, plot } = this;
    const wanted = JSON.stringify([this.key, this.width, document.documentElement.dataset.theme, ctx.i18n.lang()]);
    if (wanted === this.drawn) return;
    this.drawn = wanted;
    try {
      const plotly = await loadPlotly(ctx.plotly);
      const colors = palette();
      const { traces, layout } = this.make({ colors, t: ctx.t, narrow: this.width < 420 });
      await plotly.react(plot, traces, { ...frame(colors), ...layout, xaxis: axis(colors, layout.xaxis), yaxis: axis(colors, layout.yaxis), width: this.width, height: plot.clientHeight }, CONFIG);
      plot.dataset.drawn = String(Number(plot.dataset.drawn ?? 0) + 1);
      this.note.hidden = true;
      if (!this.live && this.onPoint) plot.on('plotly_click', ({ points }) => this.onPoint(points[0]));
      this.live = true;
    } catch (error) {
      console.error(error);
      this.drawn = '';
      ctx.i18n.label(this.note, 'chart.plotly_failed');
      this.note.hidden = false;
    }
  }
}

function frame(colors) {
  const font = { family: colors.font, size: 12, color: colors.muted };
  return {
    margin: { l: 52, r: 12, t: 28, b: 38 }, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', font, showlegend: true,
    legend: { orientation: 'h', traceorder: 'normal', x: 0, xanchor: 'left', y: 1, yanchor: 'bottom', font, itemwidth: 30, bgcolor: 'rgba(0,0,0,0)' },
    hoverlabel: { bgcolor: colors.surface, bordercolor: colors.line, font: { ...font, color: colors.ink } }, hovermode: 'closest', dragmode: 'zoom',
  };
}

function axis(colors, more = {}) {
  const font = { family: colors.font, size: 12, color: colors.muted };
  const title = more.title ? { text: literal(more.title), font, standoff: 6 } : undefined;
  return { gridcolor: colors.line, zerolinecolor: colors.line, linecolor: colors.line, tickfont: font, automargin: true, ...more, title };
}

// The signal budget: of all generated tokens and seconds, what taught something and what did not.
import { count, duration, percent } from '../format.js';
import { fade } from '../live/colors.js';
import { Chart, stepTicks } from './chart.js';

const HUES = { live: 'green', live_cut: 'sky', all_right: 'blue', all_wrong: 'vermillion', tied: 'grey', redone: 'purple', unused: 'orange' };
const AGAIN = 5000;

export class Budget {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx, run: null, unit: 'tokens', scale: 'share', found: null, key: '' });
    const { h } = ctx;
    this.said = h('p', { id: 'sa-budget-said', class: 'sa-said', 'aria-live': 'polite' });
    this.notes = h('ul', { class: 'sa-notes caption' });
    this.chart = new Chart(ctx, { id: 'sa-budget-chart', label: 'smore.budget_chart', onPoint: (point) => ctx.state.set({ view: null, step: null, from: point.customdata[0], to: point.customdata[1] }) });
    this.csv = h('a', { class: 'caption csv', t: 'chart.csv', download: true, tt: { title: 'chart.csv_title' } });
    this.table = h('tbody');
    this.foot = h('tfoot');
    this.problem = h('p', { class: 'muted', hidden: true });
    const pick = (name, values) => {
      const select = h('select', { class: 'input', id: `sa-budget-${name}`, onchange: () => { this[name] = select.value; this.#draw(); } }, values.map((value) => h('option', { value, t: `smore.${name}_${value}` })));
      return h('label', { class: 'sa-pick' }, h('span', { class: 'caption', t: `smore.${name}` }), select);
    };
    this.unitPick = pick('unit', ['tokens', 'seconds']);
    this.body = h('div', { class: 'sa-page', hidden: true },
      h('div', { class: 'card sa-card' }, this.said, this.notes),
      h('section', { class: 'card sa-card' }, h('header', { class: 'sa-head' }, h('h2', { class: 'h3', t: 'smore.budget_by_step' }), h('span', { class: 'spacer' }), this.unitPick, pick('scale', ['share', 'amount']), this.csv), this.chart.root, h('p', { class: 'caption', t: 'smore.budget_click' })),
      h('section', { class: 'card sa-card' }, h('h2', { class: 'h3', t: 'smore.budget_total' }),
        h('div', { class: 'table-wrap', tabIndex: 0, role: 'region', tt: { 'aria-label': 'smore.budget_total' } }, h('table', { class: 'table sa-table', id: 'sa-budget-table' },
          h('thead', {}, h('tr', {}, h('th', { t: 'smore.part', scope: 'col' }), h('th', { class: 'num', t: 'smore.unit_tokens', scope: 'col' }), h('th', { class: 'num', t: 'smore.share', scope: 'col' }), h('th', { class: 'num', t: 'smore.unit_seconds', scope: 'col' }), h('th', { t: 'smore.means', scope: 'col' }))),
          this.table, this.foot)),
        h('p', { class: 'caption', t: 'smore.budget_how' })));
    root.append(this.problem, this.body);
    ctx.api.poll(() => this.#again(), AGAIN);
  }

  use(run) {
    const other = run.id !== this.run?.id;
    this.run = run;
    this.csv.href = `/api/runs/${encodeURIComponent(run.id)}/samples/budget.csv`;
    if (other) {
      Object.assign(this, { found: null, key: '' });
      this.body.hidden = true;
      this.#load();
    }
  }

  /** Anew while the run goes on and this view is on the screen. */
  async #again() {
    const { ctx, root } = this;
    if (this.run && this.found && !this.found.ended && !root.hidden && ctx.isOpen('samples')) await this.#load();
    return AGAIN;
  }

  async #load() {
    const { ctx, run } = this;
    try {
      const found = await ctx.api.get(`/api/runs/${encodeURIComponent(run.id)}/samples/budget`);
      if (this.run.id !== run.id) return;
      this.found = found;
      this.problem.hidden = true;
      this.body.hidden = false;
      this.#draw();
    } catch (error) {
      if (!error.error) throw error;
      if (this.run.id !== run.id) return;
      ctx.i18n.label(this.problem, error.error);
      this.problem.hidden = this.found !== null;
    }
  }

  #draw() {
    const { ctx, found } = this;
    const { h, dom } = ctx;
    if (!found) return;
    const timed = found.total.seconds !== null;
    this.unitPick.hidden = !timed;
    if (!timed) this.unit = 'tokens';
    const key = JSON.stringify([found, this.unit, this.scale]);
    if (key === this.key) return;
    this.key = key;
    ctx.i18n.label(this.said, found.text);
    dom.fill(this.notes, found.notes.map((note) => h('li', { t: note })));
    const parts = found.parts.filter((part) => found.total.tokens[part] > 0);
    dom.fill(this.table, parts.map((part) => h('tr', { data: { part } },
      h('th', { scope: 'row' }, h('i', { class: 'sa-dot', style: { background: `var(--hue-${HUES[part]})` } }), h('span', { t: `smore.part_${part}` })),
      h('td', { class: 'num' }, count(Math.round(found.total.tokens[part]))),
      h('td', { class: 'num' }, percent(found.total.tokens[part] / found.total.all_tokens, 1)),
      h('td', { class: 'num' }, timed ? duration(found.total.seconds[part]) : '–'),
      h('td', { class: 'sa-means' }, h('span', { class: found.teaches.includes(part) ? 'sa-yes' : 'sa-no', t: found.teaches.includes(part) ? 'smore.teaches' : 'smore.teaches_not' }), ' ', h('span', { class: 'caption', t: `smore.part_${part}_help` })))));
    dom.fill(this.foot, h('tr', {}, h('th', { scope: 'row', t: 'smore.all' }), h('td', { class: 'num' }, count(Math.round(found.total.all_tokens))), h('td', { class: 'num' }, found.total.all_tokens ? '100%' : '–'), h('td', { class: 'num' }, timed ? duration(found.total.all_seconds) : '–'),
      h('td', { class: 'caption', t: 'smore.cut_of', vars: { n: count(found.total.cut), of: count(found.total.completions), tokens: count(Math.round(found.total.cut_tokens)) } })));
    this.chart.show(key, (look) => this.#figure(parts, look));
  }

  #figure(parts, { colors, t, narrow }) {
    const { steps } = this.found;
    const values = steps[this.unit];
    const totals = steps.step.map((_, i) => parts.reduce((sum, part) => sum + values[part][i], 0));
    const share = this.scale === 'share';
    const customdata = steps.step.map((step, i) => [step, steps.last[i]]);
    const traces = parts.map((part) => {
      const hue = colors.color(HUES[part]);
      const y = values[part].map((value, i) => (share ? (totals[i] ? value / totals[i] : 0) : value));
      const text = values[part].map((value, i) => `${this.unit === 'tokens' ? count(Math.round(value)) : duration(value)} · ${totals[i] ? percent(value / totals[i]) : '–'}`);
      return { type: 'bar', x: steps.step, y, text, textposition: 'none', customdata, name: t(`smore.part_${part}`), hovertemplate: '%{fullData.name}: %{text}<extra></extra>', marker: { color: fade(hue, 0.8), line: { width: 0 } } };
    });
    return {
      traces,
      layout: {
        barmode: 'stack', bargap: steps.step.length > 60 ? 0 : 0.1, hovermode: 'x unified', margin: { l: 52, r: 12, t: narrow ? 92 : 30, b: 40 },
        xaxis: { title: t('chart.x_step'), showgrid: false, ...stepTicks([...steps.step, ...steps.last], narrow) },
        yaxis: { title: t(share ? 'smore.share' : `smore.unit_${this.unit}`), tickformat: share ? '.0%' : '~s', rangemode: 'tozero', ...(share ? { range: [0, 1] } : {}) },
      },
    };
  }
}

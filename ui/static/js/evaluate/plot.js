// Base and trained as points with their intervals, and the difference about zero: what the table says, at a glance.
import { fill, h } from '../dom.js';
import { number, percent } from '../format.js';
import { t } from '../i18n.js';
import { between, change, csv, figure, head, isRate, known, legend, moved, points } from './parts.js';

const SHOWN = ['accuracy', 'strict', 'balanced_accuracy', 'format_rate', 'eos_rate', 'pass_at_1', 'pass_at_k', 'maj_at_k'];

/** Rows of intervals on one axis. `rows`: [{name, title, vars, marks: [{kind, value, low, high, words}]}]; `axis`: {low,
 * high, ticks: [{at, text}], zero}. */
export function intervals(rows, axis) {
  const place = (value) => `${(100 * (Math.min(axis.high, Math.max(axis.low, value)) - axis.low)) / (axis.high - axis.low)}%`;
  const width = (low, high) => `${(100 * (Math.min(axis.high, high) - Math.max(axis.low, low))) / (axis.high - axis.low)}%`;
  const lines = axis.ticks.map(({ at }) => h('u', { style: { left: place(at) }, class: at === axis.zero ? 'zero' : '' }));
  return h('div', { class: 'ev-plot' }, rows.map((row) => {
    const words = () => row.marks.map((one) => one.words()).join('; ');
    const track = h('div', { class: 'ev-track', role: 'img', style: { '--marks': row.marks.length }, tt: { title: words, 'aria-label': words } },
      lines.map((line) => line.cloneNode()),
      row.marks.map(({ kind, value, low, high }) => h('span', { class: 'ev-lane' },
        known(low) && known(high) ? h('i', { class: 'ev-range', data: { kind }, style: { left: place(low), width: width(low, high) } }) : null,
        h('b', { class: 'ev-dot', data: { kind }, style: { left: place(value) } }))));
    return h('div', { class: 'ev-plot-row', data: { measure: row.name } }, h('span', { class: 'ev-plot-name', t: row.title, vars: row.vars }), track);
  }), h('div', { class: 'ev-plot-row ev-axis', 'aria-hidden': 'true' }, h('span'), h('div', { class: 'ev-ticks num caption' }, axis.ticks.map(({ at, text }) => h('span', { style: { left: place(at) } }, text)))));
}

const bracketed = (words) => (words ? ` (${words})` : ''); // rows that are all alike have no interval

const RATE = { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: percent(at) })) };

/** An axis about zero that holds all of `values`; `text(value)` names its ends. */
export function about(values, text) {
  const most = Math.max(1e-9, ...values.filter(known).map(Math.abs));
  const size = 10 ** Math.floor(Math.log10(most));
  const end = [1, 2, 5, 10].map((by) => by * size).find((each) => each >= most * 0.9999);
  return { low: -end, high: end, zero: 0, ticks: [-end, -end / 2, 0, end / 2, end].map((at) => ({ at, text: text(at) })) };
}

export class Plot {
  constructor() {
    this.body = h('div', { class: 'ev-plots' });
    this.root = h('section', { class: 'card ev-plot-card', id: 'evaluate-plot', tt: { 'aria-label': 'evaluate.plot' } },
      head('evaluate.plot', csv(() => `${this.report.run}-intervals`, () => this.#csv())), this.body);
  }

  draw(report) {
    if (!moved(this, [report.base, report.trained, report.paired, report.k])) return;
    this.report = { ...report, base: report.base ?? {}, trained: report.trained ?? {}, paired: report.paired ?? {} };
    const { base, trained, paired, k } = this.report;
    this.root.hidden = !known(base.accuracy) || !known(trained.accuracy);
    if (this.root.hidden) return;
    const names = SHOWN.filter((name) => known(base[name]) && known(trained[name]));
    const titled = (name) => ({ name, title: name === 'strict' || name === 'balanced_accuracy' ? `evaluate.b_${name === 'strict' ? 'strict' : 'balanced'}` : `evaluate.m_${name}`, vars: { k } });
    const side = (kind, from, name) => {
      const [low, high] = from.intervals?.[name] ?? [];
      return { kind, value: from[name], low, high, words: () => `${t(`evaluate.${kind}`)} ${figure(name, from[name])}${bracketed(between(name, [low, high]))}` };
    };
    const moves = names.map((name) => [name, name === 'accuracy' ? paired : paired.measures?.[name]]).filter(([, one]) => known(one?.difference));
    fill(this.body,
      h('div', null, legend('base', 'trained'), intervals(names.map((name) => ({ ...titled(name), marks: [side('base', base, name), side('trained', trained, name)] })), RATE)),
      moves.length ? h('div', null, h('p', { class: 'caption ev-legend', t: 'evaluate.plot_difference' }),
        intervals(moves.map(([name, one]) => ({ ...titled(name), marks: [{ kind: 'difference', value: one.difference, low: one.low, high: one.high, words: () => `${change(name, one.difference)}${bracketed(between(name, [one.low, one.high], true))}` }] })),
          about(moves.flatMap(([, one]) => [one.difference, one.low, one.high]), (at) => (at === 0 ? '0' : points(at).replace(/\.0$/, ''))))) : null);
  }

  #csv() {
    const { base, trained, paired } = this.report;
    const names = SHOWN.filter((name) => isRate(name) && known(base[name]));
    return [['measure', 'side', 'value', 'low', 'high'], ...names.flatMap((name) => {
      const moves = (name === 'accuracy' ? paired : paired.measures?.[name]) ?? {};
      return [[name, 'base', base[name], ...(base.intervals?.[name] ?? [])], [name, 'trained', trained[name], ...(trained.intervals?.[name] ?? [])], [name, 'difference', moves.difference, moves.low, moves.high]];
    })];
  }
}

export const nats = (value) => number(value, 2);

// Parallel coordinates: an axis a swept field and a measure, a line a setting, coloured by accuracy from the least to the
// most. Where it is too narrow to be read the table stands alone.
import { fill, h, svg } from '../dom.js';
import { number, percent } from '../format.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import { MEASURES, known, shown } from './parts.js';

const EDGE = { top: 44, bottom: 16, side: 70 };
const HEIGHT = 330;
const NARROW = 560; // px below which axes stand too close
const LETTER = 7; // px, about

export class Plot {
  /** `onPoint(index | null)`: a line is pointed at. */
  constructor(onPoint) {
    this.onPoint = onPoint;
    this.chart = h('div', { class: 'sw-chart' });
    this.scale = h('p', { class: 'caption sw-scale', 'aria-hidden': 'true' }, h('span'), h('i'), h('span'));
    this.root = h('section', { class: 'card sw-plot', id: 'sweep-plot', hidden: true, tt: { 'aria-label': 'sweeps.plot' } },
      h('h2', { t: 'sweeps.plot' }), h('p', { class: 'caption', t: 'sweeps.plot_lead' }), this.scale, this.chart);
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width && width !== this.width) {
        this.width = width;
        if (this.sweep) this.draw(this.sweep, true);
      }
    }).observe(this.chart);
  }

  draw(sweep, force = false) {
    this.sweep = sweep;
    const lines = sweep.settings.map((one, at) => ({ ...one, at })).filter((one) => MEASURES.some(({ key }) => one[key]));
    this.root.hidden = lines.length < 2;
    if (this.root.hidden || !this.width || this.width < NARROW) {
      if (this.width < NARROW) this.root.hidden = true;
      return;
    }
    const key = JSON.stringify([lines, this.width, document.documentElement.lang, document.documentElement.dataset.theme]);
    if (key === this.drawn && !force) return;
    this.drawn = key;
    const axes = [...this.#fields(sweep, lines), ...this.#measures(lines)];
    this.#scale(lines);
    fill(this.chart, this.#picture(axes, lines));
  }

  mark(at) {
    for (const line of this.chart.querySelectorAll('.sw-line')) {
      line.toggleAttribute('data-marked', at !== null && line.dataset.setting === String(at));
      line.toggleAttribute('data-faded', at !== null && line.dataset.setting !== String(at));
    }
  }

  /** The swept fields that have more than one value left: each value has its place, in the order asked. */
  #fields(sweep, lines) {
    return Object.entries(sweep.axes ?? {}).map(([name, asked]) => {
      const there = asked.filter((value) => lines.some((one) => same(one.values[name], value)));
      const place = (one) => (there.length < 2 ? 0.5 : there.findIndex((value) => same(value, one.values[name])) / (there.length - 1));
      return { title: name, exact: true, place, ticks: there.map((value, at) => [there.length < 2 ? 0.5 : at / (there.length - 1), shown(value)]), most: there.length };
    }).filter((axis) => axis.most > 1);
  }

  #measures(lines) {
    return MEASURES.filter(({ key }) => key !== 'gain' || !lines.some((one) => one.accuracy)).map(({ key, title, write }) => {
      const values = lines.map((one) => one[key]?.value).filter(known);
      if (!values.length) return null;
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const flat = write(low) === write(high); // what reads alike is drawn alike: no difference is made up
      const place = (one) => (!known(one[key]?.value) ? null : flat ? 0.5 : (one[key].value - low) / (high - low));
      return { title: t(title), place, ticks: flat ? [[0.5, write(low)]] : [[0, write(low)], [1, write(high)]] };
    }).filter(Boolean);
  }

  /** Where a setting lies between the least and the most accurate (else the least and the most reward), 0 to 1. */
  #shade(lines) {
    const of = (one) => one.accuracy?.value ?? null;
    const values = lines.map(of).filter(known);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { low, high, any: values.length > 0, at: (one) => (!known(of(one)) ? null : high === low ? 1 : (of(one) - low) / (high - low)) };
  }

  #scale(lines) {
    const { low, high, any } = this.#shade(lines);
    this.scale.hidden = !any || percent(low, 1) === percent(high, 1);
    if (any) fill(this.scale, h('span', null, `${t('sweeps.c_accuracy')} ${percent(low, 1)}`), h('i'), h('span', null, percent(high, 1)));
  }

  #picture(axes, lines) {
    const room = { x: this.width - 2 * EDGE.side, y: HEIGHT - EDGE.top - EDGE.bottom };
    const x = (at) => EDGE.side + (axes.length < 2 ? room.x / 2 : (room.x * at) / (axes.length - 1));
    const y = (share) => EDGE.top + room.y * (1 - share);
    const words = lines.map((one) => this.#say(one)).join('; ');
    const picture = svg('svg', { width: this.width, height: HEIGHT, viewBox: `0 0 ${this.width} ${HEIGHT}`, role: 'img', 'aria-label': words });
    const gap = axes.length < 2 ? room.x : room.x / (axes.length - 1);
    axes.forEach((axis, at) => {
      picture.append(svg('line', { x1: x(at), x2: x(at), y1: y(0), y2: y(1), class: 'sw-axis' }));
      const title = visible(axis.title);
      picture.append(svg('text', { x: x(at), y: at % 2 && gap < 130 ? 30 : 14, class: 'sw-title', 'text-anchor': 'middle' }, short(title, (gap < 130 ? 2 : 1) * gap)));
    });
    const { at: shade } = this.#shade(lines);
    for (const one of lines) {
      const places = axes.map((axis, at) => [axis.place(one), at]).filter(([place]) => place !== null);
      const d = places.map(([place, at], nth) => `${nth ? 'L' : 'M'}${x(at).toFixed(1)},${y(place).toFixed(1)}`).join('');
      const part = shade(one);
      const group = svg('g', { class: 'sw-line', 'data-setting': one.at },
        svg('title', {}, this.#say(one)), svg('path', { d, class: 'sw-hit' }), svg('path', { d, class: 'sw-stroke' }),
        places.map(([place, at]) => svg('circle', { cx: x(at), cy: y(place), r: 3 })));
      if (part === null) group.dataset.unknown = '';
      else group.style.setProperty('--part', `${Math.round(100 * part)}%`);
      group.addEventListener('pointerenter', () => this.onPoint(one.at));
      group.addEventListener('pointerleave', () => this.onPoint(null));
      picture.append(group);
    }
    axes.forEach((axis, at) => {
      for (const [share, text] of axis.ticks) {
        picture.append(svg('text', { x: x(at) + 7, y: y(share) + (share === 0 ? 13 : -6), class: 'sw-tick' }, short(visible(text), gap - 10)));
      }
    });
    return picture;
  }

  #say(one) {
    return t('sweeps.plot_label', { label: one.label ? visible(one.label) : t('sweeps.seeds_only'), accuracy: one.accuracy ? percent(one.accuracy.value, 1) : number(null) });
  }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function short(text, room) {
  const most = Math.max(3, Math.floor(room / LETTER));
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text;
}

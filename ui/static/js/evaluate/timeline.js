// Held-out accuracy while training: hollow points with their intervals, the best and the last marked, and what fresh
// rows said of both.
import { fill, h, svg } from '../dom.js';
import { count, percent } from '../format.js';
import { onLanguage, t } from '../i18n.js';
import * as state from '../state.js';
import { between, csv, head, known, moved } from './parts.js';

const HEIGHT = 232;
const EDGE = { left: 44, right: 52, top: 26, bottom: 34 };
const BESIDE = 22; // px that `after` stands beside the last step: both were measured at it, on other rows

/** Measured while training, on the rows that choose the best; before and after are over all held-out rows. */
const chooses = (one) => !['before', 'after'].includes(one.when);

export class Timeline {
  constructor() {
    this.chart = h('div', { class: 'ev-chart' });
    this.words = h('p', { class: 'ev-said' });
    this.facts = h('ul', { class: 'ev-plain caption num' });
    this.root = h('section', { class: 'card', id: 'evaluate-timeline', hidden: true, tt: { 'aria-label': 'evaluate.timeline' } },
      head('evaluate.timeline', csv(() => `${this.run}-held-out`, () => this.#csv())), this.words, this.chart, h('p', { class: 'caption', t: 'evaluate.timeline_lead' }), this.facts);
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width === this.width) return;
      this.width = width;
      this.#draw();
    }).observe(this.chart);
    onLanguage(() => this.#draw());
  }

  /** `found`: GET .../timeline, or null. Two points, before and after, are in the table already. */
  draw(run, found) {
    const worth = (found?.points ?? []).filter((one) => known(one.accuracy)).length > 2 || found?.fresh;
    this.root.hidden = !worth;
    if (!worth || !moved(this, [run, found])) return;
    this.run = run;
    this.found = found;
    this.words.hidden = !found.words;
    fill(this.words, found.words ? h('span', { t: found.words }) : null);
    this.#draw();
  }

  #draw() {
    if (!this.found || !this.width) return;
    const { best, last, fresh } = this.found;
    const points = this.found.points.filter((one) => known(one.accuracy));
    const room = { x: this.width - EDGE.left - EDGE.right, y: HEIGHT - EDGE.top - EDGE.bottom };
    const most = Math.max(1, ...points.map((one) => one.step));
    const x = (step) => EDGE.left + (room.x * step) / most;
    const y = (share) => EDGE.top + room.y * (1 - share);
    const picture = svg('svg', { width: this.width, height: HEIGHT, viewBox: `0 0 ${this.width} ${HEIGHT}`, role: 'img', 'aria-label': points.map((one) => this.#say(one)).join('; ') });
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      picture.append(svg('line', { x1: EDGE.left, x2: this.width - EDGE.right, y1: y(share), y2: y(share), class: 'ev-grid' }), svg('text', { x: EDGE.left - 8, y: y(share) + 4, class: 'ev-tick', 'text-anchor': 'end' }, percent(share)));
    }
    const ticks = this.width < 460 ? 4 : 8;
    const every = Math.max(1, Math.ceil(most / ticks / 5) * 5);
    for (let step = 0; step <= most; step += every) picture.append(svg('text', { x: x(step), y: HEIGHT - EDGE.bottom + 18, class: 'ev-tick', 'text-anchor': 'middle' }, count(step)));
    picture.append(svg('text', { x: this.width - 16, y: HEIGHT - 2, class: 'ev-tick', 'text-anchor': 'end' }, t('app.step')));
    picture.append(svg('polyline', { points: points.filter(chooses).map((one) => `${x(one.step)},${y(one.accuracy)}`).join(' '), class: 'ev-line' }));
    const at = (one) => x(one.step) + (one.when === 'after' ? BESIDE : 0);
    for (const one of points) {
      const title = svg('title', {}, this.#say(one));
      const whisker = known(one.low) && known(one.high) ? svg('line', { x1: at(one), x2: at(one), y1: y(one.low), y2: y(one.high), class: 'ev-whisker' }) : '';
      const point = svg('g', { class: chooses(one) ? 'ev-at' : 'ev-at ev-whole' }, title, whisker, svg('circle', { cx: at(one), cy: y(one.accuracy), r: 4.5 }));
      // What was trained on at that moment, as on every chart over steps.
      if (chooses(one) && one.step > 0) {
        point.classList.add('ev-to');
        point.addEventListener('click', () => state.set({ run: this.run, tab: 'samples', step: one.step }));
      }
      picture.append(point);
    }
    const there = (one) => known(one?.step) && known(one.accuracy);
    const spot = (one) => [x(one.step), y(one.accuracy)];
    const say = (one, names, up) => {
      const [cx, cy] = spot(one);
      const anchor = cx > this.width - 140 ? 'end' : cx < EDGE.left + 40 ? 'start' : 'middle';
      picture.append(svg('text', { x: anchor === 'end' ? cx + 10 : cx, y: up ? cy - 13 : cy + 24, class: 'ev-flag', 'text-anchor': anchor }, `${names.map((name) => t(`evaluate.${name}`)).join(' · ')} ${percent(one.accuracy, 1)}`));
    };
    // The best is framed, the last step is filled: shapes that can be told apart where both are one point.
    if (there(best)) picture.append(svg('path', { d: `M${spot(best)[0]},${spot(best)[1] - 9} l9,9 l-9,9 l-9,-9 z`, class: 'ev-best' }));
    if (there(last)) picture.append(svg('circle', { cx: spot(last)[0], cy: spot(last)[1], r: 4.5, class: 'ev-last' }));
    if (there(best) && there(last) && best.step === last.step) say(best, ['best', 'last'], y(best.accuracy) > EDGE.top);
    else {
      if (there(best)) say(best, ['best'], true);
      if (there(last)) say(last, ['last'], false);
    }
    fill(this.chart, picture);
    const side = (key, one, n) => (known(one?.accuracy) ? h('li', null, `${t(key, { step: known(one.step) ? count(one.step) : '–', n: known(n) ? count(n) : '–' })}: ${percent(one.accuracy, 1)} (${between('accuracy', [one.low, one.high])})`) : null);
    fill(this.facts, side('evaluate.best_at', best), side('evaluate.last_at', last), side('evaluate.best_fresh', fresh?.best, fresh?.n), side('evaluate.last_fresh', fresh?.last, fresh?.n));
  }

  #say(one) {
    return t('evaluate.at_step', { step: count(one.step), share: percent(one.accuracy, 1), range: between('accuracy', [one.low, one.high]), n: count(one.n) });
  }

  #csv() {
    return [['step', 'n', 'accuracy', 'low', 'high'], ...this.found.points.map((one) => [one.step, one.n, one.accuracy, one.low, one.high])];
  }
}

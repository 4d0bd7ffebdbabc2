// What the check of a file found: can it be used, how many rows of each kind, each problem with its row, what was changed.

import { fill, h, setText } from '../dom.js';
import { DASH, count } from '../format.js';
import { t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { plural, saying } from './parts.js';

const KNOWN = ['rows', 'blank', 'duplicate', 'over_long', 'unreadable_gold', 'dropped'];
const SHOWN = 200;

/** {name: number} as figures, the rows first; what this page has no word for stands under its own name. */
export function counts(all) {
  const entries = Object.entries(all ?? {}).filter(([, value]) => Number.isFinite(value));
  return h('dl', { class: 'd-counts' }, entries.map(([name, value]) => h('div', { class: 'd-count', data: { count: name, some: String(value > 0) } },
    h('dd', { class: 'num' }, count(value)), h('dt', null, KNOWN.includes(name) ? t(`data.count_${name}`) : visible(name.replaceAll('_', ' '))))));
}

export function notes(list) {
  return h('ul', { class: 'd-notes' }, (list ?? []).map((note) => h('li', null, plain(t(note), h))));
}

export class Report {
  /** `onOffer(offer)` when a conversion is taken, `onTakeBack(key)` when one is given up. */
  constructor({ onOffer, onTakeBack }) {
    Object.assign(this, { onOffer, onTakeBack });
    this.report = null;
    this.taken = [];
    this.verdict = h('p', { class: 'd-verdict', 'aria-live': 'polite' });
    this.body = h('div', { class: 'd-report-body' });
    this.root = h('section', { class: 'd-report' }, this.verdict, this.body);
    saying(() => this.draw());
  }

  /** `taken`: the offers that are laid over the mapping now, [{words, mapping}]. */
  set(report, taken) {
    this.report = report;
    this.taken = taken;
    this.draw();
  }

  draw() {
    const { report } = this;
    this.root.hidden = report === null;
    if (report === null) return;
    const problems = report.problems ?? [];
    this.verdict.dataset.ok = String(Boolean(report.ok));
    setText(this.verdict, report.ok ? plural('data.usable', report.rows, { n: count(report.rows) }) : plural('data.unusable', problems.length, { n: count(problems.length) }));
    const offers = report.offers ?? [];
    fill(this.body,
      counts(report.counts),
      offers.length || this.taken.length ? h('div', { class: 'd-offers' },
        this.taken.map((offer, at) => h('span', { class: 'd-taken-offer' }, h('span', null, t(offer.words)),
          h('button', { type: 'button', class: 'btn ghost small', 'aria-label': `${t('data.take_back')}: ${t(offer.words)}`, onclick: () => this.onTakeBack(at) }, t('data.take_back')))),
        offers.map((offer) => h('button', { type: 'button', class: 'btn small d-offer', onclick: () => this.onOffer(offer) }, t(offer.words)))) : null,
      problems.length ? this.problems(problems) : null,
      report.notes?.length ? h('div', null, h('h3', { t: 'data.notes' }), notes(report.notes)) : null);
  }

  problems(list) {
    const rows = list.slice(0, SHOWN).map(({ row, column, what }) => h('tr', null,
      h('td', { class: 'num' }, row === null || row === undefined ? DASH : count(row)),
      h('td', null, column ? h('code', null, visible(column)) : DASH),
      h('td', null, plain(t(what), h))));
    const more = list.length > SHOWN ? h('p', { class: 'caption' }, t('data.more_problems', { n: count(list.length - SHOWN) })) : null;
    return h('div', null, h('h3', { t: 'data.problems' }),
      h('div', { class: 'd-scroll d-problems', tabindex: '0', role: 'region', 'aria-label': t('data.problems') },
        h('table', { class: 'd-table' }, h('thead', null, h('tr', null, ['row', 'column', 'what'].map((name) => h('th', { scope: 'col', class: name === 'row' ? 'num' : '', t: `data.${name}` })))), h('tbody', null, rows))), more);
  }
}

// What the check of a file found: can it be used, how many rows of each kind, each problem with its row, what was changed.

import { fill, h, setText } from '../dom.js';
import { DASH, count } from '../format.js';
import { t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { plural, saying } from './parts.js';

/** Counts in the order in which they are read. The first ones are shown also where they are 0. */
const ALWAYS = ['rows', 'usable', 'blank_prompt', 'duplicate_prompts', 'long_prompts'];
const WHERE_SOME = ['blank_ground_truth', 'unreadable_ground_truth', 'bool_ground_truth', 'repeated_key', 'conflicting_answers', 'duplicate_ids', 'conflicting_ids', 'bad_rows', 'blank_lines', 'dropped_answers', 'blank_template_cells', 'longest_prompt'];
const GOOD = new Set(['rows', 'usable', 'longest_prompt']);
const ICONS = { error: ['✕', 'data.error'], warn: ['▲', 'data.warn'] };

/** {name: number} as figures; a count that has no words here stands under its own name. */
export function counts(all) {
  const given = all ?? {};
  const others = Object.keys(given).filter((name) => !ALWAYS.includes(name) && !WHERE_SOME.includes(name) && !name.startsWith('unreadable_'));
  const shown = [...ALWAYS.filter((name) => Number.isFinite(given[name]) || (name !== 'rows' && 'usable' in given)), ...[...WHERE_SOME, ...others].filter((name) => given[name] > 0)];
  return h('dl', { class: 'd-counts' }, shown.map((name) => {
    const value = given[name] ?? 0;
    const kind = GOOD.has(name) ? 'good' : value > 0 ? 'some' : 'none';
    const known = ALWAYS.includes(name) || WHERE_SOME.includes(name);
    return h('div', { class: 'd-count', data: { count: name, kind } }, h('dd', { class: 'num' }, count(value)), h('dt', null, known ? t(`data.count_${name}`) : visible(name.replaceAll('_', ' '))));
  }));
}

export function notes(list) {
  return h('ul', { class: 'd-notes' }, (list ?? []).map((note) => h('li', null, plain(t(note), h))));
}

export class Report {
  /** `onOffer(offer)` when a conversion is taken, `onTakeBack(at)` when one is given up. */
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
    const problems = (report.problems ?? []).filter((one) => one.level !== 'info'); // the notes say these
    const bad = Math.max(report.counts?.bad_rows ?? 0, problems.filter((one) => one.level !== 'warn').length);
    const usable = usableRows(report);
    const unmapped = isUnmapped(report);
    this.verdict.dataset.ok = unmapped ? '' : String(Boolean(report.ok));
    if (unmapped) {
      // The same fault in every row says one thing: no column has been named yet.
      setText(this.verdict, t(report.kind === 'sft' ? 'data.name_columns_sft' : 'data.name_columns'));
      return void fill(this.body, this.offers(report.offers ?? []));
    }
    setText(this.verdict, report.ok ? plural('data.usable', usable, { n: count(usable) }) : plural('data.unusable', bad, { n: count(bad) }));
    fill(this.body, counts(report.counts), this.offers(report.offers ?? []), problems.length ? this.problems(problems) : null,
      report.notes?.length ? h('div', null, h('h3', { t: 'data.notes' }), notes(report.notes)) : null);
  }

  offers(list) {
    if (!list.length && !this.taken.length) return null;
    return h('div', { class: 'd-offers' },
      this.taken.map((offer, at) => h('span', { class: 'd-taken-offer' }, h('span', null, t(offer.words)),
        h('button', { type: 'button', class: 'btn ghost small', 'aria-label': `${t('data.take_back')}: ${t(offer.words)}`, onclick: () => this.onTakeBack(at) }, t('data.take_back')))),
      list.length ? h('span', { class: 'd-offers-lead' }, t('data.offers')) : null,
      list.map((offer) => h('button', { type: 'button', class: 'btn small d-offer', onclick: () => this.onOffer(offer) }, t(offer.words))));
  }

  problems(list) {
    const rows = list.map(({ row, column, what, level }) => {
      const [icon, word] = ICONS[level] ?? ICONS.error;
      return h('tr', { data: { level: level ?? 'error' } },
        h('td', { class: 'd-level' }, h('span', { 'aria-hidden': 'true' }, icon), h('span', { class: 'visually-hidden' }, t(word))),
        h('td', { class: 'num' }, row === null || row === undefined ? DASH : count(row)),
        h('td', null, column ? h('code', null, visible(column)) : DASH),
        h('td', { class: 'd-what' }, plain(t(what), h)));
    });
    const head = h('tr', null, h('th', { scope: 'col' }, h('span', { class: 'visually-hidden', t: 'data.level' })), ['row', 'column', 'what'].map((name) => h('th', { scope: 'col', class: name === 'row' ? 'num' : '', t: `data.${name}` })));
    return h('div', null, h('h3', { t: 'data.problems' }),
      h('div', { class: 'd-scroll d-problems', tabindex: '0', role: 'region', 'aria-label': t('data.problems') },
        h('table', { class: 'd-table' }, h('thead', null, head), h('tbody', null, rows))));
  }
}

/** No row can be used because the columns have not been named. */
export const isUnmapped = (report) => usableRows(report) === 0 && report.counts?.no_column > 0 && report.counts.no_column === report.counts.bad_rows;

/** Rows that an import would store. */
export const usableRows = (report) => report.counts?.usable ?? 0;

// The table: five measures, what no learning would give beside accuracy, the samples; then n and the paired test.
import { fill, h } from '../dom.js';
import { DASH, count, number, percent } from '../format.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import { between, change, csv, figure, head, known, moved } from './parts.js';

const MEASURES = ['accuracy', 'format_rate', 'mean_length', 'eos_rate', 'mean_reward'];
const CEILING = 0.95; // pass@k of the base above which too few problems are left to show anything new
const SAMPLED = ['pass_at_1', 'pass_at_k', 'maj_at_k'];

export class Table {
  constructor() {
    this.body = h('div');
    this.facts = h('dl', { class: 'card ev-facts', id: 'evaluate-facts' });
    this.root = h('section', { class: 'card ev-table', id: 'evaluate-table', tt: { 'aria-label': 'evaluate.table' } },
      head('evaluate.table', csv(() => `${this.report.run}-measures`, () => this.#csv())), this.body);
  }

  draw(report) {
    if (!moved(this, report)) return;
    // One side alone, or rows that nobody could judge: the table stands all the same, with dashes.
    this.report = { ...report, base: report.base ?? {}, trained: report.trained ?? {}, paired: report.paired ?? {} };
    const { k, baselines } = report;
    fill(this.body, h('div', { class: 'table-wrap' }, h('table', { class: 'table ev-measures', role: 'table' },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, h('th', { scope: 'col', role: 'columnheader' }, h('span', { class: 'visually-hidden', t: 'evaluate.measure' })),
        ['base', 'trained', 'difference'].map((name) => h('th', { class: 'num', scope: 'col', role: 'columnheader' }, name === 'difference' ? null : h('i', { class: 'ev-dot', data: { kind: name }, 'aria-hidden': 'true' }), h('span', { t: `evaluate.${name}` }))))),
      h('tbody', { role: 'rowgroup' }, MEASURES.map((name) => [this.#row(name, `evaluate.m_${name}`), name === 'accuracy' ? this.#beside(baselines) : null]),
        k > 0 ? [h('tr', { class: 'ev-part', role: 'row' }, h('th', { colspan: 4, scope: 'colgroup', role: 'cell', class: 'caption', t: 'evaluate.sampled', vars: { k: count(k), temperature: known(report.temperature) ? number(report.temperature) : DASH } })), SAMPLED.map((name) => this.#row(name, `evaluate.m_${name}`, { k: count(k) }))] : null))),
    k > 0 ? this.#answer(k) : null,
    h('p', { class: 'caption ev-new', t: k > 0 ? 'evaluate.sampled_means' : 'evaluate.no_samples', vars: { k: count(k) } }));
    fill(this.facts, this.#facts());
  }

  #row(name, title, vars = {}, extra = '') {
    const { base, trained, paired } = this.report;
    const cell = (side) => h('td', { class: 'num', role: 'cell' }, h('span', { class: 'ev-value' }, figure(name, side[name])), h('span', { class: 'caption ev-range-words', t: () => between(name, side.intervals?.[name]) }));
    const moves = name === 'accuracy' ? paired : paired.measures?.[name];
    const moved = moves?.difference ?? (known(base[name]) && known(trained[name]) ? trained[name] - base[name] : null);
    return h('tr', { class: extra, role: 'row', data: { measure: name } }, h('th', { scope: 'row', role: 'rowheader', t: title, vars }), cell(base), cell(trained),
      h('td', { class: 'num', role: 'cell' }, h('span', { class: 'ev-value strong', t: () => change(name, moved) }), h('span', { class: 'caption ev-range-words', t: () => between(name, moves && [moves.low, moves.high], true) })));
  }

  /** Under accuracy: stricter readings of it, and what a model would get that learned nothing. */
  #beside(baselines) {
    const { base, trained } = this.report;
    const same = (key, share, more = null) => (known(share) ? h('tr', { class: 'ev-sub', role: 'row', data: { measure: key } }, h('th', { scope: 'row', role: 'rowheader' }, h('span', { t: `evaluate.b_${key}` }), more),
      ['base', 'trained'].map(() => h('td', { class: 'num', role: 'cell' }, percent(share, 1))), h('td', { class: 'num', role: 'cell' }, DASH)) : null);
    const answer = baselines?.majority_answer;
    return [
      known(base.strict) || known(trained.strict) ? this.#row('strict', 'evaluate.b_strict', {}, 'ev-sub') : null,
      known(base.balanced_accuracy) || known(trained.balanced_accuracy) ? this.#row('balanced_accuracy', 'evaluate.b_balanced', {}, 'ev-sub') : null,
      same('majority', baselines?.majority, answer === null || answer === undefined ? null : h('code', { class: 'ev-answer' }, visible(String(answer)).slice(0, 40))),
      same('chance', baselines?.chance),
    ];
  }

  /** Something new, or only steadier: what the intervals allow to say. */
  #answer(k) {
    const { base, paired: { measures = {} } } = this.report;
    const rose = (name) => known(measures[name]?.low) && measures[name].low > 0;
    const fell = (name) => known(measures[name]?.high) && measures[name].high < 0;
    if (!known(measures.pass_at_k?.difference)) return null;
    const key = rose('pass_at_k') ? 'new' : fell('pass_at_k') ? 'narrower' : rose('pass_at_1') || rose('maj_at_k') ? (base.pass_at_k >= CEILING ? 'ceiling' : 'steadier') : 'neither';
    const range = () => between('pass_at_k', [measures.pass_at_k.low, measures.pass_at_k.high], true);
    return h('p', { class: 'ev-answer-words', data: { answer: key }, t: () => t(`evaluate.answer_${key}`, { k: count(k), change: change('pass_at_k', measures.pass_at_k.difference), range: key === 'new' || !range() ? range() : `, ${range()}`, base: percent(base.pass_at_k) }) });
  }

  #facts() {
    const { report } = this;
    const { paired } = report;
    const fact = (key, value, title) => h('div', null, h('dt', { class: 'caption', t: key, tt: title ? { title } : undefined }), h('dd', { class: 'num' }, value));
    return [
      fact('evaluate.n', count(report.n), 'evaluate.n_title'),
      fact('evaluate.skipped', count(report.skipped), 'evaluate.skipped_title'),
      fact('evaluate.left_out', count(report.left_out), 'evaluate.left_out_title'),
      fact('evaluate.p', known(paired.p) && paired.won + paired.lost > 0 ? pValue(paired.p) : DASH, 'evaluate.p_title'),
      fact('evaluate.won_lost', h('span', null, known(paired.won) ? `${count(paired.won)} / ${count(paired.lost)}` : DASH), 'evaluate.won_lost_title'),
    ];
  }

  #csv() {
    const { base, trained, paired, n } = this.report;
    const rows = [...MEASURES, 'strict', 'balanced_accuracy', ...SAMPLED].map((name) => {
      const moves = (name === 'accuracy' ? paired : paired.measures?.[name]) ?? {};
      return [name, n, base[name], ...(base.intervals?.[name] ?? [null, null]), trained[name], ...(trained.intervals?.[name] ?? [null, null]), moves.difference, moves.low, moves.high];
    });
    return [['measure', 'n', 'base', 'base_low', 'base_high', 'trained', 'trained_low', 'trained_high', 'difference', 'difference_low', 'difference_high'], ...rows];
  }
}

const pValue = (p) => (p < 0.0001 ? t('evaluate.p_small') : number(p, 2));

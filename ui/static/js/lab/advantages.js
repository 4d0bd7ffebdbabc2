// Advantages by hand: rewards typed in or taken from a run, and what GRPO would make of them. The table is both.
import * as api from '../api.js';
import { fill, h, setText } from '../dom.js';
import { number, percent, signed } from '../format.js';
import { readNumber, writeNumber } from '../form/values.js';
import { plural, saying } from '../form/words.js';
import { t } from '../i18n.js';
import { rewardHue, variable } from '../live/colors.js';
import { visible } from '../plain.js';
import { conflictList } from './conflicts.js';
import { failed, later, runMenu } from './parts.js';

const SCALES = ['group', 'batch', 'none'];
const EXAMPLE = { names: ['reward'], weights: [1], size: 4, rows: [1, 0, 0, 1, 1, 1, 1, 1].map((value) => [value]) };
const MOST = 256; // completions
const COLUMNS = 6;

/** 1.5 -> 1.5; '' -> null (not scored); anything else -> undefined. */
function readCell(text) {
  if (text.trim() === '') return null;
  const value = readNumber(text);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export class Advantages {
  constructor() {
    Object.assign(this, structuredClone(EXAMPLE));
    this.together = 'sum_then_normalize';
    this.size_ = h('input', { id: 'lab-adv-size', class: 'input num', type: 'number', min: 2, max: MOST, step: 1, value: String(this.size) });
    this.size_.addEventListener('input', () => { if (this.size_.checkValidity() && this.size_.value) { this.size = Number(this.size_.value); this.draw(); } });
    this.ways = ['sum_then_normalize', 'normalize_then_sum'].map((way) => h('button', { type: 'button', t: `lab.adv_${way}`, data: { way }, title: way, onclick: () => { this.together = way; this.#mark(); this.#results(); } }));
    this.run = runMenu('lab-adv-run', (run) => run.last_step > 0, { onPick: () => this.#take() });
    this.step = h('input', { id: 'lab-adv-step', class: 'input num', type: 'number', min: 0, step: 1, tt: { placeholder: 'lab.step_latest', 'aria-label': 'lab.step' } });
    this.step.addEventListener('change', () => this.#take());
    this.notice = h('div', { class: 'lab-notice', 'aria-live': 'polite' });
    this.words = h('p', { class: 'lab-adv-words', role: 'status' });
    this.table = h('div', { class: 'table-wrap' });
    this.against = h('div', { class: 'lab-against' });
    this.root = h('section', { id: 'lab-advantages', tt: { 'aria-label': 'lab.nav_advantages' } },
      h('p', { class: 'muted lab-lead', t: 'lab.adv_lead' }),
      h('div', { class: 'lab-adv-bar' },
        h('div', { class: 'pair' }, h('label', { class: 'caption', htmlFor: 'lab-adv-size', t: 'lab.group_size' }), this.size_),
        h('div', { class: 'pair' }, h('span', { class: 'caption', t: 'lab.adv_together' }), h('div', { class: 'segmented', role: 'group', tt: { 'aria-label': 'lab.adv_together' } }, this.ways)),
        h('div', { class: 'pair' }, h('span', { class: 'caption', t: 'lab.adv_from_run' }), this.run, this.step),
        h('div', { class: 'row' },
          h('button', { id: 'lab-adv-column', class: 'btn small', type: 'button', t: 'lab.adv_column', onclick: () => this.#column() }),
          h('button', { id: 'lab-adv-example', class: 'btn small', type: 'button', t: 'lab.adv_example', onclick: () => this.#use(structuredClone(EXAMPLE)) }))),
      this.notice, this.words, this.table,
      h('section', { class: 'lab-sub' }, h('h3', { t: 'lab.conflicts' }), h('p', { class: 'caption', t: 'lab.conflicts_lead' }), this.against));
    this.ask = later((isNew) => this.#ask(isNew), 150);
    saying(() => this.#results());
    this.#mark();
    this.draw();
  }

  #mark() {
    for (const way of this.ways) way.setAttribute('aria-pressed', String(way.dataset.way === this.together));
  }

  #use({ names, weights, size, rows }) {
    Object.assign(this, { names, weights, size, rows });
    this.size_.value = String(size);
    this.draw();
  }

  async #take() {
    const turn = (this.turn = (this.turn ?? 0) + 1); // only the run that was picked last is shown
    fill(this.notice);
    if (!this.run.value) return;
    try {
      const run = this.run.value;
      const { groups } = await api.get(api.address(`/api/runs/${encodeURIComponent(run)}/samples`, { step: this.step.value || undefined, limit: 4 }));
      if (!groups.length) return void fill(this.notice, h('p', { class: 'muted', t: 'lab.no_groups' }));
      const size = Math.max(2, groups[0].completions.length);
      const { config } = await api.get(`/api/runs/${encodeURIComponent(run)}`);
      if (turn !== this.turn) return;
      const whole = groups.filter((group) => group.completions.length === size).slice(0, Math.max(1, Math.floor(MOST / size)));
      this.#use({ names: [...groups[0].reward_names], weights: groups[0].reward_names.map((_, at) => config.reward_weights?.[at] ?? 1), size, rows: whole.flatMap((group) => group.completions.map((one) => [...one.rewards])) });
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.notice, failed(error));
    }
  }

  #column() {
    if (this.names.length >= COLUMNS) return;
    this.names.push(`reward ${this.names.length + 1}`);
    this.weights.push(1);
    for (const row of this.rows) row.push(0);
    this.draw();
  }

  #drop(at) {
    for (const list of [this.names, this.weights, ...this.rows]) list.splice(at, 1);
    this.draw();
  }

  /** Rows are always whole groups: what is missing is not scored. */
  draw() {
    const { size, names } = this;
    if (this.rows.length % size) while (this.rows.length % size && this.rows.length < MOST) this.rows.push(names.map(() => null));
    const many = names.length > 1;
    const weightOf = (name, at) => h('th', { scope: 'col', class: 'lab-adv-name' },
      h('span', null, h('i', { class: 'dot', style: { background: `var(${variable(rewardHue(at))})` }, 'aria-hidden': 'true' }), visible(name), many ? h('button', { type: 'button', class: 'btn ghost small lab-icon', tt: { 'aria-label': () => t('lab.remove_reward', { name }) }, onclick: () => this.#drop(at) }, '×') : null),
      many ? h('label', { class: 'caption' }, '× ', this.#weight(name, at)) : null);
    const head = h('tr', null, h('th', { scope: 'col', t: 'lab.adv_number' }), names.map(weightOf), h('th', { scope: 'col', class: 'num', t: 'lab.total', hidden: !many }),
      SCALES.map((scale) => h('th', { scope: 'col', class: 'lab-adv-scale', data: { scale } }, h('span', { t: `lab.scale_${scale}` }))), h('td', { class: 'lab-adv-rest' }));
    this.lines = [];
    this.ends = [];
    const body = [];
    for (let start = 0; start < this.rows.length; start += size) {
      const end = h('td', { colspan: String(names.length + 2 + (many ? 1 : 0) + SCALES.length) }, h('span', { class: 'lab-adv-group-words' }));
      this.ends.push(end);
      body.push(h('tr', { class: 'lab-adv-group', data: { group: start / size } }, end));
      for (let at = start; at < start + size; at++) body.push(this.#line(at, many));
    }
    fill(this.table, h('table', { class: 'table lab-adv', id: 'lab-adv-table' }, h('thead', null, head), h('tbody', null, body)),
      h('div', { class: 'row' }, h('button', { type: 'button', class: 'btn small', t: 'lab.adv_group', disabled: this.rows.length + size > MOST, onclick: () => { this.rows.push(...Array.from({ length: size }, () => names.map(() => 0))); this.draw(); } }),
        h('button', { type: 'button', class: 'btn small', t: 'lab.adv_less', disabled: this.rows.length <= size, onclick: () => { this.rows.splice(-size); this.draw(); } }),
        h('span', { class: 'caption', t: 'lab.adv_paste' })));
    this.ask();
  }

  #weight(name, at) {
    const input = h('input', { type: 'text', inputmode: 'decimal', class: 'input num', value: writeNumber(this.weights[at]), tt: { 'aria-label': () => t('lab.weight_of', { name }) } });
    input.addEventListener('input', () => {
      const value = readCell(input.value);
      input.setAttribute('aria-invalid', String(typeof value !== 'number'));
      if (typeof value === 'number') { this.weights[at] = value; this.ask(); }
    });
    return input;
  }

  #line(at, many) {
    const inputs = this.names.map((name, k) => {
      const input = h('input', { type: 'text', inputmode: 'decimal', class: 'input num', autocomplete: 'off', value: writeNumber(this.rows[at][k]), placeholder: '–', tt: { 'aria-label': () => t('lab.adv_cell', { name, n: at + 1 }) } });
      input.addEventListener('input', () => {
        const value = readCell(input.value);
        input.setAttribute('aria-invalid', String(value === undefined));
        if (value !== undefined) { this.rows[at][k] = value; this.ask(); }
      });
      input.addEventListener('paste', (event) => this.#pasted(event, at, k));
      return h('td', null, input);
    });
    const total = h('td', { class: 'num', hidden: !many });
    const results = SCALES.map((scale) => h('td', { class: 'lab-adv-scale', data: { scale } }, h('span', { class: 'num' }, '–'), h('span', { class: 'advantage-bar', 'aria-hidden': 'true' }, h('i'))));
    this.lines[at] = { total, results };
    return h('tr', { data: { row: at } }, h('td', { class: 'caption' }, String((at % this.size) + 1)), inputs, total, results, h('td', { class: 'lab-adv-rest' }));
  }

  /** Several numbers at once: lines are completions, what stands in a line are the rewards. */
  #pasted(event, at, k) {
    const text = event.clipboardData?.getData('text') ?? '';
    let lines = text.trim().replace(/^[[(]|[\])]$/g, '').split(/\r?\n|;/).map((line) => line.trim().split(/[\s,]+/).filter(Boolean));
    if (lines.length === 1 && lines[0].length > 1 && this.names.length - k < lines[0].length) lines = lines[0].map((one) => [one]);
    if (lines.length === 1 && lines[0].length <= 1) return;
    const values = lines.map((line) => line.map((one) => (/^(none|null|nan|–|-)$/i.test(one) ? null : readCell(one))));
    if (values.flat().includes(undefined)) return; // no numbers: let the cell say so
    event.preventDefault();
    values.slice(0, MOST - at).forEach((line, i) => {
      this.rows[at + i] ??= this.names.map(() => null);
      line.slice(0, this.names.length - k).forEach((value, j) => { this.rows[at + i][k + j] = value; });
    });
    this.draw();
  }

  async #ask(isNew) {
    const { rows, weights, size, names } = this;
    try {
      const answer = await api.post('/api/lab/advantages', { rewards: rows, weights, group_size: size });
      if (!isNew()) return;
      this.answer = answer;
      fill(this.notice);
      this.#results();
      const groups = [];
      for (let start = 0; start < rows.length; start += size) groups.push(rows.slice(start, start + size));
      conflictList(this.against, names, groups, weights);
    } catch (error) {
      if (error.status === undefined) throw error;
      if (isNew()) fill(this.notice, failed(error));
    }
  }

  #results() {
    const { answer, together } = this;
    if (!answer || answer.total.length !== this.lines?.length) return;
    const columns = together === 'normalize_then_sum' ? Object.fromEntries(SCALES.map((scale) => [scale, answer.advantages.normalize_then_sum])) : answer.advantages;
    this.table.toggleAttribute('data-one', together === 'normalize_then_sum');
    for (const head of this.table.querySelectorAll('th[data-scale="group"] > span')) setText(head, t(together === 'normalize_then_sum' ? 'lab.scale_gdpo' : 'lab.scale_group'));
    for (const scale of SCALES) {
      const widest = Math.max(1e-9, ...columns[scale].map((value) => Math.abs(value ?? 0)));
      this.lines.forEach(({ total, results }, at) => {
        setText(total, number(answer.total[at]));
        const cell = results[SCALES.indexOf(scale)];
        const value = columns[scale][at];
        const dead = answer.groups[Math.floor(at / this.size)].dead && together !== 'normalize_then_sum';
        setText(cell.firstElementChild, answer.total[at] === null ? '–' : signed(dead ? 0 : value, 4));
        const bar = cell.lastElementChild.firstElementChild;
        bar.className = (value ?? 0) < 0 ? 'minus' : 'plus';
        bar.style.width = dead ? '0%' : `${(50 * Math.abs(value ?? 0)) / widest}%`;
      });
    }
    answer.groups.forEach((group, at) => this.#ending(group, at));
    const dead = answer.groups.filter((group) => group.dead).length;
    setText(this.words, answer.groups.length === 1 ? '' : `${plural('lab.adv_dead', dead, { all: answer.groups.length, share: percent(answer.dead_share) })} ${t('lab.adv_batch', { std: number(answer.batch_std, 4) })}`);
  }

  #ending(group, at) {
    const scored = this.answer.total.slice(at * this.size, (at + 1) * this.size).some((value) => value !== null);
    const facts = t('lab.adv_facts', { n: at + 1, mean: number(group.mean, 4), std: number(group.std, 4) });
    const why = group.dead ? t(scored ? 'lab.adv_all_equal' : 'lab.adv_unscored') : '';
    fill(this.ends[at].firstElementChild, h('span', { class: 'strong num' }, facts), why ? h('span', { class: 'lab-dead' }, `○ ${why}`) : null);
  }
}

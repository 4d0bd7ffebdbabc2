// One side of a turn: which weights answer, in which state that is, its answers, and what they come to.
import { fill, h } from '../dom.js';
import { number, percent } from '../format.js';
import { label, t } from '../i18n.js';
import { visible } from '../plain.js';
import { AnswerView } from './answer.js';
import { sideName } from './sides.js';

export class ColumnView {
  /** `turn`: TurnView; `side`: 'left' | 'right'; `n`: answers that are asked for. */
  constructor(turn, side, n) {
    Object.assign(this, { turn, side, n, answers: [], who: null, loads: false, opened: false });
    const given = turn.request[side];
    this.name = h('h3', { class: 'c-who', t: () => sideName(given) });
    this.weights = h('span', { class: 'caption c-weights' });
    this.status = h('p', { class: 'caption c-wait', role: 'presentation', hidden: true });
    this.summary = h('p', { class: 'c-summary num', hidden: true });
    this.list = h('div', { class: 'c-answers' });
    this.fault = h('div', { class: 'notice', data: { level: 'error' }, role: 'alert', hidden: true }, h('span'));
    this.root = h('section', { class: 'c-column', data: { side }, tt: { 'aria-label': () => `${t(`chat.${side}`)}: ${sideName(given)}` } },
      h('header', { class: 'c-column-head' }, h('span', { class: 'c-swatch', 'aria-hidden': 'true' }), this.name, this.weights), this.status, this.summary, this.fault, this.list);
  }

  /** Who answers, as the process says it: {weights, base_weights, adapter, model, dtype, step, opened}. */
  begin(who) {
    this.opened = Boolean(who.opened);
    this.status.hidden = this.answers.length > 0;
    if (this.n === 1 || !this.answers.length) this.wait('chat.writing');
    if (!who.weights) return;
    this.who = who;
    const model = visible(who.model ?? '');
    label(this.weights, () => [
      model,
      who.adapter === true ? t('chat.with_adapter') : who.adapter === false ? t('chat.no_adapter') : '',
      t('chat.weights', { hash: who.weights.slice(0, 12) }),
      who.adapter && who.base_weights ? t('chat.base_weights', { hash: who.base_weights.slice(0, 12) }) : '',
    ].filter(Boolean).join(' · '));
    this.root.dataset.weights = who.weights;
  }

  /** {model, seconds, done, total} while the process loads. */
  loading({ seconds, done, total }) {
    if (this.answers.length) return;
    this.loads = true;
    const share = total ? ` · ${percent(done / total)}` : '';
    this.wait(() => t('chat.loading_model', { s: Math.round(seconds ?? 0) }) + share);
  }

  wait(key, vars) {
    this.status.hidden = false;
    label(this.status, key, vars);
  }

  answer(sample, opened = this.opened) {
    this.status.hidden = true;
    while (this.answers.length <= sample) {
      const view = new AnswerView(this.turn, this.side, this.answers.length, this.n > 1, opened);
      this.answers.push(view);
      this.list.append(view.root);
    }
    return this.answers[sample];
  }

  end(sample, answer) {
    this.answer(sample, this.opened || answer.opened).end(answer);
    this.#sum();
  }

  fail(error) {
    this.fault.hidden = false;
    label(this.fault.firstElementChild, error);
    this.close('chat.failed_here');
  }

  /** Nothing more will come. */
  close(key) {
    if (!this.answers.length || this.answers.some((view) => !view.answer)) {
      if (this.fault.hidden && !this.answers.length) this.wait(key);
      else this.status.hidden = true;
    }
    for (const view of this.answers) view.cut(key);
  }

  get ended() {
    return this.answers.filter((view) => view.answer).map((view) => view.answer);
  }

  /** 'right 5 of 8', or how many ended by themselves where nothing judges. */
  words() {
    const ended = this.ended;
    const judged = ended.filter((one) => typeof one.correct === 'boolean');
    const rewarded = ended.map((one) => one.total).filter((total) => total !== null);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const parts = [];
    if (judged.length) parts.push(t('chat.right_of', { right: judged.filter((one) => one.correct).length, n: judged.length }));
    if (ended.length > 1) {
      const distinct = new Set(ended.map((one) => one.text)).size;
      parts.push(t('chat.distinct', { n: distinct }));
      if (rewarded.length) parts.push(t('chat.mean_reward', { score: number(mean(rewarded)) }));
      const lengths = ended.map((one) => one.tokens).filter((tokens) => tokens !== null);
      if (lengths.length) parts.push(t('chat.mean_tokens', { n: number(mean(lengths)) }));
      parts.push(t('chat.ended_of', { ended: ended.filter((one) => one.eos).length, n: ended.length }));
    }
    return parts.join(' · ');
  }

  #sum() {
    this.summary.hidden = this.n < 2;
    if (this.n < 2) return;
    const parts = () => this.words().split(' · ');
    const [first, rest] = this.summary.children.length ? this.summary.children : fill(this.summary, h('strong'), h('span', { class: 'caption' })).children;
    label(first, () => parts()[0]);
    label(rest, () => parts().slice(1).join(' · '));
  }
}

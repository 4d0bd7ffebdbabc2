// One answer of one side: its text, what it cost, how the run's rewards scored it and why.
import { fill, h } from '../dom.js';
import { count, number } from '../format.js';
import { t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { rewardHue } from '../live/colors.js';
import { Changed } from './changed.js';
import { ExactText } from './exact.js';

const both = (reason) => (typeof reason === 'string' ? visible(reason) : { en: visible(reason.en), ko: visible(reason.ko) });

/** Right and wrong as shape, word and hue; null: it could not be judged. */
export function verdict(correct) {
  const kind = correct === null || correct === undefined ? 'unknown' : correct ? 'right' : 'wrong';
  return h('span', { class: 'c-verdict', data: { verdict: kind } }, h('i', { 'aria-hidden': 'true' }, { right: '✓', wrong: '×', unknown: '–' }[kind]), h('span', { t: `chat.verdict_${kind}` }));
}

export class AnswerView {
  /** `turn`: the TurnView; `side`: 'left' or 'right'; `sample`: its number from 0; `many`: one of several. */
  constructor(turn, side, sample, many, opened = false) {
    Object.assign(this, { turn, side, sample, many, answer: null, waiting: '', due: 0 });
    this.name = () => t('chat.answer_name', { n: sample + 1, side: t(`chat.${side}`) });
    this.text = new ExactText(this.name, opened);
    this.mark = h('span', { class: 'c-mark' });
    this.facts = h('span', { class: 'caption num c-facts' });
    this.scores = h('div', { class: 'c-scores' });
    this.tools = h('div', { class: 'row c-tools' });
    this.root = h('article', { class: 'c-answer', data: { sample, busy: '' }, tt: { 'aria-label': this.name } },
      h('header', { class: 'row c-answer-head' }, many ? h('span', { class: 'c-number num caption' }, `${sample + 1}`) : null, this.mark, this.facts),
      this.text.root, this.scores, this.tools);
  }

  /** Text that has come; painted once a frame. */
  write(delta, replace = false) {
    if (replace) this.replaced = true;
    this.waiting = replace ? delta : this.waiting + delta;
    if (!this.due) this.due = requestAnimationFrame(() => this.#flush());
  }

  #flush() {
    cancelAnimationFrame(this.due);
    this.due = 0;
    if (this.replaced) this.text.reset();
    this.replaced = false;
    this.text.append(this.waiting);
    this.waiting = '';
  }

  /** It has ended: {text, tokens, eos, seconds, correct, rewards: [{name, score, extracted, reason}], total}. */
  end(answer) {
    this.answer = answer;
    this.#flush();
    this.text.finish(answer.text);
    delete this.root.dataset.busy;
    const { tokens, eos, seconds, correct, total } = answer;
    const ending = answer.stopped ? 'chat.stopped' : eos === false ? 'chat.cut' : eos ? 'chat.eos' : '';
    const judged = answer.rewards.length > 0 || typeof correct === 'boolean';
    fill(this.mark, judged ? verdict(correct) : null);
    const parts = [
      tokens === null ? null : h('span', { t: 'chat.tokens', vars: { n: count(tokens) } }),
      h('span', { class: eos ? '' : 'c-cut', t: ending }),
      seconds === null ? null : h('span', { t: 'chat.seconds', vars: { s: number(seconds, 2) } }),
      total === null ? null : h('span', { t: 'chat.total', vars: { score: number(total) } }),
    ];
    fill(this.facts, parts);
    fill(this.scores, answer.rewards.map((reward, at) => score(reward, at)));
    if (answer.text && this.turn.canCompare) {
      this.changed ??= new Changed(this.turn, this);
      fill(this.tools, this.changed.button);
      this.root.append(this.changed.root);
    }
  }

  /** It will not end any more: stopped or failed. What came stays. */
  cut(key) {
    if (this.answer) return;
    this.#flush();
    this.text.finish();
    delete this.root.dataset.busy;
    fill(this.facts, h('span', { class: 'c-cut', t: key }));
  }
}

function score(reward, at) {
  return h('div', { class: 'c-score' },
    h('span', { class: 'c-score-name' }, h('i', { class: 'dot', 'aria-hidden': 'true', style: { background: `var(--hue-${rewardHue(at)})` } }), plain(reward.name, h)),
    h('span', { class: 'num strong' }, number(reward.score)),
    h('span', { class: 'c-score-why' },
      reward.extracted === null ? null : h('span', { class: 'mono c-read', tt: { title: 'chat.extracted' } }, plain(String(reward.extracted), h, 300)),
      reward.reason === null ? null : h('span', { class: 'caption', t: both(reward.reason) })));
}

// What changed in the model: each token of an answer coloured by how much likelier one side makes it than the other.
// The sign stands beside the hue; the figures of a token are said when it has the focus or the pointer.
import { fill, h } from '../dom.js';
import { number, signed } from '../format.js';
import { label, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import * as wire from './wire.js';

// As on the page Evaluate: one look at a token means the same on both.
const CLEAR = 0.1; // nats; from here on a token is marked
const STRONG = 2; // nats (7 times as likely): the full hue
const MARKS = { plus: '▴', minus: '▾' };

export class Changed {
  /** `turn`: TurnView, `answer`: AnswerView whose text is looked at. */
  constructor(turn, answer) {
    Object.assign(this, { turn, answer, tokens: null, at: 0 });
    this.button = h('button', { class: 'btn ghost small c-what', type: 'button', t: 'chat.changed', 'aria-expanded': 'false', onclick: () => this.toggle() });
    this.root = h('section', { class: 'c-changed', hidden: true, tt: { 'aria-label': 'chat.changed_title' } });
  }

  async toggle() {
    const open = this.root.hidden;
    this.root.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
    label(this.button, open ? 'chat.changed_close' : 'chat.changed');
    if (!open || this.tokens) return;
    fill(this.root, h('p', { class: 'caption', role: 'status', t: 'chat.changed_wait' }));
    try {
      const { tokens } = await wire.logprobs(this.turn, this.answer);
      this.tokens = tokens;
      this.#draw();
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.root, h('div', { class: 'notice', data: { level: 'error' }, role: 'alert' }, h('span', { t: error.error }),
        h('button', { class: 'btn small', type: 'button', t: 'app.retry', onclick: () => { this.root.hidden = true; this.toggle(); } })));
    }
  }

  #draw() {
    const { tokens } = this;
    const sum = (side) => tokens.reduce((all, token) => all + (token[side] ?? 0), 0);
    const moved = tokens.filter((token) => Math.abs(token.right - token.left) >= CLEAR).length;
    this.said = h('p', { class: 'caption num c-token-said', 'aria-live': 'polite', t: 'chat.token_hint' });
    this.spans = tokens.map((token, at) => this.#token(token, at));
    if (this.spans.length) this.spans[0].tabIndex = 0;
    const list = h('div', { class: 'c-tokens exact open mono', role: 'group', tt: { 'aria-label': 'chat.changed_title' } }, this.spans);
    list.addEventListener('keydown', (event) => this.#move(event));
    fill(this.root,
      h('p', { class: 'caption num' }, h('span', { t: 'chat.changed_sum', vars: { n: tokens.length, left: number(sum('left')), right: number(sum('right')), difference: signed(sum('right') - sum('left'), 3), moved, clear: CLEAR } })),
      list, this.said, legend());
  }

  #token(token, at) {
    const difference = token.right - token.left;
    const share = Math.min(1, Math.abs(difference) / STRONG);
    const sign = Math.abs(difference) < CLEAR ? '' : difference > 0 ? 'plus' : 'minus';
    const words = () => t('chat.token', { left: number(token.left), right: number(token.right), difference: signed(difference, 3) });
    return h('span', {
      class: 'c-token', tabIndex: -1, role: 'img', data: { at, sign },
      style: { '--share': `${Math.round(100 * share)}%` },
      tt: { 'aria-label': () => `${visible(token.text)}: ${words()}` },
      onfocus: () => { this.at = at; this.#say(token, words); },
      onmouseenter: () => this.#say(token, words),
    }, plain(token.text, h), sign ? h('sup', { 'aria-hidden': 'true' }, MARKS[sign]) : null);
  }

  #say(token, words) {
    label(this.said, () => `“${visible(token.text).replaceAll('\n', '⏎')}” ${words()}`);
  }

  #move(event) {
    const last = this.spans.length - 1;
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.spans[this.at].tabIndex = -1;
    this.at = Math.max(0, Math.min(last, to));
    this.spans[this.at].tabIndex = 0;
    this.spans[this.at].focus();
  }
}

const legend = () => h('ul', { class: 'c-legend caption' },
  [['minus', 'chat.legend_minus'], ['', 'chat.legend_none'], ['plus', 'chat.legend_plus']].map(([sign, key]) =>
    h('li', null, h('span', { class: 'c-token', 'aria-hidden': 'true', data: { sign }, style: { '--share': sign ? '100%' : '0%' } }, 'ab', sign ? h('sup', null, MARKS[sign]) : null), ' ', h('span', { t: key, vars: { clear: CLEAR } }))));

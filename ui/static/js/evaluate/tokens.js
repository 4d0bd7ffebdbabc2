// What changed in the model: tokens that training rewarded became likelier, those that it punished less so. One list of
// tokens is one stop of the keyboard; the arrows move within it, and the line under it says what the marked one was.
import { fill, h } from '../dom.js';
import { count, number, signed } from '../format.js';
import { onLanguage, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { exact, promptText } from '../lab/parts.js';
import { head, known, moved } from './parts.js';
import { about, intervals } from './plot.js';

const FULL = 2; // nats at which the colour is full
const NOTABLE = 0.1; // below it a token counts as unchanged
const STEPS = [-FULL, -1, -0.5, 0, 0.5, 1, FULL];

const strength = (delta) => Math.min(1, Math.abs(delta) / FULL);
const sign = (delta) => (!known(delta) || Math.abs(delta) < NOTABLE ? 'same' : delta > 0 ? 'up' : 'down');

export class Shift {
  constructor() {
    this.body = h('div', { class: 'ev-shift' });
    this.root = h('section', { class: 'card', id: 'evaluate-shift', tt: { 'aria-label': 'evaluate.shift' } }, head('evaluate.shift'), h('p', { class: 'muted', t: 'evaluate.shift_lead' }), this.body);
    onLanguage(() => this.root.querySelectorAll('.ev-tokens').forEach((list) => list.say?.()));
  }

  draw({ shift }) {
    this.root.hidden = !shift;
    if (!shift || !moved(this, shift)) return;
    const groups = ['positive', 'negative'].filter((name) => known(shift[name]?.mean));
    const axis = about(groups.flatMap((name) => [shift[name].mean, shift[name].low, shift[name].high]), (at) => (at === 0 ? '0' : signed(at, 2)));
    const words = (one) => () => t('evaluate.shift_words', { mean: signed(one.mean, 3), low: signed(one.low, 3), high: signed(one.high, 3), tokens: count(one.tokens), completions: count(one.completions) });
    fill(this.body, shift.words ? h('p', { class: 'ev-said', t: shift.words }) : null,
      groups.length ? intervals(groups.map((name) => ({ name, title: `evaluate.shift_${name}`, marks: [{ kind: name, ...shift[name], value: shift[name].mean, words: words(shift[name]) }] })), axis) : null,
      groups.length ? h('ul', { class: 'ev-plain caption num' }, groups.map((name) => h('li', null, h('span', { class: 'strong', t: `evaluate.shift_${name}` }), ': ', h('span', { t: words(shift[name]) })))) : null,
      shift.examples?.length ? [this.#key(), h('div', { class: 'ev-examples' }, shift.examples.map((one) => this.#example(one)))] : null);
  }

  #key() {
    return h('div', { class: 'ev-key', id: 'evaluate-key' }, h('span', { class: 'caption', t: 'evaluate.key' }),
      h('span', { class: 'ev-key-scale mono', 'aria-hidden': 'true' }, STEPS.map((delta) => h('span', { class: 'ev-token', data: { sign: sign(delta) }, style: { '--strength': strength(delta) } }, delta === 0 ? '0' : signed(delta, 2)))),
      h('span', { class: 'caption', t: 'evaluate.key_marks' }), h('span', { class: 'caption', t: 'evaluate.token_hint' }));
  }

  #example({ prompt, completion, advantage, tokens }) {
    const chosen = advantage > 0 ? 'positive' : 'negative';
    return h('article', { class: 'ev-example' },
      h('div', { class: 'row' }, h('span', { class: 'ev-advantage', data: { kind: chosen } }, h('i', { 'aria-hidden': 'true' }, advantage > 0 ? '▲' : '▼'), h('span', { t: 'evaluate.advantage', vars: { n: signed(advantage, 3) } }))),
      h('div', { class: 'ev-example-prompt' }, exact(asked(prompt))),
      tokenList(tokens ?? [], completion));
  }
}

/** The prompt of an example, which stands as text whether it was a text or messages. */
function asked(prompt) {
  if (typeof prompt !== 'string' || !prompt.startsWith('[{"')) return promptText(prompt);
  try {
    const messages = JSON.parse(prompt);
    return messages.every((one) => 'content' in one) ? promptText(messages) : prompt;
  } catch {
    return prompt; // it only began like messages
  }
}

/** Exact text in which a line's end can be seen: its mark is drawn, and not part of what is copied. */
const shown = (text) => text.split('\n').flatMap((part, at) => [at ? [h('span', { class: 'ev-newline', 'aria-hidden': 'true' }), '\n'] : null, plain(part, h)]);

function tokenList(tokens, completion) {
  const said = h('p', { class: 'caption num ev-token-said', 'aria-live': 'polite' });
  let at = -1;
  const nodes = tokens.map(({ text, base, trained }, index) => {
    const delta = known(base) && known(trained) ? trained - base : null;
    return h('span', { class: 'ev-token', data: { sign: sign(delta), at: index }, style: { '--strength': known(delta) ? strength(delta) : 0 } }, shown(text));
  });
  const list = h('div', { class: 'ev-tokens mono', tabIndex: 0, role: 'group', tt: { 'aria-label': 'evaluate.tokens' } }, nodes);
  const say = () => {
    if (at < 0) return fill(said);
    const { text, base, trained } = tokens[at];
    return fill(said, t('evaluate.token_words', { text: visible(text), base: number(base), trained: number(trained), delta: signed(trained - base, 3) }));
  };
  const to = (next) => {
    if (next < 0 || next >= nodes.length || next === at) return;
    nodes[at]?.removeAttribute('data-here');
    at = next;
    nodes[at].setAttribute('data-here', '');
    say();
  };
  list.say = say;
  list.addEventListener('pointerover', (event) => {
    const node = event.target.closest('.ev-token');
    if (node) to(Number(node.dataset.at));
  });
  list.addEventListener('focus', () => at < 0 && to(0));
  list.addEventListener('keydown', (event) => {
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: nodes.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    to(next);
  });
  say();
  const whole = tokens.map((one) => one.text).join('');
  const rest = typeof completion === 'string' && completion.length > whole.length;
  return h('div', null, list, rest ? h('p', { class: 'caption', t: 'evaluate.tokens_cut', vars: { n: count(tokens.length) } }) : null, said);
}

// One question and the answers of both sides: while they stream, and as they were when it is read again.
import { h } from '../dom.js';
import { number } from '../format.js';
import { t } from '../i18n.js';
import { promptText } from '../lab/parts.js';
import { plain, visible } from '../plain.js';
import { ColumnView } from './column.js';
import { asked } from './parts.js';
import * as wire from './wire.js';

export const SIDES = ['left', 'right'];
const LONG = 1200; // characters of a prompt before it is folded

export class TurnView {
  /** `request`: {left, right, prompt, system, ground_truth, settings: {temperature, top_p, max_tokens, seed, n}, run, index}. */
  constructor(request) {
    Object.assign(this, { request, id: null, chat: null, began: performance.now() });
    const sides = SIDES.filter((side) => request[side]);
    this.columns = Object.fromEntries(sides.map((side) => [side, new ColumnView(this, side, request.settings.n)]));
    this.note = h('div', { class: 'c-note' });
    this.root = h('article', { class: 'card c-turn' }, this.#question(), this.note,
      h('div', { class: 'c-columns', data: { sides: sides.length } }, sides.map((side) => this.columns[side].root)));
  }

  /** Whether two models stand here, so that something can have changed between them. */
  get canCompare() {
    return SIDES.every((side) => this.columns[side]);
  }

  #question() {
    const { request } = this;
    const { system, prompt } = wire.parts(request.prompt);
    const shown = request.system ?? system;
    const text = promptText(prompt);
    const exact = asked(text);
    const fold = shown ? h('details', { class: 'c-system caption' }, h('summary', { t: 'chat.system' }), asked(shown, true)) : null;
    const { temperature, top_p: topP, max_tokens: most, seed, n } = request.settings;
    const decoding = () => [
      temperature === 0 ? t('chat.greedy') : t('chat.sampled', { temperature: number(temperature), top_p: number(topP) }),
      t('chat.at_most', { n: most }), t('chat.seeded', { seed }), n > 1 ? t('chat.times', { n }) : '',
    ].filter(Boolean).join(' · ');
    const truth = request.ground_truth === null || request.ground_truth === undefined ? null
      : h('p', { class: 'c-truth' }, h('span', { class: 'caption', t: 'chat.truth' }), ' ', h('span', { class: 'mono' }, plain(String(request.ground_truth), h, 400)));
    return h('header', { class: 'c-question' },
      text.length > LONG ? h('details', { class: 'c-long' }, h('summary', null, visible(text.slice(0, 160)), '…'), exact) : exact,
      fold, h('div', { class: 'row c-question-facts' }, truth, h('span', { class: 'caption num', t: decoding })));
  }

  /** An event of the stream. */
  take(event) {
    const column = this.columns[event.side];
    if (event.type === 'alive') return undefined;
    this.queued = event.type === 'queued';
    if (this.queued) return this.wait('chat.queued', { n: event.position ?? 1 });
    const other = this.columns[event.side === 'left' ? 'right' : 'left'];
    if (event.side === 'left' && other && !other.who && !other.loads) other.wait('chat.after_left');
    if (event.type === 'loading') return column?.loading(event);
    if (event.type === 'unscored') return this.note.append(h('p', { class: 'caption', t: event.words }));
    if (event.type === 'error' && column) return column.fail(event.error);
    if (!column) return undefined;
    if (event.type === 'start') column.begin(event);
    else if (event.type === 'text') column.answer(event.sample).write(event.text, event.replace);
    else if (event.type === 'answer') column.end(event.sample, event);
    return undefined;
  }

  /** Each second: the process takes some before it can say what it loads. */
  tick() {
    const columns = Object.values(this.columns);
    if (this.queued || columns.some((column) => column.who || column.loads)) return;
    this.wait('chat.starting', { s: Math.round((performance.now() - this.began) / 1000) });
  }

  wait(key, vars) {
    for (const column of Object.values(this.columns)) if (!column.answers.length) column.wait(key, vars);
  }

  /** A remark on the whole turn, said once. */
  tell(words, level = 'warn') {
    const known = [...this.note.children].some((node) => node.dataset.said === words.en);
    if (!known) this.note.append(h('div', { class: 'notice', data: { level, said: words.en } }, h('span', { t: words })));
  }

  /** Nothing more comes; `key` says why to answers that have no end. */
  close(key) {
    for (const column of Object.values(this.columns)) column.close(key);
  }

  /** For a screen reader, once: what both sides come to. */
  words() {
    return Object.entries(this.columns).map(([side, column]) => `${t(`chat.${side}`)}: ${column.words() || t('chat.n_answers', { n: column.ended.length })}`).join('. ');
  }

  /** [left text, right text] of each sample that both sides have. */
  pairs() {
    if (!this.canCompare) return [];
    const [left, right] = SIDES.map((side) => this.columns[side].answers);
    return left.flatMap((view, at) => (view.answer && right[at]?.answer ? [[view.answer.text, right[at].answer.text]] : []));
  }
}

/** A turn of the conversation `chat`, drawn at once. `stored`: as wire.turn() reads it. */
export function drawn(stored, chat) {
  const view = new TurnView(stored.request);
  Object.assign(view, { id: stored.id, chat });
  for (const side of SIDES) {
    const column = view.columns[side];
    if (!column) continue;
    column.begin(stored[side]);
    stored[side].samples.forEach((answer, at) => column.end(at, answer));
    column.close('chat.no_answer');
  }
  for (const { words } of stored.warnings) if (words) view.tell(words);
  return view;
}

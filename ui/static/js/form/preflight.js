// What the checks of the rewards and rows say against a start: red stops it, a warning can be passed over knowingly.

import { fill, h } from '../dom.js';
import { number } from '../format.js';
import { t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { plural, saying } from './words.js';

const SHOWN = 2; // examples in sight; the others are folded
const LONGEST = 1200;
const EXPECTED = { max: 'lab.expected_max', '< max': 'lab.expected_less' };
const WORDS = { stop: 'form.stop', fail: 'preflight.fails', warn: 'form.warn' };

export class Preflight {
  /** `onGoto(field)`, `onAccept(ids)`; `labelOf(field)` is the field's plain name. */
  constructor({ onGoto, onAccept, labelOf }) {
    Object.assign(this, { onGoto, onAccept, labelOf });
    this.result = null;
    this.root = h('section', { class: 'f-preflight', hidden: true, tabindex: '-1', 'aria-labelledby': 'f-preflight-title' });
    saying(() => this.draw());
  }

  get stops() { return this.result?.stops ?? []; }

  get warns() { return this.result?.warns ?? []; }

  /** `result`: {"stops", "warns"} of a refused start, or null. */
  show(result) {
    if (result === this.result) return;
    this.result = result;
    this.draw();
    if (result) this.root.focus({ preventScroll: true });
  }

  draw() {
    const { root, stops, warns } = this;
    root.hidden = stops.length + warns.length === 0;
    if (root.hidden) return void fill(root);
    const red = stops.length > 0;
    const lead = red ? plural('preflight.stopped', stops.length) : plural('preflight.warned', warns.length);
    const accept = h('button', { type: 'button', class: 'btn', id: 'f-anyway' }, t('preflight.anyway'));
    accept.addEventListener('click', () => this.onAccept(warns.map((check) => check.id)));
    fill(root,
      h('h3', { class: 'f-part-title', id: 'f-preflight-title' }, t('preflight.title')),
      h('p', { class: 'f-preflight-lead', 'aria-live': 'polite' }, lead),
      h('ul', { class: 'f-notes' }, stops.map((check) => this.check(check, 'stop')), warns.map((check) => this.check(check, check.verdict === 'fail' ? 'fail' : 'warn'))),
      red ? null : h('div', { class: 'f-preflight-foot' }, accept, h('span', { class: 'caption' }, t('preflight.anyway_lead'))));
  }

  check(check, severity) {
    const field = check.field ?? (check.reward ? 'rewards' : 'dataset');
    const label = this.labelOf(field);
    const link = h('button', { type: 'button', class: 'f-note-field', 'aria-label': t('preflight.goto', { field: label }) },
      check.reward ? t('preflight.reward', { name: visible(check.reward) }) : label);
    link.addEventListener('click', () => this.onGoto(field));
    const examples = check.examples ?? [];
    const rest = examples.slice(SHOWN);
    return h('li', { class: 'f-note f-check-note', data: { severity, check: check.id } },
      h('span', { class: 'f-note-icon', 'aria-hidden': 'true' }, severity === 'warn' ? '▲' : '✕'),
      h('div', null,
        h('span', { class: 'f-note-word' }, t(WORDS[severity])), link,
        h('span', { class: 'f-check-title' }, t(check.title)),
        h('span', { class: 'f-note-text' }, t(check.words)),
        examples.slice(0, SHOWN).map(example),
        rest.length ? h('details', { class: 'f-more-examples' }, h('summary', null, plural('preflight.more', rest.length)), rest.map(example)) : null));
  }
}

/** The offending text as the reward saw it, with what it got and why. */
function example(one) {
  const score = one.score === null || one.score === undefined ? t('preflight.unscored') : t('preflight.score', { score: scored(one.score) });
  const facts = [
    one.row === null || one.row === undefined ? null : t('preflight.row', { row: one.row + 1 }),
    'score' in one ? score : null,
    [null, undefined, ''].includes(one.expected) ? null : t('preflight.expected', { expected: one.expected in EXPECTED ? t(EXPECTED[one.expected]) : scored(one.expected) }),
  ].filter(Boolean);
  const text = String(one.completion ?? '');
  return h('figure', { class: 'f-example' },
    'completion' in one ? h('blockquote', { class: 'f-example-text' }, text === '' ? h('span', { class: 'muted' }, t('preflight.empty')) : plain(text, h, LONGEST)) : null,
    h('figcaption', { class: 'caption' }, facts.join(' · '), one.why ? h('span', { class: 'f-example-why' }, facts.length ? ' · ' : '', plain(String(t(one.why)), h, LONGEST)) : null));
}

const scored = (value) => (typeof value === 'number' ? (Number.isInteger(value) ? String(value) : number(value)) : visible(t(value)));

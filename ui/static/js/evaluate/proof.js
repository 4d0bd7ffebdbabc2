// Whether the trained weights really answered: hashes, how far the logits moved, and that batching changes nothing.
import { fill, h } from '../dom.js';
import { DASH, count, number } from '../format.js';
import { verdict } from '../lab/parts.js';
import { head, known, moved } from './parts.js';

const ACTIVE = { active: 'pass', inactive: 'fail', unknown: 'skip' };
const PADDING = { ok: 'pass', differs: 'warn' };
const SHORT = 16;

export class Proof {
  constructor() {
    this.body = h('div', { class: 'ev-proofs' });
    this.root = h('section', { class: 'card', id: 'evaluate-proof', tt: { 'aria-label': 'evaluate.proof' } }, head('evaluate.proof'), this.body);
  }

  draw({ adapter, padding }) {
    this.root.hidden = !adapter && !padding;
    if (this.root.hidden || !moved(this, [adapter, padding])) return;
    fill(this.body, adapter ? this.#adapter(adapter) : null, padding ? this.#padding(padding) : null);
  }

  #adapter(found) {
    const expected = !found.base_expected ? null : h('span', { class: 'caption', t: found.base_expected === found.base_hash ? 'evaluate.base_as_recorded' : 'evaluate.base_other' });
    return h('div', { class: 'ev-proof', data: { verdict: found.verdict ?? 'unknown' } },
      h('div', { class: 'ev-proof-head' }, verdict(ACTIVE[found.verdict] ?? 'skip', `evaluate.adapter_${found.verdict ?? 'unknown'}`), found.words ? h('p', { t: found.words }) : null),
      h('dl', { class: 'ev-list' },
        line('evaluate.hash', hash(found.hash), found.kind ? h('span', { class: 'caption', t: `evaluate.kind_${found.kind}` }) : null),
        line('evaluate.base_hash', hash(found.base_hash), expected),
        line('evaluate.logits', known(found.max_logit_difference) ? number(found.max_logit_difference) : DASH, known(found.prompts) ? h('span', { class: 'caption', t: 'evaluate.on_prompts', vars: { n: count(found.prompts) } }) : null),
        found.identical_outputs === undefined || found.identical_outputs === null ? null : line('evaluate.identical', h('span', { t: found.identical_outputs ? 'evaluate.yes' : 'evaluate.no' }))));
  }

  #padding(found) {
    return h('div', { class: 'ev-proof', data: { verdict: found.verdict } },
      h('div', { class: 'ev-proof-head' }, verdict(PADDING[found.verdict] ?? 'skip', `evaluate.padding_${found.verdict === 'ok' ? 'ok' : found.verdict === 'differs' ? 'differs' : 'unknown'}`), found.words ? h('p', { t: found.words }) : null),
      h('dl', { class: 'ev-list' },
        line('evaluate.padding_same', `${count(found.same)} / ${count(found.rows)}`),
        line('evaluate.padding_logits', known(found.max_logit_difference) ? number(found.max_logit_difference) : DASH)));
  }
}

const line = (key, ...value) => [h('dt', { class: 'caption', t: key }), h('dd', { class: 'num' }, value)];
const hash = (hex) => (hex ? h('code', { class: 'ev-hash', title: hex }, hex.slice(0, SHORT)) : DASH);

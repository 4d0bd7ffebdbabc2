// One completion of a group: what it earned and why, and its text in one of three ways.
import * as api from '../api.js';
import { copyText, fill, h, toast } from '../dom.js';
import { count, percent } from '../format.js';
import { label } from '../i18n.js';
import { rewardHue } from '../live/colors.js';
import { plain, visible } from '../plain.js';
import { figure, mark, real, rewardName, signedFigure } from './parts.js';
import { characters, marks } from './text.js';

const FIRST = 6000; // characters of a text before "more"
// A reason may quote a completion. One that is the same in both languages is in a reward's own words.
const shown = ({ en, ko }) => ({ en: visible(en), ko: visible(ko) });

export class Card {
  /** `view`: {run, group, one, rank, scale: {rewards: most by reward, advantage: most}, mode, both}. */
  constructor(view) {
    Object.assign(this, view);
    const { one, rank } = this;
    const live = this.group.kind === 'live'; // where all totals are the same, nobody is the best and nobody has a rank
    this.open = false;
    this.body = h('div', { class: 's-text exact mono', tabIndex: 0, role: 'group', tt: { 'aria-label': 'groups.text' } });
    this.more = h('button', { class: 'btn ghost small', type: 'button', t: 'groups.more', 'aria-expanded': 'false', onclick: () => this.#more() });
    this.note = h('p', { class: 'caption s-note' });
    this.root = h('article', { class: 's-card card', data: { index: one.index } },
      h('header', { class: 's-card-head' },
        h('span', { class: 's-rank', t: !live ? 'samples.one' : rank === 0 ? 'samples.best' : 'samples.rank', vars: { n: (live ? rank : one.index) + 1 } }), mark(one.correct), one.truncated ? h('span', { class: 's-cutoff', t: 'groups.cut' }) : null,
        h('span', { class: 'spacer' }), h('span', { class: 'caption num' }, count(one.tokens), ' ', h('span', { t: 'tile.tokens' }))),
      h('div', { class: 's-scores' }, this.#total(), this.#advantage()),
      this.#rewards(),
      h('div', { class: 's-text-box' }, this.body, this.note, h('div', { class: 'row' }, this.more,
        h('button', { class: 'btn ghost small s-copy', type: 'button', t: 'groups.copy', onclick: () => this.#copy() }))));
    if (live && rank === 0) this.root.dataset.best = '';
    this.draw(view.mode, view.both);
  }

  #total() {
    return h('div', { class: 's-score' }, h('span', { class: 'caption', t: 'samples.total' }), h('b', { class: 'num s-big' }, figure(this.one.total)));
  }

  #advantage() {
    const { one, scale } = this;
    const advantage = real(one.advantage);
    const none = !Number.isFinite(advantage) || Math.abs(advantage) < 1e-6;
    const share = none ? 0 : (50 * Math.abs(advantage)) / scale.advantage;
    return h('div', { class: 's-score s-advantage' }, h('span', { class: 'caption', t: 'groups.advantage' }), h('b', { class: 'num s-big' }, signedFigure(one.advantage)),
      h('span', { class: 'advantage-bar', 'aria-hidden': 'true' }, h('i', { class: advantage < 0 ? 'minus' : 'plus', style: { width: `${share}%` } })));
  }

  /** A line a reward: its value, a bar on the scale of the group, what it read and why. */
  #rewards() {
    const { run, group, one, scale } = this;
    return h('dl', { class: 's-rewards' }, group.reward_names.map((name, at) => {
      const value = real(one.rewards[at]);
      const share = Number.isFinite(value) ? (100 * Math.abs(value)) / scale.rewards[at] : 0;
      const weight = group.weights?.[at];
      const hue = rewardHue((run?.reward_names ?? []).indexOf(name));
      const extracted = one.extracted[at] ?? null;
      const reason = one.reasons[at] ?? null;
      return h('div', { class: 's-rewards-one' },
        h('dt', null, rewardName(run, name), weight !== undefined && weight !== 1 ? h('span', { class: 'caption num' }, ` ×${Number(weight.toPrecision(3))}`) : null),
        h('dd', null,
          h('span', { class: 's-bar', 'aria-hidden': 'true' }, h('i', { class: value < 0 ? 'negative' : '', style: { width: `${share}%`, background: `var(--hue-${hue})` } })),
          h('b', { class: 'num' }, value === null ? h('span', { class: 'muted', t: 'samples.not_scored' }) : figure(one.rewards[at]))),
        extracted === null && reason === null ? null : h('dd', { class: 's-why caption' },
          extracted === null ? null : [h('span', { t: 'samples.read' }), ' ', h('span', { class: 'mono s-extracted' }, plain(extracted, h, 400)), ' '],
          reason === null ? null : h('span', { data: reason.en === reason.ko ? { exact: '' } : {}, t: shown(reason) })));
    }));
  }

  /** The text, in the way that is chosen above the cards. */
  draw(mode, both) {
    Object.assign(this, { mode, both });
    const { one, group } = this;
    const limit = this.open ? Infinity : FIRST;
    const difference = mode === 'marks' ? one.difference : null;
    const first = group.kind === 'live' ? '' : '_first';
    const notes = [];
    if (group.dropped) fill(this.body, h('span', { class: 's-dropped', t: 'samples.dropped' }));
    else if (one.length === 0) fill(this.body, h('span', { class: 'muted', t: 'groups.empty_text' }));
    else if (mode === 'characters') fill(this.body, characters(one.text, limit));
    else if (difference) fill(this.body, marks(cut(difference.parts, limit), both));
    else fill(this.body, plain(one.text, h, limit));
    this.body.dataset.mode = mode;
    if (!group.dropped && mode === 'marks') {
      if (this.rank > 0 && !one.difference) notes.push(['samples.not_compared', {}]);
      else if (difference?.parts.every(([kind]) => kind === '=')) notes.push([`samples.same_text${first}`, {}]);
      else if (difference) notes.push([`samples.alike${first}`, { share: percent(difference.alike) }]);
      if (difference?.cut) notes.push(['samples.compared_part', { n: count(difference.cut) }]);
    }
    if (one.surrogates) notes.push([one.surrogates === 1 ? 'samples.surrogate_1' : 'samples.surrogates', { n: count(one.surrogates) }]);
    if (one.cut) notes.push(['samples.text_part', { n: count([...one.text].length), of: count(one.length) }]);
    fill(this.note, notes.map(([key, vars], at) => [at ? ' · ' : null, h('span', { t: key, vars })]));
    this.note.hidden = notes.length === 0;
    this.#fit();
  }

  /** "more" only where something is hidden; measured once the card stands. */
  #fit() {
    requestAnimationFrame(() => {
      const long = this.body.scrollHeight > this.body.clientHeight + 2 || (!this.open && this.one.text.length > FIRST) || this.one.cut;
      this.more.hidden = !long && !this.open;
      this.body.tabIndex = this.body.scrollHeight > this.body.clientHeight + 1 ? 0 : -1;
    });
  }

  async #more() {
    if (!this.open && !(await this.#whole())) return;
    this.open = !this.open;
    this.body.classList.toggle('open', this.open);
    this.more.setAttribute('aria-expanded', String(this.open));
    label(this.more, this.open ? 'groups.less' : 'groups.more');
    this.draw(this.mode, this.both);
  }

  /** The text to its end, where only its beginning came with the group. */
  async #whole() {
    const { one, group, run } = this;
    if (!one.cut) return true;
    try {
      const { text } = await api.get(`/api/runs/${encodeURIComponent(run.id)}/samples/groups/${group.id}/${one.index}`);
      one.text = text;
      one.cut = false;
      if (one.difference) one.difference.parts.push(['~', text.slice(one.difference.parts.reduce((n, [kind, part]) => n + (kind === '-' ? 0 : part.length), 0))]);
      return true;
    } catch (error) {
      if (error.status === undefined) throw error;
      toast(error.error, 'error');
      return false;
    }
  }

  async #copy() {
    if (!(await this.#whole())) return;
    try {
      await copyText(this.one.text);
      toast(this.one.surrogates ? 'samples.copied_replaced' : 'groups.copied');
    } catch {
      toast('groups.copy_failed', 'warn');
    }
  }
}

/** The parts up to `limit` characters of this text. */
function cut(parts, limit) {
  const found = [];
  let left = limit;
  for (const [kind, part] of parts) {
    if (left <= 0) break;
    found.push([kind, part.length > left ? `${part.slice(0, left)}…` : part]);
    if (kind !== '-') left -= part.length;
  }
  return found;
}

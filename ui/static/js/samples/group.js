// One group: its prompt, its completions side by side, the best first, and the ways to the groups beside it.
import * as api from '../api.js';
import { copyText, fill, h, toast } from '../dom.js';
import { count } from '../format.js';
import { promptText } from '../lab/parts.js';
import { plain, visible } from '../plain.js';
import * as state from '../state.js';
import { Card } from './card.js';
import { asked } from './filters.js';
import { failed, kindTag, mark, real } from './parts.js';
import { MODES } from './text.js';

const SHOWN = 12; // completions at first; a group may have hundreds
const LONG = 1200; // characters of a prompt before it is folded

export class GroupView {
  constructor(ctx) {
    Object.assign(this, { ctx, run: null, key: '', found: null, cards: [], turn: 0 });
    this.mode = MODES.includes(state.preference('samples-mode', 'marks')) ? state.preference('samples-mode', 'marks') : 'marks';
    this.both = state.preference('samples-both', 'no') === 'yes';
    const go = (name) => h('button', { id: `samples-${name}`, class: 'btn small', type: 'button', disabled: true, tt: { title: `samples.${name}_key` }, onclick: () => this.#go(name) }, name === 'previous' ? h('span', { 'aria-hidden': 'true' }, '←') : null, h('span', { t: `samples.${name}` }), name === 'next' ? h('span', { 'aria-hidden': 'true' }, '→') : null);
    this.previous = go('previous');
    this.next = go('next');
    this.back = h('a', { id: 'samples-back', class: 's-back', t: 'samples.back', onclick: (event) => state.follow(event, () => this.close()) });
    this.send = h('button', { id: 'samples-link', class: 'btn ghost small', type: 'button', disabled: true, t: 'samples.copy_link', onclick: () => this.#copy() });
    this.bar = h('div', { class: 's-bar-top' }, this.back, h('span', { class: 'spacer' }), h('div', { class: 'row' }, this.send, this.previous, this.next));
    this.body = h('div', { class: 's-group-body' });
    this.root = h('div', { id: 'samples-group', class: 's-group', hidden: true }, this.bar, this.body);
    document.addEventListener('keydown', (event) => this.#keys(event));
  }

  /** The list again, as it was. */
  close() {
    state.set({ group: null, place: null, index: null });
  }

  use(run, address) {
    this.run = run;
    this.back.href = state.link({ ...address, tab: 'samples', group: null, place: null, index: null });
    const key = JSON.stringify([run.id, address.group, address.place, address.group ? null : address.step, asked(address)]);
    const moved = this.wanted !== address.index;
    this.wanted = address.index;
    if (key !== this.key) {
      this.key = key;
      this.#load(address);
    } else if (moved) this.#pick(); // and only then: a row that somebody scrolls stays where it is
  }

  forget() {
    this.key = '';
    this.turn += 1;
  }

  async #load({ group, place, step, phase }) {
    const turn = ++this.turn;
    const path = `/api/runs/${encodeURIComponent(this.run.id)}/samples`;
    this.root.dataset.stale = '';
    if (!this.found) fill(this.body, h('p', { class: 'muted loading', t: 'app.loading' }));
    try {
      const found = await api.get(group ? api.address(`${path}/groups/${encodeURIComponent(group)}`, asked()) : api.address(`${path}/at`, { step, place, phase }));
      if (turn !== this.turn) return;
      this.found = found;
      this.#draw();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (turn !== this.turn) return;
      this.found = null;
      this.previous.disabled = this.next.disabled = this.send.disabled = true;
      fill(this.body, failed(error, error.status === 404 ? null : () => this.#load({ group, place, step, phase })));
    } finally {
      if (turn === this.turn) delete this.root.dataset.stale;
    }
  }

  #go(name) {
    const id = this.found?.[name];
    if (id) this.#open(id);
  }

  // A look at the neighbour is not a step in the browser's history: Back goes to the list.
  #open(id) {
    state.set({ group: id, place: null, index: null }, { replace: true });
  }

  #keys(event) {
    if (this.root.hidden || !this.ctx.isOpen('samples') || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.shiftKey) return;
    if (event.target.closest?.('input, select, textarea, dialog, summary, [contenteditable]')) return;
    const box = event.target.closest?.('.s-cards, .s-text');
    const sideways = box && box.scrollWidth > box.clientWidth + 1; // there the arrows scroll
    if (event.key === 'ArrowLeft' && !sideways) this.#go('previous');
    else if (event.key === 'ArrowRight' && !sideways) this.#go('next');
    else if (event.key === 'Escape') this.close();
    else return;
    event.preventDefault();
  }

  #draw() {
    const { group, previous, next } = this.found;
    this.previous.disabled = !previous;
    this.next.disabled = !next;
    this.send.disabled = false;
    const all = group.completions;
    const finite = (values) => values.map(real).filter(Number.isFinite).map(Math.abs);
    const scale = {
      advantage: Math.max(1e-9, ...finite(all.map((one) => one.advantage))),
      rewards: group.reward_names.map((_, at) => Math.max(1e-9, ...finite(all.map((one) => one.rewards[at])), 1)),
    };
    this.cards = [];
    const strip = h('div', { id: 'samples-cards', class: 's-cards', role: 'group', tt: { 'aria-label': group.kind === 'live' ? 'samples.cards' : 'samples.cards_first' } });
    const add = (from, to) => {
      for (const [at, one] of all.slice(from, to).entries()) {
        const card = new Card({ run: this.run, group, one, rank: from + at, scale, mode: this.mode, both: this.both });
        this.cards.push(card);
        strip.append(card.root);
      }
    };
    add(0, SHOWN);
    const rest = all.length > SHOWN ? h('button', { id: 'samples-rest', class: 'btn', type: 'button', t: 'samples.rest', vars: { n: count(all.length - SHOWN) }, onclick: () => {
      rest.remove();
      add(SHOWN, all.length);
    } }) : null;
    fill(this.body, this.#head(group), this.#prompt(group), this.#tools(group), strip, rest);
    this.rest = rest;
    this.#pick();
  }

  /** The completion that the address names: marked, and brought into sight in its row. */
  #pick() {
    const named = (card) => String(card.one.index) === this.wanted;
    if (this.found && !this.cards.some(named) && this.found.group.completions.some((one) => String(one.index) === this.wanted)) this.rest?.click();
    for (const card of this.cards) card.root.toggleAttribute('data-picked', named(card));
    const root = this.cards.find(named)?.root;
    const strip = root?.parentElement;
    if (strip) strip.scrollLeft = root.offsetLeft - strip.offsetLeft - (strip.clientWidth - root.offsetWidth) / 2;
  }

  /** An address of this group alone, without the filters that led here. */
  async #copy() {
    const query = new URLSearchParams({ tab: 'samples', run: this.run.id, group: this.found.group.id });
    try {
      await copyText(`${location.origin}${location.pathname}?${query}`);
      toast('samples.link_copied');
    } catch {
      toast('groups.copy_failed', 'warn');
    }
  }

  #head(group) {
    const { step } = this.found;
    const facts = [];
    if (group.solved !== null) facts.push(h('span', { t: 'samples.solved', vars: { n: count(group.solved), of: count(group.size) } }));
    if (!group.dropped) facts.push(h('span', { t: group.unique === 1 ? 'samples.unique_1' : 'samples.unique', vars: { n: count(group.unique) } }));
    const to = (id, t, patch, vars) => h('a', { id, class: 's-link', t, vars, href: state.link({ run: this.run.id, tab: 'samples', ...patch }), onclick: (event) => state.follow(event, { ...Object.fromEntries(Object.keys(asked()).map((name) => [name, null])), group: null, place: null, index: null, view: null, step: null, ...patch }) });
    return h('header', { class: 's-group-head' },
      h('div', { class: 's-group-title' }, h('h2', { id: 'samples-title', t: 'samples.group_title', vars: { step: count(group.step), n: count(group.place + 1), of: count(Math.max(step.length, group.place + 1)) } }),
        kindTag(group.kind), group.phase === 'train' ? null : h('span', { class: 'caption mono' }, visible(group.phase)),
        h('span', { class: 'caption num s-facts' }, facts.map((fact, at) => [at ? ' · ' : null, fact]))),
      h('p', { class: 'caption', t: `samples.means_${group.kind}` }),
      h('div', { class: 's-group-ways' }, this.#strip(step, group),
        to('samples-step', 'samples.all_of_step', { step: group.step }, { n: count(group.step) }),
        to('samples-of-prompt', 'samples.all_of_prompt', { prompt: group.prompt_id }),
        to('samples-biography', 'samples.biography', { view: 'prompts', prompt: group.prompt_id })));
  }

  /** The groups of this step as signs of what they are. */
  #strip(step, group) {
    if (step.length < 2) return null;
    return h('nav', { class: 's-strip', tt: { 'aria-label': 'samples.groups_of_step' } }, step.map((one) => h('a', {
      class: 's-dot', data: { kind: one.kind }, 'aria-current': one.id === group.id ? 'true' : undefined, href: state.link({ ...state.get(), tab: 'samples', group: one.id, place: null, index: null }),
      tt: { title: () => this.#say(one), 'aria-label': () => this.#say(one) }, onclick: (event) => state.follow(event, () => this.#open(one.id)),
    }, h('i', { 'aria-hidden': 'true' }))));
  }

  #say(one) {
    const { t } = this.ctx;
    const kind = t(`samples.kind_${one.kind}`);
    return one.solved === null ? t('samples.strip_unjudged', { n: one.place + 1, kind }) : t('samples.strip', { n: one.place + 1, kind, solved: one.solved, of: one.size });
  }

  #prompt(group) {
    const { prompt_format: format, prompt } = group;
    let messages = null;
    if (format === 'messages') {
      try {
        messages = JSON.parse(prompt).map(({ role, content }) => [String(role), typeof content === 'string' ? content : JSON.stringify(content)]);
      } catch {
        // not JSON after all: shown as it is
      }
    }
    const block = (text) => {
      const body = h('div', { class: 'exact mono s-prompt' }, plain(text, h));
      if (text.length <= LONG) {
        body.classList.add('open');
        return body;
      }
      return h('details', { class: 's-fold' }, h('summary', { class: 'mono' }, plain(text.slice(0, 200), h), '…'), body);
    };
    const said = messages && messages.length > 1
      ? messages.map(([role, content]) => h('div', { class: 'message' }, h('span', { class: 'caption' }, plain(role, h)), block(content)))
      : block(promptText(prompt, format));
    return h('dl', { class: 's-asked card' },
      h('div', null, h('dt', { class: 'caption' }, h('span', { t: 'groups.prompt' }), ' ', h('span', { class: 'mono' }, visible(group.prompt_id))), h('dd', null, said,
        group.prompt_length > [...prompt].length ? h('p', { class: 'caption', t: 'samples.text_part', vars: { n: count([...prompt].length), of: count(group.prompt_length) } }) : null)),
      group.ground_truth === null ? null : h('div', null, h('dt', { class: 'caption', t: 'groups.truth' }), h('dd', { class: 'mono s-truth' }, group.ground_truth.length > LONG ? block(group.ground_truth) : plain(group.ground_truth, h))));
  }

  /** How the texts are shown. */
  #tools(group) {
    const first = group.kind === 'live' ? '' : '_first'; // of equal totals none is the best: the first is what the others are compared with
    const draw = () => this.cards.forEach((card) => card.draw(this.mode, this.both));
    const box = h('input', { id: 'samples-both', type: 'checkbox', checked: this.both, onchange: () => {
      this.both = box.checked;
      state.prefer('samples-both', this.both ? 'yes' : 'no');
      draw();
    } });
    const label = h('label', { class: 's-both caption', hidden: this.mode !== 'marks' }, box, h('span', { t: `samples.both${first}` }));
    const buttons = MODES.map((mode) => h('button', { type: 'button', data: { mode }, 'aria-pressed': String(mode === this.mode), t: `samples.mode_${mode}${mode === 'marks' ? first : ''}`, onclick: () => {
      this.mode = mode;
      state.prefer('samples-mode', mode);
      for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.mode === mode));
      label.hidden = mode !== 'marks';
      draw();
    } }));
    return group.dropped ? h('div', { class: 'notice', data: { level: 'info' } }, h('span', { t: 'samples.dropped_body' })) : h('div', { class: 's-tools' },
      h('div', { id: 'samples-mode', class: 'segmented', role: 'group', tt: { 'aria-label': 'samples.mode' } }, buttons), label);
  }
}

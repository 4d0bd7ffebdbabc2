// The list of completions: a page at a time, nothing that stands is moved; what is new waits behind a button.
import * as api from '../api.js';
import { fill, h, setText } from '../dom.js';
import { count } from '../format.js';
import { label } from '../i18n.js';
import * as state from '../state.js';
import { Filters, asked, clear } from './filters.js';
import { excerpt, failed, figure, kindTag, mark, rewardList, signedFigure } from './parts.js';

const PAGE = 50;
const MOST = 2000; // rows in one document; a filter finds what lies further
const HEAD = ['step', 'prompt', 'completion', 'rewards', 'total', 'advantage', 'tokens', 'marks'];

export class List {
  constructor(ctx) {
    Object.assign(this, { ctx, run: null, key: '', turn: 0, top: 0, cursor: null, rows: 0, phases: new Set(), moved: null });
    this.filters = new Filters();
    this.newer = h('button', { id: 'samples-newer', class: 'btn small s-newer', type: 'button', hidden: true, onclick: () => this.#again() });
    this.table = h('div', { id: 'samples-list', class: 's-list', role: 'table', tt: { 'aria-label': 'samples.list' }, hidden: true },
      h('div', { class: 's-row s-head caption', role: 'row' }, HEAD.map((name) => h('span', { role: 'columnheader', class: `s-c-${name}`, t: `samples.c_${name}` }))));
    this.body = h('div', { role: 'rowgroup', class: 's-body' });
    this.table.append(this.body);
    this.said = h('div', { id: 'samples-said', class: 's-said' });
    this.more = h('button', { id: 'samples-more', class: 'btn', type: 'button', hidden: true, onclick: () => this.#next() });
    this.foot = h('p', { id: 'samples-foot', class: 'caption num', 'aria-live': 'polite' });
    this.root = h('div', { class: 's-explorer' }, this.filters.root, h('div', { class: 's-above', 'aria-live': 'polite' }, this.newer), this.table, this.said, h('div', { class: 's-below' }, this.more, this.foot));
  }

  use(run, address) {
    this.run = run;
    const key = JSON.stringify([run.id, asked(address), address.order === 'oldest']);
    this.filters.use(run, address, this.phases);
    if (this.exported !== run.id) {
      this.exported = run.id;
      this.phases = new Set();
      this.#exports(run);
    }
    if (key === this.key) return;
    this.key = key;
    this.#load();
  }

  /** The menu of exports stands beside the filters, since it writes what they find. */
  async #exports(run) {
    try {
      const { exportMenu } = await import('./export.js');
      if (this.run.id === run.id) fill(this.filters.side, exportMenu(this.ctx, run, () => asked()));
    } catch (error) {
      console.warn(error.message); // the list works without it
    }
  }

  get oldest() {
    return state.get().order === 'oldest';
  }

  #address(more) {
    return api.address(`/api/runs/${encodeURIComponent(this.run.id)}/samples/find`, { ...asked(), order: this.oldest ? 'oldest' : undefined, limit: PAGE, ...more });
  }

  /** Begin anew: what stands stays, paler, until the answer is here. */
  async #load() {
    const turn = ++this.turn;
    this.newer.hidden = true;
    this.root.dataset.stale = '';
    if (!this.rows) fill(this.said, h('p', { class: 'muted loading', t: 'app.loading' }));
    this.moved = moment(this.run);
    try {
      const found = await api.get(this.#address({}));
      if (turn !== this.turn) return;
      fill(this.body);
      Object.assign(this, { rows: 0, top: 0, last: null });
      this.#take(found);
    } catch (error) {
      if (error.status === undefined) throw error;
      if (turn === this.turn) this.#failed(error, () => this.#load());
    } finally {
      if (turn === this.turn) delete this.root.dataset.stale;
    }
  }

  async #again() {
    await this.#load();
    this.table.scrollIntoView({ block: 'nearest' });
  }

  /** One more page, or a search that goes on. */
  async #next() {
    const turn = this.turn;
    this.more.disabled = true;
    try {
      const found = await api.get(this.#address({ cursor: this.cursor }));
      if (turn !== this.turn) return;
      const first = this.rows;
      this.#take(found);
      // The keyboard goes on where the eye does.
      if (document.activeElement === document.body || document.activeElement === this.more) this.body.children[first]?.querySelector('a')?.focus({ preventScroll: true });
    } catch (error) {
      if (error.status === undefined) throw error;
      if (turn === this.turn) this.#failed(error, () => this.#next());
    } finally {
      this.more.disabled = false;
    }
  }

  #failed(error, again) {
    const told = this.filters.fault(error);
    if (told) {
      fill(this.body);
      this.rows = 0;
    }
    this.table.hidden = this.rows === 0;
    this.more.hidden = true;
    setText(this.foot, '');
    fill(this.said, told ? null : failed(error, again));
  }

  #take(found) {
    this.cursor = found.cursor;
    const { text } = asked();
    let phases = this.phases.size;
    this.body.append(...found.items.map((item) => {
      const row = this.#row(item, text, item.group === this.last);
      this.last = item.group;
      this.top = Math.max(this.top, item.group);
      this.phases.add(item.phase);
      return row;
    }));
    this.rows += found.items.length;
    this.table.hidden = this.rows === 0;
    if (this.phases.size !== phases) this.filters.use(this.run, state.get(), this.phases);
    const full = this.rows >= MOST;
    const searching = Boolean(text) && found.cursor !== null && found.items.length < PAGE;
    this.more.hidden = found.cursor === null || full;
    label(this.more, searching ? 'samples.go_on' : 'samples.more', { n: PAGE });
    if (searching) label(this.foot, 'samples.searched', { searched: count(found.searched), of: count(found.of), n: count(this.rows) });
    else if (full) label(this.foot, 'samples.enough', { n: count(this.rows) });
    else if (found.cursor === null && this.rows) label(this.foot, this.rows === 1 ? 'samples.all_shown_1' : 'samples.all_shown', { n: count(this.rows) });
    else if (this.rows) label(this.foot, 'samples.shown', { n: count(this.rows) });
    else setText(this.foot, '');
    fill(this.said, this.rows || searching ? null : this.#nothing(found.of));
  }

  /** Why there is nothing: a filter holds everything back, or there is nothing yet, or this run samples nothing. */
  #nothing(groups) {
    const { run } = this;
    const filtered = Object.keys(asked()).length > 0;
    if (filtered && groups > 0) {
      return h('div', { id: 'samples-none', class: 'empty' }, h('h2', { t: 'samples.nothing_fits' }), h('p', { t: 'samples.nothing_fits_body' }),
        h('button', { class: 'btn', type: 'button', t: 'samples.clear', onclick: () => clear() }));
    }
    const ended = ['succeeded', 'failed', 'stopped', 'lost'].includes(run.state);
    const word = run.kind === 'evaluate' ? 'evaluation' : ended ? 'never' : 'yet';
    const to = (t, patch) => h('a', { class: 'btn', t, href: state.link({ run: run.id, ...patch }), onclick: (event) => state.follow(event, patch) });
    return h('div', { id: 'samples-none', class: 'empty' }, h('h2', { t: `samples.none_${word}` }), h('p', { t: `samples.none_${word}_body` }),
      run.kind === 'evaluate' ? to('samples.to_evaluate', { tab: 'evaluate' }) : to('samples.to_live', { tab: 'live' }));
  }

  #row(item, text, same) {
    const { run } = this;
    const patch = { group: item.group, place: null, index: String(item.index) };
    const link = h('a', { class: 's-open num', href: state.link({ ...state.get(), ...patch, tab: 'samples' }), onclick: (event) => state.follow(event, () => {
      event.stopPropagation();
      state.set(patch);
    }) }, h('span', { class: 'visually-hidden', t: 'samples.open_group' }), ' ', String(item.step));
    const row = h('div', { class: `s-row${same ? ' s-same' : ''}`, role: 'row', data: { group: item.group, index: item.index }, onclick: (event) => {
      const selection = getSelection();
      if (!state.ours(event) || (selection && !selection.isCollapsed && row.contains(selection.anchorNode))) return;
      state.set(patch);
    } },
      h('div', { class: 's-c-step', role: 'cell' }, link),
      h('div', { class: 's-c-prompt mono', role: 'cell' }, h('div', { class: 's-cut' }, excerpt(item.prompt, text))),
      h('div', { class: 's-c-completion mono', role: 'cell' }, item.dropped ? h('span', { class: 's-dropped', t: 'samples.dropped' }) : item.text.text ? h('div', { class: 's-cut', data: { exact: '' } }, excerpt(item.text, text)) : h('span', { class: 'muted', t: 'groups.empty_text' })),
      h('div', { class: 's-c-rewards', role: 'cell' }, rewardList(run, item.reward_names, item.rewards)),
      h('div', { class: 's-c-total num strong', role: 'cell' }, figure(item.total)),
      h('div', { class: 's-c-advantage num', role: 'cell' }, signedFigure(item.advantage)),
      h('div', { class: 's-c-tokens num', role: 'cell' }, count(item.tokens), h('span', { class: 'caption s-unit' }, ' ', h('span', { t: 'tile.tokens' }))),
      h('div', { class: 's-c-marks', role: 'cell' }, mark(item.correct, true), item.truncated ? h('span', { class: 's-cutoff', t: 'groups.cut' }) : null, item.kind === 'live' ? null : kindTag(item.kind)));
    return row;
  }

  /** The run went on: how many of what fits are new, without moving anything. */
  async tick(run) {
    this.run = run;
    if (!this.key || this.oldest || this.root.dataset.stale !== undefined) return;
    const now = moment(run);
    if (now === this.moved) return;
    const turn = this.turn;
    if (!this.rows) {
      await this.#load(); // nothing stands here that could jump
      return;
    }
    const found = await api.get(api.address(`/api/runs/${encodeURIComponent(run.id)}/samples/newer`, { ...asked(), top: this.top }));
    if (turn !== this.turn) return;
    this.moved = now;
    this.newer.hidden = found.n === 0;
    if (found.n) label(this.newer, found.more ? 'samples.newer_more' : found.n === 1 ? 'samples.newer_1' : 'samples.newer', { n: count(found.n) });
  }
}

/** What changes when a run may have more samples. */
const moment = (run) => [run.last_step, run.state, run.stage].join();

// The disk of the whole home: every run as a bar, and what stands beside the runs.
import * as api from '../api.js';
import { fill, h, setText } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import { partsBar } from './disk.js';
import { failure, said, size } from './parts.js';

const SHOWN = 12; // runs before "all of them"

export class HomeDisk {
  constructor() {
    Object.assign(this, { known: null, all: false });
    this.total = h('span', { class: 'muted num' });
    this.list = h('ul', { class: 'x-runs' });
    this.more = h('button', { type: 'button', class: 'btn ghost small', hidden: true, t: 'exports.all_runs', onclick: () => { this.all = true; this.#draw(); } });
    this.root = h('section', { class: 'card x-card', id: 'exports-home' }, h('header', { class: 'row' }, h('h2', { t: 'exports.disk_home' }), this.total), this.list, this.more);
    onLanguage(() => this.known && this.#draw());
  }

  async refresh() {
    if (!this.known) fill(this.list, h('li', { class: 'muted', t: 'app.loading' }));
    try {
      this.known = await api.get('/api/disk');
      this.#draw();
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.list, h('li', null, failure(error, () => this.refresh())));
    }
  }

  #draw() {
    const { known } = this;
    const runs = [...known.runs].sort((a, b) => b.bytes - a.bytes);
    const widest = Math.max(1, ...runs.map((run) => run.bytes), ...known.other.map((one) => one.bytes));
    setText(this.total, t('exports.disk_total', { size: size(known.used), free: size(known.free) }));
    const shown = this.all ? runs : runs.slice(0, SHOWN);
    this.more.hidden = shown.length === runs.length;
    fill(this.list,
      shown.map((run) => h('li', null,
        h('a', { href: state.link({ run: run.run }), class: 'x-run', 'aria-current': run.run === state.get().run ? 'true' : null, onclick: (event) => state.follow(event, () => {
          state.set({ run: run.run });
          scrollTo(0, 0);
        }) }, visible(run.name || run.run)),
        partsBar(run.parts, widest), h('span', { class: 'num' }, size(run.bytes)))),
      known.other.map((one) => h('li', null, h('span', { class: 'muted', t: said(one.words) }), partsBar([{ id: 'other', bytes: one.bytes }], widest), h('span', { class: 'num' }, size(one.bytes)))));
  }
}

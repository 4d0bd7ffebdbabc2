// One stored set: what it is, where it came from, who uses it, and its first rows.

import * as api from '../api.js';
import { fill, h, setText } from '../dom.js';
import { ago, count } from '../format.js';
import { bytes } from '../form/format.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { deleteButton, labLink, useButton } from './actions.js';
import { ownColumns, shortHash } from './list.js';
import { link, plural, saying, words } from './parts.js';
import { Preview } from './preview.js';
import { counts, notes } from './report.js';

export class SetView {
  constructor() {
    this.shown = null;
    this.name = null;
    this.title = h('h1', { class: 'd-set-title', tabindex: '-1' });
    this.summary = h('p', { class: 'muted' });
    this.buttons = h('div', { class: 'row d-set-actions' });
    this.status = h('div', { class: 'notice', data: { level: 'warn' }, role: 'status', hidden: true }, h('span', null), link({ set: null }, { class: 'btn small', t: 'data.all_sets' }));
    this.facts = h('div', { class: 'd-facts' });
    this.preview = new Preview('data.preview');
    this.root = h('div', { class: 'd-set', hidden: true },
      link({ set: null }, { class: 'd-back' }, '← ', h('span', { t: 'data.all_sets' })),
      h('header', { class: 'd-set-head' }, h('div', { class: 'd-set-words' }, this.title, this.summary), this.buttons),
      this.status, this.facts, this.preview.root);
    saying(() => this.draw());
    runlist.onChange(() => { if (!this.root.hidden) this.draw(); });
  }

  async open(name) {
    const fresh = name !== this.name;
    this.name = name;
    if (fresh) {
      this.shown = null;
      this.failed = null;
      this.drawn = null;
      this.preview.set([]);
      this.draw();
    }
    try {
      const set = await api.get(`/api/data/sets/${encodeURIComponent(name)}?limit=50`);
      if (name !== this.name) return;
      Object.assign(this, { shown: set, failed: null });
    } catch (error) {
      if (name !== this.name) return;
      Object.assign(this, { shown: null, failed: error });
    }
    this.draw();
    if (fresh) this.title.focus({ preventScroll: true });
  }

  draw() {
    if (this.name === null) return;
    const { shown, failed } = this;
    setText(this.title, visible(this.name));
    this.status.hidden = !failed;
    if (failed) setText(this.status.firstChild, t('data.open_failed', { why: words(failed) }));
    const known = JSON.stringify([shown, (shown?.used_by ?? []).map((id) => runlist.find(id)?.name), document.documentElement.lang]);
    if (known === this.drawn) return;
    this.drawn = known;
    if (!shown) {
      setText(this.summary, failed ? '' : t('app.loading'));
      fill(this.buttons);
      fill(this.facts);
      this.preview.set([]);
      return;
    }
    setText(this.summary, [t(shown.kind === 'sft' ? 'data.kind_sft' : 'data.kind_prompts'), plural('data.all_rows', shown.rows, { n: count(shown.rows) }), ago(shown.created_at)].join(' · '));
    fill(this.buttons, useButton(shown, false), labLink(shown, false), deleteButton(shown, () => state.set({ set: null }), false));
    fill(this.facts, counts(shown.counts), this.list(shown), shown.notes?.length ? notes(shown.notes) : null);
    this.preview.set(shown.preview ?? [], shown.rows);
  }

  list(set) {
    const used = set.used_by ?? [];
    const mapping = Object.entries(set.mapping ?? {}).filter(([, value]) => value !== null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0));
    const facts = [
      ['data.col_source', visible(String(set.source ?? ''))],
      ['data.encoding', set.encoding],
      ['data.size', set.bytes ? bytes(set.bytes) : null],
      ['data.hash', h('code', { title: set.sha256 }, shortHash(set))],
      ['data.col_columns', ownColumns(set).map((name) => h('code', { class: 'd-column' }, visible(name)))],
      ['data.mapping', mapping.length ? mapping.map(([name, value]) => h('span', { class: 'd-mapped' }, h('code', null, name), ' = ', visible(typeof value === 'string' ? value : JSON.stringify(value)))) : null],
      ['data.col_used_by', used.length ? used.map((id) => link({ run: id, tab: 'live' }, { class: 'd-run' }, visible(runlist.find(id)?.name || id))) : t('data.no_runs')],
    ];
    return h('dl', { class: 'd-fact-list' }, facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([key, value]) => h('div', null, h('dt', { t: key }), h('dd', null, value))));
  }
}

// What a run takes on the disk, part by part, each with what it is for; and what a clean-up would free, and cost.
import * as api from '../api.js';
import { confirm, fill, h, setText, toast } from '../dom.js';
import { label, onLanguage, t } from '../i18n.js';
import { failure, said, size } from './parts.js';

// What may go has a hue of its own; what stays with the run is grey.
const HUES = { optimizer: 'blue', checkpoints: 'orange', final: 'green', best: 'purple', exports: 'sky', sft: 'vermillion' };

/** A part's hue: the same in the run's bar and in the list of runs. */
export const hue = (part) => `var(--hue-${HUES[part] ?? 'grey'})`;

/** One bar cut into parts; its figures stand in text beside it. `of`: bytes of the whole width. */
export const partsBar = (parts, of) => h('div', { class: 'x-stack', 'aria-hidden': 'true' }, parts.filter((part) => part.bytes > 0).map((part) =>
  h('i', { style: { width: `${(100 * part.bytes) / Math.max(1, of)}%`, background: hue(part.id) } })));

export class RunDisk {
  /** `onFreed()` after a clean-up. */
  constructor(onFreed) {
    Object.assign(this, { onFreed, run: null, known: null, chosen: new Set() });
    this.total = h('span', { class: 'muted num' });
    this.body = h('div', { class: 'x-disk' });
    this.free = h('button', { type: 'button', class: 'btn danger', id: 'disk-free', hidden: true, onclick: () => this.#clean() });
    this.note = h('div', null);
    this.root = h('section', { class: 'card x-card', id: 'exports-disk' },
      h('header', { class: 'row' }, h('h2', { t: 'exports.disk_run' }), this.total), this.lead = h('p', { class: 'muted', t: 'exports.disk_lead' }), this.body, this.note, h('div', { class: 'row' }, this.free));
    onLanguage(() => this.#button());
  }

  async use(run) {
    if (this.run !== run) {
      this.run = run;
      this.known = null;
      this.chosen.clear();
      fill(this.note);
      fill(this.body, h('p', { class: 'muted', t: 'app.loading' }));
    }
    await this.refresh();
  }

  async refresh() {
    const { run } = this;
    try {
      const known = await api.get(`/api/runs/${encodeURIComponent(run)}/disk`);
      if (run !== this.run) return;
      this.known = known;
      this.#draw();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (run === this.run) fill(this.body, failure(error, () => this.refresh()));
    }
  }

  #draw() {
    const { known } = this;
    setText(this.total, size(known.total));
    const removable = new Set(known.parts.filter((part) => part.removable && part.bytes > 0).map((part) => part.id));
    label(this.lead, removable.size ? 'exports.disk_lead' : 'exports.disk_lead_kept');
    for (const id of this.chosen) if (!removable.has(id)) this.chosen.delete(id);
    fill(this.body, partsBar(known.parts, known.total),
      h('ul', { class: 'x-parts' }, known.parts.filter((part) => part.bytes > 0).map((part) => this.#part(part, removable.has(part.id)))));
    this.#button();
  }

  #part(part, removable) {
    const id = `disk-part-${part.id}`;
    const box = removable ? h('input', { type: 'checkbox', id, checked: this.chosen.has(part.id), data: { part: part.id }, 'aria-describedby': `${id}-cost`, onchange: (event) => {
      this.chosen[event.target.checked ? 'add' : 'delete'](part.id);
      this.#button();
    } }) : h('span', { class: 'x-keeps', 'aria-hidden': 'true' });
    const cost = part.why_not ?? part.costs;
    return h('li', { class: 'x-part' }, box, h('i', { class: 'dot', 'aria-hidden': 'true', style: { background: hue(part.id) } }),
      h(removable ? 'label' : 'span', { class: 'x-part-words', ...(removable ? { htmlFor: id } : {}) }, h('span', { t: said(part.words) })),
      h('span', { class: 'num x-part-size' }, size(part.bytes)),
      cost ? h('span', { class: 'caption x-part-cost', id: `${id}-cost`, t: said(cost) }) : null);
  }

  /** Bytes of what is chosen; the optimizer lies in the checkpoints and goes with them. */
  get freed() {
    const goes = (part) => this.chosen.has(part.id) || (part.id === 'optimizer' && this.chosen.has('checkpoints'));
    return this.known?.parts.filter(goes).reduce((sum, part) => sum + part.bytes, 0) ?? 0;
  }

  #button() {
    this.free.hidden = this.chosen.size === 0;
    setText(this.free, t('exports.free', { size: size(this.freed) }));
  }

  async #clean() {
    const path = `/api/runs/${encodeURIComponent(this.run)}/clean`;
    const parts = [...this.chosen];
    const goes = this.known.parts.filter((part) => parts.includes(part.id));
    const costs = goes.filter((part) => part.costs).map((part) => part.costs);
    fill(this.note);
    try {
      const { freed: would } = await api.post(path, { parts, dry_run: true });
      const what = () => goes.map((part) => t(said(part.words))).join('; ');
      const body = () => [t('exports.free_what', { what: what() }), t('exports.free_body', { size: size(would) }), ...costs.map((cost) => t(said(cost)))].join(' ');
      if (!(await confirm({ title: 'exports.free_title', body, action: 'exports.free_yes' }))) return;
      this.free.disabled = true;
      const { freed } = await api.post(path, { parts });
      this.chosen.clear();
      toast(() => t('exports.freed', { size: size(freed) }));
      this.onFreed();
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.note, failure(error));
    }
    this.free.disabled = false;
    await this.refresh();
  }
}

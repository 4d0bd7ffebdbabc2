// Which runs are compared: chips in their hues, and a list to add one.
import { fill, h } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import * as runlist from '../runlist.js';
import { dashOf, variableOf } from './hues.js';
import { namesOf } from './names.js';

export const MOST = 12;
export const COMPARED = ['train', 'control', 'attached'];

export class Chooser {
  /** `onChange(ids)` with the runs that are wanted. */
  constructor(onChange) {
    this.onChange = onChange;
    this.ids = [];
    this.chips = h('ul', { class: 'cmp-chips' });
    this.select = h('select', { id: 'compare-add', class: 'input', tt: { 'aria-label': 'compare.add' }, onchange: () => this.#add() });
    this.note = h('p', { class: 'caption', hidden: true, t: 'compare.full' });
    this.root = h('div', { class: 'cmp-chooser' }, this.chips, this.select, this.note);
    runlist.onChange(() => this.draw());
    onLanguage(() => this.draw(true));
  }

  use(ids) {
    this.ids = ids;
    this.draw();
  }

  draw(force = false) {
    const runs = runlist.list() ?? [];
    const known = new Map(runs.map((run) => [run.id, run]));
    const rest = runs.filter((run) => COMPARED.includes(run.kind) && !this.ids.includes(run.id));
    const state = JSON.stringify([this.ids, rest.map((run) => [run.id, run.name, run.state]), this.ids.map((id) => known.get(id)?.name)]);
    if (!force && state === this.drawn) return;
    this.drawn = state;
    const named = namesOf([...rest, ...this.ids.map((id) => known.get(id) ?? { id })]);
    fill(this.chips, this.ids.map((id, place) => {
      const name = named(id);
      return h('li', { class: 'cmp-chip' }, h('i', { class: 'cmp-key', data: { dash: dashOf(place) }, style: { '--hue': variableOf(place) } }), h('span', { class: 'cmp-name', title: id }, name),
        h('button', { type: 'button', class: 'btn ghost small', 'aria-label': t('compare.remove', { name }), onclick: () => this.onChange(this.ids.filter((one) => one !== id)) }, '×'));
    }));
    fill(this.select, h('option', { value: '' }, t('compare.add')), rest.map((run) => h('option', { value: run.id }, `${named(run.id)} · ${t(`state.${run.state}`)}`)));
    this.select.value = '';
    this.select.disabled = rest.length === 0 || this.ids.length >= MOST;
    this.note.hidden = this.ids.length < MOST;
  }

  #add() {
    if (this.select.value) this.onChange([...this.ids, this.select.value]);
  }
}

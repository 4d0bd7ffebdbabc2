// The four steps: basic fields first, everything else folded under its group with counts of changed and wrong ones.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Field } from './field.js';
import { matches } from './schema.js';
import { plural, saying } from './words.js';

/** `reward_weights` is edited with the rewards, so it has no row of its own. */
const COMPANIONS = { rewards: ['reward_weights'] };
/** Filled in at the start; a person rarely types them: they stand last. */
const FILLED_IN = ['dataset_sha256', 'sft_dataset_sha256', 'reward_versions'];
/** Written by other pages (Evaluate, a control): shown only where they hold something. */
const MADE = new Set(['evaluation', 'control_of', 'attached']);
const unused = (field) => MADE.has(field.field.name) && !field.changed && !field.wrong;
const HIDDEN = new Set(Object.values(COMPANIONS).flat());

export class Steps {
  constructor(schema, draft) {
    this.draft = draft;
    this.fields = [];
    this.folds = [];
    this.steps = schema.steps().map((step, at) => this.build(step, at));
    this.root = h('div', { class: 'f-steps' }, ...this.steps.map((step) => step.root));
    this.owner = new Map(this.fields.flatMap((field) => field.names.map((name) => [name, field])));
    saying(() => this.count());
  }

  build(step, at) {
    const title = h('span', { t: `form.step_${step.name}` });
    const lead = h('span', { class: 'f-step-lead', t: `form.step_${step.name}_lead` });
    const basic = this.grid(step.basic);
    const folds = step.folded.map((fold) => this.fold(fold, step.name));
    const root = h('section', { class: 'f-step', id: `f-step-${step.name}` },
      h('h2', { class: 'f-step-title' }, h('span', { class: 'f-step-number' }, String(at + 1)), title, lead),
      basic.root, h('div', { class: 'f-folds' }, ...folds.map((fold) => fold.root)));
    return { name: step.name, root, basic, folds, fields: [...basic.fields, ...folds.flatMap((fold) => fold.fields)] };
  }

  grid(list) {
    const last = (field) => FILLED_IN.includes(field.name);
    const ordered = [...list.filter((field) => !last(field)), ...list.filter(last)];
    const fields = ordered.filter((field) => !HIDDEN.has(field.name)).map((field) => {
      const made = new Field(field, { draft: this.draft, companions: COMPANIONS[field.name] });
      this.fields.push(made);
      made.root.hidden = unused(made);
      return made;
    });
    return { fields, root: h('div', { class: 'f-grid' }, ...fields.map((field) => field.root)) };
  }

  fold({ group, fields: list }, step) {
    const grid = this.grid(list);
    const title = h('span', { class: 'f-fold-title' });
    const counts = h('span', { class: 'f-fold-count' });
    const changed = h('span', { class: 'f-fold-changed' });
    const wrong = h('span', { class: 'f-fold-wrong' });
    saying(() => { title.textContent = group.key === step ? t('form.more') : t(group.label); });
    const root = h('details', { class: 'f-fold', 'data-group': group.key },
      h('summary', null, title, wrong, changed, counts), grid.root);
    const fold = { root, fields: grid.fields, counts, changed, wrong, open: false };
    this.folds.push(fold);
    return fold;
  }

  of(name) { return this.owner.get(name); }

  show(names) {
    const touched = names === null ? this.fields : new Set(names.map((name) => this.of(name)).filter(Boolean));
    for (const field of touched) {
      field.show();
      if (!this.filtering && MADE.has(field.field.name)) field.root.hidden = unused(field);
    }
    this.count();
  }

  /** Show where these settings stand: their folds open, the first one in sight of the keyboard. */
  mark(names) {
    const marked = new Set(names.map((name) => this.of(name)).filter(Boolean));
    for (const field of this.fields) field.root.toggleAttribute('data-applied', marked.has(field));
    for (const fold of this.folds) if (fold.fields.some((field) => marked.has(field))) fold.root.open = true;
  }

  /** Problems by field; returns those that belong to no field of the form. */
  setProblems(problems) {
    const by = new Map(this.fields.map((field) => [field, []]));
    const homeless = [];
    for (const problem of problems) {
      const field = this.of(problem.field);
      if (field) by.get(field).push(problem);
      else homeless.push(problem);
    }
    for (const [field, list] of by) {
      field.setProblems(list);
      if (MADE.has(field.field.name) && field.wrong) field.root.hidden = false;
    }
    this.count();
    return homeless;
  }

  setNotes(notes) {
    for (const field of this.fields) field.setNotes(notes.filter((note) => note.kind !== 'info' && field.names.includes(note.field)));
  }

  count() {
    for (const { fields: all, counts, changed, wrong } of this.folds) {
      const fields = all.filter((field) => !unused(field));
      const [moved, bad] = [fields.filter((f) => f.changed).length, fields.filter((f) => f.wrong).length];
      const shown = fields.filter((f) => !f.root.hidden).length;
      counts.textContent = shown < fields.length && shown > 0 ? t('form.count_of', { n: shown, all: fields.length }) : plural('form.settings', fields.length);
      changed.textContent = moved ? plural('form.changed', moved) : '';
      wrong.textContent = bad ? plural('form.wrong', bad) : '';
    }
  }

  /** Shows only the settings that match; an empty query with `onlyChanged` false shows the page as it was. */
  filter(query, onlyChanged) {
    const active = query.trim() !== '' || onlyChanged;
    let found = 0;
    for (const field of this.fields) {
      const fits = (!onlyChanged || field.changed || field.wrong)
        && (query.trim() === '' || field.names.some((name) => matches(this.draft.schema.field(name), query)));
      field.root.hidden = active ? !fits : unused(field);
      if (active && fits) found += 1;
    }
    if (active && !this.filtering) for (const fold of this.folds) fold.open = fold.root.open;
    for (const fold of this.folds) {
      const some = fold.fields.some((field) => !field.root.hidden);
      fold.root.hidden = !some;
      if (active) fold.root.open = some;
      else if (this.filtering) fold.root.open = fold.open;
    }
    for (const step of this.steps) step.root.hidden = step.fields.every((field) => field.root.hidden);
    this.filtering = active;
    this.count();
    this.root.toggleAttribute('data-filtering', active);
    return active ? found : null;
  }
}

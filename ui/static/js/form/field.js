// One setting: plain label with the TRL name beside it, its control, what is wrong with it, help, bounds and default.

import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { control } from './controls.js';
import { datasets } from './datasets.js';
import { typed } from './format.js';
import { prose } from './prose.js';
import { rewards } from './rewards.js';
import { same } from './values.js';
import { suggestions } from './suggestions.js';
import { saying } from './words.js';

const WORDS = { warn: 'form.warn', inert: 'form.inert', changed: 'form.renamed', info: 'form.info' };
/** Fields that name a dataset -> the kind of stored sets that fit. */
const SETS = { dataset: 'prompts', sft_dataset: 'sft' };
const ICONS = { warn: '▲', inert: '○', changed: '↦', info: 'ⓘ' };

export class Field {
  /** `draft` holds the value; `companions` are fields that this one edits too (the weights of the rewards). */
  constructor(field, { draft, companions = [] }) {
    this.field = field;
    this.draft = draft;
    this.names = [field.name, ...companions];
    this.problems = [];
    this.id = `f-${field.name}`;
    const send = (value) => (value === undefined ? draft.reset(field.name) : draft.set({ [field.name]: value }));
    if (companions.length) this.control = rewards(field, this.id, draft);
    else if (field.name in SETS) this.control = datasets(field, this.id, send, { kind: SETS[field.name], choose: (name) => draft.lay({ [field.name]: name }) });
    else this.control = control(field, this.id, send);
    this.root = this.build();
    saying(() => this.say());
    this.show();
  }

  build() {
    const { id, field } = this;
    this.label = h(this.control.group ? 'span' : 'label', { class: 'f-label', id: `${id}-label` });
    if (!this.control.group) this.label.htmlFor = id;
    this.reset = h('button', { type: 'button', class: 'f-reset', hidden: true });
    this.reset.addEventListener('click', () => {
      this.names.forEach((name) => this.draft.reset(name));
      this.control.input.focus();
    });
    this.error = h('div', { class: 'f-error', id: `${id}-error`, 'aria-live': 'polite', hidden: true });
    this.notes = h('div', { class: 'f-field-notes', hidden: true });
    this.helpText = h('span', null);
    this.bounds = h('span', { class: 'f-bounds' });
    this.help = h('p', { class: 'f-help', id: `${id}-help` }, this.helpText, ' ', this.bounds);
    if (this.control.group) {
      this.control.root.setAttribute('role', this.control.root.getAttribute('role') ?? 'group');
      this.control.root.setAttribute('aria-labelledby', `${id}-label`);
    }
    (this.control.group ? this.control.root : this.control.input).setAttribute('aria-describedby', `${id}-error ${id}-help`);
    saying(() => this.helpText.replaceChildren(...prose(t(field.help))));
    return h('div', { class: `f-field f-${field.type}`, 'data-field': field.name },
      h('div', { class: 'f-head' }, this.label, h('code', { class: 'f-trl', title: field.trl_name ?? '' }, field.name), this.reset),
      this.control.root, this.error, this.notes, this.help);
  }

  /** The words that depend on the value as well as on the language. */
  say() {
    const { field, draft } = this;
    this.label.textContent = t(field.label);
    const base = draft.base(field.name);
    const facts = [bounds(field)];
    if (field.type === 'list' && this.names.length === 1 && !this.control.plain) facts.push(t('form.list_hint'));
    if (!['bool', 'dict'].includes(field.type) && this.names.length === 1 && !this.control.plain) {
      facts.push(same(base, field.default) ? null : t('form.preset_value', { value: typed(base) }));
      facts.push(field.default === null ? null : t('form.default', { value: typed(field.default) }));
    }
    fill(this.bounds, facts.filter(Boolean).map((fact, at) => [at ? ' · ' : null, h('span', { class: 'f-fact' }, fact)]));
    const was = base === null || base === '' ? t('form.not_set') : typed(base);
    const back = t('form.reset', { value: was });
    this.reset.textContent = `↺ ${was}`;
    this.reset.title = back;
    this.reset.setAttribute('aria-label', `${t(field.label)}: ${back}`);
    this.sayProblems();
    this.sayNotes();
  }

  show() {
    this.control.show(this.draft.value(this.field.name), this.draft.base(this.field.name));
    const changed = this.changed;
    this.root.toggleAttribute('data-changed', changed);
    this.reset.hidden = !changed;
    this.say();
  }

  get changed() { return this.names.some((name) => this.draft.changed(name)); }

  get wrong() { return this.problems.length > 0; }

  /** What the check says of this field: [{field, value, rule, suggest}]. */
  setProblems(problems) {
    if (same(problems, this.problems)) return;
    this.problems = problems;
    this.sayProblems();
  }

  /** What is inert here or warns: [{kind, field, text}]. */
  setNotes(notes) {
    if (same(notes, this.said)) return;
    this.said = notes;
    this.sayNotes();
  }

  sayNotes() {
    const notes = this.said ?? [];
    this.root.toggleAttribute('data-inert', notes.some((note) => note.kind === 'inert'));
    this.notes.hidden = notes.length === 0;
    this.notes.replaceChildren(...notes.map((note) => h('p', { class: 'f-field-note', data: { kind: note.kind } },
      h('span', { class: 'f-field-note-word' }, `${ICONS[note.kind] ?? ''} ${t(WORDS[note.kind] ?? 'form.info')}`), ' ', prose(t(note.text)))));
  }

  sayProblems() {
    const { draft, problems } = this;
    this.root.toggleAttribute('data-wrong', problems.length > 0);
    this.error.hidden = problems.length === 0;
    const target = this.control.group ? this.control.root : this.control.input;
    target.setAttribute('aria-invalid', String(problems.length > 0));
    this.error.replaceChildren(...problems.map((problem) => h('div', { class: 'f-problem' },
      h('span', { class: 'f-problem-text' }, prose(t(problem.rule))), suggestions(problem, draft))));
  }

  focus() {
    for (let at = this.root.parentElement; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    this.root.scrollIntoView({ block: 'center' });
    this.control.input.focus({ preventScroll: true });
  }
}

function bounds(field) {
  const { min, min_excluded: above, max_excluded: below } = field;
  const max = field.max > 1e9 ? null : field.max; // the size of a machine word is no help to anybody
  if (min !== null && max !== null && !above && !below) return t('form.between', { min: typed(min), max: typed(max) });
  return [
    min === null ? null : t(above ? 'form.above' : 'form.at_least', { min: typed(min) }),
    max === null ? null : t(below ? 'form.below' : 'form.at_most', { max: typed(max) }),
  ].filter(Boolean).join(' · ') || null;
}

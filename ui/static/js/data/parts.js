// Small parts of the Data page: labelled controls, buttons that say when they are busy, words of errors, addresses.

import { h } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';

let made = 0;
export const uid = (name) => `d-${name}-${++made}`;

/** Runs `say` now and after every change of the language. */
export function saying(say) {
  say();
  onLanguage(say);
}

export const plural = (key, n, vars = {}) => t(n === 1 ? `${key}_1` : key, { n, ...vars });

/** {en, ko} of whatever went wrong. */
export const words = (error) => error?.error ?? error?.message ?? String(error);

/** A control under its label, with help under it. `group`: the label names a group and not one input. */
export function labelled(key, control, { help = null, group = false, input = control } = {}) {
  input.id ||= uid('field');
  const label = h(group ? 'span' : 'label', { class: 'd-label', id: `${input.id}-label`, t: key });
  if (group) control.setAttribute('aria-labelledby', label.id);
  else label.htmlFor = input.id;
  const below = help ? h('p', { class: 'd-help', id: `${input.id}-help`, t: help }) : null;
  if (below) input.setAttribute('aria-describedby', below.id);
  return h('div', { class: 'd-field' }, label, control, below);
}

/** A menu. `options`: [{value, key | text | say}], kept as objects; `text` is somebody's own words and shown as they are. */
export class Menu {
  constructor(onChoose) {
    this.options = [];
    this.root = h('select', { class: 'input d-menu' });
    this.root.addEventListener('change', () => onChoose(this.options[this.root.selectedIndex].value));
    onLanguage(() => this.set(this.options, this.value, true));
  }

  get value() { return this.options[this.root.selectedIndex]?.value; }

  set(options, value, again = false) {
    const same = !again && JSON.stringify(options) === JSON.stringify(this.options);
    this.options = options;
    if (!same) this.root.replaceChildren(...options.map((one) => h('option', null, word(one))));
    const at = options.findIndex((one) => JSON.stringify(one.value) === JSON.stringify(value));
    if (this.root.selectedIndex !== at) this.root.selectedIndex = at;
  }
}

const word = (option) => (option.text === undefined ? t(option.key, option.vars) : visible(option.text));

/** A few choices side by side, as radio buttons. `options`: [{value, key}]. */
export function segments(options, onChoose) {
  const name = uid('segments');
  const inputs = options.map(({ value }) => h('input', { type: 'radio', name, class: 'f-radio', onchange: () => onChoose(value) }));
  return {
    root: h('div', { class: 'f-segments', role: 'radiogroup' }, inputs.map((input, at) => h('label', { class: 'f-segment' }, input, h('span', { t: options[at].key })))),
    set(value) { inputs.forEach((input, at) => { input.checked = options[at].value === value; }); },
  };
}

/** A link inside the app: opens in place, or as any link in a new window. */
export function link(patch, props, ...children) {
  return h('a', { href: state.link(patch), ...props, onclick: (event) => state.follow(event, patch) }, ...children);
}

/** What went wrong with one action, under it; read out when it comes. */
export function faultLine() {
  const root = h('p', { class: 'd-fault', role: 'alert', hidden: true });
  let said = null;
  const draw = () => {
    root.hidden = said === null;
    root.textContent = said === null ? '' : visible(t(said));
  };
  onLanguage(draw);
  return { root, say(message) { said = message; draw(); } };
}

/** A name for a new set: its label, what is wrong with it, and whether one of that name is there already. */
export function nameField(store) {
  const input = h('input', { type: 'text', class: 'input', maxlength: '200', autocomplete: 'off', spellcheck: 'false' });
  const taken = h('p', { class: 'd-help d-taken', 'aria-live': 'polite' });
  const draw = () => {
    const there = store.find(input.value.trim());
    taken.textContent = there ? t('data.taken', { name: visible(there.name), rows: there.rows.toLocaleString('en-US') }) : '';
  };
  input.addEventListener('input', draw);
  store.onChange(draw);
  onLanguage(draw);
  const root = labelled('data.name', input);
  root.append(taken);
  return {
    root,
    input,
    get value() { return input.value.trim(); },
    set value(text) { input.value = text; draw(); },
  };
}

/** 'data/수학 문제 (1).csv' -> '수학-문제-1': a name to begin with. */
export function suggestedName(path) {
  return plainName(path.split(/[\\/]/).pop().replace(/\.[^.]*$/, ''));
}

/** What of a text a set may be called. */
export function plainName(text) {
  return text.normalize('NFC').replace(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 60);
}

// One control for each type of setting. Each gives {root, input, show(value)} and calls `send(value)` when typed in;
// `send(undefined)` asks for the preset's value back.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { pairs } from './pairs.js';
import { readList, readNumber, same, writeList, writeNumber } from './values.js';
import { saying } from './words.js';

export function control(field, id, send) {
  const { type, choices, optional } = field;
  if (type === 'bool') return optional ? choice(id, send, [{ value: null, key: 'form.auto' }, { value: true, key: 'form.on' }, { value: false, key: 'form.off' }]) : toggle(id, send);
  if (type === 'dict') return pairs(id, send);
  if (type === 'choice') return choice(id, send, optional ? [{ value: null, key: 'form.not_set' }, ...choices] : choices);
  if (type === 'list' && choices.length) return several(id, send, choices);
  if (type === 'int' || type === 'float') return typed(field, id, send, { read: readNumber, write: writeNumber, numeric: true });
  if (type === 'list' || type === 'numbers') {
    // Where one word stands for many (all-linear), it is sent as that word and not as a list of one.
    const read = (text) => (typeof field.default === 'string' && readList(text).length === 1 ? readList(text)[0] : readList(text));
    return typed(field, id, send, { read, write: writeList });
  }
  return typed(field, id, send, { read: (text) => text, write: (value) => String(value ?? '') });
}

/** A line of text; what the schema suggests is offered, other values are taken too. */
function typed(field, id, send, { read, write, numeric = false }) {
  const input = h('input', { id, type: 'text', class: numeric ? 'input f-number' : 'input', autocomplete: 'off', spellcheck: 'false', inputmode: numeric ? 'decimal' : 'text' });
  const root = h('div', { class: 'f-typed' }, input);
  const offers = [...field.suggestions, ...field.choices.map((each) => each.value)];
  if (offers.length) {
    root.append(h('datalist', { id: `${id}-offered` }, offers.map((value) => h('option', { value: String(value) }))));
    input.setAttribute('list', `${id}-offered`);
  }
  let shown = null;
  const send_typed = () => {
    const text = input.value;
    if (text.trim() === '') send(field.optional ? null : undefined);
    else send(read(text));
  };
  input.addEventListener('input', send_typed);
  input.addEventListener('blur', () => { input.value = write(shown); });
  if (field.type === 'int') input.addEventListener('keydown', (event) => nudge(event, input, field, send_typed));
  return {
    root,
    input,
    show(value, base) {
      shown = value;
      input.placeholder = base === null || base === undefined || base === '' ? t('form.not_set') : write(base);
      const mine = document.activeElement === input;
      if (!mine || (input.value.trim() !== '' && !same(read(input.value), value))) input.value = write(value);
    },
  };
}

/** Arrow keys move a whole number by one, within its bounds. */
function nudge(event, input, field, send) {
  const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  const now = readNumber(input.value || input.placeholder);
  if (!by || !Number.isInteger(now)) return;
  event.preventDefault();
  const next = now + by;
  if (next < (field.min ?? -Infinity) || next > (field.max ?? Infinity)) return;
  input.value = String(next);
  send();
}

function toggle(id, send) {
  const input = h('input', { id, type: 'checkbox', role: 'switch', class: 'f-switch' });
  const state = h('span', { class: 'f-switch-word', 'aria-hidden': 'true' });
  const say = () => { state.textContent = t(input.checked ? 'form.on' : 'form.off'); };
  input.addEventListener('change', () => { say(); send(input.checked); });
  saying(say);
  return {
    root: h('label', { class: 'f-toggle' }, input, state),
    input,
    show(value) { input.checked = value === true; say(); },
  };
}

const word = (option) => (option.key ? t(option.key) : t(option.label));

/** Few short choices stand side by side; more become a menu. */
function choice(id, send, options) {
  const short = options.length <= 4 && options.map((option) => String(option.value ?? 'not set')).join('').length <= 34;
  return short ? segments(id, send, options) : menu(id, send, options);
}

function segments(id, send, options) {
  const inputs = options.map(({ value }, at) => h('input', {
    type: 'radio', name: id, id: at === 0 ? id : `${id}-${at}`, class: 'f-radio', onchange: () => send(value),
  }));
  return {
    root: h('div', { class: 'f-segments', role: 'radiogroup' }, inputs.map((input, at) =>
      h('label', { class: 'f-segment' }, input, h('span', { t: () => word(options[at]) })))),
    input: inputs[0],
    group: true,
    show(value) { inputs.forEach((input, at) => { input.checked = same(options[at].value, value); }); },
  };
}

function menu(id, send, options) {
  const strange = h('option', { value: 'strange', disabled: true, hidden: true });
  const input = h('select', { id, class: 'input f-menu' },
    options.map((option, at) => h('option', { value: String(at), t: () => word(option) })), strange);
  input.addEventListener('change', () => send(options[Number(input.value)].value));
  return {
    root: h('div', { class: 'f-typed f-menu-box' }, input),
    input,
    show(value) {
      const at = options.findIndex((option) => same(option.value, value));
      strange.textContent = at < 0 ? String(value) : ''; // an old draft or a pasted value: shown as it is, and refused
      input.value = at < 0 ? 'strange' : String(at);
    },
  };
}

/** Several of a few, always in the order in which they are listed. */
function several(id, send, options) {
  const inputs = options.map((option, at) => h('input', {
    type: 'checkbox', id: at === 0 ? id : `${id}-${at}`, class: 'f-check',
    onchange: () => send(options.filter((_, i) => inputs[i].checked).map(({ value }) => value)),
  }));
  return {
    root: h('div', { class: 'f-several' }, inputs.map((input, at) =>
      h('label', { class: 'f-one' }, input, h('span', { t: () => word(options[at]) }), h('code', { class: 'f-trl' }, options[at].value)))),
    input: inputs[0],
    group: true,
    plain: true,
    show(value) { inputs.forEach((input, at) => { input.checked = Array.isArray(value) && value.includes(options[at].value); }); },
  };
}

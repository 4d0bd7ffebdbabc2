// One control for each type of setting. Each gives {root, input, show(value)} and calls `send(value)` when typed in;
// `send(undefined)` asks for the preset's value back.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { pairs } from './pairs.js';
import { readList, readNumber, same, writeList, writeNumber } from './values.js';
import { saying } from './words.js';

export function control(field, id, send) {
  if (field.type === 'bool') return field.nullable ? choice(field, id, send, [null, true, false]) : toggle(id, send);
  if (field.type === 'dict') return pairs(id, send);
  if (field.type === 'int' || field.type === 'float') {
    return typed(field, id, send, { read: readNumber, write: writeNumber, numeric: true });
  }
  if (field.type === 'list') return typed(field, id, send, { read: readList, write: writeList });
  if (field.type === 'choice') {
    return choice(field, id, send, field.nullable ? [null, ...field.choices] : field.choices);
  }
  return typed(field, id, send, { read: (text) => text, write: (value) => String(value ?? '') });
}

/** A line of text; with `choices` it offers them and takes others too. */
function typed(field, id, send, { read, write, numeric = false }) {
  const input = h('input', { id, type: 'text', class: numeric ? 'input f-number' : 'input', autocomplete: 'off', spellcheck: 'false', inputmode: numeric ? 'decimal' : 'text' });
  const root = h('div', { class: 'f-typed' }, input);
  if (field.choices?.length) {
    const offered = h('datalist', { id: `${id}-offered` }, ...field.choices.map((c) => h('option', { value: String(c) })));
    input.setAttribute('list', offered.id);
    root.append(offered);
  }
  let shown = null;
  const send_typed = () => {
    const text = input.value;
    if (text.trim() === '') send(field.nullable ? null : undefined);
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

/** Few short choices stand side by side; more become a menu. */
function choice(field, id, send, choices) {
  const short = choices.length <= 4 && choices.map((c) => String(c ?? 'none')).join('').length <= 34;
  const word = (value) => {
    if (value === null) return t(field.type === 'bool' ? 'form.auto' : 'form.not_set');
    if (value === true) return t('form.on');
    if (value === false) return t('form.off');
    return String(value);
  };
  return short ? segments(id, send, choices, word) : menu(id, send, choices, word);
}

function segments(id, send, choices, word) {
  const inputs = choices.map((value, at) => {
    const input = h('input', { type: 'radio', name: id, id: at === 0 ? id : `${id}-${at}`, class: 'f-radio' });
    input.addEventListener('change', () => send(value));
    return input;
  });
  const root = h('div', { class: 'f-segments', role: 'radiogroup' }, ...inputs.map((input, at) => {
    const text = h('span', null);
    saying(() => { text.textContent = word(choices[at]); });
    return h('label', { class: 'f-segment' }, input, text);
  }));
  return {
    root,
    input: inputs[0],
    group: true,
    show(value) { inputs.forEach((input, at) => { input.checked = same(choices[at], value); }); },
  };
}

function menu(id, send, choices, word) {
  const options = choices.map((value, at) => {
    const option = h('option', { value: String(at) });
    saying(() => { option.textContent = word(value); });
    return option;
  });
  const strange = h('option', { value: 'strange', disabled: true, hidden: true });
  const input = h('select', { id, class: 'input f-menu' }, ...options, strange);
  input.addEventListener('change', () => send(choices[Number(input.value)]));
  return {
    root: h('div', { class: 'f-typed f-menu-box' }, input),
    input,
    show(value) {
      const at = choices.findIndex((c) => same(c, value));
      strange.textContent = at < 0 ? String(value) : ''; // an old draft or a pasted value: shown as it is, and refused
      input.value = at < 0 ? 'strange' : String(at);
    },
  };
}

// One argument of a generator or a task: its name as it is written, a control that fits its kind, help and default.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import { readList, readNumber, writeList, writeNumber } from '../form/values.js';
import { uid } from './parts.js';

/** A control for one argument; `send(undefined)` leaves it to its default. */
export function argument(arg, send) {
  const id = uid('arg');
  const facts = () => [arg.help ? t(arg.help) : '', arg.default === null || arg.default === undefined || arg.default === '' ? '' : t('data.default', { value: shown(arg.default) })].filter(Boolean).join(' · ');
  const help = h('p', { class: 'd-help', id: `${id}-help`, t: facts });
  const label = h('label', { class: 'd-label mono', htmlFor: id }, visible(arg.name));
  let input;
  if (arg.kind === 'bool') {
    input = h('input', { id, type: 'checkbox', class: 'f-check', checked: arg.default === true, onchange: () => send(input.checked) });
  } else if (arg.kind === 'list' && arg.choices?.length) {
    return several(arg, id, help, send);
  } else if (arg.kind === 'choice' || (arg.choices?.length && arg.kind !== 'list')) {
    input = h('select', { id, class: 'input' }, arg.choices.map((choice) => h('option', { value: String(choice), selected: choice === arg.default }, visible(choice))));
    input.addEventListener('change', () => send(arg.choices[input.selectedIndex]));
  } else {
    const read = arg.kind === 'list' ? readList : arg.kind === 'text' ? (text) => text : readNumber;
    input = h('input', { id, type: 'text', class: 'input num', autocomplete: 'off', spellcheck: 'false', placeholder: shown(arg.default), inputmode: ['int', 'float'].includes(arg.kind) ? 'decimal' : 'text' });
    input.addEventListener('input', () => send(input.value.trim() === '' ? undefined : read(input.value)));
  }
  input.setAttribute('aria-describedby', `${id}-help`);
  return h('div', { class: `d-arg d-arg-${arg.kind}`, data: { arg: arg.name } }, label, input, help);
}

/** Some of a few, as ticks. */
function several(arg, id, help, send) {
  const inputs = arg.choices.map((choice) => h('input', {
    type: 'checkbox', class: 'f-check', value: String(choice), checked: (arg.default ?? []).includes(choice),
    onchange: () => send(arg.choices.filter((_, at) => inputs[at].checked)),
  }));
  return h('div', { class: 'd-arg d-arg-list', data: { arg: arg.name }, role: 'group', 'aria-labelledby': id, 'aria-describedby': help.id },
    h('span', { class: 'd-label mono', id }, visible(arg.name)),
    h('div', { class: 'd-ticks' }, inputs.map((input, at) => h('label', { class: 'd-check' }, input, visible(arg.choices[at])))), help);
}

const shown = (value) => (Array.isArray(value) ? writeList(value) : typeof value === 'number' ? writeNumber(value) : value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : visible(value));

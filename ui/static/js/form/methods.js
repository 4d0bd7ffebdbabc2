// The named methods (GSPO, Dr. GRPO ...): a few settings each, laid over the preset. Which one holds is read off the values.

import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { prose } from './prose.js';
import { same } from './values.js';
import { saying } from './words.js';

/** `onTake(method)` when one is chosen. */
export function methodPicker(schema, draft, onTake) {
  const methods = schema.methods;
  const other = h('option', { value: '', t: 'form.method_other' });
  const input = h('select', { id: 'f-method', class: 'input', 'aria-describedby': 'f-method-summary' },
    other, methods.map((method) => h('option', { value: method.name, t: method.title })));
  const summary = h('p', { class: 'f-help', id: 'f-method-summary' });
  const label = h('label', { class: 'f-label', for: 'f-method', t: 'form.method' });
  input.addEventListener('change', () => {
    const method = methods.find((one) => one.name === input.value);
    if (method) onTake(method);
    else show();
  });

  /** The method whose every setting holds; of several the one that says most. */
  function current() {
    const held = methods.filter((one) => Object.entries(one.values).every(([name, value]) => same(draft.value(name), value)));
    return held.sort((a, b) => Object.keys(b.values).length - Object.keys(a.values).length)[0];
  }

  function show() {
    const method = current();
    input.value = method?.name ?? '';
    fill(summary, prose(t(method ? method.summary : 'form.method_lead')));
  }

  saying(show);
  return { root: h('div', { class: 'f-method', hidden: methods.length === 0 }, label, input, summary), show };
}

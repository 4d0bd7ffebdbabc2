// The nearest values that would do, each as a button which applies it; {field, value} is for another setting.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { typed } from './format.js';

export function suggestions(problem, draft) {
  const values = problem.suggest ?? [];
  if (!values.length) return null;
  return h('span', { class: 'f-suggest' }, h('span', { class: 'f-suggest-lead' }, t('form.would_do')),
    values.map((suggestion) => {
      const elsewhere = suggestion && typeof suggestion === 'object' && 'field' in suggestion && 'value' in suggestion;
      const [name, value] = elsewhere ? [suggestion.field, suggestion.value] : [problem.field, suggestion];
      const label = t(draft.schema.field(name)?.label ?? name);
      return h('button', {
        type: 'button', class: 'f-chip', data: { suggest: name }, 'aria-label': t('form.use', { value: typed(value), field: label }),
        onclick: () => {
          if (!draft.schema.field(problem.field)) draft.forget(problem.field); // no such setting: the right one takes its place
          draft.set({ [name]: value });
        },
      }, elsewhere ? h('span', { class: 'f-chip-field' }, label) : null, typed(value));
    }));
}

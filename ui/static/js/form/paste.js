// A TRL config pasted as YAML, JSON, Python or name=value lines. The server reads it and maps the old names.

import { fill, h } from '../dom.js';
import * as api from '../api.js';
import { said } from './words.js';

/** `onTake(values, notes)`: what the text says under today's names, and what was changed on the way. */
export function pasteBox({ onTake }) {
  const title = h('h2', { class: 'f-heading', id: 'f-paste-title', t: 'form.paste' });
  const lead = h('p', { class: 'f-help', id: 'f-paste-lead', t: 'form.paste_lead' });
  const area = h('textarea', { class: 'input f-paste-area', rows: '14', spellcheck: 'false', 'aria-labelledby': 'f-paste-title', 'aria-describedby': 'f-paste-lead' });
  area.placeholder = 'learning_rate: 1e-5\nnum_generations: 8\nloss_type: dr_grpo';
  const wrong = h('p', { class: 'f-error', 'aria-live': 'polite' });
  const take = h('button', { type: 'button', class: 'btn primary f-paste-take', t: 'form.paste_take' });
  const cancel = h('button', { type: 'button', class: 'btn', t: 'form.paste_cancel', onclick: () => root.close() });
  const root = h('dialog', { class: 'dialog f-dialog', 'aria-labelledby': 'f-paste-title' }, title, lead, area, wrong,
    h('div', { class: 'f-dialog-foot' }, cancel, take));

  take.addEventListener('click', async () => {
    take.disabled = true;
    try {
      const { values, notes, errors } = await api.post('/api/pasted', { text: area.value });
      // A name that is refused goes in as it is: the check says why, and offers to leave it out.
      for (const error of errors) if (!(error.field in values)) values[error.field] = error.value;
      root.close();
      area.value = '';
      onTake(values, notes);
    } catch (error) {
      fill(wrong, h('span', { t: () => said(error) }));
    } finally {
      take.disabled = false;
    }
  });
  return {
    root,
    open() {
      fill(wrong);
      root.showModal();
      area.focus();
    },
  };
}

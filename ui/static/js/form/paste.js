// A TRL config pasted as YAML, JSON or name=value lines. Only reads the text; what the names mean, the server says.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { readConfig } from './config_text.js';

export function pasteBox({ onTake }) {
  const title = h('h2', { class: 'f-heading', id: 'f-paste-title', t: 'form.paste' });
  const lead = h('p', { class: 'f-help', id: 'f-paste-lead', t: 'form.paste_lead' });
  const area = h('textarea', { class: 'input f-paste-area', rows: '14', spellcheck: 'false', 'aria-labelledby': 'f-paste-title', 'aria-describedby': 'f-paste-lead' });
  area.placeholder = 'learning_rate: 1e-5\nnum_generations: 8\nloss_type: dr_grpo';
  const wrong = h('p', { class: 'f-error', 'aria-live': 'polite' });
  const take = h('button', { type: 'button', class: 'btn primary f-paste-take', t: 'form.paste_take' });
  const cancel = h('button', { type: 'button', class: 'btn small', t: 'form.paste_cancel' });
  const root = h('dialog', { class: 'dialog f-dialog', 'aria-labelledby': 'f-paste-title' }, title, lead, area, wrong,
    h('div', { class: 'f-dialog-foot' }, cancel, take));
  cancel.addEventListener('click', () => root.close());
  take.addEventListener('click', () => {
    let values;
    try {
      values = readConfig(area.value);
    } catch (error) {
      wrong.textContent = t('form.paste_failed', { why: error.message });
      return;
    }
    if (!Object.keys(values).length) {
      wrong.textContent = t('form.paste_none');
      return;
    }
    root.close();
    area.value = '';
    onTake(values);
  });
  return { root, open() { wrong.textContent = ''; root.showModal(); area.focus(); } };
}

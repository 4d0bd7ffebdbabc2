// A line that says what just happened, with a way back. Stays until it is closed or the next one comes.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { saying } from './words.js';

export function notices() {
  const text = h('span', { class: 'f-notice-text' });
  const undo = h('button', { type: 'button', class: 'btn small', t: 'form.undo' });
  const close = h('button', { type: 'button', class: 'btn ghost small f-icon' }, '×');
  const root = h('div', { class: 'notice f-notice', role: 'status', hidden: true }, text, undo, close);
  let say = () => '';
  let back = null;
  const hide = () => { root.hidden = true; };
  undo.addEventListener('click', () => { hide(); back?.(); });
  close.addEventListener('click', hide);
  saying(() => {
    text.textContent = say();
    close.setAttribute('aria-label', t('form.dismiss'));
  });
  return {
    root,
    say(message, undoIt = null) {
      say = message;
      back = undoIt;
      text.textContent = say();
      undo.hidden = !undoIt;
      root.hidden = false;
    },
  };
}

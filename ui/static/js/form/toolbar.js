// Finding a setting, jumping to a step, and what to do with the draft. Stays at the top of the form.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { plural, saying } from './words.js';

export function toolbar(steps, draft, { onDiscard }) {
  const input = h('input', { type: 'search', class: 'input f-search', id: 'f-search', autocomplete: 'off', spellcheck: 'false' });
  const clear = h('button', { type: 'button', class: 'btn ghost small f-icon f-search-clear', hidden: true }, '×');
  const found = h('span', { class: 'f-found', 'aria-live': 'polite' });
  const only = h('input', { type: 'checkbox', class: 'f-check', id: 'f-only-changed' });
  const onlyWord = h('span', null);
  const onlyBox = h('label', { class: 'f-only' }, only, onlyWord);
  const discard = h('button', { type: 'button', class: 'btn small f-discard', t: 'form.discard' });
  const links = steps.steps.map((step, at) => {
    const word = h('span', null);
    const mark = h('span', { class: 'f-jump-mark' });
    const link = h('a', { class: 'f-jump', href: `#${step.root.id}` }, h('span', { class: 'f-jump-number' }, String(at + 1)), word, mark);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      step.root.scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    });
    return { step, link, word, mark };
  });

  function apply() {
    const n = steps.filter(input.value, only.checked);
    clear.hidden = input.value === '';
    if (n === null) found.textContent = '';
    else if (n > 0) found.textContent = plural('form.found', n);
    else found.textContent = input.value.trim() ? t('form.found_none', { query: input.value.trim() }) : t('form.none_changed');
  }

  function show() {
    input.placeholder = t('form.search');
    input.setAttribute('aria-label', t('form.search'));
    clear.setAttribute('aria-label', t('form.search_clear'));
    const n = draft.changes.length;
    onlyWord.textContent = `${t('form.only_changed')} (${n})`;
    discard.hidden = n === 0;
    onlyBox.hidden = n === 0 && !only.checked;
    for (const { step, word, mark, link } of links) {
      const bad = step.fields.filter((field) => field.wrong).length;
      word.textContent = t(`form.step_${step.name}`);
      mark.textContent = bad ? String(bad) : '';
      link.title = bad ? plural('form.wrong', bad) : '';
      link.toggleAttribute('data-wrong', bad > 0);
    }
  }

  input.addEventListener('input', apply);
  input.addEventListener('keydown', (event) => { if (event.key === 'Escape') { input.value = ''; apply(); } });
  clear.addEventListener('click', () => { input.value = ''; apply(); input.focus(); });
  only.addEventListener('change', apply);
  discard.addEventListener('click', onDiscard);
  saying(() => { show(); apply(); });
  return {
    root: h('div', { class: 'f-toolbar' },
      h('div', { class: 'f-search-box' }, input, clear),
      h('nav', { class: 'f-jumps' }, ...links.map(({ link }) => link)),
      h('div', { class: 'f-tools' }, found, onlyBox, discard)),
    show,
    clear() { input.value = ''; only.checked = false; apply(); },
  };
}

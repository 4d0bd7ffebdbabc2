// Arguments as name = value rows (dataset_args and its kin).

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { readLoose, same, writeLoose } from './values.js';
import { saying } from './words.js';

export function pairs(id, send) {
  const rows = h('div', { class: 'f-pairs' });
  const empty = h('span', { class: 'f-pairs-empty', t: 'form.pair_empty' });
  const add = h('button', { type: 'button', class: 'btn small', id, t: 'form.add_pair' });
  let shown = null;

  function read() {
    const value = {};
    for (const row of rows.children) {
      const [name, text] = [row.querySelector('.f-pair-name').value.trim(), row.querySelector('.f-pair-value').value];
      if (name) value[name] = readLoose(text);
    }
    return value;
  }

  const changed = () => {
    shown = read();
    send(shown);
  };

  function row(name, value) {
    const key = h('input', { type: 'text', class: 'input f-pair-name', autocomplete: 'off', spellcheck: 'false', value: name });
    const text = h('input', { type: 'text', class: 'input f-pair-value', autocomplete: 'off', spellcheck: 'false', value: writeLoose(value) });
    const remove = h('button', { type: 'button', class: 'btn ghost small f-icon' }, '×');
    const root = h('div', { class: 'f-pair' }, key, h('span', { class: 'f-pair-is', 'aria-hidden': 'true' }, '='), text, remove);
    relabel(root);
    key.addEventListener('input', () => { relabel(root); changed(); });
    text.addEventListener('input', changed);
    remove.addEventListener('click', () => {
      root.remove();
      empty.hidden = rows.children.length > 0;
      add.focus();
      changed();
    });
    return root;
  }

  function relabel(root) {
    const [key, text, remove] = ['.f-pair-name', '.f-pair-value', '.f-icon'].map((at) => root.querySelector(at));
    key.setAttribute('aria-label', t('form.pair_name'));
    key.placeholder = t('form.pair_name');
    text.setAttribute('aria-label', `${t('form.pair_value')} ${key.value}`);
    text.placeholder = t('form.pair_value');
    remove.setAttribute('aria-label', t('form.pair_remove', { name: key.value }));
  }

  saying(() => { for (const root of rows.children) relabel(root); });
  add.addEventListener('click', () => {
    const root = row('', '');
    rows.append(root);
    empty.hidden = true;
    root.querySelector('.f-pair-name').focus();
  });
  return {
    root: h('div', null, rows, h('div', { class: 'f-pairs-foot' }, empty, add)),
    input: add,
    group: true,
    show(value) {
      if (shown !== null && same(shown, value)) return; // our own edit: the rows already say it
      shown = value ?? {};
      rows.replaceChildren(...Object.entries(shown).map(([name, each]) => row(name, each)));
      empty.hidden = rows.children.length > 0;
    },
  };
}

// Completions pasted at once: JSON lines with a completion and any columns, texts divided by lines of ---, or a line each.
import { h, setText } from '../dom.js';
import { t } from '../i18n.js';

/** [{completion, row?}] of what was pasted. */
export function readPasted(text) {
  const lines = text.split('\n').filter((line) => line.trim());
  const objects = lines.map(readObject);
  if (objects.length && objects.every((one) => one !== null)) {
    return objects.map(({ completion, ...row }) => ({ completion, ...(Object.keys(row).length ? { row } : {}) }));
  }
  if (/^---\s*$/m.test(text)) return text.split(/^---\s*$/m).map((part) => ({ completion: part.replace(/^\n|\n$/g, '') }));
  return lines.map((completion) => ({ completion }));
}

function readObject(line) {
  try {
    const value = JSON.parse(line);
    return value && typeof value.completion === 'string' ? value : null;
  } catch {
    return null;
  }
}

export function pasteBox(onTake) {
  const area = h('textarea', { id: 'lab-paste', class: 'input mono', rows: 6, spellcheck: 'false', tt: { 'aria-label': 'lab.paste' } });
  const said = h('span', { class: 'caption num', 'aria-live': 'polite' });
  const take = h('button', { type: 'button', class: 'btn small', disabled: true, t: 'lab.paste_use', onclick: () => {
    onTake(readPasted(area.value));
    area.value = '';
    said.textContent = '';
    take.disabled = true;
    root.hidden = true;
    button.setAttribute('aria-expanded', 'false');
  } });
  area.addEventListener('input', () => {
    const n = area.value.trim() ? readPasted(area.value).length : 0;
    take.disabled = n === 0;
    setText(said, n ? t(n === 1 ? 'lab.n_completions_1' : 'lab.n_completions', { n }) : '');
  });
  const root = h('div', { class: 'card lab-paste', hidden: true }, h('label', { class: 'caption', htmlFor: 'lab-paste', t: 'lab.paste_how' }), area, h('div', { class: 'row' }, take, said));
  const button = h('button', { id: 'lab-paste-open', type: 'button', class: 'btn small', hidden: true, t: 'lab.paste', 'aria-expanded': 'false', onclick: () => {
    root.hidden = !root.hidden;
    button.setAttribute('aria-expanded', String(!root.hidden));
    if (!root.hidden) area.focus();
  } });
  return { root, button, show(on) { button.hidden = !on; if (!on) root.hidden = true; } };
}

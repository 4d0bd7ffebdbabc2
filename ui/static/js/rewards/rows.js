// The rows that a reward is tested on: JSON lines, and what may be called by name because of them.
import { fill, h, toast } from '../dom.js';
import { t } from '../i18n.js';

const NOT_COLUMNS = new Set(['completion', 'prompt', 'prompts', 'completions']);

/** {rows, bad}: the objects, or the number of the first line that is none. */
export function readRows(text) {
  const rows = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (!line.trim()) continue;
    let row = null;
    try {
      row = JSON.parse(line);
    } catch {
      row = null;
    }
    if (row === null || typeof row !== 'object' || Array.isArray(row)) return { rows: [], bad: at + 1 };
    rows.push(row);
  }
  return { rows, bad: null };
}

export const writeRows = (rows) => rows.map((row) => JSON.stringify(row)).join('\n');

/** {root, read(), columns(), shape, set(text)}; `onChange()` after a change; `real()`: rows of the chosen set, or null. */
export function rowsBox({ onChange, real }) {
  const area = h('textarea', { id: 'cr-rows', class: 'input mono cr-rows', rows: 7, spellcheck: 'false', wrap: 'off', oninput: () => { say(); onChange(); } });
  const said = h('p', { class: 'caption cr-columns' });
  const shape = h('select', { id: 'cr-shape', class: 'input cr-shape', onchange: () => onChange() },
    ['rows', 'plain', 'messages'].map((value) => h('option', { value, t: `custom.shape_${value}` })));
  const take = real && h('button', { type: 'button', id: 'cr-rows-real', class: 'btn small', t: 'custom.rows_real', onclick: () => fetchReal() });
  const root = h('div', { class: 'cr-tryout' },
    h('div', { class: 'row' }, h('label', { for: 'cr-rows' }, h('span', { class: 'strong', t: 'custom.rows' })), h('div', { class: 'spacer' }), take), h('p', { class: 'caption', t: 'custom.rows_hint' }), area, said,
    h('p', { class: 'caption', t: 'custom.columns_given' }),
    h('label', { class: 'row', for: 'cr-shape' }, h('span', { class: 'caption', t: 'custom.shape' }), shape));

  const columns = () => {
    const { rows, bad } = readRows(area.value);
    return bad === null && rows.length ? [...new Set(rows.flatMap(Object.keys))].filter((name) => !NOT_COLUMNS.has(name)) : null;
  };

  function say() {
    const { bad } = readRows(area.value);
    area.setAttribute('aria-invalid', String(bad !== null));
    if (bad !== null) fill(said, h('span', { t: () => t('custom.rows_bad', { line: bad }) }));
    else fill(said, h('span', { t: () => t('custom.columns', { names: columns()?.join(', ') || '–' }) }));
    said.toggleAttribute('data-bad', bad !== null);
  }

  async function fetchReal() {
    take.disabled = true;
    try {
      area.value = writeRows(await real());
      say();
      onChange();
    } catch (error) {
      toast(error.error ?? error.message, 'error');
    } finally {
      take.disabled = false;
    }
  }

  say();
  return {
    root,
    area,
    columns,
    read: () => readRows(area.value),
    get shape() { return shape.value; },
    get text() { return area.value; },
    set(text) {
      area.value = text;
      say();
    },
  };
}

// Runs that are ticked in the table, to be laid beside each other on the Compare page.
import { MOST, COMPARED } from '../compare/chooser.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import * as state from '../state.js';

const picked = new Set();
const listeners = new Set();
const known = (run) => COMPARED.includes(run.kind ?? 'train');

/** The box of a row; `show` fills it. */
export function box() {
  const input = h('input', { type: 'checkbox', class: 'r-pick', onchange: () => {
    if (input.checked) picked.add(input.dataset.of);
    else picked.delete(input.dataset.of);
    for (const listener of listeners) listener();
  } });
  return input;
}

export function show(input, run, name) {
  input.hidden = !known(run);
  input.dataset.of = run.id;
  input.checked = picked.has(run.id);
  input.disabled = !input.checked && picked.size >= MOST;
  input.setAttribute('aria-label', t('compare.pick', { name }));
}

/** The button of the bar, there as soon as one run is ticked; `draw(runs)` with all that there are, `onChange(callback)`. */
export function button() {
  const link = h('a', { class: 'btn', id: 'runs-compare', hidden: true, onclick: (event) => state.follow(event, view()) });
  const view = () => ({ tab: 'compare', runs: [...picked].join(',') });
  const draw = (runs) => {
    if (runs) for (const id of picked) if (!runs.some((run) => run.id === id)) picked.delete(id);
    link.hidden = picked.size === 0;
    link.textContent = t(picked.size === 1 ? 'compare.picked_1' : 'compare.picked', { n: picked.size });
    link.href = state.link(view());
  };
  return { link, draw };
}

export const onChange = (callback) => listeners.add(callback);

// The name of a dataset as text, with what can be named under it: the built-in ones, and the sets stored on this machine.

import { count } from '../format.js';
import * as demo from '../demo.js';
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import * as store from '../data/store.js';
import { control } from './controls.js';
import { plural, saying } from './words.js';

const SHOWN = 4;

/** `kind`: "prompts" or "sft", the stored sets that fit this field. `choose(name)` when one is taken. */
export function datasets(field, id, send, { kind, choose }) {
  const base = control(field, id, send);
  const offers = h('div', { class: 'f-sets', role: 'group', tt: { 'aria-label': 'sets.offer' } });
  let current = null;
  let drawn = null;

  const stored = () => (store.list() ?? []).filter((one) => (one.kind ?? 'prompts') === kind);

  function chip(name, small) {
    return h('button', { type: 'button', class: 'f-chip f-set', data: { set: name }, 'aria-label': `${t('sets.use', { name: visible(name) })}, ${small}`, title: visible(name), onclick: () => choose(name) },
      h('span', { class: 'f-set-name' }, visible(name)), h('span', { class: 'f-set-rows' }, small));
  }

  function link(key, n) {
    const text = n ? t(key, { n }) : t(key);
    return h('a', { class: 'f-sets-link', href: state.link({ tab: 'data' }), onclick: (event) => state.follow(event, { tab: 'data' }) }, text);
  }

  function draw() {
    const sets = stored();
    // The chosen one is always among those in sight.
    const first = [...sets].sort((a, b) => (b.name === current) - (a.name === current)).slice(0, SHOWN);
    const names = new Set(first.map((one) => one.name));
    const shown = sets.filter((one) => names.has(one.name));
    const builtIn = field.suggestions.filter((name) => typeof name === 'string');
    const signature = JSON.stringify([builtIn, shown.map((one) => [one.name, one.rows]), sets.length, Boolean(demo.get()?.demo), document.documentElement.lang]);
    if (signature !== drawn) {
      drawn = signature;
      const rest = sets.length - shown.length;
      fill(offers, builtIn.map((name) => chip(name, t('sets.built_in'))), shown.map((one) => chip(one.name, plural('sets.rows', one.rows, { n: count(one.rows) }))),
        store.list() === null || demo.get()?.demo ? null : rest ? link('sets.more', rest) : link(sets.length ? 'sets.manage' : 'sets.none'));
      offer(sets.map((one) => one.name));
    }
    for (const button of offers.querySelectorAll('.f-set')) button.setAttribute('aria-pressed', String(button.dataset.set === current));
  }

  /** What the text field itself offers while a name is typed. */
  function offer(names) {
    const listed = base.root.querySelector('datalist') ?? base.root.appendChild(h('datalist', { id: `${id}-offered` }));
    base.input.setAttribute('list', listed.id);
    fill(listed, [...new Set([...field.suggestions, ...names])].map((value) => h('option', { value: String(value) })));
  }

  store.onChange(draw);
  demo.onChange(draw);
  saying(draw);
  return {
    root: h('div', null, base.root, offers),
    input: base.input,
    show(value, was) {
      base.show(value, was);
      current = value;
      draw();
    },
  };
}

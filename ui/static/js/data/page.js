// The Data page: stored sets and the ways to a new one; one set opened on its own where the address names it.

import * as demo from '../demo.js';
import { fill, h } from '../dom.js';
import * as state from '../state.js';
import { BestPanel } from './best.js';
import { FilePanel } from './file.js';
import { setList } from './list.js';
import { MakePanel } from './make.js';
import { SetView } from './set.js';
import * as store from './store.js';

const WAYS = [['file', FilePanel], ['make', MakePanel], ['best', BestPanel]];

export async function mount(root, ctx) {
  const list = setList();
  const view = new SetView();
  const fresh = newSet();
  const jump = h('button', { type: 'button', class: 'btn', id: 'data-new', t: 'data.add', onclick: () => {
    fresh.scrollIntoView({ block: 'start', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    fresh.querySelector('[aria-selected="true"]').focus({ preventScroll: true });
  } });
  /** A public Space takes no rows from its visitors: no way to them is offered. */
  const closed = h('p', { class: 'muted', id: 'data-closed', t: 'demo.no_data' });
  const offer = () => {
    const closes = Boolean(demo.get()?.demo);
    fresh.hidden = jump.hidden = list.root.hidden = closes;
    closed.hidden = !closes;
  };
  demo.onChange(offer);
  offer();
  const head = h('header', { class: 'd-head' }, h('div', null, h('h1', { t: 'data.title' }), h('p', { class: 'muted', t: 'data.lead' })), jump);
  const all = h('div', { class: 'd-all' }, head, closed, list.root, fresh);
  fill(root, h('div', { class: 'd-page' }, all, view.root));

  function show() {
    if (!ctx.isOpen('data')) return;
    const { set } = state.get();
    const was = view.root.hidden;
    all.hidden = Boolean(set);
    view.root.hidden = !set;
    if (set) {
      view.open(set);
      if (was) scrollTo(0, 0);
    } else list.draw();
  }

  let open = state.get().set;
  state.onChange((now) => {
    if (now.set !== open) show();
    open = now.set;
  });
  ctx.onTab(() => {
    if (!ctx.isOpen('data')) return;
    store.refresh();
    show();
  });
  store.refresh();
  show();
}

/** Three ways to rows, as tabs; each panel is built when it is first opened. */
function newSet() {
  const panels = new Map();
  const place = h('div', { class: 'd-panel' });
  const tabs = WAYS.map(([way]) => h('button', {
    type: 'button', role: 'tab', id: `data-way-${way}`, 'aria-controls': `data-panel-${way}`, t: `data.way_${way}`, onclick: () => choose(way),
  }));
  function choose(way) {
    if (!panels.has(way)) {
      const panel = new (WAYS.find(([name]) => name === way)[1])();
      const box = h('div', { role: 'tabpanel', id: `data-panel-${way}`, 'aria-labelledby': `data-way-${way}` }, panel.root);
      panels.set(way, box);
      place.append(box);
    }
    for (const [name, box] of panels) box.hidden = name !== way;
    for (const tab of tabs) {
      const on = tab.id === `data-way-${way}`;
      tab.setAttribute('aria-selected', String(on));
      tab.tabIndex = on ? 0 : -1;
    }
  }
  const row = h('div', { class: 'd-ways', role: 'tablist', tt: { 'aria-label': 'data.new' } }, tabs);
  row.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const at = (tabs.indexOf(document.activeElement) + by + tabs.length) % tabs.length;
    tabs[at].click();
    tabs[at].focus();
  });
  choose('file');
  return h('section', { class: 'd-new' }, h('h2', { t: 'data.new' }), h('div', { class: 'card d-new-card' }, row, place));
}

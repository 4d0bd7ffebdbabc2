// Sweeps: the list, a new one (?sweep=new), one of them (?sweep=ID). Which one is shown stands in the address.
import * as api from '../api.js';
import { fill, h } from '../dom.js';
import * as state from '../state.js';
import { Form } from './form.js';
import { List } from './list.js';
import { One } from './one.js';

const TICK = 1500;
const IDLE = 6000; // a sweep may be started from elsewhere

export function mount(root, ctx) {
  const offline = h('div', { id: 'sweeps-offline', class: 'notice', data: { level: 'warn' }, hidden: true }, h('span', { t: 'app.offline' }));
  const loading = h('p', { class: 'muted loading', t: 'app.loading' });
  const list = new List();
  const form = new Form();
  const one = new One(() => poller.now());
  const views = [loading, list.root, form.root, one.root];
  const page = h('div', { class: 'sw-page' }, offline, views);
  fill(root, page);
  const show = (what) => { for (const view of views) view.hidden = view !== what; };
  show(loading);

  async function tick() {
    if (!ctx.isOpen('sweeps')) return TICK;
    const { sweep, from } = state.get();
    let wait = IDLE;
    try {
      if (sweep === 'new') {
        await form.open(from);
        show(form.root);
      } else if (sweep) {
        if (one.id !== sweep) show(loading);
        wait = (await one.look(sweep)) ? TICK : IDLE;
        if (state.get().sweep === sweep) show(one.root);
      } else {
        const { sweeps } = await api.get('/api/sweeps');
        list.draw(sweeps);
        if (!state.get().sweep) show(list.root);
        wait = sweeps.some((each) => !each.can.delete) ? TICK : IDLE;
      }
      offline.hidden = true;
    } catch (error) {
      if (error.status === undefined) throw error;
      offline.hidden = error.status !== 0;
      if (error.status !== 0) console.warn(error.message);
      wait = 2 * TICK;
    }
    const now = state.get();
    return now.sweep === sweep && now.from === from ? wait : 0; // the address moved meanwhile: look again at once
  }

  const poller = api.poll(tick, TICK);
  state.onChange(() => poller.now());
  ctx.onTab(() => ctx.isOpen('sweeps') && poller.now());
}

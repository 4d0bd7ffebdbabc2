// The Reward Lab.
import { h } from '../dom.js';

export async function mount(root) {
  root.append(h('header', { class: 'lab-intro' }, h('h1', { t: 'lab.title' }), h('p', { class: 'muted', t: 'lab.lead' })));
}

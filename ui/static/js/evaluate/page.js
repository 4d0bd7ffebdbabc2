import { fill, h } from '../dom.js';

export function mount(root) {
  fill(root, h('p', { class: 'muted loading', t: 'app.loading' }));
}

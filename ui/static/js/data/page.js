// The Data page: stored sets, and the ways to a new one.

import { fill, h } from '../dom.js';

export async function mount(root) {
  fill(root, h('h1', { t: 'data.title' }));
}

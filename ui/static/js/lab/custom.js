// Custom rewards: the editor, a component of its own that is loaded when it is first looked at.
import * as api from '../api.js';
import { fill, h } from '../dom.js';

export class Custom {
  constructor(lab) {
    this.lab = lab;
    this.root = h('section', { id: 'lab-custom', tt: { 'aria-label': 'lab.nav_custom' } });
    this.load();
  }

  /** Rows of the set above, each with the completion that the settings ask for, to try a reward on. */
  async rows() {
    const values = JSON.stringify(this.lab.bench.values());
    const { rows, made } = await api.get(api.address('/api/lab/rows', { values, n: Math.min(this.lab.bench.rows, 16) }));
    return rows.map((row, at) => ({ ...row, completion: made[at] ?? '' }));
  }

  async load() {
    const { lab, root } = this;
    fill(root, h('p', { class: 'muted', t: 'app.loading' }));
    try {
      const { customEditor } = await import('../rewards/custom.js');
      fill(root, customEditor(lab.ctx, { onSaved: () => lab.learn(), rows: () => this.rows() }).root);
    } catch (error) {
      console.warn(error);
      fill(root, h('div', { class: 'notice', data: { level: 'warn' } }, h('span', { t: 'lab.custom_failed' }), h('button', { class: 'btn small', type: 'button', t: 'app.retry', onclick: () => this.load() })));
    }
  }
}

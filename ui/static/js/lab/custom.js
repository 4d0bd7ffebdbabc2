// Custom rewards: the editor, a component of its own that is loaded when it is first looked at.
import { fill, h } from '../dom.js';

export class Custom {
  constructor(lab) {
    this.lab = lab;
    this.root = h('section', { id: 'lab-custom', tt: { 'aria-label': 'lab.nav_custom' } });
    this.load();
  }

  async load() {
    const { lab, root } = this;
    fill(root, h('p', { class: 'muted', t: 'app.loading' }));
    try {
      const { customEditor } = await import('../rewards/custom.js');
      fill(root, customEditor(lab.ctx, { onSaved: () => lab.learn() }).root);
    } catch (error) {
      console.warn(error);
      fill(root, h('div', { class: 'notice', data: { level: 'warn' } }, h('span', { t: 'lab.custom_failed' }), h('button', { class: 'btn small', type: 'button', t: 'app.retry', onclick: () => this.load() })));
    }
  }
}

// A point of a chart was clicked: what can be seen of its step, beside the point itself. The groups below follow by
// themselves; this says so, and has the way to all samples of the step.
import { h } from '../dom.js';
import { count } from '../format.js';
import { label } from '../i18n.js';
import * as state from '../state.js';

export class Picked {
  /** `groups`: the section of the page that shows the step's groups. */
  constructor(groups) {
    this.step = null;
    this.title = h('b', { class: 'num' });
    this.below = h('button', { id: 'picked-groups', class: 'btn ghost small', type: 'button', t: 'samples.picked_groups', onclick: () => groups.scrollIntoView({ block: 'start', behavior: 'smooth' }) });
    this.all = h('a', { id: 'picked-samples', class: 'btn small', t: 'samples.picked_all', onclick: (event) => state.follow(event, { tab: 'samples', step: this.step }) });
    const close = h('button', { class: 'btn ghost small', type: 'button', tt: { 'aria-label': 'app.close' }, onclick: () => this.hide() }, '×');
    this.root = h('div', { id: 'live-picked', class: 'picked', role: 'status', hidden: true }, this.title, this.all, this.below, close);
    this.root.addEventListener('keydown', (event) => event.key === 'Escape' && this.hide());
  }

  /** `box`: the plot's box, `left`: where in it the point is, in pixels. */
  show(step, box, left) {
    this.step = step;
    label(this.title, 'samples.picked', { n: count(step) });
    this.all.href = state.link({ tab: 'samples', step });
    box.append(this.root);
    this.root.hidden = false;
    this.root.style.left = '4px'; // as wide as it likes to be, wherever it stood before
    const most = box.clientWidth - this.root.offsetWidth - 4;
    this.root.style.left = `${Math.max(4, Math.min(most, left - this.root.offsetWidth / 2))}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}

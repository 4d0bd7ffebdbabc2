// A line of anchors under the sentence: the page is long, and each part of the evidence is one click away.
import { h } from '../dom.js';
import { follow } from '../state.js';

export class Jump {
  /** `parts`: [[title key, section], ...] in the order of the page. */
  constructor(parts) {
    this.links = parts.map(([title, section]) => ({
      section,
      node: h('a', { href: `#${section.id}`, t: title, onclick: (event) => follow(event, () => { // the address stays that of the view
        section.tabIndex = -1;
        section.focus({ preventScroll: true });
        section.scrollIntoView({ block: 'start' });
      }) }),
    }));
    this.root = h('nav', { class: 'ev-jump', id: 'evaluate-jump', hidden: true, tt: { 'aria-label': 'evaluate.sections' } }, this.links.map(({ node }) => node));
  }

  /** Only what is shown can be gone to; one part alone needs no contents. */
  draw() {
    for (const { node, section } of this.links) node.hidden = section.hidden;
    this.root.hidden = this.links.filter(({ node }) => !node.hidden).length < 2;
  }
}

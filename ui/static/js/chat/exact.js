// An exact text that grows: deltas become text nodes at its end, nothing that stands is painted anew. What a model writes
// as reasoning is folded, tags and all, so that the parts together are still the text to the letter.
import { h } from '../dom.js';
import { label } from '../i18n.js';
import { plain } from '../plain.js';
import * as state from '../state.js';

const TAG = /<(\/?)(?:think|thinking|thought|reasoning)\s*>/i;
const UNFINISHED = /<\/?[a-z]{0,9}\s*$/i; // the tail may be a tag of which the rest has not come yet
const AT_END = 24; // pixels from the bottom that still count as the bottom

/** Whether the person likes to see the reasoning: the last fold that was opened or closed. */
const liked = () => state.preference('thought', 'closed') === 'open';

/** Append nodes, joining text to text: one long answer stays one node between its symbols. */
function grow(parent, nodes) {
  for (const node of nodes) {
    const last = parent.lastChild;
    if (node.nodeType === Node.TEXT_NODE && last?.nodeType === Node.TEXT_NODE) last.appendData(node.data);
    else parent.append(node);
  }
}

export class ExactText {
  /** `name`: how a screen reader calls it; `opened`: the chat template has opened the thought already. */
  constructor(name, opened = false) {
    this.root = h('div', { class: 'c-text exact mono', tabIndex: 0, role: 'group', tt: { 'aria-label': name } });
    this.opened = opened;
    this.reset();
  }

  /** Begin again, empty. */
  reset() {
    this.root.replaceChildren();
    Object.assign(this, { text: '', held: '', part: null, thought: null });
    if (this.opened) this.#think();
  }

  /** More of the text; the box follows its end only for a reader who is at the end. */
  append(delta) {
    if (!delta) return;
    const { root } = this;
    const following = root.scrollHeight - root.scrollTop - root.clientHeight <= AT_END;
    this.text += delta;
    this.held += delta;
    this.#parse(false);
    if (following && root.scrollHeight > root.clientHeight) root.scrollTop = root.scrollHeight;
  }

  /** The whole text is known: what was held back comes out, and a text that differs from what was streamed replaces it. */
  finish(whole = this.text) {
    if (whole !== this.text) {
      this.reset();
      Object.assign(this, { text: whole, held: whole });
    }
    this.#parse(true);
    if (!this.text) this.root.replaceChildren(h('span', { class: 'muted', t: 'chat.empty_text' }));
    if (this.thought) this.#count(this.thought, this.thinking ? 'chat.thought_open' : 'chat.thought');
    this.root.dataset.done = '';
    // What fits is no stop for the Tab key.
    requestAnimationFrame(() => { this.root.tabIndex = this.root.scrollHeight > this.root.clientHeight + 1 ? 0 : -1; });
  }

  get thinking() {
    return this.part !== null && this.part === this.thought;
  }

  #parse(all) {
    for (;;) {
      const found = TAG.exec(this.held);
      if (!found) break;
      const end = found.index + found[0].length;
      if (found[1]) {
        if (!this.thinking) this.#turnIntoThought();
        this.#put(this.held.slice(0, end));
        this.#count(this.thought, 'chat.thought');
        this.part = null;
      } else {
        this.#put(this.held.slice(0, found.index));
        if (!this.thinking) this.#think();
        this.#put(found[0]);
      }
      this.held = this.held.slice(end);
    }
    const tail = all ? null : UNFINISHED.exec(this.held);
    this.#put(tail ? this.held.slice(0, tail.index) : this.held);
    this.held = tail ? this.held.slice(tail.index) : '';
    if (this.thinking) this.#count(this.thought, 'chat.thought_now');
  }

  #put(text) {
    if (!text) return;
    if (!this.part) {
      this.part = h('div', { class: 'c-said' });
      this.root.append(this.part);
    }
    grow(this.part, plain(text, h));
    if (this.thinking) this.thought.dataset.length = Number(this.thought.dataset.length) + [...text].length;
  }

  #think() {
    const summary = h('summary', { class: 'caption' });
    const body = h('div', { class: 'c-thought-text', data: { length: 0 } });
    const fold = h('details', { class: 'c-thought', open: liked() }, summary, body);
    summary.addEventListener('click', () => state.prefer('thought', fold.open ? 'closed' : 'open'));
    this.root.append(fold);
    this.part = this.thought = body;
  }

  // A closing tag without an opening one: what stood before it since the last thought was reasoning too.
  #turnIntoThought() {
    const said = this.part;
    this.#think();
    if (!said) return;
    this.part.dataset.length = [...said.textContent].length;
    this.part.append(...said.childNodes);
    said.remove();
  }

  #count(body, key) {
    label(body.parentElement.firstElementChild, key, { n: Number(body.dataset.length).toLocaleString('en-US') });
  }
}

// Exact text of a question: what may have to be scrolled can be reached by the keyboard, what fits is no stop for it.
import { h } from '../dom.js';
import { plain } from '../plain.js';

const FITS = 400; // characters

export const asked = (text, open = false) => h('div', {
  class: `exact mono c-prompt${open ? ' open' : ''}`, ...(text.length > FITS || text.split('\n').length > 6 ? { tabIndex: 0 } : {}),
}, plain(text, h));

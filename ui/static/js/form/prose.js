// Help and notes mark names with backticks; they are shown in the monospaced face. Nothing is parsed as HTML.

import { h } from '../dom.js';

export function prose(text) {
  return String(text).split('`').map((part, at) => (at % 2 ? h('code', null, part) : part)).filter((part) => part !== '');
}

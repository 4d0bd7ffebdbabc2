// A text of a model in three ways: as it is, with what differs from another marked, or with every character shown.
import { h } from '../dom.js';
import { plain, symbol } from '../plain.js';

export const MODES = ['marks', 'text', 'characters'];
const CODE = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
// What has no shape of its own, or one that looks like another's: controls, format characters, odd blanks, marks that
// sit on their neighbours, private and unassigned characters.
const ODD = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{M}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

/** Every character: blanks as dots, line ends as arrows, everything odd by its name or number; the rest as it is. */
export function characters(text, limit = Infinity) {
  const nodes = [];
  let run = '';
  const flush = () => {
    if (run) nodes.push(document.createTextNode(run));
    run = '';
  };
  const shown = text.length > limit ? text.slice(0, limit) : text;
  const sign = (mark, code, after = '') => {
    flush();
    nodes.push(h('span', { class: 's-blank', title: code }, mark));
    run = after;
  };
  for (const character of shown) {
    if (character === ' ') sign('·', CODE(character));
    else if (character === '\n') sign('↵', CODE(character), '\n');
    else if (character === '\t') sign('→', CODE(character), '\t');
    else if (ODD.test(character)) {
      flush();
      nodes.push(h('span', { class: 'control', title: CODE(character) }, character.codePointAt(0) < 0x80 ? symbol(character) : CODE(character)));
    } else run += character;
  }
  flush();
  if (shown.length < text.length) nodes.push(document.createTextNode('…'));
  return nodes;
}

/** The same text with what only it has marked, and (`both`) what only the other has struck through. */
export function marks(parts, both) {
  const nodes = [];
  for (const [mark, part] of parts) {
    if (mark === '-' && !both) continue;
    const inside = plain(part, h);
    if (mark === '=') nodes.push(...inside);
    else if (mark === '+') nodes.push(h('ins', { class: 's-ins' }, inside));
    else if (mark === '-') nodes.push(h('del', { class: 's-del' }, inside));
    else nodes.push(h('span', { class: 's-uncompared' }, inside));
  }
  return nodes;
}

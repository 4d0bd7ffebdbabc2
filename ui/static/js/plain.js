// Exact text of a model: every character is visible. What would act on the page or hide (control characters, escape
// sequences, direction marks, zero-width characters) is shown as a symbol; everything else is a plain text node.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]/u;

const NAMES = 'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(' ');

/** The symbol of one hidden character: its short name (ESC, NUL), which every font can show, else its number. */
export function symbol(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return NAMES[code];
  if (code === 0x7f) return 'DEL';
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text as nodes, at most `limit` characters of it. */
export function plain(text, h, limit = Infinity) {
  const nodes = [];
  let run = '';
  const shown = text.length > limit ? text.slice(0, limit) : text;
  for (const character of shown) {
    if (!HIDDEN.test(character)) {
      run += character;
      continue;
    }
    if (run) nodes.push(document.createTextNode(run));
    run = '';
    nodes.push(h('span', { class: 'control', title: `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}` }, symbol(character)));
  }
  if (run) nodes.push(document.createTextNode(run));
  if (shown.length < text.length) nodes.push(document.createTextNode('…'));
  return nodes;
}

/** The same as one string, for places that take no nodes: options, chart labels, attributes. */
export const visible = (text) => Array.from(String(text), (character) => (HIDDEN.test(character) ? `[${symbol(character)}]` : character)).join('');

// A calm editor: a plain text field with line numbers beside it, indentation by Tab, and marks at lines.
import { h } from '../dom.js';

const INDENT = '    ';

/** {root, input, value, set(text), mark({line: 'stop' | 'warn'}), go(line)}; `onInput()` after every change. */
export function codeBox({ id, onInput }) {
  const input = h('textarea', {
    id, class: 'cr-code', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', autocorrect: 'off', wrap: 'off', rows: 22,
    tt: { 'aria-label': 'custom.code' }, 'aria-describedby': `${id}-hint`,
  });
  const numbers = h('ol', { class: 'cr-lines', 'aria-hidden': 'true' });
  const root = h('div', { class: 'cr-box' }, h('div', { class: 'cr-gutter' }, numbers), input);
  let marks = {};
  let leaving = false;

  function count() {
    const lines = input.value.split('\n').length;
    while (numbers.children.length > lines) numbers.lastChild.remove();
    while (numbers.children.length < lines) numbers.append(h('li', null, String(numbers.children.length + 1)));
    [...numbers.children].forEach((line, at) => {
      const mark = marks[at + 1];
      if (mark) line.dataset.mark = mark;
      else delete line.dataset.mark;
    });
    follow();
  }

  const follow = () => { numbers.style.transform = `translateY(${-input.scrollTop}px)`; };

  /** Put text in place of start..end as if it were typed, so that undo takes it back. */
  function put(text, start, end) {
    input.setSelectionRange(start, end);
    if (!document.execCommand('insertText', false, text)) {
      input.setRangeText(text, start, end, 'end');
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }

  function indent(out) {
    const { value, selectionStart: start, selectionEnd: end } = input;
    const first = value.lastIndexOf('\n', start - 1) + 1;
    if (!out && start === end) {
      put(INDENT.slice((start - first) % INDENT.length), start, end);
      return;
    }
    const last = end > start && value[end - 1] === '\n' ? end - 1 : end;
    const lines = value.slice(first, last).split('\n');
    const changed = lines.map((line) => (out ? line.replace(/^( {1,4}|\t)/, '') : line && INDENT + line));
    if (changed.join('\n') === lines.join('\n')) return;
    put(changed.join('\n'), first, last);
    const grown = changed.join('\n').length - (last - first);
    if (start === end) input.setSelectionRange(Math.max(first, start + grown), Math.max(first, start + grown));
    else input.setSelectionRange(first, last + grown);
  }

  function newline() {
    const { value, selectionStart: start, selectionEnd: end } = input;
    const line = value.slice(value.lastIndexOf('\n', start - 1) + 1, start);
    const before = line.match(/^[ \t]*/)[0];
    put(`\n${before}${/:\s*(#.*)?$/.test(line) ? INDENT : ''}`, start, end);
  }

  input.addEventListener('keydown', (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Tab' && !leaving) {
      event.preventDefault();
      indent(event.shiftKey);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      newline();
    }
    leaving = event.key === 'Escape'; // then Tab moves on, so that the keyboard is never caught here
  });
  input.addEventListener('blur', () => { leaving = false; });
  input.addEventListener('scroll', follow);
  input.addEventListener('input', () => { count(); onInput(); });
  count();

  return {
    root,
    input,
    get value() { return input.value; },
    set(text) {
      input.value = text;
      input.scrollTop = 0;
      count();
    },
    mark(found) {
      marks = found;
      count();
    },
    /** Show the line, with the caret on it. */
    go(line) {
      const lines = input.value.split('\n');
      const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
      input.focus();
      input.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
      const height = parseFloat(getComputedStyle(input).lineHeight);
      input.scrollTop = Math.max(0, (line - 5) * height);
    },
    /** Another text in place of start..end, which undo takes back. */
    replace(text, start, end) {
      input.focus();
      put(text, start, end);
    },
  };
}

/** Where the header of the function that begins on `line` stands in the source: [start, end after its colon], or null. */
export function headerOf(source, line) {
  const start = source.split('\n').slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const indentation = source.slice(start).match(/^[ \t]*(async[ \t]+)?def\b/);
  if (!indentation) return null;
  const begin = start + indentation[0].match(/^[ \t]*/)[0].length;
  let depth = 0;
  let quote = '';
  for (let at = begin; at < source.length; at += 1) {
    const sign = source[at];
    if (quote) {
      if (sign === '\\') at += 1;
      else if (sign === quote) quote = '';
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === '#') at = source.indexOf('\n', at) < 0 ? source.length : source.indexOf('\n', at);
    else if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ':' && depth === 0) return [begin, at + 1];
  }
  return null;
}


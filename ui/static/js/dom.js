// Building elements. Text from people or models only ever becomes a text node: nothing here takes HTML.
import { label, labelAttribute } from './i18n.js';

const PROPERTIES = new Set(['value', 'checked', 'disabled', 'selected', 'open', 'hidden', 'htmlFor', 'tabIndex', 'indeterminate']);
const SVG = 'http://www.w3.org/2000/svg';

function apply(node, props) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    if (key === 'class') node.setAttribute('class', value);
    else if (key === 't') label(node, value, props.vars);
    else if (key === 'vars') continue;
    else if (key === 'tt') for (const [name, message] of Object.entries(value)) labelAttribute(node, name, message);
    else if (key === 'data') for (const [name, item] of Object.entries(value)) node.dataset[name] = item;
    else if (key === 'style') for (const [name, item] of Object.entries(value)) node.style.setProperty(name, item);
    else if (key.startsWith('on')) node.addEventListener(key.slice(2).toLowerCase(), value);
    else if (PROPERTIES.has(key)) node[key] = value;
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false) node.setAttribute(key, value);
  }
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** h('button', {class, t: 'app.retry', vars, tt: {title: 'app.retry'}, data: {}, style: {}, onclick}, ...children) */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  apply(node, props);
  append(node, children);
  return node;
}

export function svg(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(props ?? {})) node.setAttribute(key, value);
  append(node, children);
  return node;
}

/** Replace everything inside `node`. */
export function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

/** Set text only when it differs, so that a selection or a screen reader is not disturbed by ticks. */
export function setText(node, text) {
  const value = String(text);
  if (node.textContent !== value) node.textContent = value;
}

/** Keep `parent`'s children equal to `items` by key: `make(item)` once, `update(node, item)` always, order kept. */
export function keyed(parent, items, key, make, update) {
  const old = new Map();
  for (const node of parent.children) old.set(node.dataset.key, node);
  let place = parent.firstElementChild;
  for (const item of items) {
    const id = String(key(item));
    let node = old.get(id);
    if (node) old.delete(id);
    else {
      node = make(item);
      node.dataset.key = id;
    }
    update?.(node, item);
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
  for (const node of old.values()) node.remove();
}

/** Put exactly this text on the clipboard; throws where the browser does not allow it. */
export async function copyText(text) {
  if (navigator.clipboard) return void (await navigator.clipboard.writeText(text));
  // A page over plain http from another machine has no clipboard of its own: the old command, which asks for a selection
  // and is given the text itself, since what is selected would lose its line ends.
  const selection = getSelection();
  const before = selection.rangeCount ? selection.getRangeAt(0) : null;
  const mark = h('span', { class: 'visually-hidden' }, '.');
  document.body.append(mark);
  selection.selectAllChildren(mark);
  let taken = false;
  const give = (event) => {
    event.preventDefault();
    event.clipboardData.setData('text/plain', text);
    taken = true;
  };
  document.addEventListener('copy', give);
  document.execCommand('copy');
  document.removeEventListener('copy', give);
  mark.remove();
  selection.removeAllRanges();
  if (before) selection.addRange(before);
  if (!taken) throw new Error('copying was not allowed');
  return undefined;
}

/** A short message that goes by itself; level 'info' | 'warn' | 'error'. Read out by screen readers. */
export function toast(message, level = 'info') {
  let tray = document.getElementById('studio-toasts');
  if (!tray) {
    tray = h('div', { id: 'studio-toasts', class: 'toasts', role: 'status', 'aria-live': 'polite' });
    document.body.append(tray);
  }
  const close = h('button', { class: 'btn ghost small', tt: { 'aria-label': 'app.close' }, onclick: () => node.remove() }, '×');
  const node = h('div', { class: 'notice', data: { level } }, h('span', { t: message }), close);
  tray.append(node);
  setTimeout(() => node.remove(), level === 'error' ? 12_000 : 5_000);
  return node;
}

/** Ask before something that cannot be undone. Resolves to true or false; Escape and outside mean false. */
export function confirm({ title, body, vars, action, danger = true }) {
  return new Promise((resolve) => {
    const dialog = h('dialog', { class: 'dialog' });
    const done = (answer) => {
      dialog.close();
      dialog.remove();
      resolve(answer);
    };
    const yes = h('button', { class: danger ? 'btn danger' : 'btn primary', t: action, onclick: () => done(true) });
    const no = h('button', { class: 'btn', t: 'app.cancel', onclick: () => done(false) });
    append(dialog, [h('h2', { t: title, vars }), body ? h('p', { t: body, vars }) : null, h('div', { class: 'row end' }, no, yes)]);
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      done(false);
    });
    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}

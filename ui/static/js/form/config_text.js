// Flat configuration text -> {name: value}. JSON; "name: value" (YAML with scalars, [..] and - lists); "name=value",
// also with the commas and quotes of Python keyword arguments.

import { readLoose } from './values.js';

export function readConfig(text) {
  const plain = text.trim();
  if (plain.startsWith('{')) {
    const value = JSON.parse(plain);
    return value && typeof value === 'object' ? value : {};
  }
  const values = {};
  let list = null;
  for (const line of text.split(/\r?\n/)) {
    const bare = line.replace(/(^|\s)#.*$/, '$1').trimEnd();
    const item = /^\s*-\s+(.*)$/.exec(bare);
    if (item && list) {
      list.push(scalar(item[1]));
      continue;
    }
    const pair = /^\s*(?:--)?([A-Za-z_][\w-]*)\s*[:=]\s*(.*?),?\s*$/.exec(bare);
    if (!pair) continue;
    const name = pair[1].replaceAll('-', '_');
    if (pair[2] === '') {
      list = [];
      values[name] = list;
    } else {
      list = null;
      values[name] = scalar(pair[2]);
    }
  }
  return values;
}

function scalar(text) {
  const plain = text.trim();
  const quoted = /^(['"])(.*)\1$/s.exec(plain);
  if (quoted) return quoted[2];
  const flow = /^\[(.*)\]$/s.exec(plain);
  if (flow) return flow[1].split(',').map((part) => part.trim()).filter(Boolean).map(scalar);
  return plain === '~' ? null : readLoose(plain);
}

// What the look at a source found, each with its line and with what would mend it as a button.
import { fill, h } from '../dom.js';
import { headerOf } from './code.js';

/** {root, show(problems)}: `on` = {go(line), signature(text, range), column(parameter, column), fn(name), trusted()}. */
export function problemList({ source, on }) {
  const root = h('ul', { id: 'cr-problems', class: 'cr-problems', 'aria-live': 'polite' });

  function mends({ offer, line }) {
    const buttons = [];
    const button = (t, vars, onclick) => buttons.push(h('button', { type: 'button', class: 'btn small', t, vars, onclick }));
    const range = offer?.signature ? headerOf(source(), line) : null;
    if (range) button('custom.use_signature', null, () => on.signature(offer.signature, headerOf(source(), line)));
    for (const [parameter, column] of Object.entries(offer?.columns ?? {})) button('custom.use_column', { parameter, column }, () => on.column(parameter, column));
    for (const name of offer?.functions ?? (offer?.function ? [offer.function] : [])) button('custom.use_function', { name }, () => on.fn(name));
    if (offer?.level) button('custom.use_trusted', null, () => on.trusted());
    return buttons;
  }

  function item(problem) {
    return h('li', { class: 'cr-problem', data: { severity: problem.stops ? 'stop' : 'warn', code: problem.code } },
      h('span', { class: 'cr-icon', 'aria-hidden': 'true' }, problem.stops ? '×' : '!'),
      h('div', null, h('span', { class: 'cr-words', t: problem.text }),
        h('div', { class: 'row' }, problem.line ? h('button', { type: 'button', class: 'btn small', t: 'custom.go_line', vars: { n: problem.line }, onclick: () => on.go(problem.line) }) : null, mends(problem))));
  }

  return {
    root,
    show(problems) {
      fill(root, problems.map(item));
      root.hidden = problems.length === 0;
    },
  };
}

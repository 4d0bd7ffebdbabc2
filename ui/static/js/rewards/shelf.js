// The saved rewards: open one, open an older version, delete.
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';

/** {root, show(rewards, current name)}; `onOpen(name)`, `onDelete(name)`, `onNew()`. */
export function shelf({ onOpen, onDelete, onNew }) {
  const list = h('ul', { class: 'cr-saved' });
  const none = h('p', { class: 'caption', t: 'custom.none' });
  const root = h('nav', { class: 'cr-shelf', tt: { 'aria-label': 'custom.saved' } },
    h('div', { class: 'row' }, h('h3', { t: 'custom.saved' }), h('div', { class: 'spacer' }), h('button', { type: 'button', id: 'cr-new', class: 'btn small', t: 'custom.new', onclick: () => onNew() })), none, list);

  function item(reward, current) {
    const name = visible(reward.name);
    const open = h('button', { type: 'button', class: 'cr-open', onclick: () => onOpen(reward.name), tt: { title: reward.help ?? reward.error ?? reward.name } },
      h('span', { class: 'mono cr-name' }, name),
      reward.error ? h('span', { class: 'caption cr-failed', t: 'custom.broken' })
        : h('span', { class: 'caption' }, h('span', { t: 'custom.version', vars: { n: reward.version } }), ' · ', h('span', { t: `custom.${reward.level}` })));
    if (reward.name === current) open.setAttribute('aria-current', 'true');
    const drop = h('button', { type: 'button', class: 'btn ghost small', tt: { 'aria-label': () => t('custom.delete_named', { name }), title: 'custom.delete' }, onclick: () => onDelete(reward.name) }, '×');
    return h('li', { data: { reward: reward.name } }, open, drop);
  }

  return {
    root,
    show(rewards, current) {
      const focused = document.activeElement?.closest('.cr-saved li')?.dataset.reward;
      none.hidden = rewards.length > 0;
      fill(list, rewards.map((reward) => item(reward, current)));
      if (focused) [...list.children].find((each) => each.dataset.reward === focused)?.querySelector('button').focus();
    },
  };
}

// The reward functions with their weights side by side: `rewards` and `reward_weights` as one list of rows.

import * as api from '../api.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { rewardHue, variable } from '../live/colors.js';
import { readNumber, same, writeNumber } from './values.js';
import { saying } from './words.js';

const NAMES = 'rewards';
const WEIGHTS = 'reward_weights';
const VERSIONS = 'reward_versions';
const ARGS = 'reward_args';

export function rewards(field, id, draft) {
  const rows = h('div', { class: 'f-rewards' });
  const none = h('p', { class: 'f-rewards-none', t: 'form.reward_none' });
  const add = h('input', { id, type: 'text', class: 'input', autocomplete: 'off', spellcheck: 'false' });
  const button = h('button', { type: 'button', class: 'btn small', t: 'form.reward_add' });
  const offered = h('span', { class: 'f-offered' });
  let shown = null;

  const names = () => draft.value(NAMES) ?? [];
  const weights = () => {
    const given = draft.value(WEIGHTS);
    return names().map((_, at) => (Array.isArray(given) ? given[at] ?? 1 : 1));
  };

  function send(list, numbers) {
    // No weights at all means 1 each: say it that way, so that a plain recipe stays plain.
    const plain = draft.base(WEIGHTS) === null && numbers.every((number) => number === 1);
    // Arguments go with their reward, and the recipe's come back with it.
    const before = draft.value(ARGS) ?? {};
    const args = Object.fromEntries(list.map((name) => [name, names().includes(name) ? before[name] : draft.base(ARGS)?.[name]]).filter(([, own]) => own));
    draft.set({ [NAMES]: list, [WEIGHTS]: plain ? null : numbers, ...(same(args, before) ? {} : { [ARGS]: args }) });
  }

  function put(name) {
    if (!name || names().includes(name)) return;
    add.value = '';
    send([...names(), name], [...weights(), 1]);
    add.focus();
  }

  function row(name, at) {
    const weight = h('input', { type: 'text', inputmode: 'decimal', class: 'input f-number f-weight', autocomplete: 'off' });
    const bar = h('span', { class: 'f-share-bar' });
    const share = h('span', { class: 'f-share-text' });
    const remove = h('button', { type: 'button', class: 'btn ghost small f-icon' }, '×');
    weight.addEventListener('input', () => {
      if (weight.value.trim() === '') return;
      const next = weights();
      next[at] = readNumber(weight.value);
      send(names(), next);
    });
    weight.addEventListener('blur', () => { weight.value = writeNumber(weights()[at]); });
    remove.addEventListener('click', () => {
      send(names().filter((_, i) => i !== at), weights().filter((_, i) => i !== at));
      add.focus();
    });
    const known = field.choices.find((each) => each.value === name);
    const root = h('div', { class: 'f-reward', data: { reward: name } },
      h('span', { class: 'f-reward-hue', style: { background: `var(${variable(rewardHue(at))})` }, 'aria-hidden': 'true' }),
      h('span', { class: 'f-reward-name' }, known && !known.custom ? h('span', { class: 'f-reward-label', t: known.label }) : null, h('code', { title: name }, name), own(known)),
      h('label', { class: 'f-reward-weight' }, h('span', { t: 'form.reward_weight' }), weight),
      h('span', { class: 'f-share' }, h('span', { class: 'f-share-track', 'aria-hidden': 'true' }, bar), share), remove,
      known ? h('p', { class: 'f-help f-reward-help', t: known.help }) : null);
    return root;
  }

  /** Which version of a custom reward a run will use, and where it runs. */
  const own = (known) => known?.custom && h('span', { class: 'f-reward-own' }, h('span', { t: 'custom.version', vars: { n: draft.value(VERSIONS)?.[known.value] ?? known.custom.version } }), ' · ', h('span', { t: `custom.${known.custom.level}` }));

  /** Weights, shares and words, without touching the rows. */
  function refresh() {
    const numbers = weights();
    const sum = numbers.reduce((all, number) => all + Math.abs(Number(number) || 0), 0);
    [...rows.children].forEach((root, at) => {
      const weight = root.querySelector('.f-weight');
      if (document.activeElement !== weight) weight.value = writeNumber(numbers[at]);
      const share = sum ? Math.abs(Number(numbers[at]) || 0) / sum : 0;
      root.querySelector('.f-share-bar').style.width = `${100 * share}%`;
      root.querySelector('.f-share-text').textContent = t('form.reward_share', { share: `${Math.round(100 * share)}%` });
      weight.setAttribute('aria-label', `${t('form.reward_weight')}: ${root.dataset.reward}`);
      root.querySelector('.f-icon').setAttribute('aria-label', t('form.reward_remove', { name: root.dataset.reward }));
    });
    none.hidden = rows.children.length > 0;
    add.placeholder = t('form.reward_name');
    add.setAttribute('aria-label', t('form.reward_name'));
    const free = field.choices.filter((each) => !names().includes(each.value));
    offered.replaceChildren(...free.map((each) => h('button', {
      type: 'button', class: 'f-chip', title: t(each.help), 'aria-label': `${t('form.reward_add')}: ${t(each.label)}`, onclick: () => put(each.value),
    }, `+ ${t(each.label)}`)));
  }

  function draw() {
    if (!same(shown, names())) {
      shown = [...names()];
      rows.replaceChildren(...shown.map(row));
    }
    refresh();
  }

  // One was saved or deleted on the Rewards page.
  addEventListener('studio:rewards', async () => {
    try {
      field.choices = (await api.get('/api/custom')).choices;
    } catch (error) {
      if (error.status === undefined) throw error;
      return; // the page asks anew when it is loaded
    }
    shown = null;
    draw();
  });
  button.addEventListener('click', () => put(add.value.trim()));
  add.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.preventDefault(); put(add.value.trim()); } });
  saying(refresh);
  return {
    root: h('div', null, rows, none, h('div', { class: 'f-reward-add' }, offered, add, button)),
    input: add,
    group: true,
    show: draw,
  };
}

// The rewards on the bench: weight, share, and each argument with a control of its own kind.
import { fill, h } from '../dom.js';
import { control } from '../form/controls.js';
import { typed } from '../form/format.js';
import { readLoose, readNumber, same, writeLoose, writeNumber } from '../form/values.js';
import { saying } from '../form/words.js';
import { label, onLanguage, t } from '../i18n.js';
import { rewardHue, variable } from '../live/colors.js';
import { visible } from '../plain.js';

const KINDS = { str: 'text', int: 'int', float: 'float', bool: 'bool', choice: 'choice', list: 'list' };

export function rewardList(bench) {
  const list = h('div', { class: 'lab-rewards' });
  const none = h('p', { class: 'lab-none', t: 'lab.rewards_none' });
  const add = h('select', { id: 'lab-add-reward', class: 'input', tt: { 'aria-label': 'lab.add_reward' } });
  let shown = null;
  let sayers = []; // one a row with arguments; rows are made anew with the list

  add.addEventListener('change', () => {
    const name = add.value;
    if (name) bench.set({ rewards: [...bench.rewards, { name, weight: 1, args: {} }] });
    add.value = '';
  });

  const change = (name, patch) => bench.set({ rewards: bench.rewards.map((each) => (each.name === name ? { ...each, ...patch } : each)) });

  function row({ name }, at) {
    const about = bench.known.get(name);
    const weight = h('input', { type: 'text', inputmode: 'decimal', class: 'input num lab-weight', autocomplete: 'off', tt: { 'aria-label': () => t('lab.weight_of', { name }) } });
    const remove = h('button', { type: 'button', class: 'btn ghost small lab-icon', tt: { 'aria-label': () => t('lab.remove_reward', { name }), title: () => t('lab.remove_reward', { name }) } }, '×');
    const bar = h('i', { style: { background: `var(${variable(rewardHue(at))})` } });
    weight.addEventListener('input', () => {
      const value = readNumber(weight.value);
      weight.setAttribute('aria-invalid', String(typeof value !== 'number'));
      if (typeof value === 'number') change(name, { weight: value });
    });
    weight.addEventListener('blur', () => { weight.value = writeNumber(bench.rewards.find((each) => each.name === name)?.weight); weight.removeAttribute('aria-invalid'); });
    remove.addEventListener('click', () => {
      bench.set({ rewards: bench.rewards.filter((each) => each.name !== name) });
      add.focus();
    });
    const words = about
      ? [h('span', { class: 'strong', t: about.label }), about.custom ? h('span', { class: 'caption', t: 'lab.custom_version', vars: { version: about.custom.version ?? '–' } }) : h('code', { class: 'caption' }, visible(name))]
      : [h('code', null, visible(name)), h('span', { class: 'lab-unknown', t: 'lab.reward_unknown' })];
    return h('div', { class: 'lab-reward', data: { reward: name } },
      h('i', { class: 'lab-hue', style: { background: `var(${variable(rewardHue(at))})` }, 'aria-hidden': 'true' }),
      h('div', { class: 'lab-reward-name', ...(about?.help ? { tt: { title: about.help } } : {}) }, words),
      h('label', { class: 'lab-reward-weight caption' }, h('span', { t: 'lab.weight' }), weight),
      h('span', { class: 'lab-share', 'aria-hidden': 'true' }, bar), remove,
      about?.arguments.length ? argumentsOf(name, about) : null,
      h('p', { class: 'lab-problem', hidden: true, 'aria-live': 'polite' }));
  }

  function tell() {
    for (const root of list.children) {
      const problem = bench.problems[root.dataset.reward];
      const line = root.querySelector('.lab-problem');
      line.hidden = problem === undefined || !bench.known.has(root.dataset.reward);
      if (problem !== undefined) label(line, problem);
    }
  }

  function argumentsOf(name, about) {
    const now = () => bench.rewards.find((each) => each.name === name)?.args ?? {};
    const summary = h('summary', { class: 'caption' });
    const say = () => {
      const given = Object.entries(now());
      fill(summary, t(about.arguments.length === 1 ? 'lab.arguments_1' : 'lab.arguments', { n: about.arguments.length }),
        given.length ? h('span', { class: 'lab-given mono' }, visible(given.map(([key, value]) => `${key} = ${typed(value)}`).join(' · '))) : null);
    };
    const fields = about.arguments.map((argument) => {
      const id = `lab-arg-${name}-${argument.name}`;
      const send = (value) => {
        const args = { ...now() };
        if (value === undefined || same(value, argument.default)) delete args[argument.name];
        else args[argument.name] = value;
        change(name, { args });
        say();
      };
      const made = argumentControl(argument, id, send);
      made.show(argument.name in now() ? now()[argument.name] : argument.default, argument.default);
      return h('div', { class: 'lab-argument' },
        h(made.group ? 'span' : 'label', { class: 'caption', ...(made.group ? {} : { htmlFor: id }) }, h('code', null, argument.name)), made.root);
    });
    say();
    sayers.push(say);
    return h('details', { class: 'lab-arguments' }, summary, h('div', { class: 'lab-argument-grid' }, fields));
  }

  function refresh() {
    const sum = bench.rewards.reduce((all, each) => all + Math.abs(each.weight), 0);
    [...list.children].forEach((root, at) => {
      const { weight } = bench.rewards[at];
      const input = root.querySelector('.lab-weight');
      if (document.activeElement !== input) input.value = writeNumber(weight);
      root.querySelector('.lab-share > i').style.width = `${sum ? (100 * Math.abs(weight)) / sum : 0}%`;
    });
    none.hidden = bench.rewards.length > 0;
  }

  function offer() {
    const free = [...bench.known.values()].filter((each) => !bench.names.includes(each.name));
    const option = (each) => h('option', { value: each.name, title: each.help ? t(each.help) : '' }, each.custom ? visible(each.name) : `${t(each.label)} (${visible(each.name)})`);
    const groups = [['lab.built_in', free.filter((each) => !each.custom)], ['lab.own', free.filter((each) => each.custom)]];
    fill(add, h('option', { value: '' }, t('lab.add_reward')), groups.filter(([, all]) => all.length).map(([key, all]) => h('optgroup', { label: t(key) }, all.map(option))));
  }

  function show() {
    // Arguments that were typed here are in their inputs already; only another list of rewards builds rows anew.
    if (!same(shown, bench.names)) {
      shown = bench.names;
      sayers = [];
      fill(list, bench.rewards.map(row));
      offer();
    }
    refresh();
    tell();
  }

  bench.onTold(tell);
  saying(offer);
  onLanguage(() => sayers.forEach((say) => say()));
  show();
  return { root: h('div', { class: 'lab-reward-box' }, list, none, add), show, again() { shown = null; show(); } };
}

function argumentControl(argument, id, send) {
  const type = argument.choices.length ? 'choice' : KINDS[argument.kind];
  const field = {
    type, optional: argument.default === null, default: argument.default, suggestions: [], min: null, max: null,
    choices: argument.choices.map((value) => ({ value, label: { en: String(value), ko: String(value) } })),
  };
  if (type && !(type === 'choice' && argument.kinds?.length)) return control({ ...field, choices: type === 'choice' ? field.choices : [] }, id, send);
  // A dictionary, or one of several kinds: JSON, or the plain text.
  const input = h('input', { id, type: 'text', class: 'input mono', autocomplete: 'off', spellcheck: 'false' });
  input.addEventListener('input', () => send(input.value.trim() === '' ? undefined : readLoose(input.value)));
  return { root: h('div', { class: 'f-typed' }, input), input, show(value, base) { input.value = writeLoose(value); input.placeholder = writeLoose(base); } };
}

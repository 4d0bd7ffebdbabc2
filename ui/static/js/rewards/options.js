// How a reward runs: its level, with the confirmation in words; its limits; which column stands for which parameter.
import { h } from '../dom.js';

export const LEVELS = ['sandboxed', 'trusted'];

/** {root, level, confirmed, settings(), set({level, settings}), map(parameter, column)}; `onChange()` after a change. */
export function options({ confirmText, onChange }) {
  const radios = LEVELS.map((level) => {
    const radio = h('input', { type: 'radio', name: 'cr-level', id: `cr-level-${level}`, value: level, onchange: () => changed() });
    return [radio, h('label', { class: 'cr-level', for: radio.id }, radio,
      h('span', null, h('span', { class: 'strong', t: `custom.${level}` }), h('span', { class: 'caption cr-level-help', t: `custom.${level}_help` })))];
  });
  const sure = h('input', { type: 'checkbox', id: 'cr-confirm', onchange: () => changed() });
  const warning = h('div', { class: 'notice cr-confirm', data: { level: 'warn' }, hidden: true },
    h('span', null, h('span', { t: confirmText }), h('label', { class: 'cr-sure', for: 'cr-confirm' }, sure, h('span', { t: 'custom.confirm' }))));
  const limit = h('input', { id: 'cr-limit', class: 'input', type: 'text', inputmode: 'decimal', autocomplete: 'off', placeholder: '30', oninput: () => onChange() });
  const memory = h('input', { id: 'cr-memory', class: 'input', type: 'text', inputmode: 'numeric', autocomplete: 'off', placeholder: '1024', oninput: () => onChange() });
  const mapping = h('textarea', { id: 'cr-mapping', class: 'input mono', rows: 2, spellcheck: 'false', autocomplete: 'off', tt: { placeholder: 'custom.mapping_hint' }, oninput: () => onChange() });
  const more = h('details', { class: 'cr-more' }, h('summary', { t: 'custom.limits' }),
    h('div', { class: 'cr-limits' },
      h('label', { for: 'cr-limit' }, h('span', { class: 'caption', t: 'custom.limit_s' }), limit),
      h('label', { for: 'cr-memory' }, h('span', { class: 'caption', t: 'custom.memory_mb' }), memory),
      h('label', { for: 'cr-mapping', class: 'cr-wide' }, h('span', { class: 'caption', t: 'custom.mapping' }), mapping)));
  const root = h('fieldset', { class: 'cr-options' }, h('legend', { class: 'strong', t: 'custom.level' }), radios.map(([, label]) => label), warning, more);

  const level = () => radios.find(([radio]) => radio.checked)?.[0].value ?? 'sandboxed';

  function show() {
    warning.hidden = level() !== 'trusted';
    memory.placeholder = level() === 'trusted' ? '8192' : '1024';
  }

  function changed() {
    show();
    onChange();
  }

  function setLevel(chosen) {
    for (const [radio] of radios) radio.checked = radio.value === chosen;
    show();
  }

  const pairs = () => Object.fromEntries(mapping.value.split('\n').map((line) => line.split('=').map((part) => part.trim()))
    .filter((parts) => parts.length === 2 && parts[0] && parts[1]));

  // What is no number goes to the server as it is written, which says what would do.
  const number = (field) => (field.value.trim() === '' ? null : Number.isNaN(Number(field.value)) ? field.value : Number(field.value));

  setLevel('sandboxed');
  return {
    root,
    get level() { return level(); },
    get confirmed() { return level() === 'trusted' && sure.checked; },
    needSure() { sure.focus(); },
    setLevel(chosen) {
      setLevel(chosen);
      onChange();
    },
    settings() {
      const columns = pairs();
      return { limit_s: number(limit), memory_mb: number(memory), columns: Object.keys(columns).length ? columns : null };
    },
    set({ level: chosen, settings = {} }) {
      sure.checked = false;
      limit.value = settings.limit_s ?? '';
      memory.value = settings.memory_mb ?? '';
      mapping.value = Object.entries(settings.columns ?? {}).map(([parameter, column]) => `${parameter} = ${column}`).join('\n');
      more.open = Boolean(limit.value || memory.value || mapping.value);
      setLevel(chosen);
    },
    map(parameter, column) {
      const kept = mapping.value.split('\n').filter((line) => line.trim() && line.split('=')[0].trim() !== parameter);
      mapping.value = [...kept, `${parameter} = ${column}`].join('\n');
      more.open = true;
      onChange();
    },
  };
}

// Above the source: the reward's name, its version, the function where there are several, and the templates.
import { fill, h } from '../dom.js';
import { t } from '../i18n.js';

/** `on` = {name(), version(number), fn(name), template(id)}. */
export function nameBar({ templates, on }) {
  const name = h('input', { id: 'cr-name', class: 'input mono', type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: 64, tt: { placeholder: 'custom.name_hint' }, oninput: () => on.name() });
  const template = h('select', { id: 'cr-template', class: 'input', onchange: () => { on.template(template.value); template.value = ''; } });
  const version = h('select', { id: 'cr-version', class: 'input', onchange: () => on.version(Number(version.value)) });
  const fn = h('select', { id: 'cr-function', class: 'input mono', onchange: () => on.fn(fn.value || null) });
  const labelled = (field, words, more = '') => h('label', { for: field.id, class: more }, h('span', { class: 'caption', t: words }), field);
  const versions = labelled(version, 'custom.versions');
  const functions = labelled(fn, 'custom.function');
  const root = h('div', { class: 'cr-bar' }, labelled(name, 'custom.name', 'cr-grow'), versions, functions, labelled(template, 'custom.template'));

  return {
    root,
    focus() { name.focus(); },
    get name() { return name.value.trim(); },
    set name(text) { name.value = text; },
    /** `base`: the saved version that is open, or null; `choices`: functions that may be meant; `chosen`: one of them. */
    show(base, choices, chosen) {
      const kept = template.value;
      fill(template, h('option', { value: '' }, t('custom.template_none')), templates.map((each) => h('option', { value: each.id }, `${t(each.title)}: ${t(each.about)}`)));
      template.value = kept;
      versions.hidden = !base;
      if (base) {
        fill(version, base.versions.map((n) => h('option', { value: n }, t('custom.version', { n }))).reverse());
        version.value = String(base.version);
      }
      functions.hidden = choices.length < 2;
      fill(fn, h('option', { value: '' }, t('custom.choose')), choices.map((each) => h('option', { value: each }, each)));
      fn.value = choices.includes(chosen) ? chosen : '';
    },
  };
}

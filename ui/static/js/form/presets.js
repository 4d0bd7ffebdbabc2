// The presets as cards: title, one line of summary, and what each one changes of its source.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { prose } from './prose.js';
import { saying } from './words.js';

export function presetCards(schema, draft, onChoose) {
  const cards = schema.presets.map((preset) => {
    const input = h('input', { type: 'radio', name: 'f-preset', value: preset.name, class: 'f-radio' });
    const title = h('span', { class: 'f-card-title' });
    const summary = h('span', { class: 'f-card-summary' });
    saying(() => {
      title.textContent = t(preset.title) || preset.name;
      summary.textContent = t(preset.summary);
    });
    input.addEventListener('change', () => onChoose(preset));
    return { preset, input, root: h('label', { class: 'f-card', 'data-preset': preset.name }, input, title,
      h('code', { class: 'f-card-name' }, preset.name), summary) };
  });
  const changes = h('ul', { class: 'f-changes' });
  const summary = h('summary', null);
  const source = h('p', null);
  const details = h('details', { class: 'f-source' }, summary, source, changes);
  const legend = h('h2', { class: 'f-heading', id: 'f-presets-title', t: 'form.presets' });

  function show() {
    for (const card of cards) card.input.checked = card.preset.name === draft.preset;
    const list = schema.preset(draft.preset)?.changes ?? [];
    details.hidden = list.length === 0;
    summary.textContent = t('form.preset_changes', { n: list.length });
    changes.replaceChildren(...list.map((text) => h('li', null, prose(t(text)))));
    const from = schema.preset(draft.preset)?.source;
    source.hidden = !from;
    source.textContent = from ? t('form.source', { source: t(from) }) : '';
  }
  saying(show);
  return {
    root: h('section', { class: 'f-presets' }, legend,
      h('div', { class: 'f-cards', role: 'radiogroup', 'aria-labelledby': 'f-presets-title' }, ...cards.map((card) => card.root)),
      details),
    show,
  };
}

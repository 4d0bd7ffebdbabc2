// How a file's columns are meant: which one is the prompt, or a template over several; the ground truth; the rest.

import { fill, h } from '../dom.js';
import { t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { Menu, labelled, saying, segments } from './parts.js';

const ENCODINGS = ['utf-8', 'utf-16', 'cp949', 'euc-kr', 'shift_jis', 'gb18030', 'big5', 'cp1252', 'latin-1'];
const DELIMITERS = [[',', 'data.comma'], [';', 'data.semicolon'], ['\t', 'data.tab'], ['|', 'data.bar']];
const TEMPLATE = ':template';
const CONVERSATION = ':conversation';
const ONE_TEXT = ':text';

/** Keys that mean the column of their own name where nothing is said. */
const OWN_NAME = ['prompt', 'completion', 'ground_truth'];

const column = (name) => ({ value: { column: name }, text: name });

export class Mapping {
  /** `onChange(changes, typed)`: keys of the mapping with their new value, undefined to take one out. */
  constructor(onChange) {
    this.onChange = onChange;
    this.report = null;
    this.chosen = {};
    this.kind = segments([{ value: 'prompts', key: 'data.kind_prompts' }, { value: 'sft', key: 'data.kind_sft' }], (kind) => onChange({ kind }));
    this.prompt = new Menu((value) => this.choosePrompt(value));
    this.completion = new Menu((value) => onChange({ completion: value.column, messages: undefined }));
    this.gold = new Menu((value) => onChange({ ground_truth: value.column ?? null }));
    this.system = new Menu((value) => this.chooseSystem(value));
    this.encoding = new Menu((value) => onChange({ encoding: value ?? undefined }));
    this.delimiter = new Menu((value) => onChange({ delimiter: value ?? undefined }));
    this.hub = [['subset', 'data.subset'], ['split', 'data.split']].map(([name, key]) => {
      const input = h('input', { type: 'text', class: 'input', autocomplete: 'off', spellcheck: 'false' });
      input.addEventListener('change', () => onChange({ [name]: input.value.trim() || undefined }));
      return { name, input, root: labelled(key, input) };
    });
    this.rewards = new Menu((value) => onChange({ rewards: value === null ? undefined : [value] }));
    this.names = [];
    this.template = h('textarea', { class: 'input d-template', rows: '4', spellcheck: 'false' });
    this.template.addEventListener('input', () => onChange({ template: this.template.value }, true));
    this.insert = h('div', { class: 'd-insert' });
    this.templateBox = labelled('data.template', this.template, { help: 'data.template_help' });
    this.live = h('div', { class: 'd-live', hidden: true });
    this.template.after(this.insert, this.live);
    this.text = h('textarea', { class: 'input', rows: '3', spellcheck: 'false' });
    this.text.addEventListener('input', () => onChange({ system_prompt: this.text.value }, true));
    this.textBox = labelled('data.system_text', this.text);
    this.chat = h('input', { type: 'checkbox', class: 'f-check' });
    this.chat.addEventListener('change', () => onChange({ chat: this.chat.checked }));
    this.boxes = {
      completion: labelled('data.completion', this.completion.root),
      gold: labelled('data.ground_truth', this.gold.root, { help: 'data.ground_truth_help' }),
      rewards: labelled('data.try_rewards', this.rewards.root, { help: 'data.try_rewards_help' }),
      encoding: labelled('data.encoding', this.encoding.root),
      delimiter: labelled('data.delimiter', this.delimiter.root),
    };
    this.root = h('section', { class: 'd-mapping' },
      h('h3', { t: 'data.mapping' }),
      this.hub.map((one) => one.root),
      labelled('data.kind', this.kind.root, { group: true, input: this.kind.root }),
      labelled('data.prompt', this.prompt.root), this.templateBox, this.boxes.completion, this.boxes.gold,
      labelled('data.system', this.system.root), this.textBox,
      h('label', { class: 'd-check' }, this.chat, h('span', { t: 'data.chat' })), h('p', { class: 'd-help', t: 'data.chat_help' }),
      this.boxes.rewards, this.boxes.encoding, this.boxes.delimiter);
    saying(() => this.draw());
  }

  /** Names of the rewards that ground truths can be tried with. */
  offerRewards(names) {
    this.names = names;
    this.draw();
  }

  choosePrompt(value) {
    if (value === TEMPLATE) {
      const first = this.shown('prompt') ?? this.columns[0];
      this.onChange({ template: first ? `{${first}}` : '', prompt: undefined, messages: undefined });
      this.template.focus();
    } else if (value?.conversation !== undefined) this.onChange({ messages: value.conversation, prompt: undefined, completion: undefined, template: undefined });
    else this.onChange({ prompt: value?.column, template: undefined, messages: undefined });
  }

  chooseSystem(value) {
    if (value === ONE_TEXT) this.onChange({ system_prompt: '', system: undefined });
    else this.onChange({ system: value?.column, system_prompt: undefined });
  }

  get used() { return this.report?.mapping ?? {}; }

  get columns() { return this.report?.columns ?? []; }

  /** What a key of the mapping means now: as chosen, as used, or the column of the same name. */
  shown(name) {
    if (name in this.chosen) return this.chosen[name] ?? null;
    const value = this.used[name] ?? null;
    return value === null && OWN_NAME.includes(name) && this.columns.includes(name) ? name : value;
  }

  /** `report` of the last check; `chosen`: the mapping as the person has it so far; `hub`: the rows are a hub set's. */
  set(report, chosen, hub = false) {
    for (const { name, root, input } of this.hub) {
      root.hidden = !hub;
      if (document.activeElement !== input) input.value = chosen[name] ?? '';
    }
    this.boxes.encoding.hidden = hub;
    this.report = report;
    this.chosen = chosen;
    this.draw();
  }

  draw() {
    const { chosen, columns } = this;
    const sft = this.shown('kind') === 'sft';
    const names = columns.map(column);
    const template = chosen.prompt || chosen.messages ? null : this.shown('template');
    const messages = this.shown('messages') ?? (columns.includes('messages') && !columns.includes(sft ? 'completion' : 'prompt') && !chosen.prompt && !chosen.completion ? 'messages' : null);
    const prompt = sft ? this.shown('prompt') : this.shown('prompt') ?? messages;
    const whole = sft && template === null && messages !== null;
    this.kind.set(sft ? 'sft' : 'prompts');
    this.prompt.set([
      ...(prompt === null && template === null && !whole ? [{ value: null, key: 'data.choose' }] : []),
      ...names, { value: TEMPLATE, key: 'data.from_template' },
      ...(sft ? columns.map((name) => ({ value: { conversation: name }, key: 'data.conversation', vars: { name: visible(name) } })) : []),
    ], template !== null ? TEMPLATE : whole ? { conversation: messages } : prompt === null ? null : { column: prompt });
    this.templateBox.hidden = template === null;
    if (template !== null && document.activeElement !== this.template) this.template.value = template;
    fill(this.insert, columns.filter((name) => !name.includes('}')).map((name) => h('button', { type: 'button', class: 'f-chip', 'aria-label': t('data.insert', { name: visible(name) }), onclick: () => this.put(name) }, `{${visible(name)}}`)));
    this.sayFirst();
    this.boxes.completion.hidden = !sft || whole;
    const completion = this.shown('completion');
    this.completion.set([...(completion === null ? [{ value: {}, key: 'data.choose' }] : []), ...names], completion === null ? {} : { column: completion });
    this.boxes.gold.hidden = sft;
    this.boxes.rewards.hidden = sft;
    const gold = this.shown('ground_truth');
    this.gold.set([{ value: {}, key: 'data.none' }, ...names], gold === null ? {} : { column: gold });
    const text = chosen.system ? null : this.shown('system_prompt');
    const system = this.shown('system');
    this.system.set([{ value: {}, key: 'data.none' }, { value: ONE_TEXT, key: 'data.one_text' }, ...names], text !== null ? ONE_TEXT : system === null ? {} : { column: system });
    this.textBox.hidden = text === null;
    if (text !== null && document.activeElement !== this.text) this.text.value = text;
    this.chat.checked = this.shown('chat') === true;
    this.rewards.set([{ value: null, key: 'data.none' }, ...this.names.map((name) => ({ value: name, text: name }))], this.shown('rewards')?.[0] ?? null);
    const found = this.report?.encoding;
    const encodings = [...new Set([...ENCODINGS, ...(chosen.encoding ? [chosen.encoding] : [])])];
    this.encoding.set([{ value: null, ...(found && !chosen.encoding ? { key: 'data.detected', vars: { what: found } } : { key: 'data.detect' }) },
      ...encodings.map((name) => ({ value: name, text: name }))], chosen.encoding ?? null);
    const mark = this.report?.delimiter ?? chosen.delimiter ?? null;
    this.boxes.delimiter.hidden = mark === null;
    const known = DELIMITERS.find(([character]) => character === mark);
    this.delimiter.set([{ value: null, ...(chosen.delimiter ? { key: 'data.detect' } : { key: 'data.detected', vars: { what: known ? t(known[1]) : mark } }) },
      ...DELIMITERS.map(([character, key]) => ({ value: character, key }))], chosen.delimiter ?? null);
  }

  /** What the template makes of the first row. */
  sayFirst() {
    const prompt = this.report?.rendered?.[0]?.prompt;
    const text = Array.isArray(prompt) ? prompt.at(-1)?.content : prompt;
    this.live.hidden = typeof text !== 'string';
    if (!this.live.hidden) fill(this.live, h('span', { class: 'd-live-word' }, t('data.first_prompt')), h('div', { class: 'd-live-text' }, plain(text, h, 600)));
  }

  /** {column: key of what it is meant as}, for the table of rows. */
  get roles() {
    const found = {};
    for (const key of ['system', 'completion', 'ground_truth', 'prompt', 'messages']) {
      const name = this.shown(key);
      if (typeof name === 'string' && this.columns.includes(name)) found[name] = `data.${key === 'messages' ? 'prompt' : key}`;
    }
    for (const [, name] of (this.shown('template') ?? '').matchAll(/\{([^{}]+)\}/g)) if (this.columns.includes(name)) found[name] = 'data.in_prompt';
    return found;
  }

  /** Puts a column's field where the cursor stands in the template. */
  put(name) {
    const { selectionStart: from, selectionEnd: to } = this.template;
    this.template.setRangeText(`{${name}}`, from, to, 'end');
    this.template.focus();
    this.onChange({ template: this.template.value }, true);
  }
}

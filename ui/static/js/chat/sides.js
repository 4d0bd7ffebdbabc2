// Who answers: on each side a run's checkpoint or a model. Without a choice of the person's, base and trained of the run in
// the address.
import { h } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import * as runlist from '../runlist.js';

const text = (value) => JSON.stringify(value);

/** 'trained (final)', 'step 40': a checkpoint in words. */
export function checkpointName(checkpoint, step = null) {
  const numbered = /^checkpoint-(\d+)$/.exec(checkpoint ?? '');
  if (numbered) return t('chat.checkpoint_step', { n: numbered[1] });
  const word = ['base', 'final', 'best'].includes(checkpoint) ? t(`chat.checkpoint_${checkpoint}`) : visible(checkpoint ?? '');
  return step !== null && checkpoint === 'best' ? `${word} · ${t('chat.at_step', { n: step })}` : word;
}

export const runName = (run) => visible(runlist.find(run)?.name || run);

/** A side in words: 'trained (final) · math-lora-7', or a model's name. */
export function sideName(side) {
  if (!side) return '';
  if (side.model) return visible(side.model);
  return `${checkpointName(side.checkpoint)} · ${runName(side.run)}`;
}

/** The sides to begin with: those of the run in the address, else base and trained of the newest run that has
 * both, else the first model that is on this machine. */
export function firstSides({ left, right, runs, models }) {
  if (left) return [left, right ?? null];
  const newest = runs.find((run) => run.checkpoints.some((one) => one.default));
  const model = models.find((one) => one.ready !== false);
  if (!newest) return [model ? { model: model.model } : null, null];
  return [{ run: newest.run, checkpoint: 'base' }, { run: newest.run, checkpoint: newest.checkpoints.find((one) => one.default).checkpoint }];
}

export class SidePicker {
  /** `side`: 'left' | 'right'; `onChange()` after a person's choice. */
  constructor(side, onChange) {
    Object.assign(this, { side, onChange, known: { runs: [], models: [] }, value: null });
    this.who = h('select', { class: 'input', id: `chat-${side}`, onchange: () => this.#who() });
    this.checkpoint = h('select', { class: 'input', id: `chat-${side}-checkpoint`, tt: { 'aria-label': () => `${t(`chat.${side}`)}: ${t('chat.checkpoint')}` }, onchange: () => this.#pick({ run: this.value.run, checkpoint: this.checkpoint.value }) });
    this.root = h('div', { class: 'c-side', data: { side } },
      h('label', { class: 'c-side-label', htmlFor: this.who.id }, h('span', { class: 'c-swatch', 'aria-hidden': 'true' }), h('span', { t: `chat.${side}` })),
      h('div', { class: 'c-side-menus' }, this.who, this.checkpoint));
    onLanguage(() => this.#draw());
  }

  /** `known`: what /api/chat/sides answers; `value`: the side to show. */
  set(known, value) {
    const same = JSON.stringify([known, value]) === JSON.stringify([this.known, this.value]);
    this.known = known;
    this.value = value;
    if (!same) this.#draw(); // an open menu is left alone
  }

  get #run() {
    return this.known.runs.find((one) => one.run === this.value?.run);
  }

  /** Whether the weights that are chosen are there; `why` they are not, where the server says it. */
  get usable() {
    return Boolean(this.#run?.checkpoints.some((one) => one.checkpoint === this.value.checkpoint));
  }

  get why() {
    return this.#run?.why ?? null;
  }

  get rewards() {
    return this.#run?.rewards ?? [];
  }

  #checkpoints(run) {
    return this.known.runs.find((one) => one.run === run)?.checkpoints ?? [];
  }

  #who() {
    const chosen = JSON.parse(this.who.value);
    if (chosen === null) return this.#pick(null);
    if (chosen.model) return this.#pick(chosen);
    const there = this.#checkpoints(chosen.run).map((one) => one.checkpoint);
    const wish = [this.value?.checkpoint, this.side === 'left' ? 'base' : 'final', ...there].find((one) => there.includes(one));
    return this.#pick({ run: chosen.run, checkpoint: wish ?? 'base' });
  }

  #pick(value) {
    this.value = value;
    this.#draw();
    this.onChange();
  }

  #draw() {
    const { value, known } = this;
    const option = (data, words) => h('option', { value: text(data) }, words);
    const runs = known.runs.map((run) => option({ run: run.run }, visible(run.name || run.run)));
    const models = known.models.map((model) => option({ model: model.model }, [visible(model.title ? t(model.title) : model.model), model.ready === false ? t('chat.not_fetched') : ''].filter(Boolean).join(' · ')));
    const none = this.side === 'right' ? [h('option', { value: 'null' }, t('chat.nobody'))] : [];
    const groups = [
      runs.length ? h('optgroup', { label: t('chat.runs') }, runs) : null,
      models.length ? h('optgroup', { label: t('chat.models') }, models) : null,
    ].filter(Boolean);
    if (this.side === 'left' && !value) none.push(h('option', { value: 'null', disabled: true }, t('chat.choose')));
    this.who.replaceChildren(...groups, ...none);
    this.who.value = text(!value ? null : value.run ? { run: value.run } : { model: value.model });
    this.who.disabled = groups.length === 0;
    this.checkpoint.hidden = !this.#checkpoints(value?.run).length;
    this.checkpoint.replaceChildren(...this.#checkpoints(value?.run).map((one) => h('option', { value: one.checkpoint }, checkpointName(one.checkpoint, one.step ?? null))));
    if (value?.run) this.checkpoint.value = value.checkpoint;
  }
}

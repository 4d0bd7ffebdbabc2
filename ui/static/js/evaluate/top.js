// The top: whose evaluation, which one, and the sentence that says what it found, with what speaks against it under it.
import { fill, h, keyed, setText } from '../dom.js';
import { ago, count, number } from '../format.js';
import { lang, onLanguage, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import * as state from '../state.js';
import { known, moved } from './parts.js';

export class Top {
  /** `onNew()`: the form is asked for, or closed. */
  constructor(onNew) {
    this.name = h('h1', { id: 'evaluate-name' });
    this.picker = h('select', { id: 'evaluate-picker', class: 'input', onchange: () => state.set({ evaluation: this.picker.value }) });
    this.about = h('p', { class: 'caption num', id: 'evaluate-about' });
    this.open = h('button', { id: 'evaluate-new', class: 'btn', type: 'button', t: 'evaluate.new', 'aria-expanded': 'false', 'aria-controls': 'evaluate-form', onclick: onNew });
    this.report = h('a', { id: 'evaluate-report', class: 'btn', t: 'evaluate.report', download: true, tt: { title: 'evaluate.report_title' } });
    this.card = h('a', { id: 'evaluate-card', class: 'btn', t: 'evaluate.card', download: true, tt: { title: 'evaluate.card_title' } });
    this.sentence = h('p', { id: 'evaluate-sentence', class: 'headline', 'aria-live': 'polite' });
    this.warnings = h('ul', { class: 'ev-warnings', id: 'evaluate-warnings', hidden: true });
    this.root = h('div', { class: 'ev-top' },
      h('div', { class: 'live-top' }, h('div', { class: 'row title' }, this.name), h('div', { class: 'row actions' }, this.report, this.card, this.open)),
      this.chooser = h('div', { class: 'ev-chooser' }, h('label', { class: 'caption', htmlFor: 'evaluate-picker', t: 'evaluate.which' }), this.picker, this.about));
    onLanguage(() => this.trained && this.#say());
  }

  /** The trained run (or the evaluation that stands alone), all that there is to choose from, what is chosen, and
   *  whether there is nothing that could be evaluated. */
  draw(trained, overview, chosen, barren) {
    Object.assign(this, { trained, overview, chosen });
    const name = trained.name || trained.id;
    if (this.shown !== name) fill(this.name, plain(name, h));
    this.shown = name;
    this.open.hidden = !overview.run || barren;
    this.#say();
  }

  #say() {
    const { overview, chosen, trained } = this;
    const all = [...overview.evaluations.map((one) => ({ id: one.id, one })), ...(overview.own ? [{ id: 'own', one: null }] : [])];
    this.chooser.hidden = all.length === 0;
    keyed(this.picker, all, (each) => each.id, (each) => h('option', { value: each.id }), (option, { one }) => setText(option, one ? line(one) : t('evaluate.own')));
    this.picker.value = chosen ?? '';
    const one = overview.evaluations.find((each) => each.id === chosen);
    setText(this.about, one ? about(one) : chosen === 'own' ? t('evaluate.own_about') : '');
    const base = `/api/runs/${encodeURIComponent(trained.id)}`;
    for (const link of [this.report, this.card]) link.hidden = !overview.run || !chosen;
    this.report.href = `${base}/report?lang=${lang()}`;
    this.card.href = `${base}/card`;
  }

  mark(open) {
    this.open.setAttribute('aria-expanded', String(open));
  }

  /** What the evaluation found: ui.md's sentence, and its warnings. */
  say(report) {
    const found = report?.sentence ?? null;
    this.sentence.hidden = !found;
    if (!moved(this, [found, report?.state, report?.warnings, report?.paired])) return;
    const { paired, state: now } = report ?? {};
    // Figures of an evaluation that failed prove nothing, and those of one that is not at its end are not the last word.
    const doubt = ['failed', 'lost'].includes(now) ? 'evaluate.proves_nothing' : ['succeeded', undefined].includes(now) || report?.run === report?.evaluated ? null : 'evaluate.so_far';
    this.sentence.dataset.verdict = doubt === 'evaluate.proves_nothing' ? 'no_signal' : doubt || !known(paired?.low) ? 'unclear' : paired.low > 0 ? 'learning' : paired.high < 0 ? 'falling' : 'unclear';
    fill(this.sentence, found ? [doubt ? [h('span', { class: 'strong', t: doubt }), ' '] : null, h('span', { t: found })] : null);
    // Why it failed stands above already.
    const warnings = (report?.warnings ?? []).filter((one) => report.state !== 'failed' || !['adapter', 'identical'].includes(one.id));
    this.warnings.hidden = warnings.length === 0;
    fill(this.warnings, warnings.map((one) => h('li', { class: 'notice', data: { level: 'warn', id: one.id } }, h('span', { t: one.words }))));
  }
}

const rows = ({ data, dataset }) => (data === 'held-out' ? t('evaluate.data_held_out') : visible(String(dataset ?? data ?? '')));

/** One option of the menu: when, what, and where it stands. */
function line(one) {
  const asked = one.evaluation ?? {};
  return [rows(asked), asked.checkpoint ? t('evaluate.of_checkpoint', { name: asked.checkpoint }) : '', asked.k ? `k=${count(asked.k)}` : '', t(`state.${one.state}`), ago(one.created_at)].filter(Boolean).join(' · ');
}

function about(one) {
  const asked = one.evaluation ?? {};
  return [visible(one.name || one.id), known(asked.n) ? t('evaluate.n_rows', { n: count(asked.n) }) : '', t('evaluate.greedy'), asked.k ? t('evaluate.and_samples', { k: count(asked.k), temperature: number(asked.temperature) }) : '', known(asked.seed) ? t('evaluate.seed', { n: asked.seed }) : ''].filter(Boolean).join(' · ');
}

// Which problems were won and which lost: both answers of a problem side by side, as the models wrote them.
import * as api from '../api.js';
import { fill, h, setText } from '../dom.js';
import { DASH, count, number } from '../format.js';
import { onLanguage, t } from '../i18n.js';
import { exact, failed, promptText } from '../lab/parts.js';
import { plain, visible } from '../plain.js';
import { head, mark, moved } from './parts.js';

const TABS = ['won', 'lost', 'both_right', 'both_wrong'];
const PAGE = 10;

export class Problems {
  constructor() {
    Object.assign(this, { run: null, which: 'won', offset: 0, turn: 0 });
    this.tabs = TABS.map((id) => h('button', { type: 'button', id: `evaluate-${id}`, data: { which: id }, onclick: () => this.#open(id) }, h('span', { t: `evaluate.${id}` }), ' ', h('span', { class: 'num ev-count' })));
    this.list = h('div', { class: 'ev-items' });
    this.back = h('button', { class: 'btn small', id: 'evaluate-back', type: 'button', t: 'evaluate.back', onclick: () => this.#page(-PAGE) });
    this.next = h('button', { class: 'btn small', id: 'evaluate-next', type: 'button', t: 'evaluate.next', onclick: () => this.#page(PAGE) });
    this.where = h('span', { class: 'caption num', 'aria-live': 'polite' });
    this.foot = h('div', { class: 'row ev-pages' }, this.back, this.where, this.next);
    this.root = h('section', { class: 'ev-problems', id: 'evaluate-problems', tt: { 'aria-label': 'evaluate.problems' } },
      head('evaluate.problems'), h('div', { class: 'segmented ev-tabs', role: 'group', tt: { 'aria-label': 'evaluate.problems' } }, this.tabs), this.list, this.foot);
    onLanguage(() => this.found && this.#foot());
  }

  /** `run`: whose items; `stage`: changes when there may be more of them. */
  draw(run, stage, counts) {
    for (const tab of this.tabs) setText(tab.lastElementChild, counts ? count(counts[tab.dataset.which]) : '');
    if (!moved(this, [run, stage])) return;
    if (run !== this.run) {
      this.run = run;
      this.offset = 0;
      this.found = null;
      this.which = TABS.find((id) => counts?.[id] > 0) ?? 'won';
      fill(this.list, h('p', { class: 'muted', t: 'app.loading' }));
      this.foot.hidden = true;
    }
    this.#load();
  }

  #open(which) {
    if (which === this.which) return;
    this.which = which;
    this.offset = 0;
    this.#load();
  }

  #page(by) {
    this.offset = Math.max(0, this.offset + by);
    this.#load().then(() => {
      this.list.tabIndex = -1; // the keyboard goes on where the eye does
      this.list.focus({ preventScroll: true });
      this.root.scrollIntoView({ block: 'start' });
    });
  }

  async #load() {
    const turn = ++this.turn;
    const { run, which, offset } = this;
    for (const tab of this.tabs) tab.setAttribute('aria-pressed', String(tab.dataset.which === which));
    try {
      const found = await api.get(api.address(`/api/runs/${encodeURIComponent(run)}/evaluation/items`, { which, offset, limit: PAGE }));
      if (turn !== this.turn) return;
      this.found = found;
      fill(this.list, found.items.length ? found.items.map((one) => problem(one)) : h('p', { class: 'muted', t: `evaluate.none_${which}` }));
      this.#foot();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (turn === this.turn) fill(this.list, failed(error, () => this.#load()));
    }
  }

  #foot() {
    const { total, items } = this.found;
    this.foot.hidden = total <= PAGE;
    this.back.disabled = this.offset === 0;
    this.next.disabled = this.offset + items.length >= total;
    setText(this.where, t('evaluate.page', { from: count(this.offset + 1), to: count(this.offset + items.length), n: count(total) }));
  }
}

function problem(one) {
  const columns = Object.entries(one.columns ?? {}).filter(([, value]) => value !== null && typeof value !== 'object');
  return h('article', { class: 'card ev-item', data: { position: one.position } },
    h('div', { class: 'ev-item-head' },
      h('div', { class: 'ev-item-prompt' }, h('span', { class: 'caption', t: 'groups.prompt' }), exact(promptText(one.prompt, one.prompt_format))),
      h('div', { class: 'ev-item-truth' }, one.ground_truth === null || one.ground_truth === undefined ? null : [h('span', { class: 'caption', t: 'groups.truth' }), h('div', { class: 'mono ev-truth' }, plain(String(one.ground_truth), h, 400))],
        columns.length ? h('p', { class: 'caption ev-columns' }, columns.slice(0, 6).map(([name, value]) => h('span', null, visible(`${name}: ${String(value).slice(0, 60)}`)))) : null)),
    h('div', { class: 'ev-sides' }, side('base', one.base), side('trained', one.trained)));
}

function side(kind, answer) {
  if (!answer) return h('div', { class: 'ev-side', data: { kind } }, h('span', { class: 'muted', t: 'evaluate.no_answer' }));
  const scores = Object.entries(answer.rewards ?? {});
  return h('div', { class: 'ev-side', data: { kind } },
    h('div', { class: 'ev-side-head' }, h('span', { class: 'ev-side-name' }, h('i', { class: 'ev-dot', data: { kind }, 'aria-hidden': 'true' }), h('span', { t: `evaluate.${kind}` })), mark(answer.correct),
      h('span', { class: 'caption num ev-side-facts' }, h('span', { t: 'evaluate.tokens_n', vars: { n: count(answer.tokens) } }), answer.eos === false ? [' · ', h('span', { class: 'ev-cut', t: 'groups.cut' })] : null)),
    exact(answer.completion ?? ''),
    h('dl', { class: 'ev-why caption' },
      h('dt', { t: 'evaluate.extracted' }), h('dd', null, answer.extracted === null || answer.extracted === undefined ? (unread(answer) ? h('span', { class: 'muted', t: 'evaluate.nothing' }) : DASH) : h('span', { class: 'mono ev-extracted' }, plain(String(answer.extracted), h, 400))),
      answer.reason ? [h('dt', { t: 'evaluate.reason' }), h('dd', { t: shown(answer.reason) })] : null,
      h('dt', { t: 'evaluate.score' }), h('dd', { class: 'num' }, number(answer.reward), scores.length ? h('span', { class: 'ev-scores' }, scores.map(([name, score]) => h('span', null, visible(name), ' ', score === null ? DASH : number(score)))) : null)),
    samples(answer.samples ?? []));
}

/** A reason in both languages; it may quote a completion. */
const shown = (reason) => (typeof reason === 'string' ? visible(reason) : { en: visible(reason.en ?? ''), ko: visible(reason.ko ?? reason.en ?? '') });

/** Whether it is known that nothing was read: a right answer was read, and one without its scores is of a record that kept
 *  neither. */
const unread = (answer) => answer.correct === false && (answer.reason !== null || Object.keys(answer.rewards ?? {}).length > 0);

function samples(list) {
  if (!list.length) return null;
  const right = list.filter((one) => one.correct === true).length;
  const box = h('details', { class: 'ev-samples' }, h('summary', { class: 'caption', t: 'evaluate.samples', vars: { right: count(right), k: count(list.length) } }));
  // Built at the first opening: a page of problems may hold a thousand of them.
  box.addEventListener('toggle', () => {
    if (!box.open || box.childElementCount > 1) return;
    box.append(h('ol', { class: 'ev-plain' }, list.map((one) => h('li', { class: 'ev-sample' }, mark(one.correct), h('div', null, exact(one.text))))));
  });
  return box;
}

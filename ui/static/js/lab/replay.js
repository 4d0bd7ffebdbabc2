// Replay: a run's stored completions scored again with the rewards on the bench, and what that would have changed.
import { fill, h, setText } from '../dom.js';
import { DASH, count, number, percent, signed } from '../format.js';
import { onLanguage, t } from '../i18n.js';
import { runJob } from './job.js';
import { exact, failed, promptText, runMenu, stacked } from './parts.js';

const SCALES = [null, 'group', 'batch', 'none'];
const NAMES = { normalize_then_sum: 'lab.scale_gdpo' };
const PARTS = ['live', 'all_right', 'all_wrong', 'tied'];

export class Replay {
  constructor({ bench }) {
    Object.assign(this, { bench, scale: null, answer: null, asked: null });
    this.run = runMenu('lab-replay-run', (run) => run.last_step > 0, { onFollow: () => this.button && this.#old() });
    this.scales = SCALES.map((scale) => h('button', { type: 'button', t: `lab.scale_${scale ?? 'own'}`, data: { scale: scale ?? '' }, onclick: () => { this.scale = scale; this.#mark(); this.#old(); } }));
    this.button = h('button', { id: 'lab-replay-run-it', class: 'btn primary', type: 'button', t: 'lab.replay_run', onclick: () => this.go() });
    this.status = h('p', { class: 'caption lab-status', 'aria-live': 'polite' });
    this.notice = h('div', { class: 'lab-notice' });
    this.result = h('div', { class: 'lab-replay-result', id: 'lab-replay-result' });
    this.root = h('section', { id: 'lab-replay', tt: { 'aria-label': 'lab.nav_replay' } },
      h('p', { class: 'muted lab-lead', t: 'lab.replay_lead' }),
      h('div', { class: 'row lab-replay-bar' }, this.run,
        h('div', { class: 'pair' }, h('span', { class: 'caption', t: 'lab.replay_scale' }), h('div', { class: 'segmented', role: 'group', tt: { 'aria-label': 'lab.replay_scale' } }, this.scales)), this.button, this.status),
      this.notice, this.result);
    bench.onChange((changed) => { if (changed.includes('rewards')) this.#old(); });
    onLanguage(() => this.#draw());
    this.#mark();
    this.#old();
  }

  #mark() {
    for (const button of this.scales) button.setAttribute('aria-pressed', String(button.dataset.scale === (this.scale ?? '')));
  }

  #key() { return JSON.stringify([this.run.value, this.scale, this.bench.names, this.bench.weights, this.bench.args]); }

  #old() {
    this.button.disabled = this.busy || !this.run.value || !this.bench.rewards.length;
    const old = this.answer !== null && this.asked !== this.#key();
    this.result.toggleAttribute('data-stale', old);
    setText(this.status, this.busy ? t('lab.replay_busy') : old ? t('lab.replay_old') : '');
  }

  async go() {
    const key = this.#key();
    this.busy = true;
    this.#old();
    fill(this.notice);
    try {
      const answer = await runJob('/api/lab/replay', { run: this.run.value, rewards: this.bench.names, weights: this.bench.weights, args: this.bench.args, scale: this.scale });
      Object.assign(this, { answer, asked: key });
      this.#draw();
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.notice, failed(error, () => this.go()));
    } finally {
      this.busy = false;
      this.#old();
    }
  }

  #draw() {
    const { answer } = this;
    if (!answer) return;
    if (!answer.groups) return void fill(this.result, h('p', { class: 'muted', t: 'lab.replay_nothing' }));
    const { before, after } = answer;
    const shares = (side) => PARTS.map((key) => ({ key, share: side.shares?.[key] ?? side[key] ?? null }));
    const columns = [...new Set([...Object.keys(before.means ?? {}), ...Object.keys(after.means ?? {})])];
    const rows = [
      ['lab.total_mean', before.mean ?? null, after.mean ?? null, number],
      ['lab.dead_groups', before.dead ?? null, after.dead ?? null, percent],
      ['lab.spread', before.spread ?? null, after.spread ?? null, number],
      ...columns.map((name) => [() => t('lab.mean_reward_of', { name }), before.means?.[name] ?? null, after.means?.[name] ?? null, number]),
    ];
    const change = (from, to, how) => (from === null || to === null ? DASH : how === percent ? t('lab.points', { n: signed(100 * (to - from)) }) : signed(to - from));
    const facts = [t(answer.of > answer.groups ? 'lab.replay_some' : 'lab.replay_all', { groups: count(answer.groups), of: count(answer.of ?? answer.groups), completions: count(answer.completions) })];
    if (answer.changed_top !== null && answer.changed_top !== undefined) facts.push(t('lab.replay_top', { top: percent(answer.changed_top), n: count(answer.compared ?? answer.groups) }));
    if (answer.rank_correlation !== null && answer.rank_correlation !== undefined) facts.push(t('lab.replay_rank', { rank: number(answer.rank_correlation, 2) }));
    const scaled = (side) => t(NAMES[answer.scale[side]] ?? `lab.scale_${answer.scale[side]}`);
    facts.push(t('lab.replay_scaled', { how: answer.scale.before === answer.scale.after ? scaled('after') : `${scaled('before')} → ${scaled('after')}` }));
    fill(this.result,
      h('p', { class: 'lab-replay-words', role: 'status' }, facts.join(' ')),
      answer.notes?.length ? h('ul', { class: 'lab-plain caption' }, answer.notes.map((note) => h('li', { t: note }))) : null,
      h('div', { class: 'lab-report-grid' },
        h('section', { class: 'card' }, h('h3', { t: 'lab.before_after' }), h('table', { class: 'table lab-before-after' },
          h('thead', null, h('tr', null, h('th', { scope: 'col' }), ['lab.before', 'lab.after', 'lab.change'].map((key) => h('th', { scope: 'col', class: 'num', t: key })))),
          h('tbody', null, rows.map(([key, from, to, how]) => h('tr', null, h('th', { scope: 'row', t: key }), h('td', { class: 'num' }, how(from)), h('td', { class: 'num strong' }, how(to)), h('td', { class: 'num' }, change(from, to, how))))))),
        h('section', { class: 'card' }, h('h3', { t: 'lab.signal' }), h('p', { class: 'caption', t: 'lab.before' }), stacked(shares(before)), h('p', { class: 'caption', t: 'lab.after' }), stacked(shares(after)))),
      h('section', { class: 'lab-sub' }, h('h3', { t: 'lab.flips' }), answer.examples?.length ? [h('p', { class: 'caption', t: 'lab.flips_lead' }), groups(answer.examples).map(flip)] : h('p', { class: 'muted', t: 'lab.flips_none' })));
  }
}

/** Examples of the same group stand together: the completion that was the best, and the one that is now. */
function groups(examples) {
  const found = [];
  for (const example of examples) {
    const last = found[found.length - 1];
    if (last && last[0].step === example.step && last[0].prompt === example.prompt) last.push(example);
    else found.push([example]);
  }
  return found;
}

function flip(examples) {
  const [{ step, prompt }] = examples;
  const side = (key, { total, advantage }) => h('span', null, h('span', { class: 'caption', t: key }), ' ', h('span', { class: 'num strong' }, number(total)), ' ', h('span', { class: 'num caption', t: 'lab.advantage_of', vars: { n: signed(advantage) } }));
  return h('article', { class: 'card lab-flip' },
    h('header', { class: 'row lab-group-head' }, h('span', { class: 'caption num', t: 'groups.step', vars: { step } }), h('div', { class: 'lab-prompt' }, exact(promptText(prompt, prompt.startsWith('[{') ? 'messages' : 'text')))),
    h('div', { class: 'lab-flip-pair' }, examples.map((example) => h('div', { class: 'lab-flip-one' },
      h('p', { class: 'caption', t: example.why }), exact(example.completion),
      h('div', { class: 'row' }, side('lab.before', example.before), side('lab.after', example.after))))));
}

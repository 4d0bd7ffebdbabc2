// The columns of the table: how a run sorts by each, and how its cell shows it. Cells are made once and then patched.

import { h, setText } from '../dom.js';
import { DASH, ago, duration, number, percent } from '../format.js';
import { showCount } from '../findings/panel.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import * as pick from './pick.js';

const ORDER = ['running', 'stopping', 'starting', 'queued', 'failed', 'lost', 'stopped', 'succeeded'];
export const ENDED = new Set(['stopped', 'succeeded', 'failed', 'lost']);

/** Hidden characters (direction marks, controls) as symbols: a name shows all that is in it. */
export const nameOf = (run) => visible(run.name || run.id);

/** 'Evaluation · quickstart-3': what a run that is no training is, and of which run; '' of a training run. */
export function kindOf(run) {
  if (!run.kind || run.kind === 'train') return '';
  if (run.kind === 'sweep') return t('sweeps.kind', { n: run.runs });
  if (!run.of) return t(`runs.kind_${run.kind}`);
  return t(`runs.kind_${run.kind}_of`, { name: run.of.name === null ? t('runs.kind_gone') : visible(run.of.name || run.of.id) });
}

/** Share that is done, 0 to 1: of the steps, or of the rows of both sides; null when nobody knows how many there are. */
export function done(run) {
  if (run.kind === 'sweep') return run.share;
  if (run.kind === 'evaluate') {
    if (run.state === 'succeeded') return 1;
    const at = run.stages.indexOf(run.stage);
    return at < 0 ? null : (at + (run.stage_total ? Math.min(1, run.stage_step / run.stage_total) : 0)) / run.stages.length;
  }
  return run.total_steps > 0 ? Math.min(1, (run.last_step ?? 0) / run.total_steps) : null;
}

/** How far a run came, in words: an evaluation in rows of the side at hand, any other in steps. */
function reachedWords(run) {
  const whole = (n) => (n ?? 0).toLocaleString('en-US');
  if (run.kind === 'sweep') return t('sweeps.finished_of', { n: whole(run.ended), all: whole(run.runs) });
  if (run.kind === 'evaluate') {
    if (!run.stage_total) return t('runs.no_rows');
    return run.state === 'succeeded' ? t('runs.rows', { n: whole(run.stage_total) }) : t('runs.rows_of', { n: whole(run.stage_step), total: whole(run.stage_total) });
  }
  const total = run.total_steps > 0 ? whole(run.total_steps) : DASH;
  return run.last_step || done(run) !== null ? t('runs.steps', { step: whole(run.last_step), total }) : t('runs.no_steps');
}

const reached = (run) => run.accuracy?.after ?? run.accuracy?.before ?? run.last?.accuracy ?? null;

/** Words that a long cell shows clipped stand whole in its title. */
function clip(node, text) {
  setText(node, text);
  if (node.title !== text) node.title = text;
}

export const COLUMNS = [
  {
    key: 'state',
    sort: (run) => ORDER.indexOf(run.state),
    make: () => [h('span', { class: 'badge' }, h('i', { 'aria-hidden': 'true' }), h('span', { class: 'r-state-word' })), h('span', { class: 'caption r-stage' }), h('span', { class: 'caption r-findings', hidden: true })],
    show(cell, run) {
      cell.querySelector('.badge').dataset.state = run.state;
      setText(cell.querySelector('.r-state-word'), t(`state.${run.state}`));
      const at = !ENDED.has(run.state) && run.state !== 'queued' && run.stage ? t(`stage.${run.stage}`) : '';
      const waits = run.state === 'queued' && run.queue ? t('sweeps.place', run.queue) : '';
      setText(cell.querySelector('.r-stage'), at || waits);
      showCount(cell.querySelector('.r-findings'), run, t);
    },
  },
  {
    key: 'name',
    sort: (run) => nameOf(run).toLowerCase(),
    make: () => [pick.box(), h('a', { class: 'r-open' }), h('span', { class: 'caption r-kind', hidden: true }), h('span', { class: 'caption r-reason', hidden: true }), h('code', { class: 'r-id' })],
    show(cell, run) {
      pick.show(cell.querySelector('.r-pick'), run, nameOf(run));
      const link = cell.querySelector('.r-open');
      clip(link, nameOf(run));
      link.href = state.link(run.kind === 'sweep' ? { tab: 'sweeps', sweep: run.sweepId } : { run: run.id, tab: 'live' });
      const kind = cell.querySelector('.r-kind');
      kind.hidden = !kindOf(run);
      clip(kind, kindOf(run));
      const reason = run.state === 'failed' || run.state === 'lost' ? t(run.reason_text ?? run.reason ?? '') : '';
      const why = cell.querySelector('.r-reason');
      why.hidden = !reason;
      clip(why, reason);
      setText(cell.querySelector('.r-id'), run.sweepId ?? run.id);
    },
  },
  {
    key: 'preset',
    sort: (run) => `${run.preset ?? ''} ${run.model ?? ''}`.toLowerCase(),
    make: () => [h('span', { class: 'r-preset' }), h('span', { class: 'caption r-model' })],
    show(cell, run) {
      clip(cell.querySelector('.r-preset'), run.preset ?? DASH);
      clip(cell.querySelector('.r-model'), run.model ?? '');
    },
  },
  {
    key: 'progress',
    sort: (run) => done(run) ?? -1,
    make: () => [h('div', { class: 'bar-track', 'aria-hidden': 'true' }, h('i', null)), h('span', { class: 'caption r-steps' })],
    show(cell, run) {
      const part = done(run);
      cell.querySelector('i').style.width = `${100 * (part ?? 0)}%`;
      const words = reachedWords(run);
      setText(cell.querySelector('.r-steps'), run.attempt > 1 ? `${words} · ${t('runs.attempt', { n: run.attempt })}` : words);
    },
  },
  { key: 'eta', num: true, sort: (run) => run.eta_s ?? Infinity, show: (cell, run) => setText(cell, duration(run.eta_s)) },
  { key: 'reward', num: true, sort: (run) => run.last?.reward ?? -Infinity, down: true, show: (cell, run) => setText(cell, number(run.last?.reward)) },
  {
    key: 'accuracy',
    num: true,
    down: true,
    sort: (run) => reached(run) ?? -Infinity,
    make: () => [h('span', { class: 'r-accuracy' }), h('span', { class: 'caption r-accuracy-from' })],
    show(cell, run) {
      const { before = null, after = null } = run.accuracy ?? {};
      const held = before !== null || after !== null;
      const now = run.last?.accuracy ?? null;
      const word = cell.querySelector('.r-accuracy');
      const end = after === null && !ENDED.has(run.state) ? '…' : percent(after);
      setText(word, held ? `${percent(before)} → ${end}` : percent(now));
      const long = held ? t(run.kind === 'evaluate' ? 'runs.base_trained' : 'runs.from_to', { before: percent(before), after: percent(after) }) : '';
      if (word.title !== long) word.title = long;
      setText(cell.querySelector('.r-accuracy-from'), !held && now !== null ? t('runs.in_training') : '');
    },
  },
  { key: 'age', num: true, down: true, sort: (run) => run.created_at ?? 0, show: (cell, run) => setText(cell, ago(run.created_at)) },
  { key: 'duration', num: true, down: true, sort: (run) => run.elapsed_s ?? -1, show: (cell, run) => setText(cell, duration(run.elapsed_s)) },
];

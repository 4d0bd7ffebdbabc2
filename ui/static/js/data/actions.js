// What can be done with a stored set: into a new run, into the Reward Lab, away.

import * as api from '../api.js';
import { confirm, h, toast } from '../dom.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import { handOver } from '../form/handoff.js';
import * as state from '../state.js';
import { link, words } from './parts.js';
import * as store from './store.js';

/** The New-run form with this set: as the prompts, with the rewards that a generated set asks for, or as the rows of a
 * warm-up before them. */
export function useInRun(set) {
  const name = visible(set.name);
  if (set.kind === 'sft') return handOver({ sft_dataset: set.name, stages: ['sft', 'grpo'] }, null, 'data.handed_sft', { name });
  const rewards = set.task ? set.rewards ?? [] : [];
  if (!rewards.length) return handOver({ dataset: set.name }, null, 'data.handed', { name });
  const weights = rewards.map((reward) => (reward === 'format' ? 0.2 : 1)); // the answer counts most
  return handOver({ dataset: set.name, rewards, reward_weights: weights }, null, 'data.handed_rewards', { name, rewards: rewards.join(', ') });
}

export function useButton(set, small = true) {
  return h('button', { type: 'button', class: `btn ${small ? 'small' : 'primary'} d-use`, t: set.kind === 'sft' ? 'data.use_sft' : 'data.use', onclick: () => useInRun(set) });
}

export const labLink = (set, small = true) => (set.kind === 'sft' ? null
  : link({ tab: 'rewards', set: set.name }, { class: `btn${small ? ' small ghost' : ''} d-lab`, t: small ? 'data.lab_short' : 'data.lab', tt: { title: 'data.lab' } }));

export function deleteButton(set, onGone, small = true) {
  return h('button', { type: 'button', class: `btn${small ? ' small ghost' : ' danger'} d-delete`, t: 'data.delete', onclick: async () => {
    const name = visible(set.name);
    const used = set.used_by?.length ?? 0;
    const yes = await confirm({ title: 'data.delete_title', body: used ? 'data.delete_used' : 'data.delete_what', vars: { name, n: used }, action: 'data.delete_yes' });
    if (!yes) return;
    try {
      await api.del(`/api/data/sets/${encodeURIComponent(set.name)}`);
      toast(() => t('data.deleted', { name }));
      onGone?.();
    } catch (error) {
      toast(() => t('data.refused', { why: words(error) }), 'error');
    }
    await store.refresh();
  } });
}

/** After a set was made: said, listed, and opened. */
export async function opened(set) {
  toast(() => t('data.imported', { name: visible(set.name), n: set.rows.toLocaleString('en-US') }));
  await store.refresh();
  state.set({ set: set.name });
}

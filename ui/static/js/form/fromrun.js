// A run's settings as a draft, with a change made: what "Apply to a new run" of a finding opens.

import { t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import { typed } from './format.js';

// What belongs to that run alone: its name, the state of its data and of its rewards, and what it is a part of.
const OWN = new Set(['name', 'reward_versions', 'dataset_sha256', 'control_of', 'shuffle_rewards', 'evaluation', 'attached', 'alert_webhook']);

/** [{field, to}] of the address; what is no such list is no change. */
export function changesOf(text) {
  try {
    const list = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.filter((one) => one && typeof one.field === 'string' && 'to' in one) : [];
  } catch {
    return [];
  }
}

/** null where the address names no run; else a promise of {preset, values, changed, message}. The address is cleared, so
 * that a reload keeps what the person does next. */
export function fromRun(ctx, schema) {
  const { tab, from, change, finding } = state.get();
  if (tab !== 'new' || !from) return null;
  state.set({ from: null, change: null, finding: null }, { replace: true });
  return taken(ctx, schema, from, changesOf(change), finding);
}

async function taken({ api }, schema, from, changes, finding) {
  const run = await api.get(`/api/runs/${encodeURIComponent(from)}`);
  const preset = schema.preset(run.preset) ? run.preset : schema.firstPreset;
  const values = Object.fromEntries(Object.entries(run.config).filter(([name]) => schema.field(name) && !OWN.has(name)));
  // A link may come from anybody: what belongs to a run alone, such as where its alerts go, is never set by one.
  const known = changes.filter(({ field }) => schema.field(field) && !OWN.has(field));
  const strange = changes.filter(({ field }) => !schema.field(field) || OWN.has(field));
  for (const { field, to } of known) values[field] = to;
  const name = visible(run.name || run.id);
  const message = () => [
    known.length
      ? t('findings.applied', { name, finding: visible(finding ?? ''), changes: known.map(({ field, to }) => `${field} ${visible(typed(run.config[field]))} → ${visible(typed(to))}`).join(', ') })
      : t('findings.copied', { name }),
    ...strange.map(({ field }) => t(OWN.has(field) ? 'findings.own_field' : 'findings.unknown_field', { field: visible(field) })),
  ].join('\n');
  return { preset, values, changed: known.map(({ field }) => field), message };
}

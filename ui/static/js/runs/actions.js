// What may be done with a run, as buttons that say what happens. The server decides; a refusal is shown in its words.

import { confirm, fill, h, toast } from '../dom.js';
import * as demo from '../demo.js';
import { t } from '../i18n.js';
import * as api from '../api.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { nameOf } from './columns.js';

const busy = new Set();

/** The buttons of a run, in order: [kind, text key]. */
export function choices(run) {
  if (run.kind === 'sweep') return [['fold', run.open ? 'sweeps.fold' : 'sweeps.unfold'], ['sweep', 'sweeps.result']];
  const can = run.can ?? {};
  const list = [['open', 'runs.open']];
  if (can.stop && run.queue?.place > 1 && !demo.get()?.demo) list.push(['next', 'sweeps.next']);
  if (can.stop && run.state === 'queued') list.push(['stop', 'runs.unqueue']);
  else if (can.stop && !run.stop_requested) list.push(['stop', ['evaluate', 'probe'].includes(run.kind) ? 'runs.stop_answers' : 'runs.stop']);
  else if (can.stop_now) list.push(['stop_now', 'runs.stop_now']);
  if (can.resume) list.push(['resume', run.kind === 'evaluate' ? 'runs.resume_rows' : 'runs.resume']);
  list.push(['files', 'exports.open']);
  if (can.delete) list.push(['delete', 'runs.delete']);
  return list;
}

/** Redraws the buttons only when they change; the focus stays in the row. */
export function show(cell, run, redraw) {
  const list = choices(run);
  const signature = JSON.stringify([list, busy.has(run.id), nameOf(run)]);
  if (cell.dataset.signature === signature) return;
  cell.dataset.signature = signature;
  const focused = cell.contains(document.activeElement) ? document.activeElement.dataset.action : null;
  const buttons = list.map(([kind, key]) => h('button', {
    type: 'button',
    class: `btn small r-action${['delete', 'open', 'files'].includes(kind) ? ' ghost' : ''}`,
    data: { action: kind },
    disabled: busy.has(run.id) && kind !== 'open' && kind !== 'files',
    t: key,
    'aria-label': `${t(key)}: ${nameOf(run)}`,
    onclick: () => act(kind, run, redraw),
  }));
  fill(cell, buttons);
  if (focused) (buttons.find((button) => button.dataset.action === focused && !button.disabled) ?? buttons[0]).focus();
}

async function act(kind, run, redraw) {
  if (kind === 'fold') return void run.toggle();
  if (kind === 'sweep') return void state.set({ tab: 'sweeps', sweep: run.sweepId });
  if (kind === 'open') return void state.set({ run: run.id, tab: 'live' });
  if (kind === 'files') return void state.set({ run: run.id, tab: 'runs', files: '1' });
  const name = short(nameOf(run));
  if (kind === 'delete' && !(await confirm({ title: 'runs.delete_title', body: 'runs.delete_what', vars: { name }, action: 'runs.delete_yes' }))) return undefined;
  busy.add(run.id);
  redraw();
  try {
    if (kind === 'delete') await api.del(`/api/runs/${run.id}`);
    else if (kind === 'next') await api.post(`/api/runs/${run.id}/next`);
    else if (kind === 'resume') await api.post(`/api/runs/${run.id}/resume`);
    else await api.post(`/api/runs/${run.id}/stop`, { now: kind === 'stop_now' });
    if (kind === 'delete') {
      toast(() => t('runs.deleted', { name }));
      if (state.get().run === run.id) state.set({ run: null }, { replace: true });
    }
  } catch (error) {
    const gone = error.status === 404;
    toast(() => (gone ? t('runs.gone', { name }) : t('runs.refused', { why: error.error ?? error.message })), gone ? 'warn' : 'error');
  } finally {
    busy.delete(run.id);
    await runlist.refresh();
    redraw();
  }
  return undefined;
}

function short(name) {
  const letters = [...name];
  return letters.length > 60 ? `${letters.slice(0, 59).join('')}…` : name;
}

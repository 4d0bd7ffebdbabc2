// The Runs page: every run of this home, newest first; what each is doing; stop, resume, delete, open.

import * as api from '../api.js';
import * as demo from '../demo.js';
import { fill, h, setText, toast } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { FilesView } from '../exports/view.js';
import { attachForm } from './attach.js';
import * as pick from './pick.js';
import { grouped } from './sweeps.js';
import { RunTable, fits } from './table.js';

const OPEN_MS = 2000;
const AWAY_MS = 4000;
const AGES_MS = 30_000;

export function mount(root, ctx) {
  const table = new RunTable();
  const filter = h('input', { id: 'runs-filter', type: 'search', class: 'input r-filter', autocomplete: 'off', spellcheck: 'false', tt: { placeholder: 'runs.filter', 'aria-label': 'runs.filter' } });
  const count = h('span', { class: 'caption r-count num', 'aria-live': 'polite' });
  const newRun = h('a', { class: 'btn r-new', href: state.link({ tab: 'new' }), t: 'runs.new', onclick: (event) => state.follow(event, { tab: 'new' }) });
  const attach = attachForm();
  const compare = pick.button();
  const disk = h('a', { class: 'btn r-disk', id: 'runs-disk', href: state.link({ tab: 'runs', files: 1 }), t: 'exports.title', onclick: (event) => state.follow(event, { tab: 'runs', files: '1' }) });
  const bar = h('div', { class: 'r-bar' }, h('h1', { t: 'runs.title' }), count, h('div', { class: 'spacer' }), filter, compare.link, attach.button, disk, newRun);
  const lost = h('div', { class: 'notice', data: { level: 'warn' }, role: 'status', hidden: true }, h('span', null));
  const nothing = h('p', { class: 'r-none', hidden: true });
  const empty = emptyState();
  const page = h('div', { class: 'r-page' }, bar, attach.panel, lost, empty, table.root, nothing);
  const files = new FilesView();
  fill(root, page, files.root);
  let asOf = null;

  function draw() {
    const runs = runlist.list();
    const error = runlist.error();
    if (runs && !error) asOf = new Date();
    lost.hidden = !error;
    if (error) setText(lost.firstChild, t('runs.offline', { time: asOf ? asOf.toLocaleTimeString() : '–' }));
    page.toggleAttribute('data-ready', runs !== null);
    const all = runs ?? [];
    const query = filter.value.trim();
    const shown = all.filter((run) => fits(run, query));
    empty.hidden = runs === null || all.length > 0;
    table.root.hidden = shown.length === 0;
    filter.hidden = all.length === 0;
    newRun.hidden = !empty.hidden;
    attach.button.hidden = Boolean(demo.get()?.demo); // a public Space reads no folders
    disk.hidden = !empty.hidden || Boolean(demo.get()?.demo); // the disk of a public Space is not its visitors' concern
    nothing.hidden = runs !== null && (shown.length > 0 || all.length === 0);
    if (runs === null) setText(nothing, t('runs.loading'));
    else if (!nothing.hidden) fill(nothing, t('runs.no_match', { query }), ' ', h('button', { class: 'btn small', type: 'button', t: 'runs.clear', onclick: clear }));
    const one = (key, n, vars) => t(n === 1 ? `${key}_1` : key, { n, ...vars });
    setText(count, !all.length ? '' : shown.length < all.length ? t('runs.count_of', { n: shown.length, all: all.length }) : one('runs.count', all.length));
    compare.draw(runs);
    table.set(grouped(shown, query !== '', draw));
  }

  function clear() {
    filter.value = '';
    draw();
    filter.focus();
  }

  filter.addEventListener('input', draw);
  filter.addEventListener('keydown', (event) => { if (event.key === 'Escape') clear(); });
  const show = () => {
    if (ctx.isOpen('runs')) page.hidden = files.follow();
  };
  runlist.onChange(draw);
  pick.onChange(draw);
  onLanguage(draw);
  state.onChange(show);
  const pace = () => runlist.pace(ctx.isOpen('runs') ? OPEN_MS : AWAY_MS);
  ctx.onTab(() => {
    pace();
    if (ctx.isOpen('runs')) draw();
    show();
  });
  setInterval(() => { if (ctx.isOpen('runs') && document.visibilityState !== 'hidden') draw(); }, AGES_MS);
  pace();
  draw();
  show();
}

/** What a first visitor sees: what this is, and the one button that shows it. */
function emptyState() {
  const start = h('button', { id: 'runs-quickstart', class: 'btn primary', type: 'button', t: 'runs.quickstart' });
  start.addEventListener('click', async () => {
    start.disabled = true;
    try {
      const { run } = await api.post('/api/runs', { values: {}, preset: 'quickstart' });
      await runlist.refresh();
      state.set({ run: run.id, tab: 'live' });
    } catch (error) {
      toast(() => t('runs.refused', { why: error.error ?? error.message }), 'error');
    } finally {
      start.disabled = false;
    }
  });
  const own = h('a', { class: 'btn', href: state.link({ tab: 'new' }), t: 'runs.own', onclick: (event) => state.follow(event, { tab: 'new' }) });
  const recorded = h('button', { id: 'runs-recorded', class: 'btn', type: 'button', t: 'demo.open', onclick: (event) => demo.explore(event.currentTarget) });
  return h('div', { class: 'card empty', hidden: true }, h('h2', { t: 'runs.empty' }), h('p', { t: 'runs.empty_lead' }), h('div', { class: 'row' }, start, own, recorded));
}

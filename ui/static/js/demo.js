// The bar under the header: what a public demo offers, its queue and the building of its model; and for a recorded run,
// on any machine, what it shows.
import * as api from './api.js';
import { fill, h, toast } from './dom.js';
import { onLanguage, t } from './i18n.js';
import * as runlist from './runlist.js';
import * as state from './state.js';

const CALM_MS = 10_000;
const BUSY_MS = 2000;
const listeners = new Set();
let facts = null;
let asked = null;
const call = api.ordered();

/** The answer of GET /api/demo; null before the first one. */
export const get = () => facts;

export function onChange(callback) {
  listeners.add(callback);
  return () => listeners.delete(callback);
}

export async function refresh() {
  const newest = call();
  const answer = await api.get('/api/demo');
  if (!newest()) return facts;
  facts = answer;
  for (const listener of listeners) listener(facts);
  return facts;
}

const recordingOf = (run) => facts?.recordings.find((one) => one.run && one.run === run);

/** Whether a run came as a recording: its figures are here, its weights are not. */
export const isRecorded = (run) => Boolean(recordingOf(run));

/** Take the recorded runs in and open the first one. */
export async function explore(button) {
  button.disabled = true;
  try {
    const { recordings } = await api.post('/api/recordings/open', {});
    await Promise.all([runlist.refresh(), refresh()]);
    const first = recordings.find((one) => one.name === 'learned') ?? recordings[0];
    if (first) state.set({ run: first.run, tab: 'live' });
  } catch (error) {
    toast(() => t('demo.open_failed', { why: error.error ?? error.message }), 'error');
  } finally {
    button.disabled = false;
  }
}

async function start(event) {
  const button = event.currentTarget;
  button.disabled = true;
  try {
    const { run } = await api.post('/api/runs', { values: {}, preset: 'quickstart' });
    await Promise.all([runlist.refresh(), refresh()]);
    state.set({ run: run.id, tab: 'live' });
  } catch (error) {
    toast(() => t('demo.refused', { why: error.error ?? error.message }), 'error');
  } finally {
    button.disabled = !facts.ready;
  }
}

function links() {
  return facts.recordings.filter((one) => one.run).map((one) =>
    h('a', { class: 'btn small', href: state.link({ run: one.run, tab: 'live' }), t: one.title, onclick: (event) => state.follow(event, { run: one.run, tab: 'live' }) }));
}

function queueWords() {
  const { waiting, running, mine } = facts.queue;
  if (mine) return t('demo.mine', { position: mine.position });
  if (!running && !waiting) return '';
  return [running ? t('demo.running') : '', waiting ? t('demo.waiting', { n: waiting }) : '', t('demo.would_wait', { place: waiting + 1 })].filter(Boolean).join(' · ');
}

function offer() {
  const { steps, seconds } = facts.limits;
  const button = h('button', { id: 'demo-start', class: 'btn small primary', type: 'button', t: 'demo.start', disabled: !facts.ready, onclick: start });
  const words = h('p', null, h('strong', { t: 'demo.label' }), ' · ', h('span', { t: 'demo.lead', vars: { steps, minutes: Math.round(seconds / 60) } }));
  return h('div', { class: 'demo-line' }, words, h('div', { class: 'demo-runs' }, h('span', { class: 'caption', t: 'demo.recorded' }), links(), button));
}

function news() {
  const { building, failed } = facts;
  if (failed) return h('div', { class: 'demo-line', role: 'status' }, h('span', { class: 'muted', t: failed }));
  if (building) {
    const bar = h('progress', { max: building.total, tt: { 'aria-label': 'demo.build_label' } });
    bar.value = building.step;
    return h('div', { class: 'demo-line', id: 'demo-building' }, bar, h('span', { class: 'num muted', t: 'demo.building', vars: building }));
  }
  const words = queueWords();
  return words ? h('div', { class: 'demo-line', id: 'demo-queue', role: 'status' }, h('span', { class: 'num muted' }, words)) : null;
}

function recorded() {
  const one = recordingOf(state.get().run);
  return one ? h('div', { class: 'demo-line', id: 'demo-about' }, h('p', null, h('strong', null, h('span', { t: 'demo.recorded' }), ': ', h('span', { t: one.title })), ' · ', h('span', { t: one.about }))) : null;
}

/** The bar's element; it is empty where there is nothing to say. */
export function bar() {
  const root = h('section', { class: 'demo-bar', id: 'demo-bar', tt: { 'aria-label': 'demo.bar' }, hidden: true });
  const draw = () => {
    const now = facts && JSON.stringify([facts, state.get().run, t('demo.label')]);
    if (!facts || now === asked) return;
    asked = now;
    const lines = [facts.demo ? offer() : null, facts.demo ? news() : null, recorded()];
    const focused = root.contains(document.activeElement) ? document.activeElement.id : null;
    fill(root, lines);
    if (focused) document.getElementById(focused)?.focus();
    root.hidden = !lines.some(Boolean);
  };
  onChange(draw);
  state.onChange(draw);
  onLanguage(draw);
  const look = async () => {
    try {
      await refresh();
    } catch {
      return BUSY_MS; // the page itself says that the server does not answer
    }
    return facts.demo && (facts.building || facts.queue.mine) ? BUSY_MS : CALM_MS;
  };
  const poller = api.poll(async () => (facts && !facts.demo ? CALM_MS * 360 : look()), CALM_MS);
  runlist.onChange(() => (facts?.demo ? poller.now() : undefined));
  return root;
}

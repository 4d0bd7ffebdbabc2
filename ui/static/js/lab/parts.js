// Parts that several sections of the Lab share: verdicts as icon and word, exact text, bars of scores, a choice of runs.
import { fill, h, keyed, setText } from '../dom.js';
import { count, number, percent } from '../format.js';
import { label, onLanguage, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import * as runlist from '../runlist.js';
import { variable } from '../live/colors.js';
import * as state from '../state.js';

const ICONS = { pass: '✓', warn: '!', fail: '×', skip: '–' };

/** A verdict as icon, word and hue. */
export const verdict = (kind, word = `lab.verdict_${kind}`, vars = {}) =>
  h('span', { class: 'lab-verdict', data: { verdict: kind } }, h('i', { 'aria-hidden': 'true' }, ICONS[kind] ?? '–'), h('span', { t: word, vars }));

/** Exact text of a model or a person: every character shown, clipped with "more". */
export function exact(text, { limit = 4000 } = {}) {
  const whole = String(text);
  if (whole === '') return h('span', { class: 'muted', t: 'lab.empty_text' });
  const body = h('div', { class: 'exact mono' }, plain(whole, h, limit));
  const long = whole.length > 400 || whole.split('\n').length > 6;
  if (!long) return body;
  const more = h('button', { class: 'btn ghost small', type: 'button', t: 'lab.more', 'aria-expanded': 'false' });
  more.addEventListener('click', () => {
    const open = body.classList.toggle('open');
    fill(body, plain(whole, h, open ? Infinity : limit));
    more.setAttribute('aria-expanded', String(open));
    label(more, open ? 'lab.less' : 'lab.more');
  });
  return h('div', { class: 'lab-exact' }, body, more);
}

/** A prompt as rows have it: text, or a list of messages (as JSON where it was stored). */
export function promptText(prompt, format = 'text') {
  let messages = Array.isArray(prompt) ? prompt : null;
  if (format === 'messages' && typeof prompt === 'string') {
    try {
      messages = JSON.parse(prompt);
    } catch { /* not JSON after all: shown as it is */ }
  }
  if (!Array.isArray(messages)) return String(prompt ?? '');
  if (messages.length === 1 && typeof messages[0]?.content === 'string') return messages[0].content;
  return messages.map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`).join('\n');
}

/** Scores as bars: one a value where there are few, else ten bins; how many have none is said. */
export function bars(scores, hue) {
  const found = scores.filter((score) => score !== null && score !== undefined);
  const missing = scores.length - found.length;
  const bins = binned(found);
  const most = Math.max(1, ...bins.map((bin) => bin.n));
  const chart = h('div', { class: 'lab-bars', 'aria-hidden': 'true' }, bins.map((bin) =>
    h('div', { class: 'lab-bar', title: `${bin.title}: ${count(bin.n)}` },
      h('span', { class: 'num lab-bar-n' }, bin.n ? count(bin.n) : ''),
      h('i', { class: bin.n ? 'some' : '', style: { height: `${(100 * bin.n) / most}%`, background: `var(${variable(hue)})` } }),
      h('span', { class: 'num lab-bar-x' }, bin.label))));
  const mean = found.length ? found.reduce((sum, score) => sum + score, 0) / found.length : null;
  const facts = [t('lab.mean_of', { mean: number(mean), n: count(found.length) })];
  if (missing) facts.push(t(missing === 1 ? 'lab.without_score_1' : 'lab.without_score', { n: count(missing) }));
  return h('div', { class: 'lab-hist' }, found.length ? chart : h('p', { class: 'muted lab-hist-none', t: 'lab.no_scores' }),
    h('p', { class: 'caption num' }, found.length ? facts.join(' · ') : facts.slice(1).join('')),
    h('span', { class: 'visually-hidden' }, bins.map((bin) => `${bin.title}: ${bin.n}`).join('; ')));
}

function binned(scores) {
  const values = [...new Set(scores)].sort((a, b) => a - b);
  if (values.length <= 8) return values.map((value) => ({ label: number(value, 2), title: number(value), n: scores.filter((score) => score === value).length }));
  const [low, high] = [values[0], values[values.length - 1]];
  const width = (high - low) / 10;
  return Array.from({ length: 10 }, (_, at) => {
    const [from, to] = [low + at * width, low + (at + 1) * width];
    const n = scores.filter((score) => Math.min(9, Math.floor((score - low) / width)) === at).length;
    return { label: at === 0 ? number(from, 2) : at === 9 ? number(to, 2) : '', title: `${number(from)} … ${number(to)}`, n };
  });
}

/** One bar cut into shares: [{share, key, hue}] with a legend; null shares are left out. */
export function stacked(parts) {
  const shown = parts.filter((part) => part.share !== null && part.share !== undefined);
  return h('div', { class: 'lab-stacked' },
    h('div', { class: 'lab-stack', 'aria-hidden': 'true' }, shown.filter((part) => part.share > 0).map((part) =>
      h('i', { data: { part: part.key }, style: { width: `${100 * part.share}%` } }))),
    h('ul', { class: 'lab-legend caption num' }, shown.map((part) =>
      h('li', null, h('i', { data: { part: part.key }, 'aria-hidden': 'true' }), h('span', { t: `lab.part_${part.key}` }), ' ', percent(part.share)))));
}

/** A menu of runs. It shows the app's chosen run and changes it: there is one for the whole app. `fits(run)`: which;
 * `onPick(id)` after a choice here, `onFollow()` after one elsewhere. */
export function runMenu(id, fits, { onPick, onFollow } = {}) {
  const select = h('select', { id, class: 'input', tt: { 'aria-label': 'lab.choose_run' } });
  const draw = () => {
    const before = select.value;
    const runs = (runlist.list() ?? []).filter(fits);
    keyed(select, [{ id: '' }, ...runs], (run) => run.id, (run) => h('option', { value: run.id }), (option, run) => setText(option, run.id === '' ? t(runs.length ? 'lab.choose_run' : 'lab.no_run') : `${visible(run.name || run.id)} · ${t(`state.${run.state}`)}`));
    select.disabled = runs.length === 0;
    const chosen = state.get().run;
    select.value = runs.some((run) => run.id === chosen) ? chosen : '';
    if (select.value !== before) onFollow?.();
  };
  select.addEventListener('change', () => {
    const { value } = select;
    state.set({ run: value || null });
    (onPick ?? onFollow)?.(value);
  });
  runlist.onChange(draw);
  state.onChange(draw);
  onLanguage(draw);
  draw();
  return select;
}

/** The notice of a failed call, with a way to try again. */
export const failed = (error, again) => h('div', { class: 'notice', data: { level: 'error' }, role: 'alert' },
  h('span', { t: error.error ?? String(error.message ?? error) }),
  again ? h('button', { class: 'btn small', type: 'button', t: 'app.retry', onclick: again }) : null);

/** `work()` after a pause without another call; only the newest answer counts. */
export function later(work, ms) {
  let timer = null;
  let turn = 0;
  return (...given) => {
    clearTimeout(timer);
    const mine = ++turn;
    timer = setTimeout(() => work(() => mine === turn, ...given), ms);
  };
}

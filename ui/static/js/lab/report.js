// What a probe found: the advice in words on top, then the evidence for it.
import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { DASH, count, number, percent } from '../format.js';
import { prose } from '../form/prose.js';
import { plural } from '../form/words.js';
import { onLanguage, t } from '../i18n.js';
import { plain } from '../plain.js';
import { failed, verdict } from './parts.js';

const KIND = { go: 'pass', filter: 'warn', warm_up: 'warn', mend: 'fail' };
let redraw = () => {};
onLanguage(() => redraw());

/** Fills `place` with the report of GET /api/lab/probe/<run>; drawn again in the other language. */
export function probeReport(place, report, more) {
  redraw = () => fill(place, ...parts(report, more));
  redraw();
}

function parts(report, { run, ended, lab }) {
  if (!report.pass_rate) return [h('p', { class: 'muted', t: ended ? 'lab.probe_nothing' : 'lab.probe_waiting' })];
  const advice = report.advice;
  return [
    advice ? h('div', { class: 'lab-verdict-head', data: { verdict: KIND[advice.verdict] ?? 'skip', advice: advice.verdict } },
      verdict(KIND[advice.verdict] ?? 'skip', `lab.advice_${advice.verdict}`), h('p', null, prose(t(advice.words)))) : null,
    ended ? null : h('p', { class: 'caption', t: () => t('lab.probe_so_far', { n: report.prompts }) }),
    report.unscored > 0 ? h('p', { class: 'lab-unscored', t: () => t('lab.unscored', { share: percent(report.unscored) }) }) : null,
    ended ? filter(report, run, lab) : null,
    h('div', { class: 'lab-facts' }, facts(report)),
    h('div', { class: 'lab-report-grid' }, rates(report), dead(report)),
    against(report),
  ];
}

function facts(report) {
  const { accuracy, seconds_per_step: time } = report;
  const interval = accuracy && accuracy.low !== null ? t('lab.interval', { low: percent(accuracy.low), high: percent(accuracy.high) }) : '';
  const list = [
    ['lab.fact_accuracy', percent(accuracy?.value ?? null), interval, 'accuracy'],
    ['lab.fact_reward', number(report.mean_reward), '', 'mean_reward'],
    ['lab.fact_truncated', percent(report.truncated), '', 'truncated'],
    ['lab.fact_tagged', percent(report.tagged), '', 'tagged'],
    ['lab.fact_tokens', number(report.tokens_mean), '', 'tokens_mean'],
    ['lab.fact_seconds', number(seconds(time)), typeof time === 'object' && time && time.total === undefined ? t('lab.fact_sampling_only') : '', 'seconds_per_step'],
  ];
  return list.map(([key, value, more, id]) => h('div', { class: 'card tile', data: { fact: id } },
    h('span', { class: 'caption', t: key }), h('span', { class: 'tile-value num' }, value), h('span', { class: 'caption num' }, more || '\u00a0')));
}

/** Seconds of a step: the whole where the update could be timed, else its sampling; a plain number is taken as it is. */
const seconds = (time) => (time !== null && typeof time === 'object' ? time.total ?? time.sampling ?? null : time ?? null);

function rates({ pass_rate: { edges, counts }, live_band: band, prompts, completions_per_prompt: k, task }) {
  const most = Math.max(1, ...counts);
  const bar = (n, at) => {
    const middle = (edges[at] + edges[at + 1]) / 2;
    const inside = band && middle >= band.low && middle <= band.high;
    const title = `${percent(edges[at])}–${percent(edges[at + 1])}: ${count(n)}`;
    return h('div', { class: 'lab-bar', title }, h('span', { class: 'num lab-bar-n' }, n ? count(n) : ''),
      h('i', { class: n ? 'some' : '', data: { band: inside ? 'yes' : 'no' }, style: { height: `${(100 * n) / most}%` } }),
      h('span', { class: 'num lab-bar-x' }, at % 2 === 0 ? percent(edges[at]) : at === counts.length - 1 ? percent(edges[at + 1]) : ''));
  };
  return h('section', { class: 'card' }, h('h3', { t: 'lab.pass_rate' }),
    h('p', { class: 'caption num' }, t('lab.pass_rate_lead', { n: count(prompts), k: count(k), task: task ?? DASH })),
    h('div', { class: 'lab-bars wide', role: 'img', 'aria-label': counts.map((n, at) => `${percent(edges[at])}–${percent(edges[at + 1])}: ${n}`).join('; ') }, counts.map(bar)),
    band ? h('p', { class: 'caption num lab-band-words' }, h('i', { 'aria-hidden': 'true' }), plural('lab.band', band.count, { low: percent(band.low), high: percent(band.high), all: count(prompts) })) : null);
}

function dead({ dead: list, group_size: size }) {
  const row = ({ G, share, low, high, why }) => h('tr', { data: { size: G }, class: G === size ? 'lab-own-size' : '' },
    h('th', { scope: 'row', class: 'num' }, `G = ${G}`, G === size ? [' ', h('span', { class: 'caption', t: 'lab.this_run' })] : null),
    share === null ? h('td', { colspan: '3', class: 'caption' }, DASH, ' ', h('span', { t: why ?? 'lab.dead_unknown' })) : [
      h('td', { class: 'lab-dead-bar' }, h('span', { class: 'lab-range', 'aria-hidden': 'true' }, h('i', { style: { width: `${100 * share}%` } }),
        low === null ? null : h('b', { style: { left: `${100 * low}%`, width: `${100 * (high - low)}%` } }))),
      h('td', { class: 'num strong' }, percent(share)), h('td', { class: 'num caption' }, low === null ? DASH : t('lab.interval', { low: percent(low), high: percent(high) }))]);
  return h('section', { class: 'card' }, h('h3', { t: 'lab.dead' }), h('p', { class: 'caption', t: 'lab.dead_lead' }),
    h('table', { class: 'table lab-dead-table', id: 'lab-dead' }, h('tbody', null, list.map(row))));
}

function against({ conflicts }) {
  const pairs = (conflicts?.pairs ?? []).filter((pair) => pair.verdict === 'against');
  return pairs.length ? h('ul', { class: 'lab-checks' }, pairs.map((pair) => h('li', { class: 'lab-check', data: { verdict: 'warn' } }, verdict('warn', 'lab.conflict_against'), h('p', { t: pair.words })))) : null;
}

/** One click: the prompts of the band as a set of their own, chosen on the bench. */
function filter(report, run, lab) {
  const band = report.live_band;
  if (!band?.count || band.count === report.prompts) return null;
  const said = h('span', { class: 'caption', 'aria-live': 'polite' });
  const name = `${run.dataset}-band`.replace(/^.*[/\\]/, '').replace(/\.\w+(?=-band$)/, '').replace(/[^\w-]+/g, '-').slice(0, 60);
  const input = h('input', { id: 'lab-filter-name', class: 'input', type: 'text', value: name, spellcheck: 'false', autocomplete: 'off', tt: { 'aria-label': 'lab.filter_name' } });
  const button = h('button', { id: 'lab-filter', class: report.advice?.verdict === 'filter' ? 'btn primary' : 'btn', type: 'button', t: () => plural('lab.filter', band.count) });
  const box = h('div', { class: 'row lab-filter' }, button, h('label', { class: 'caption', htmlFor: 'lab-filter-name', t: 'lab.filter_as' }), input, said);
  const problem = h('div', { class: 'lab-notice' });
  button.addEventListener('click', async () => {
    button.disabled = true;
    fill(problem);
    try {
      const { set } = await api.post(`/api/lab/probe/${encodeURIComponent(run.id)}/filter`, { name: input.value.trim() });
      await lab.learn();
      lab.bench.set({ dataset: set.name, datasetArgs: {} });
      fill(said, t('lab.filtered', { name: '' }), h('code', null, plain(set.name, h)));
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(problem, failed(error));
    }
    button.disabled = false;
  });
  return h('div', null, box, problem);
}

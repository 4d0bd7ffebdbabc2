// What a test found: whether the reward can be used, each row's score, the real call, prints and faults with their lines.
import { fill, h } from '../dom.js';
import * as format from '../format.js';
import { t } from '../i18n.js';
import { plain, visible } from '../plain.js';

const LONGEST = 300;

/** One value a name, as the trainer logs them: the mean of those of a step. */
function averaged(metrics) {
  const all = new Map();
  for (const [name, value] of metrics) all.set(name, [...(all.get(name) ?? []), value]);
  return [...all].map(([name, values]) => [name, values.reduce((sum, value) => sum + value, 0) / values.length]);
}

export function result({ go }) {
  const root = h('section', { id: 'cr-result', class: 'cr-result', 'aria-live': 'polite', hidden: true });

  const lineButton = (line) => (line ? h('button', { type: 'button', class: 'btn small cr-go', t: 'custom.go_line', vars: { n: line }, onclick: () => go(line) }) : null);

  function head(report) {
    const failed = report.rows.filter((row) => row.failed).length;
    const level = report.error ? 'error' : failed ? 'warn' : 'ok';
    const words = report.error ? 'custom.result_bad' : failed ? 'custom.result_some' : 'custom.result_ok';
    const vars = { n: report.rows.length, failed, s: format.number(report.seconds, 2) };
    return h('div', { class: 'cr-verdict', data: { level } }, h('i', { 'aria-hidden': 'true' }, { error: '×', warn: '!', ok: '✓' }[level]),
      h('div', null, h('p', { class: 'strong', t: words, vars }),
        report.error ? h('p', { class: 'cr-error', t: report.error }) : null, lineButton(report.line)));
  }

  const trace = (text) => (text ? h('pre', { class: 'cr-trace mono' }, plain(text, h)) : null);

  function logged(extra) {
    const names = Object.keys(extra);
    return names.map((name) => h('div', { class: 'cr-extra' }, h('span', { class: 'caption' }, plain(name, h, 60)), ' ', h('span', { class: 'mono' }, extra[name] === null ? format.DASH : plain(shown(extra[name]), h, LONGEST))));
  }

  const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

  function row(each) {
    const score = each.failed ? h('span', { class: 'cr-failed', t: 'custom.failed' })
      : each.score === null ? h('span', { class: 'muted', t: 'custom.skipped' }) : h('span', { class: 'num' }, format.number(each.score));
    return [
      h('tr', { data: { row: each.row } }, h('td', { class: 'num' }, String(each.row + 1)), h('td', null, score),
        h('td', { class: 'mono cr-text' }, plain(each.completion, h, LONGEST)), h('td', null, each.failed ? null : logged(each.extra))),
      each.failed ? h('tr', { class: 'cr-fault' }, h('td'), h('td', { colspan: 3 }, h('p', { class: 'cr-error' }, plain(each.error ?? '', h, 500)), lineButton(each.line), trace(each.traceback))) : null,
    ];
  }

  function scores(report) {
    if (!report.rows.length) return null;
    const heads = ['row', 'score', 'completion', 'said'].map((name) => h('th', { scope: 'col', class: name === 'row' ? 'num' : '', t: `custom.${name}` }));
    return h('div', { class: 'table-wrap' }, h('table', { class: 'table cr-scores' }, h('thead', null, h('tr', null, heads)), h('tbody', null, report.rows.map(row))));
  }

  function call(report) {
    if (!report.call.length) return null;
    return h('details', { class: 'cr-more' }, h('summary', { t: 'custom.call' }), h('dl', { class: 'cr-call' }, report.call.map((each) => [
      h('dt', { class: 'mono' }, plain(each.name, h, 60)),
      h('dd', null, each.kind === 'given' ? null : h('span', { class: 'caption' }, each.kind), h('span', { class: 'mono cr-text' }, plain(each.shown, h)))])));
  }

  function prints(report) {
    if (!report.printed) return null;
    return h('details', { class: 'cr-more', open: true }, h('summary', { t: 'custom.prints', vars: { bytes: format.count(report.printed) } }), h('pre', { class: 'cr-trace mono' }, plain(report.prints, h, 4000)));
  }

  return {
    root,
    hide() { root.hidden = true; },
    show(report) {
      const notices = Object.values(report.notices).map((words) => h('div', { class: 'notice', data: { level: 'info' } }, h('span', { t: words })));
      const metrics = averaged(report.metrics).map(([name, value]) => `${visible(name)} ${format.number(value)}`).join(', ');
      fill(root, head(report), notices, trace(report.traceback), scores(report),
        metrics ? h('p', { class: 'caption', t: () => t('custom.metrics', { metrics }) }) : null,
        report.restarts ? h('p', { class: 'caption', t: 'custom.restarts', vars: { n: report.restarts } }) : null, prints(report), call(report));
      root.hidden = false;
    },
    fail(words) {
      fill(root, h('div', { class: 'cr-verdict', data: { level: 'error' } }, h('i', { 'aria-hidden': 'true' }, '×'), h('p', { class: 'cr-error', t: words })));
      root.hidden = false;
    },
  };
}

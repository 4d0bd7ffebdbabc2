// Audit: the rewards tried on rows of the set with answers whose score is known beforehand; a verdict a check.
import { fill, h, setText } from '../dom.js';
import { number } from '../format.js';
import { prose } from '../form/prose.js';
import { plural } from '../form/words.js';
import { onLanguage, t } from '../i18n.js';
import { rewardHue, variable } from '../live/colors.js';
import { plain, visible } from '../plain.js';
import { runJob } from './job.js';
import { exact, failed, verdict } from './parts.js';

const WORST = ['fail', 'warn', 'pass', 'skip'];
const worst = (checks) => WORST.find((kind) => checks.some((check) => check.verdict === kind)) ?? 'skip';

export class Audit {
  constructor({ bench }) {
    Object.assign(this, { bench, answer: null, asked: null, abort: null, at: null });
    this.button = h('button', { id: 'lab-audit-run', class: 'btn primary', type: 'button', t: 'lab.audit_run', onclick: () => this.run() });
    this.stop = h('button', { id: 'lab-audit-stop', class: 'btn', type: 'button', t: 'lab.stop', hidden: true, onclick: () => this.halt() });
    this.track = h('div', { class: 'bar-track lab-track', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100, hidden: true, tt: { 'aria-label': 'lab.audit_progress_label' } }, h('i'));
    this.status = h('p', { class: 'caption num lab-status', 'aria-live': 'polite' });
    this.notice = h('div', { class: 'lab-notice' });
    this.head = h('div', { class: 'lab-verdict-head', id: 'lab-audit-verdict', role: 'status' });
    this.list = h('div', { class: 'lab-audits' });
    this.root = h('section', { id: 'lab-audit', tt: { 'aria-label': 'lab.nav_audit' } },
      h('p', { class: 'muted lab-lead', t: 'lab.audit_lead' }),
      h('div', { class: 'row' }, this.button, this.stop, this.status), this.track, this.notice, this.head, this.list);
    bench.onChange(() => this.#say());
    onLanguage(() => { this.#draw(); this.#say(); });
    this.#say();
  }

  #key() { return JSON.stringify([this.bench.values(), this.bench.rows]); }

  halt() { this.abort?.abort(); }

  /** What was audited may not be what stands on the bench now: said, and left standing. */
  #say() {
    const running = this.abort !== null;
    const old = this.answer !== null && this.asked !== this.#key();
    this.root.toggleAttribute('data-old', old || running);
    this.button.disabled = running || !this.bench.ready;
    this.stop.hidden = !running;
    this.track.hidden = !running;
    if (running) setText(this.status, this.at?.what ? t('lab.audit_at', { what: visible(t(this.at.what)) }) : t('lab.audit_begins'));
    else if (old) setText(this.status, t('lab.audit_old'));
    else setText(this.status, this.answer ? t('lab.audit_took', { time: this.answer.seconds < 0.1 ? '< 0.1' : number(this.answer.seconds, 2), rows: this.answer.rows }) : '');
  }

  async run() {
    const key = this.#key();
    const abort = (this.abort = new AbortController());
    this.at = null;
    fill(this.notice);
    this.#say();
    try {
      const answer = await runJob('/api/lab/audit', { values: this.bench.values(), limit: Math.min(Math.max(8, this.bench.rows), 128) }, { signal: abort.signal, onProgress: (job) => this.#progress(job) });
      if (answer) {
        Object.assign(this, { answer, asked: key });
        this.#draw();
      }
    } catch (error) {
      if (error.name !== 'AbortError') {
        if (error.status === undefined) throw error;
        this.answer = null;
        fill(this.head);
        fill(this.list);
        fill(this.notice, failed(error, () => this.run()));
      }
    } finally {
      this.abort = null;
      this.#say();
    }
  }

  #progress(job) {
    this.at = job;
    const share = job.total ? Math.round((100 * job.done) / job.total) : 0;
    this.track.firstElementChild.style.width = `${share}%`;
    this.track.setAttribute('aria-valuenow', share);
    this.#say();
  }

  #draw() {
    if (!this.answer) return;
    const { checks } = this.answer;
    const names = [...this.bench.names, null].filter((name) => checks.some((check) => (check.reward ?? null) === name));
    const strangers = [...new Set(checks.map((check) => check.reward ?? null))].filter((name) => !names.includes(name));
    fill(this.list, [...names, ...strangers].map((name) => this.#block(name, checks.filter((check) => (check.reward ?? null) === name))));
    this.#head();
  }

  #head() {
    const { checks, verdict: kind } = this.answer;
    const count = (what) => checks.filter((check) => check.verdict === what).length;
    const words = kind === 'fail' ? plural('lab.audit_fail', count('fail')) : kind === 'warn' ? plural('lab.audit_warn', count('warn')) : count('pass') ? plural('lab.audit_pass', count('pass')) : t('lab.audit_skip');
    fill(this.head, verdict(count('pass') || kind !== 'pass' ? kind : 'skip'), h('span', null, words, this.answer.format ? h('span', { class: 'lab-format' }, ' ', t('lab.audit_format', { format: t(this.answer.format) })) : null));
    this.head.dataset.verdict = kind;
  }

  #block(name, checks) {
    const about = this.bench.known.get(name);
    const at = this.bench.names.indexOf(name);
    const sorted = [...checks].sort((a, b) => WORST.indexOf(a.verdict) - WORST.indexOf(b.verdict));
    const loud = sorted.filter((check) => check.verdict === 'fail' || check.verdict === 'warn');
    const quiet = sorted.filter((check) => !loud.includes(check));
    const kind = worst(checks);
    return h('section', { class: 'card lab-audit-reward', data: { reward: name ?? '', verdict: kind } },
      h('header', { class: 'row' },
        name === null ? h('h3', { t: 'lab.audit_together' })
          : [h('i', { class: 'dot', style: { background: `var(${variable(rewardHue(at))})` }, 'aria-hidden': 'true' }),
            h('h3', null, about ? h('span', { t: about.label }) : visible(name), ' ', about && !about.custom ? h('code', { class: 'caption' }, visible(name)) : null)],
        verdict(kind)),
      loud.length ? h('ul', { class: 'lab-checks' }, loud.map((check) => this.#check(check, true))) : null,
      quiet.length ? h('details', { class: 'lab-quiet' },
        h('summary', { class: 'caption', t: () => plural(loud.length ? 'lab.audit_rest' : 'lab.audit_all', quiet.length) }),
        h('ul', { class: 'lab-checks' }, quiet.map((check) => this.#check(check, false)))) : null);
  }

  #check(check, loud) {
    const shown = (check.examples ?? []).map((one) => example(one, t(check.title)));
    const first = loud ? shown.shift() : null; // the others say the same of other rows
    return h('li', { class: 'lab-check', data: { check: check.id, verdict: check.verdict } }, verdict(check.verdict),
      h('div', { class: 'lab-check-words' }, h('p', { class: 'strong', t: check.title }), h('p', null, prose(t(check.words))), first,
        shown.length ? h('details', null, h('summary', { class: 'caption', t: () => plural(first ? 'lab.examples_more' : 'lab.examples', shown.length) }), shown) : null));
  }
}

const EXPECTED = { max: 'lab.expected_max', '< max': 'lab.expected_less' };
const fact = (key, value) => h('span', null, h('span', { class: 'caption', t: key }), ' ', h('span', { class: 'num' }, value));

function expectation(value) {
  if (value in EXPECTED) return t(EXPECTED[value]);
  return plain(typeof value === 'number' ? number(value) : String(value), h);
}

function example({ row, completion, score, expected, why }, title) {
  const told = why ? t(why).toLowerCase() === title.toLowerCase() : true;
  return h('div', { class: 'lab-example' }, exact(typeof completion === 'string' ? completion : JSON.stringify(completion ?? '')),
    h('div', { class: 'row lab-example-facts' },
      row === null || row === undefined ? null : h('span', { class: 'caption num', t: 'lab.row', vars: { n: row + 1 } }),
      fact('lab.scored', number(score ?? null)),
      expected === null || expected === undefined ? null : fact('lab.expected', expectation(expected)),
      told ? null : h('span', { class: 'caption', t: why })));
}

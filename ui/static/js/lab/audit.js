// Audit: the rewards tried on rows of the set with answers whose score is known beforehand; a verdict a check.
import * as api from '../api.js';
import { fill, h, setText } from '../dom.js';
import { number } from '../format.js';
import { prose } from '../form/prose.js';
import { plural, saying } from '../form/words.js';
import { onLanguage, t } from '../i18n.js';
import { rewardHue, variable } from '../live/colors.js';
import { visible } from '../plain.js';
import { exact, failed, verdict } from './parts.js';

const WORST = ['fail', 'warn', 'pass', 'skip'];

export class Audit {
  constructor({ bench }) {
    Object.assign(this, { bench, found: new Map(), turn: 0, running: false, tookS: null });
    this.button = h('button', { id: 'lab-audit-run', class: 'btn primary', type: 'button', t: 'lab.audit_run', onclick: () => this.run() });
    this.stop = h('button', { class: 'btn', type: 'button', t: 'lab.stop', hidden: true, onclick: () => this.halt() });
    this.track = h('div', { class: 'bar-track lab-track', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100, hidden: true, tt: { 'aria-label': 'lab.audit_progress_label' } }, h('i'));
    this.status = h('p', { class: 'caption num lab-status', 'aria-live': 'polite' });
    this.head = h('div', { class: 'lab-verdict-head', id: 'lab-audit-verdict', role: 'status' });
    this.list = h('div', { class: 'lab-audits' });
    this.root = h('section', { id: 'lab-audit', tt: { 'aria-label': 'lab.nav_audit' } },
      h('p', { class: 'muted lab-lead', t: 'lab.audit_lead' }),
      h('div', { class: 'row' }, this.button, this.stop, this.status), this.track, this.head, this.list);
    bench.onChange(() => this.#old());
    saying(() => this.#say());
    onLanguage(() => this.#head());
  }

  /** What was audited is not what stands on the bench now: said, and left standing. */
  #old() {
    if (this.running) this.halt();
    this.root.toggleAttribute('data-old', this.found.size > 0);
    this.#say();
  }

  halt() {
    this.turn += 1;
    this.abort?.abort();
    this.#running(false);
  }

  #running(on) {
    this.running = on;
    this.button.disabled = on || !this.bench.ready;
    this.stop.hidden = !on;
    this.track.hidden = !on;
    this.#say();
  }

  #progress(done, all, name) {
    this.at = { done, all, name };
    const share = Math.round((100 * done) / all);
    this.track.firstElementChild.style.width = `${share}%`;
    this.track.setAttribute('aria-valuenow', share);
    this.#say();
  }

  #say() {
    this.button.disabled = this.running || !this.bench.ready;
    if (this.running && this.at) setText(this.status, t('lab.audit_at', { name: visible(this.at.name), n: this.at.done + 1, all: this.at.all }));
    else if (this.root?.hasAttribute('data-old')) setText(this.status, t('lab.audit_old'));
    else setText(this.status, this.found.size && this.tookS !== null ? t('lab.took', { time: this.tookS < 0.1 ? '< 0.1' : number(this.tookS, 2) }) : '');
  }

  async run() {
    const turn = (this.turn += 1);
    const values = this.bench.values();
    const { names } = this.bench;
    this.abort = new AbortController();
    this.found = new Map();
    this.root.removeAttribute('data-old');
    fill(this.head);
    fill(this.list);
    this.tookS = 0;
    this.#running(true);
    // One reward at a time, so that each verdict shows as soon as it is known and a stop costs one reward.
    for (const [at, name] of names.entries()) {
      this.#progress(at, names.length, name);
      const own = { ...values, rewards: [name], reward_weights: null, reward_args: name in values.reward_args ? { [name]: values.reward_args[name] } : {} };
      let answer;
      try {
        answer = await api.post('/api/lab/audit', { values: own, limit: Math.min(this.bench.rows < 8 ? 8 : this.bench.rows, 128) }, { signal: this.abort.signal });
      } catch (error) {
        if (turn !== this.turn || error.name === 'AbortError') return;
        if (error.status === undefined) throw error;
        this.found.set(name, { error, verdict: 'fail', checks: [] });
        this.list.append(this.#block(name, at, this.found.get(name)));
        continue;
      }
      if (turn !== this.turn) return;
      this.tookS += answer.seconds ?? 0;
      this.found.set(name, answer);
      this.list.append(this.#block(name, at, answer));
    }
    this.#running(false);
    this.#head();
  }

  #head() {
    if (!this.found.size || this.running) return;
    const all = [...this.found.values()];
    const count = (kind) => all.reduce((sum, one) => sum + one.checks.filter((check) => check.verdict === kind).length, 0);
    const broken = all.filter((one) => one.error).length;
    const worst = WORST.find((kind) => all.some((one) => one.verdict === kind)) ?? 'skip';
    const words = worst === 'fail' ? (broken ? t('lab.audit_broken') : plural('lab.audit_fail', count('fail')))
      : worst === 'warn' ? plural('lab.audit_warn', count('warn')) : worst === 'pass' ? t('lab.audit_pass', { n: count('pass') }) : t('lab.audit_skip');
    fill(this.head, verdict(worst), h('span', null, words));
    this.head.dataset.verdict = worst;
  }

  #block(name, at, answer) {
    const about = this.bench.known.get(name);
    const sorted = [...answer.checks].sort((a, b) => WORST.indexOf(a.verdict) - WORST.indexOf(b.verdict));
    const loud = sorted.filter((check) => check.verdict === 'fail' || check.verdict === 'warn');
    const quiet = sorted.filter((check) => !loud.includes(check));
    return h('section', { class: 'card lab-audit-reward', data: { reward: name, verdict: answer.verdict } },
      h('header', { class: 'row' }, h('i', { class: 'dot', style: { background: `var(${variable(rewardHue(at))})` }, 'aria-hidden': 'true' }),
        h('h3', null, about ? h('span', { t: about.label }) : visible(name), ' ', about ? h('code', { class: 'caption' }, visible(name)) : null), verdict(answer.verdict)),
      answer.error ? failed(answer.error) : null,
      loud.length ? h('ul', { class: 'lab-checks' }, loud.map((check) => this.#check(check, true))) : null,
      quiet.length ? h('details', { class: 'lab-quiet' },
        h('summary', { class: 'caption', t: () => plural(loud.length ? 'lab.audit_rest' : 'lab.audit_all', quiet.length) }),
        h('ul', { class: 'lab-checks' }, quiet.map((check) => this.#check(check, false)))) : null);
  }

  #check(check, open) {
    const examples = check.examples ?? [];
    const words = h('p', null);
    saying(() => fill(words, prose(t(check.words))));
    return h('li', { class: 'lab-check', data: { check: check.id, verdict: check.verdict } }, verdict(check.verdict),
      h('div', { class: 'lab-check-words' }, h('p', { class: 'strong', t: check.title }), words,
        examples.length ? h('details', { open: open && check.verdict === 'fail' ? true : undefined },
          h('summary', { class: 'caption', t: () => plural('lab.examples', examples.length) }), examples.map(example)) : null));
  }
}

function example({ row, completion, score, expected, why }) {
  const fact = (key, value) => (value === null || value === undefined ? null : h('span', null, h('span', { class: 'caption', t: key }), ' ', h('span', { class: 'num' }, typeof value === 'number' ? number(value) : visible(String(value)))));
  return h('div', { class: 'lab-example' }, exact(typeof completion === 'string' ? completion : JSON.stringify(completion ?? '')),
    h('div', { class: 'row lab-example-facts' }, row === null || row === undefined ? null : h('span', { class: 'caption num', t: 'lab.row', vars: { n: row + 1 } }),
      h('span', null, h('span', { class: 'caption', t: 'lab.scored' }), ' ', h('span', { class: 'num' }, number(score ?? null))), fact('lab.expected', expected)),
    why ? h('p', { class: 'caption', t: why }) : null);
}

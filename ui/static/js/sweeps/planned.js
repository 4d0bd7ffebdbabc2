// What a sweep would do: how many runs, how long, which points break which rule and what would do, what warns; and Start.
import { fill, h } from '../dom.js';
import { typed } from '../form/format.js';
import { count, duration } from '../format.js';
import { label, t } from '../i18n.js';
import { known, plural } from './parts.js';

const SHOWN = 3; // points named beside a rule

export class Planned {
  /** `onStart(accepted ids)`, `onLeaveOut()`, `onUse(problem, {name, value})`. */
  constructor(events) {
    Object.assign(this, events, { plan: null, busy: false });
    this.figures = h('div', { class: 'sw-figures', id: 'sweeps-plan', 'aria-live': 'polite' });
    this.rules = h('div', { class: 'sw-rules', id: 'sweeps-refused' });
    this.leave = h('input', { type: 'checkbox', id: 'sw-leave-out', onchange: () => this.onLeaveOut() });
    this.leaveWords = h('span');
    this.leaving = h('label', { class: 'sw-tick-one', hidden: true }, this.leave, this.leaveWords);
    this.warnings = h('ul', { class: 'sw-warnings' });
    this.audit = h('div', { id: 'sweeps-audit', 'aria-live': 'polite' });
    this.start = h('button', { id: 'sweeps-start', class: 'btn primary', type: 'button', onclick: () => this.onStart([]) });
    this.why = h('span', { class: 'caption', id: 'sweeps-why' });
    this.start.setAttribute('aria-describedby', 'sweeps-why');
    this.root = h('section', { class: 'card sw-planned', tt: { 'aria-label': 'sweeps.plan' } }, h('h2', { t: 'sweeps.plan' }), this.figures, this.rules, this.leaving, this.warnings, this.audit, h('div', { class: 'row' }, this.start, this.why));
    this.nothing();
  }

  get leavesOut() { return this.leave.checked && !this.leaving.hidden; }

  /** Nothing to vary yet. */
  nothing() {
    this.plan = null;
    this.leave.checked = false;
    this.leaving.hidden = true;
    fill(this.figures, h('p', { class: 'muted', t: 'sweeps.plan_none' }));
    for (const part of [this.rules, this.warnings, this.audit]) fill(part);
    this.#button('sweeps.why_empty');
  }

  /** A change is being looked at: what stands here is of before. */
  pending() {
    this.root.dataset.stale = '';
    this.start.disabled = true;
    if (this.plan) return;
    fill(this.figures, h('p', { class: 'muted', t: 'app.loading' }));
    fill(this.why);
  }

  refused(error) {
    delete this.root.dataset.stale;
    this.plan = null;
    fill(this.figures, h('div', { class: 'notice', data: { level: 'error' } }, h('span', { t: error.error })));
    for (const part of [this.rules, this.warnings, this.audit]) fill(part);
    this.leaving.hidden = true;
    this.#button('sweeps.why_wrong');
  }

  draw(plan) {
    delete this.root.dataset.stale;
    this.plan = plan;
    const { runs, of, settings, seeds, seconds, basis, devices } = plan;
    fill(this.figures,
      h('p', { class: 'sw-runs-count' }, h('strong', { t: () => plural('sweeps.plan_runs', runs, { n: count(runs) }) }), known(seconds) ? h('span', { t: () => ` · ${t('sweeps.plan_time', { time: duration(seconds) })}` }) : null),
      h('p', { class: 'caption', t: () => [t(seeds > 1 ? 'sweeps.plan_grid' : 'sweeps.plan_settings', { settings: count(settings), seeds: count(seeds) }), plural('sweeps.plan_devices', devices)].join(' · ') }),
      basis ? h('p', { class: 'caption', t: basis }) : null);
    const bad = of - runs;
    this.leaving.hidden = bad === 0 || runs === 0;
    if (bad) label(this.leaveWords, 'sweeps.leave_out', { n: count(bad) });
    fill(this.rules, bad ? h('h3', { t: 'sweeps.plan_refused', vars: { n: count(bad), all: count(of) } }) : null, plan.rules.map((rule) => this.#rule(rule)));
    fill(this.warnings, plan.warnings.map((one) => h('li', null, one.kind === 'inert' ? h('span', { t: 'sweeps.inert', vars: { field: one.field, why: one.text } }) : [one.field ? h('code', null, one.field) : null, ' ', h('span', { t: one.text })], ' ', one.points < runs ? h('span', { class: 'caption', t: 'sweeps.plan_warns', vars: { n: count(one.points), all: count(runs) } }) : null)));
    fill(this.audit);
    this.#button(runs === 0 ? 'sweeps.why_none' : bad && !this.leavesOut ? 'sweeps.why_refused' : null);
  }

  #rule(rule) {
    const named = rule.points.slice(0, SHOWN).join('; ');
    const more = rule.points.length - SHOWN;
    const offers = rule.suggest.map((each) => (each && typeof each === 'object' && 'field' in each ? { name: each.field, value: each.value } : { name: rule.field, value: each }));
    return h('div', { class: 'sw-rule', data: { field: rule.field } },
      h('p', null, h('code', null, `${rule.field}=${typed(rule.value)}`), ' ', h('span', { t: rule.rule })),
      offers.length ? h('p', { class: 'sw-offers' }, h('span', { class: 'caption', t: 'sweeps.would_do' }), offers.map((offer) => h('button', { type: 'button', class: 'sw-chip', data: { use: offer.name }, onclick: () => this.onUse(rule, offer) }, offer.name === rule.field ? typed(offer.value) : `${offer.name}=${typed(offer.value)}`))) : null,
      h('p', { class: 'caption', 'data-exact': '' }, named, more > 0 ? [' ', h('span', { t: 'sweeps.more_points', vars: { n: count(more) } })] : null));
  }

  #button(why) {
    const n = this.plan?.runs ?? 0;
    label(this.start, () => (n ? plural('sweeps.start', n, { n: count(n) }) : t('sweeps.start_0')));
    this.start.disabled = this.busy || why !== null;
    if (why) label(this.why, why);
    else fill(this.why);
  }

  starting(on) {
    this.busy = on;
    if (on) {
      this.start.disabled = true;
      label(this.start, 'sweeps.starting');
    } else if (this.plan) this.#button(this.plan.runs === 0 ? 'sweeps.why_none' : this.plan.of > this.plan.runs && !this.leavesOut ? 'sweeps.why_refused' : null);
  }

  /** Refused at Start: the audit's findings, or what has changed since the plan. */
  notStarted(error) {
    const found = error.body?.preflight;
    if (!found) {
      if (error.body?.report) this.draw(error.body.report);
      fill(this.audit, h('div', { class: 'notice', data: { level: 'error' }, role: 'alert' }, h('span', { t: error.error })));
      return;
    }
    const stops = found.stops.length > 0;
    const again = h('button', { id: 'sweeps-anyway', class: 'btn', type: 'button', t: 'sweeps.start_all_the_same', onclick: () => this.onStart(found.warns.map((one) => one.id)) });
    fill(this.audit, h('div', { class: 'notice', data: { level: stops ? 'error' : 'warn' }, role: 'alert' }, h('span', null, h('p', { t: stops ? 'sweeps.audit_stops' : 'sweeps.audit_warns' }), h('ul', null, [...found.stops, ...found.warns].map((one) => h('li', { t: one.words }))), stops ? null : again)));
  }
}

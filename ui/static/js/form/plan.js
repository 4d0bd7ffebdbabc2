// "What this will do": the plan in a sentence, in figures, in memory and time; what warns, what is inert; Start.

import * as demo from '../demo.js';
import { h } from '../dom.js';
import { DASH, duration, number } from '../format.js';
import { t } from '../i18n.js';
import { about, bytes, count } from './format.js';
import { Preflight } from './preflight.js';
import { prose } from './prose.js';
import { suggestions } from './suggestions.js';
import { plural, saying } from './words.js';

const FIGURES = ['prompts_per_step', 'completions_per_step', 'total_steps', 'steps_per_epoch', 'cycle', 'tokens_at_most'];
/** Kind of a note -> [severity, key of its word, icon]. */
const KINDS = {
  stop: ['stop', 'form.stop', '✕'],
  warn: ['warn', 'form.warn', '▲'],
  changed: ['info', 'form.renamed', '↦'],
  inert: ['info', 'form.inert', '○'],
  info: ['info', 'form.info', 'i'],
};

export class PlanPanel {
  constructor(draft, { onStart, onGoto, labelOf }) {
    Object.assign(this, { draft, onStart, onGoto, labelOf });
    this.state = { check: null, pending: true, offline: null, starting: false, preflight: null };
    this.preflight = new Preflight({ onGoto: (field) => { this.unfold(false); onGoto(field); }, onAccept: onStart, labelOf });
    this.build();
    saying(() => this.render());
    let built = null;
    demo.onChange(({ building }) => {
      if (Boolean(building) !== built) this.render();
      built = Boolean(building);
    });
  }

  build() {
    const title = h('h2', { class: 'f-heading', id: 'f-plan-title', t: 'form.plan' });
    this.status = h('span', { class: 'f-plan-status', 'aria-live': 'polite' });
    this.story = h('p', { class: 'f-story' });
    this.figures = FIGURES.map((key) => {
      const value = h('dd', { class: 'f-figure-value', 'data-figure': key });
      const word = h('dt', { class: 'f-figure-word', t: `form.${key}` });
      return { key, value, root: h('div', { class: 'f-figure' }, value, word) };
    });
    this.memory = h('section', { class: 'f-memory' });
    this.time = h('section', { class: 'f-time' });
    this.alerts = h('ul', { class: 'f-notes f-alerts' });
    this.notes = h('ul', { class: 'f-notes' });
    this.limits = h('ul', { class: 'f-limits' });
    this.limitsBox = h('details', { class: 'f-limits-box', hidden: true }, h('summary', { t: 'form.limits' }), this.limits);
    this.body = h('div', { class: 'f-plan-body', id: 'f-plan-body' },
      this.preflight.root, h('div', { class: 'f-plan-head' }, title, this.status), this.alerts, this.story,
      h('dl', { class: 'f-figures' }, ...this.figures.map((figure) => figure.root)), this.memory, this.time, this.notes);

    this.line = h('span', { class: 'f-sheet-line' });
    this.sheet = h('button', { type: 'button', class: 'f-sheet-toggle', 'aria-expanded': 'false', 'aria-controls': 'f-plan-body' },
      h('span', { class: 'f-sheet-arrow', 'aria-hidden': 'true' }), this.line);
    this.sheet.addEventListener('click', () => this.unfold(!this.root.hasAttribute('data-open')));
    this.name = h('input', { type: 'text', class: 'input', id: 'f-name', autocomplete: 'off', spellcheck: 'false', maxlength: '300' });
    this.name.addEventListener('input', () => this.draft.set({ name: this.name.value }));
    this.nameLabel = h('label', { class: 'f-label', for: 'f-name', t: 'form.name' });
    this.nameError = h('p', { class: 'f-error', hidden: true });
    this.why = h('p', { class: 'f-why', id: 'f-why', 'aria-live': 'polite' });
    this.start = h('button', { type: 'button', class: 'btn primary f-start', id: 'f-start', 'aria-describedby': 'f-why' });
    this.start.addEventListener('click', () => { if (!this.start.disabled) this.onStart(); });
    this.root = h('aside', { class: 'f-plan', 'aria-labelledby': 'f-plan-title' }, this.body,
      h('div', { class: 'f-launch' }, this.sheet, h('div', { class: 'f-name-box' }, this.nameLabel, this.name, this.nameError),
        h('div', { class: 'f-start-box' }, this.start, this.why)));
    this.root.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.unfold(false); });
  }

  /** Narrow screens only: the plan lies folded above Start. */
  unfold(open) {
    this.root.toggleAttribute('data-open', open);
    this.sheet.setAttribute('aria-expanded', String(open));
    this.render();
  }

  set(changes) {
    Object.assign(this.state, changes);
    this.render();
  }

  render() {
    const { check, pending, offline } = this.state;
    this.status.textContent = pending ? t('form.checking') : '';
    this.root.toggleAttribute('data-pending', pending);
    const plan = check?.plan ?? null;
    // With a broken rule the numbers are those of the last good plan, or do not quite hold: they step back.
    this.root.toggleAttribute('data-stale', check !== null && (!plan || check.errors.length > 0));
    if (plan || check === null) this.plan = plan;
    this.renderPlan(this.plan);
    const problems = (check?.errors ?? []).map((problem) => ({ kind: 'stop', field: problem.field, text: problem.rule, problem }));
    const lost = offline ? [{ kind: 'warn', field: null, text: t('form.check_failed', { why: offline }) }] : [];
    const notes = [...lost, ...problems, ...(check?.notes ?? [])];
    const order = Object.keys(KINDS);
    notes.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    const pressing = (note) => note.kind === 'stop' || note.kind === 'warn';
    for (const [list, some] of [[this.alerts, notes.filter(pressing)], [this.notes, notes.filter((note) => !pressing(note))]]) {
      list.replaceChildren(...some.map((note) => this.note(note)));
      list.hidden = some.length === 0;
    }
    this.preflight.show(this.state.preflight);
    this.renderLaunch(check, pending, offline);
  }

  /** The checks of a refused start, in sight on every screen; null takes them away. */
  showPreflight(result) {
    this.set({ preflight: result });
    if (!result) return;
    if (this.sheet.checkVisibility()) this.unfold(true);
    this.body.scrollTop = 0;
  }

  renderPlan(plan) {
    const many = plan?.cycle > 1;
    const prompts = many ? plan.prompts_per_generation : plan?.prompts_per_step;
    const completions = many ? plan.completions_per_generation : plan?.completions_per_step;
    const whole = prompts >= 1 && Number.isInteger(prompts) && Number.isInteger(completions / prompts);
    if (!whole) this.story.textContent = t('form.plan_none');
    else {
      this.story.textContent = plural(many ? 'form.plan_story_cycle' : 'form.plan_story', prompts, {
        prompts: count(prompts), completions: count(completions), group: count(completions / prompts),
        steps: count(plan.total_steps ?? NaN), cycle: figure(plan.cycle),
      });
    }
    for (const { key, value } of this.figures) {
      value.textContent = key === 'tokens_at_most' ? about(plan?.[key] ?? NaN) : figure(plan?.[key]);
    }
    this.line.textContent = plan
      ? t('form.sheet_line', { completions: count(plan.completions_per_step), steps: count(plan.total_steps ?? NaN) })
      : t('form.plan');
    const open = this.root?.hasAttribute('data-open');
    this.sheet.setAttribute('aria-label', `${t(open ? 'form.sheet_close' : 'form.sheet_open')}: ${this.line.textContent}`);
    this.memory.replaceChildren(...memory(plan?.memory), this.limitsBox);
    const limits = plan?.memory?.limits ?? [];
    this.limitsBox.hidden = limits.length === 0;
    this.limits.replaceChildren(...limits.map((text) => h('li', null, prose(t(text)))));
    this.time.replaceChildren(
      h('h3', { class: 'f-part-title' }, t('form.time')),
      h('p', { class: 'f-time-value' }, Number.isFinite(plan?.seconds) ? t('form.time_about', { time: duration(rough(plan.seconds)) }) : '–'),
      h('p', { class: 'f-basis' }, t(plan?.seconds_basis) || t('form.time_unknown')));
  }

  note({ kind, field, text, problem }) {
    const [severity, word, icon] = KINDS[kind] ?? KINDS.info;
    const label = field && this.labelOf(field);
    const known = label && this.draft.schema.field(field);
    const link = known && h('button', { type: 'button', class: 'f-note-field', 'aria-label': t('form.goto', { field: label }) }, label);
    if (link) link.addEventListener('click', () => { this.unfold(false); this.onGoto(field); });
    // A pasted name that is no setting has no row in the form: what can be done about it is done here.
    const homeless = problem && !this.draft.schema.field(field);
    const foot = homeless && h('div', { class: 'f-note-foot' }, suggestions(problem, this.draft),
      h('button', { type: 'button', class: 'btn small f-leave-out', onclick: () => this.draft.reset(field) }, t('form.leave_out', { field })));
    return h('li', { class: 'f-note', 'data-severity': severity, 'data-kind': kind },
      h('span', { class: 'f-note-icon', 'aria-hidden': 'true' }, icon),
      h('div', null, h('span', { class: 'f-note-word' }, t(word)), link, label && !known ? h('code', null, label) : null, h('span', { class: 'f-note-text' }, prose(t(text))), foot));
  }

  renderLaunch(check, pending, offline) {
    const { state } = this;
    const wrong = check?.errors?.length ?? 0;
    const building = Boolean(demo.get()?.building); // of a public Space: nothing can start before it
    let why = t('form.ready');
    if (state.starting) why = t('preflight.busy');
    else if (offline) why = t('form.why_offline');
    else if (wrong) why = plural('form.why_errors', wrong);
    else if (building) why = t('form.why_building');
    else if (pending || !check) why = t('form.why_checking');
    else if (this.preflight.stops.length) why = t('preflight.why_stopped');
    else if (this.preflight.warns.length) why = t('preflight.why_warned');
    // Start stays enabled: what is red may have been mended elsewhere (the rows, a reward), and it checks again.
    const red = wrong > 0 || (!state.starting && this.preflight.stops.length > 0);
    this.start.disabled = state.starting || Boolean(offline) || building || wrong > 0 || pending || !check?.ok;
    this.start.textContent = t(state.starting ? 'form.starting' : 'form.start');
    this.why.textContent = state.failed ? t('form.start_failed', { why: t(state.failed) }) : why;
    this.why.toggleAttribute('data-bad', Boolean(state.failed) || red || Boolean(offline));
    this.name.placeholder = t('form.name_hint');
    const name = this.draft.value('name') ?? '';
    if (document.activeElement !== this.name || this.name.value !== name) this.name.value = name;
    const problem = check?.errors?.find((each) => each.field === 'name');
    this.nameError.hidden = !problem;
    this.nameError.textContent = problem ? t(problem.rule) : '';
  }
}

function figure(value) {
  return Number.isInteger(value) ? count(value) : number(value);
}

/** An estimate does not know its seconds: to 5 s under ten minutes, 30 s under an hour, 5 min above. */
function rough(seconds) {
  const grain = seconds < 60 ? 1 : seconds < 600 ? 5 : seconds < 3600 ? 30 : 300;
  return Math.round(seconds / grain) * grain;
}

/** A stacked bar of the parts against what is free, each part with its number. */
function memory(all) {
  const title = h('h3', { class: 'f-part-title' }, t('form.memory'));
  if (!all?.parts?.length) return [title, h('p', { class: 'f-basis' }, t('form.memory_unknown'))];
  const known = Number.isFinite(all.free) && all.free > 0;
  const scale = known ? Math.max(all.total, all.free) : all.total;
  const over = known && all.total > all.free;
  const sum = known
    ? t('form.memory_of', { total: bytes(all.total), free: bytes(all.free) })
    : t('form.memory_alone', { total: bytes(all.total) });
  const parts = all.parts.filter((part) => part.bytes > 0);
  const hue = (part) => String(all.parts.indexOf(part) % 8);
  const bar = h('div', { class: 'f-memory-bar', 'aria-hidden': 'true' },
    ...parts.map((part) => {
      const piece = h('span', { class: 'f-memory-part', 'data-hue': hue(part), title: `${t(part.text)}: ${bytes(part.bytes)}` });
      piece.style.width = `${(100 * part.bytes) / scale}%`;
      return piece;
    }));
  if (over) {
    const line = h('span', { class: 'f-memory-limit' });
    line.style.left = `${(100 * all.free) / scale}%`;
    bar.append(line);
  }
  const legend = h('ul', { class: 'f-memory-legend' }, ...parts.map((part) => h('li', null,
    h('span', { class: 'f-memory-dot', 'data-hue': hue(part), 'aria-hidden': 'true' }),
    h('span', { class: 'f-memory-name' }, t(part.text)), h('span', { class: 'f-memory-bytes' }, bytes(part.bytes)))));
  return [h('div', { class: 'f-memory-head' }, title, h('span', { class: 'f-memory-sum' }, sum)), bar,
    over ? h('p', { class: 'f-memory-over' }, `✕ ${t('form.memory_over', { over: bytes(all.total - all.free) })}`) : null,
    legend].filter(Boolean);
}

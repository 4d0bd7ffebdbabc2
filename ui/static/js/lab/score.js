// Score: completions of a small set beside what every reward says of each; edited here and scored again.
import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { count } from '../format.js';
import { plural } from '../form/words.js';
import { label, onLanguage, t } from '../i18n.js';
import { rewardHue } from '../live/colors.js';
import { plain } from '../plain.js';
import { conflictList } from './conflicts.js';
import { bars, exact, failed, later, promptText, runMenu } from './parts.js';
import { pasteBox } from './paste.js';
import { ScoreRow } from './scorerow.js';
import { scoreTable } from './scoring.js';

const SOURCES = ['made', 'own', 'run'];
const KEY = 'grpo-studio.lab.texts';
const PAUSE = 350;
const KEPT = 100_000; // characters
const MOST_TEXTS = 400; // completions of a run on the bench at once

export class Score {
  constructor({ bench }) {
    Object.assign(this, { bench, source: 'made', groups: [], pending: new Set() });
    this.flush = later((isNew) => this.#score(isNew), PAUSE);
    this.reload = later(() => this.load(), PAUSE);
    this.buttons = SOURCES.map((source) => h('button', { type: 'button', t: `lab.source_${source}`, data: { source }, onclick: () => this.use(source) }));
    this.run = runMenu('lab-score-run', (run) => run.last_step > 0, { onFollow: () => { if (this.source === 'run') this.reload(); } });
    this.paste = pasteBox((found) => this.#pasted(found));
    this.status = h('span', { class: 'caption', 'aria-live': 'polite' });
    this.lead = h('p', { class: 'caption' });
    this.notice = h('div', { class: 'lab-notice', 'aria-live': 'polite' });
    this.hists = h('div', { class: 'lab-hists', id: 'lab-histograms' });
    this.against = h('div', { class: 'lab-against' });
    this.table = h('div', { class: 'lab-table', id: 'lab-table' });
    this.root = h('section', { id: 'lab-score', tt: { 'aria-label': 'lab.nav_score' } },
      h('div', { class: 'row lab-bar-top' },
        h('span', { class: 'caption', t: 'lab.completions' }), h('div', { class: 'segmented', role: 'group', tt: { 'aria-label': 'lab.completions' } }, this.buttons),
        this.run, this.paste.button, this.status),
      this.lead, this.paste.root, this.notice, this.hists, this.against, this.table);
    bench.onChange((changed) => {
      if (changed.some((name) => name !== 'rewards') && this.source !== 'run') this.reload();
      else if (changed.includes('rewards')) this.#all();
    });
    onLanguage(() => this.#histograms());
    this.use('made');
  }

  use(source) {
    this.source = source;
    for (const button of this.buttons) button.setAttribute('aria-pressed', String(button.dataset.source === source));
    this.run.hidden = source !== 'run';
    this.paste.show(source === 'own');
    label(this.lead, `lab.source_${source}_lead`);
    this.load();
  }

  async load() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const { source } = this;
    fill(this.notice);
    this.table.toggleAttribute('data-stale', true);
    if (!this.groups.length && (source !== 'run' || this.run.value)) fill(this.table, h('p', { class: 'muted lab-empty', t: 'lab.rows_loading' }));
    try {
      const groups = source === 'run' ? await this.#ofRun() : await this.#ofSet();
      if (turn !== this.turn) return;
      this.#draw(groups);
    } catch (error) {
      if (error.status === undefined) throw error;
      if (turn !== this.turn) return;
      this.#draw([]);
      fill(this.notice, failed(error, () => this.load()));
    }
  }

  async #ofSet() {
    const { dataset, datasetArgs, rows } = this.bench;
    const values = JSON.stringify({ ...this.bench.values(), dataset, dataset_args: datasetArgs });
    const answer = await api.get(api.address('/api/lab/rows', { values, n: rows }));
    const own = this.source === 'own' ? texts() : null;
    const missing = answer.made.filter((text) => text === null).length;
    if (!own) label(this.lead, missing ? () => plural('lab.source_made_some', missing, { all: answer.rows.length }) : 'lab.source_made_lead');
    return answer.rows.map((row, at) => ({
      prompt: promptText(row.prompt), truth: row.ground_truth, row, texts: own ? own[at] ?? [''] : [answer.made[at] ?? ''],
    }));
  }

  async #ofRun() {
    if (!this.run.value) return [];
    const { groups } = await api.get(`/api/runs/${encodeURIComponent(this.run.value)}/samples?limit=${Math.min(this.bench.rows, 64)}`);
    let room = MOST_TEXTS;
    return groups.filter((group) => (room -= group.completions.length) >= 0).map((group) => ({
      prompt: promptText(group.prompt, group.prompt_format), truth: group.ground_truth, step: group.step,
      row: { prompt: group.prompt_format === 'messages' ? JSON.parse(group.prompt) : group.prompt, ground_truth: group.ground_truth },
      texts: group.completions.map((one) => one.text),
    }));
  }

  #pasted(found) {
    const groups = found.map((one, at) => {
      const known = this.groups[at] ?? { row: {}, prompt: '', truth: null };
      const row = one.row ? { ...known.row, ...one.row } : known.row;
      return { ...known, row, prompt: promptText(row.prompt), truth: row.ground_truth ?? null, texts: [one.completion] };
    });
    this.#draw([...groups, ...this.groups.slice(groups.length).map((group) => ({ ...group, texts: group.rows.map((row) => row.text) }))]);
    keep(this.groups);
  }

  #draw(groups) {
    this.table.removeAttribute('data-stale');
    this.groups = groups.map((group) => ({ ...group, rows: [] }));
    const head = h('div', { class: 'lab-row lab-head caption', 'aria-hidden': 'true' }, ['completion', 'verdicts', 'total'].map((name) => h('span', { t: `lab.head_${name}` })), h('span'));
    fill(this.table, groups.length ? head : h('p', { class: 'muted lab-empty', t: this.source === 'run' ? 'lab.pick_run' : 'lab.no_rows' }), this.groups.map((group, at) => this.#group(group, at)));
    this.#all();
  }

  #group(group, at) {
    const list = h('div', { class: 'lab-group-rows' });
    const put = (text) => {
      const row = new ScoreRow(text, {
        label: () => t('lab.completion_of', { n: at + 1 }),
        onEdit: (edited) => this.#edited(edited),
        onRemove: (removed) => {
          group.rows = group.rows.filter((one) => one !== removed);
          removed.root.remove();
          this.#ends(group);
          this.#summary();
        },
      });
      group.rows.push(row);
      list.append(row.root);
      this.#ends(group);
      return row;
    };
    for (const text of group.texts) put(text);
    const more = h('button', { type: 'button', class: 'btn ghost small', t: 'lab.add_completion', onclick: () => {
      const row = put('');
      row.input.focus();
      row.stale();
      this.#edited(row);
    } });
    return h('article', { class: 'card lab-group', data: { at } },
      h('header', { class: 'lab-group-head' },
        h('span', { class: 'caption num' }, group.step === undefined ? `${at + 1}` : h('span', { t: 'groups.step', vars: { step: group.step } })),
        h('div', { class: 'lab-prompt' }, exact(group.prompt)),
        h('div', { class: 'lab-truth' }, h('span', { class: 'caption', t: 'lab.truth' }), ' ', group.truth === null || group.truth === undefined ? h('span', { class: 'muted', t: 'lab.no_truth' }) : h('span', { class: 'mono' }, plain(typeof group.truth === 'string' ? group.truth : JSON.stringify(group.truth), h, 400))),
        more),
      list);
  }

  #ends(group) {
    for (const row of group.rows) row.remove.hidden = group.rows.length < 2;
  }

  #edited(row) {
    this.pending.add(row);
    this.flush();
    if (this.source === 'own') keep(this.groups);
  }

  #all() {
    for (const group of this.groups) for (const row of group.rows) { row.stale(); this.pending.add(row); }
    this.flush();
  }

  async #score(isNew) {
    const { bench } = this;
    const placed = this.groups.flatMap((group) => group.rows.map((row) => ({ group, row }))).filter(({ row }) => this.pending.has(row));
    if (!placed.length) return this.#summary();
    if (!bench.ready) return this.#nothing();
    const asked = placed.map(({ row }) => row.version);
    const slow = setTimeout(() => this.#working(true), 700);
    const rows = placed.map(({ group, row }) => ({ ...group.row, completion: shaped(group.row.prompt, row.text) }));
    try {
      const answer = await scoreTable(bench, rows);
      if (isNew()) bench.tell(answer.problems);
      if (answer.error) throw answer.error;
      fill(this.notice);
      placed.forEach(({ row }, at) => {
        if (row.version !== asked[at] && !isNew()) return; // edited meanwhile: the next answer is on its way
        row.show(answer.rewards, answer.rows[at], row.version === asked[at]);
        if (row.version === asked[at]) this.pending.delete(row);
      });
      this.#summary();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (!isNew()) return;
      for (const { row } of placed) row.clear();
      fill(this.notice, failed(error, () => this.#all()));
      this.#summary();
    } finally {
      clearTimeout(slow);
      if (isNew()) this.#working(false);
    }
  }

  #working(on) { label(this.status, () => (on ? t('lab.scoring') : '')); }

  #nothing() {
    for (const group of this.groups) for (const row of group.rows) row.clear();
    this.#summary();
  }

  #summary() {
    this.#histograms();
    const size = Math.max(0, ...this.groups.map((group) => group.rows.length));
    const names = this.bench.names;
    const rows = this.groups.map((group) => group.rows.filter((row) => row.cells).map((row) => names.map((name) => row.cells[name]?.score ?? null)));
    if (size < 2 || names.length < 2) return fill(this.against);
    return conflictList(this.against, names, rows, this.bench.weights, { quiet: true });
  }

  #histograms() {
    const rows = this.groups.flatMap((group) => group.rows).filter((row) => row.cells);
    const names = this.bench.names.filter((name) => rows.some((row) => name in row.cells));
    const card = (title, hue, scores) => h('div', { class: 'card lab-hist-card' }, h('h3', null, title), bars(scores, hue));
    fill(this.hists, rows.length ? [
      names.map((name) => card(this.#label(name), rewardHue(this.bench.names.indexOf(name)), rows.map((row) => row.cells[name]?.score ?? null))),
      names.length > 1 ? card(h('span', { t: 'lab.total' }), 'ink', rows.map((row) => row.total)) : null,
    ] : null);
    this.hists.setAttribute('aria-label', plural('lab.n_completions', count(rows.length)));
  }

  #label(name) {
    const about = this.bench.known.get(name);
    return about && !about.custom ? [h('span', { t: about.label }), ' ', h('code', { class: 'caption' }, plain(name, h))] : plain(name, h);
  }
}

/** As training hands it to a reward: an answer in a conversation is a list of messages. */
const shaped = (prompt, text) => (Array.isArray(prompt) ? [{ role: 'assistant', content: text }] : text);

function texts() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(kept) ? kept.map((each) => (Array.isArray(each) && each.length && each.every((one) => typeof one === 'string') ? each : [''])) : [];
  } catch {
    return [];
  }
}

function keep(groups) {
  const written = JSON.stringify(groups.map((group) => group.rows.map((row) => row.text)));
  try {
    if (written.length < KEPT) localStorage.setItem(KEY, written);
  } catch { /* private mode */ }
}

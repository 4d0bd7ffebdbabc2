// Prompts over the whole run: a list with what became of each, and the biography of one.
import { count, DASH, percent } from '../format.js';
import { plain, visible } from '../plain.js';
import { follow } from '../state.js';
import { Biography } from './biography.js';

const SORTS = ['forgotten', 'first', 'times', 'solve_first', 'solve_last'];
const SHOWN = 240; // characters of a prompt in the list

/** A prompt's text as one line: of messages the last one's. */
export function promptLine({ prompt, prompt_format: format }) {
  if (format !== 'messages') return prompt;
  try {
    const messages = JSON.parse(prompt);
    const { content } = messages[messages.length - 1];
    return typeof content === 'string' ? content : JSON.stringify(content);
  } catch {
    return prompt; // not JSON after all: shown as it is
  }
}

export class Prompts {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx, run: null, rows: [], cursor: null, key: '', asked: 0 });
    const { h } = ctx;
    this.sort = h('select', { class: 'input', id: 'sa-prompts-sort', onchange: () => this.#choose({ sort: this.sort.value }) }, SORTS.map((value) => h('option', { value, t: `smore.sort_${value}` })));
    this.down = h('button', { class: 'btn', id: 'sa-prompts-down', type: 'button', 'aria-pressed': 'false', t: 'smore.turn', onclick: () => this.#choose({ order: this.params.order === 'down' ? null : 'down' }) });
    this.said = h('p', { class: 'muted', id: 'sa-prompts-said', 'aria-live': 'polite' });
    this.body = h('tbody');
    this.more = h('button', { class: 'btn', id: 'sa-prompts-more', type: 'button', t: 'smore.more', hidden: true, onclick: () => this.#load(true) });
    this.list = h('div', { class: 'sa-page' }, h('section', { class: 'card sa-card' },
      h('header', { class: 'sa-head' }, h('h2', { class: 'h3', t: 'smore.prompts' }), h('span', { class: 'spacer' }), h('label', { class: 'sa-pick' }, h('span', { class: 'caption', t: 'smore.sort' }), this.sort), this.down),
      this.said,
      h('div', { class: 'table-wrap', tabIndex: 0, role: 'region', tt: { 'aria-label': 'smore.prompts' } }, h('table', { class: 'table sa-table sa-prompts', id: 'sa-prompts-table' },
        h('thead', {}, h('tr', {}, h('th', { t: 'groups.prompt', scope: 'col' }), h('th', { class: 'num', t: 'smore.times', scope: 'col' }), h('th', { class: 'num', t: 'smore.steps', scope: 'col' }), h('th', { class: 'num', t: 'smore.solved', scope: 'col' }))),
        this.body)),
      this.more));
    this.one = new Biography(ctx);
    root.append(this.list, this.one.root);
  }

  use(run, params) {
    Object.assign(this, { run, params });
    const single = Boolean(params.prompt);
    this.list.hidden = single;
    this.one.root.hidden = !single;
    if (single) return void this.one.use(run, params.prompt);
    this.sort.value = SORTS.includes(params.sort) ? params.sort : 'forgotten';
    this.down.setAttribute('aria-pressed', String(params.order === 'down'));
    const key = JSON.stringify([run.id, this.sort.value, params.order]); // not by step: a list that is read does not jump
    if (key !== this.key) {
      this.key = key;
      this.#load(false);
    }
    return undefined;
  }

  #choose(patch) {
    this.ctx.state.set(patch, { replace: true });
  }

  async #load(on) {
    const { ctx, run } = this;
    const { api, i18n } = ctx;
    const asked = ++this.asked;
    this.more.disabled = true;
    if (!on) this.body.parentElement.dataset.stale = ''; // in another order in a moment
    try {
      const found = await api.get(api.address(`/api/runs/${encodeURIComponent(run.id)}/samples/prompts`, {
        sort: this.sort.value, order: this.params.order === 'down' ? 'down' : undefined, cursor: on ? this.cursor : undefined, limit: 50,
      }));
      if (asked !== this.asked) return;
      this.rows = on ? [...this.rows, ...found.prompts] : found.prompts;
      this.cursor = found.cursor;
      const judged = this.rows.some((row) => row.solve_last !== null);
      i18n.label(this.said, found.of === 0 ? 'smore.none' : judged ? 'smore.prompts_of' : 'smore.prompts_unjudged', { n: count(this.rows.length), of: count(found.of) });
      ctx.dom.keyed(this.body, this.rows, (row) => row.prompt_id, (row) => this.#row(row), (node, row) => this.#update(node, row));
      this.more.hidden = !found.cursor;
    } catch (error) {
      if (!error.error) throw error;
      if (asked === this.asked) i18n.label(this.said, error.error);
    } finally {
      if (asked === this.asked) {
        this.more.disabled = false;
        delete this.body.parentElement.dataset.stale;
      }
    }
  }

  #row(row) {
    const { h, state } = this.ctx;
    const open = (event) => follow(event, { prompt: row.prompt_id });
    const text = promptLine(row);
    return h('tr', {},
      h('td', { class: 'sa-prompt' }, h('a', { class: 'mono', title: visible(text.slice(0, 1000)), onclick: open }, plain(text.replaceAll(/\s+/g, ' ').trim() || '""', h, SHOWN)),
        row.forgotten ? h('span', { class: 'sa-flag', t: 'smore.forgotten' }) : null),
      h('td', { class: 'num' }), h('td', { class: 'num' }), h('td', { class: 'num sa-rates' }));
  }

  #update(node, row) {
    const { dom, h, state } = this.ctx;
    node.querySelector('a').href = state.link({ run: this.run.id, tab: 'samples', view: 'prompts', prompt: row.prompt_id });
    const [, times, steps, rates] = node.children;
    dom.setText(times, count(row.times));
    dom.setText(steps, row.first_step === row.last_step ? count(row.first_step) : `${count(row.first_step)} – ${count(row.last_step)}`);
    const said = row.solve_first === null ? DASH : row.times === 1 ? percent(row.solve_last) : `${percent(row.solve_first)} → ${percent(row.solve_last)}`;
    if (rates.dataset.said === said) return;
    rates.dataset.said = said;
    const fall = row.solve_first !== null && row.solve_last < row.solve_first ? 'down' : row.solve_last > row.solve_first ? 'up' : '';
    dom.fill(rates, h('span', { data: { fall } }, said));
  }
}

// One prompt over the whole run: solve rate at each asking, what became of it, the first and the latest answers.
import { count, number, percent } from '../format.js';
import { plain } from '../plain.js';
import { csv } from '../evaluate/parts.js';
import { Chart, stepTicks } from './chart.js';
import { follow } from '../state.js';
import { figure, mark } from './parts.js';

const KINDS = ['live', 'all_right', 'all_wrong', 'tied'];
const LOOK = { live: ['green', 'circle'], all_right: ['blue', 'square'], all_wrong: ['vermillion', 'x'], tied: ['grey', 'diamond'] };

export class Biography {
  constructor(ctx) {
    Object.assign(this, { ctx, key: '' });
    const { h } = ctx;
    this.back = h('a', { class: 'sa-back', id: 'sa-biography-back', t: 'smore.back', onclick: (event) => follow(event, { prompt: null }) });
    this.all = h('a', { id: 'sa-biography-all', t: 'smore.all_samples', onclick: (event) => follow(event, { view: null, prompt: this.prompt }) });
    this.problem = h('p', { class: 'muted', hidden: true });
    this.prompt_text = h('div', { class: 'exact open mono sa-whole' });
    this.truth = h('p', { class: 'mono' });
    this.state = h('span', { class: 'sa-state' });
    this.said = h('span', { id: 'sa-biography-said' });
    this.chart = new Chart(ctx, { id: 'sa-biography-chart', label: 'smore.biography_chart', onPoint: ({ customdata }) => ctx.state.set({ view: null, prompt: null, group: customdata[0], place: null }) });
    this.sides = h('div', { class: 'sa-sides' });
    this.askings = h('tbody');
    this.body = h('div', { class: 'sa-page', hidden: true },
      h('section', { class: 'card sa-card' }, h('p', { class: 'sa-said' }, this.state, ' ', this.said), this.prompt_text, this.truth),
      h('section', { class: 'card sa-card' }, h('header', { class: 'sa-head' }, h('h2', { class: 'h3', t: 'smore.biography_chart' }), csv(() => `prompt-${this.prompt}`, () => this.#rows())), this.chart.root, h('p', { class: 'caption', t: 'smore.biography_click' })),
      this.sides,
      h('details', { class: 'card sa-card' }, h('summary', { t: 'smore.askings' }), h('div', { class: 'table-wrap', tabIndex: 0, role: 'region', tt: { 'aria-label': 'smore.askings' } }, h('table', { class: 'table', id: 'sa-biography-table' },
        h('thead', {}, h('tr', {}, h('th', { t: 'app.step', scope: 'col' }), h('th', { class: 'num', t: 'smore.solved', scope: 'col' }), h('th', { class: 'num', t: 'smore.total_range', scope: 'col' }), h('th', { t: 'smore.kind', scope: 'col' }))), this.askings))));
    this.root = h('div', { class: 'sa-page', id: 'sa-biography', hidden: true }, h('nav', { class: 'row' }, this.back, h('span', { class: 'spacer' }), this.all), this.problem, this.body);
  }

  async use(run, prompt) {
    const { ctx } = this;
    this.prompt = prompt;
    this.back.href = ctx.state.link({ run: run.id, tab: 'samples', view: 'prompts' });
    this.all.href = ctx.state.link({ run: run.id, tab: 'samples', prompt });
    const key = JSON.stringify([run.id, prompt, run.last_step]);
    if (key === this.key) return;
    if (this.shown !== `${run.id}/${prompt}`) this.body.hidden = true;
    this.key = key;
    try {
      const found = await ctx.api.get(ctx.api.address(`/api/runs/${encodeURIComponent(run.id)}/samples/prompt`, { prompt }));
      if (this.key !== key) return;
      this.shown = `${run.id}/${prompt}`;
      this.problem.hidden = true;
      this.body.hidden = false;
      this.#draw(run, found);
    } catch (error) {
      if (!error.error) throw error;
      if (this.key !== key) return;
      this.key = '';
      ctx.i18n.label(this.problem, error.error);
      this.problem.hidden = false;
    }
  }

  #draw(run, found) {
    const { ctx } = this;
    const { h, dom, i18n } = ctx;
    const { story, first, latest, groups } = found;
    this.groups = groups;
    i18n.label(this.said, story.text);
    i18n.label(this.state, `smore.state_${story.state}`);
    this.state.dataset.state = story.state;
    dom.fill(this.prompt_text, this.#prompt(latest ?? first));
    const truth = (latest ?? first)?.ground_truth ?? null;
    dom.fill(this.truth, truth === null ? null : [h('span', { class: 'caption', t: 'groups.truth' }), ' ', plain(truth, h, 2000)]);
    this.chart.show(JSON.stringify([run.id, found.prompt_id, groups]), (look) => this.#figure(found, look));
    const once = !latest || latest.id === first?.id;
    dom.fill(this.sides, once ? this.#side(run, first, 'smore.only') : [this.#side(run, first, 'smore.first'), this.#side(run, latest, 'smore.latest')]);
    this.sides.classList.toggle('one', once);
    dom.keyed(this.askings, groups, (group) => group.id, (group) => h('tr', {},
      h('td', {}, h('a', { href: ctx.state.link({ run: run.id, tab: 'samples', group: group.id }), onclick: (event) => follow(event, { view: null, prompt: null, group: group.id, place: null }) }, count(group.step))),
      h('td', { class: 'num' }, group.solved === null ? '–' : `${group.solved}/${group.known}`),
      h('td', { class: 'num' }, group.low === group.high ? number(group.low) : `${number(group.low)} … ${number(group.high)}`),
      h('td', { t: `smore.kind_${group.kind}` })));
  }

  #rows() {
    return [['step', 'group', 'kind', 'solved', 'judged', 'low', 'high'], ...this.groups.map((one) => [one.step, one.id, one.kind, one.solved, one.known, one.low, one.high])];
  }

  #prompt(group) {
    const { h } = this.ctx;
    if (!group) return [];
    if (group.prompt_format === 'messages') {
      try {
        return JSON.parse(group.prompt).map(({ role, content }) => h('div', { class: 'message' }, h('span', { class: 'caption' }, plain(String(role), h)), ' ', plain(typeof content === 'string' ? content : JSON.stringify(content), h)));
      } catch {
        // not JSON after all: shown as it is
      }
    }
    return plain(group.prompt, h);
  }

  /** One asking: the best answer of its group, and a link to all of them. */
  #side(run, group, title) {
    const { h, state } = this.ctx;
    if (!group) return null;
    const { best } = group;
    // Where all totals are the same, this answer is one of the group, and no better than the others.
    const live = this.groups.find((one) => one.id === group.id)?.kind === 'live';
    return h('section', { class: 'card sa-card', data: { side: title.split('.')[1] } },
      h('header', { class: 'sa-head' }, h('h2', { class: 'h3', t: title, vars: { step: count(group.step) } }), h('span', { class: 'spacer' }),
        h('a', { href: state.link({ run: run.id, tab: 'samples', group: group.id }), t: 'smore.open_group', vars: { n: count(group.size) }, onclick: (event) => follow(event, { view: null, prompt: null, group: group.id, place: null }) })),
      best === null ? null : [
        h('p', { class: 'caption num' }, mark(best.correct), ' ', h('span', { t: live ? 'smore.best_answer' : 'smore.an_answer', vars: { total: figure(best.total), tokens: count(best.tokens) } }), group.judged ? [' · ', h('span', { t: 'smore.right_of', vars: { n: group.right, of: group.judged } })] : null),
        h('div', { class: 'exact open mono sa-answer', tabIndex: 0, role: 'group', tt: { 'aria-label': 'groups.text' } }, best.text === '' ? h('span', { class: 'muted', t: group.dropped ? 'smore.dropped' : 'groups.empty_text' }) : plain(best.text, h))]);
  }

  #figure({ groups, story }, { colors, t, narrow }) {
    const judged = groups.some((group) => group.solved !== null);
    const value = (group) => (judged ? (group.solved === null ? null : group.solved / group.known) : group.high);
    const hint = (group) => `${t('chart.x_step')} ${group.step}<br>${group.solved === null ? number(group.high) : `${group.solved}/${group.known} (${percent(group.solved / group.known)})`}`;
    const line = { type: 'scatter', mode: 'lines', x: groups.map((group) => group.step), y: groups.map(value), line: { color: colors.strong, width: 1.5 }, hoverinfo: 'skip', showlegend: false };
    const marks = KINDS.map((kind) => {
      const rows = groups.filter((group) => group.kind === kind);
      return { type: 'scatter', mode: 'markers', name: t(`smore.kind_${kind}`), x: rows.map((group) => group.step), y: rows.map(value), customdata: rows.map((group) => [group.id]), text: rows.map(hint), hovertemplate: '%{text}<extra></extra>', marker: { size: 9, color: colors.color(LOOK[kind][0]), symbol: LOOK[kind][1] }, cliponaxis: false };
    }).filter((trace) => trace.x.length);
    const shapes = story.state === 'forgotten' ? [{ type: 'line', x0: story.lost_step, x1: story.lost_step, y0: 0, y1: 1, yref: 'paper', line: { color: colors.stop, width: 1, dash: 'dot' } }] : [];
    return { traces: [line, ...marks], layout: {
      shapes, margin: { l: 52, r: 16, t: narrow ? 60 : 36, b: 40 },
      xaxis: { title: t('chart.x_step'), showgrid: false, zeroline: false, ...stepTicks(groups.map((group) => group.step), narrow) },
      yaxis: judged ? { title: t('smore.solved'), tickformat: '.0%', range: [-0.04, 1.04], zeroline: false } : { title: t('smore.highest'), zeroline: false },
    } };
  }
}

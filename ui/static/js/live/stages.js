// The stages of a run as one bar: what is done, what runs, what is to come, and how long it takes.
const ENDED = ['succeeded', 'failed', 'stopped', 'lost'];
const WEIGHT = { build: 2, sft: 2, evaluate_before: 1, grpo: 6, evaluate_fresh: 1, evaluate_after: 1 };

export class Stages {
  constructor(root, ctx) {
    Object.assign(this, { ctx, run: null, at: 0 });
    const { h } = ctx;
    this.bar = h('ol', { class: 'stages', tt: { 'aria-label': 'live.steps_label' } });
    this.time = h('p', { id: 'live-progress', class: 'num progress-line' });
    root.append(h('div', { class: 'stage-box' }, this.bar, this.time));
    ctx.i18n.onLanguage(() => this.clock());
  }

  draw(run) {
    const { h, dom, i18n, format } = this.ctx;
    this.run = run;
    this.at = performance.now();
    const now = run.stages.indexOf(run.stage);
    const items = run.stages.map((stage, i) => {
      const finished = run.state === 'succeeded' || i < now;
      const active = i === now && !finished;
      const share = finished ? 1 : active && run.stage_total ? Math.min(1, run.stage_step / run.stage_total) : 0;
      return { stage, share, active, finished, busy: active && !run.stage_total && !ENDED.includes(run.state), count: active && run.stage_total ? `${format.count(run.stage_step)}/${format.count(run.stage_total)}` : '' };
    });
    dom.keyed(this.bar, items, (item) => item.stage, (item) => {
      const node = h('li', { style: { '--weight': WEIGHT[item.stage] ?? 2 } },
        h('span', { class: 'stage-name' }, h('span', { t: `stage.${item.stage}` }), ' ', h('span', { class: 'num count' })),
        h('div', { class: 'bar-track', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100 }, h('i')));
      i18n.labelAttribute(node.lastElementChild, 'aria-label', `stage.${item.stage}`);
      return node;
    }, (node, item) => {
      node.dataset.state = item.finished ? 'done' : item.active ? (ENDED.includes(run.state) ? run.state : 'active') : 'next';
      node.toggleAttribute('data-busy', item.busy);
      const track = node.lastElementChild;
      track.firstElementChild.style.width = `${(100 * item.share).toFixed(1)}%`;
      track.setAttribute('aria-valuenow', Math.round(100 * item.share));
      dom.setText(node.querySelector('.count'), item.count);
    });
    this.ended = ENDED.includes(run.state);
    this.format = format;
    this.clock();
  }

  /** The line of times; called each second, so that it moves between steps too. */
  clock() {
    const { run } = this;
    if (!run) return;
    const { t, format, dom } = this.ctx;
    const since = this.ended ? 0 : (performance.now() - this.at) / 1000;
    const parts = [];
    if (run.kind === 'evaluate' && run.state === 'succeeded' && run.stage_total) parts.push(t('live.rows', { n: format.count(run.stage_total) }));
    if (run.total_steps && (run.last_step || run.stage === 'grpo')) parts.push(t('live.progress', { step: format.count(run.last_step), total: format.count(run.total_steps) }));
    else if (run.last_step) parts.push(t('live.progress_open', { step: format.count(run.last_step) }));
    if (run.elapsed_s !== null) parts.push(t(this.ended ? 'live.took' : 'live.gone_time', { time: format.duration(run.elapsed_s + since) }));
    if (!this.ended && run.eta_s !== null) parts.push(t('live.left', { time: format.duration(Math.max(0, run.eta_s - since)) }));
    dom.setText(this.time, parts.join(' · '));
  }
}

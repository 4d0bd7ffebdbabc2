// The five measures on the held-out rows, before and after, with the interval of each rate.
const RATES = ['accuracy', 'format_rate', 'eos_rate'];
const MEASURES = ['accuracy', 'format_rate', 'mean_reward', 'mean_length', 'eos_rate'];
const Z = 1.96;

/** Wilson's 95% interval of a share of n rows. */
export function wilson(share, n) {
  const middle = (share + (Z * Z) / (2 * n)) / (1 + (Z * Z) / n);
  const half = (Z / (1 + (Z * Z) / n)) * Math.sqrt((share * (1 - share)) / n + (Z * Z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

export class Evaluation {
  constructor(root, ctx) {
    this.ctx = ctx;
    this.card = ctx.h('section', { id: 'live-evaluation', class: 'card evaluation', hidden: true });
    root.append(this.card);
  }

  draw(evaluations) {
    const sides = evaluations.some((one) => one.when === 'base'); // an evaluation that is a run of its own
    const before = evaluations.find((one) => one.when === (sides ? 'base' : 'before'));
    const after = evaluations.findLast((one) => one.when === (sides ? 'trained' : 'after'));
    const key = JSON.stringify([before, after]);
    if (key === this.key) return;
    this.key = key;
    this.card.hidden = !before && !after;
    if (this.card.hidden) return;
    const { h, dom } = this.ctx;
    const n = (after ?? before).n;
    const line = (t) => h('tr', {}, h('th', { t, scope: 'row' }));
    const rows = [[sides ? 'evaluate.base' : 'eval.before', before], [sides ? 'evaluate.trained' : 'eval.after', after]].filter(([, one]) => one).map(([t, one]) => {
      const row = line(t);
      row.append(...MEASURES.map((name) => this.#cell(name, one)));
      return row;
    });
    if (before && after) {
      const row = line('eval.change');
      row.append(...MEASURES.map((name) => this.#change(name, before, after)));
      rows.push(row);
    }
    dom.fill(this.card,
      h('header', { class: 'row' }, h('h2', { class: 'h3', t: sides ? 'evaluate.table' : after ? 'eval.title' : 'eval.title_before' }), h('span', { class: 'caption', t: 'eval.rows', vars: { n } })),
      h('table', { class: 'measures', role: 'table', style: { '--rows': MEASURES.length + 1 } },
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, h('span', { class: 'visually-hidden', t: 'eval.when' })), MEASURES.map((name) => h('th', { t: `eval.${name}`, scope: 'col' })))), h('tbody', {}, rows)));
  }

  #cell(name, evaluation) {
    const { h, format } = this.ctx;
    const value = evaluation[name];
    if (value === null || value === undefined) return h('td', { class: 'num' }, format.DASH);
    if (!RATES.includes(name)) return h('td', { class: 'num' }, format.number(value));
    const [low, high] = wilson(value, evaluation.n);
    const interval = `${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)}`;
    return h('td', { class: 'num' }, format.percent(value, 1), ' ', h('span', { class: 'caption' }, interval));
  }

  #change(name, before, after) {
    const { h, t, format } = this.ctx;
    const known = [before, after].every((one) => one[name] !== null && one[name] !== undefined);
    const moved = known ? after[name] - before[name] : null;
    const points = RATES.includes(name) && moved !== null;
    const text = () => (points ? t('evaluate.points', { n: `${moved > 0 ? '+' : ''}${(100 * moved).toFixed(1).replace('-', '−')}` }) : moved === null ? format.DASH : format.signed(moved));
    return h('td', { class: 'num strong', t: text });
  }
}

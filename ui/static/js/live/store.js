// A run's curves in the browser: the thinned history first, then what each tick brings. Series are {x, y, bad, version}.
const LIMIT = 8000; // points a series before the whole history is fetched anew, thinned: memory stays flat

export class Store {
  constructor(history, points) {
    this.points = points;
    this.phases = new Map();
    this.version = 0;
    this.config = history.config ?? {};
    this.notDrawn = history.not_drawn ?? [];
    this.evaluations = history.evaluations ?? [];
    this.attempts = JSON.stringify(history.attempts ?? []);
    this.rewardNames = history.run?.reward_names ?? [];
    this.overfull = false;
    for (const [phase, all] of Object.entries(history.series ?? {})) {
      for (const [name, { x, y, bad }] of Object.entries(all)) {
        this.#names(phase).set(name, { x: [...x], y: [...y], bad: [...bad], version: ++this.version, thin: x.length >= points * 0.9 });
      }
    }
    for (const evaluation of this.evaluations) {
      if (evaluation.mean_reward !== null) this.add('eval', 'evaluation/mean_reward', evaluation.step, evaluation.mean_reward);
    }
  }

  #names(phase) {
    if (!this.phases.has(phase)) this.phases.set(phase, new Map());
    return this.phases.get(phase);
  }

  get(phase, name) {
    return this.phases.get(phase)?.get(name);
  }

  names(phase) {
    return [...(this.phases.get(phase)?.keys() ?? [])];
  }

  has(phase) {
    return (this.phases.get(phase)?.size ?? 0) > 0;
  }

  /** One point. A step that is there already gets the later value; an older one (spilled, taken in late) its place. */
  add(phase, name, step, value, kind) {
    const names = this.#names(phase);
    let series = names.get(name);
    if (!series) names.set(name, (series = { x: [], y: [], bad: [], version: 0, thin: false }));
    const { x, y } = series;
    let i = x.length;
    while (i > 0 && x[i - 1] > step) i--;
    if (i > 0 && x[i - 1] === step) {
      y[i - 1] = value;
      series.bad = series.bad.filter(([at]) => at !== step);
    } else {
      x.splice(i, 0, step);
      y.splice(i, 0, value);
    }
    if (kind) series.bad.push([step, kind]);
    series.version = ++this.version;
    if (x.length > LIMIT) this.overfull = true;
  }

  take(points) {
    for (const [phase, name, step, value, kind] of points) this.add(phase, name, step, value, kind);
  }

  /** The newest finite value and its step, or null. */
  last(phase, name) {
    const series = this.get(phase, name);
    if (!series) return null;
    for (let i = series.y.length - 1; i >= 0; i--) if (series.y[i] !== null) return { value: series.y[i], step: series.x[i] };
    return null;
  }

  /** Finite values in step order. */
  values(phase, name) {
    return (this.get(phase, name)?.y ?? []).filter((value) => value !== null);
  }
}

/** A function from a step to the chosen x: 'step', 'tokens' (so far), 'time' (minutes of training); null without data. */
export function xScale(store, mode) {
  if (mode === 'tokens') return interpolate(pairs(store.get('train', 'num_tokens')));
  if (mode === 'time') {
    let total = 0;
    let before = null;
    const clock = pairs(store.get('train', 'step_time')).map(([step, seconds]) => {
      total += seconds * (before === null ? 1 : step - before);
      before = step;
      return [step, total / 60];
    });
    return interpolate(clock);
  }
  return (step) => step;
}

const pairs = (series) => (series ? series.x.map((step, i) => [step, series.y[i]]).filter(([, value]) => value !== null) : []);

function interpolate(table) {
  if (table.length < 2) return null;
  const at = (i, step) => {
    const [[x0, y0], [x1, y1]] = [table[i], table[i + 1]];
    return y0 + ((step - x0) * (y1 - y0)) / (x1 - x0);
  };
  return (step) => {
    let low = 0;
    let high = table.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (table[middle][0] <= step) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, at(low, step));
  };
}

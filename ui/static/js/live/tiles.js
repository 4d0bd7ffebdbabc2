// Eight numbers with their recent course. Unknown is a dash; what a number is made of stands under it.
const RECENT = 60;
const TRAIN = 'train';

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Change of a curve: mean of its last steps against its first ones, over the windows that the headline takes. */
function change(values) {
  if (values.length < 20) return null;
  const window = Math.max(10, Math.min(50, Math.floor(values.length / 5)));
  return mean(values.slice(-window)) - mean(values.slice(0, window));
}

const TILES = [
  {
    id: 'reward', title: 'tile.reward', name: 'reward', tone: 'ink',
    text: (value, f) => f.number(value),
    under: (store, f) => {
      const gain = change(store.values(TRAIN, 'reward'));
      return gain === null ? null : ['tile.since_start', { change: f.signed(gain) }];
    },
  },
  {
    id: 'accuracy', title: 'tile.accuracy', name: 'rewards/accuracy/mean', tone: 'accuracy', optional: true,
    text: (value, f) => f.percent(value),
    under: (store, f) => {
      const gain = change(store.values(TRAIN, 'rewards/accuracy/mean'));
      return gain === null ? null : ['tile.points_since_start', { change: f.signed(100 * gain) }];
    },
  },
  {
    // Recomputed from the groups: what TRL logs is taken over the batch unless scale_rewards is "group".
    id: 'zero-std', title: 'tile.zero_std', name: 'signal/zero_std', tone: 'vermillion', range: [0, 1],
    text: (value, f) => f.percent(value),
    under: (store, f) => {
      const logged = store.last(TRAIN, 'frac_reward_zero_std');
      return logged && ['tile.trl_logs', { value: f.percent(logged.value) }];
    },
  },
  {
    id: 'truncated', title: 'tile.truncated', name: 'completions/clipped_ratio', tone: 'vermillion', range: [0, 1],
    text: (value, f) => f.percent(value),
    under: (store) => (store.config.max_completion_length ? ['tile.of_limit', { n: store.config.max_completion_length }] : null),
  },
  {
    id: 'length', title: 'tile.length', name: 'completions/mean_length', tone: 'blue', unit: 'tile.tokens',
    text: (value, f) => f.number(value),
    under: (store, f) => {
      const [low, high] = ['completions/min_length', 'completions/max_length'].map((name) => store.last(TRAIN, name));
      return low && high && ['tile.min_max', { min: f.number(low.value), max: f.number(high.value) }];
    },
  },
  { id: 'entropy', title: 'tile.entropy', name: 'entropy', tone: 'ink', text: (value, f) => f.number(value), under: () => ['tile.nats'] },
  {
    id: 'memory', title: 'tile.memory', name: 'memory/process_gb', tone: 'ink', suffix: 'GB', phases: ['train', 'sft'],
    text: (value, f) => f.number(value),
    under: (store, f) => {
      const device = store.last(TRAIN, 'memory/device_allocated_gb');
      return device ? ['tile.device_memory', { value: f.number(device.value) }] : ['tile.process'];
    },
  },
  {
    id: 'speed', title: 'tile.speed', name: 'completions_per_s', tone: 'green',
    text: (value, f) => f.number(value),
    under: (store, f) => {
      const time = store.last(TRAIN, 'step_time');
      return time && ['tile.step_time', { time: f.number(time.value, 2) }];
    },
  },
];

export class Tiles {
  constructor(root, ctx) {
    this.ctx = ctx;
    const { h } = ctx;
    this.nodes = TILES.map((tile) => {
      const value = h('span', { class: 'tile-value num' }, ctx.format.DASH);
      const spark = ctx.dom.svg('svg', { class: 'spark', viewBox: '0 0 100 28', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
      const under = h('span', { class: 'caption num' });
      const unit = tile.unit ? h('span', { class: 'caption', t: tile.unit }) : tile.suffix ? h('span', { class: 'caption' }, tile.suffix) : null;
      const node = h('div', { class: 'card tile', id: `tile-${tile.id}`, hidden: Boolean(tile.optional) },
        h('span', { class: 'caption', t: tile.title }), h('div', { class: 'tile-line' }, h('span', {}, value, unit ? ' ' : null, unit), spark), under);
      return { tile, node, value, spark, under, version: -1 };
    });
    this.box = h('div', { class: 'tiles' }, this.nodes.map((one) => one.node));
    root.append(this.box);
  }

  draw(store) {
    const { format, dom, i18n } = this.ctx;
    for (const one of this.nodes) {
      const { tile } = one;
      const phase = (tile.phases ?? [TRAIN]).find((name) => store.get(name, tile.name)) ?? TRAIN;
      const curve = store.get(phase, tile.name);
      if (tile.optional) one.node.hidden = !curve;
      const last = store.last(phase, tile.name);
      const version = curve?.version ?? 0;
      if (one.store === store && one.version === version) continue;
      Object.assign(one, { store, version });
      dom.setText(one.value, last ? tile.text(last.value, format) : format.DASH);
      const under = last ? tile.under(store, format) : null;
      if (under) i18n.label(one.under, ...under);
      else dom.fill(one.under);
      this.#spark(one, curve);
    }
  }

  #spark({ spark, tile }, curve) {
    const { dom } = this.ctx;
    const y = curve ? curve.y.slice(-RECENT) : [];
    const finite = y.filter((value) => value !== null);
    if (finite.length < 2) return dom.fill(spark);
    let [low, high] = tile.range ?? [Math.min(...finite), Math.max(...finite)];
    if (high - low < 1e-9) [low, high] = [low - 1, high + 1];
    const point = (value, i) => `${((100 * i) / (y.length - 1)).toFixed(1)},${(26 - 24 * Math.min(1, Math.max(0, (value - low) / (high - low)))).toFixed(1)}`;
    const path = y.map((value, i) => (value === null ? '' : `${i === 0 || y[i - 1] === null ? 'M' : 'L'}${point(value, i)}`)).join('');
    return dom.fill(spark, dom.svg('path', { d: path, fill: 'none', 'vector-effect': 'non-scaling-stroke', class: `tone-${tile.tone}` }));
  }
}

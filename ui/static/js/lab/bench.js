// What stands on the bench: rewards with weights and arguments, the data set, how many rows. One set-up for every
// section; kept here (localStorage) and in the address, so that a link opens the same bench.
import { same } from '../form/values.js';
import * as state from '../state.js';

const KEY = 'grpo-studio.lab.draft';
export const MOST_ROWS = 200;

function stored() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return kept && Array.isArray(kept.rewards) && typeof kept.dataset === 'string' ? kept : null;
  } catch {
    return null; // no storage, or not ours: start from New run
  }
}

const plainObject = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});
const rowCount = (value) => (Number.isInteger(value) && value >= 1 && value <= MOST_ROWS ? value : 8);

function readJson(text) {
  try {
    return plainObject(JSON.parse(text));
  } catch {
    return {};
  }
}

/** 'accuracy,format:0.2' and {"format": {...}} as [{name, weight, args}]. */
function readRewards(text, args) {
  return text.split(',').filter(Boolean).map((part) => {
    const [name, weight] = part.split(':');
    return { name, weight: weight === undefined || !Number.isFinite(Number(weight)) ? 1 : Number(weight), args: plainObject(args[name]) };
  });
}

const writeRewards = (rewards) => rewards.map(({ name, weight }) => (weight === 1 ? name : `${name}:${weight}`)).join(',');

export class Bench {
  /** `known`: GET /api/lab/setup; `first`: configuration values to begin with. */
  constructor(known, first) {
    this.listeners = [];
    this.tellers = [];
    this.problems = {};
    this.learn(known);
    const kept = stored();
    if (kept) this.#put({ rewards: kept.rewards, dataset: kept.dataset, datasetArgs: kept.datasetArgs, rows: kept.rows });
    else this.#put(fromConfig(first));
    const linked = this.#linked();
    if (linked) this.#put(linked);
  }

  /** The rewards and sets there are; again after one was saved. */
  learn({ rewards, sets }) {
    this.known = new Map(rewards.map((reward) => [reward.name, reward]));
    this.sets = sets;
  }

  onChange(listener) { this.listeners.push(listener); }

  onTold(listener) { this.tellers.push(listener); }

  /** What speaks against a reward, {en, ko} by name: said where it is set up. */
  tell(problems) {
    if (same(problems, this.problems)) return;
    this.problems = problems;
    for (const listener of this.tellers) listener();
  }

  get names() { return this.rewards.map((reward) => reward.name); }

  get weights() { return this.rewards.map((reward) => Number(reward.weight)); }

  /** Arguments by reward, without those that have none. */
  get args() { return Object.fromEntries(this.rewards.filter((each) => Object.keys(each.args).length).map(({ name, args }) => [name, args])); }

  /** The same as settings of a run. */
  values() {
    const plain = this.weights.every((weight) => weight === 1);
    return {
      rewards: this.names, reward_weights: plain ? null : this.weights, reward_args: this.args,
      dataset: this.dataset, dataset_args: this.datasetArgs,
    };
  }

  /** Whether it can be asked about at all: a reward, a name of a set, weights that are numbers. */
  get ready() { return this.rewards.length > 0 && this.dataset !== '' && this.weights.every(Number.isFinite); }

  set(patch) {
    const before = JSON.stringify(this.#kept());
    this.#put(patch);
    if (JSON.stringify(this.#kept()) !== before) this.#announce(Object.keys(patch));
  }

  take(values) { this.set(fromConfig(values)); }

  /** The address changed: take what it names; where it names nothing, say in it what stands here. */
  follow() {
    const linked = this.#linked();
    if (linked && Object.entries(linked).some(([name, value]) => !same(this[name], value))) {
      this.#put(linked);
      this.#announce(Object.keys(linked));
    } else this.write();
  }

  write() {
    if (document.body.dataset.tab !== 'rewards') return;
    const args = this.args;
    const more = { ...(Object.keys(args).length ? { rewards: args } : {}), ...(Object.keys(this.datasetArgs).length ? { set: this.datasetArgs } : {}) };
    state.set({
      set: this.dataset, rewards: writeRewards(this.rewards), rows: String(this.rows),
      args: Object.keys(more).length ? JSON.stringify(more) : null,
    }, { replace: true });
  }

  #linked() {
    const query = new URLSearchParams(location.search);
    if (query.get('tab') !== 'rewards' || !['set', 'rewards', 'rows'].some((key) => query.has(key))) return null;
    const args = readJson(query.get('args') ?? '{}');
    const found = {};
    if (query.get('rewards')) found.rewards = readRewards(query.get('rewards'), plainObject(args.rewards));
    if (query.get('set')) {
      found.dataset = query.get('set');
      // A whole bench (rewards are named) says its set's arguments too, if only by leaving them out.
      if (args.set || query.has('rewards') || found.dataset !== this.dataset) found.datasetArgs = plainObject(args.set);
    }
    if (query.get('rows')) found.rows = rowCount(Number(query.get('rows')));
    return found;
  }

  #put({ rewards = this.rewards, dataset = this.dataset, datasetArgs = this.datasetArgs, rows = this.rows }) {
    const seen = new Set();
    this.rewards = rewards
      .filter((each) => each && typeof each.name === 'string' && !seen.has(each.name) && seen.add(each.name))
      .map(({ name, weight, args }) => ({ name, weight: weight ?? 1, args: plainObject(args) }));
    this.dataset = String(dataset ?? '');
    this.datasetArgs = plainObject(datasetArgs);
    this.rows = rowCount(rows);
  }

  #kept() { return { rewards: this.rewards, dataset: this.dataset, datasetArgs: this.datasetArgs, rows: this.rows }; }

  #announce(changed) {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#kept()));
    } catch { /* private mode: the bench lives as long as the page */ }
    this.write();
    for (const listener of this.listeners) listener(changed);
  }
}

/** {rewards, dataset, datasetArgs} of a run's or a preset's values. */
export function fromConfig(values) {
  const { rewards = ['accuracy', 'format'], reward_weights: weights, reward_args: args, dataset = 'arithmetic', dataset_args: datasetArgs } = values;
  return {
    rewards: rewards.map((name, at) => ({ name, weight: Array.isArray(weights) ? weights[at] ?? 1 : 1, args: plainObject(plainObject(args)[name]) })),
    dataset, datasetArgs: plainObject(datasetArgs),
  };
}

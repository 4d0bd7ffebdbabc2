// The Reward Lab: one set-up on top, and under it the sections, one at a time.
import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { Draft } from '../form/draft.js';
import { Schema } from '../form/schema.js';
import { same } from '../form/values.js';
import * as state from '../state.js';
import { Advantages } from './advantages.js';
import { Audit } from './audit.js';
import { Bench } from './bench.js';
import { Custom } from './custom.js';
import { failed } from './parts.js';
import { Probe } from './probe.js';
import { Replay } from './replay.js';
import { Score } from './score.js';
import { Setup } from './setup.js';

const SECTIONS = { score: Score, audit: Audit, advantages: Advantages, probe: Probe, replay: Replay, custom: Custom };
const NEEDED = ['rewards', 'reward_weights', 'reward_args', 'dataset', 'dataset_args'];

export async function mount(root, ctx) {
  fill(root, h('p', { class: 'muted loading', t: 'app.loading' }));
  try {
    const [schema, known] = await Promise.all([api.get('/api/schema'), api.get('/api/lab/setup')]);
    fill(root);
    new Lab(root, ctx, new Schema(schema), known);
  } catch (error) {
    if (error.status === undefined) throw error;
    fill(root, failed(error, () => mount(root, ctx)));
  }
}

class Lab {
  constructor(root, ctx, schema, known) {
    Object.assign(this, { ctx, schema, known, made: new Map() });
    this.bench = new Bench(known, this.draft());
    this.setup = new Setup(this.bench, () => this.draft());
    this.links = Object.keys(SECTIONS).map((id) => h('a', { id: `lab-nav-${id}`, t: `lab.nav_${id}`, data: { section: id }, onclick: (event) => state.follow(event, { lab: id === 'score' ? null : id }) }));
    this.place = h('div', { class: 'lab-sections' });
    root.append(h('div', { class: 'lab-page' },
      h('header', { class: 'lab-intro' }, h('h1', { t: 'lab.title' }), h('p', { class: 'muted', t: 'lab.lead' })),
      this.setup.root, h('nav', { class: 'lab-nav', tt: { 'aria-label': 'lab.nav' } }, this.links), this.place));
    state.onChange(() => this.#follow());
    ctx.onTab(() => {
      this.#follow();
      if (ctx.isOpen('rewards')) this.learn().catch((error) => console.warn(error.message)); // what was known still stands
    });
    this.#follow();
  }

  /** The settings of New run that the Lab begins with. */
  draft() {
    const draft = new Draft(this.schema);
    return Object.fromEntries(NEEDED.map((name) => [name, draft.value(name)]));
  }

  /** Rewards and sets asked for again: one may have been saved. */
  async learn() {
    const known = await api.get('/api/lab/setup');
    if (same(known, this.known)) return;
    this.known = known;
    this.bench.learn(known);
    this.setup.learn();
  }

  /** On a narrow screen the row of sections scrolls: the chosen one is brought into it, the page stays where it is. */
  #show(link) {
    const row = link.parentElement;
    const [left, right] = [link.offsetLeft - row.offsetLeft, link.offsetLeft - row.offsetLeft + link.offsetWidth];
    if (left < row.scrollLeft) row.scrollLeft = left;
    else if (right > row.scrollLeft + row.clientWidth) row.scrollLeft = right - row.clientWidth;
  }

  #follow() {
    if (!this.ctx.isOpen('rewards')) return;
    this.bench.follow();
    const { lab } = state.get();
    const chosen = lab in SECTIONS ? lab : 'score';
    for (const link of this.links) {
      const own = link.dataset.section === chosen;
      const query = new URLSearchParams(location.search);
      query.set('lab', link.dataset.section);
      link.href = `?${query}`;
      if (own) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
      if (own) this.#show(link);
    }
    if (!this.made.has(chosen)) {
      const section = new SECTIONS[chosen](this);
      section.root.classList.add('lab-section');
      section.root.prepend(h('h2', { class: 'visually-hidden', t: `lab.nav_${chosen}` })); // the link above says it to the eye
      this.made.set(chosen, section);
      this.place.append(section.root);
    }
    for (const [id, section] of this.made) {
      section.root.hidden = id !== chosen;
      if (id === chosen) section.open?.();
    }
  }
}

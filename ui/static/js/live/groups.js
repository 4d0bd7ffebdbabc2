// The latest groups: one prompt, its completions side by side in rows, what each earned and the signal it carries.
import { follow } from '../state.js';
import { rewardHue } from './colors.js';
import { plain, visible } from '../plain.js';

const SHOWN = 3; // groups at a time
const FIRST = 4000; // characters of a text before "more"

// Equal totals leave advantages of 1e-7 by rounding (a total of 1.2 has no exact float32): they are no signal.
const isTied = (completions) => {
  const totals = completions.map((one) => one.total).filter((total) => total !== null);
  return totals.length > 1 && Math.max(...totals) - Math.min(...totals) <= 1e-6 * Math.max(1, ...totals.map(Math.abs));
};

// A reason in both languages; it may quote a completion.
const shown = ({ en, ko }) => ({ en: visible(en), ko: visible(ko) });

export class Groups {
  constructor(root, ctx) {
    Object.assign(this, { ctx, run: null, step: undefined, cursor: -1, shown: -1, visible: false, reading: false, busy: false, asked: 0 });
    const { h } = ctx;
    this.title = h('h2', { t: 'groups.title' });
    this.newer = h('button', { class: 'btn small', type: 'button', hidden: true, t: 'groups.newer', onclick: () => this.latest() });
    this.back = h('button', { class: 'btn small', type: 'button', hidden: true, t: 'groups.newest', onclick: () => ctx.state.set({ step: null }) });
    this.all = h('a', { id: 'live-all-samples', class: 'caption', onclick: (event) => follow(event, this.step === undefined ? { tab: 'samples', step: null } : { tab: 'samples', step: this.step }) });
    this.list = h('div', { class: 'group-list' });
    this.node = h('section', { id: 'live-groups', class: 'groups' },
      h('header', { class: 'row' }, this.title, this.back, this.newer, this.all), h('p', { class: 'caption', t: 'groups.lead' }), this.list);
    root.append(this.node);
    new IntersectionObserver((entries) => {
      this.visible = entries.at(-1).isIntersecting; // a busy page gets several at once: the last is how it is now
      this.#maybe();
    }, { rootMargin: '200px' }).observe(this.node);
  }

  /** `cursor`: id of the newest group; `step`: a step that was asked for, else the latest. */
  use(run, cursor, step, weights) {
    const other = this.run?.id !== run.id || this.step !== step;
    this.run = run;
    this.weights = weights;
    this.cursor = cursor;
    this.step = step;
    if (other) {
      this.shown = -1;
      this.reading = false;
      if (step !== undefined) this.ctx.i18n.label(this.title, 'groups.title_step', { step });
      else this.ctx.i18n.label(this.title, 'groups.title');
      this.back.hidden = step === undefined;
      this.ctx.i18n.label(this.all, step === undefined ? 'samples.all_of_run' : 'samples.all_of_step', { n: step });
      this.all.href = this.ctx.state.link({ run: run.id, tab: 'samples', step });
      this.newer.hidden = true;
      this.asked = 0;
    }
    this.#maybe();
  }

  latest() {
    this.reading = false;
    this.asked = 0;
    this.#maybe();
  }

  // Nothing is taken from under a reader's eyes: while a text is open or selected, new groups wait behind a button.
  #maybe() {
    if (!this.run || !this.visible || this.busy) return;
    if (this.shown === this.cursor || (this.step !== undefined && this.shown >= 0)) return;
    const selection = getSelection();
    const selecting = selection && !selection.isCollapsed && this.node.contains(selection.anchorNode);
    if (this.shown >= 0 && (this.reading || selecting)) {
      this.newer.hidden = false;
      return;
    }
    const hidden = document.visibilityState === 'hidden'; // a page that nobody sees asks for nothing
    const wait = hidden ? 2000 : this.asked ? 2000 - (performance.now() - this.asked) : 0;
    if (wait > 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#maybe(), wait);
      return;
    }
    this.#load();
  }

  async #load() {
    const { api, h, dom } = this.ctx;
    const { run, step, cursor } = this;
    this.busy = true;
    this.asked = performance.now();
    try {
      const { groups } = await api.get(api.address(`/api/runs/${encodeURIComponent(run.id)}/samples`, { step, limit: step === undefined ? SHOWN : 16 }));
      if (this.run.id !== run.id || this.step !== step) return;
      this.shown = cursor;
      this.newer.hidden = true;
      const none = step === undefined ? h('p', { class: 'muted', t: 'groups.none' }) : h('p', { class: 'muted', t: 'groups.none_step', vars: { step } });
      dom.fill(this.list, groups.length ? groups.map((group) => this.#group(group)) : none);
      this.#clamp();
    } catch (error) {
      if (!this.list.childElementCount) dom.fill(this.list, h('p', { class: 'muted', t: error.error ?? 'app.offline' }));
    } finally {
      this.busy = false;
      if (this.run.id !== run.id || this.step !== step) this.#maybe();
    }
  }

  #group(group) {
    const { h } = this.ctx;
    const totals = group.completions.map((one) => this.#parts(group, one).reduce((sum, part) => sum + Math.abs(part.weighted), 0));
    const widest = Math.max(1e-9, ...totals);
    const strongest = Math.max(1e-9, ...group.completions.map((one) => Math.abs(one.advantage ?? 0)));
    const tied = isTied(group.completions);
    return h('article', { class: 'card group' },
      h('header', {},
        h('span', { class: 'caption num', t: 'groups.step', vars: { step: group.step } }),
        group.phase === 'train' ? null : h('span', { class: 'caption' }, group.phase),
        tied ? h('span', { class: 'caption tied', t: 'groups.tied' }) : null,
        h('span', { class: 'spacer' }), this.#open(group)),
      h('dl', { class: 'group-head' },
        h('dt', { class: 'caption', t: 'groups.prompt' }), h('dd', {}, this.#prompt(group)),
        group.ground_truth === null ? null : [h('dt', { class: 'caption', t: 'groups.truth' }), h('dd', { class: 'mono' }, plain(group.ground_truth, h, FIRST))]),
      h('div', { class: 'rows', role: 'table' },
        h('div', { class: 'completion head caption', role: 'row' }, ['reward', 'advantage', 'tokens', 'text'].map((name) => h('span', { role: 'columnheader', t: `groups.${name}` }))),
        group.completions.map((one) => this.#completion(group, tied ? { ...one, advantage: 0 } : one, widest, strongest))));
  }

  /** The same group on the Samples page, its completions side by side. */
  #open(group) {
    const { h, state } = this.ctx;
    const patch = { tab: 'samples', group: group.id };
    return h('a', { class: 'caption group-open', t: 'samples.this_group', href: state.link({ run: this.run.id, ...patch }), onclick: (event) => follow(event, patch) });
  }

  #prompt(group) {
    const { h } = this.ctx;
    if (group.prompt_format === 'messages') {
      try {
        const messages = JSON.parse(group.prompt);
        return messages.map(({ role, content }) =>
          h('div', { class: 'message' }, h('span', { class: 'caption' }, plain(String(role), h)), this.#text(typeof content === 'string' ? content : JSON.stringify(content))));
      } catch {
        // not JSON after all: shown as it is
      }
    }
    return this.#text(group.prompt);
  }

  #parts(group, completion) {
    return group.reward_names.map((name, i) => ({
      name, value: completion.rewards[i], extracted: completion.extracted?.[i] ?? null, reason: completion.reasons?.[i] ?? null, weighted: (completion.rewards[i] ?? 0) * (this.weights?.[i] ?? 1), hue: rewardHue(this.run.reward_names.indexOf(name)),
    }));
  }

  #completion(group, one, widest, strongest) {
    const { h, format } = this.ctx;
    const parts = this.#parts(group, one);
    const bar = h('span', { class: 'reward-bar', 'aria-hidden': 'true' }, parts.filter((part) => part.weighted).map((part) =>
      h('i', { class: part.weighted < 0 ? 'negative' : '', style: { width: `${(100 * Math.abs(part.weighted)) / widest}%`, background: `var(--hue-${part.hue})` } })));
    const each = h('span', { class: 'caption num each' }, parts.map((part) =>
      h('span', {}, h('i', { class: 'dot', style: { background: `var(--hue-${part.hue})` } }), plain(part.name, h), ' ', part.value === null || part.value === undefined ? h('em', { tt: part.reason === null ? undefined : { title: shown(part.reason) }, t: 'groups.missing' }) : format.number(part.value))));
    const share = (50 * Math.abs(one.advantage ?? 0)) / strongest;
    const sign = (one.advantage ?? 0) < 0 ? 'minus' : 'plus';
    return h('div', { class: 'completion', role: 'row' },
      h('div', { class: 'cell-reward', role: 'cell' }, h('span', { class: 'num strong' }, format.number(one.total)), bar, each),
      h('div', { class: 'cell-advantage', role: 'cell' }, h('span', { class: 'num' }, format.signed(one.advantage)),
        h('span', { class: 'advantage-bar', 'aria-hidden': 'true' }, h('i', { class: sign, style: { width: `${share}%` } }))),
      h('div', { class: 'cell-tokens num', role: 'cell' }, h('span', {}, String(one.tokens), h('span', { class: 'caption only-narrow' }, ' ', h('span', { t: 'tile.tokens' }))), one.truncated ? h('span', { class: 'cut', t: 'groups.cut' }) : null),
      h('div', { class: 'cell-text', role: 'cell' }, one.text === '' ? h('span', { class: 'muted', t: 'groups.empty_text' }) : this.#text(one.text, true), this.#verdicts(parts)));
  }

  // What each reward read in the completion, and why it gave its score: one line a reward, folded away.
  #verdicts(parts) {
    const { h } = this.ctx;
    const said = parts.filter((part) => part.extracted !== null || part.reason !== null);
    if (!said.length) return null;
    return h('details', { class: 'verdicts caption', ontoggle: (event) => { if (event.target.open) this.reading = true; } },
      h('summary', { t: 'groups.why' }),
      h('dl', {}, said.map((part) => [
        h('dt', {}, h('i', { class: 'dot', style: { background: `var(--hue-${part.hue})` } }), plain(part.name, h)),
        h('dd', {}, part.extracted === null ? null : h('span', { class: 'mono' }, plain(part.extracted, h)), part.reason === null ? null : h('span', { t: shown(part.reason) }))])));
  }

  #text(text, copyable = false) {
    const { h, dom, i18n, toast } = this.ctx;
    const body = h('div', { class: 'exact mono' }, plain(text, h, FIRST));
    let open = false;
    const more = h('button', { class: 'btn ghost small more', type: 'button', hidden: true, t: 'groups.more', 'aria-expanded': 'false', onclick: () => {
      open = !open;
      this.reading = true;
      if (open) dom.fill(body, plain(text, h));
      body.classList.toggle('open', open);
      more.setAttribute('aria-expanded', String(open));
      i18n.label(more, open ? 'groups.less' : 'groups.more');
    } });
    const copy = copyable && h('button', { class: 'btn ghost small copy', type: 'button', t: 'groups.copy', onclick: async () => {
      try {
        await dom.copyText(text);
        toast('groups.copied');
      } catch {
        toast('groups.copy_failed', 'warn');
      }
    } });
    body.dataset.long = text.length > FIRST ? 'yes' : '';
    return h('div', { class: 'exact-box' }, body, h('div', { class: 'exact-tools' }, more, copy || null));
  }

  // "more" only where something is hidden; measured once the rows stand.
  #clamp() {
    for (const body of this.list.querySelectorAll('.exact')) {
      const more = body.nextElementSibling.querySelector('.more');
      more.hidden = !(body.dataset.long || body.scrollHeight > body.clientHeight + 2);
    }
  }
}

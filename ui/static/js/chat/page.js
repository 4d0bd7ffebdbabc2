// The Chat page: the same question to two models, side by side, with the same template, seed and sampling.
import * as demo from '../demo.js';
import { fill, h, setText, toast } from '../dom.js';
import { label, onLanguage, t } from '../i18n.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { History } from './history.js';
import { Question } from './question.js';
import { SidePicker, firstSides, sideName } from './sides.js';
import { Status } from './status.js';
import { SIDES, TurnView, drawn } from './turn.js';
import * as wire from './wire.js';

const NOT_ASKED = Symbol('no run yet'); // unlike an address without a run
const SUSPICIOUS = 3; // pairs of equal answers, and no other, before the page says so

export async function mount(root, ctx) {
  new Chat(root, ctx).begin();
}

class Chat {
  constructor(root, ctx) {
    Object.assign(this, { ctx, known: null, run: NOT_ASKED, chat: null, turns: [], asking: null, chosen: false });
    this.status = new Status(ctx);
    this.pickers = SIDES.map((side) => new SidePicker(side, () => { this.chosen = true; this.#ready(); }));
    this.swap = h('button', { type: 'button', class: 'btn icon', id: 'chat-swap', tt: { 'aria-label': 'chat.swap', title: 'chat.swap' }, onclick: () => this.#swap() }, '⇄');
    this.askButton = h('button', { type: 'button', class: 'btn primary', id: 'chat-ask', t: 'chat.ask', onclick: () => this.ask() });
    this.stopButton = h('button', { type: 'button', class: 'btn', id: 'chat-stop', hidden: true, t: 'chat.stop', onclick: () => this.stop() });
    this.why = h('span', { class: 'caption', id: 'chat-why' });
    this.fresh = h('button', { type: 'button', class: 'btn ghost small', id: 'chat-new', hidden: true, t: 'chat.new', onclick: () => this.#fresh() });
    this.question = new Question(() => this.ask(), () => this.#ready());
    this.fault = h('div', { class: 'notice', data: { level: 'error' }, role: 'alert', hidden: true }, h('span'));
    this.barred = h('div', { class: 'notice', data: { level: 'warn' }, id: 'chat-barred', hidden: true }, h('span'));
    this.oneSided = h('p', { class: 'caption', id: 'chat-one-sided', hidden: true, t: 'chat.recorded_weights' });
    this.same = h('div', { class: 'notice', data: { level: 'warn' }, id: 'chat-same', role: 'status', hidden: true }, h('span'));
    this.said = h('p', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
    this.list = h('div', { class: 'c-turns' });
    this.empty = h('div', { class: 'empty c-empty' }, h('h2', { t: 'chat.empty' }), h('p', { t: 'chat.empty_lead' }));
    this.history = new History((id) => this.#open(id), (id) => { if (id === this.chat) this.#fresh(); });
    this.setup = h('section', { class: 'card c-setup', tt: { 'aria-label': 'chat.question' } },
      h('div', { class: 'c-sides' }, this.pickers[0].root, this.swap, this.pickers[1].root), this.barred, this.oneSided, this.question.root,
      h('div', { class: 'row c-go' }, this.askButton, this.stopButton, h('span', { class: 'caption c-keys', t: 'chat.keys' }), this.why, h('span', { class: 'spacer' }), this.fresh));
    this.loading = h('p', { class: 'muted loading', t: 'app.loading' });
    this.down = h('div', { class: 'notice', data: { level: 'error' }, role: 'alert', hidden: true }, h('span'), h('button', { type: 'button', class: 'btn small', t: 'app.retry', onclick: () => this.#sides(true) }));
    this.view = h('div', { class: 'c-view', hidden: true }, this.setup, this.fault, this.same, this.list, this.empty, this.history.root);
    this.root = h('div', { class: 'c-page' },
      h('header', { class: 'c-head' }, h('div', null, h('h1', { t: 'chat.title' }), h('p', { class: 'muted', t: 'chat.lead' })), this.status.root),
      this.down, this.loading, this.view, this.said);
    fill(root, this.root);
    this.root.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.asking || event.defaultPrevented) return;
      event.preventDefault();
      this.stop();
    });
    onLanguage(() => this.#ready());
    demo.onChange(({ ready }) => {
      if (!this.known) return;
      if (ready && this.built === false && ctx.isOpen('chat')) this.#sides();
      this.built = ready;
      this.#ready();
    });
  }

  begin() {
    const { ctx } = this;
    const follow = () => ctx.isOpen('chat') && state.get().run !== this.run && this.#sides();
    state.onChange(follow);
    const named = () => this.#named();
    state.onChange(named);
    ctx.onTab(() => {
      if (!ctx.isOpen('chat')) return;
      if (this.chat && !state.get().chat) this.#address(); // back from another page: it still stands here
      this.#sides();
      this.history.refresh();
      named();
    });
    this.known_states = '';
    runlist.onChange((runs) => {
      const states = JSON.stringify((runs ?? []).map((run) => [run.id, run.state]));
      if (states !== this.known_states && ctx.isOpen('chat') && this.known) this.#sides();
      this.known_states = states;
    });
    this.#sides(true).then(named);
    this.history.refresh();
  }

  /** Opens the conversation that the address names, where another one is shown. */
  #named() {
    const { chat } = state.get();
    if (!this.ctx.isOpen('chat') || this.asking || this.view.hidden || (chat ?? null) === this.chat || chat === this.opening) return;
    if (chat) this.#open(chat, false);
    else this.#fresh();
  }

  /** The conversation on the page stands in its address, so that a link or a reload opens it. */
  #address() {
    state.set({ chat: this.chat }, { replace: true });
  }

  /** Who can answer now; the sides of another run where the address names one. */
  async #sides(again = false) {
    const { run: asked } = state.get();
    const run = answering(asked);
    const other = asked !== this.run;
    this.run = asked;
    try {
      const known = await wire.sides(run);
      if (state.get().run !== asked) return;
      this.known = known;
      if (other || again) this.chosen = false;
      const values = this.chosen && this.pickers[0].value ? this.pickers.map((picker) => picker.value) : firstSides(known);
      this.pickers.forEach((picker, at) => picker.set(known, values[at]));
      await this.question.follow(run ?? null, { rows: known.rows ?? 0, system: known.system ?? null, defaults: known.defaults, limits: known.limits });
      this.status.shared = known.limits?.models === false;
      this.down.hidden = this.loading.hidden = true;
      this.view.hidden = false;
    } catch (error) {
      if (error.status === undefined) throw error;
      this.run = NOT_ASKED;
      this.loading.hidden = true;
      this.down.hidden = false;
      label(this.down.firstElementChild, error.error);
    }
    this.#ready();
  }

  #swap() {
    const [left, right] = this.pickers;
    if (!right.value) return;
    const was = left.value;
    left.set(this.known, right.value);
    right.set(this.known, was);
    this.chosen = true;
    this.#ready();
  }

  #ready() {
    if (!this.question) return;
    const [left, right] = this.pickers;
    const barred = this.pickers.find((picker) => picker.value?.run && !picker.usable);
    const why = barred?.why;
    this.barred.hidden = !barred;
    const recorded = (side) => Boolean(side.value?.run) && demo.isRecorded(side.value.run);
    const apart = barred && recorded(barred);
    if (barred) label(this.barred.firstElementChild, apart ? 'chat.recorded_weights' : why ?? 'chat.no_weights', { name: sideName(barred.value) });
    this.oneSided.hidden = Boolean(barred) || Boolean(right.value) || !recorded(left);
    this.question.judged = Boolean((left.value?.run ? left : right).rewards?.length);
    const missing = barred ? 'chat.missing_weights' : left.value ? this.question.missing : demo.get()?.building ? 'chat.missing_model' : 'chat.missing_side';
    const busy = Boolean(this.asking);
    this.askButton.disabled = busy || Boolean(missing);
    this.askButton.hidden = busy;
    this.stopButton.hidden = !busy;
    setText(this.why, busy || !missing ? '' : t(missing));
    this.swap.disabled = !right.value;
    this.fresh.hidden = busy || this.turns.length === 0;
    this.empty.hidden = this.turns.length > 0;
  }

  async ask() {
    if (this.askButton.disabled) return;
    const [left, right] = this.pickers.map((picker) => picker.value);
    const request = { ...this.question.value, left, right, chat: this.chat };
    const turn = new TurnView(request);
    const asking = this.asking = { turn, controller: new AbortController(), id: null, focus: document.activeElement === this.askButton };
    this.turns.push(turn);
    this.list.prepend(turn.root);
    this.fault.hidden = true;
    turn.wait('chat.begin');
    turn.root.dataset.busy = '';
    this.#ready();
    if (asking.focus) this.stopButton.focus();
    this.status.soon();
    const clock = setInterval(() => turn.tick(), 1000);
    let end = 'chat.broken';
    try {
      await wire.ask(request, (event) => {
        if (event.type === 'error') end = 'chat.failed_here';
        if (event.ask) asking.id = event.ask;
        if (event.type === 'done') end = 'chat.no_answer';
        if (event.type === 'stopped') end = 'chat.stopped';
        this.#take(turn, event);
      }, asking.controller.signal);
    } catch (error) {
      if (error.name === 'AbortError') end = 'chat.stopped';
      else if (error.status) this.#refused(turn, error);
      else if (error.status === undefined) throw error;
    } finally {
      clearInterval(clock);
      const back = document.activeElement === this.stopButton;
      this.asking = null;
      delete turn.root.dataset.busy;
      turn.close(end);
      this.#ready();
      if (back && !this.askButton.disabled) this.askButton.focus();
      this.status.soon();
    }
  }

  /** Refused before anything began: the turn goes, its words stand under the form. */
  #refused(turn, error) {
    this.turns = this.turns.filter((one) => one !== turn);
    turn.root.remove();
    this.fault.hidden = false;
    label(this.fault.firstElementChild, error.error);
  }

  #take(turn, event) {
    if (event.type === 'error' && !event.side) {
      this.fault.hidden = false;
      label(this.fault.firstElementChild, event.error);
      turn.close('chat.failed_here');
    } else turn.take(event);
    if (event.type !== 'done') return;
    Object.assign(turn, { id: event.turn ?? null, chat: event.chat ?? null });
    if (event.chat) {
      this.chat = this.history.chosen = event.chat;
      if (this.ctx.isOpen('chat')) this.#address();
    }
    for (const { words } of event.warnings ?? []) turn.tell(words);
    label(this.said, () => turn.words());
    this.#compare();
    this.history.refresh();
  }

  /** End the answers at hand; what has come stays. A second press gives up on the server. */
  stop() {
    const { asking } = this;
    if (!asking) return;
    if (asking.id === null || asking.stopping) return void asking.controller.abort();
    asking.stopping = true;
    wire.stop(asking.id).catch(() => asking.controller.abort());
  }

  /** Two sides that never differ prove nothing: said once there are enough answers to say it. */
  #compare() {
    const pairs = this.turns.filter((turn) => turn.canCompare && this.#sameSides(turn)).flatMap((turn) => turn.pairs());
    const all = pairs.length >= SUSPICIOUS && pairs.every(([left, right]) => left === right);
    this.same.hidden = !all;
    if (!all) return;
    const last = this.turns.at(-1);
    const [left, right] = SIDES.map((side) => last.columns[side].who?.weights);
    label(this.same.firstElementChild, left && left === right ? 'chat.same_weights' : 'chat.same_answers', {
      n: pairs.length, left: () => sideName(last.request.left), right: () => sideName(last.request.right),
    });
  }

  #sameSides(turn) {
    const last = this.turns.at(-1).request;
    return SIDES.every((side) => JSON.stringify(turn.request[side]) === JSON.stringify(last[side]));
  }

  #fresh() {
    if (this.asking) return;
    this.chat = this.history.chosen = null;
    this.turns = [];
    fill(this.list);
    this.same.hidden = this.fault.hidden = true;
    if (this.ctx.isOpen('chat')) this.#address();
    this.#ready();
  }

  /** `led`: a person chose it here, so the eye and the keyboard are led to it. */
  async #open(id, led = true) {
    if (this.asking) return void toast('chat.wait_first', 'warn');
    this.opening = id;
    try {
      const { turns } = await wire.chat(id);
      if (this.opening !== id || this.asking) return undefined;
      this.opening = null;
      const views = turns.map((one) => drawn(wire.turn(one), id));
      this.chat = this.history.chosen = id;
      this.turns = views;
      this.same.hidden = this.fault.hidden = true;
      this.#address();
      fill(this.list, [...views].reverse().map((view) => view.root));
      this.#compare();
      this.#ready();
      if (!led) return undefined;
      this.list.scrollIntoView({ block: 'start' });
      this.list.querySelector('.c-text')?.focus({ preventScroll: true });
    } catch (error) {
      if (error.status === undefined) throw error;
      toast(error.error, 'error');
      this.opening = null;
      this.#address(); // a conversation that is not there is not named any longer
      this.history.refresh();
    }
    return undefined;
  }
}

/** The run whose weights answer: an evaluation has none of its own, so the one that it evaluates. */
function answering(run) {
  const known = runlist.find(run);
  return known?.kind === 'evaluate' && known.of?.name ? known.of.id : run;
}

// What the chat's own process does: not running, loading, ready with its memory and how long until it ends by itself.
import { h, setText, toast } from '../dom.js';
import { duration, number } from '../format.js';
import { onLanguage, t } from '../i18n.js';
import * as api from '../api.js';
import * as wire from './wire.js';

const BUSY_MS = 1000;
const CALM_MS = 4000;

export class Status {
  constructor(ctx) {
    Object.assign(this, { ctx, now: null, at: 0, failed: null });
    this.mark = h('i', { 'aria-hidden': 'true' });
    this.words = h('span', { class: 'num', id: 'chat-state' });
    this.free = h('button', { type: 'button', class: 'btn small', id: 'chat-free', hidden: true, t: 'chat.free', onclick: () => this.#free() });
    this.root = h('div', { class: 'row c-state caption' }, this.mark, this.words, this.free);
    this.poller = api.poll(() => this.#tick(), CALM_MS);
    onLanguage(() => this.#draw());
    ctx.onTab(() => ctx.isOpen('chat') && this.poller.now());
    setInterval(() => ctx.isOpen('chat') && document.visibilityState !== 'hidden' && this.#draw(), 1000);
  }

  /** On a public Space the process is everybody's: nobody ends it for the others. */
  set shared(yes) {
    this.free.classList.toggle('c-not-here', yes);
  }

  /** Ask at once: something began or ended. */
  soon() {
    this.poller.now();
  }

  async #tick() {
    if (!this.ctx.isOpen('chat')) return CALM_MS;
    try {
      this.now = await wire.state();
      this.at = performance.now();
      this.failed = null;
    } catch (error) {
      if (error.status === undefined) throw error;
      this.failed = error;
    }
    this.#draw();
    return ['loading', 'busy'].includes(this.now?.state) ? BUSY_MS : CALM_MS;
  }

  #draw() {
    const { now } = this;
    const past = (performance.now() - this.at) / 1000;
    this.root.dataset.state = this.failed ? 'lost' : now?.state ?? 'off';
    this.free.hidden = Boolean(this.failed) || !now || now.state === 'off';
    setText(this.words, this.failed ? t('chat.state_lost') : now ? this.#words(now, past) : '');
  }

  #words(now, past) {
    if (now.state === 'off') return t('chat.state_off');
    const parts = [now.state === 'loading' ? t('chat.state_loading') : now.state === 'busy' ? t('chat.state_busy') : t('chat.state_ready')];
    if (now.memory_bytes) parts.push(t('chat.memory', { gb: number(now.memory_bytes / 1e9, 2) }));
    if (now.waiting) parts.push(t('chat.waiting', { n: now.waiting }));
    if (now.state === 'ready' && Number.isFinite(now.idle_in_s)) parts.push(t('chat.ends_in', { time: duration(now.idle_in_s - past) }));
    return parts.join(' · ');
  }

  async #free() {
    this.free.disabled = true;
    try {
      await wire.free();
      toast('chat.freed');
    } catch (error) {
      toast(error.error ?? String(error), 'error');
    }
    this.free.disabled = false;
    this.poller.now();
  }
}

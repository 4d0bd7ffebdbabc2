// Small parts of the files view: sizes, jobs that go on while one looks elsewhere, failures with a way to try again.
import * as api from '../api.js';
import { h, setText } from '../dom.js';
import { DASH, number, percent } from '../format.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';

const EVERY = 400;

/** 1234567 -> '1.23 MB'. */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return DASH;
  for (const [limit, unit] of [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']]) if (bytes >= limit) return `${number(bytes / limit)} ${unit}`;
  return `${number(bytes)} B`;
}

/** Words of the server in both languages, hidden characters shown: they may name files and models. */
export const said = (words) => (typeof words === 'string' ? visible(words) : { en: visible(words?.en ?? ''), ko: visible(words?.ko ?? '') });

/** What went wrong, in words. What the server refuses it will refuse again: no button for that. */
export function failure(error, again) {
  const refused = error.status >= 400 && error.status < 500;
  return h('div', { class: 'notice', data: { level: refused ? 'warn' : 'error' }, role: 'alert' },
    h('span', { t: said(error.error ?? String(error.message ?? error)) }),
    again && !refused ? h('button', { type: 'button', class: 'btn small', t: 'app.retry', onclick: again }) : null);
}

/** A bar with words and a stop, for one job at a time. */
export class JobBar {
  /** `onEnd(job)` once it is done, failed or stopped. */
  constructor(onEnd) {
    this.onEnd = onEnd;
    this.job = null;
    this.words = h('span', { class: 'num' });
    this.bar = h('div', { class: 'bar-track x-track', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100, tt: { 'aria-label': 'exports.progress' } }, h('i'));
    this.stopButton = h('button', { type: 'button', class: 'btn small x-stop', t: 'exports.stop', onclick: () => this.stop() });
    this.root = h('div', { class: 'x-job', hidden: true }, h('div', { class: 'row' }, this.words, h('span', { class: 'spacer' }), this.stopButton), this.bar);
    onLanguage(() => this.#draw());
  }

  get running() {
    return this.job?.state === 'running';
  }

  /** Follow `job` to its end. */
  async follow(job) {
    this.job = job;
    this.lost = false;
    this.stopButton.disabled = false;
    this.#draw();
    while (this.job === job || this.job?.job === job.job) {
      if (this.job.state !== 'running') break;
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      try {
        const now = await api.get(`/api/exports/jobs/${encodeURIComponent(job.job)}`);
        if (this.job?.job !== job.job) return;
        this.job = now;
        this.lost = false;
      } catch (error) {
        if (error.status === undefined) throw error;
        if (error.status) {
          this.job = { ...this.job, state: 'failed', error: error.error };
        } else this.lost = true;
      }
      this.#draw();
    }
    const ended = this.job;
    this.job = null;
    this.#draw();
    this.onEnd(ended);
  }

  async stop() {
    this.stopButton.disabled = true;
    try {
      await api.post(`/api/exports/jobs/${encodeURIComponent(this.job.job)}/stop`);
    } catch {
      this.stopButton.disabled = false; // it has ended meanwhile, or the server is away: the next tick says which
    }
  }

  #draw() {
    const { job } = this;
    this.root.hidden = !job;
    if (!job) return;
    const share = job.total > 0 ? Math.min(1, Math.max(0, job.done) / job.total) : null;
    this.bar.toggleAttribute('data-busy', share === null);
    this.bar.firstElementChild.style.width = `${100 * (share ?? 0.3)}%`;
    if (share === null) this.bar.removeAttribute('aria-valuenow');
    else this.bar.setAttribute('aria-valuenow', Math.round(100 * share));
    const what = job.what ? t(said(job.what)) : t('exports.begins');
    setText(this.words, [what, share === null ? '' : percent(share), this.lost ? t('exports.lost') : ''].filter(Boolean).join(' · '));
  }
}

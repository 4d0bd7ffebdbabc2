// The trained weights of a run: exports that were made, each proved by a fresh process, and making another.
import * as api from '../api.js';
import { checkpointName } from '../chat/sides.js';
import { confirm, fill, h, setText, toast } from '../dom.js';
import { ago, count } from '../format.js';
import { lang, onLanguage, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { JobBar, failure, said, size } from './parts.js';
import { Push } from './push.js';

const KINDS = { adapter: ['adapter', 'merged'], full: ['model'] };

export class Weights {
  constructor() {
    Object.assign(this, { run: null, known: null, kind: 'adapter', asking: false });
    this.checkpoint = h('select', { class: 'input', id: 'exports-checkpoint', onchange: () => this.#draw() });
    this.kinds = h('div', { class: 'segmented', role: 'group', tt: { 'aria-label': 'exports.what' } });
    this.about = h('p', { class: 'caption x-about' });
    this.make = h('button', { type: 'button', class: 'btn primary', id: 'exports-make', t: 'exports.make', onclick: () => this.#make() });
    this.why = h('p', { class: 'caption', id: 'exports-why' });
    this.form = h('div', { class: 'x-form' },
      h('div', { class: 'x-field' }, h('label', { class: 'caption', htmlFor: 'exports-checkpoint', t: 'exports.checkpoint' }), this.checkpoint),
      h('div', { class: 'x-field' }, h('span', { class: 'caption', t: 'exports.what' }), this.kinds), this.make);
    this.job = new JobBar((job) => this.#ended(job));
    this.note = h('div', { class: 'x-note' });
    this.list = h('ul', { class: 'x-list' });
    this.push = new Push();
    this.papers = h('p', { class: 'row x-papers' });
    this.root = h('section', { class: 'card x-card', id: 'exports-weights' },
      this.made = h('div', { class: 'x-made' }, h('h2', { t: 'exports.weights' }), h('p', { class: 'muted', t: 'exports.weights_lead' }),
        this.form, this.about, this.why, this.job.root, this.note, this.list, this.push.root),
      h('h3', { t: 'exports.papers' }), this.papers);
    onLanguage(() => { this.#draw(); this.#papers(); });
  }

  /** Whether this kind of run trains: an evaluation and a probe have papers and no weights. */
  set trained(yes) {
    this.made.hidden = !yes;
  }

  /** Show another run; what is running goes on. */
  async use(run) {
    if (this.run !== run) {
      this.run = run;
      this.known = null;
      this.listed = null;
      fill(this.list, h('li', { class: 'muted', t: 'app.loading' }));
      fill(this.note);
      this.push.close();
      this.#papers();
    }
    await this.refresh();
  }

  async refresh() {
    const { run } = this;
    try {
      const known = await api.get(`/api/runs/${encodeURIComponent(run)}/exports`);
      if (run !== this.run) return;
      this.known = known;
    } catch (error) {
      if (error.status === undefined) throw error;
      if (run !== this.run) return;
      this.known = null;
      this.listed = null;
      fill(this.list, h('li', null, failure(error, () => this.refresh())));
      this.form.hidden = true;
      return;
    }
    const chosen = this.checkpoint.value;
    this.checkpoint.replaceChildren(...this.known.sources.map((one) => h('option', { value: one.checkpoint })));
    if (this.known.sources.some((one) => one.checkpoint === chosen)) this.checkpoint.value = chosen;
    this.#draw();
  }

  get source() {
    return this.known?.sources.find((one) => one.checkpoint === this.checkpoint.value);
  }

  #draw() {
    const { known, source } = this;
    if (!known) return;
    this.form.hidden = !known.sources.length;
    [...this.checkpoint.options].forEach((option, at) => {
      const one = known.sources[at];
      setText(option, [checkpointName(one.checkpoint), one.step !== null && !one.checkpoint.startsWith('checkpoint-') ? t('chat.at_step', { n: count(one.step) }) : '', size(one.bytes)].filter(Boolean).join(' · '));
    });
    const kinds = KINDS[source?.kind] ?? [];
    if (!kinds.includes(this.kind)) this.kind = kinds[0] ?? 'adapter';
    if (this.kinds.dataset.kinds !== kinds.join()) {
      this.kinds.dataset.kinds = kinds.join();
      fill(this.kinds, kinds.map((kind) => h('button', { type: 'button', data: { kind }, t: `exports.what_${kind}`, onclick: () => { this.kind = kind; this.#draw(); } })));
    }
    for (const button of this.kinds.children) button.setAttribute('aria-pressed', String(button.dataset.kind === this.kind));
    setText(this.about, source ? t(`exports.about_${this.kind}`) : '');
    const there = source && known.exports.find((one) => one.what === this.kind && one.checkpoint === source.checkpoint && one.verified && !one.stale);
    const why = known.why ? t(said(known.why)) : this.job.running ? t('exports.busy') : there ? t('exports.there') : '';
    this.make.disabled = this.asking || !source || Boolean(why);
    setText(this.why, known.sources.length ? why : known.why ? t(said(known.why)) : t('exports.none_saved'));
    const listed = JSON.stringify([this.run, known.exports, known.can, known.sources.length]);
    if (this.listed === listed && this.list.firstChild) return;
    this.listed = listed;
    fill(this.list, known.exports.length ? known.exports.map((one) => this.#item(one)) : known.sources.length ? h('li', { class: 'muted', t: 'exports.none' }) : null);
  }

  #item(one) {
    const address = `/api/runs/${encodeURIComponent(this.run)}/exports/${encodeURIComponent(one.name)}`;
    const facts = () => [size(one.bytes), t(one.files?.length === 1 ? 'exports.files_1' : 'exports.files', { n: one.files?.length ?? 0 }), one.dtype, ago(one.made_at)].filter(Boolean).join(' · ');
    return h('li', { class: 'x-item', data: { export: one.name } },
      h('div', { class: 'x-item-head' },
        h('span', { class: 'strong', t: () => `${t(`exports.what_${one.what}`)} · ${checkpointName(one.checkpoint)}` }),
        h('span', { class: 'caption num', t: facts }), verified(one)),
      one.stale ? h('p', { class: 'caption x-stale', t: 'exports.stale' }) : null,
      (one.notes ?? []).map((note) => h('p', { class: 'caption', t: said(note) })),
      one.files?.length ? h('details', { class: 'caption x-see' }, h('summary', { t: 'exports.see_files' }), h('ul', { class: 'x-files num' }, one.files.map((file) => h('li', null, h('code', null, visible(file.name)), ' ', size(file.bytes)))),
        one.load ? h('pre', { class: 'exact open mono x-load' }, plain(typeof one.load === 'string' ? one.load : t(one.load), h)) : null) : null,
      h('div', { class: 'row' },
        h('a', { class: 'btn small x-download', href: `${address}.zip`, download: '', t: 'exports.download' }),
        this.known.can?.push === false ? null : h('button', { type: 'button', class: 'btn small x-push', t: 'exports.push', onclick: () => this.push.open(this.run, one) }),
        h('button', { type: 'button', class: 'btn ghost small x-delete', t: 'exports.delete', onclick: () => this.#delete(one, address) })));
  }

  async #make() {
    fill(this.note);
    this.asking = true;
    this.make.disabled = true;
    try {
      const job = await api.post(`/api/runs/${encodeURIComponent(this.run)}/exports`, { what: this.kind, checkpoint: this.checkpoint.value });
      this.job.follow(job);
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.note, failure(error));
    } finally {
      this.asking = false;
    }
    this.#draw();
  }

  async #ended(job) {
    if (job.state === 'failed') fill(this.note, failure({ error: job.error }));
    else toast(job.state === 'done' ? 'exports.made' : 'exports.stopped', job.state === 'done' ? 'info' : 'warn');
    await this.refresh();
  }

  async #delete(one, address) {
    if (!(await confirm({ title: 'exports.delete_title', body: 'exports.delete_body', vars: { size: size(one.bytes) }, action: 'exports.delete_yes' }))) return;
    try {
      await api.del(address);
      toast('exports.deleted');
    } catch (error) {
      toast(said(error.error ?? String(error)), 'error');
    }
    await this.refresh();
    this.checkpoint.focus();
  }

  #papers() {
    const base = `/api/runs/${encodeURIComponent(this.run ?? '')}`;
    fill(this.papers,
      h('a', { class: 'btn small', id: 'exports-report', href: `${base}/report?lang=${lang()}`, download: '', t: 'exports.report' }),
      h('a', { class: 'btn small', id: 'exports-card', href: `${base}/card`, download: '', t: 'exports.card' }),
      h('span', { class: 'caption', t: 'exports.papers_lead' }));
  }
}

/** The proof of an export: what a fresh process answered, in the server's words. */
function verified({ verified: proved, proof, verified_words: words }) {
  const kind = proof?.lost ? 'lost' : proved ? 'yes' : 'none';
  return h('span', { class: 'x-proof', data: { proof: kind } }, h('i', { 'aria-hidden': 'true' }, { yes: '✓', lost: '!', none: '×' }[kind]),
    h('span', null, h('span', { class: 'strong', t: proved ? 'exports.verified' : 'exports.not_verified' }), ' ', words ? h('span', { class: 'caption', t: said(words) }) : null));
}

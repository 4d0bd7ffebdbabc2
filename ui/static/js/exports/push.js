// To the hub, in two steps: what would be sent is shown first, then it is sent or not.
import * as api from '../api.js';
import { fill, h, setText, toast } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { plain, visible } from '../plain.js';
import { JobBar, failure, said, size } from './parts.js';

const REPO = /^[^\s/]+\/[^\s/]+$/; // the server knows the rule in full

export class Push {
  constructor() {
    Object.assign(this, { run: null, export: null, planned: null });
    this.title = h('h3', null);
    this.repo = h('input', { class: 'input mono', id: 'push-repo', autocomplete: 'off', spellcheck: 'false', placeholder: 'org/name', 'aria-describedby': 'push-repo-fault', oninput: () => this.#forget() });
    this.repoFault = h('span', { class: 'x-fault', id: 'push-repo-fault', role: 'alert' });
    this.private = h('input', { type: 'checkbox', id: 'push-private', checked: true, onchange: () => this.#forget() });
    this.look = h('button', { type: 'button', class: 'btn', id: 'push-look', t: 'exports.push_look', onclick: () => this.#look() });
    this.plan = h('div', { class: 'x-plan' });
    this.job = new JobBar((job) => this.#ended(job));
    const form = h('form', { class: 'x-form', novalidate: true, onsubmit: (event) => { event.preventDefault(); this.#look(); } },
      h('div', { class: 'x-field' }, h('label', { class: 'caption', htmlFor: 'push-repo', t: 'exports.push_repo' }), this.repo, this.repoFault),
      h('label', { class: 'row x-private' }, this.private, h('span', { t: 'exports.push_private' })), this.look);
    this.root = h('div', { class: 'x-push-panel', id: 'exports-push', hidden: true },
      h('div', { class: 'row' }, this.title, h('span', { class: 'spacer' }), h('button', { type: 'button', class: 'btn ghost small', t: 'app.close', onclick: () => this.close() })),
      form, this.plan, this.job.root);
    onLanguage(() => this.#name());
    this.root.addEventListener('keydown', (event) => { if (event.key === 'Escape' && !this.job.running) this.close(); });
  }

  open(run, one) {
    Object.assign(this, { run, export: one });
    this.root.hidden = false;
    this.#name();
    this.#forget();
    this.repo.focus();
  }

  close() {
    const inside = this.root.contains(document.activeElement);
    this.root.hidden = true;
    if (inside) document.querySelector(`[data-export="${CSS.escape(this.export.name)}"] .x-push`)?.focus();
  }

  #name() {
    if (this.export) setText(this.title, t('exports.push_title', { name: visible(this.export.name) }));
  }

  /** The plan is of what stands in the form: a change makes it void. */
  #forget() {
    this.planned = null;
    fill(this.plan);
    this.#wrong('');
  }

  /** What is wrong with the repository's name, at its field; '' for nothing. */
  #wrong(words) {
    this.repo.setAttribute('aria-invalid', String(Boolean(words)));
    fill(this.repoFault, words ? h('span', { t: words }) : null);
    if (words) this.repo.focus();
  }

  #body(dry) {
    return { name: this.export.name, repo: this.repo.value.trim(), private: this.private.checked, dry_run: dry };
  }

  async #look() {
    if (!REPO.test(this.repo.value.trim())) return void this.#wrong('exports.push_repo_form');
    this.#wrong('');
    this.look.disabled = true;
    fill(this.plan, h('p', { class: 'caption', role: 'status', t: 'app.loading' }));
    try {
      this.planned = await api.post(`/api/runs/${encodeURIComponent(this.run)}/push`, this.#body(true));
      this.#show();
      this.plan.firstElementChild.focus(); // the button was off meanwhile and has lost it
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(this.plan, failure(error));
    }
    this.look.disabled = false;
    return undefined;
  }

  #show() {
    const { planned } = this;
    const total = planned.bytes ?? planned.files.reduce((sum, file) => sum + file.bytes, 0);
    this.send = h('button', { type: 'button', class: 'btn danger', id: 'push-send', disabled: !planned.token || Boolean(planned.why), t: 'exports.push_send', vars: { n: planned.files.length, size: size(total), repo: visible(planned.repo) }, onclick: () => this.#send() });
    fill(this.plan,
      h('p', { tabIndex: -1, class: 'x-plan-head', t: planned.private ? 'exports.push_would_private' : 'exports.push_would_public', vars: { n: planned.files.length, size: size(total), repo: visible(planned.repo) } }),
      planned.exact === false ? h('p', { class: 'caption', t: 'exports.push_estimate' }) : null,
      h('ul', { class: 'x-files x-columns num' }, planned.files.map((file) => h('li', null, h('code', null, visible(file.name)), ' ', h('span', null, size(file.bytes))))),
      planned.card ? h('details', null, h('summary', { class: 'caption', t: 'exports.push_card' }), h('pre', { class: 'exact open mono x-cardtext', tabIndex: 0 }, plain(planned.card, h))) : null,
      h('div', { class: 'row' }, this.send, h('span', { class: 'caption x-why', data: { token: String(planned.token) }, t: planned.token ? 'exports.push_token' : 'exports.push_no_token' }),
        planned.why && planned.token ? h('span', { class: 'x-stale', t: said(planned.why) }) : null));
  }

  async #send() {
    this.send.disabled = true;
    try {
      const job = await api.post(`/api/runs/${encodeURIComponent(this.run)}/push`, this.#body(false));
      this.job.follow(job);
    } catch (error) {
      if (error.status === undefined) throw error;
      this.plan.append(failure(error));
      this.send.disabled = false;
    }
  }

  #ended(job) {
    if (job.state === 'failed') return void this.plan.append(failure({ error: job.error }));
    if (job.state !== 'done') return void toast('exports.stopped', 'warn');
    this.#forget();
    const url = job.answer?.url;
    fill(this.plan, h('div', { class: 'notice', data: { level: 'info' }, role: 'status' }, h('span', null, h('span', { t: 'exports.pushed' }), ' ',
      typeof url === 'string' && url.startsWith('https://') ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, visible(url)) : null)));
    return undefined;
  }
}

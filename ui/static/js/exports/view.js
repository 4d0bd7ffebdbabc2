// Files and disk: a view of the Runs page, opened by the address (?tab=runs&run=ID&files=1).
import { h, setText } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import { stateBadge, updateBadge } from '../header.js';
import * as demo from '../demo.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';
import { RunDisk } from './disk.js';
import { HomeDisk } from './home.js';
import { Weights } from './weights.js';

/** On a public Space the disk is the machine's: nothing there is for its visitors. */
const closed = () => Boolean(demo.get()?.demo);

export class FilesView {
  constructor() {
    Object.assign(this, { run: undefined, state: null, listed: false });
    const back = h('a', { class: 'x-back', href: state.link({ files: null }), t: 'exports.back', onclick: (event) => state.follow(event, { files: null }) });
    this.name = h('h1', { tabIndex: -1 });
    this.badge = stateBadge({ state: 'queued' });
    this.none = h('p', { class: 'muted', t: 'exports.no_run' });
    this.home = new HomeDisk();
    this.disk = new RunDisk(() => { this.home.refresh(); this.weights.refresh(); });
    this.weights = new Weights();
    this.gone = h('div', { class: 'notice', data: { level: 'warn' }, hidden: true }, h('span', { t: 'exports.gone' }));
    this.root = h('div', { class: 'x-view', hidden: true }, back, h('div', { class: 'row x-title' }, this.name, this.badge), this.none, this.gone, this.weights.root, this.disk.root, this.home.root);
    runlist.onChange(() => this.shown && this.#follow());
    onLanguage(() => this.shown && this.#title());
  }

  get shown() {
    return !this.root.hidden;
  }

  /** Show or hide it as the address says; true while it is shown. */
  follow() {
    const wanted = Boolean(state.get().files);
    const opens = wanted && !this.shown;
    this.root.hidden = !wanted;
    if (!wanted) return false;
    this.#follow(opens);
    this.home.root.hidden = closed();
    if (opens) {
      if (!closed()) this.home.refresh();
      this.name.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    return true;
  }

  #follow(again = false) {
    const { run } = state.get();
    const known = runlist.find(run);
    const now = known?.state ?? null;
    // The list's first answer tells nothing new of a run whose files are being asked for already.
    const moved = again || run !== this.run || (now !== this.state && this.listed);
    Object.assign(this, { run, state: now, listed: runlist.list() !== null });
    this.#title();
    const missing = Boolean(run) && runlist.list() !== null && !known;
    this.none.hidden = Boolean(run);
    this.gone.hidden = !missing;
    this.badge.hidden = !known;
    if (known) updateBadge(this.badge, known);
    this.weights.root.hidden = !run || missing;
    this.weights.trained = !['evaluate', 'probe'].includes(known?.kind);
    this.disk.root.hidden = !run || missing || closed();
    if (!moved || !run || missing) return;
    this.weights.use(run);
    if (!closed()) this.disk.use(run);
  }

  #title() {
    const known = runlist.find(state.get().run);
    setText(this.name, known ? t('exports.title_of', { name: visible(known.name || known.id) }) : t('exports.title'));
  }
}

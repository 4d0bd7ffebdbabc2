// A file, step by step: bring it here, see what it holds and what is wrong with it, say what its columns mean, import it.

import * as api from '../api.js';
import { fill, h, setText, toast } from '../dom.js';
import { count, duration } from '../format.js';
import { t } from '../i18n.js';
import { visible } from '../plain.js';
import * as state from '../state.js';
import { bytes } from '../form/format.js';
import { Mapping } from './mapping.js';
import { faultLine, nameField, plural, saying, suggestedName, words } from './parts.js';
import { Preview, Rendered } from './preview.js';
import { Report, isUnmapped, usableRows } from './report.js';
import * as store from './store.js';
import { SourcePicker } from './source.js';

const TYPING_MS = 400;
const PICKED = new Set(['kind', 'prompt', 'completion', 'ground_truth', 'system', 'system_prompt', 'messages', 'template', 'chat', 'encoding', 'delimiter', 'rewards']);
const HUB_NAME = /^[\w-][\w.-]*\/[\w.-]+$/;
const LARGE = 20_000_000; // bytes; reading such a file again at every key would keep the machine busy

export class FilePanel {
  constructor() {
    this.picker = new SourcePicker((source) => this.take(source));
    this.title = h('h3', { class: 'd-file-name' });
    this.facts = h('span', { class: 'caption' });
    this.status = h('span', { class: 'caption num d-status' });
    this.other = h('button', { type: 'button', class: 'btn small', t: 'data.other_file', onclick: () => this.reset() });
    this.again = h('button', { type: 'button', class: 'btn small', t: 'data.check_again', hidden: true, onclick: () => this.check() });
    this.mapping = new Mapping((changes, typed) => this.change(changes, typed));
    this.report = new Report({ onOffer: (offer) => this.offer(offer), onTakeBack: (at) => this.takeBack(at) });
    this.rendered = new Rendered();
    this.preview = new Preview('data.in_file');
    this.fault = faultLine();
    this.name = nameField(store);
    this.import = h('button', { type: 'button', class: 'btn primary', id: 'data-import', onclick: () => this.store() });
    this.why = h('span', { class: 'caption', id: 'data-why' });
    this.import.setAttribute('aria-describedby', 'data-why');
    this.name.input.id = 'data-name';
    this.name.root.querySelector('label').htmlFor = 'data-name';
    this.name.input.addEventListener('input', () => this.draw());
    const found = h('div', { class: 'd-found' }, this.fault.root, this.report.root, this.rendered.root, this.preview.root);
    this.work = h('div', { class: 'd-work', hidden: true },
      h('div', { class: 'd-file-head' }, h('div', { class: 'd-file-title' }, this.title, this.facts), this.status, this.again, this.other),
      h('div', { class: 'd-columns' }, this.mapping.root, found),
      h('div', { class: 'd-foot' }, this.name.root, h('div', { class: 'd-foot-do' }, this.import, this.why)));
    this.root = h('div', { class: 'd-file' }, this.picker.root, this.work);
    this.clear();
    saying(() => this.draw());
    this.offerRewards();
  }

  async offerRewards() {
    try {
      const schema = await api.get('/api/schema');
      this.mapping.offerRewards(schema.fields.find((field) => field.name === 'rewards').choices.map((one) => one.value));
    } catch { /* the menu stays without them; everything else works */ }
  }

  clear() {
    Object.assign(this, { source: null, chosen: {}, taken: [], found: null, busy: null, turn: (this.turn ?? 0) + 1 });
  }

  /** `source`: {upload | path, name, bytes}. */
  take(source) {
    this.clear();
    this.source = source;
    this.picker.root.hidden = true;
    this.work.hidden = false;
    this.report.set(null, []);
    this.rendered.set([]);
    this.preview.set([]);
    this.mapping.set(null, {}, this.isHub);
    this.name.value = suggestedName(source.name);
    this.check();
  }

  reset() {
    this.clear();
    this.work.hidden = true;
    this.picker.root.hidden = false;
    this.fault.say(null);
    this.picker.focus();
  }

  change(changes, typed = false) {
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) delete this.chosen[name];
      else this.chosen[name] = value;
    }
    this.mapping.set(this.found, this.chosen, this.isHub);
    clearTimeout(this.timer);
    const large = (this.found?.bytes ?? this.source?.bytes ?? 0) > LARGE;
    this.stale = true;
    this.turn += 1; // an answer to the older question no longer counts
    if (typed && large) return this.draw();
    this.timer = setTimeout(() => this.check(), typed ? TYPING_MS : 0);
    return this.draw();
  }

  /** A conversion that a picker shows is set there; any other stays in sight, to be taken back. */
  offer(offer) {
    if (Object.keys(offer.mapping).every((key) => PICKED.has(key))) return this.change(offer.mapping);
    this.taken.push(offer);
    return this.change({});
  }

  takeBack(at) {
    this.taken.splice(at, 1);
    this.change({});
  }

  get isHub() { return HUB_NAME.test(this.source?.path ?? '') && (this.found?.bytes ?? 0) === 0; }

  get sent() {
    const laid = Object.assign({}, ...this.taken.map((offer) => offer.mapping));
    return { upload: this.source.upload, path: this.source.path, mapping: { ...this.chosen, ...laid } };
  }

  async check() {
    const turn = ++this.turn;
    this.busy = 'data.reading';
    this.draw();
    try {
      const report = await api.post('/api/data/check', this.sent);
      if (turn !== this.turn) return;
      Object.assign(this, { found: report, stale: false });
      this.fault.say(null);
    } catch (error) {
      if (turn !== this.turn) return;
      this.fault.say(words(error));
      this.found = error?.body?.report ?? this.found;
    }
    this.busy = null;
    this.mapping.set(this.found, this.chosen, this.isHub);
    this.report.set(this.found, this.taken);
    this.rendered.set(this.found?.rendered ?? []);
    this.preview.set(this.found?.preview ?? [], this.found && !isUnmapped(this.found) ? this.found.rows : null, this.mapping.roles);
    this.draw();
  }

  async store() {
    if (this.import.disabled) return;
    this.busy = 'data.importing';
    this.fault.say(null);
    this.draw();
    try {
      const { set } = await api.post('/api/data/sets', { ...this.sent, name: this.name.value });
      toast(() => t('data.imported', { name: visible(set.name), n: count(set.rows) }));
      this.reset();
      this.picker.clear();
      await store.refresh();
      state.set({ set: set.name });
    } catch (error) {
      this.busy = null;
      this.fault.say(words(error));
      if (error?.body?.report) this.report.set(error.body.report, this.taken);
      this.fault.root.scrollIntoView({ block: 'nearest' });
      this.draw();
    }
  }

  /** What goes on now, and for how long: a large file is read for a while. */
  sayStatus() {
    const { busy } = this;
    clearTimeout(this.clock);
    if (busy !== this.going) Object.assign(this, { going: busy, since: Date.now() });
    const seconds = (Date.now() - this.since) / 1000;
    setText(this.status, busy ? `${t(busy)}${seconds < 2 ? '' : ` ${duration(seconds)}`}` : this.stale ? t('data.stale') : '');
    if (busy) this.clock = setTimeout(() => this.sayStatus(), 1000);
  }

  draw() {
    if (!this.source) return;
    const { found, busy } = this;
    setText(this.title, visible(this.source.name));
    const size = found?.bytes ?? this.source.bytes;
    setText(this.facts, size ? bytes(size) : '');
    this.sayStatus();
    this.again.hidden = !this.stale || busy !== null;
    this.work.toggleAttribute('data-nothing', found === null); // nothing to map in a file that could not be read
    this.work.toggleAttribute('data-stale', Boolean(this.stale) && found !== null);
    const ready = found?.ok && !busy && !this.stale && this.name.value !== '';
    this.import.disabled = !ready;
    setText(this.import, found?.ok ? plural('data.import', usableRows(found), { n: count(usableRows(found)) }) : t('data.import_none'));
    const why = busy === 'data.importing' ? 'data.importing' : !found || busy ? 'data.why_reading' : !found.ok ? (isUnmapped(found) ? 'data.why_columns' : 'data.why_problems') : this.stale ? 'data.stale' : this.name.value === '' ? 'data.why_name' : null;
    setText(this.why, why ? t(why) : '');
  }
}

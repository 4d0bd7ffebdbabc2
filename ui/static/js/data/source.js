// Where a file comes from: dropped or chosen and uploaded, or a path on the server's machine, or a hub name.

import { fill, h, setText } from '../dom.js';
import { label, t } from '../i18n.js';
import { visible } from '../plain.js';
import { bytes } from '../form/format.js';
import { faultLine, labelled, saying } from './parts.js';
import * as store from './store.js';
import { upload } from './upload.js';

const KINDS = '.jsonl,.ndjson,.json,.csv,.tsv,.parquet';

export class SourcePicker {
  /** `onSource({upload | path, name, bytes})`. */
  constructor(onSource) {
    this.onSource = onSource;
    this.going = null;
    this.file = h('input', { type: 'file', id: 'data-file', class: 'visually-hidden', accept: KINDS, tabindex: '-1', tt: { 'aria-label': 'data.choose_file' } });
    this.file.addEventListener('change', () => { if (this.file.files[0]) this.send(this.file.files[0]); });
    this.choose = h('button', { type: 'button', class: 'btn', id: 'data-choose', t: 'data.choose_file', onclick: () => this.file.click() });
    this.limit = h('p', { class: 'caption' });
    this.idle = h('div', { class: 'd-drop-idle' }, h('p', { class: 'strong', t: 'data.drop' }), this.choose, this.file, this.limit);
    this.progress = h('div', { class: 'd-progress', hidden: true });
    this.zone = h('div', { class: 'd-drop' }, this.idle, this.progress);
    this.path = h('input', { type: 'text', class: 'input', id: 'data-path', autocomplete: 'off', spellcheck: 'false', placeholder: '/home/me/rows.jsonl' });
    const read = h('button', { type: 'submit', class: 'btn', t: 'data.read_path' });
    const pathField = labelled('data.path', this.path);
    this.pathLabel = pathField.querySelector('label');
    const form = h('form', { class: 'd-path' }, pathField, read);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const path = this.path.value.trim();
      if (path) this.onSource({ path, name: path, bytes: null });
      else this.path.focus();
    });
    this.fault = faultLine();
    this.root = h('div', { class: 'd-source' }, this.zone, this.fault.root, form);
    this.listen();
    store.onChange(() => this.say());
    saying(() => this.say());
  }

  say() {
    const limit = store.largestUpload() ?? 2e9;
    const said = limit < 1e9 ? `${Math.round(limit / 1e6)} MB` : `${Math.round(limit / 1e8) / 10} GB`;
    setText(this.limit, t('data.kinds', { kinds: KINDS.replaceAll(',', ', '), limit: said }));
    label(this.pathLabel, store.pathsAllowed() ? 'data.path' : 'data.path_hub');
    this.path.placeholder = store.pathsAllowed() ? '/home/me/rows.jsonl' : 'openai/gsm8k';
  }

  focus() { this.choose.focus(); }

  clear() {
    this.file.value = '';
    this.path.value = '';
  }

  listen() {
    let inside = 0; // enter and leave fire for every child too
    const mark = (on) => this.zone.toggleAttribute('data-over', on);
    this.zone.addEventListener('dragenter', (event) => { event.preventDefault(); inside += 1; mark(true); });
    this.zone.addEventListener('dragleave', () => { inside -= 1; mark(inside > 0); });
    this.zone.addEventListener('dragover', (event) => { event.preventDefault(); event.dataTransfer.dropEffect = 'copy'; });
    this.zone.addEventListener('drop', (event) => {
      event.preventDefault();
      inside = 0;
      mark(false);
      const [file, ...more] = event.dataTransfer.files;
      if (more.length) this.fault.say('data.one_file');
      else if (file) this.send(file);
    });
  }

  async send(file) {
    if (this.going) return;
    this.fault.say(null);
    this.file.value = ''; // the same file may be chosen again
    const limit = store.largestUpload();
    if (limit && file.size > limit) return void this.fault.say(() => t(store.pathsAllowed() ? 'data.too_large' : 'data.too_large_space', { name: visible(file.name), size: bytes(file.size), limit: bytes(limit) }));
    const bar = h('i', null);
    const track = h('div', { class: 'bar-track d-bar', role: 'progressbar', 'aria-valuemin': '0', 'aria-valuemax': '100', tt: { 'aria-label': 'data.uploading' } }, bar);
    const words = h('span', { class: 'caption num' });
    const cancel = h('button', { type: 'button', class: 'btn small', t: 'app.cancel', onclick: () => this.going?.cancel() });
    fill(this.progress, h('p', { class: 'strong d-file-name' }, visible(file.name)), track, h('div', { class: 'row' }, words, h('span', { class: 'spacer' }), cancel));
    this.idle.hidden = true;
    this.progress.hidden = false;
    cancel.focus();
    const show = (sent, total) => {
      const share = total ? Math.round((100 * sent) / total) : 0;
      bar.style.width = `${share}%`;
      track.setAttribute('aria-valuenow', String(share));
      setText(words, t('data.sent', { sent: bytes(sent), total: bytes(total) }));
    };
    show(0, file.size);
    this.going = upload(file, show);
    try {
      const id = await this.going.promise;
      if (id) this.onSource({ upload: id, name: file.name, bytes: file.size });
    } catch (error) {
      this.fault.say(error.error ?? error.message);
    } finally {
      this.going = null;
      this.idle.hidden = false;
      this.progress.hidden = true;
      if (!this.root.hidden) this.focus();
    }
  }
}

// A run that TRL made elsewhere: its folder is named, read by a job of the server, and opened.
import * as api from '../api.js';
import { fill, h, setText, toast } from '../dom.js';
import * as i18n from '../i18n.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';

const ASK_MS = 500;

/** {button, panel}: the button of the bar and the form that it opens. */
export function attachForm() {
  const path = h('input', { id: 'attach-path', class: 'input mono', type: 'text', required: true, autocomplete: 'off', spellcheck: 'false', tt: { 'aria-label': 'attach.path', placeholder: 'attach.path' } });
  const name = h('input', { id: 'attach-name', class: 'input', type: 'text', autocomplete: 'off', tt: { 'aria-label': 'attach.name', placeholder: 'attach.name' } });
  const go = h('button', { id: 'attach-go', class: 'btn primary', type: 'submit', t: 'attach.go' });
  const said = h('p', { class: 'caption', role: 'status' });
  const bar = h('i');
  const words = h('span', { class: 'caption' });
  const stop = h('button', { id: 'attach-stop', class: 'btn small', type: 'button', t: 'attach.stop', onclick: () => {
    stop.disabled = true;
    api.post(`/api/attach/jobs/${running}/stop`, {}).catch(() => {}); // it may have ended meanwhile
  } });
  const going = h('div', { class: 'row r-attach-going', hidden: true }, h('div', { class: 'bar-track', 'aria-hidden': 'true' }, bar), words, stop);
  let running = null;
  const close = h('button', { class: 'btn ghost', type: 'button', t: 'attach.cancel', onclick: () => show(false) });
  const panel = h('form', { id: 'attach-form', class: 'card r-attach', hidden: true, onsubmit: (event) => {
    event.preventDefault();
    take();
  } }, h('h2', { class: 'h3', t: 'attach.title' }), h('p', { class: 'muted', t: 'attach.lead' }), h('div', { class: 'row' }, path, name, go, close), going, said);
  const button = h('button', { id: 'runs-attach', class: 'btn', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'attach-form', t: 'attach.open', onclick: () => show(panel.hidden) });

  function show(open) {
    panel.hidden = !open;
    button.setAttribute('aria-expanded', String(open));
    if (open) path.focus();
    else fill(said);
  }

  async function take() {
    go.disabled = true;
    stop.disabled = false;
    i18n.label(said, 'attach.reading');
    try {
      let job = await api.post('/api/attach', { path: path.value.trim(), name: name.value.trim() });
      running = job.job;
      while (job.state === 'running') {
        showProgress(job);
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
        job = await api.get(`/api/attach/jobs/${job.job}`);
      }
      if (job.state !== 'done') {
        i18n.label(said, job.state === 'stopped' ? 'attach.stopped' : job.error);
        return;
      }
      const { answer } = job;
      await runlist.refresh();
      toast(() => [i18n.t('attach.done', answer), ...answer.notes.map((note) => note[i18n.lang()])].join(' '));
      show(false);
      state.set({ run: answer.run, tab: 'live' });
    } catch (error) {
      i18n.label(said, error.error ?? error.message);
    } finally {
      go.disabled = false;
      going.hidden = true;
    }
  }

  function showProgress({ done, total, what }) {
    going.hidden = false;
    bar.style.width = `${total ? (100 * done) / total : 0}%`;
    setText(words, total ? i18n.t('attach.progress', { what: i18n.t(what), done: done.toLocaleString('en-US'), total: total.toLocaleString('en-US') }) : '');
  }

  return { button, panel };
}

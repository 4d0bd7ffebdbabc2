// A run that TRL made elsewhere: its folder is named, read by a job of the server, and opened.
import * as api from '../api.js';
import { fill, h, setText, toast } from '../dom.js';
import * as i18n from '../i18n.js';
import * as runlist from '../runlist.js';
import * as state from '../state.js';

const ASK_MS = 500;

/** {button, panel}: the button of the bar and the form that it opens. */
export function attachForm() {
  const path = h('input', { id: 'attach-path', class: 'input mono', type: 'text', required: true, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'attach-said', placeholder: '/…/output_dir', oninput: () => path.removeAttribute('aria-invalid') });
  const name = h('input', { id: 'attach-name', class: 'input', type: 'text', autocomplete: 'off' });
  const every = h('input', { id: 'attach-every', class: 'input num', type: 'number', min: 1, step: 1, value: '1', tt: { title: 'attach.every_help' } });
  const go = h('button', { id: 'attach-go', class: 'btn primary', type: 'submit', t: 'attach.go' });
  const said = h('p', { id: 'attach-said', class: 'caption r-attach-said', role: 'status' });
  const bar = h('i');
  const words = h('span', { class: 'caption' });
  const stop = h('button', { id: 'attach-stop', class: 'btn small', type: 'button', t: 'attach.stop', onclick: () => {
    stop.disabled = true;
    api.post(`/api/attach/jobs/${running}/stop`, {}).catch(() => {}); // it may have ended meanwhile
  } });
  const going = h('div', { class: 'row r-attach-going', hidden: true }, h('div', { class: 'bar-track', 'aria-hidden': 'true' }, bar), words, stop);
  const field = (t, input) => h('label', { class: 'r-attach-field' }, h('span', { class: 'caption', t }), input);
  let running = null;
  const close = h('button', { class: 'btn ghost', type: 'button', t: 'attach.cancel', onclick: () => away() });
  const panel = h('form', { id: 'attach-form', class: 'card r-attach', hidden: true, onsubmit: (event) => {
    event.preventDefault();
    take();
  }, onkeydown: (event) => { if (event.key === 'Escape') away(); } }, h('h2', { class: 'h3', t: 'attach.title' }), h('p', { class: 'muted', t: 'attach.lead' }), h('div', { class: 'row' }, field('attach.path', path), field('attach.name', name), field('attach.every', every), go, close), going, said);
  const button = h('button', { id: 'runs-attach', class: 'btn', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'attach-form', t: 'attach.open', onclick: () => show(panel.hidden) });

  function show(open) {
    panel.hidden = !open;
    button.setAttribute('aria-expanded', String(open));
    if (open) path.focus();
    else fill(said);
  }

  /** Closed by the person: the focus goes back to what opened it. */
  function away() {
    show(false);
    button.focus();
  }

  function refuse(words) {
    i18n.label(said, words);
    said.dataset.level = 'error';
    path.setAttribute('aria-invalid', 'true');
    path.focus();
  }

  async function take() {
    go.disabled = true;
    stop.disabled = false;
    delete said.dataset.level;
    path.removeAttribute('aria-invalid');
    i18n.label(said, 'attach.reading');
    try {
      let job = await api.post('/api/attach', { path: path.value.trim(), name: name.value.trim(), groups_every: Number(every.value || 1) });
      running = job.job;
      while (job.state === 'running') {
        showProgress(job);
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
        job = await api.get(`/api/attach/jobs/${job.job}`);
      }
      if (job.state !== 'done') {
        if (job.state === 'stopped') i18n.label(said, 'attach.stopped');
        else refuse(job.error);
        return;
      }
      const { answer } = job;
      await runlist.refresh();
      toast(() => [i18n.t('attach.done', answer), ...answer.notes.map((note) => note[i18n.lang()])].join(' '));
      show(false);
      state.set({ run: answer.run, tab: 'live' });
    } catch (error) {
      refuse(error.error ?? error.message);
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

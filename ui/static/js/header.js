// The frame: name, chosen run, device, language, theme, and the pages.
import * as api from './api.js';
import * as demo from './demo.js';
import { fill, h, keyed, setText } from './dom.js';
import { DASH, count, number } from './format.js';
import { LANGUAGES, label, lang, onLanguage, setLanguage, t } from './i18n.js';
import { visible } from './plain.js';
import * as runlist from './runlist.js';
import * as state from './state.js';

export function setTheme(theme) {
  const dark = theme === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  document.body.classList.toggle('dark', dark);
  dispatchEvent(new CustomEvent('studio:theme'));
}

function themeButton() {
  const press = () => {
    const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    state.prefer('theme', next);
    setTheme(next);
  };
  return h('button', { id: 'theme-switch', class: 'btn ghost icon', type: 'button', tt: { 'aria-label': 'app.theme', title: 'app.theme' }, onclick: press }, '◐');
}

function languageSwitch() {
  const buttons = Object.entries(LANGUAGES).map(([code, name]) =>
    h('button', {
      type: 'button',
      lang: code,
      data: { lang: code },
      'aria-label': name,
      title: name,
      onclick: () => {
        state.prefer('lang', code);
        setLanguage(code);
      },
    }, code),
  );
  const mark = () => buttons.forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.lang === lang())));
  onLanguage(mark);
  mark();
  return h('div', { id: 'language-switch', class: 'segmented', role: 'group', tt: { 'aria-label': 'app.language' } }, buttons);
}

export function stateBadge(run) {
  return updateBadge(h('span', { class: 'badge' }, h('i', { 'aria-hidden': 'true' }), h('span')), run);
}

export function updateBadge(badge, run) {
  badge.dataset.state = run.state;
  label(badge.lastElementChild, `state.${run.state}`);
  return badge;
}

function runPicker() {
  const select = h('select', { id: 'run-picker', class: 'input', tt: { 'aria-label': 'app.choose_run' } });
  const status = h('span', { id: 'run-status', class: 'num' });
  select.addEventListener('change', () => {
    const { tab, files } = state.get();
    state.set({ run: select.value, tab: (tab === 'runs' && !files) || tab === 'new' ? 'live' : tab });
  });
  const box = h('div', { class: 'run-picker' }, h('label', { class: 'caption', htmlFor: 'run-picker', t: 'app.run' }), select, status);
  const draw = () => {
    const runs = runlist.list() ?? [];
    const chosen = state.get().run;
    const entries = runs.some((run) => run.id === chosen) ? runs : [{ id: '', name: '' }, ...runs];
    keyed(select, entries, (run) => run.id, (run) => h('option', { value: run.id }), (option, run) => setText(option, run.id === '' ? t(runs.length ? 'app.choose_run' : 'app.no_runs') : visible(run.name || run.id)));
    select.value = runs.some((run) => run.id === chosen) ? chosen : '';
    select.disabled = runs.length === 0;
    const run = runlist.find(chosen);
    if (!run) return fill(status);
    const badge = status.querySelector('.badge') ?? status.appendChild(stateBadge(run));
    updateBadge(badge, run);
    const steps = status.querySelector('.count') ?? status.appendChild(h('span', { class: 'count muted' }));
    return setText(steps, run.total_steps && run.last_step !== null ? `${count(run.last_step)}/${count(run.total_steps)}` : '');
  };
  runlist.onChange(draw);
  state.onChange(draw);
  onLanguage(draw);
  draw();
  return box;
}

function device() {
  const text = h('span', { class: 'num' }, DASH);
  const box = h('div', { id: 'device', class: 'device muted' }, h('span', { class: 'caption', t: 'app.device' }), text);
  let facts = null;
  const draw = () => {
    if (!facts) return setText(text, DASH);
    const name = facts.kind === 'cpu' ? t('app.cpu', { n: facts.cores }) : facts.name;
    return setText(text, `${name} · ${number(facts.used_bytes / 1e9, 2)}/${number(facts.total_bytes / 1e9, 2)} GB`);
  };
  api.poll(async () => {
    try {
      facts = await api.get('/api/device');
      draw();
    } catch {
      facts = null; // said by the page itself; a dash here
      draw();
    }
  }, 10_000);
  onLanguage(draw);
  return box;
}

function pages(tabs) {
  const links = tabs.map((tab) => {
    const open = (event) => state.follow(event, { tab: tab.id });
    return h('a', { id: `nav-${tab.id}`, t: tab.title, data: { tab: tab.id }, onclick: open });
  });
  // On a narrow screen the row of pages is scrolled: the one that is open stands in it.
  const seen = () => {
    const link = links.find((one) => one.dataset.tab === document.body.dataset.tab);
    if (!link || !nav.clientWidth) return;
    const before = link.offsetLeft - nav.offsetLeft;
    if (before < nav.scrollLeft || before + link.offsetWidth > nav.scrollLeft + nav.clientWidth) nav.scrollLeft = before + link.offsetWidth / 2 - nav.clientWidth / 2;
  };
  const nav = h('nav', { class: 'pages', tt: { 'aria-label': 'app.nav' } }, links);
  const mark = () => {
    for (const link of links) {
      link.href = state.link({ tab: link.dataset.tab });
      if (link.dataset.tab === document.body.dataset.tab) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    seen();
  };
  addEventListener('studio:tab', mark);
  state.onChange(mark);
  onLanguage(seen);
  new ResizeObserver(seen).observe(nav);
  mark();
  return nav;
}

export function mount(root, tabs) {
  root.classList.add('studio-header');
  fill(
    root,
    h('div', { class: 'bar' },
      h('a', { class: 'brand', href: '/', t: 'app.name' }),
      runPicker(),
      h('div', { class: 'spacer' }),
      device(),
      languageSwitch(),
      themeButton()),
    pages(tabs),
    demo.bar(),
  );
}

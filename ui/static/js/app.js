// Starts the page: texts, frame, then the page module that the address names. Modules are loaded at their first opening.
import * as api from './api.js';
import * as dom from './dom.js';
import * as format from './format.js';
import * as header from './header.js';
import * as i18n from './i18n.js';
import * as runlist from './runlist.js';
import * as state from './state.js';

const mounted = new Map();
let tabs = [];
let boot = null;

/** Gradio builds the columns after its own start; wait for them rather than guess. */
function present(id) {
  const now = document.getElementById(id);
  if (now) return Promise.resolve(now);
  return new Promise((resolve) => {
    const watcher = new MutationObserver(() => {
      const node = document.getElementById(id);
      if (!node) return;
      watcher.disconnect();
      resolve(node);
    });
    watcher.observe(document.documentElement, { childList: true, subtree: true });
  });
}

/** Our own element inside a place that Gradio may build anew (after a reconnect): it is put back with all it holds. */
async function hold(id) {
  const own = dom.h('div', { class: 'held' });
  (await present(id)).append(own);
  new MutationObserver(() => {
    if (!own.isConnected) document.getElementById(id)?.append(own);
  }).observe(document.body, { childList: true, subtree: true });
  return own;
}

const context = () => ({
  api,
  dom,
  format,
  i18n,
  state,
  runlist,
  h: dom.h,
  t: i18n.t,
  toast: dom.toast,
  confirm: dom.confirm,
  plotly: boot.plotly,
  /** True while this page is the one on the screen. */
  isOpen: (id) => document.body.dataset.tab === id,
  /** callback(tab id) whenever another page comes up. */
  onTab: (callback) => addEventListener('studio:tab', () => callback(document.body.dataset.tab)),
});

async function open(tab) {
  if (mounted.has(tab.id)) return;
  mounted.set(tab.id, true);
  const root = await hold(`${tab.id}-root`);
  dom.fill(root, dom.h('p', { class: 'muted loading', t: 'app.loading' }));
  try {
    const page = await import(`./${tab.module}`);
    dom.fill(root);
    await page.mount(root, context());
  } catch (error) {
    console.error(error);
    mounted.delete(tab.id);
    dom.fill(root, dom.h('div', { class: 'notice', data: { level: 'error' } },
      dom.h('span', { t: 'app.page_failed' }),
      dom.h('button', { class: 'btn small', t: 'app.retry', onclick: () => { root.remove(); open(tab); } })));
  }
}

function route() {
  const { tab: wanted, run } = state.get();
  const tab = tabs.find((one) => one.id === wanted) ?? (run && tabs.find((one) => one.id === 'live')) ?? tabs[0];
  if (!tab) return;
  const changed = document.body.dataset.tab !== tab.id;
  document.body.dataset.tab = tab.id;
  if (changed) {
    dispatchEvent(new CustomEvent('studio:tab'));
    scrollTo(0, 0);
  }
  open(tab);
}

async function begin() {
  for (;;) {
    try {
      boot = await api.get('/api/texts');
      break;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
  i18n.setTexts(boot.texts);
  tabs = boot.tabs;
  i18n.setLanguage(state.preference('lang', navigator.language?.startsWith('ko') ? 'ko' : 'en'));
  document.documentElement.lang = i18n.lang();
  header.setTheme(document.documentElement.dataset.theme);
  // Gradio sets its own theme class when it is ready; ours is the one that counts.
  new MutationObserver(() => {
    const dark = document.documentElement.dataset.theme === 'dark';
    if (document.body.classList.contains('dark') !== dark) document.body.classList.toggle('dark', dark);
  }).observe(document.body, { attributes: true, attributeFilter: ['class'] });
  runlist.begin();
  header.mount(await hold('studio-header'), tabs);
  state.onChange(route);
  route();
}

begin();

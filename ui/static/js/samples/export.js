// The Export menu of the Samples page: files of what the present filter finds, and training rows made of it.
const NAMES = ['from', 'to', 'phase', 'prompt', 'kind', 'correct', 'truncated', 'reward', 'low', 'high', 'text'];

/** A menu for a run; `filters()` gives the present filter by the names of the address. Made anew for another run. */
export function exportMenu(ctx, run, filters) {
  const { h, api, dom } = ctx;
  const path = `/api/runs/${encodeURIComponent(run.id)}/samples`;
  const list = h('div', { class: 'sa-menu', role: 'group', tt: { 'aria-label': 'smore.export' } }, h('p', { class: 'muted', t: 'app.loading' }));
  const menu = h('details', { class: 'sa-export', id: 'sa-export' }, h('summary', { class: 'btn', t: 'smore.export' }), list);

  // The filter as it is when the link is followed, not as it was when the menu was opened.
  const address = (what, form) => {
    const now = filters() ?? {};
    return api.address(`${path}/export`, { what, form, ...Object.fromEntries(NAMES.filter((name) => now[name] !== undefined && now[name] !== null && now[name] !== '').map((name) => [name, now[name]])) });
  };
  const link = (what, form) => {
    const node = h('a', { class: 'btn small', download: true, data: { what, form }, href: address(what, form) }, form === 'csv' ? 'CSV' : 'JSONL');
    for (const moment of ['pointerdown', 'focus']) node.addEventListener(moment, () => (node.href = address(what, form)));
    return node;
  };
  const entry = ({ what, forms, refused }) => h('div', { class: 'sa-way', data: { what } },
    h('div', {}, h('b', { t: `smore.export_${what}` }), h('p', { class: 'caption', t: refused ?? `smore.export_${what}_help` })),
    h('div', { class: 'row' }, refused ? null : forms.map((form) => link(what, form))));

  menu.addEventListener('toggle', async () => {
    if (!menu.open) return;
    try {
      const { ways } = await api.get(`${path}/ways`);
      dom.fill(list, ways.map(entry));
    } catch (error) {
      if (!error.error) throw error;
      dom.fill(list, h('p', { class: 'muted', t: error.error }));
    }
  });
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.querySelector('summary').focus();
  });
  menu.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });
  return menu;
}

// The states of a page about one run, the same on Live, Samples and Evaluate: the server is silent, no run is chosen or
// the chosen one is gone, loading, the page itself.

export class RunFrame {
  /** `name` begins the ids; `view` is the page itself. `quickstart`: the id of the button where there is no run yet;
   * `fresh`: beside it stands the way to a new run, else the way to all runs. */
  constructor(ctx, root, name, view, { quickstart, fresh = false }) {
    Object.assign(this, { ctx, view, quickstart, fresh });
    const { h } = ctx;
    this.offline = h('div', { id: `${name}-offline`, class: 'notice', data: { level: 'warn' }, hidden: true }, h('span', { t: 'app.offline' }));
    this.empty = h('div', { id: `${name}-empty`, hidden: true });
    this.loading = h('p', { class: 'muted loading', t: 'app.loading' });
    root.append(this.offline, this.empty, this.loading, view);
  }

  /** 'empty', 'loading' or 'view'. */
  show(what) {
    for (const part of ['empty', 'loading', 'view']) this[part].hidden = part !== what;
  }

  /** Whether the server answers; what stands while it does not is paler. */
  online(answers) {
    this.offline.hidden = answers;
    this.view.classList.toggle('stale', !answers);
  }

  /** No run is chosen. */
  none(title, body) {
    const { h, state } = this.ctx;
    this.#say(title, body, () => [
      h('button', { id: this.quickstart, class: 'btn primary', type: 'button', t: 'live.start_quickstart', onclick: (event) => this.#start(event.currentTarget) }),
      this.fresh ? h('button', { class: 'btn', type: 'button', t: 'live.new_run', onclick: () => state.set({ run: null, tab: 'new' }) }) : this.#all(),
    ]);
  }

  /** The run in the address is no longer there. */
  gone() {
    this.#say('live.gone', 'live.gone_body', () => this.#all());
  }

  #all() {
    const { h, state } = this.ctx;
    return h('button', { class: 'btn', type: 'button', t: 'live.all_runs', onclick: () => state.set({ run: null, tab: 'runs' }) });
  }

  /** Drawn once for each sentence: a tick must not take the focus from a button. */
  #say(title, body, ways) {
    const { h, dom } = this.ctx;
    if (this.empty.dataset.key !== title) {
      this.empty.dataset.key = title;
      dom.fill(this.empty, h('div', { class: 'empty' }, h('h2', { t: title }), h('p', { t: body }), h('div', { class: 'row' }, ways())));
    }
    this.show('empty');
  }

  async #start(button) {
    const { state, api, toast, runlist } = this.ctx;
    button.disabled = true;
    try {
      const { run } = await api.post('/api/runs', { values: {}, preset: 'quickstart' });
      await runlist.refresh();
      state.set({ run: run.id, tab: 'live' });
    } catch (error) {
      toast(error.error ?? String(error), 'error');
    }
    button.disabled = false;
  }
}

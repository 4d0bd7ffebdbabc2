// The worker's log, folded: read on from where the last read ended, and only while it is open.
const LINES = 2000;

export class Log {
  constructor(root, ctx) {
    Object.assign(this, { ctx, run: null, cursor: 0, busy: false });
    const { h } = ctx;
    this.pre = h('pre', { class: 'mono log', tabIndex: 0 });
    this.lines = document.createTextNode('');
    this.tail = document.createTextNode('');
    this.note = h('p', { class: 'caption', hidden: true, t: 'log.shortened' });
    this.none = h('p', { class: 'muted', t: 'log.empty' });
    this.pre.append(this.lines, this.tail);
    this.node = h('details', { id: 'live-log', class: 'card log-card', ontoggle: () => this.tick() }, h('summary', {}, h('h2', { class: 'h3', t: 'log.title' })), this.none, this.note, this.pre);
    root.append(this.node);
  }

  use(run) {
    if (this.run === run) return;
    Object.assign(this, { run, cursor: 0, kept: [] });
    this.lines.data = this.tail.data = '';
    this.note.hidden = true;
  }

  async tick() {
    if (!this.node.open || !this.run || this.busy) return;
    this.busy = true;
    try {
      const { run } = this;
      for (;;) {
        const part = await this.ctx.api.get(`/api/runs/${encodeURIComponent(run)}/log?after=${this.cursor}`);
        if (this.run !== run) return;
        const more = part.cursor !== this.cursor && part.lines.length > 0;
        this.#take(part);
        if (!more) break;
      }
    } catch (error) {
      if (error.status !== 0 && error.status !== 404) console.warn(error.message);
    } finally {
      this.busy = false;
    }
  }

  #take(part) {
    const follow = this.pre.scrollTop + this.pre.clientHeight >= this.pre.scrollHeight - 8;
    if (part.reset) this.kept = [];
    if (part.lines.length || part.reset) {
      this.kept.push(...part.lines);
      if (this.kept.length > LINES) {
        this.kept = this.kept.slice(-LINES);
        this.note.hidden = false;
      }
      this.lines.data = this.kept.length ? `${this.kept.join('\n')}\n` : '';
    }
    if (this.tail.data !== part.tail) this.tail.data = part.tail;
    this.cursor = part.cursor;
    this.none.hidden = this.lines.length + this.tail.length > 0;
    if (follow) this.pre.scrollTop = this.pre.scrollHeight;
  }
}

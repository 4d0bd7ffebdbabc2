// Earlier conversations: listed, opened again, exported, deleted.
import { confirm, fill, h, keyed, setText, toast } from '../dom.js';
import { ago, count } from '../format.js';
import { labelAttribute, onLanguage, t } from '../i18n.js';
import { visible } from '../plain.js';
import { checkpointName, runName, sideName } from './sides.js';
import * as wire from './wire.js';

const shortly = (checkpoint) => (['base', 'final', 'best'].includes(checkpoint) ? t(`chat.short_${checkpoint}`) : checkpointName(checkpoint));

/** Who answered: one run is named once. */
function between(left, right) {
  if (!left || !right) return sideName(left ?? right);
  if (!left.run || left.run !== right.run) return [left, right].map(sideName).join(' ↔ ');
  return `${runName(left.run)}: ${[left, right].map((side) => shortly(side.checkpoint)).join(' ↔ ')}`;
}

export class History {
  /** `onOpen(id)`; `onGone(id)` after one was deleted. */
  constructor(onOpen, onGone) {
    Object.assign(this, { onOpen, onGone, list: null, current: null });
    this.word = h('span', null);
    this.items = h('ul', { class: 'c-chats' });
    this.note = h('div', null);
    this.root = h('details', { class: 'card c-history', id: 'chat-history' }, h('summary', null, h('h2', null, this.word)), this.note, this.items);
    onLanguage(() => this.draw());
    this.draw();
  }

  /** The conversation on the page. */
  set chosen(id) {
    this.current = id;
    this.draw();
  }

  async refresh() {
    const mine = this.asked = {};
    try {
      const { chats } = await wire.chats();
      if (mine !== this.asked) return; // asked for again meanwhile: that answer is newer
      this.list = chats;
      fill(this.note);
    } catch (error) {
      if (error.status === undefined) throw error;
      if (mine !== this.asked) return;
      fill(this.note, h('div', { class: 'notice', data: { level: 'error' } }, h('span', { t: error.error }), h('button', { type: 'button', class: 'btn small', t: 'app.retry', onclick: () => this.refresh() })));
    }
    this.draw();
  }

  draw() {
    const list = this.list ?? [];
    setText(this.word, list.length ? t('chat.history_n', { n: count(list.length) }) : t('chat.history'));
    if (this.list && !list.length) fill(this.items, h('li', { class: 'muted', t: 'chat.history_none' }));
    else keyed(this.items, list, (one) => one.chat, (one) => this.#item(one), (node, one) => this.#show(node, one));
  }

  #item({ chat }) {
    const open = h('button', { type: 'button', class: 'c-chat-open', onclick: () => this.onOpen(chat) });
    const who = h('span', { class: 'caption' });
    const facts = h('span', { class: 'caption num' });
    const away = h('button', { type: 'button', class: 'btn ghost small c-chat-delete', t: 'chat.delete', onclick: () => this.#delete(chat) });
    const file = h('a', { class: 'btn ghost small c-chat-export', href: wire.exportAddress(chat), download: '', t: 'chat.export' });
    return h('li', null, h('div', { class: 'c-chat-name' }, open, who), facts, h('div', { class: 'row c-chat-tools' }, file, away));
  }

  #show(node, one) {
    const [name, facts, tools] = node.children;
    const [open, who] = name.children;
    const title = visible(one.title ?? '') || t('chat.untitled');
    setText(open, title);
    setText(who, between(one.left, one.right));
    setText(facts, [t(one.turns === 1 ? 'chat.turns_1' : 'chat.turns', { n: count(one.turns) }), one.n > 1 ? t('chat.times', { n: one.n }) : '', ago(one.at)].filter(Boolean).join(' · '));
    for (const [button, key] of [[tools.children[0], 'chat.export'], [tools.children[1], 'chat.delete']]) labelAttribute(button, 'aria-label', () => `${t(key)}: ${title}`);
    if (one.chat === this.current) open.setAttribute('aria-current', 'true');
    else open.removeAttribute('aria-current');
  }

  async #delete(chat) {
    const one = this.list.find((each) => each.chat === chat);
    if (!(await confirm({ title: 'chat.delete_title', body: 'chat.delete_body', vars: { n: one?.turns ?? 0 }, action: 'chat.delete_yes' }))) return;
    try {
      await wire.forget(chat);
      toast('chat.deleted');
      this.onGone(chat);
    } catch (error) {
      toast(error.error ?? String(error), error.status === 404 ? 'warn' : 'error');
    }
    await this.refresh();
    this.root.querySelector('summary').focus();
  }
}

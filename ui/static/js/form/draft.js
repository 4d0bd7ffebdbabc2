// What the person has chosen: a preset and the values that differ from it. Survives a reload.

import { same } from './values.js';

const KEY = 'grpo-studio.form.draft';
const SECRET = new Set(['alert_webhook']); // not kept in the browser either

function stored() {
  try {
    const draft = JSON.parse(localStorage.getItem(KEY));
    if (draft && typeof draft === 'object' && draft.values && typeof draft.values === 'object') return draft;
  } catch { /* no storage, or not ours: start from the preset */ }
  return null;
}

export class Draft {
  constructor(schema) {
    this.schema = schema;
    this.listeners = [];
    const kept = stored();
    this.preset = schema.preset(kept?.preset) ? kept.preset : schema.firstPreset;
    this.values = { ...kept?.values };
    this.prune();
  }

  onChange(listener) { this.listeners.push(listener); }

  /** The value that the preset, or else the default, gives. A preset's arguments of a dataset or a model mean nothing
   * beside another one: there the default stands, as the check reads it. */
  base(name) {
    const values = this.schema.preset(this.preset)?.values ?? {};
    const owner = Object.keys(this.schema.belongsTo).find((each) => this.schema.belongsTo[each].includes(name));
    const stranger = owner !== undefined && owner in this.values;
    return name in values && !stranger ? values[name] : this.schema.field(name)?.default ?? null;
  }

  value(name) { return name in this.values ? this.values[name] : this.base(name); }

  changed(name) { return name in this.values; }

  get changes() { return Object.keys(this.values); }

  set(changes) {
    for (const [name, value] of Object.entries(changes)) this.values[name] = value;
    this.prune();
    this.announce(this.withBelongings(Object.keys(changes)));
  }

  withBelongings(names) { return names.flatMap((name) => [name, ...(this.schema.belongsTo[name] ?? [])]); }

  /** Takes a name out without saying so; `set` or `reset` follows. */
  forget(name) { delete this.values[name]; }

  reset(name) {
    delete this.values[name];
    this.announce(this.withBelongings([name]));
  }

  /** Another preset: what was typed goes, and comes back through the returned undo. */
  choose(preset) { return this.replace(preset, {}); }

  /** A preset with exactly these values on top; returns the undo. */
  replace(preset, values) {
    const before = { preset: this.preset, values: this.values };
    this.preset = preset;
    this.values = { ...values };
    this.prune();
    this.announce(null);
    return () => {
      this.preset = before.preset;
      this.values = before.values;
      this.announce(null);
    };
  }

  discard() { return this.choose(this.preset); }

  /** Values over the draft as it stands. What belonged to another dataset or model goes with it. Returns the undo. */
  lay(values) {
    const rest = { ...this.values };
    for (const [owner, names] of Object.entries(this.schema.belongsTo)) {
      if (owner in values && !same(values[owner], this.value(owner))) for (const name of names) delete rest[name];
    }
    return this.replace(this.preset, { ...rest, ...values });
  }

  prune() {
    for (const name of Object.keys(this.values)) {
      if (same(this.values[name], this.base(name))) delete this.values[name];
    }
  }

  /** `names`: the fields whose value changed, or null for all of them. */
  announce(names) {
    try {
      const values = Object.fromEntries(Object.entries(this.values).filter(([name]) => !SECRET.has(name)));
      localStorage.setItem(KEY, JSON.stringify({ preset: this.preset, values }));
    } catch { /* private mode: the draft lives as long as the page */ }
    for (const listener of this.listeners) listener(names);
  }
}

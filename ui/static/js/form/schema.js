// The form's description as the server gives it (GET /api/schema), with the look-ups that the page needs.

/** The four steps of the page and the groups that each one holds; a group that no step names joins the last. */
const STEPS = [
  ['model', ['model', 'lora', 'hardware']],
  ['data', ['data', 'evaluation']],
  ['rewards', ['rewards']],
  ['training', ['training', 'warmup', 'generation', 'loss', 'reference', 'vllm', 'checkpoints', 'logging']],
];

export class Schema {
  constructor(json) {
    this.groups = json.groups;
    this.fields = json.fields;
    this.presets = json.presets;
    this.belongsTo = json.belongs_to ?? {};
    this.methods = json.algorithms ?? [];
    this.byName = new Map(this.fields.map((field) => [field.name, field]));
    this.byPreset = new Map(this.presets.map((preset) => [preset.name, preset]));
  }

  field(name) { return this.byName.get(name); }

  preset(name) { return this.byPreset.get(name); }

  get firstPreset() {
    return this.byPreset.has('quickstart') ? 'quickstart' : this.presets[0]?.name ?? null;
  }

  /** [{name, basic: fields, folded: [{group, fields}]}] in the order of the page. */
  steps() {
    const known = new Set(STEPS.flatMap(([, groups]) => groups));
    const rest = this.groups.map((group) => group.key).filter((name) => !known.has(name));
    return STEPS.map(([name, names], at) => {
      const groups = at === STEPS.length - 1 ? [...names, ...rest] : names;
      const basic = [];
      const folded = [];
      for (const group of groups) {
        const fields = this.fields.filter((field) => field.group === group && field.name !== 'name');
        basic.push(...fields.filter((field) => field.basic));
        const advanced = fields.filter((field) => !field.basic);
        if (advanced.length) folded.push({ group: this.groups.find((g) => g.key === group), fields: advanced });
      }
      return { name, basic, folded };
    });
  }
}

/** Every word of the query stands in the TRL name or in a label, in either language. */
export function matches(field, query) {
  const text = [field.name, field.trl_name, field.label?.en, field.label?.ko].filter(Boolean).join(' ').toLowerCase();
  const loose = text.replaceAll('_', ' ');
  return query.toLowerCase().split(/\s+/).filter(Boolean).every((word) => text.includes(word) || loose.includes(word));
}

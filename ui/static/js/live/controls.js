// One control for all charts: smoothing, x axis, zoom.
const MODES = ['step', 'tokens', 'time'];

export class Controls {
  /** `prefix`: of the ids, where a second page has such controls too. */
  constructor(root, ctx, onChange, onReset, prefix = '') {
    const { h, state } = ctx;
    const stored = Number(state.preference('smoothing', '0.6'));
    this.smoothing = Number.isFinite(stored) ? Math.min(0.95, Math.max(0, stored)) : 0.6;
    this.mode = MODES.includes(state.preference('xaxis', 'step')) ? state.preference('xaxis', 'step') : 'step';
    const value = h('output', { class: 'num caption', htmlFor: `${prefix}smoothing` }, this.smoothing.toFixed(2));
    const slide = h('input', { id: `${prefix}smoothing`, type: 'range', min: 0, max: 0.95, step: 0.05, oninput: () => {
      this.smoothing = Number(slide.value);
      value.textContent = this.smoothing.toFixed(2);
      state.prefer('smoothing', slide.value);
      onChange();
    } });
    slide.value = this.smoothing;
    const buttons = MODES.map((mode) => h('button', { type: 'button', t: `chart.x_${mode}`, data: { mode }, onclick: () => {
      this.mode = mode;
      state.prefer('xaxis', mode);
      mark();
      onReset();
      onChange();
    } }));
    const mark = () => buttons.forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.mode === this.mode)));
    mark();
    this.reset = h('button', { id: `${prefix}zoom-reset`, class: 'btn small', type: 'button', t: 'chart.reset', disabled: true, onclick: onReset });
    this.node = h('div', { class: 'chart-controls row' },
      h('div', { class: 'pair' }, h('label', { htmlFor: `${prefix}smoothing`, class: 'caption', t: 'chart.smoothing' }), slide, value),
      h('div', { class: 'pair' }, h('span', { class: 'caption', t: 'chart.x_axis' }), h('div', { class: 'segmented', id: `${prefix}x-axis`, role: 'group', tt: { 'aria-label': 'chart.x_axis' } }, buttons)),
      h('span', { class: 'spacer' }), this.reset);
    root.append(this.node);
  }
}

export function mount(root, ctx) {
  root.append(ctx.h('p', { class: 'muted' }, '…'));
}

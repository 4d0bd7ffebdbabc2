// Which charts a finding speaks of, and the bands it lays on them. Pure: no DOM.
const CHARTS = {
  Z: ['signal'], C2: ['signal'], C3: ['reward', 'optim'], C4: ['optim'], C5: ['reward'], R: ['reward'], R5: ['timing'], A: ['reward'], H: ['reward'],
  L: ['length'], D1: ['reward'], D2: ['length'], E: ['policy'], K: ['policy'], P: ['policy'], G1: ['optim', 'reward'], G2: ['optim'],
  T1: ['reward'], T2: ['timing'], T3: ['optim'], S: ['memory'],
};

export const chartsOf = (id) => CHARTS[id] ?? CHARTS[id[0]] ?? [];

/** Plotly's shapes and annotations for one panel: a faint band from a finding's first step to its end, its id on top.
 * `last`: the newest step; `scale` from steps to x; `tone(severity)` gives a colour as #rrggbb. */
export function bands(spans, panel, { last, scale, tone, fade, font, surface }) {
  const mine = spans.filter((span) => chartsOf(span.id).includes(panel));
  const shapes = mine.map((span) => ({
    type: 'rect', xref: 'x', yref: 'paper', layer: 'below', line: { width: 0 }, fillcolor: fade(tone(span.severity), span.to === null ? 0.1 : 0.05),
    x0: scale(span.from), x1: scale(Math.max(span.to ?? last, span.from)), y0: 0, y1: 1,
  }));
  const edges = mine.map((span) => ({
    type: 'line', xref: 'x', yref: 'paper', layer: 'below', line: { width: 1.5, color: tone(span.severity), dash: 'dot' },
    x0: scale(span.from), x1: scale(span.from), y0: 0, y1: 1,
  }));
  // Several that begin close to each other stand one under the other.
  const annotations = mine.map((span, i) => ({
    text: span.id, x: scale(span.from), y: 1, xref: 'x', yref: 'paper', xanchor: 'left', yanchor: 'top', xshift: 2, yshift: -13 * (i % 4),
    showarrow: false, bgcolor: surface, borderpad: 1, font: { ...font, color: tone(span.severity) },
  }));
  return { shapes: [...shapes, ...edges], annotations };
}

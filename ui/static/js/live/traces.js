// From a panel's description and a run's curves to plotly's traces and layout. Pure: no DOM, no network.
import { visible } from '../plain.js';
import { bands } from '../findings/spans.js';
import { fade, rewardHue } from './colors.js';

const GAP = 0.17; // of the height, between the rows of one panel
const BAD = { nan: 'NaN', inf: '∞', '-inf': '−∞' };

// plotly reads a little HTML in names and labels; a reward may be called anything.
const literal = (text) => visible(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The curves that one series of a panel stands for: [{key, matched, curve}]; families by reward order, then by name. */
export function expand(series, store) {
  if (!series.name.includes('*')) {
    const curve = store.get(series.phase, series.name);
    return says(curve, series.inert) ? [{ key: series.name, matched: '', curve }] : [];
  }
  const [head, tail] = series.name.split('*');
  return store
    .names(series.phase)
    .filter((name) => name.startsWith(head) && name.endsWith(tail) && name.length > head.length + tail.length)
    .map((name) => ({ key: name, matched: name.slice(head.length, name.length - tail.length), curve: store.get(series.phase, name) }))
    .filter(({ curve }) => says(curve, series.inert))
    .sort((a, b) => order(store, a.matched) - order(store, b.matched) || a.matched.localeCompare(b.matched))
    .map((one, place) => ({ ...one, place }));
}

// plotly makes a CSS class of it, and a reward may be called anything.
const uid = (panel, key) => `${panel}-${key.replace(/[^A-Za-z0-9]/g, (c) => `_${c.codePointAt(0).toString(16)}`)}`;

const order = (store, name) => {
  const index = store.rewardNames.indexOf(name);
  return index < 0 ? store.rewardNames.length : index;
};

function says(curve, inert) {
  if (!curve || curve.x.length === 0) return false;
  if (inert === null || inert === undefined) return true;
  return curve.bad.length > 0 || curve.y.some((value) => value !== null && value !== inert);
}

/** The names of a panel's curves that have something to say; empty: the panel is not drawn. */
export function present(panel, store) {
  return panel.series.flatMap((series) => expand(series, store).map((one) => ({ ...one, series })));
}

/** Exponential average over steps, without the bias to its first value; `strength` 0..1, spacing of steps honoured. */
export function smooth(x, y, strength) {
  if (strength <= 0) return y;
  const stride = typical(x) || 1;
  let sum = 0;
  let weight = 0;
  let before = null;
  return y.map((value, i) => {
    if (value === null) return null;
    const decay = before === null ? 1 : strength ** Math.max(1, (x[i] - before) / stride);
    sum = sum * decay + value * (1 - strength);
    weight = weight * decay + (1 - strength);
    before = x[i];
    return sum / weight;
  });
}

function typical(x) {
  if (x.length < 3) return 0;
  const steps = [];
  for (let i = 1; i < x.length; i++) steps.push(x[i] - x[i - 1]);
  return steps.sort((a, b) => a - b)[steps.length >> 1];
}

/** Break the line where steps are missing: a gap stays a gap. Thinned curves have no missing steps to see. */
function broken(x, columns, thin) {
  const stride = typical(x);
  if (thin || !stride) return { x, columns };
  const outX = [];
  const out = columns.map(() => []);
  x.forEach((step, i) => {
    if (i > 0 && step - x[i - 1] > 1.5 * stride) {
      outX.push((step + x[i - 1]) / 2);
      out.forEach((column) => column.push(null));
    }
    outX.push(step);
    out.forEach((column, c) => column.push(columns[c][i]));
  });
  return { x: outX, columns: out };
}

function color(one, store, colors) {
  if (one.series.color !== 'reward') return colors.color(one.series.color);
  const known = store.rewardNames.indexOf(one.matched);
  return colors.color(rewardHue(known < 0 ? one.place : known));
}

/** {traces, layout} of a panel. options: {smoothing, scale(step), xTitle, zoom, colors, t, narrow, revision, spans}. */
export function figure(panel, store, options) {
  const shown = present(panel, store);
  const rows = panel.rows.map((_, i) => i).filter((i) => shown.some((one) => one.series.row === i));
  const alone = (one) => shown.filter(({ series }) => series.row === one.series.row).length === 1;
  const named = (one) => options.t(panel.rows[one.series.row].title).startsWith(options.t(one.series.label));
  const traces = shown.flatMap((one) => {
    const made = lines(one, panel, store, options);
    // A line that is alone in a row of its own name needs no legend.
    return alone(one) && named(one) ? made.map((trace) => ({ ...trace, showlegend: false })) : made;
  });
  traces.push(...marks(shown, rows, options));
  const made = layout(panel, rows, { ...options, legendLines: legendLines(traces, options.narrow) });
  if (options.spans?.length) {
    const last = Math.max(...shown.map(({ curve }) => curve.x[curve.x.length - 1]));
    const tone = (severity) => options.colors.severity[severity];
    const laid = bands(options.spans, panel.id, { last, scale: options.scale, tone, fade, font: made.font, surface: options.colors.surface });
    made.shapes = laid.shapes;
    made.annotations = [...made.annotations, ...laid.annotations];
  }
  return { traces, layout: made };
}

function lines(one, panel, store, { smoothing, scale, colors, t }) {
  const { series, curve, key } = one;
  const hue = color(one, store, colors);
  const name = literal(t(series.label).replace('{0}', one.matched));
  const averaged = series.role === 'line' || series.role === 'stack' ? smooth(curve.x, curve.y, series.role === 'stack' || series.smooth ? smoothing : 0) : curve.y;
  const { x: steps, columns } = broken(curve.x, [curve.y, averaged], curve.thin || series.role === 'points' || series.role === 'stack');
  const [raw, strong] = columns;
  const x = steps.map(scale);
  const customdata = steps.map((step, i) => [step, raw[i]]);
  const base = { ...series.trace, uid: uid(panel.id, key), name, legendgroup: key, x, customdata };
  const format = `%{y:${panel.layout[axisName(series.row)]?.hoverformat ?? '.3~g'}}`;
  if (series.role === 'points') {
    return [{ ...base, y: raw, marker: { ...series.trace.marker, color: hue }, hovertemplate: format }];
  }
  if (series.role === 'stack') {
    const percent = panel.layout.yaxis?.tickformat?.endsWith('%');
    const text = raw.map((value) => (value === null ? '' : percent ? `${(100 * value).toFixed(0)}%` : value.toPrecision(3)));
    return [{ ...base, y: strong, text, hovertemplate: '%{text}', line: { ...series.trace.line, color: hue }, fillcolor: fade(hue, 0.72) }];
  }
  if (series.role === 'low') return [{ ...base, y: raw, showlegend: false, hoverinfo: 'skip', line: { ...series.trace.line, color: hue } }];
  if (series.role === 'high') {
    const low = panel.series.find((other) => other.role === 'low' && other.row === series.row);
    const from = low && store.get(low.phase, low.name);
    const text = steps.map((step, i) => (from && raw[i] !== null ? `${short(from.y[from.x.indexOf(step)])} – ${short(raw[i])}` : ''));
    return [{ ...base, y: raw, text, hovertemplate: '%{text}', fillcolor: fade(hue, 0.16), line: { ...series.trace.line, color: hue } }];
  }
  const line = { ...series.trace.line, color: hue };
  if (!series.smooth || smoothing <= 0 || curve.x.length < 3) return [{ ...base, y: raw, line, hovertemplate: format }];
  return [
    { ...base, y: raw, line: { ...line, color: fade(hue, 0.3), width: 1 }, showlegend: false, hoverinfo: 'skip' },
    { ...base, uid: `${base.uid}-smooth`, y: strong, line, hovertemplate: format.replace('%{y', '%{customdata[1]') },
  ];
}

const short = (value) => (value === null || value === undefined ? '–' : Number(value.toPrecision(3)));

/** NaN and infinities: a cross at the foot of their row, on a hidden axis of its own so that it moves no scale. */
function marks(shown, rows, { scale, colors, t }) {
  return rows.flatMap((row) => {
    const at = new Map();
    for (const { curve, series } of shown.filter((one) => one.series.row === row)) {
      for (const [step, kind] of curve.bad) at.set(`${step}/${kind}/${series.name}`, [step, `${literal(t(series.label))}: ${BAD[kind] ?? kind}`]);
    }
    if (at.size === 0) return [];
    const points = [...at.values()];
    return [{
      type: 'scatter', mode: 'markers', uid: `bad-${row}`, yaxis: `y${row + 11}`, showlegend: false, cliponaxis: false,
      x: points.map(([step]) => scale(step)), y: points.map(() => 0.04), customdata: points.map(([step]) => [step, null]), text: points.map(([, text]) => text),
      name: '', hovertemplate: '%{text}', marker: { symbol: 'x', size: 8, color: colors.stop },
    }];
  });
}

const axisName = (row) => (row === 0 ? 'yaxis' : `yaxis${row + 1}`);

// A legend that wraps would lie on the title of the first axis: on a narrow chart it gets the lines that it needs.
// Plotly gives each entry its text and about 46 px of line and gaps; 290 px are left beside the margins at 390.
function legendLines(traces, narrow) {
  if (!narrow) return 1;
  const widths = traces.filter((trace) => trace.showlegend !== false && trace.name).map((trace) => 46 + 7 * trace.name.length);
  return Math.max(1, Math.ceil(widths.reduce((sum, width) => sum + width, 0) / 290));
}

function layout(panel, rows, { xTitle, zoom, colors, t, narrow, revision, legendLines: lines }) {
  const font = { family: colors.font, size: 12, color: colors.muted };
  const grid = { gridcolor: colors.line, zerolinecolor: colors.line, linecolor: colors.line, tickfont: font, automargin: false };
  const height = rows.length ? (1 - GAP * (rows.length - 1)) / rows.length : 1;
  const axes = {};
  const annotations = [];
  rows.forEach((row, place) => {
    const top = 1 - place * (height + GAP);
    const domain = [Math.max(0, top - height), top];
    const ticks = { nticks: rows.length === 1 ? 6 : rows.length === 2 ? 4 : 3 };
    axes[axisName(row)] = { ...grid, ...ticks, ...panel.layout[axisName(row)], domain };
    axes[`yaxis${row + 11}`] = { domain, range: [0, 1], visible: false, fixedrange: true, overlaying: row === 0 ? 'y' : `y${row + 1}` };
    annotations.push({
      text: literal(t(panel.rows[row].title)), x: 0, y: top, xref: 'paper', yref: 'paper', xanchor: 'left', yanchor: 'bottom',
      xshift: -46, yshift: 6, showarrow: false, font, align: 'left',
    });
  });
  const lowest = rows[rows.length - 1] ?? 0;
  return {
    ...panel.layout,
    ...axes,
    annotations,
    xaxis: {
      ...grid, anchor: lowest === 0 ? 'y' : `y${lowest + 1}`, showgrid: false, zeroline: false, ticks: 'outside', ticklen: 4, tickcolor: colors.line, spikecolor: colors.strong, spikethickness: 1, spikedash: 'solid',
      unifiedhovertitle: { text: `${literal(xTitle)} %{x}` },
      title: { text: literal(xTitle), font, standoff: 4 }, nticks: narrow ? 5 : 9, hoverformat: ',.4~g', tickformat: zoom || xTitle !== t('chart.x_tokens') ? '' : '.2~s',
      ...(zoom ? { range: [...zoom], autorange: false } : { autorange: true }),
    },
    margin: { l: 50, r: 12, t: 25 + 19 * lines, b: 36 },
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font,
    showlegend: true,
    legend: { orientation: 'h', x: 1, xanchor: 'right', y: 1, yanchor: 'top', yref: 'container', font, itemsizing: 'constant', itemwidth: 30, bgcolor: 'rgba(0,0,0,0)' },
    hoverlabel: { bgcolor: colors.surface, bordercolor: colors.line, font: { ...font, color: colors.ink } },
    uirevision: revision,
  };
}

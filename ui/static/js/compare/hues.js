// A run keeps its place's hue on every chart and table of the page; the seventh run begins the hues again, dashed.
import { palette } from '../live/colors.js';

const HUES = ['blue', 'orange', 'purple', 'green', 'sky', 'vermillion'];
const DASHES = ['solid', 'dash'];

export const variableOf = (place) => `var(--hue-${HUES[place % HUES.length]})`;
export const colorOf = (place, colors = palette()) => colors.color(HUES[place % HUES.length]);
export const dashOf = (place) => DASHES[Math.floor(place / HUES.length) % DASHES.length];

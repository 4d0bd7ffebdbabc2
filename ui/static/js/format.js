// Numbers and times for people: two or three significant digits, signs on changes, unknown is a dash and never 0.
import { lang } from './i18n.js';

export const DASH = '–';

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return DASH;
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6) return compact(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US').replace('-', '−');
  if (size < 1e-3) return value.toExponential(1).replace('-', '−').replace('e−', 'e-').replace('e+', 'e');
  const places = Math.max(0, Math.min(4, digits - 1 - Math.floor(Math.log10(size))));
  return value.toFixed(places).replace('-', '−');
}

/** A count, exact: 100000 -> '100,000'. */
export const count = (value) => (Number.isFinite(value) ? value.toLocaleString('en-US') : DASH);

export function compact(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  const size = Math.abs(value);
  for (const [limit, mark] of [[1e9, 'B'], [1e6, 'M'], [1e3, 'k']]) {
    if (size >= limit) return `${number(value / limit)}${mark}`;
  }
  return number(value);
}

export const signed = (value, digits = 2) =>
  value === null || value === undefined || !Number.isFinite(value) ? DASH : `${value > 0 ? '+' : ''}${number(value, digits)}`;

export function percent(value, digits = 0) {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  return `${(100 * value).toFixed(digits).replace('-', '−')}%`;
}

/** 72 -> '1:12', 3700 -> '1:01:40'. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return DASH;
  const whole = Math.max(0, Math.round(seconds));
  const two = (n) => String(n).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** '3 min ago' of an epoch in seconds. */
export function ago(epoch, now = Date.now() / 1000) {
  if (!epoch) return DASH;
  const past = Math.max(0, now - epoch);
  const [amount, unit] = past < 60 ? [past, 'second'] : past < 3600 ? [past / 60, 'minute'] : past < 86_400 ? [past / 3600, 'hour'] : [past / 86_400, 'day'];
  return new Intl.RelativeTimeFormat(lang(), { numeric: 'always', style: 'short' }).format(-Math.floor(amount), unit);
}

// Between what stands in an input and the value that is sent. What cannot be read is sent as typed: the server says why.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export function readNumber(text) {
  const plain = text.trim().replaceAll('−', '-').replace(/(?<=\d)[,_ ](?=\d{3}(\D|$))/g, '');
  return NUMBER.test(plain) ? Number(plain) : text.trim();
}

export function writeNumber(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'number') return String(value);
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
}

/** "true", "12", "[1, 2]" and '"007"' as what they look like, everything else as text. */
export function readLoose(text) {
  const plain = text.trim();
  if (plain === '' || /^(null|none)$/i.test(plain)) return null;
  if (/^true$/i.test(plain)) return true;
  if (/^false$/i.test(plain)) return false;
  if (NUMBER.test(plain)) return Number(plain);
  if (/^["[{]/.test(plain)) {
    try { return JSON.parse(plain); } catch { return text; }
  }
  return text;
}

export function writeLoose(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return writeNumber(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  return typeof readLoose(value) === 'string' ? value : JSON.stringify(value);
}

export function readList(text) {
  return text.split(/[,\n]/).map((part) => part.trim()).filter(Boolean).map(readLoose);
}

export function writeList(value) {
  return Array.isArray(value) ? value.map(writeLoose).join(', ') : writeLoose(value);
}

export function same(a, b) {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

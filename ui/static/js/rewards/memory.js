// What is not saved outlives a reload of the page, in this browser only.
const KEY = 'studio.custom';

export function remember(draft) {
  try {
    if (draft) localStorage.setItem(KEY, JSON.stringify(draft));
    else localStorage.removeItem(KEY);
  } catch { /* no storage: it lives as long as the page */ }
}

/** The draft, or null. */
export function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return typeof kept?.source === 'string' ? kept : null;
  } catch {
    return null;
  }
}

// The question as it stands, kept over a reload in this browser tab alone.
const KEY = 'grpo-studio.chat.question';

/** What was kept: {mode, prompt, truth, system, raw, numbers}; null where nothing was, or the browser forbids it. */
export function recall() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY));
    return kept && typeof kept === 'object' ? kept : null;
  } catch {
    return null;
  }
}

export function keep(question) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(question));
  } catch {
    // as above: the page works without
  }
}

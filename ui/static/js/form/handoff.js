// Settings for the New-run form from another page (the Lab, the Data page). They wait here until the form takes them.

import * as state from '../state.js';

const KEY = 'grpo-studio.form.handoff';
let kept = null; // where the browser forbids storage

/** Opens New run with `values`. With a preset's name the draft becomes that preset and these values; with null they are
 * laid over the draft as it stands. `message`: a text's key or {en, ko}, said above the form; {n} in it is how many values,
 * other blanks come from `vars`. */
export function handOver(values, preset = null, message = 'form.handed', vars = {}) {
  const given = { values, preset, message, vars };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(given));
  } catch {
    kept = given;
  }
  state.set({ tab: 'new' });
}

/** What was handed over, once; null where nothing was. */
export function handedOver() {
  let given = kept;
  kept = null;
  try {
    given = JSON.parse(sessionStorage.getItem(KEY)) ?? given;
    sessionStorage.removeItem(KEY);
  } catch { /* as above, or not ours */ }
  return given?.values && typeof given.values === 'object' ? given : null;
}

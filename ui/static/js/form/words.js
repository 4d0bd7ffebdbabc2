// What the texts of this page need beyond the shell's `t`: the form for one, and things said again in another language.

import { onLanguage, t } from '../i18n.js';

/** `key` with {n}, in its form for one where there is only one. */
export const plural = (key, n, vars = {}) => t(n === 1 ? `${key}_1` : key, { n, ...vars });

/** Runs `say` now and after every change of the language. */
export function saying(say) {
  say();
  onLanguage(say);
}

/** What an error says to a person. */
export const said = (error) => t(error?.error ?? error?.message ?? error);

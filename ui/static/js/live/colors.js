// One hue a reward function, the same on every page; everything else by role. Values come from the theme's variables.
const REWARDS = ['blue', 'orange', 'purple', 'green', 'sky', 'vermillion'];

export const rewardHue = (index) => (index < 0 ? 'grey' : REWARDS[index % REWARDS.length]);

/** The variable that holds a role's colour. */
export const variable = (role) => (role === 'ink' ? '--ink' : role === 'muted' ? '--muted' : `--hue-${role}`);

/** The colours of the present theme, as plotly needs them. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    color: (role) => read(variable(role)),
    surface: read('--surface'),
    ink: read('--ink'),
    muted: read('--muted'),
    line: read('--line'),
    strong: read('--line-strong'),
    stop: read('--stop'),
    severity: { stop: read('--stop'), critical: read('--stop'), warn: read('--warn'), info: read('--accent') },
    font: read('--font'),
  };
}

/** '#0072b2' at an opacity, as rgba. */
export function fade(hex, alpha) {
  const n = parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${alpha})`;
}

// @ts-check
// What the user chose, kept in this browser.

const PLACE = 'tengen.settings.1';
const USUAL = {
  lang: 'en', theme: 'auto', coordinates: true, secondTap: true, candidates: 8, line: 10, palette: 'teal', sounds: false,
  reviewVisits: 50, numbers: false, side: 'black', show: 'winrate', net: 'inside',
};

/** @type {typeof USUAL & Record<string, any>} */
export const settings = { ...USUAL, ...read(PLACE) };

/** @param {string} place */
function read(place) {
  try { return JSON.parse(localStorage.getItem(place) ?? '{}'); } catch { return {}; }
}

/** @param {Partial<typeof USUAL>} changes */
export function choose(changes) {
  Object.assign(settings, changes);
  localStorage.setItem(PLACE, JSON.stringify(settings));
  document.documentElement.dataset.theme = settings.theme;
  window.dispatchEvent(new Event('settings'));
}

/** A list or record of this browser. @param {string} name @param {any} usual */
export function recall(name, usual) {
  const found = read(`tengen.${name}.1`);
  return Array.isArray(usual) ? (Array.isArray(found) ? found : usual) : { ...usual, ...found };
}

/** @param {string} name @param {any} value */
export function remember(name, value) {
  localStorage.setItem(`tengen.${name}.1`, JSON.stringify(value));
}

/** Whether the user wants no movement. */
export const isCalm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

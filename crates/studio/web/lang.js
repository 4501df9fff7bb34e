// @ts-check
// Words. The English sentence is the key; a translation is a record of sentences. `xx` brackets every sentence, so that
// a test finds the ones that go past this file.

import { settings } from './settings.js';

/** Translations: language to sentences. @type {Record<string, Record<string, string>>} */
const TRANSLATIONS = {};

/** A sentence in the user's language, `{name}` replaced. @param {string} text @param {Record<string, any>} [values] */
export function t(text, values = {}) {
  const known = TRANSLATIONS[settings.lang]?.[text] ?? text;
  const filled = known.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
  return settings.lang === 'xx' ? `⟦${filled}⟧` : filled;
}

/** One or many. @param {number} count @param {string} one @param {string} many */
export function n(count, one, many) {
  const rule = new Intl.PluralRules(settings.lang === 'xx' ? 'en' : settings.lang).select(count);
  return t(rule === 'one' ? one : many, { n: number(count) });
}

/** @param {number} value @param {number} [digits] */
export function number(value, digits = 0) {
  const language = settings.lang === 'xx' ? 'en' : settings.lang;
  return new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** A chance as percent. @param {number} chance @param {number} [digits] */
export const percent = (chance, digits = 1) => `${number(chance * 100, digits)} %`;

/** Thousands shortened: 12.3k. @param {number} value */
export const short = (value) => value < 1000 ? number(value) : value < 1e6 ? `${number(value / 1e3, value < 1e4 ? 1 : 0)}k` : `${number(value / 1e6, 1)}M`;

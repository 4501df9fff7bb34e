// @ts-check
// Help: the keys of the view, and the settings.

import { h } from '../dom.js';
import { t } from '../lang.js';
import { choose, settings } from '../settings.js';
import { http } from '../wire.js';

/** @param {[string, string][]} keys */
export function openHelp(keys) {
  if (document.querySelector('dialog[open]')) return;
  const check = (/** @type {string} */ name, /** @type {string} */ text) => h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: settings[name], onchange: (/** @type {any} */ event) => choose({ [name]: event.target.checked }) }), h('span', {}, text));
  const pick = (/** @type {string} */ name, /** @type {string} */ text, /** @type {[string, string][]} */ list) => {
    const field = h('select', { onchange: () => { choose({ [name]: field.value }); if (name === 'lang') location.reload(); } }, list.map(([value, label]) => h('option', { value }, label)));
    field.value = settings[name];
    return h('label', { class: 'field' }, h('span', {}, text), field);
  };
  const dialog = h('dialog', { 'aria-label': t('Help and settings') }, h('div', { class: 'stack' },
    h('h1', {}, t('Keys')),
    keys.length ? h('table', { class: 'list' }, h('tbody', {}, keys.map(([key, text]) => h('tr', {}, h('td', {}, h('kbd', { 'data-raw': '' }, key)), h('td', {}, text))))) : h('p', {}, t('This view has no keys of its own.')),
    h('h2', {}, t('Settings')),
    h('div', { class: 'grid2' }, pick('theme', t('Theme'), [['auto', t('as the system')], ['light', t('light')], ['dark', t('dark')]]), pick('lang', t('Language'), [['en', 'English'], ['xx', t('brackets (for testing)')]]),
      pick('side', t('Percent are'), [['black', t('Black\'s')], ['mover', t('of the side to move')]])),
    h('div', { class: 'stack' }, check('coordinates', t('Coordinates')), check('secondTap', t('A second tap plays, where points are narrow')), check('sounds', t('Sounds'))),
    h('p', { class: 'small dim' }, t('Nothing you do here leaves this machine.')),
    h('div', { class: 'row' }, h('button', { type: 'button', class: 'main', onclick: () => dialog.close() }, t('Close')),
      h('button', { type: 'button', onclick: () => { dialog.close(); http('/api/quit', { method: 'POST' }).catch(() => {}); } }, t('End the program')))));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

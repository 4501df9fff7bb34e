// @ts-check
// The dialog for a new game.

import { h, raw, show } from '../dom.js';
import { t } from '../lang.js';
import { choose, settings } from '../settings.js';
import { http, tell } from '../wire.js';
import { makeClockFields } from './clock.js';

/** @param {import('../app.js').Shell} shell @param {any} [usual] */
export async function newGameDialog(shell, usual = {}) {
  let nets = [{ net: 'inside', name: 'Tengen', sizes: null, komi: null }];
  try { nets = (await (await http('/api/nets')).json()).nets.filter((/** @type {any} */ net) => net.game === 'go'); } catch { /* the list is only a help */ }
  const state = { size: 9, you: 'black', net: settings.net, level: 'visits', amount: 200, handicap: 0, komi: 7.5, rules: '', mode: 'none', ...usual };
  if (!nets.some((net) => net.net === state.net)) state.net = 'inside';

  const size = h('input', { type: 'number', min: 2, max: 25, value: state.size, 'aria-label': t('Board size'), oninput: () => { state.size = Number(size.value); follow(); } });
  const sizes = h('div', { class: 'row' }, [9, 13, 19].map((side) => h('button', { type: 'button', 'data-size': side, onclick: () => { state.size = side; size.value = String(side); follow(); } }, raw(`${side}×${side}`))), size);
  const option = (/** @type {string} */ value, /** @type {string} */ text) => h('option', { value }, text);
  const you = h('select', { onchange: () => { state.you = you.value; } }, option('black', t('Black')), option('white', t('White')), option('both', t('both sides: a board to analyse on')), option('none', t('nobody: watch the engine play itself')));
  const net = h('select', { onchange: () => { state.net = net.value; choose({ net: net.value }); follow(); } }, nets.map((net) => h('option', { value: net.net, 'data-raw': '' }, net.name)));
  const level = h('select', { onchange: () => { state.level = level.value; follow(); } }, option('visits', t('visits a move')), option('seconds', t('seconds a move')), option('policy', t('no search: the first choice')));
  const amount = h('input', { type: 'number', min: 0.1, step: 'any', value: state.amount, 'aria-label': t('How much'), oninput: () => { state.amount = Number(amount.value); } });
  const handicap = h('input', { type: 'number', min: 0, max: 9, value: state.handicap, oninput: () => { state.handicap = Number(handicap.value); komi.value = String(state.komi = state.handicap > 0 ? 0.5 : 7.5); } });
  const komi = h('input', { type: 'number', step: 0.5, value: state.komi, oninput: () => { state.komi = Number(komi.value); } });
  const rules = h('select', { onchange: () => { state.rules = rules.value; if (state.handicap === 0) komi.value = String(state.komi = rules.value === 'japanese' || rules.value === 'korean' ? 6.5 : rules.value === 'new-zealand' ? 7 : 7.5); } }, option('', t('Chinese, no position twice')), option('chinese', t('Chinese')), option('japanese', t('Japanese')), option('korean', t('Korean')), option('aga', t('American (AGA)')), option('new-zealand', t('New Zealand')), option('tromp-taylor', t('Tromp-Taylor')), option('stone-scoring', t('stone scoring')));
  const mode = h('select', { onchange: () => { state.mode = mode.value; } }, option('none', t('no')), option('handicap', t('gives stones: White keeps hoping')), option('nonslack', t('no slack: the leader keeps playing')));
  const reason = h('p', { class: 'small dim', id: 'komi-reason' });
  const start = h('button', { type: 'submit', class: 'main' }, t('Start'));
  you.value = state.you; net.value = state.net; level.value = state.level;

  function follow() {
    for (const button of sizes.querySelectorAll('button')) button.setAttribute('aria-pressed', String(Number(button.dataset.size) === state.size));
    const chosen = nets.find((one) => one.net === state.net);
    const verdict = chosen?.komi ?? null;
    const isFit = verdict === 'good' || verdict === null;
    for (const entry of mode.querySelectorAll('option')) if (entry.value !== 'none') entry.disabled = !isFit;
    if (!isFit) { mode.value = 'none'; state.mode = 'none'; }
    reason.textContent = state.net === 'inside' ? t('The network inside is told the real komi and plays for points too, so it needs no trick.') : isFit ? t('The komi that the network is told follows the game.') : t('This network cannot be told another komi: its winrate does not follow. Choose a smaller board or another network.');
    amount.hidden = state.level === 'policy';
    const only = chosen?.sizes;
    const isWrong = only && !only.includes(state.size);
    start.disabled = Boolean(isWrong);
    show(note, isWrong ? t('This network plays {size}×{size} only.', { size: only[0] }) : '');
  }
  const note = h('p', { class: 'small', role: 'status' });
  const field = (/** @type {string} */ name, /** @type {any} */ control) => h('label', { class: 'field' }, h('span', {}, name), control);
  const clock = makeClockFields(field);
  const dialog = h('dialog', { 'aria-label': t('New game') }, h('form', { method: 'dialog', onsubmit: begin }, h('h1', {}, t('New game')),
    h('div', { class: 'field' }, h('span', { class: 'small dim' }, t('Board')), sizes),
    h('div', { class: 'grid2' }, field(t('You play'), you), field(t('Network'), net), field(t('It thinks'), level), field(t('How much'), amount), field(t('Handicap stones'), handicap), field(t('Komi'), komi), field(t('Rules'), rules), field(t('Komi that follows'), mode)),
    reason, clock.element, note, h('div', { class: 'row' }, start, h('button', { type: 'button', onclick: () => dialog.close() }, t('Cancel')))));
  async function begin(/** @type {Event} */ event) {
    event.preventDefault();
    dialog.close();
    const thinking = state.level === 'policy' ? 'policy' : { [state.level]: state.level === 'visits' ? Math.round(state.amount) : state.amount };
    const made = await tell('go.new', { size: state.size, you: state.you, net: state.net, level: thinking, handicap: state.handicap, komi: state.komi, rules: state.rules, mode: state.mode, clock: clock.value() });
    if (made) shell.go(`/go/${made.doc}`);
  }
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  follow();
  dialog.showModal();
}

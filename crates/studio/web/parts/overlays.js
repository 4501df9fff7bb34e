// @ts-check
// What can be read off a position without searching it: ladders, safety, policy, certain territory.

import { h } from '../dom.js';
import { t, n } from '../lang.js';
import * as overlay from '../board/overlay.js';
import { ask, emit, on } from '../wire.js';

/** @param {import('../board/board.js').Board} board @param {() => string} doc @param {(legend: any) => void} say */
export function makeOverlays(board, doc, say) {
  const kinds = { l: ['ladders', t('Ladders')], s: ['safety', t('Safety')], p: ['policy', t('Policy')], t: ['territory', t('Territory')] };
  /** @type {Set<string>} */ const shown = new Set();
  /** @type {Record<string, any>} */ const legends = {};
  let turn = 0;
  const buttons = Object.entries(kinds).map(([key, [kind, name]]) => h('button', { type: 'button', 'aria-pressed': 'false', 'data-overlay': kind, title: `${name} (${key})`, onclick: () => toggle(key) }, name));
  const element = h('div', { class: 'overlays', role: 'group', 'aria-label': t('Read the board') }, buttons);

  function toggle(/** @type {string} */ key) {
    const kind = kinds[/** @type {'l'} */ (key)][0];
    if (shown.has(kind)) { shown.delete(kind); clear(kind); } else shown.add(kind);
    for (const button of buttons) button.setAttribute('aria-pressed', String(shown.has(button.dataset.overlay ?? '')));
    update();
  }

  function clear(/** @type {string} */ kind) {
    delete legends[kind];
    board.group('overlay', kind, []);
    explain();
  }

  function explain() {
    say(Object.values(legends).map((text) => h('span', {}, text, ' ')));
  }

  /** @param {string} kind @param {any} answer */
  function draw(kind, answer) {
    if (!shown.has(kind)) return;
    if (kind === 'ladders') {
      overlay.ladders(board, answer.ladders);
      const captured = answer.ladders.filter((/** @type {any} */ one) => one.verdict === 'captured').length;
      legends[kind] = answer.ladders.length === 0 ? t('No ladders here.') : t('Ladders: {captured} captured, {rest} escape or are open.', { captured, rest: answer.ladders.length - captured });
      board.remark({ ...board.remarks, ...Object.fromEntries(answer.ladders.flatMap((/** @type {any} */ one) => one.stones.map((/** @type {string} */ at) => [at, one.verdict === 'captured' ? t('captured in a ladder') : one.verdict === 'escapes' ? t('escapes the ladder') : t('ladder unclear')]))) });
    } else if (kind === 'policy') {
      overlay.policy(board, answer.points);
      legends[kind] = t('Squares: where the network would play without reading, in percent.');
    } else if (kind === 'territory') {
      overlay.territory(board, answer.points);
      legends[kind] = n(Object.keys(answer.points).length, '{n} point is certain.', '{n} points are certain.');
    } else {
      overlay.safety(board, answer.groups);
      const count = (/** @type {string} */ certainty) => answer.groups.filter((/** @type {any} */ group) => group.certainty === certainty).length;
      legends[kind] = t('Groups: {proved} proved (solid), {read} read (dashed), {open} open.', { proved: count('proved'), read: count('read'), open: count('open') });
      const words = { alive: t('alive'), dead: t('dead'), critical: t('unsettled'), unknown: t('open') };
      const wordsFor = (/** @type {any} */ group) => [group.certainty === 'read' && group.fate === 'alive' ? t('gets away or lives') : words[/** @type {'dead'} */ (group.fate)], sure[/** @type {'open'} */ (group.certainty)], group.kill ? t('captured by {at}', { at: group.kill }) : '', group.save ? t('saved by {at}', { at: group.save }) : ''].filter(Boolean).join(', ');
      const sure = { proved: t('proved'), read: t('read'), open: '' };
      board.remark({ ...board.remarks, ...Object.fromEntries(answer.groups.flatMap((/** @type {any} */ group) => group.stones.map((/** @type {string} */ at) => [at, wordsFor(group)]))) });
    }
    explain();
  }

  function update() {
    const now = ++turn;
    for (const kind of shown) {
      ask('read', { doc: doc(), what: kind }).then((answer) => { if (now === turn) draw(kind, answer); }, (failure) => { if (failure.code !== 'lost' && failure.code !== 'cancelled') emit('failed', { err: failure }); });
    }
  }
  on('reading', (event) => { if (event.doc === doc()) draw('safety', event); });
  return { element, toggle, update };
}

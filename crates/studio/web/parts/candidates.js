// @ts-check
// The list of candidates.

import { h, raw, show } from '../dom.js';
import { t, number, percent, short } from '../lang.js';
import { lossClass } from '../board/overlay.js';
import { choose, settings } from '../settings.js';

/** @param {{ onPoint: (at: string|null) => void, onPlay: (at: string) => void, onMore: (more: number, longer: number) => void }} act */
export function makeCandidates(act) {
  const rate = h('span', { class: 'dim small num', 'data-raw': '' });
  const foot = h('p', { class: 'dim small' });
  const body = h('tbody', {});
  const small = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ click) => h('button', { type: 'button', class: 'flat icon', 'aria-label': name, title: name, onclick: click }, h('span', { 'aria-hidden': 'true', 'data-raw': '' }, sign));
  const lines = h('th', { scope: 'col' }, t('Line'));
  const points = h('th', { scope: 'col', class: 'end', title: t('Points ahead after this move') }, t('Points'));
  const table = h('table', { class: 'list candidates' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('Move')), h('th', { scope: 'col', class: 'end' }, t('Chance')), h('th', { scope: 'col', class: 'end' }, t('Loss')), points, h('th', { scope: 'col', class: 'end' }, t('Visits')), lines)), body);
  const empty = h('p', { class: 'dim small' });
  const inPoints = h('button', { type: 'button', class: 'flat small', 'aria-pressed': 'false', title: t('Points instead of percent on the board'), onclick: () => choose({ show: settings.show === 'points' ? 'winrate' : 'points' }) }, t('Points'));
  const element = h('div', { class: 'stack' }, h('header', { class: 'row oneline' }, h('h2', {}, t('Candidates')), h('span', { class: 'grow' }), inPoints,
    small('−', t('Fewer candidates'), () => act.onMore(-1, 0)), small('+', t('More candidates'), () => act.onMore(1, 0))), empty, table, h('div', { class: 'row' }, rate, foot));

  return {
    element,
    /** @param {any} think @param {any[]} moves @param {string} turn @param {boolean} isThinking */
    update(think, moves, turn, isThinking) {
      table.hidden = moves.length === 0;
      empty.hidden = moves.length > 0;
      empty.textContent = isThinking ? t('Thinking …') : t('Press space: the engine thinks about this position and shows its candidates here and on the board.');
      rate.textContent = think ? `${short(think.visits)} v${isThinking ? ` · ${number(think.per_second)}/s` : ''}` : '';
      rate.hidden = !think;
      foot.textContent = moves.length ? t('showing {n} of {all}, lines of {line}', { n: moves.length, all: think?.tried ?? moves.length, line: settings.line }) : '';
      const chance = (/** @type {any} */ move) => settings.side === 'black' || turn === 'black' ? move.winrate_black : 1 - move.winrate_black;
      const hasPoints = moves.some((move) => move.lead_black !== null && move.lead_black !== undefined);
      points.hidden = !hasPoints;
      inPoints.hidden = !hasPoints;
      inPoints.setAttribute('aria-pressed', String(settings.show === 'points'));
      // Points take the place of the line, which the board shows for the candidate that is pointed at.
      lines.hidden = hasPoints;
      const lead = (/** @type {any} */ move) => settings.side === 'black' || turn === 'black' ? move.lead_black : -move.lead_black;
      // Rows are reused: a focused row stays focused while the figures change.
      while (body.children.length > moves.length) body.lastElementChild?.remove();
      moves.forEach((move, index) => {
        let row = /** @type {any} */ (body.children[index]);
        if (!row) body.append(row = makeRow(act));
        row.fill(move, chance(move), hasPoints ? lead(move) : null);
      });
    },
  };
}

/** @param {{ onPoint: (at: string|null) => void, onPlay: (at: string) => void }} act */
function makeRow(act) {
  const button = h('button', { type: 'button', class: 'link', 'data-raw': '' });
  const chip = h('span', { class: 'chip', 'aria-hidden': 'true' });
  const cells = [0, 1, 2, 3].map(() => h('td', { class: 'end num', 'data-raw': '' }));
  const line = h('td', { class: 'linetext', 'data-raw': '' });
  const row = h('tr', { class: 'pick' }, h('td', {}, chip, button), cells, line);
  let at = '';
  button.addEventListener('click', () => act.onPlay(at));
  row.addEventListener('pointerenter', () => act.onPoint(at));
  row.addEventListener('pointerleave', () => act.onPoint(null));
  button.addEventListener('focus', () => act.onPoint(at));
  button.addEventListener('blur', () => act.onPoint(null));
  row.fill = (/** @type {any} */ move, /** @type {number} */ chance, /** @type {number|null} */ lead) => {
    at = move.at;
    row.dataset.move = at;
    chip.className = `chip c${lossClass(move.loss)}`;
    cells[2].hidden = lead === null;
    line.hidden = lead !== null;
    const texts = [percent(chance), move.order === 0 ? '–' : number(move.loss * 100, 1), lead === null ? '' : `${lead > -0.05 ? '+' : '−'}${number(Math.abs(lead), 1)}`, short(move.visits)];
    if (button.textContent !== at) button.textContent = at;
    texts.forEach((text, i) => { if (cells[i].textContent !== text) cells[i].textContent = text; });
    const rest = move.line.slice(1, 6).join(' ');
    if (line.textContent !== rest) line.textContent = rest;
  };
  return row;
}
export { raw, show };

// @ts-check
// What is drawn above the stones: candidates, ownership, policy, safety, ladders, territory.

import { s } from '../dom.js';
import { short, number } from '../lang.js';
import { STEP } from './board.js';

/** Classes of loss in winrate: each its own colour and its own shape of ring. */
const LOSS_CLASSES = [0.005, 0.02, 0.06, 0.12];

/** 0 (best) to 4 (worst). @param {number} loss */
export const lossClass = (loss) => LOSS_CLASSES.findIndex((most) => loss < most) === -1 ? 4 : LOSS_CLASSES.findIndex((most) => loss < most);

/** @param {import('./board.js').Board} board @param {any[]} moves @param {string} turn @param {string} what */
export function candidates(board, moves, turn, what) {
  const most = Math.max(1, ...moves.map((move) => move.visits));
  board.draw('overlay', moves.filter((move) => move.at !== 'pass').map((move) => {
    const [x, y] = board.place(move.at);
    const kind = lossClass(move.loss);
    const strength = 0.55 + 0.45 * Math.sqrt(move.visits / most);
    const chance = turn === 'black' ? move.winrate_black : 1 - move.winrate_black;
    const figure = what === 'points' && move.lead_black !== undefined && move.lead_black !== null
      ? number(turn === 'black' ? move.lead_black : -move.lead_black, 1)
      : move.order === 0 ? number(chance * 100, 0) : `-${number(move.loss * 100, move.loss < 0.0995 ? 1 : 0)}`;
    return s('g', { class: `candidate c${kind} ${move.order === 0 ? 'first' : ''}`, transform: `translate(${x} ${y})`, 'data-candidate': move.at, 'data-order': move.order },
      s('circle', { r: 9.3, class: 'disc', opacity: strength.toFixed(2) }),
      move.order === 0 ? s('circle', { r: 9.3, class: 'ring' }) : null,
      s('text', { y: -1.2, class: 'figure' }, figure),
      s('text', { y: 5.4, class: 'visits' }, short(move.visits)));
  }));
}

/** Squares of the owner's colour, but not under candidates. @param {import('./board.js').Board} board @param {number[]|null} values from the top, 1 is Black's @param {Set<string>} [taken] */
export function ownership(board, values, taken = new Set()) {
  /** @type {SVGElement[]} */ const nodes = [];
  (values ?? []).forEach((value, index) => {
    const size = Math.abs(value);
    if (size < 0.15 || taken.has(board.vertex(index))) return;
    const [x, y] = board.place(board.vertex(index));
    const half = 2 + 4 * size;
    nodes.push(s('rect', { x: x - half, y: y - half, width: 2 * half, height: 2 * half, class: `own ${value > 0 ? 'black' : 'white'}`, opacity: (0.2 + 0.5 * size).toFixed(2) }));
  });
  board.group('overlay', 'ownership', nodes);
}

/** @param {import('./board.js').Board} board @param {[string, number][]} points */
export function policy(board, points) {
  const top = [...points].sort((a, b) => b[1] - a[1]);
  const most = top[0]?.[1] ?? 1;
  board.group('overlay', 'policy', top.filter(([, chance]) => chance > 0.002).map(([at, chance], order) => {
    const [x, y] = board.place(at);
    const half = 2 + 7 * Math.sqrt(chance / most);
    return s('g', { class: 'policy', 'data-policy': at }, s('rect', { x: x - half, y: y - half, width: 2 * half, height: 2 * half, rx: 1.5 }),
      order < 10 && chance >= 0.01 ? s('text', { x, y }, number(chance * 100)) : null);
  }));
}

/** @param {import('./board.js').Board} board @param {Record<string, string>} points point to colour */
export function territory(board, points) {
  board.group('overlay', 'territory', Object.entries(points).map(([at, color]) => {
    const [x, y] = board.place(at);
    return s('rect', { x: x - 4, y: y - 4, width: 8, height: 8, class: `own ${color}`, opacity: 0.85, 'data-territory': at });
  }));
}

/** A counted board: territory, and dead stones crossed out. @param {import('./board.js').Board} board @param {any} count */
export function count(board, count) {
  territory(board, Object.fromEntries(['black', 'white'].flatMap((color) => (count?.[color] ?? []).map((/** @type {string} */ at) => [at, color]))));
  board.group('overlay', 'dead', (count?.dead ?? []).map((/** @type {string} */ at) => {
    const [x, y] = board.place(at);
    return s('path', { d: 'M-4 -4L4 4M4 -4L-4 4', transform: `translate(${x} ${y})`, class: 'deadstone', 'data-dead': at });
  }));
}

/** Rings on stones: colour by fate, kind of line by certainty. @param {import('./board.js').Board} board @param {any[]} groups */
export function safety(board, groups) {
  board.group('overlay', 'safety', groups.flatMap((group) => group.stones.map((/** @type {string} */ at) => {
    const [x, y] = board.place(at);
    return s('circle', { cx: x, cy: y, r: 8.2, class: `fate ${group.fate} ${group.certainty}`, 'data-fate': at });
  })));
}

/** @param {import('./board.js').Board} board @param {any[]} ladders */
export function ladders(board, ladders) {
  /** @type {SVGElement[]} */ const nodes = [];
  for (const ladder of ladders) {
    for (const at of ladder.stones) {
      const [x, y] = board.place(at);
      nodes.push(s('rect', { x: x - 9.4, y: y - 9.4, width: 18.8, height: 18.8, rx: 3, class: `prey ${ladder.verdict}`, 'data-prey': at }));
    }
    for (const at of ladder.moves) {
      const [x, y] = board.place(at);
      nodes.push(s('path', { d: 'M0 -7L6.2 4.4H-6.2Z', transform: `translate(${x} ${y})`, class: `rung ${ladder.first} ${ladder.verdict}`, 'data-rung': at }));
    }
  }
  board.group('overlay', 'ladders', nodes);
}

/** Tints points. @param {import('./board.js').Board} board @param {string} name @param {string[]} points @param {string} kind */
export function tint(board, name, points, kind) {
  board.group('area', name, points.map((at) => {
    const [x, y] = board.place(at);
    return s('rect', { x: x - STEP / 2, y: y - STEP / 2, width: STEP, height: STEP, class: `tint ${kind}`, 'data-tint': at });
  }));
}

/** Rings around stones. @param {import('./board.js').Board} board @param {string} name @param {string[]} points @param {string} kind */
export function rings(board, name, points, kind) {
  board.group('overlay', name, points.map((at) => {
    const [x, y] = board.place(at);
    return s('circle', { cx: x, cy: y, r: 6.6, class: `ringed ${kind}`, 'data-ring': at });
  }));
}

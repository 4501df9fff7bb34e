// @ts-check
// What is drawn above the stones: candidates, ownership, policy, safety, ladders, territory.

import { s } from '../dom.js';
import { short, number } from '../lang.js';
import { STEP } from './board.js';

/** Classes of loss in winrate: each its own colour and its own shape of ring. */
const LOSS_CLASSES = [0.005, 0.02, 0.06, 0.12];

/** Candidates with fewer visits, or a smaller share of the first one's, are drawn small. */
const FEWEST_VISITS = 4;
const FEWEST_SHARE = 0.01;

/** A lead with its sign. @param {number} points */
const signed = (points) => `${points >= 0 ? '+' : '-'}${number(Math.abs(points), 1)}`;

/** 0 (best) to 4 (worst). @param {number} loss */
export const lossClass = (loss) => LOSS_CLASSES.findIndex((most) => loss < most) === -1 ? 4 : LOSS_CLASSES.findIndex((most) => loss < most);

/** @param {import('./board.js').Board} board @param {any[]} moves @param {string} turn @param {string} what */
export function candidates(board, moves, turn, what) {
  const most = Math.max(1, ...moves.map((move) => move.visits));
  board.draw('overlay', moves.filter((move) => move.at !== 'pass').map((move) => {
    const [x, y] = board.place(move.at);
    const kind = lossClass(move.loss);
    // Hardly looked at: a small disc without figures, which would only pretend to be certain.
    const isFew = move.order > 0 && move.visits < Math.max(FEWEST_VISITS, most * FEWEST_SHARE);
    const radius = isFew ? 4.2 : 8.3 + 1.1 * Math.sqrt(move.visits / most);
    const chance = turn === 'black' ? move.winrate_black : 1 - move.winrate_black;
    const figure = what === 'points' && move.lead_black !== undefined && move.lead_black !== null
      ? move.order === 0 ? signed(turn === 'black' ? move.lead_black : -move.lead_black) : `-${number(Math.max(0, move.points_lost ?? 0), 1)}`
      : move.order === 0 ? number(chance * 100, 0) : `-${number(move.loss * 100, move.loss < 0.0995 ? 1 : 0)}`;
    return s('g', { class: `candidate c${kind} ${move.order === 0 ? 'first' : ''} ${isFew ? 'few' : ''}`, transform: `translate(${x} ${y})`, 'data-candidate': move.at, 'data-order': move.order },
      s('circle', { r: radius.toFixed(1), class: 'disc' }),
      move.order === 0 ? s('circle', { r: radius.toFixed(1), class: 'ring' }) : null,
      isFew ? null : s('text', { y: -1.3, class: 'figure' }, figure),
      isFew ? null : s('text', { y: 5.2, class: 'visits' }, short(move.visits)));
  }));
}

/** The owner's colour as a shade on the wood, and as a square on stones that will be lost. @param {import('./board.js').Board} board @param {number[]|null} values from the top, 1 is Black's */
export function ownership(board, values) {
  /** @type {SVGElement[]} */ const shades = [];
  /** @type {SVGElement[]} */ const taken = [];
  (values ?? []).forEach((value, index) => {
    const size = Math.abs(value);
    const owner = value > 0 ? 'black' : 'white';
    const [x, y] = board.place(board.vertex(index));
    const stone = { X: 'black', O: 'white' }[board.stones[index]];
    if (size >= 0.08 && stone !== owner) shades.push(s('rect', { x: x - STEP / 2, y: y - STEP / 2, width: STEP + 0.1, height: STEP + 0.1, class: `shade ${owner}`, 'data-owner': owner, opacity: ((owner === 'black' ? 0.42 : 0.5) * size ** 1.3).toFixed(2) }));
    if (stone && stone !== owner && size >= 0.3) taken.push(s('rect', { x: x - 3.2 * size, y: y - 3.2 * size, width: 6.4 * size, height: 6.4 * size, class: `taken ${owner}`, 'data-taken': board.vertex(index) }));
  });
  board.group('area', 'ownership', shades);
  board.group('marks', 'taken', taken);
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

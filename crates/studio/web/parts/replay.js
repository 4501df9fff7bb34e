// @ts-check
// The newest game of a run, played stone by stone; when it ends, the next one.

import { h, raw, show } from '../dom.js';
import { t, n } from '../lang.js';
import { Board } from '../board/board.js';
import { isCalm } from '../settings.js';
import { ask } from '../wire.js';

const MOVE_MS = 350;
const REST_MS = 2500;

/** @param {string} run */
export function makeReplay(run) {
  const board = new Board({ label: t('Newest game of the run') });
  board.canPlay = false;
  const text = h('p', { class: 'small dim' });
  const element = h('section', { class: 'panel replay', 'aria-label': t('Newest game'), hidden: true }, h('h2', {}, t('Newest game, as it was played')), board.element, text);
  /** @type {any} */ let game = null;
  let at = 0;
  /** @type {any} */ let timer = 0;

  async function next() {
    const answer = await ask('run.replay', { run }).catch(() => null);
    const found = answer?.game;
    if (found && found.number !== game?.number) { game = found; at = isCalm() ? found.positions.length - 1 : 0; draw(); }
    timer = setTimeout(game && at < game.positions.length - 1 ? step : next, game && at < game.positions.length - 1 ? MOVE_MS : REST_MS);
  }

  function step() {
    at += 1;
    draw();
    timer = at < game.positions.length - 1 ? setTimeout(step, MOVE_MS) : setTimeout(next, REST_MS);
  }

  function draw() {
    element.hidden = false;
    board.update({ size: game.size, stones: game.positions[at], last: at ? game.moves[at - 1] : null });
    const isOver = at === game.positions.length - 1;
    show(text, raw(`#${game.number}`), ' · ', t('round {round}', { round: game.round ?? 0 }), ' · ', n(at, 'move {n}', 'move {n}'), isOver ? [' · ', raw(game.result)] : '');
  }

  void next();
  return { element, end: () => clearTimeout(timer) };
}

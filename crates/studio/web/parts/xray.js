// @ts-check
// Ladder X-ray: how the hand-made ladder network hears of a ladder, block by block, beside the exact reader.

import { h, raw, s, show, say } from '../dom.js';
import { t } from '../lang.js';
import { Board } from '../board/board.js';
import { ask } from '../wire.js';

const SIZE = 13;
/** White's stone is in atari; its ladder runs to the upper right, where a white stone breaks it. */
const START = [['D4', 'O'], ['C4', 'X'], ['D3', 'X'], ['E4', 'X'], ['C5', 'X'], ['J10', 'O']];
/** How each kind of news is drawn: a class and a sign. @type {Record<string, [string, string]>} */
const SIGNS = { '-': ['open', ''], '!': ['out', '!'], s: ['safe', 's'], t: ['turn', 't'] };

export function makeXray() {
  const board = new Board({ label: t('Ladder to look at: put stones'), onPlay: (at) => put(at) });
  const slider = h('input', { type: 'range', min: 0, max: 0, value: 0, 'aria-label': t('Stage'), oninput: () => draw() });
  const text = h('p', { class: 'small', role: 'status' });
  const list = h('div', { class: 'row tight' });
  let stones = '.'.repeat(SIZE * SIZE);
  let turn = 'white';
  /** @type {any} */ let answer = null;
  /** @type {string|null} */ let chosen = null;
  board.element.classList.add('middling');
  board.update({ size: SIZE, stones, turn });
  for (const [at, stone] of START) set(at, stone);

  const element = h('section', { class: 'panel', 'aria-label': t('Ladder X-ray') }, h('h2', {}, t('Ladder X-ray')),
    h('p', { class: 'small dim' }, t('The ladder network was constructed by hand: news of what a ladder meets comes down the diagonal, a step in each block. Put a stone on the diagonal and watch the verdict change.')),
    board.element, h('label', { class: 'row' }, h('span', {}, t('Stage')), slider), text, list,
    h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => { turn = turn === 'black' ? 'white' : 'black'; void look(); } }, t('Turn')), h('button', { type: 'button', onclick: () => { stones = '.'.repeat(SIZE * SIZE); void look(); } }, t('Clear'))),
    h('p', { class: 'small dim' }, t('Tinted: open, the verdict passes. !: the runner is out here. s: safe, as far as the scan has read. t: the chaser may turn.')));

  function set(/** @type {string} */ at, /** @type {string} */ stone) {
    const index = board.index(at);
    stones = stones.slice(0, index) + stone + stones.slice(index + 1);
  }

  function put(/** @type {string} */ at) {
    const now = stones[board.index(at)];
    set(at, now === '.' ? 'X' : now === 'X' ? 'O' : '.');
    void look();
  }

  async function look() {
    board.update({ size: SIZE, stones, turn });
    answer = await ask('net.ladder', { net: 'inside', size: SIZE, stones, turn, at: chosen }).catch(() => null);
    if (answer && !answer.followed && chosen) { chosen = null; void look(); return; }
    slider.max = String(Math.max(0, (answer?.stages.length ?? 0) - 1));
    slider.value = slider.max;
    const ladders = answer?.ladders ?? [];
    show(list, ladders.map((/** @type {any} */ one) => h('button', { type: 'button', class: 'small', 'aria-pressed': String(one.at === answer.followed), 'data-ladder': one.at, onclick: () => { chosen = one.at; void look(); } }, raw(one.at), ' ', verdict(one))));
    draw();
  }

  function verdict(/** @type {any} */ one) {
    const word = (/** @type {boolean} */ works) => one.kind === 'escape' ? (works ? t('escapes') : t('is caught')) : works ? t('captures') : t('fails');
    if (one.network === null) return t('network: not read, exact: {b}', { b: word(one.exact) });
    return one.network === one.exact ? word(one.exact) : t('network: {a}, exact: {b}', { a: word(one.network), b: word(one.exact) });
  }

  function draw() {
    const stage = answer?.stages[Number(slider.value)];
    // Only news beside the runner's way matters to this ladder.
    const near = new Set((answer?.path ?? []).flatMap((/** @type {string} */ at) => [-1, 0, 1].flatMap((dx) => [-SIZE, 0, SIZE].map((dy) => board.index(at) + dx + dy))));
    board.group('overlay', 'news', stage ? [...stage.news].flatMap((sign, index) => {
      if (!(sign in SIGNS) || stones[index] !== '.' || !near.has(index)) return [];
      const [x, y] = board.place(board.vertex(index));
      return [s('g', { class: `news ${SIGNS[sign][0]}`, transform: `translate(${x} ${y})`, 'data-news': sign }, s('rect', { x: -6, y: -6, width: 12, height: 12, rx: 2 }), s('text', {}, SIGNS[sign][1]))];
    }) : []);
    board.group('area', 'path', (answer?.path ?? []).map((/** @type {string} */ at) => {
      const [x, y] = board.place(at);
      return s('circle', { cx: x, cy: y, r: 9, class: 'newspath' });
    }));
    say(text, stage ? t('After block {block}: the ladder at {at}, stage {n} of {all}.', { block: stage.block, at: answer.followed, n: Number(slider.value) + 1, all: answer.stages.length }) : t('The network recognises no ladder here.'));
  }

  void look();
  return { element, look };
}

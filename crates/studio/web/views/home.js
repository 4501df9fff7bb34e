// @ts-check
// The start page: what can be done, and what was done last.

import { h, raw, s, show } from '../dom.js';
import { t, n } from '../lang.js';
import { Board } from '../board/board.js';
import { chooseFile } from '../app.js';
import { isCalm } from '../settings.js';
import { ask, greeting, tell } from '../wire.js';

/** @param {string} d */
const icon = (d) => s('svg', { viewBox: '0 0 24 24', fill: 'none', stroke: 'var(--accent)', 'stroke-width': '1.6', 'stroke-linecap': 'round', 'stroke-linejoin': 'round', 'aria-hidden': 'true' }, s('path', { d }));
const ICONS = {
  play: 'M4 8h16M4 16h16M8 4v16M16 4v16M12 12m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0',
  analyse: 'M4 19V5M4 19h16M7 15l4-5 3 3 5-7',
  solve: 'M12 3a9 9 0 1 0 9 9M12 7a5 5 0 1 0 5 5M12 12l8-8M17 4h3v3',
  bottle: 'M9 3h6M10 3v4l-3 3v9a2 2 0 0 0 2 2h6a2 2 0 0 0 2-2v-9l-3-3V3M8 14h8',
  train: 'M4 18c4 0 4-4 8-4s4-6 8-8M4 12h.01M8 9h.01M17 18h.01',
};

/** An opening that the empty board dreams of until somebody points at it. */
const DREAM = 'E5 G6 C6 G4 D3 F3 C7 F7 E3 E2 D2 F5 E6 E7 D7 F2 E4 H5'.split(' ');
const DREAM_MS = 700;

/** Plays the opening as faint stones; returns what ends it. @param {Board} board */
function dream(board) {
  let shown = isCalm() ? DREAM.length : 6;
  const draw = () => board.ghosts(DREAM.slice(0, shown).map((at, index) => ({ at, color: index % 2 ? 'white' : 'black', fade: true })));
  const timer = setInterval(() => { if (!isCalm()) { shown = (shown + 1) % (DREAM.length + 6); draw(); } }, DREAM_MS);
  draw();
  return () => { clearInterval(timer); board.ghosts([]); };
}

/** A board as a small picture. @param {string} stones @param {number} size */
function miniature(stones, size) {
  const canvas = h('canvas', { width: 116, height: 116, 'aria-hidden': 'true' });
  const pen = canvas.getContext('2d');
  if (!pen) return canvas;
  const step = 116 / (size + 1);
  pen.fillStyle = '#dcb35c';
  pen.fillRect(0, 0, 116, 116);
  pen.strokeStyle = '#7a5c22';
  pen.lineWidth = 0.7;
  for (let i = 1; i <= size; i += 1) {
    pen.beginPath();
    pen.moveTo(step, i * step); pen.lineTo(size * step, i * step);
    pen.moveTo(i * step, step); pen.lineTo(i * step, size * step);
    pen.stroke();
  }
  [...stones].forEach((stone, index) => {
    if (stone === '.') return;
    pen.fillStyle = stone === 'X' ? '#1a1a1a' : '#f6f3ec';
    pen.beginPath();
    pen.arc(((index % size) + 1) * step, (Math.floor(index / size) + 1) * step, step * 0.47, 0, 7);
    pen.fill();
  });
  return canvas;
}

/** What the engine works with here. */
function machine() {
  return greeting ? [n(greeting.cores, '{n} processor', '{n} processors'), ' · ', n(greeting.threads, 'the engine uses {n}', 'the engine uses {n}'), ' · ', raw(`Tengen ${greeting.version}`)] : '';
}

/** @param {HTMLElement} host @param {any} _params @param {import('../app.js').Shell} shell */
export function mount(host, _params, shell) {
  const begin = async (/** @type {any} */ fields) => { const made = await tell('go.new', fields); if (made) shell.go(`/go/${made.doc}`); return made; };
  const playNow = () => begin({ size: 9, you: 'black' });
  const board = new Board({
    label: t('An empty board: play a stone to begin a game'),
    onPlay: async (at) => { const made = await playNow(); if (made) await tell('go.play', { doc: made.doc, at }); },
  });
  board.update({ size: 9, stones: '.'.repeat(81), turn: 'black' });
  const wake = dream(board);
  for (const event of ['pointerenter', 'pointerdown', 'focusin']) board.element.addEventListener(event, wake, { once: true });
  const tile = (/** @type {keyof typeof ICONS} */ sign, /** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ act) => h('button', { class: 'tile', type: 'button', onclick: act }, icon(ICONS[sign]), h('b', {}, name), h('span', {}, text));
  const recent = h('ul', { class: 'recent' });
  show(host, h('div', { class: 'home' },
    h('div', { class: 'stack boardpart' }, board.element, h('p', { class: 'begin' }, t('Click a point to begin: you are Black, Tengen answers.'))),
    h('div', { class: 'stack' },
      h('h1', {}, t('Play, study and train')),
      h('p', { class: 'lead' }, t('A Go engine, an exact reader of ladders and life and death, and a player of Dr. Mario. All of it runs on this machine; nothing leaves it.')),
      h('div', { class: 'tiles' },
        tile('play', t('Play Go, 9×9 now'), t('You are Black. No dialog, no download.'), playNow),
        tile('analyse', t('Analyse a game'), t('Drop an SGF file anywhere, paste one, or start from an empty board.'), () => begin({ size: 19, you: 'both' })),
        tile('solve', t('Solve a new problem'), t('Life and death, with a proof you can argue with.'), () => shell.go('/problems?new=1')),
        tile('bottle', t('Dr. Mario'), t('Watch the player think, play, or race it.'), () => shell.go('/bottle')),
        tile('train', t('Train from nothing'), t('A network learns on this machine while you watch.'), () => shell.go('/runs'))),
      h('div', { class: 'row' }, h('button', { type: 'button', onclick: chooseFile }, t('Open a file …')), h('span', { class: 'dim small' }, t('or drop a game, a problem or a network anywhere on the page.')))),
    h('section', { class: 'panel wide', 'aria-label': t('Recent') }, h('header', {}, h('h2', {}, t('Recent')), h('div', { class: 'row dim small' }, machine())), recent)));
  host.querySelector('.tile')?.classList.add('first');
  const draw = (/** @type {any[]} */ docs) => show(recent, docs.length === 0 ? h('li', { class: 'dim' }, t('Nothing yet.')) : docs.map((doc) => h('li', {}, h('a', { href: doc.kind === 'problem' ? `/problems/${doc.doc}` : `/go/${doc.doc}` }, miniature(doc.stones, doc.size),
    h('span', {}, raw(doc.title), h('br'), h('span', { class: 'dim small' }, n(doc.moves, '{n} move', '{n} moves')))))));
  draw(greeting?.docs ?? []);
  ask('docs').then((answer) => draw(answer.docs), () => {});
  performance.mark('first-board');
  return { unmount() { wake(); }, keys: () => /** @type {[string, string][]} */ ([['?', t('Help')]]) };
}

// @ts-check
// A Go board: one SVG for the eye, a grid of cells above it for pointer, keys and ear.

import { h, s, set } from '../dom.js';
import { t } from '../lang.js';
import { settings } from '../settings.js';

export const LETTERS = 'ABCDEFGHJKLMNOPQRSTUVWXYZ';
/** Units between two lines. */
const STEP = 20;
/** From the outer line to the edge, without coordinates. */
const MARGIN = 12;
/** Points narrower than this need a second tap. */
const NARROW_PX = 26;
let boards = 0;

/** @param {number} size @returns {[number, number][]} star points, from the top left */
function stars(size) {
  if (size < 7) return size % 2 === 1 && size >= 5 ? [[(size - 1) / 2, (size - 1) / 2]] : [];
  const edge = size > 12 ? 3 : 2;
  const middle = (size - 1) / 2;
  const lines = size % 2 === 1 && size > 12 ? [edge, middle, size - 1 - edge] : [edge, size - 1 - edge];
  /** @type {[number, number][]} */
  const points = lines.flatMap((y) => lines.map((x) => /** @type {[number, number]} */ ([x, y])));
  if (size % 2 === 1 && size <= 12) points.push([middle, middle]);
  return points;
}

export class Board {
  /**
   * @param {{ onPlay?: (at: string, event: any) => void, onPoint?: (at: string|null) => void, describe?: (at: string) => string, label?: string, onContext?: (at: string) => void, onPaint?: (at: string) => void }} options
   */
  constructor(options = {}) {
    this.options = options;
    this.size = 0;
    this.number = ++boards;
    /** @type {string} */ this.stones = '';
    this.turn = 'black';
    /** @type {string|null} */ this.last = null;
    /** @type {Set<string>} */ this.illegal = new Set();
    /** @type {string|null} */ this.armed = null;
    this.cursor = 0;
    this.canPlay = true;
    /** @type {Record<string, string>} */ this.remarks = {};
    this.svg = s('svg', { class: 'goban', 'aria-hidden': 'true', focusable: 'false' });
    this.grid = h('div', { class: 'cells', role: 'grid', 'aria-label': options.label ?? t('Go board') });
    this.element = h('div', { class: 'board' }, this.svg, this.grid);
    this.listen();
  }

  /** The x and y of a vertex in units, the top left point at 0. @param {string} at @returns {[number, number]} */
  place(at) {
    return [LETTERS.indexOf(at[0]) * STEP, (this.size - Number(at.slice(1))) * STEP];
  }

  /** @param {number} index from the top left, row by row */
  vertex(index) {
    return LETTERS[index % this.size] + (this.size - Math.floor(index / this.size));
  }

  /** @param {string} at */
  index(at) {
    return (this.size - Number(at.slice(1))) * this.size + LETTERS.indexOf(at[0]);
  }

  /** Makes lines and cells of a board anew. @param {number} size */
  resize(size) {
    if (size === this.size && settings.coordinates === this.hasCoordinates) return;
    this.size = size;
    this.hasCoordinates = settings.coordinates;
    const span = (size - 1) * STEP;
    // Letters keep their size on the screen whatever the board's size is.
    const letter = Math.min(7, 0.4 * (size + 1));
    const edge = settings.coordinates ? MARGIN + 1.35 * letter : MARGIN;
    const whole = span + 2 * edge;
    set(this.svg, { viewBox: `${-edge} ${-edge} ${whole} ${whole}` });
    const id = (/** @type {string} */ name) => `${name}${this.number}`;
    const gradient = (/** @type {string} */ name, /** @type {string} */ a, /** @type {string} */ b, /** @type {string} */ c) =>
      s('radialGradient', { id: id(name), cx: '38%', cy: '32%', r: '75%' }, s('stop', { offset: '0%', 'stop-color': a }), s('stop', { offset: '45%', 'stop-color': b }), s('stop', { offset: '100%', 'stop-color': c }));
    const lines = [];
    for (let i = 0; i < size; i += 1) {
      lines.push(`M0 ${i * STEP}H${span}M${i * STEP} 0V${span}`);
    }
    const coordinates = s('g', { class: 'coords', 'font-size': letter });
    if (settings.coordinates) {
      for (let i = 0; i < size; i += 1) {
        const number = String(size - i);
        for (const x of [-edge + 0.9 * letter, span + edge - 0.9 * letter]) coordinates.append(s('text', { x, y: i * STEP }, number));
        for (const y of [-edge + 0.9 * letter, span + edge - 0.9 * letter]) coordinates.append(s('text', { x: i * STEP, y }, LETTERS[i]));
      }
    }
    this.layers = {};
    const layer = (/** @type {string} */ name) => (this.layers[name] = s('g', { class: name }));
    this.svg.replaceChildren(
      s('defs', {}, gradient('b', '#6a6a6c', '#262627', '#050505'), gradient('w', '#ffffff', '#f4f2ec', '#c3beb1'),
        s('radialGradient', { id: id('s') }, s('stop', { offset: '80%', 'stop-color': '#000', 'stop-opacity': 0.42 }), s('stop', { offset: '100%', 'stop-color': '#000', 'stop-opacity': 0 }))),
      layer('area'), s('path', { d: lines.join(''), class: 'lines' }),
      s('rect', { x: 0, y: 0, width: span, height: span, class: 'frame' }),
      s('g', { class: 'stars' }, stars(size).map(([x, y]) => s('circle', { cx: x * STEP, cy: y * STEP, r: Math.min(2.1, 0.12 * (size + 1)) }))),
      coordinates, layer('shadows'), layer('stones'), layer('marks'), layer('overlay'), layer('ghosts'), layer('cursor'));
    /** @type {(SVGElement|null)[]} */ this.stoneNodes = new Array(size * size).fill(null);
    this.stones = '.'.repeat(size * size);
    this.drawCells(edge - STEP / 2, whole);
  }

  /** @param {number} edge @param {number} whole */
  drawCells(edge, whole) {
    const inset = `${(100 * edge) / whole}%`;
    this.grid.style.setProperty('inset', inset);
    this.grid.style.setProperty('--side', String(this.size));
    /** @type {HTMLElement[]} */ this.cells = [];
    const rows = [];
    for (let y = 0; y < this.size; y += 1) {
      const row = h('div', { role: 'row' });
      for (let x = 0; x < this.size; x += 1) {
        const at = this.vertex(y * this.size + x);
        const cell = h('div', { role: 'gridcell', tabindex: '-1', 'data-point': at, 'aria-label': at });
        this.cells.push(cell);
        row.append(cell);
      }
      rows.push(row);
    }
    this.grid.replaceChildren(...rows);
    this.cursor = Math.min(this.cursor || Math.floor((this.size * this.size) / 2), this.size * this.size - 1);
    this.cells[this.cursor].tabIndex = 0;
  }

  /** @param {{ size: number, stones: string, last?: string|null, turn?: string, illegal?: string[], marks?: Record<string, string> }} state */
  update(state) {
    this.resize(state.size);
    this.turn = state.turn ?? 'black';
    this.last = state.last && state.last !== 'pass' ? state.last : null;
    this.illegal = new Set(state.illegal ?? []);
    for (let i = 0; i < state.stones.length; i += 1) {
      if (state.stones[i] !== this.stones[i]) this.putStone(i, state.stones[i]);
    }
    this.stones = state.stones;
    this.disarm();
    this.drawMarks(state.marks ?? {});
    this.name();
  }

  /** @param {number} index @param {string} sign */
  putStone(index, sign) {
    this.stoneNodes[index]?.remove();
    this.stoneNodes[index] = null;
    if (sign === '.') return;
    const [x, y] = this.place(this.vertex(index));
    const node = s('g', { class: 'stone', transform: `translate(${x} ${y})` },
      s('circle', { cx: 0.6, cy: 1.3, r: 10.6, fill: `url(#s${this.number})` }),
      s('circle', { r: 9.5, fill: `url(#${sign === 'X' ? 'b' : 'w'}${this.number})`, class: sign === 'X' ? 'black' : 'white' }));
    this.layers.stones.append(node);
    this.stoneNodes[index] = node;
  }

  /** @param {Record<string, string>} marks */
  drawMarks(marks) {
    const layer = this.layers.marks;
    layer.replaceChildren();
    const tone = (/** @type {string} */ at) => ({ X: 'on-black', O: 'on-white' })[this.stones[this.index(at)]] ?? 'on-wood';
    for (const [at, kind] of Object.entries(marks)) {
      const [x, y] = this.place(at);
      const props = { transform: `translate(${x} ${y})`, class: `mark ${tone(at)}` };
      if (kind.startsWith('=')) {
        if (tone(at) === 'on-wood') layer.append(s('circle', { cx: x, cy: y, r: 7.5, class: 'under' }));
        layer.append(s('text', props, kind.slice(1)));
      } else {
        const shapes = { triangle: 'M0 -6L5.4 3.6H-5.4Z', square: 'M-4.4 -4.4H4.4V4.4H-4.4Z', cross: 'M-4.4 -4.4L4.4 4.4M4.4 -4.4L-4.4 4.4', circle: 'M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0' };
        layer.append(s('path', { ...props, d: shapes[/** @type {'cross'} */ (kind)] ?? shapes.circle }));
      }
    }
    if (this.last && !(this.last in marks)) {
      const [x, y] = this.place(this.last);
      layer.append(s('circle', { cx: x, cy: y, r: 4.6, class: `last ${tone(this.last)}` }));
    }
  }

  /** Stones that are not there: a line of moves, numbered. @param {{ at: string, color: string, number?: number|string, fade?: boolean }[]} stones */
  ghosts(stones) {
    const layer = this.layers?.ghosts;
    if (!layer) return;
    layer.replaceChildren();
    /** @type {Set<string>} */ const seen = new Set();
    for (const stone of stones) {
      if (stone.at === 'pass' || seen.has(stone.at)) continue;
      seen.add(stone.at);
      const [x, y] = this.place(stone.at);
      layer.append(s('g', { class: `ghost ${stone.color} ${stone.fade ? 'fade' : ''}`, transform: `translate(${x} ${y})`, 'data-ghost': stone.at },
        s('circle', { r: 9.2, fill: `url(#${stone.color === 'black' ? 'b' : 'w'}${this.number})` }),
        stone.number !== undefined ? s('text', {}, stone.number) : null));
    }
  }

  /** Whatever a view draws above the stones. @param {string} name @param {SVGElement[]} nodes */
  draw(name, nodes) {
    const layer = this.layers?.[name];
    if (!layer) return;
    let own = layer.querySelector(':scope > g.own');
    if (!own) layer.append(own = s('g', { class: 'own' }));
    own.replaceChildren(...nodes);
  }

  /** A named group of its own in a layer. @param {string} layer @param {string} name @param {SVGElement[]} nodes */
  group(layer, name, nodes) {
    const parent = this.layers?.[layer];
    if (!parent) return;
    let own = parent.querySelector(`:scope > g[data-group="${name}"]`);
    if (!own) parent.append(own = s('g', { 'data-group': name }));
    own.replaceChildren(...nodes);
  }

  /** Names of cells: what a partner would say. */
  name() {
    for (let i = 0; i < this.cells.length; i += 1) {
      const at = this.vertex(i);
      const stone = { X: t('black'), O: t('white'), '.': t('empty') }[this.stones[i]];
      let text = `${at}, ${stone}`;
      if (at === this.last) text += `, ${t('last move')}`;
      if (this.remarks[at]) text += `, ${this.remarks[at]}`;
      const more = this.options.describe?.(at);
      if (more) text += `, ${more}`;
      const cell = this.cells[i];
      if (cell.getAttribute('aria-label') !== text) cell.setAttribute('aria-label', text);
    }
  }

  /** What overlays say about points, for the ear. @param {Record<string, string>} remarks */
  remark(remarks) {
    this.remarks = remarks;
    this.name();
  }

  listen() {
    const at = (/** @type {Event} */ event) => /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (event.target).closest?.('[data-point]'))?.dataset.point ?? null;
    /** @type {string|null} */ let pressed = null;
    let isTouch = false;
    /** @type {any} */ let hold = 0;
    this.grid.addEventListener('pointerdown', (event) => {
      pressed = at(event);
      isTouch = event.pointerType !== 'mouse';
      clearTimeout(hold);
      if (isTouch && pressed && this.options.onContext) {
        const where = pressed;
        hold = setTimeout(() => { pressed = null; this.options.onContext?.(where); }, 600);
      }
      if (!isTouch && event.button === 0 && pressed) this.options.onPaint?.(pressed);
    });
    this.grid.addEventListener('pointerup', (event) => {
      clearTimeout(hold);
      const where = document.elementFromPoint(event.clientX, event.clientY)?.closest?.('[data-point]');
      const released = where instanceof HTMLElement && this.grid.contains(where) ? where.dataset.point ?? null : null;
      if (released && released === pressed && event.button === 0) this.chosen(released, event, isTouch);
      pressed = null;
    });
    this.grid.addEventListener('pointermove', (event) => {
      if (event.pointerType !== 'mouse') return;
      const where = at(event);
      if (where !== this.hovered) {
        this.hovered = where;
        this.ghostCursor(where);
        this.options.onPoint?.(where);
        if (event.buttons === 1 && where) this.options.onPaint?.(where);
      }
    });
    this.grid.addEventListener('pointerleave', (event) => {
      // A finger that is lifted leaves too; its ghost stays for the second tap.
      if (event.pointerType !== 'mouse') return;
      this.hovered = null; this.ghostCursor(null); this.options.onPoint?.(null); });
    this.grid.addEventListener('contextmenu', (event) => {
      const where = at(event);
      if (where && this.options.onContext) { event.preventDefault(); this.options.onContext(where); }
    });
    this.grid.addEventListener('focusin', (event) => { const where = at(event); if (where) { this.moveCursor(this.index(where), false); this.options.onPoint?.(where); } });
    this.grid.addEventListener('focusout', () => this.options.onPoint?.(null));
    this.grid.addEventListener('keydown', (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.size, ArrowDown: this.size };
      const step = steps[/** @type {'ArrowUp'} */ (event.key)];
      if (step !== undefined && !event.ctrlKey && !event.altKey) {
        const x = this.cursor % this.size;
        const next = this.cursor + step;
        const wraps = (step === -1 && x === 0) || (step === 1 && x === this.size - 1);
        if (!wraps && next >= 0 && next < this.size * this.size) this.moveCursor(next, true);
        event.preventDefault();
        event.stopPropagation();
      } else if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        event.stopPropagation();
        this.options.onPlay?.(this.vertex(this.cursor), event);
      }
    });
  }

  /** @param {string} at @param {PointerEvent} event @param {boolean} isTouch */
  chosen(at, event, isTouch) {
    const width = this.element.clientWidth / (this.size + 1);
    const needsTwo = isTouch && settings.secondTap && width < NARROW_PX && this.canPlay;
    if (needsTwo && this.armed !== at) {
      this.armed = at;
      this.ghostCursor(at, true);
      return;
    }
    this.disarm();
    this.options.onPlay?.(at, event);
  }

  disarm() {
    this.armed = null;
    this.ghostCursor(null);
  }

  /** @param {string|null} at @param {boolean} [isArmed] */
  ghostCursor(at, isArmed = false) {
    const layer = this.layers?.cursor;
    if (!layer) return;
    layer.replaceChildren();
    if (!at || !this.canPlay || this.stones[this.index(at)] !== '.' || this.illegal.has(at)) return;
    const [x, y] = this.place(at);
    const span = (this.size - 1) * STEP;
    if (isArmed) layer.append(s('path', { d: `M0 ${y}H${span}M${x} 0V${span}`, class: 'cross' }));
    layer.append(s('circle', { cx: x, cy: y, r: 9.2, class: `hover ${this.turn} ${isArmed ? 'armed' : ''}`, 'data-hover': at }));
  }

  /** @param {number} index @param {boolean} withFocus */
  moveCursor(index, withFocus) {
    this.cells[this.cursor].tabIndex = -1;
    this.cursor = index;
    this.cells[index].tabIndex = 0;
    if (withFocus) this.cells[index].focus();
  }

  /** The point under the pointer or the cursor. */
  pointed() {
    return this.hovered ?? this.vertex(this.cursor);
  }
}

export { STEP };

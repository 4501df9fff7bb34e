// @ts-check
// A bottle on a canvas, in whole pixels.

import { h } from '../dom.js';
import { HEIGHT, WIDTH, content } from './control.js';
import { COLORS, cellSprite, sprite } from './sprites.js';

const CELL = 8;
const NECK = 16;
const WALL = 6;

export class Bottle {
  /** @param {string} label */
  constructor(label) {
    this.canvas = h('canvas', { class: 'bottle', width: WIDTH * CELL + 2 * WALL, height: HEIGHT * CELL + NECK + WALL, role: 'img', 'aria-label': label });
    this.pen = this.canvas.getContext('2d');
    /** @type {number[]} */ this.cells = new Array(128).fill(0);
    /** @type {Set<number>} */ this.clearing = new Set();
    /** @type {{ pose: any, pill: number[] }|null} */ this.falling = null;
    /** @type {any[]} */ this.ghosts = [];
    this.highlight = -1;
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  place(x, y) {
    return [WALL + x * CELL, NECK + (HEIGHT - 1 - y) * CELL];
  }

  /** @param {boolean} second which frame of the viruses */
  draw(second) {
    const pen = this.pen;
    const [width, height] = [this.canvas.width, this.canvas.height];
    pen.imageSmoothingEnabled = false;
    pen.clearRect(0, 0, width, height);
    // Glass: a neck over the two middle columns.
    const deep = pen.createLinearGradient(0, NECK, 0, height);
    deep.addColorStop(0, '#1b2747');
    deep.addColorStop(1, '#0a0e1b');
    pen.fillStyle = deep;
    pen.fillRect(WALL, NECK, WIDTH * CELL, HEIGHT * CELL);
    pen.fillRect(WALL + 3 * CELL, 2, 2 * CELL, NECK);
    // Columns, hardly seen: where a pill will fall.
    pen.fillStyle = '#ffffff08';
    for (let x = 0; x < WIDTH; x += 2) pen.fillRect(WALL + x * CELL, NECK, CELL, HEIGHT * CELL);
    // Three tones from the outside in, the corners cut.
    [['#4c648c', 4], ['#86a3cc', 3], ['#d3e2f5', 1]].forEach(([tone, thick]) => {
      const [w, bottom, right] = [Number(thick), NECK + HEIGHT * CELL, WALL + WIDTH * CELL];
      pen.fillStyle = String(tone);
      pen.fillRect(WALL - w, NECK - 1, w, HEIGHT * CELL + 1);
      pen.fillRect(right, NECK - 1, w, HEIGHT * CELL + 1);
      pen.fillRect(WALL, bottom, WIDTH * CELL, w);
      pen.fillRect(WALL, NECK - w, 3 * CELL, w);
      pen.fillRect(WALL + 5 * CELL, NECK - w, 3 * CELL, w);
      pen.fillRect(WALL + 3 * CELL - w, 3, w, NECK - 3);
      pen.fillRect(WALL + 5 * CELL, 3, w, NECK - 3);
    });
    // The lip.
    pen.fillStyle = '#86a3cc';
    pen.fillRect(WALL + 3 * CELL - 6, 0, 6, 4);
    pen.fillRect(WALL + 5 * CELL, 0, 6, 4);
    pen.fillStyle = '#d3e2f5';
    pen.fillRect(WALL + 3 * CELL - 5, 1, 4, 1);
    pen.fillRect(WALL + 5 * CELL + 1, 1, 4, 1);
    this.cells.forEach((code, index) => {
      if (code === 0) return;
      const [x, y] = this.place(index % WIDTH, Math.floor(index / WIDTH));
      pen.drawImage(this.clearing.has(index) ? sprite('pop', (code - 1) % 3) : cellSprite(code, second), x, y);
    });
    this.ghosts.forEach((ghost, index) => {
      if (this.highlight >= 0 && this.highlight !== index) return;
      pen.globalAlpha = this.highlight === index ? 0.9 : 0.12 + 0.6 * ghost.share;
      this.halves(ghost, ghost.colors);
      pen.globalAlpha = 1;
    });
    if (this.falling) this.halves(this.falling.pose, content(this.falling.pill, this.falling.pose.turns));
  }

  /** @param {any} pose @param {number[]} colors */
  halves(pose, colors) {
    const isUpright = (pose.turns & 1) !== 0;
    const [x, y] = this.place(pose.x, pose.y);
    this.pen.drawImage(sprite(isUpright ? 'bottom' : 'left', colors[0]), x, y);
    const [x2, y2] = isUpright ? this.place(pose.x, pose.y + 1) : this.place(pose.x + 1, pose.y);
    this.pen.drawImage(sprite(isUpright ? 'top' : 'right', colors[1]), x2, y2);
  }

  /** The bottle in letters, for the ear. */
  text() {
    const letters = 'ryb';
    const rows = [];
    for (let y = HEIGHT - 1; y >= 0; y -= 1) {
      rows.push(Array.from({ length: WIDTH }, (_, x) => { const code = this.cells[y * WIDTH + x]; return code === 0 ? '.' : code <= 3 ? letters[code - 1].toUpperCase() : letters[(code - 1) % 3]; }).join(''));
    }
    return rows.join('\n');
  }
}

/** A pill beside the bottle. @param {number[]} pill */
export function pillPicture(pill) {
  const canvas = h('canvas', { class: 'pill', width: 2 * CELL, height: CELL, 'aria-hidden': 'true' });
  const pen = canvas.getContext('2d');
  pen?.drawImage(sprite('left', pill[0]), 0, 0);
  pen?.drawImage(sprite('right', pill[1]), CELL, 0);
  return canvas;
}

/** A virus that counts. @param {number} color */
export function virusPicture(color) {
  const canvas = h('canvas', { class: 'virus', width: CELL, height: CELL, 'aria-hidden': 'true' });
  canvas.getContext('2d')?.drawImage(sprite(`virus${color}`, color), 0, 0);
  return canvas;
}
export { COLORS };

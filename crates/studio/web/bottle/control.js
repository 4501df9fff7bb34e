// @ts-check
// The control phase of one pill, frame by frame, exactly as `mario::reach::timed` plays it.
//
// Each frame: the drop (forced when the counter ends, or asked for with down, which is looked at every second frame
// only), the step to the side, the turns. A button acts when it goes down. A drop that is blocked locks the pill.

export const LEFT = 1;
export const RIGHT = 2;
export const DOWN = 4;
export const A = 8;
export const B = 16;

export const WIDTH = 8;
export const HEIGHT = 16;
/** Frames a second of the console. */
export const RATE = 60.0988;
/** A held direction repeats after this many frames, and then every so many. */
const FIRST_REPEAT = 16;
const NEXT_REPEAT = 6;

/** @typedef {{ turns: number, x: number, y: number }} Pose */

/** @param {number[]} board @param {number} x @param {number} y */
const isFree = (board, x, y) => board[y * WIDTH + x] === 0;

/** @param {number[]} board @param {Pose} pose */
export function fits(board, pose) {
  if (pose.x < 0 || pose.x >= WIDTH || pose.y < 0 || pose.y >= HEIGHT || !isFree(board, pose.x, pose.y)) return false;
  if (pose.turns & 1) return pose.y + 1 === HEIGHT || isFree(board, pose.x, pose.y + 1);
  return pose.x + 1 < WIDTH && isFree(board, pose.x + 1, pose.y);
}

/** @param {number[]} board @param {Pose} pose @param {number} step */
function moved(board, pose, step) {
  const next = { ...pose, x: pose.x + step };
  return fits(board, next) ? next : null;
}

/** @param {number[]} board @param {Pose} pose @param {number} quarter */
function turned(board, pose, quarter) {
  const next = { ...pose, turns: (pose.turns + quarter) & 3 };
  if (fits(board, next)) return next;
  return pose.turns & 1 ? moved(board, next, -1) : null;
}

export class Falling {
  /** @param {number[]} board cells from the bottom left, 0 is empty @param {number} framesPerRow */
  constructor(board, framesPerRow) {
    this.board = board;
    this.framesPerRow = framesPerRow;
    /** @type {Pose} */ this.pose = { turns: 0, x: 3, y: 15 };
    this.framesLeft = framesPerRow;
    this.checksDown = true;
    this.held = 0;
  }

  /** One frame. @param {number} held @returns {boolean} whether the pill has locked */
  step(held) {
    this.framesLeft = Math.max(0, this.framesLeft - 1);
    const isDown = this.checksDown && (held & DOWN) !== 0;
    if (isDown || this.framesLeft === 0) {
      const lower = { ...this.pose, y: this.pose.y - 1 };
      if (!fits(this.board, lower)) return true;
      this.pose = lower;
      this.framesLeft = this.framesPerRow;
    }
    const pressed = held & ~this.held;
    if (pressed & LEFT) this.pose = moved(this.board, this.pose, -1) ?? this.pose;
    if (pressed & RIGHT) this.pose = moved(this.board, this.pose, 1) ?? this.pose;
    for (const [button, quarter] of [[A, 1], [B, 3]]) {
      if (!(pressed & button)) continue;
      const after = turned(this.board, this.pose, quarter);
      if (!after) continue;
      const fallsFlat = (this.pose.turns & 1) !== 0;
      this.pose = after;
      if (fallsFlat && held & LEFT) this.pose = moved(this.board, this.pose, -1) ?? this.pose;
    }
    this.checksDown = !this.checksDown;
    this.held = held;
    return false;
  }
}

/** Fingers on keys to buttons of the console: a direction that is held lets go for one frame before each repeat. */
export class Fingers {
  constructor() {
    this.down = 0;
    this.since = { [LEFT]: 0, [RIGHT]: 0 };
  }

  /** @param {number} button */
  press(button) {
    if (this.down & button) return;
    this.down |= button;
    if (button === LEFT || button === RIGHT) this.since[button] = 0;
    this.tapped = (this.tapped ?? 0) | button;
  }

  /** @param {number} button */
  release(button) {
    this.down &= ~button;
  }

  /** The buttons of the coming frame. A tap shorter than a frame still counts. */
  frame() {
    let held = this.down | (this.tapped ?? 0);
    this.tapped = 0;
    for (const button of [LEFT, RIGHT]) {
      if (!(this.down & button)) continue;
      const frames = this.since[button]++;
      const beforeRepeat = frames === FIRST_REPEAT - 1 || (frames > FIRST_REPEAT && (frames - FIRST_REPEAT) % NEXT_REPEAT === NEXT_REPEAT - 1);
      if (beforeRepeat) held &= ~button;
    }
    return held;
  }
}

/** Frames as runs: `[held, count]`. @param {number[]} frames @returns {[number, number][]} */
export function runs(frames) {
  /** @type {[number, number][]} */ const list = [];
  for (const held of frames) {
    const last = list[list.length - 1];
    if (last && last[0] === held) last[1] += 1;
    else list.push([held, 1]);
  }
  return list;
}

/** The colours of a pill after quarter turns: the cell that names the place, and the other one. @param {number[]} pill @param {number} turns */
export const content = (pill, turns) => turns === 0 || turns === 3 ? [pill[0], pill[1]] : [pill[1], pill[0]];

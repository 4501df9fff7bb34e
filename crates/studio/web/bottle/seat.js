// @ts-check
// One side of a game: a bottle, who plays it, and where its pill is.

import { Bottle, pillPicture, virusPicture } from './bottle.js';
import { Falling, Fingers, RATE, runs } from './control.js';
import { h, raw, show } from '../dom.js';
import { t, n, number } from '../lang.js';
import { ask } from '../wire.js';

export class Seat {
  /** @param {number} side @param {string} name @param {{ onEnd: (seat: Seat) => void, onFail: (failure: any) => void, onState: () => void }} act */
  constructor(side, name, act) {
    this.side = side;
    this.act = act;
    this.name = name;
    this.bottle = new Bottle(t('Bottle of {name}', { name }));
    this.fingers = new Fingers();
    this.facts = h('dl', { class: 'bottlefacts' });
    this.element = h('div', { class: 'seat' }, h('h2', { 'data-raw': '' }, name), this.bottle.canvas, this.facts);
    this.phase = 'none';
    /** @type {any} */ this.state = null;
    /** @type {any} */ this.thought = null;
    this.drift = 0;
  }

  /** @param {any} settings level, seed, speed, and for a computer player and playouts */
  async start(settings) {
    this.settings = settings;
    /** The best score so far, where a person plays. @type {number|null} */ this.top = settings.player ? null : settings.top ?? 0;
    this.elapsed = 0;
    this.phase = 'waiting';
    this.take(await ask('bottle.new', { side: this.side, level: settings.level, seed: settings.seed, speed: settings.speed }));
    await this.launch();
  }

  /** @param {any} state */
  take(state) {
    this.state = state;
    this.bottle.cells = state.board;
    this.drawFacts();
    this.act.onState();
  }

  drawFacts() {
    const state = this.state;
    const line = (/** @type {string} */ name, /** @type {any} */ value) => [h('dt', {}, name), h('dd', { class: 'num' }, value)];
    const seconds = Math.floor(this.elapsed / RATE);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    show(this.facts, line(t('Next'), pillPicture(state.next)), line(t('Viruses'), [raw(number(state.left), 'left'), ' ', state.viruses.map((/** @type {number} */ count, /** @type {number} */ color) => [virusPicture(color), raw(count), ' '])]),
      line(t('Score'), raw(number(state.points), 'points')), line(t('Pills'), raw(number(state.placed))),
      this.top === null ? line(t('Level'), raw(`${this.settings.level} ${this.settings.speed}`)) : line(t('Top'), raw(number(Math.max(this.top, state.points)), 'top')), line(t('Time'), raw(clock, 'time')),
      state.waiting ? line(t('Coming'), n(state.waiting, '{n} half', '{n} halves')) : []);
  }

  async launch() {
    if (this.state.ending) {
      this.phase = 'over';
      this.bottle.falling = null;
      this.bottle.ghosts = [];
      this.act.onEnd(this);
      return;
    }
    this.falling = new Falling(this.state.board, this.state.frames_per_row);
    /** @type {number[]} */ this.frames = [];
    this.bottle.falling = { pose: this.falling.pose, pill: this.state.pill };
    if (this.settings.player) {
      this.phase = 'waiting';
      try {
        this.thought = await ask('bottle.think', { side: this.side, player: this.settings.player, playouts: this.settings.playouts, generation: this.settings.generation });
      } catch (failure) {
        if (failure.code !== 'lost') this.act.onFail(failure);
        return;
      }
      this.act.onState();
    }
    this.bottle.ghosts = this.thought && this.settings.ghosts ? this.thought.ghosts : [];
    this.phase = 'falling';
  }

  /** One frame of the console. */
  frame() {
    if (this.phase !== 'none' && this.phase !== 'over') this.elapsed += 1;
    if (this.phase === 'falling') {
      const held = this.settings.player ? this.thought.frames[this.frames.length] ?? 0 : this.fingers.frame();
      this.frames.push(held);
      const isLocked = this.falling.step(held);
      this.bottle.falling = { pose: this.falling.pose, pill: this.state.pill };
      if (isLocked) void this.locked();
    } else if (this.phase === 'showing') {
      this.wait -= 1;
      if (this.wait <= 0) this.nextScene();
    }
  }

  async locked() {
    this.phase = 'waiting';
    const pose = { ...this.falling.pose };
    let state;
    try {
      state = await ask('bottle.locked', { side: this.side, frames: runs(this.frames) });
    } catch (failure) {
      if (failure.code !== 'lost') this.act.onFail(failure);
      return;
    }
    const at = state.placement;
    if (at.x !== pose.x || at.y !== pose.y || at.turns !== pose.turns) this.drift += 1;
    this.bottle.falling = null;
    this.bottle.ghosts = [];
    this.next = state;
    this.scenes = [...state.scenes];
    this.phase = 'showing';
    this.nextScene();
  }

  nextScene() {
    const scene = this.scenes.shift();
    if (!scene) {
      this.bottle.clearing = new Set();
      this.phase = 'waiting';
      this.take(this.next);
      void this.launch();
      return;
    }
    this.bottle.cells = scene.board;
    this.bottle.clearing = new Set(scene.clearing);
    this.wait = scene.frames;
  }
}

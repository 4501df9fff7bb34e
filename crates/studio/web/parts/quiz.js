// @ts-check
// A quiz on the mistakes of a game: guess the better move. Nothing of the answer is in the page before it is given.

import { h, raw, show } from '../dom.js';
import { t, n, number, percent } from '../lang.js';
import { ask, tell } from '../wire.js';

/** Tries before the answer is told. */
const TRIES = 2;
/** A move within this of the best is right. */
const AS_GOOD = 0.02;

export class Quiz {
  /** @param {any} view @param {HTMLElement} panel @param {() => void} done */
  constructor(view, panel, done) {
    this.view = view;
    this.panel = panel;
    this.done = done;
    const you = view.doc.table.you;
    const all = [...(view.graph?.mistakes ?? [])].sort((a, b) => a.number - b.number);
    const own = all.filter((mistake) => you !== 'black' && you !== 'white' || mistake.color === you);
    this.questions = (own.length ? own : all).map((mistake) => ({ node: mistake.node, number: mistake.number, color: mistake.color }));
    this.at = -1;
    this.right = 0;
    this.isBusy = false;
    panel.hidden = false;
    if (this.questions.length === 0) this.finish();
    else this.next();
  }

  next() {
    this.at += 1;
    this.tries = 0;
    if (this.at >= this.questions.length) { this.finish(); return; }
    const question = this.questions[this.at];
    const parent = this.view.doc.tree?.find((/** @type {any[]} */ node) => node[0] === question.node)?.[1];
    this.before = parent ?? 0;
    void tell('go.goto', { doc: this.view.id, node: this.before });
    this.draw(h('p', {}, t('Move {number}: {color} played something worse here. Find a better move on the board.', { number: question.number, color: question.color === 'black' ? t('Black') : t('White') })));
  }

  /** @param {Node} words @param {...Node} buttons */
  draw(words, ...buttons) {
    show(this.panel, h('header', {}, h('h2', {}, t('Quiz')), h('span', { class: 'dim small', 'data-raw': '' }, `${Math.min(this.at + 1, this.questions.length)}/${this.questions.length}`)), h('div', { role: 'status' }, words),
      h('div', { class: 'row' }, buttons, h('button', { type: 'button', onclick: () => this.end() }, t('End the quiz'))));
  }

  /** The user's guess. @param {string} at @returns {boolean} whether the quiz takes it */
  play(at) {
    if (this.at >= this.questions.length || this.isBusy || this.view.doc.node !== this.before) return true;
    this.isBusy = true;
    this.draw(h('p', {}, t('Reading {move} …', { move: at })));
    ask('review.guess', { doc: this.view.id, node: this.questions[this.at].node, at }).then((answer) => { this.isBusy = false; this.judge(at, answer); }, (failure) => { this.isBusy = false; this.view.shell.fail(failure); this.draw(h('p', {}, t('Try another move.'))); });
    return true;
  }

  /** @param {string} at @param {any} answer */
  judge(at, answer) {
    this.tries += 1;
    const isRight = answer.loss <= AS_GOOD;
    const gain = answer.game_loss - answer.loss;
    const next = h('button', { type: 'button', class: 'main', onclick: () => { this.view.shown = null; this.next(); } }, this.at + 1 < this.questions.length ? t('Next') : t('Score'));
    if (isRight) {
      this.right += this.tries === 1 ? 1 : 0.5;
      this.draw(h('p', { class: 'right' }, t('Right: {move} is better than the game by {gain}.', { move: at, gain: percent(Math.max(gain, 0)) })), next);
      return;
    }
    let color = this.view.doc.turn;
    this.view.shown = [at, ...answer.refutation].slice(0, 6).map((/** @type {string} */ point, /** @type {number} */ index) => { const stone = { at: point, color, number: index + 1 }; color = color === 'black' ? 'white' : 'black'; return stone; });
    this.view.drawThinking();
    const verdict = gain > AS_GOOD ? t('Better than the game by {gain}, but not best: it loses {loss}.', { gain: percent(gain), loss: percent(answer.loss) }) : t('{move} loses {loss}. The answer is shown on the board.', { move: at, loss: percent(answer.loss) });
    if (this.tries < TRIES) {
      this.draw(h('p', {}, verdict, ' ', t('One more try.')), h('button', { type: 'button', class: 'main', onclick: () => { this.view.shown = null; this.view.drawThinking(); this.draw(h('p', {}, t('One more try.'))); } }, t('Try again')));
    } else {
      this.draw(h('p', {}, verdict, ' ', t('Best was'), ' ', raw(answer.best), '.'), next);
    }
  }

  /** The board went elsewhere. @param {any} _doc */
  moved(_doc) {}

  finish() {
    this.at = this.questions.length;
    this.draw(h('p', {}, this.questions.length === 0 ? t('There are no mistakes to ask about.') : t('{right} of {all} right.', { right: number(this.right, this.right % 1 ? 1 : 0), all: number(this.questions.length) })));
  }

  end() {
    this.view.shown = null;
    this.done();
  }
}
export { n };

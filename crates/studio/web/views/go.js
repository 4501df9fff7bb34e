// @ts-check
// Go: play, analyse and review in one view.

import { h, raw, show, say, inFrame } from '../dom.js';
import { t, n, number, percent } from '../lang.js';
import { Board } from '../board/board.js';
import * as overlay from '../board/overlay.js';
import { choose, settings } from '../settings.js';
import { ask, download, engine, greeting, http, on, tell } from '../wire.js';
import { makeClocks } from '../parts/clock.js';
import { makeCandidates } from '../parts/candidates.js';
import { makeGraph } from '../parts/graph.js';
import { makeMistakes } from '../parts/mistakes.js';
import { newGameDialog } from '../parts/newgame.js';
import { makeOverlays } from '../parts/overlays.js';
import { Quiz } from '../parts/quiz.js';
import { makeTree } from '../parts/tree.js';
import { makeWhy } from '../parts/why.js';

/** @param {HTMLElement} host @param {{ id: string, query: URLSearchParams }} params @param {import('../app.js').Shell} shell */
export function mount(host, params, shell) {
  if (!params.id) return start(host, shell);
  const view = new GoView(host, params.id, shell);
  return view;
}

/** Without a document: the last one, or a new board. @param {HTMLElement} host @param {import('../app.js').Shell} shell */
function start(host, shell) {
  show(host, h('p', { class: 'dim' }, t('Opening a board …')));
  ask('docs').then(async ({ docs }) => {
    const last = docs.find((/** @type {any} */ doc) => doc.kind === 'game');
    const doc = last?.doc ?? (await tell('go.new', { size: 9, you: 'black' }))?.doc;
    if (doc) { history.replaceState(null, '', `/go/${doc}`); shell.go(`/go/${doc}`); }
  }, () => {});
  return { unmount() {} };
}

class GoView {
  /** @param {HTMLElement} host @param {string} id @param {import('../app.js').Shell} shell */
  constructor(host, id, shell) {
    this.id = id;
    this.shell = shell;
    /** @type {any} */ this.doc = null;
    /** @type {any} */ this.think = null;
    /** @type {any} */ this.graph = null;
    this.isThinking = false;
    this.isHidden = false;
    /** @type {string|null} */ this.pointed = null;
    /** @type {string|null} */ this.chosenLine = null;
    /** @type {any[]|null} */ this.shown = null;
    /** @type {number|null} */ this.countedAt = null;
    /** @type {Quiz|null} */ this.quiz = null;
    this.ends = [];
    this.build(host);
    this.drawSoon = inFrame(() => this.drawThinking());
    this.ends.push(
      on('doc', (event) => this.receive(event)),
      on('graph', (event) => { if (event.doc === id) { this.graph = event; this.drawGraph(); } }),
      on('think', (event) => { if (event.doc === id) { this.think = event; this.drawSoon(); } }),
      on('review', (event) => { if (event.doc === id) this.drawReview(event); }),
      on('engine', (event) => this.drawEngine(event)));
    this.onSight = () => this.see();
    document.addEventListener('visibilitychange', this.onSight);
    this.onSettings = () => { if (this.doc) this.redraw(); };
    window.addEventListener('settings', this.onSettings);
    this.drawEngine(engine);
    this.see();
  }

  unmount() {
    for (const end of this.ends) end();
    this.clocks.end();
    document.removeEventListener('visibilitychange', this.onSight);
    window.removeEventListener('settings', this.onSettings);
    if (this.isThinking) void ask('think.stop').catch(() => {});
    void ask('see', { doc: null, visible: true }).catch(() => {});
  }

  /** After the connection was lost. */
  reconnect() {
    this.see();
    if (this.isThinking) this.startThinking();
  }

  async see() {
    try {
      await ask('see', { doc: this.id, visible: this.shell.isHere() });
    } catch (failure) {
      if (failure.code === 'document') {
        this.shell.fail(failure);
        this.shell.go('/');
      }
    }
  }

  /** @param {HTMLElement} host */
  build(host) {
    this.board = new Board({
      onPlay: (at) => this.play(at),
      onPoint: (at) => { this.pointed = at; this.drawSoon(); },
      onContext: (at) => this.why.ask(at),
    });
    this.black = h('div', { class: 'player black' });
    this.white = h('div', { class: 'player white' });
    this.facts = h('p', { class: 'small dim' });
    this.board.element.addEventListener('wheel', (/** @type {WheelEvent} */ event) => this.wheel(event), { passive: false });
    this.clocks = makeClocks((text) => this.shell.announce(text));
    this.bar = h('div', { class: 'winbar unknown', role: 'img', 'aria-label': t('Not judged yet') });
    this.candidates = makeCandidates({
      onPoint: (at) => { this.chosenLine = at; this.drawSoon(); },
      onPlay: (at) => this.play(at),
      onMore: (more, longer) => { choose({ candidates: Math.max(1, Math.min(50, settings.candidates + more)), line: Math.max(1, Math.min(30, settings.line + longer)) }); if (this.isThinking) this.startThinking(); },
    });
    this.graphPart = makeGraph((node) => this.goTo(node));
    this.mistakes = makeMistakes({ goTo: (node) => this.goTo(node), quiz: () => this.startQuiz() });
    this.tree = makeTree((node) => this.goTo(node));
    this.comment = h('textarea', { 'aria-label': t('Comment on this move'), placeholder: t('Comment'), onchange: () => tell('go.edit', { doc: this.id, comment: this.comment.value }) });
    this.overlays = makeOverlays(this.board, () => this.id, (legend) => show(this.legend, legend));
    this.legend = h('p', { class: 'legend', role: 'status' });
    this.why = makeWhy(() => this.id, (stones, zone) => { this.shown = stones; overlay.tint(this.board, 'relevance', zone, 'zone'); this.drawThinking(); });
    this.thinkButton = h('button', { type: 'button', 'aria-pressed': 'false', title: t('Think about this position (space)'), onclick: () => this.toggleThinking() }, t('Think'));
    this.hideButton = h('button', { type: 'button', 'aria-pressed': 'false', title: t('Think, but do not show me (h)'), onclick: () => this.toggleHidden() }, t('Hide'));
    this.numbersButton = h('button', { type: 'button', class: 'small', 'aria-pressed': 'false', title: t('Number the moves'), onclick: () => { choose({ numbers: !settings.numbers }); } }, t('Numbers'));
    const step = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ act) => h('button', { type: 'button', class: 'flat icon', 'aria-label': name, title: name, onclick: act }, h('span', { 'aria-hidden': 'true', 'data-raw': '' }, sign));
    this.where = h('span', { class: 'where num' });
    this.reviewButton = h('button', { type: 'button', title: t('Go through the whole game (r)'), onclick: () => this.review() }, t('Review'));
    this.progress = h('progress', { hidden: true, 'aria-label': t('Review'), max: 1, value: 0 });
    this.reviewNote = h('p', { class: 'small dim', role: 'status' });
    this.moveField = h('input', { type: 'text', class: 'movefield', placeholder: t('d4, pass, undo, 34'), 'aria-label': t('Type a move or a command'), hidden: true, onkeydown: (/** @type {KeyboardEvent} */ event) => this.typed(event) });
    this.quizPanel = h('section', { class: 'panel', hidden: true, 'aria-label': t('Quiz') });
    this.steps = h('div', { class: 'row tight steps' },
      h('div', { class: 'row' }, step('|◀', t('To the start (Home)'), () => this.stepTo(-Infinity)), step('◀◀', t('Ten moves back (Shift and left)'), () => this.stepTo(-10)), step('◀', t('One move back (left)'), () => this.stepTo(-1)),
      this.where, step('▶', t('One move forward (right)'), () => this.stepTo(1)), step('▶▶', t('Ten moves forward (Shift and right)'), () => this.stepTo(10)), step('▶|', t('To the end (End)'), () => this.stepTo(Infinity))),
      h('div', { class: 'row acts' }, h('button', { type: 'button', title: t('Take back (u)'), onclick: () => this.undo() }, t('Take back')), h('button', { type: 'button', title: t('Pass (.)'), onclick: () => this.play('pass') }, t('Pass')),
      this.resignButton = h('button', { type: 'button', onclick: () => tell('go.resign', { doc: this.id }) }, t('Resign')), h('button', { type: 'button', title: t('The engine moves (Enter)'), onclick: () => tell('go.genmove', { doc: this.id, rev: this.doc?.rev }) }, t('Engine moves'))));
    const save = h('div', { class: 'row' },
      h('button', { type: 'button', class: 'main', onclick: () => newGameDialog(this.shell) }, t('New game …')),
      h('button', { type: 'button', title: t('Save the record with what was found (Ctrl S)'), onclick: () => this.save() }, t('Save SGF')),
      h('button', { type: 'button', title: t('The graph as a picture'), onclick: () => download(`/api/docs/${this.id}.svg`, `${this.id}.svg`) }, t('Save graph')));
    show(host, h('h1', { class: 'sr' }, t('Go')), h('div', { class: 'goview' },
      h('div', { class: 'boardside stack' }, this.board.element, this.steps),
      h('div', { class: 'facts stack' },
        h('section', { class: 'panel', 'aria-label': t('Game') }, h('div', { class: 'players' }, this.black, this.white), this.facts, this.bar,
          h('div', { class: 'row' }, this.thinkButton, this.hideButton, this.numbersButton, this.moveField)),
        this.quizPanel,
        this.candidatePanel = h('section', { class: 'panel', 'aria-label': t('Candidates') }, this.candidates.element),
        h('section', { class: 'panel', 'aria-label': t('Graph') }, h('header', { class: 'oneline' }, h('h2', {}, t('Black\'s chance')), h('div', { class: 'row' }, this.visits = this.visitField(), this.reviewButton)), this.progress, this.reviewNote, this.graphPart.element),
        h('section', { class: 'panel', 'aria-label': t('Mistakes') }, this.mistakes.element)),
      h('div', { class: 'side stack' }, h('section', { class: 'panel', 'aria-label': t('Reading') }, h('h2', {}, t('Read the board')), this.overlays.element, this.legend),
        this.whyPanel = h('section', { class: 'panel', 'aria-label': t('Why?') }, this.why.element),
        h('section', { class: 'panel', 'aria-label': t('Moves') }, h('header', {}, h('h2', {}, t('Moves')), h('div', { class: 'row' },
          h('button', { type: 'button', class: 'flat small', title: t('Make this line the main line'), onclick: () => tell('go.promote', { doc: this.id }) }, t('Main line')),
          h('button', { type: 'button', class: 'flat small', title: t('Remove this move and what follows'), onclick: () => tell('go.delete', { doc: this.id, rev: this.doc?.rev }) }, t('Delete')))), this.tree.element, this.comment),
        h('section', { class: 'panel', 'aria-label': t('Record') }, save))));
  }

  visitField() {
    const field = h('select', { 'aria-label': t('Visits a position'), onchange: () => choose({ reviewVisits: Number(field.value) }) }, [20, 50, 200, 800].map((count) => h('option', { value: count, 'data-raw': '' }, count)));
    field.value = String(settings.reviewVisits);
    return field;
  }

  // ---- what comes in

  /** @param {any} event */
  receive(event) {
    if (event.doc !== this.id) return;
    const before = this.doc;
    this.doc = event;
    if (event.node === this.wanted) this.wanted = undefined;
    if (before?.node !== event.node) { this.think = null; this.chosenLine = null; this.shown = null; overlay.tint(this.board, 'relevance', [], 'zone'); this.why.moved(); }
    if (before && before.rev !== event.rev && event.last && before.node !== event.node && event.move_number > before.move_number) {
      const color = event.turn === 'black' ? t('White') : t('Black');
      this.shell.announce(event.last === 'pass' ? t('{color} passes', { color }) : `${color} ${event.last}`);
    }
    if (event.over && !before?.over) this.shell.announce(t('The game is over: {result}', { result: event.over }));
    this.redraw();
    this.overlays.update();
    this.quiz?.moved(event);
  }

  redraw() {
    const doc = this.doc;
    this.board.update({ ...doc, marks: { ...this.numbers(), ...doc.marks } });
    this.board.canPlay = doc.state !== 'theirs' && doc.state !== 'over';
    const name = (/** @type {'black'|'white'} */ color) => {
      const known = doc.names[color];
      return known ? raw(known, 'name') : h('span', { class: 'name' }, color === 'black' ? t('Black') : t('White'));
    };
    const line = (/** @type {HTMLElement} */ element, /** @type {'black'|'white'} */ color) => {
      element.dataset.turn = String(doc.turn === color && !doc.over);
      show(element, h('span', { class: 'dot', 'aria-hidden': 'true' }), name(color), h('span', { class: 'taken-count dim small num', title: t('Stones taken') }, h('i', { 'aria-hidden': 'true' }), raw(doc.captures[color])), this.clocks.faces[color]);
    };
    this.clocks.update(doc.clock);
    line(this.black, 'black');
    line(this.white, 'white');
    const turn = doc.turn === 'black' ? t('Black to play') : t('White to play');
    const komi = t('komi {komi}', { komi: number(doc.komi, doc.komi % 1 ? 1 : 0) });
    const told = doc.told_komi ? ` · ${t('told {komi}', { komi: number(doc.told_komi[1], 1) })}` : '';
    show(this.facts, h('strong', { 'data-turn-text': '' }, doc.over ? t('Over: {result}', { result: doc.over }) : doc.state === 'theirs' ? t('Tengen is thinking …') : turn), ` · ${n(doc.move_number, 'move {n}', 'move {n}')} · ${komi}${doc.rules ? ` · ${t('{rules} rules', { rules: doc.rules })}` : ''}${told}${doc.handicap ? ` · ${n(doc.handicap, '{n} handicap stone', '{n} handicap stones')}` : ''}`);
    const at = doc.line.findIndex((/** @type {any[]} */ step) => step[0] === doc.node);
    say(this.where, `${at}/${doc.line.length - 1}`);
    this.where.dataset.raw = '';
    this.tree.update(doc);
    if (document.activeElement !== this.comment) this.comment.value = doc.comment ?? '';
    this.resignButton.hidden = doc.table.you === 'both' || Boolean(doc.over);
    this.numbersButton.setAttribute('aria-pressed', String(settings.numbers));
    this.drawThinking();
    this.drawGraph();
    void this.countEnd();
  }

  /** Counts a game that two passes have ended: dead stones are crossed out, territory is shown. */
  async countEnd() {
    const isCounted = Boolean(this.doc.over) && !/[RTF]/.test(this.doc.over.slice(2));
    const at = isCounted ? this.doc.node : null;
    if (at === this.countedAt) return;
    this.countedAt = at;
    overlay.count(this.board, null);
    if (at === null) return;
    const count = await ask('go.count', { doc: this.id }).catch(() => null);
    if (!count || this.countedAt !== at) return;
    overlay.count(this.board, count);
    this.shell.announce(n(count.dead.length, 'Counted: {n} dead stone.', 'Counted: {n} dead stones.'));
  }

  /** Move numbers as marks. */
  numbers() {
    if (!settings.numbers) return {};
    /** @type {Record<string, string>} */ const marks = {};
    let count = 0;
    for (const [node, color, at] of this.doc.line) {
      if (color) count += 1;
      if (at && at !== 'pass' && this.board.stones[this.board.index(at)] !== '.') marks[at] = `=${count}`;
      if (node === this.doc.node) break;
    }
    return marks;
  }

  drawThinking() {
    const doc = this.doc;
    if (!doc) return;
    const isCovered = this.isHidden || this.quiz !== null;
    const think = !isCovered && this.think?.node === doc.node ? this.think : null;
    const moves = (think?.moves ?? []).slice(0, settings.candidates);
    const line = this.lineToShow(moves);
    overlay.candidates(this.board, line.length || this.shown ? [] : moves, doc.turn, settings.show);
    overlay.ownership(this.board, isCovered ? null : think?.ownership ?? null);
    this.board.ghosts(this.shown ?? line);
    this.candidatePanel.hidden = isCovered;
    this.whyPanel.hidden = isCovered;
    this.candidates.update(think, moves, doc.turn, this.isThinking);
    const known = isCovered ? null : think ?? this.graph?.points?.find((/** @type {any} */ point) => point.node === doc.node && point.winrate_black !== null);
    this.drawBar(known);
    /** @type {Record<string, string>} */ const remarks = {};
    for (const move of moves) remarks[move.at] = move.order === 0 ? t('best move') : t('candidate, loses {loss}', { loss: percent(move.loss) });
    if (JSON.stringify(remarks) !== JSON.stringify(this.board.remarks)) this.board.remark(remarks);
  }

  /** The line of the candidate that is pointed at. @param {any[]} moves */
  lineToShow(moves) {
    const at = this.chosenLine ?? this.pointed;
    const move = moves.find((candidate) => candidate.at === at);
    if (!move) return [];
    let color = this.doc.turn;
    return move.line.slice(0, settings.line).map((/** @type {string} */ point, /** @type {number} */ index) => {
      const stone = { at: point, color, number: index + 1 };
      color = color === 'black' ? 'white' : 'black';
      return stone;
    });
  }

  /** @param {any} known */
  drawBar(known) {
    const chance = known?.winrate_black;
    this.bar.classList.toggle('unknown', chance === undefined);
    if (chance === undefined) {
      show(this.bar);
      this.bar.removeAttribute('aria-valuenow');
      this.bar.setAttribute('role', 'img');
      this.bar.setAttribute('aria-label', t('Not judged yet'));
      return;
    }
    let fill = this.bar.querySelector('.fill');
    if (!fill) show(this.bar, fill = h('div', { class: 'fill' }), h('div', { class: 'mid' }), h('b', { class: 'b', 'data-raw': '' }), h('b', { class: 'w', 'data-raw': '' }));
    /** @type {HTMLElement} */ (fill).style.setProperty('width', `${(chance * 100).toFixed(1)}%`);
    const lead = known.lead_black === null || known.lead_black === undefined ? '' : ` ${known.lead_black >= 0 ? '+' : '−'}${number(Math.abs(known.lead_black), 1)}`;
    say(/** @type {any} */ (this.bar.querySelector('.b')), `${percent(chance)}${known.lead_black > 0 ? lead : ''}`);
    say(/** @type {any} */ (this.bar.querySelector('.w')), `${percent(1 - chance)}${known.lead_black < 0 ? lead.replace('−', '+') : ''}`);
    /** @type {HTMLElement} */ (this.bar.querySelector('.b')).hidden = chance < 0.13;
    /** @type {HTMLElement} */ (this.bar.querySelector('.w')).hidden = chance > 0.87;
    for (const [name, value] of [['role', 'meter'], ['aria-label', t('Black\'s winning chance')], ['aria-valuemin', '0'], ['aria-valuemax', '100']]) this.bar.setAttribute(name, value);
    this.bar.setAttribute('aria-valuenow', (chance * 100).toFixed(1));
  }

  drawGraph() {
    if (!this.doc) return;
    const isCovered = this.isHidden || this.quiz !== null;
    this.graphPart.update(this.graph, this.doc.node, isCovered);
    this.mistakes.update(isCovered ? null : this.graph, this.doc.node);
    if (!this.think) this.drawThinking();
  }

  /** @param {any} event */
  drawReview(event) {
    const isRunning = event.state === 'running';
    this.progress.hidden = !isRunning;
    if (isRunning) { this.progress.max = event.of; this.progress.value = event.done; }
    say(this.reviewButton, isRunning ? t('Stop') : t('Review'));
    this.isReviewing = isRunning;
    this.hasReview = event.state === 'done' || this.hasReview;
    const text = isRunning ? t('{done} of {of} positions', { done: event.done, of: event.of }) : event.state === 'done' ? t('Reviewed. Press again to look at the mistakes longer.') : '';
    say(this.reviewNote, text);
    if (event.state === 'done') this.shell.announce(text);
  }

  /** @param {any} event */
  drawEngine(event) {
    const isElsewhere = event.state === 'thinking' && event.what === 'analysis' && event.tab !== greeting?.tab;
    if (isElsewhere && this.isThinking) { this.isThinking = false; this.thinkButton.setAttribute('aria-pressed', 'false'); this.drawThinking(); }
    say(this.thinkButton, isElsewhere ? t('Take over') : t('Think'));
  }

  // ---- what the user does

  /** @param {string} at */
  play(at) {
    if (!this.doc || (this.quiz && this.quiz.play(at))) return;
    if (this.doc.state === 'theirs') { this.shell.fail({ code: 'turn' }); return; }
    if (this.board.illegal.size && at !== 'pass' && this.board.stones[this.board.index(at)] === '.' && !this.board.illegal.has(at)) this.board.ghosts([{ at, color: this.doc.turn }]);
    ask('go.play', { doc: this.id, rev: this.doc.rev, at }).catch((failure) => {
      this.board.ghosts([]);
      if (failure.code !== 'lost') this.shell.fail(failure);
    });
  }

  undo() {
    void tell('go.undo', { doc: this.id });
  }

  /** @param {number} node */
  goTo(node) {
    if (node === (this.wanted ?? this.doc?.node)) return;
    // Keys may come faster than answers: the next step starts from where this one leads.
    this.wanted = node;
    void tell('go.goto', { doc: this.id, node });
    setTimeout(() => { if (this.wanted === node) this.wanted = undefined; }, 1000);
  }

  /** @param {number} steps */
  stepTo(steps) {
    if (!this.doc) return;
    const { line } = this.doc;
    const node = this.wanted ?? this.doc.node;
    const at = line.findIndex((/** @type {any[]} */ step) => step[0] === node);
    this.goTo(line[Math.max(0, Math.min(line.length - 1, at + steps))][0]);
  }

  /** The wheel steps through the moves. @param {WheelEvent} event */
  wheel(event) {
    if (event.ctrlKey || Math.abs(event.deltaY) < 1) return;
    event.preventDefault();
    const now = performance.now();
    if (now - (this.wheeled ?? 0) < 60) return;
    this.wheeled = now;
    this.stepTo(Math.sign(event.deltaY));
  }

  toggleThinking() {
    this.isThinking = !this.isThinking;
    this.thinkButton.setAttribute('aria-pressed', String(this.isThinking));
    if (this.isThinking) this.startThinking();
    else void tell('think.stop');
    this.drawThinking();
  }

  startThinking() {
    void tell('think.start', { doc: this.id, most: Math.max(settings.candidates, 10), line: settings.line });
  }

  toggleHidden() {
    this.isHidden = !this.isHidden;
    this.hideButton.setAttribute('aria-pressed', String(this.isHidden));
    this.drawThinking();
    this.drawGraph();
  }

  review() {
    if (this.isReviewing) void tell('review.stop', { doc: this.id });
    else void tell('review.start', { doc: this.id, visits: settings.reviewVisits, deepen: Boolean(this.hasReview) });
  }

  startQuiz() {
    this.quiz = new Quiz(this, this.quizPanel, () => { this.quiz = null; this.quizPanel.hidden = true; this.redraw(); });
    this.redraw();
  }

  save() {
    void download(`/api/docs/${this.id}.sgf?with=analysis`, `tengen-${this.id}.sgf`);
  }

  /** The record to the clipboard. */
  async copy() {
    try {
      await navigator.clipboard.writeText(await (await http(`/api/docs/${this.id}.sgf`)).text());
      this.shell.announce(t('The record was copied.'));
    } catch (failure) {
      this.shell.fail({ say: t('The browser does not allow copying: save the record instead.') });
    }
  }

  /** Goes to the next mistake. @param {number} direction */
  nextMistake(direction) {
    const numbers = (this.graph?.mistakes ?? []).map((/** @type {any} */ mistake) => mistake).sort((/** @type {any} */ a, /** @type {any} */ b) => a.number - b.number);
    const now = this.doc.move_number;
    const next = direction > 0 ? numbers.find((/** @type {any} */ one) => one.number > now) : numbers.reverse().find((/** @type {any} */ one) => one.number < now);
    if (next) this.goTo(next.node);
  }

  /** Up and down: the variations here. @param {number} direction */
  variation(direction) {
    const parent = this.doc.tree?.find((/** @type {any[]} */ node) => node[0] === this.doc.node)?.[1];
    if (parent === null || parent === undefined) return;
    const siblings = this.doc.tree.filter((/** @type {any[]} */ node) => node[1] === parent).map((/** @type {any[]} */ node) => node[0]);
    const next = siblings[siblings.indexOf(this.doc.node) + direction];
    if (next !== undefined) this.goTo(next);
  }

  /** Back to where this line left another. */
  toBranch() {
    const path = this.doc.line.map((/** @type {any[]} */ step) => step[0]);
    for (let i = path.indexOf(this.doc.node) - 1; i >= 0; i -= 1) {
      if (i === 0 || this.doc.tree?.filter((/** @type {any[]} */ node) => node[1] === path[i]).length > 1) { this.goTo(path[i]); return; }
    }
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    if (event.key === 'Escape') { this.moveField.hidden = true; return; }
    if (event.key !== 'Enter') return;
    const text = this.moveField.value.trim().toLowerCase();
    this.moveField.value = '';
    this.moveField.hidden = true;
    this.board.cells[this.board.cursor].focus();
    if (text === 'undo') this.undo();
    else if (/^\d+$/.test(text)) this.goTo(this.doc.line[Math.min(Number(text), this.doc.line.length - 1)][0]);
    else if (text) this.play(text === 'pass' ? 'pass' : text.toUpperCase());
  }

  /** Says how it stands, once. */
  speak() {
    const known = this.think ?? this.graph?.points?.find((/** @type {any} */ point) => point.node === this.doc.node && point.winrate_black !== null);
    this.shell.announce(known && !this.isHidden ? t('Black {chance}', { chance: percent(known.winrate_black) }) : t('Not judged yet'));
  }

  speakMoves() {
    const moves = (this.isHidden ? [] : this.think?.moves ?? []).slice(0, 3);
    this.shell.announce(moves.length ? moves.map((/** @type {any} */ move) => `${move.at} ${percent(this.doc.turn === 'black' ? move.winrate_black : 1 - move.winrate_black)}`).join(', ') : t('No candidates yet'));
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  key(event) {
    if (!this.doc) return false;
    const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, z: -1, ArrowRight: 1, x: 1, Home: -Infinity, End: Infinity });
    if (event.ctrlKey) {
      if (event.key === 's') { this.save(); return true; }
      if (event.key === 'c' && !String(getSelection())) { void this.copy(); return true; }
      return false;
    }
    if (event.key in steps) { this.stepTo(steps[event.key] * (event.shiftKey && Math.abs(steps[event.key]) === 1 ? 10 : 1)); return true; }
    const isOnButton = /** @type {Element} */ (event.target).closest?.('button, a, summary');
    switch (event.key) {
      case ' ': if (isOnButton) return false; this.toggleThinking(); return true;
      case 'Enter': if (isOnButton) return false; void tell('go.genmove', { doc: this.id, rev: this.doc.rev }); return true;
      case 'h': this.toggleHidden(); return true;
      case 'u': this.undo(); return true;
      case '.': this.play('pass'); return true;
      case 'n': this.nextMistake(1); return true;
      case 'N': this.nextMistake(-1); return true;
      case 'b': this.toBranch(); return true;
      case 'r': this.review(); return true;
      case 'q': this.startQuiz(); return true;
      case 'a': if (this.think?.moves?.[0]) this.play(this.think.moves[0].at); return true;
      case 'w': void this.why.ask(this.board.pointed()); return true;
      case 'l': case 's': case 'p': case 't': this.overlays.toggle(event.key); return true;
      case 'v': this.speak(); return true;
      case 'm': this.speakMoves(); return true;
      case '+': case '-': choose({ candidates: Math.max(1, Math.min(50, settings.candidates + (event.key === '+' ? 1 : -1))) }); return true;
      case '[': case ']': choose({ line: Math.max(1, Math.min(30, settings.line + (event.key === ']' ? 1 : -1))) }); return true;
      case 'ArrowUp': this.variation(-1); return true;
      case 'ArrowDown': this.variation(1); return true;
      case ':': this.moveField.hidden = false; this.moveField.focus(); return true;
      case 'Escape': this.quiz?.end(); this.shown = null; overlay.tint(this.board, 'relevance', [], 'zone'); if (this.isThinking) this.toggleThinking(); return true;
      default: return false;
    }
  }

  /** @returns {[string, string][]} */
  keys() {
    return [['← →', t('One move back, forward (Shift: ten; Home, End)')], ['space', t('Think on, off')], ['h', t('Hide what it thinks')], ['Enter', t('The engine moves')], ['u', t('Take back')], ['.', t('Pass')], ['n N', t('Next, previous mistake')], ['r', t('Review; again: deepen')], ['q', t('Quiz')], ['w', t('Why? for the point under the cursor')], ['l s p t', t('Ladders, safety, policy, territory')], ['a', t('Play the best candidate')], ['+ -', t('More, fewer candidates')], ['[ ]', t('Shorter, longer lines')], ['↑ ↓', t('Variations')], ['b', t('Back to the branch')], [':', t('Type a move')], ['Ctrl S, C, O', t('Save, copy, open a record; paste one anywhere')], ['v m', t('Say the evaluation, the best moves')], ['Esc', t('Stop everything')]];
  }
}

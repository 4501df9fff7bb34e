// @ts-check
// Life and death: draw, solve, and argue with the proof.

import { h, raw, show, say } from '../dom.js';
import { t, n, number, percent } from '../lang.js';
import { Board } from '../board/board.js';
import * as overlay from '../board/overlay.js';
import { recall, remember } from '../settings.js';
import { ask, on, tell } from '../wire.js';

/** @param {HTMLElement} host @param {{ id: string, query: URLSearchParams }} params @param {import('../app.js').Shell} shell */
export function mount(host, params, shell) {
  if (params.id) return new ProblemView(host, params.id, shell);
  show(host, h('p', { class: 'dim', role: 'status' }, t('Making a problem …')));
  const open = async () => {
    const docs = params.query.get('new') ? [] : (await ask('docs')).docs;
    const last = docs.find((/** @type {any} */ doc) => doc.kind === 'problem');
    const doc = last?.doc ?? (await ask('problem.new', { size: 9, hard: 0 })).doc;
    history.replaceState(null, '', `/problems/${doc}`);
    shell.go(`/problems/${doc}`);
  };
  open().catch((failure) => { if (failure.code !== 'lost') shell.fail(failure); });
  return { unmount() {}, reconnect() { open().catch(() => {}); } };
}

/** What a result needs of a ko. @param {string} ko `none`, `unknown`, or who needs how many threats */
function koWords(ko) {
  const [side, count] = ko.split(' ');
  if (count === undefined) return ko === 'unknown' ? h('span', { class: 'small dim' }, ' ', t('(ko not decided)')) : null;
  return h('span', { class: 'small', 'data-ko': side }, ' ', side === 'attacker' ? n(Number(count), 'ko: the attacker needs {n} threat', 'ko: the attacker needs {n} threats') : n(Number(count), 'ko: the defender needs {n} threat', 'ko: the defender needs {n} threats'));
}

class ProblemView {
  /** @param {HTMLElement} host @param {string} id @param {import('../app.js').Shell} shell */
  constructor(host, id, shell) {
    this.id = id;
    this.shell = shell;
    /** @type {any} */ this.doc = null;
    /** @type {any} */ this.facts = null;
    this.tool = 'play';
    this.isCovered = true;
    this.tries = 0;
    this.progress = recall('problems', { solved: {}, course: [] });
    this.build(host);
    this.ends = [on('doc', (event) => { if (event.doc === id) this.receive(event); })];
    this.see();
  }

  see() {
    void ask('see', { doc: this.id, visible: true }).catch((failure) => { if (failure.code === 'document') { this.shell.fail(failure); this.shell.go('/problems?new=1'); } });
  }

  reconnect() { this.see(); }

  unmount() {
    for (const end of this.ends) end();
    void ask('see', { doc: null, visible: true }).catch(() => {});
  }

  /** @param {HTMLElement} host */
  build(host) {
    this.board = new Board({ label: t('Problem'), onPlay: (at) => this.act(at), onContext: (at) => this.paint(at, 'e') });
    const tool = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ help) => h('button', { type: 'button', 'data-tool': name, title: help, 'aria-pressed': String(name === this.tool), onclick: () => this.setTool(name) }, text);
    this.tools = h('div', { class: 'row tight', role: 'group', 'aria-label': t('Tools') }, tool('play', t('Play'), t('Try a move')), tool('b', t('Black'), t('Put black stones (b)')), tool('w', t('White'), t('Put white stones (w)')), tool('e', t('Erase'), t('Take stones away (e)')), tool('x', t('Target'), t('Mark the group in question (x)')), tool('z', t('Zone'), t('Choose the zone by hand (z)')),
      h('button', { type: 'button', title: t('Whose turn it is (t)'), onclick: () => this.turn() }, t('Turn')), h('button', { type: 'button', onclick: () => this.empty() }, t('Empty board')));
    this.title = h('h1', {});
    this.status = h('p', { role: 'status' });
    this.answer = h('div', { class: 'stack' });
    this.explanation = h('div', { class: 'stack' });
    this.walk = h('div', { class: 'stack', role: 'status' });
    this.hint = 0;
    this.coverButton = h('button', { type: 'button', 'aria-pressed': 'true', title: t('Cover or show the answer'), onclick: () => { this.isCovered = !this.isCovered; this.coverButton.setAttribute('aria-pressed', String(this.isCovered)); this.drawAnswer(); } }, t('Cover the answer'));
    this.hard = h('select', { 'aria-label': t('Difficulty') }, h('option', { value: 0 }, t('easy')), h('option', { value: 1 }, t('middling')), h('option', { value: 2 }, t('hard')));
    this.course = h('div', { class: 'row' });
    show(host, h('div', { class: 'goview problemview' }, h('div', { class: 'boardside stack' }, this.board.element, h('div', { class: 'steps row tight' }, this.tools)),
      h('div', { class: 'facts stack' },
        h('section', { class: 'panel', 'aria-label': t('Problem') }, this.title, this.status, h('div', { class: 'row' }, h('button', { type: 'button', class: 'main', onclick: () => this.solve() }, t('Solve')), this.coverButton, h('button', { type: 'button', title: t('A hint; again: more of it'), onclick: () => this.giveHint() }, t('Hint')), h('button', { type: 'button', onclick: () => this.restart() }, t('From the start'))), this.answer),
        h('section', { class: 'panel', 'aria-label': t('Argue with the proof') }, h('h2', {}, t('Argue with the proof')), h('p', { class: 'small dim' }, t('Play any move on the board, for either side: the answer comes from the solution at once, to the end.')), this.walk, h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => tell('go.undo', { doc: this.id }).then(() => tell('go.undo', { doc: this.id })) }, t('Take back')), h('button', { type: 'button', onclick: () => this.saveProof() }, t('Proof as SGF')))),
        h('section', { class: 'panel', 'aria-label': t('More problems') }, h('h2', {}, t('More problems')), this.course, h('div', { class: 'row' }, this.hard, h('button', { type: 'button', onclick: () => this.makeNew() }, t('New problem'))), h('p', { class: 'small dim' }, t('Drop an SGF file with one problem or a whole book. Stones marked MA are the group in question; without a mark it is found, and an open outside is closed by a wall.'))))));
  }

  /** @param {any} doc */
  receive(doc) {
    const before = this.doc;
    this.doc = doc;
    if (before && before.stones !== doc.stones && before.node === doc.node) { this.facts = null; this.solution = null; this.explained = null; this.drawAnswer(); }
    if (before && before.stones !== doc.stones) overlay.tint(this.board, 'relevance', [], 'relevance');
    this.board.update({ ...doc, marks: {} });
    if (!this.facts || before?.node !== doc.node) void this.check();
    this.drawMarks();
    const root = doc.line[0][0] === doc.node;
    const side = doc.turn === 'black' ? t('Black to play') : t('White to play');
    say(this.title, doc.title === 'Problem' ? side : `${doc.title}: ${side}`);
    this.title.dataset.raw = '';
    if (root) this.tries = 0;
    this.drawCourse();
  }

  async check() {
    try {
      this.facts = await ask('problem.check', { doc: this.id });
      show(this.status, n(this.facts.target.length, 'Target: {n} stone.', 'Target: {n} stones.'), ' ', n(this.facts.zone.length, 'Zone: {n} point (tinted).', 'Zone: {n} points (tinted).'));
      overlay.rings(this.board, 'blame', [], 'wall');
      if (this.doc.notes?.length) this.status.append(h('span', { class: 'dim', 'data-raw': '' }, ` ${this.doc.notes.join('; ')}.`));
    } catch (failure) {
      this.facts = null;
      if (failure.code === 'lost') return;
      show(this.status, h('span', { 'data-raw': '' }, failure.say), failure.code === 'no-wall' ? h('span', {}, ' ', t('Remedies:'), ' ', h('button', { type: 'button', onclick: () => this.setTool('z') }, t('Choose the zone by hand')), ' ', h('button', { type: 'button', onclick: () => this.enclose() }, t('Close the outside'))) : failure.code === 'no-target' && /X/.test(this.doc.stones) && /O/.test(this.doc.stones) ? h('span', {}, ' ', h('button', { type: 'button', onclick: () => this.enclose() }, t('Find the group'))) : '');
      overlay.rings(this.board, 'blame', (failure.at ?? '').split(' ').filter(Boolean), 'wall');
    }
    this.drawMarks();
  }

  drawMarks() {
    const marks = this.doc.table.problem ?? { target: [], zone: [] };
    const stones = (this.facts?.target ?? marks.target).filter((/** @type {string} */ at) => this.board.stones[this.board.index(at)] !== '.');
    overlay.rings(this.board, 'target', stones, 'target');
    overlay.tint(this.board, 'zone', this.facts?.zone ?? marks.zone, 'zone');
  }

  /** @param {string} name */
  setTool(name) {
    this.tool = name;
    for (const button of this.tools.querySelectorAll('[data-tool]')) button.setAttribute('aria-pressed', String(button.dataset.tool === name));
    this.board.canPlay = name === 'play';
  }

  /** @param {string} at */
  act(at) {
    if (this.tool === 'play') void this.play(at);
    else if (this.tool === 'x') this.mark('target', at);
    else if (this.tool === 'z') this.mark('zone', at);
    else this.paint(at, this.tool);
  }

  /** @param {string} at @param {string} sign */
  paint(at, sign) {
    const now = { X: 'b', O: 'w', '.': 'e' }[this.board.stones[this.board.index(at)]];
    this.facts = null;
    void tell('go.edit', { doc: this.id, set: { [at]: now === sign ? 'e' : sign } });
  }

  /** @param {'target'|'zone'} kind @param {string} at */
  mark(kind, at) {
    const marks = structuredClone(this.doc.table.problem ?? { target: [], zone: [] });
    const list = kind === 'zone' && marks.zone.length === 0 && this.facts ? [...this.facts.zone] : marks[kind];
    marks[kind] = list.includes(at) ? list.filter((/** @type {string} */ one) => one !== at) : [...list, at];
    this.facts = null;
    void tell('go.table', { doc: this.id, problem: marks });
  }

  turn() {
    void tell('go.edit', { doc: this.id, turn: this.doc.turn === 'black' ? 'white' : 'black' });
  }

  /** Finds the group in question and closes the outside with a wall of sure stones. */
  async enclose() {
    this.facts = null;
    const made = await tell('problem.enclose', { doc: this.id });
    if (made) this.shell.announce(made.assumptions.join('. '));
  }

  /** A line as numbered stones, and the points that its result rests on. @param {[string, string][]} line @param {string[]} [zone] */
  showLine(line, zone = []) {
    this.board.ghosts(line.map(([color, at], index) => ({ color, at, number: index + 1 })));
    overlay.tint(this.board, 'relevance', zone, 'relevance');
  }

  async empty() {
    const made = await tell('go.new', { size: this.doc?.size ?? 9, you: 'both', problem: { target: [], zone: [] } });
    if (made) this.shell.go(`/problems/${made.doc}`);
  }

  /** A move of the user: answered at once. @param {string} at */
  async play(at) {
    const before = this.doc;
    const isFirst = before.line[0][0] === before.node;
    if (!await tell('go.play', { doc: this.id, rev: before.rev, at })) return;
    say(this.walk, t('Reading …'));
    try {
      const answer = await ask('problem.reply', { doc: this.id });
      this.drawWalk(before.turn, at, answer, isFirst);
    } catch (failure) {
      if (failure.code !== 'lost') say(this.walk, failure.say ?? failure.code);
    }
  }

  /** @param {string} color @param {string} at @param {any} answer @param {boolean} isFirst */
  drawWalk(color, at, answer, isFirst) {
    const side = this.facts && color === this.facts.attacker ? 'attacker' : 'defender';
    const isWinning = answer.winner === side;
    const words = answer.winner === null ? t('The solver cannot say in time.') : isWinning ? (answer.over ? t('Done: it is decided.') : t('Right so far: it is still won.')) : answer.over ? t('It is over: this fails.') : t('This fails, and here is why.');
    show(this.walk, h('p', { class: isWinning ? 'right' : 'wrong' }, h('strong', {}, raw(at), ' – ', words), answer.reply && answer.reply !== 'pass' ? [' ', t('Answer:'), ' ', raw(answer.reply)] : ''), h('p', { class: 'small dim' }, n(answer.nodes, 'read in {n} position', 'read in {n} positions')));
    this.shell.announce(`${at}: ${words}`);
    if (isFirst) this.tries += 1;
    if (answer.over && isWinning) this.solved();
    if (!isWinning && answer.winner) this.failed = true;
  }

  solved() {
    this.progress.solved[this.id] = this.failed ? 'later' : 'first';
    remember('problems', this.progress);
    this.drawCourse();
  }

  restart() {
    this.showLine([]);
    this.failed = false;
    this.hint = 0;
    show(this.walk);
    void tell('go.goto', { doc: this.id, node: this.start() });
  }

  /** The node the problem is set at. */
  start() {
    let start = this.doc.line[0][0];
    for (const [node, color] of this.doc.line) { if (color) break; start = node; }
    return start;
  }

  async solve() {
    show(this.answer, h('p', { class: 'dim' }, t('Solving …')));
    try {
      this.solution = await ask('problem.solve', { doc: this.id });
      if (this.isCovered) { this.isCovered = false; this.coverButton.setAttribute('aria-pressed', 'false'); }
      this.drawAnswer();
    } catch (failure) {
      show(this.answer, h('p', { 'data-raw': '' }, failure.say ?? ''));
    }
  }

  drawAnswer() {
    if (!this.solution || this.isCovered) { show(this.answer, this.solution ? h('p', { class: 'dim' }, t('The answer is covered.')) : ''); return; }
    const line = (/** @type {string} */ name, /** @type {any} */ part) => {
      const verdicts = { dies: t('DIES'), lives: t('LIVES'), unknown: t('NOT DECIDED IN TIME') };
      return h('tr', { 'data-first': name === t('attacker first') ? 'attacker' : 'defender' }, h('td', {}, name), h('td', {}, h('strong', { class: `verdict ${part.verdict}` }, verdicts[/** @type {'dies'} */ (part.verdict)]), koWords(part.ko)), h('td', { 'data-raw': '' }, part.move ?? '–'), h('td', { class: 'small dim num' }, n(part.nodes, '{n} node', '{n} nodes'), raw(` · ${number(part.milliseconds, 1)} ms`)), h('td', { class: 'small' }, part.checked ? t('proof ok') : part.proof ? t('proof not checked') : '–'),
        h('td', {}, part.line.length ? h('button', { type: 'button', class: 'small', title: t('Play the line on the board; what the result rests on is tinted'), onclick: () => this.showLine(part.line, part.zone) }, t('Show')) : ''));
    };
    show(this.answer, h('table', { class: 'list' }, h('tbody', {}, line(t('attacker first'), this.solution.attacked), line(t('defender first'), this.solution.defended))), h('p', { class: 'small dim' }, this.solution.chance !== null ? t('The network guesses {chance} to live.', { chance: percent(this.solution.chance, 0) }) : ''), this.explanation);
    void this.explain();
  }

  /** Every right first move, and why each other one fails. */
  async explain() {
    if (this.explained === this.solution) return;
    this.explained = this.solution;
    show(this.explanation, h('p', { class: 'small dim' }, t('Looking at every other first move …')));
    const found = await ask('problem.explain', { doc: this.id }).catch(() => null);
    if (!found || this.explained !== this.solution) { show(this.explanation); return; }
    const button = (/** @type {any} */ wrong) => h('button', { type: 'button', class: 'small', 'data-wrong': wrong.at, onclick: () => this.showLine(wrong.line) }, raw(wrong.at), wrong.only_ko ? [' ', t('(only ko)')] : '');
    const right = found.solutions.length ? t('Right for {side}: {moves}', { side: found.first === 'black' ? t('Black') : t('White'), moves: found.solutions.join(', ') }) : t('No first move helps {side}.', { side: found.first === 'black' ? t('Black') : t('White') });
    show(this.explanation, h('p', {}, h('strong', {}, right), found.unique ? [' · ', t('the only one')] : '', ' · ', t('difficulty: {level}', { level: t(found.difficulty) })),
      found.refutations.length ? h('div', {}, h('p', { class: 'small dim' }, t('Wrong first moves; press one to see why:')), h('div', { class: 'row tight' }, found.refutations.map(button))) : null);
  }

  /** More of a hint each time. */
  async giveHint() {
    this.hint += 1;
    try {
      this.solution ??= await ask('problem.solve', { doc: this.id });
    } catch (failure) { this.shell.fail(failure); return; }
    const part = this.doc.turn === this.facts?.attacker ? this.solution.attacked : this.solution.defended;
    const isWon = (part.verdict === 'dies') === (this.doc.turn === this.facts?.attacker);
    const area = part.move ? `${part.move[0] <= 'E' ? t('left') : t('right')}, ${Number(part.move.slice(1)) <= this.doc.size / 2 ? t('lower half') : t('upper half')}` : '';
    show(this.walk, h('p', {}, this.hint === 1 ? (isWon ? t('Hint: it can be won.') : t('Hint: it cannot be won; find the best resistance.')) : this.hint === 2 ? t('Hint: {area}.', { area }) : t('Hint: {move}.', { move: part.move ?? '–' })));
  }

  async saveProof() {
    const answer = await tell('problem.proof', { doc: this.id });
    if (!answer) return;
    const link = h('a', { href: URL.createObjectURL(new Blob([answer.sgf])), download: `proof-${this.id}.sgf` });
    link.click();
  }

  async makeNew() {
    show(this.status, t('Making a problem …'));
    const made = await tell('problem.new', { size: this.doc.size, hard: Number(this.hard.value) });
    if (made) this.shell.go(`/problems/${made.doc}`);
  }

  async drawCourse() {
    if (this.isListing) return;
    this.isListing = true;
    const answer = await ask('docs', { kind: 'problem' }).catch(() => null);
    this.isListing = false;
    if (!answer) return;
    const list = answer.docs.filter((/** @type {any} */ doc) => doc.kind === 'problem').map((/** @type {any} */ doc) => doc.doc).sort();
    const at = list.indexOf(this.id);
    const solved = list.filter((/** @type {string} */ id) => this.progress.solved[id]).length;
    const go = (/** @type {number} */ step) => { const next = list[(at + step + list.length) % list.length]; if (next) this.shell.go(`/problems/${next}`); };
    show(this.course, h('button', { type: 'button', class: 'icon', 'aria-label': t('Previous problem'), onclick: () => go(-1) }, '‹'), h('span', {}, t('Problem {at} of {all}; {solved} solved', { at: at + 1, all: list.length, solved })), h('button', { type: 'button', class: 'icon', 'aria-label': t('Next problem'), onclick: () => go(1) }, '›'),
      h('button', { type: 'button', title: t('Only those that were not solved at the first try'), onclick: () => { const wrong = list.find((/** @type {string} */ id) => id !== this.id && this.progress.solved[id] !== 'first'); if (wrong) this.shell.go(`/problems/${wrong}`); } }, t('Unsolved ones')));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (['b', 'w', 'e', 'x', 'z'].includes(event.key) && !event.ctrlKey) { this.setTool(event.key); return true; }
    if (event.key === 'Escape') { this.setTool('play'); this.showLine([]); return true; }
    if (event.key === 't') { this.turn(); return true; }
    if (event.key === 'u') { void tell('go.undo', { doc: this.id }); return true; }
    return false;
  }

  /** @returns {[string, string][]} */
  keys() {
    return [['b w e', t('Black, white, erase')], ['x', t('Mark the target')], ['z', t('Choose the zone')], ['t', t('Turn')], ['u', t('Take back')], ['Esc', t('Back to playing')]];
  }
}

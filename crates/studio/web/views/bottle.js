// @ts-check
// Dr. Mario by the console's rules: play, watch, or race the computer.

import { h, raw, show, say } from '../dom.js';
import { t, number, percent } from '../lang.js';
import { A, B, DOWN, LEFT, RATE, RIGHT } from '../bottle/control.js';
import { Seat } from '../bottle/seat.js';
import { recall, remember } from '../settings.js';
import { ask } from '../wire.js';

/** Frames that are caught up at most; beyond that the clock slips. */
const MOST_CATCH_UP = 4;
const WINS = 3;
const KEYS = /** @type {Record<string, number>} */ ({ ArrowLeft: LEFT, ArrowRight: RIGHT, ArrowDown: DOWN, ArrowUp: A, KeyX: A, KeyZ: B });

/** @param {HTMLElement} host @param {{ query: URLSearchParams }} params @param {import('../app.js').Shell} shell */
export function mount(host, params, shell) {
  return new BottleView(host, params, shell);
}

class BottleView {
  /** @param {HTMLElement} host @param {{ query: URLSearchParams }} params @param {import('../app.js').Shell} shell */
  constructor(host, params, shell) {
    this.shell = shell;
    this.kept = recall('bottle', { level: 5, speed: 'med', player: 'network', playouts: 200, top: 0, theirLevel: 5, theirSpeed: 'med' });
    this.mode = 'watch';
    this.pace = 1;
    this.isPaused = false;
    this.hasGhosts = true;
    this.wins = [0, 0];
    this.isGone = false;
    /** @type {Seat[]} */ this.seats = [];
    /** Milliseconds between frames, for whoever measures. @type {number[]} */ this.times = [];
    this.seed = Number(params.query.get('seed') ?? 0) || 0x8988;
    const [run, network] = [params.query.get('run'), params.query.get('network')];
    /** A generation of a run that plays instead of the network inside. */ this.generation = run && network ? { run, network } : null;
    this.build(host);
    this.onDown = (/** @type {KeyboardEvent} */ event) => this.keyDown(event);
    this.onUp = (/** @type {KeyboardEvent} */ event) => { const button = KEYS[event.code]; if (button) this.seats[0]?.fingers.release(button); };
    this.onHide = () => { if (document.visibilityState !== 'visible') this.pause(true); };
    window.addEventListener('keydown', this.onDown);
    window.addEventListener('keyup', this.onUp);
    document.addEventListener('visibilitychange', this.onHide);
    /** @type {any} */ (window).tengenBottle = this;
    void ask('see', { doc: null, visible: true }).catch(() => {});
    void this.start('watch');
    this.last = performance.now();
    this.owed = 0;
    requestAnimationFrame((now) => this.tick(now));
  }

  /** @param {HTMLElement} host */
  build(host) {
    const option = (/** @type {string} */ value, /** @type {string} */ text) => h('option', { value }, text);
    const field = (/** @type {string} */ name, /** @type {any} */ control) => h('label', { class: 'field' }, h('span', {}, name), control);
    const keep = (/** @type {any} */ change) => { Object.assign(this.kept, change); remember('bottle', this.kept); };
    this.level = h('input', { type: 'number', min: 0, max: 24, value: this.kept.level, onchange: () => keep({ level: Math.max(0, Math.min(24, Number(this.level.value))) }) });
    this.speed = h('select', { onchange: () => keep({ speed: this.speed.value }) }, option('low', t('low')), option('med', t('medium')), option('hi', t('high')));
    this.speed.value = this.kept.speed;
    this.player = h('select', { onchange: () => keep({ player: this.player.value }) }, option('network', t('network and search')), option('search', t('search without network')), option('heuristic', t('looks at two pills')), option('one-ply', t('looks at one pill')), option('round0', t('knows nothing')));
    this.player.value = this.kept.player;
    this.playouts = h('input', { type: 'number', min: 1, max: 20000, value: this.kept.playouts, onchange: () => keep({ playouts: Math.max(1, Math.round(Number(this.playouts.value))) }) });
    this.theirLevel = h('input', { type: 'number', min: 0, max: 24, value: this.kept.theirLevel, onchange: () => keep({ theirLevel: Math.max(0, Math.min(24, Math.round(Number(this.theirLevel.value)))) }) });
    this.theirSpeed = h('select', { onchange: () => keep({ theirSpeed: this.theirSpeed.value }) }, option('low', t('low')), option('med', t('medium')), option('hi', t('high')));
    this.theirSpeed.value = this.kept.theirSpeed;
    this.handicap = h('div', { class: 'grid2', hidden: true }, field(t('Tengen\'s level'), this.theirLevel), field(t('Tengen\'s speed'), this.theirSpeed));
    this.seedField = h('input', { type: 'number', min: 1, max: 65535, value: this.seed, onchange: () => { this.seed = Math.max(1, Math.min(65535, Math.round(Number(this.seedField.value)))); } });
    const start = (/** @type {string} */ mode, /** @type {string} */ name, /** @type {string} */ text) => h('button', { type: 'button', 'data-mode': mode, title: text, onclick: () => this.start(mode) }, name);
    this.modes = h('div', { class: 'row' }, start('play', t('Play'), t('Clear the bottle yourself')), start('watch', t('Watch'), t('The computer plays and shows what it considers')), start('versus', t('Against Tengen'), t('Two bottles: clears of two and more send halves over')));
    this.paces = h('div', { class: 'row tight', role: 'group', 'aria-label': t('Pace') }, [1, 2, 4, 16].map((pace) => h('button', { type: 'button', 'data-pace': pace, 'aria-pressed': String(pace === 1), onclick: () => this.setPace(pace) }, raw(`${pace}×`))));
    this.pauseButton = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.pause(!this.isPaused) }, t('Pause'));
    this.ghostButton = h('button', { type: 'button', 'aria-pressed': 'true', title: t('Show the ten places the player considers (g)'), onclick: () => this.toggleGhosts() }, t('Thoughts'));
    this.status = h('p', { role: 'status', class: 'bottlestatus' });
    this.table = h('div', { class: 'seats' });
    this.thoughts = h('tbody', {});
    this.thoughtTable = h('table', { class: 'list' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('Place')), h('th', { scope: 'col', class: 'end' }, t('Share')))), this.thoughts);
    this.text = h('pre', { class: 'bottletext', tabindex: '0', role: 'group', 'aria-label': t('The bottle in letters'), 'data-raw': '' });
    this.wordsPanel = h('details', { class: 'panel' }, h('summary', {}, t('The bottle in letters')), this.text);
    const touch = (/** @type {number} */ button, /** @type {string} */ sign, /** @type {string} */ name) => {
      const key = h('button', { type: 'button', class: 'touch', 'aria-label': name }, h('span', { 'aria-hidden': 'true', 'data-raw': '' }, sign));
      key.addEventListener('pointerdown', (/** @type {Event} */ event) => { event.preventDefault(); this.seats[0]?.fingers.press(button); });
      for (const end of ['pointerup', 'pointerleave', 'pointercancel']) key.addEventListener(end, () => this.seats[0]?.fingers.release(button));
      return key;
    };
    this.touch = h('div', { class: 'touchpad' }, h('div', { class: 'row' }, touch(LEFT, '◀', t('Left')), touch(DOWN, '▼', t('Down')), touch(RIGHT, '▶', t('Right'))), h('div', { class: 'row' }, touch(B, '↺', t('Turn back')), touch(A, '↻', t('Turn'))));
    show(host, h('h1', { class: 'sr' }, t('Bottle')), h('div', { class: 'bottleview' },
      h('div', { class: 'stack' }, this.status, this.table, this.touch),
      h('div', { class: 'stack' },
        h('section', { class: 'panel', 'aria-label': t('Game') }, h('h2', {}, t('New game')), this.modes, h('div', { class: 'grid2' }, field(t('Level'), this.level), field(t('Speed'), this.speed), field(t('Seed'), this.seedField), field(t('Computer'), this.player), field(t('Playouts a pill'), this.playouts)), this.handicap,
          h('div', { class: 'row' }, this.pauseButton, this.ghostButton, this.paces)),
        this.thoughtPanel = h('section', { class: 'panel', 'aria-label': t('Thoughts') }, h('h2', {}, t('What it considers')), this.thoughtTable),
        this.wordsPanel,
        h('section', { class: 'panel small dim' }, h('p', {}, t('Keys: arrows move, up or X turns, Z turns back, P pauses, G shows thoughts. A gamepad works too.')), h('p', {}, t('Plays Dr. Mario by the console\'s rules. The name belongs to its owner; nothing here comes from the cartridge.'))))));
  }

  /** @param {string} mode */
  async start(mode) {
    this.mode = mode;
    for (const button of this.modes.querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.dataset.mode === mode));
    this.touch.hidden = mode === 'watch';
    this.wins = mode === 'versus' ? this.wins : [0, 0];
    this.pause(false);
    const act = { onEnd: (/** @type {Seat} */ seat) => this.ended(seat), onFail: (/** @type {any} */ failure) => this.shell.fail(failure), onState: () => this.drawThoughts() };
    await ask('bottle.quit').catch(() => {});
    const common = { level: this.kept.level, speed: this.kept.speed, seed: this.seed, ghosts: this.hasGhosts, top: this.kept.top };
    this.handicap.hidden = mode !== 'versus';
    const computer = { player: this.generation ? 'network' : this.kept.player, playouts: this.kept.playouts, generation: this.generation };
    const theirs = { ...common, level: this.kept.theirLevel, speed: this.kept.theirSpeed };
    this.seats = mode === 'versus' ? [new Seat(0, t('You'), act), new Seat(1, 'Tengen', act)] : [new Seat(0, mode === 'play' ? t('You') : 'Tengen', act)];
    show(this.table, this.seats.map((seat) => seat.element));
    this.thoughtPanel.hidden = mode === 'play';
    say(this.status, mode === 'versus' ? t('First to {wins} wins: {a} – {b}', { wins: WINS, a: '●'.repeat(this.wins[0]) + '○'.repeat(WINS - this.wins[0]), b: '●'.repeat(this.wins[1]) + '○'.repeat(WINS - this.wins[1]) }) : mode === 'play' ? t('Line up four of a colour.') : this.generation ? t('Generation {name} plays.', { name: this.generation.network.slice(0, 8) }) : t('The computer plays.'));
    try {
      await Promise.all(this.seats.map((seat, side) => seat.start(side === 1 ? { ...theirs, ...computer } : mode === 'watch' ? { ...common, ...computer } : common)));
    } catch (failure) {
      if (failure.code !== 'lost') this.shell.fail(failure);
    }
  }

  /** @param {Seat} seat */
  ended(seat) {
    const isCleared = seat.state.ending === 'cleared';
    if (seat.state.points > this.kept.top && !seat.settings.player) { this.kept.top = seat.state.points; remember('bottle', this.kept); }
    let text = isCleared ? t('Cleared with {pills} pills: {points} points.', { pills: number(seat.state.placed), points: number(seat.state.points) }) : t('The bottle is full.');
    if (this.mode === 'versus') {
      for (const other of this.seats) if (other !== seat && other.phase !== 'over') other.phase = 'over';
      const winner = isCleared ? seat.side : 1 - seat.side;
      this.wins[winner] += 1;
      text = winner === 0 ? t('You win this one.') : t('Tengen wins this one.');
      text += ` ${this.wins[0]} – ${this.wins[1]}`;
      if (this.wins[winner] >= WINS) { text += ` ${winner === 0 ? t('The match is yours.') : t('The match is Tengen\'s.')}`; this.wins = [0, 0]; }
    }
    say(this.status, text);
    this.shell.announce(text);
  }

  /** Buttons of a gamepad, pressed and let go like keys. */
  readPad() {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((one) => one?.connected);
    const isDown = (/** @type {number} */ button) => Boolean(pad?.buttons[button]?.pressed);
    const held = pad ? (isDown(14) || pad.axes[0] < -0.5 ? LEFT : 0) | (isDown(15) || pad.axes[0] > 0.5 ? RIGHT : 0) | (isDown(13) || pad.axes[1] > 0.5 ? DOWN : 0) | (isDown(0) ? A : 0) | (isDown(1) || isDown(2) ? B : 0) : 0;
    const before = this.pad ?? 0;
    for (const button of [LEFT, RIGHT, DOWN, A, B]) {
      if (held & ~before & button) this.seats[0]?.fingers.press(button);
      if (before & ~held & button) this.seats[0]?.fingers.release(button);
    }
    this.pad = held;
  }

  /** @param {number} now */
  tick(now) {
    if (this.isGone) return;
    this.readPad();
    const passed = now - this.last;
    this.times.push(passed);
    if (this.times.length > 4000) this.times.shift();
    this.last = now;
    if (!this.isPaused) {
      this.owed = Math.min(this.owed + (passed / 1000) * RATE * this.pace, MOST_CATCH_UP * this.pace);
      while (this.owed >= 1) {
        this.owed -= 1;
        for (const seat of this.seats) seat.frame();
      }
    }
    const isSecond = Math.floor(now / 250) % 2 === 1;
    for (const seat of this.seats) seat.bottle.draw(isSecond);
    requestAnimationFrame((next) => this.tick(next));
  }

  drawThoughts() {
    const seat = this.seats.find((one) => one.settings?.player);
    if (this.wordsPanel.open) say(this.text, this.seats[0]?.bottle.text() ?? '');
    const ghosts = seat?.thought?.ghosts ?? [];
    const name = (/** @type {any} */ ghost) => `${'abcdefgh'[ghost.x]}${ghost.y + 1} ${ghost.turns & 1 ? '│' : '─'}`;
    show(this.thoughts, ghosts.map((/** @type {any} */ ghost, /** @type {number} */ index) => h('tr', { class: 'pick', 'data-ghost': index, onpointerenter: () => { if (seat) seat.bottle.highlight = index; }, onpointerleave: () => { if (seat) seat.bottle.highlight = -1; } }, h('td', { 'data-raw': '' }, name(ghost)), h('td', { class: 'end num', 'data-raw': '', 'data-share': ghost.share }, percent(ghost.share)))));
  }

  /** @param {number} pace */
  setPace(pace) {
    this.pace = pace;
    for (const button of this.paces.querySelectorAll('button')) button.setAttribute('aria-pressed', String(Number(button.dataset.pace) === pace));
  }

  /** @param {boolean} isPaused */
  pause(isPaused) {
    this.isPaused = isPaused;
    this.pauseButton.setAttribute('aria-pressed', String(isPaused));
    say(this.pauseButton, isPaused ? t('Go on') : t('Pause'));
  }

  toggleGhosts() {
    this.hasGhosts = !this.hasGhosts;
    this.ghostButton.setAttribute('aria-pressed', String(this.hasGhosts));
    for (const seat of this.seats) { if (seat.settings) seat.settings.ghosts = this.hasGhosts; seat.bottle.ghosts = this.hasGhosts && seat.thought ? seat.thought.ghosts : []; }
  }

  /** @param {KeyboardEvent} event */
  keyDown(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.matches?.('input, select, textarea') || document.querySelector('dialog[open]') || event.ctrlKey || event.altKey || event.metaKey) return;
    const button = KEYS[event.code];
    if (!button) return;
    event.preventDefault();
    if (!event.repeat) this.seats[0]?.fingers.press(button);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === 'p') { this.pause(!this.isPaused); return true; }
    if (event.key === 'g') { this.toggleGhosts(); return true; }
    if (event.key === 'v') {
      const state = this.seats[0]?.state;
      const names = [t('red'), t('yellow'), t('blue')];
      if (state) this.shell.announce(t('{a} {b}; next {c} {d}; {left} viruses left', { a: names[state.pill[0]], b: names[state.pill[1]], c: names[state.next[0]], d: names[state.next[1]], left: state.left }));
      return true;
    }
    return false;
  }

  /** @returns {[string, string][]} */
  keys() {
    return [['← → ↓', t('Move')], ['↑ X', t('Turn')], ['Z', t('Turn back')], ['P', t('Pause')], ['G', t('Thoughts')], ['V', t('Say pill, next and viruses')]];
  }

  reconnect() {
    void this.start(this.mode);
  }

  unmount() {
    this.isGone = true;
    window.removeEventListener('keydown', this.onDown);
    window.removeEventListener('keyup', this.onUp);
    document.removeEventListener('visibilitychange', this.onHide);
    void ask('bottle.quit').catch(() => {});
  }
}

// @ts-check
// Networks: what they are, and what goes on inside them.

import { h, raw, s, show, say } from '../dom.js';
import { t, n, number, percent } from '../lang.js';
import { Board } from '../board/board.js';
import * as overlay from '../board/overlay.js';
import { lineChart } from '../parts/graph.js';
import { makeXray } from '../parts/xray.js';
import { chooseFile } from '../app.js';
import { ask, askNumbers, http, tell } from '../wire.js';

/** @param {HTMLElement} host @param {{ id: string, query: URLSearchParams }} params @param {import('../app.js').Shell} shell */
export function mount(host, params, shell) {
  return new NetsView(host, params.id || 'inside', shell, params.query.get('with'));
}

class NetsView {
  /** @param {HTMLElement} host @param {string} id @param {import('../app.js').Shell} shell @param {string|null} other */
  constructor(host, id, shell, other) {
    /** Another network to compare with at once. @type {string|null} */ this.other = other;
    this.id = id;
    this.shell = shell;
    this.size = 9;
    this.block = 1;
    /** @type {{ stones: string, turn: string }} */ this.position = { stones: '.'.repeat(81), turn: 'black' };
    this.list = h('tbody', {});
    this.detail = h('div', { class: 'netdetail' });
    show(host, h('div', { class: 'stack' }, h('section', { class: 'panel', 'aria-label': t('Networks') }, h('header', {}, h('h1', {}, t('Networks')), h('div', { class: 'row' }, h('button', { type: 'button', onclick: chooseFile }, t('Add a file …')))),
      h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': t('List of networks') }, h('table', { class: 'list' }, h('thead', {}, h('tr', {}, [t('Name'), t('From'), t('Size of the file'), ''].map((name) => h('th', { scope: 'col' }, name)))), this.list))), this.detail));
    void this.load();
  }

  unmount() {}

  reconnect() { void this.load(); }

  async load() {
    void ask('see', { doc: null, visible: true }).catch(() => {});
    try {
      const { nets } = await (await http('/api/nets')).json();
      this.nets = nets;
      const origins = { inside: t('inside the program'), file: t('a file'), dropped: t('dropped here'), run: t('a run'), made: t('made here') };
      show(this.list, nets.map((/** @type {any} */ net) => h('tr', { 'aria-current': net.net === this.id ? 'true' : undefined }, h('td', {}, h('a', { href: `/nets/${net.net}`, 'data-raw': '' }, net.name)), h('td', {}, origins[/** @type {'run'} */ (net.origin)] ?? ''), h('td', { class: 'num', 'data-raw': '' }, net.bytes ? `${number(net.bytes / 1e6, 1)} MB` : '–'), h('td', {}, h('button', { type: 'button', onclick: () => this.playWith(net.net) }, t('Play'))))));
      this.net = await (await http(`/api/nets/${this.id}`)).json();
      this.size = this.net.sizes?.[0] ?? 9;
      this.position = { stones: '.'.repeat(this.size ** 2), turn: 'black' };
      this.build();
      await this.look();
      if (this.other && this.nets.some((/** @type {any} */ one) => one.net === this.other)) { this.compareWith.value = this.other; await this.compare(); }
    } catch (failure) {
      if (/** @type {any} */ (failure).code !== 'lost') this.shell.fail(failure);
    }
  }

  /** @param {string} net */
  async playWith(net) {
    const info = await (await http(`/api/nets/${net}`)).json();
    const made = await tell('go.new', { size: info.sizes?.[0] ?? 9, you: 'black', net });
    if (made) this.shell.go(`/go/${made.doc}`);
  }

  build() {
    const net = this.net;
    this.board = new Board({ label: t('Position to look at: put stones'), onPlay: (at) => this.put(at) });
    this.board.update({ size: this.size, stones: this.position.stones, turn: this.position.turn });
    this.slider = h('input', { type: 'range', min: 0, max: net.blocks, value: this.block, 'aria-label': t('Block'), oninput: () => { this.block = Number(this.slider.value); this.drawFilm(); void this.lookPlanes(); } });
    this.blockText = h('span', { class: 'num' });
    this.planes = h('div', { class: 'planes', role: 'group', 'aria-label': t('Planes after the block') });
    this.filmText = h('p', { class: 'small', role: 'status' });
    this.filmChart = h('div', {});
    this.komiChart = h('div', {});
    this.compareWith = h('select', { 'aria-label': t('Compare with') }, this.nets.filter((/** @type {any} */ one) => one.net !== this.id).map((/** @type {any} */ one) => h('option', { value: one.net, 'data-raw': '' }, one.name)));
    this.compareText = h('p', { class: 'small', role: 'status' });
    this.xray ??= makeXray();
    show(this.detail,
      h('div', { class: 'stack' }, h('section', { class: 'panel', 'aria-label': t('Position') }, h('h2', {}, raw(net.name)), h('p', { class: 'small dim' }, raw(net.family), ' · ', n(net.blocks, '{n} block', '{n} blocks'), ' × ', n(net.filters, '{n} filter', '{n} filters'), ' · ', t('{mb} MB of weights', { mb: number(net.weights / 1e6, 1) })), this.board.element, h('p', { class: 'small dim' }, t('Click to put a stone, again for the other colour, again to take it away. Squares: what the heads say after the chosen block.')),
        h('div', { class: 'row' }, net.family?.startsWith('Leela') && net.origin !== 'inside' ? h('button', { type: 'button', title: t('Puts the ladder network beside this one: a new network that knows which ladders work'), onclick: () => this.graft() }, t('Graft ladders')) : null, h('button', { type: 'button', onclick: () => this.clear() }, t('Clear')), h('button', { type: 'button', onclick: () => { this.position.turn = this.position.turn === 'black' ? 'white' : 'black'; void this.look(); } }, t('Turn'))))),
      h('div', { class: 'stack' },
        h('section', { class: 'panel', 'aria-label': t('How an opinion forms') }, h('h2', {}, t('How an opinion forms')), h('p', { class: 'small dim' }, t('The heads are put after every block: policy and winning chance as they form.')), h('label', { class: 'row' }, t('Block'), this.slider, this.blockText), this.filmText, this.filmChart),
        h('section', { class: 'panel', 'aria-label': t('Planes') }, h('h2', {}, t('Planes after this block')), this.planes),
        h('section', { class: 'panel', 'aria-label': t('Komi') }, h('header', {}, h('h2', {}, t('Komi dial')), h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => this.komi() }, t('Measure')))), h('p', { class: 'small dim' }, t('Black\'s winning chance in this position as the network is told another komi. Where it falls everywhere, its 50 % is an estimate of the score.')), this.komiChart),
        this.xray.element,
        this.nets.length > 1 ? h('section', { class: 'panel', 'aria-label': t('Two networks') }, h('h2', {}, t('Two networks side by side')), h('div', { class: 'row' }, this.compareWith, h('button', { type: 'button', onclick: () => this.compare() }, t('Compare here'))), this.compareText) : null));
  }

  clear() {
    this.position.stones = '.'.repeat(this.size ** 2);
    void this.look();
  }

  /** @param {string} at */
  put(at) {
    const index = this.board.index(at);
    const next = { '.': 'X', X: 'O', O: '.' }[this.position.stones[index]];
    this.position.stones = this.position.stones.slice(0, index) + next + this.position.stones.slice(index + 1);
    void this.look();
  }

  async look() {
    this.board.update({ size: this.size, stones: this.position.stones, turn: this.position.turn });
    try {
      this.film = (await ask('net.film', { net: this.id, size: this.size, ...this.position })).frames;
    } catch (failure) {
      if (/** @type {any} */ (failure).code === 'lost') return;
      this.film = [];
      say(this.filmText, /** @type {any} */ (failure).say ?? '');
      return;
    }
    this.drawFilm();
    await this.lookPlanes();
  }

  drawFilm() {
    const frame = this.film?.[this.block];
    say(this.blockText, `${this.block}/${this.net.blocks}`);
    this.blockText.dataset.raw = '';
    if (!frame) return;
    overlay.policy(this.board, frame.points);
    const best = [...frame.points].sort((a, b) => b[1] - a[1])[0];
    say(this.filmText, t('After block {block}: Black {chance}, first choice {move} ({share}).', { block: this.block, chance: percent(frame.winrate_black), move: best?.[0] ?? '–', share: percent(best?.[1] ?? 0) }));
    show(this.filmChart, lineChart([{ name: 'winrate', points: this.film.map((/** @type {any} */ one, /** @type {number} */ i) => /** @type {[number, number]} */ ([i, one.winrate_black * 100])), dots: this.film.map((/** @type {any} */ one, /** @type {number} */ i) => ({ x: i, y: one.winrate_black * 100, filled: i === this.block })) }], { label: t('Black\'s chance after each of {n} blocks', { n: this.net.blocks }), height: 130 }));
  }

  async lookPlanes() {
    const turn = (this.looks = (this.looks ?? 0) + 1);
    let values;
    try {
      values = await askNumbers('net.look', { net: this.id, size: this.size, layer: this.block, ...this.position });
    } catch (failure) {
      if (/** @type {any} */ (failure).code !== 'lost') show(this.planes, h('p', { class: 'dim' }, /** @type {any} */ (failure).say ?? ''));
      return;
    }
    if (turn !== this.looks) return;
    const area = this.size ** 2;
    const count = values.length / area;
    const before = this.shownPlanes;
    const most = Math.max(1e-6, values.reduce((a, b) => Math.max(a, Math.abs(b)), 0));
    const canvases = Array.from({ length: count }, (_, plane) => {
      const part = values.subarray(plane * area, (plane + 1) * area);
      const old = before?.length === values.length ? before.subarray(plane * area, (plane + 1) * area) : null;
      const hasChanged = old ? part.some((value, i) => Math.abs(value - old[i]) > most * 0.02) : false;
      return h('figure', { class: hasChanged ? 'changed' : '', 'data-plane': plane }, drawPlane(part, this.size, most), h('figcaption', { 'data-raw': '' }, plane));
    });
    this.shownPlanes = values;
    show(this.planes, canvases);
    this.planes.dataset.sum = String(values.reduce((a, b) => a + b, 0).toFixed(3));
  }

  async komi() {
    show(this.komiChart, h('p', { class: 'dim' }, t('Measuring …')));
    try {
      const answer = await ask('net.komi', { net: this.id, size: this.size, ...this.position });
      show(this.komiChart, lineChart([{ name: 'komi', points: answer.curve.map((/** @type {number[]} */ p) => /** @type {[number, number]} */ ([p[0], p[1] * 100])) }], { label: t('Black\'s chance over komi'), marks: [{ y: 50, name: '50 %' }] }), h('p', { class: 'small' }, answer.fair === null ? t('The curve does not fall everywhere: this network cannot be told komi here.') : t('Fair komi here: {komi}.', { komi: number(answer.fair, 1) })));
    } catch (failure) {
      show(this.komiChart, h('p', { class: 'dim' }, /** @type {any} */ (failure).say ?? ''));
    }
  }

  /** Makes a network that knows ladders, and shows what changes here. */
  async graft() {
    const made = await tell('net.graft', { net: this.id });
    if (made) this.shell.go(`/nets/${made.net}?with=${this.id}`);
  }

  async compare() {
    const other = this.compareWith.value;
    try {
      const [a, b] = await Promise.all([this.id, other].map((net) => ask('net.film', { net, size: this.size, ...this.position })));
      const last = (/** @type {any} */ film) => film.frames[film.frames.length - 1];
      const first = (/** @type {any} */ frame) => [...frame.points].sort((x, y) => y[1] - x[1])[0];
      const [one, two] = [last(a), last(b)];
      say(this.compareText, t('Here: {a} and {b} for Black; first choices {m1} and {m2}.', { a: percent(one.winrate_black), b: percent(two.winrate_black), m1: first(one)?.[0] ?? '–', m2: first(two)?.[0] ?? '–' }));
      const others = new Map(two.points);
      overlay.policy(this.board, one.points.map((/** @type {any} */ [at, chance]) => [at, Math.abs(chance - (others.get(at) ?? 0))]));
    } catch (failure) {
      this.shell.fail(failure);
    }
  }
}

/** @param {Float32Array} values @param {number} size @param {number} most */
function drawPlane(values, size, most) {
  const canvas = h('canvas', { width: size, height: size });
  const pen = canvas.getContext('2d');
  if (!pen) return canvas;
  const picture = pen.createImageData(size, size);
  values.forEach((value, index) => {
    const strength = Math.min(1, Math.sqrt(Math.abs(value) / most));
    const tone = value >= 0 ? [20, 110, 100] : [190, 80, 20];
    for (let c = 0; c < 3; c += 1) picture.data[index * 4 + c] = 245 + (tone[c] - 245) * strength;
    picture.data[index * 4 + 3] = 255;
  });
  pen.putImageData(picture, 0, 0);
  return canvas;
}
export { s };

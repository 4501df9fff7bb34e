// @ts-check
// The shell: navigation, engine light, errors, files dropped anywhere, and which view is shown.

import { h, raw, show, say } from './dom.js';
import { t, number } from './lang.js';
import { choose, settings } from './settings.js';
import * as wire from './wire.js';
import { openHelp } from './views/help.js';

/** @typedef {{ go: (path: string) => void, announce: (text: string) => void, fail: (failure: any) => void, isHere: () => boolean }} Shell */

const VIEWS = [
  { path: '/go', name: 'Go', load: () => import('./views/go.js') },
  { path: '/problems', name: 'Problems', load: () => import('./views/problems.js') },
  { path: '/bottle', name: 'Bottle', load: () => import('./views/bottle.js') },
  { path: '/runs', name: 'Training', load: () => import('./views/runs.js') },
  { path: '/nets', name: 'Networks', load: () => import('./views/nets.js') },
];
const HOME = { path: '/', name: 'Home', load: () => import('./views/home.js') };

document.documentElement.dataset.theme = settings.theme;

const nav = h('nav', { 'aria-label': t('Views') }, VIEWS.map((view) => h('a', { href: view.path }, t(view.name))));
const light = h('button', { class: 'light', type: 'button', 'data-state': 'lost', title: t('What the engine is doing; click for the list of jobs'), onclick: toggleJobs }, h('i'), h('span', {}, t('connecting')));
const theme = h('button', { class: 'flat icon', type: 'button', title: t('Light, dark, or as the system says'), onclick: nextTheme });
const help = h('button', { class: 'flat icon', type: 'button', title: t('Keys and settings (?)'), 'aria-label': t('Help'), onclick: () => openHelp(current?.keys?.() ?? []) }, '?');
const bar = h('header', { class: 'bar' },
  h('a', { class: 'brand', href: '/', 'aria-label': t('Tengen, start page') }, h('img', { src: '/assets/icon.svg', alt: '' }), h('span', { 'data-raw': '' }, 'TENGEN')),
  nav, h('div', { class: 'right' }, light, theme, help));
const strips = h('div', {});
const jobs = h('div', { class: 'panel jobs', hidden: true });
const main = h('main', { id: 'main', tabindex: '-1' });
const live = h('div', { class: 'sr', 'aria-live': 'polite', id: 'live' });
document.body.append(bar, strips, jobs, main, live);
document.body.dataset.drop = t('Drop a game, a problem or a network file');

/** The view that is shown. @type {any} */
let current = null;
let mounted = 0;

/** @type {Shell} */
export const shell = {
  go(path) {
    if (path !== location.pathname + location.search) history.pushState(null, '', path);
    void route();
  },
  announce(text) {
    live.textContent = '';
    requestAnimationFrame(() => { live.textContent = text; });
  },
  fail: (failure) => strip('err', sentence(failure)),
  isHere: () => document.visibilityState === 'visible',
};

/** @param {any} failure */
function sentence(failure) {
  const known = {
    lost: t('The program does not answer. Is `tengen studio` still running?'),
    occupied: t('The point is occupied.'), suicide: t('This move would capture its own stones.'),
    ko: t('This move takes back a ko at once: it repeats the position before.'), superko: t('This move repeats an earlier position.'),
    stale: t('Another tab has changed the game: this is how it stands now.'), turn: t('It is the engine\'s turn.'),
  };
  const text = known[/** @type {keyof typeof known} */ (failure.code)] ?? failure.say ?? failure.code ?? String(failure);
  return failure.at && known[/** @type {keyof typeof known} */ (failure.code)] ? `${failure.at}: ${text}` : text;
}

/** @param {'err'|'note'} kind @param {string} text */
function strip(kind, text) {
  const line = h('div', { class: `strip ${kind}`, role: kind === 'err' ? 'alert' : 'status' }, h('span', { 'data-raw': '' }, text),
    h('button', { type: 'button', class: 'flat icon', 'aria-label': t('Close this message'), onclick: () => line.remove() }, '×'));
  strips.querySelectorAll(`.${kind}:not(.lasting)`).forEach((/** @type {Element} */ old) => old.remove());
  strips.append(line);
  if (kind === 'err') setTimeout(() => line.remove(), 12_000);
  return line;
}

async function route() {
  const path = location.pathname;
  const view = VIEWS.find((view) => path === view.path || path.startsWith(`${view.path}/`)) ?? HOME;
  const turn = ++mounted;
  const module = await view.load();
  if (turn !== mounted) return;
  current?.unmount?.();
  show(main);
  for (const link of nav.querySelectorAll('a')) {
    const isHere = link.getAttribute('href') === view.path;
    if (isHere) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
  }
  document.title = view === HOME ? 'Tengen' : `${t(view.name)} – Tengen`;
  const id = path.split('/')[2] ?? '';
  main.dataset.view = view.path;
  current = module.mount(main, { id, query: new URLSearchParams(location.search) }, shell);
}

document.addEventListener('click', (event) => {
  const link = /** @type {Element} */ (event.target).closest?.('a');
  const href = link?.getAttribute('href');
  if (!href?.startsWith('/') || href.startsWith('/assets') || event.ctrlKey || event.metaKey || event.shiftKey || link?.hasAttribute('download')) return;
  event.preventDefault();
  shell.go(href);
});
window.addEventListener('popstate', () => void route());

document.addEventListener('keydown', (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const isText = target.matches?.('input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]');
  if (event.key === '?' && !isText) {
    event.preventDefault();
    openHelp(current?.keys?.() ?? []);
    return;
  }
  if (isText || document.querySelector('dialog[open]')) return;
  if (event.altKey || event.metaKey) return;
  if (event.ctrlKey && event.key === 'o') { event.preventDefault(); chooseFile(); return; }
  if (current?.key?.(event)) event.preventDefault();
});

// ---- theme, engine light, jobs

function nextTheme() {
  const order = ['auto', 'light', 'dark'];
  choose({ theme: order[(order.indexOf(settings.theme) + 1) % order.length] });
  drawTheme();
}

function drawTheme() {
  const signs = { auto: '◐', light: '☀', dark: '☾' };
  const names = { auto: t('Theme: as the system'), light: t('Theme: light'), dark: t('Theme: dark') };
  say(theme, signs[/** @type {'auto'} */ (settings.theme)]);
  theme.setAttribute('aria-label', names[/** @type {'auto'} */ (settings.theme)]);
}
drawTheme();

/** @param {any} engine */
function drawLight(engine) {
  const isElsewhere = engine.state === 'thinking' && engine.what === 'analysis' && engine.tab !== wire.greeting?.tab;
  light.dataset.state = isElsewhere ? 'elsewhere' : engine.state;
  const what = { move: t('choosing a move'), analysis: t('thinking'), review: t('reviewing'), question: t('reading') }[/** @type {'move'} */ (engine.what)] ?? t('working');
  const text = engine.state === 'idle' ? t('idle') : isElsewhere ? t('thinking in another tab') : engine.state === 'lost' ? t('not connected') : what;
  show(light, h('i'), h('span', {}, text));
}

async function toggleJobs() {
  jobs.hidden = !jobs.hidden;
  if (!jobs.hidden) await drawJobs();
}

async function drawJobs() {
  const list = (await wire.tell('job.list'))?.jobs ?? [];
  show(jobs, h('h2', {}, t('What is under way')),
    list.length === 0 ? h('p', { class: 'dim' }, t('Nothing: the engine is idle. Nothing thinks when nobody looks.')) :
      h('ul', {}, list.map((/** @type {any} */ job) => h('li', {}, raw(`${job.what} · ${job.state} `),
        h('button', { type: 'button', onclick: async () => { await wire.tell('job.cancel', { job: job.job }); await drawJobs(); } }, t('Cancel'))))));
}

wire.on('engine', drawLight);
wire.on('failed', (event) => shell.fail(event.err));

// ---- the connection

let isLost = false;
wire.on('greeted', (greeting) => {
  strips.querySelectorAll('.lasting').forEach((/** @type {Element} */ line) => line.remove());
  drawLight(greeting.engine);
  if (current === null) void route();
  else if (isLost) current.reconnect?.();
  isLost = false;
});
wire.on('lost', async () => {
  isLost = true;
  drawLight({ state: 'lost' });
  if (strips.querySelector('.lasting')) return;
  const hello = await fetch('/api/hello').then((answer) => answer.json(), () => null);
  if (!isLost) return;
  const text = hello?.tabs >= hello?.most_tabs && hello ? t('Too many tabs are open: close some.') : t('The program has stopped: start `tengen studio` again. The page comes back by itself.');
  const line = strip('err', text);
  line.classList.add('lasting');
});
wire.on('no-key', () => {
  drawLight({ state: 'lost' });
  show(main, h('section', { class: 'panel nokey' }, h('h1', {}, t('This page needs its key')),
    h('p', {}, t('Open the address that `tengen studio` printed: it ends with a key that only you know.')),
    h('p', { class: 'dim' }, t('The key keeps other pages and other accounts of this machine out.'))));
});

// ---- files, dropped or pasted anywhere

/** Opens games or a network. @param {File|Blob} file @param {string} name */
export async function openFile(file, name) {
  const isNetwork = /\.(net|gz|bin|txt)$/i.test(name) && !/\.sgf/i.test(name);
  try {
    if (isNetwork) {
      const line = strip('note', t('Reading the network {name} …', { name }));
      try {
        const answer = await (await wire.http(`/api/nets?name=${encodeURIComponent(name)}`, { method: 'POST', body: file })).json();
        shell.go(`/nets/${answer.net}`);
      } finally {
        line.remove();
      }
      return;
    }
    const { docs } = await (await wire.http('/api/docs', { method: 'POST', body: file })).json();
    const first = docs[0];
    shell.go(first.kind === 'problem' ? `/problems/${first.doc}` : `/go/${first.doc}`);
    if (docs.length > 1) strip('note', t('{n} games were opened; the start page lists them.', { n: number(docs.length) }));
    for (const note of first.notes ?? []) strip('note', note);
  } catch (failure) {
    shell.fail(failure);
  }
}

export function chooseFile() {
  const field = h('input', { type: 'file', accept: '.sgf,.net,.gz,.txt,.bin', onchange: () => { if (field.files?.[0]) void openFile(field.files[0], field.files[0].name); } });
  field.click();
}

let depth = 0;
document.addEventListener('dragenter', (event) => { event.preventDefault(); depth += 1; document.body.classList.add('dropping'); });
document.addEventListener('dragleave', () => { depth -= 1; if (depth <= 0) document.body.classList.remove('dropping'); });
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  depth = 0;
  document.body.classList.remove('dropping');
  const file = event.dataTransfer?.files?.[0];
  if (file) void openFile(file, file.name);
});
document.addEventListener('paste', (event) => {
  const text = event.clipboardData?.getData('text') ?? '';
  const target = /** @type {HTMLElement} */ (event.target);
  if (!/^\s*\(\s*;/.test(text) || target.matches?.('textarea, input')) return;
  event.preventDefault();
  void openFile(new Blob([text]), 'pasted.sgf');
});

wire.connect();

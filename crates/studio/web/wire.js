// @ts-check
// The one connection to the program: requests with answers, events by topic, and coming back when it is lost.

const PROTOCOL = 1;
const RETRY_MS = [500, 1000, 2000, 5000];
const KEY_PLACE = 'tengen.key';

/** @type {WebSocket|null} */
let socket = null;
let tries = 0;
let numbers = 0;
let isGreeted = false;
let isLeft = false;
/** @type {Map<number, {ok: (v: any) => void, no: (e: any) => void}>} */
const open = new Map();
/** @type {Map<string, Set<(event: any) => void>>} */
const listeners = new Map();
/** @type {Map<number, (numbers: Float32Array) => void>} */
const frames = new Map();

/** What the program said at its greeting. @type {any} */
export let greeting = null;

/** The key from the address, kept for this port and taken out of the address. */
export function takeKey() {
  const match = /[#&]key=([0-9a-f]+)/.exec(location.hash);
  if (match) {
    localStorage.setItem(KEY_PLACE, match[1]);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return localStorage.getItem(KEY_PLACE);
}

/** @param {string} topic @param {(event: any) => void} listener @returns {() => void} ends it */
export function on(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic)?.add(listener);
  return () => { listeners.get(topic)?.delete(listener); };
}

/** What the engine was doing when it last said so. @type {any} */
export let engine = { state: 'idle' };

/** @param {string} topic @param {any} event */
export function emit(topic, event) {
  if (topic === 'engine') engine = event;
  for (const listener of listeners.get(topic) ?? []) listener(event);
}

/** Asks the program. @param {string} verb @param {object} [fields] @returns {Promise<any>} */
export function ask(verb, fields = {}) {
  return new Promise((ok, no) => {
    if (!socket || socket.readyState !== WebSocket.OPEN || (!isGreeted && verb !== 'hello')) {
      no({ code: 'lost' });
      return;
    }
    const id = ++numbers;
    open.set(id, { ok, no });
    socket.send(JSON.stringify({ id, do: verb, ...fields }));
  });
}

/** Asks for numbers: the answer is a binary frame. @param {string} verb @param {object} fields @returns {Promise<Float32Array>} */
export function askNumbers(verb, fields) {
  return new Promise((ok, no) => {
    ask(verb, fields).then((answer) => no(answer), no);
    frames.set(numbers, ok);
  });
}

/** Asks and shows what went wrong. @param {string} verb @param {object} [fields] @returns {Promise<any>} null if it failed */
export async function tell(verb, fields = {}) {
  try {
    return await ask(verb, fields);
  } catch (failure) {
    if (failure.code !== 'lost') emit('failed', { err: failure });
    return null;
  }
}

/** HTTP with the key. @param {string} path @param {RequestInit} [options] */
export async function http(path, options = {}) {
  const headers = { Authorization: `Bearer ${localStorage.getItem(KEY_PLACE) ?? ''}` };
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: 'no-store' });
  } catch {
    throw { code: 'lost' };
  }
  if (response.ok) return response;
  let failure = { code: 'http', say: `${response.status}` };
  try { failure = (await response.json()).err ?? failure; } catch { /* no sentence came */ }
  throw failure;
}

/** Hands a file of the program to the user. @param {string} path @param {string} name */
export async function download(path, name) {
  try {
    const blob = await (await http(path)).blob();
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (failure) {
    emit('failed', { err: failure });
  }
}

// A page that is left may be kept asleep by the browser: it must not keep the engine busy.
window.addEventListener('pagehide', () => { isLeft = true; socket?.close(); });
window.addEventListener('pageshow', (event) => { if (event.persisted) { isLeft = false; connect(); } });

/** Connects, and connects again whenever the connection is lost. */
export function connect() {
  const key = takeKey();
  if (!key) {
    emit('no-key', {});
    return;
  }
  socket = new WebSocket(`ws://${location.host}/ws`);
  socket.binaryType = 'arraybuffer';
  socket.onopen = async () => {
    try {
      greeting = await ask('hello', { key, protocol: PROTOCOL, lang: document.documentElement.lang });
      tries = 0;
      isGreeted = true;
      engine = greeting.engine;
      emit('greeted', greeting);
    } catch (failure) {
      if (failure.code === 'key') {
        localStorage.removeItem(KEY_PLACE);
        emit('no-key', {});
      } else emit('failed', { err: failure });
    }
  };
  socket.onmessage = (message) => {
    if (message.data instanceof ArrayBuffer) return receiveNumbers(message.data);
    const event = JSON.parse(message.data);
    if (event.re !== undefined) {
      const waiting = open.get(event.re);
      open.delete(event.re);
      if (event.err) { frames.delete(event.re); waiting?.no(event.err); } else waiting?.ok(event.ok);
    } else emit(event.on, event);
  };
  socket.onclose = (event) => {
    isGreeted = false;
    for (const waiting of open.values()) waiting.no({ code: 'lost' });
    open.clear();
    frames.clear();
    if (event.code === 1008 || isLeft) return;
    emit('lost', { tries });
    setTimeout(connect, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
    tries += 1;
  };
}

/** @param {ArrayBuffer} bytes */
function receiveNumbers(bytes) {
  const id = new DataView(bytes).getUint32(0, true);
  const ok = frames.get(id);
  frames.delete(id);
  open.delete(id);
  ok?.(new Float32Array(bytes.slice(4)));
}

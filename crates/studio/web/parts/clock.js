// @ts-check
// Clocks: both sides' time beside their names, and the fields of the dialog that choose one.

import { h, say } from '../dom.js';
import { t, n } from '../lang.js';

/** A side with less than this many seconds, or in its last period, is warned. */
const SHORT_SECONDS = 10;
const TICK_MS = 100;

/** Minutes and seconds, with tenths when they matter. @param {number} seconds */
export function clockText(seconds) {
  const left = Math.max(0, seconds);
  if (left < SHORT_SECONDS) return (Math.floor(left * 10) / 10).toFixed(1);
  const whole = Math.ceil(left - 1e-9);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), String(whole % 60).padStart(2, '0')];
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** What a clock shows so many seconds after the server spoke. @param {any} control @param {{ seconds: number, overtime: number|null }} left @param {number} passed */
export function clockAfter(control, left, passed) {
  let { seconds, overtime } = left;
  seconds -= passed;
  if (seconds > 0 || !('period' in control)) return { seconds: Math.max(0, seconds), overtime };
  if (control.kind === 'canadian') return overtime === null ? { seconds: Math.max(0, seconds + control.period), overtime: control.stones } : { seconds: 0, overtime };
  while (seconds <= 0) {
    overtime = overtime === null ? control.periods : overtime - 1;
    if (overtime <= 0) return { seconds: 0, overtime: 0 };
    seconds += control.period;
  }
  return { seconds, overtime };
}

/** @param {(text: string) => void} announce */
export function makeClocks(announce) {
  const faces = /** @type {Record<string, any>} */ ({});
  for (const color of ['black', 'white']) faces[color] = h('span', { class: 'clock num', role: 'timer', 'aria-live': 'off', 'data-raw': '', 'data-clock': color, hidden: true });
  /** @type {any} */ let clock = null;
  let heard = 0;
  let warned = '';

  function draw() {
    for (const color of ['black', 'white']) {
      const face = faces[color];
      face.hidden = !clock;
      if (!clock) continue;
      const isRunning = clock.running === color;
      const left = isRunning ? clockAfter(clock.control, clock[color], (performance.now() - heard) / 1000) : clock[color];
      const isCanadian = clock.control.kind === 'canadian';
      const more = left.overtime === null ? '' : isCanadian ? ` /${left.overtime}` : ` ×${left.overtime}`;
      say(face, clockText(left.seconds) + more);
      const isShort = left.seconds < SHORT_SECONDS && (left.overtime === null ? clock.control.kind !== 'byoyomi' : isCanadian || left.overtime === 1);
      face.dataset.state = isRunning ? (isShort ? 'short' : 'running') : 'still';
      face.title = left.overtime === null ? t('Main time') : isCanadian ? n(left.overtime, '{n} stone left in this period', '{n} stones left in this period') : n(left.overtime, '{n} period left', '{n} periods left');
      const warning = isRunning && isShort ? `${color}${left.overtime}` : '';
      if (warning && warning !== warned) announce(color === 'black' ? t('Black is short of time.') : t('White is short of time.'));
      if (isRunning) warned = warning;
    }
  }

  const timer = setInterval(() => { if (clock?.running) draw(); }, TICK_MS);
  return {
    faces,
    /** @param {any} told what the server said of the clocks, or null */
    update(told) { clock = told; heard = performance.now(); draw(); },
    end() { clearInterval(timer); },
  };
}

/** The fields of the dialog. @param {(name: string, control: any) => any} field */
export function makeClockFields(field) {
  const option = (/** @type {string} */ value, /** @type {string} */ text) => h('option', { value }, text);
  const kind = h('select', { 'data-field': 'clock', onchange: () => follow() }, option('none', t('no clock')), option('absolute', t('one stock of time')), option('byoyomi', t('byo-yomi')), option('fischer', t('Fischer: time for each move')), option('canadian', t('Canadian overtime')));
  const main = h('input', { type: 'number', min: 0, max: 1440, step: 'any', value: 10, 'data-field': 'clock-main' });
  const period = h('input', { type: 'number', min: 1, max: 3600, value: 30, 'data-field': 'clock-period' });
  const count = h('input', { type: 'number', min: 1, max: 100, value: 5, 'data-field': 'clock-count' });
  const countName = h('span', {}, '');
  const countField = h('label', { class: 'field' }, countName, count);
  const fields = { main: field(t('Minutes for the game'), main), period: field(t('Seconds'), period), count: countField };
  const element = h('div', { class: 'grid2' }, field(t('Clock'), kind), fields.main, fields.period, fields.count);

  function follow() {
    fields.main.hidden = kind.value === 'none';
    fields.period.hidden = !['byoyomi', 'fischer', 'canadian'].includes(kind.value);
    fields.count.hidden = !['byoyomi', 'canadian'].includes(kind.value);
    say(countName, kind.value === 'canadian' ? t('Stones in this time') : t('Periods'));
    say(fields.period.querySelector('span'), kind.value === 'fischer' ? t('Seconds for each move') : kind.value === 'canadian' ? t('Seconds of overtime') : t('Seconds a period'));
  }
  follow();

  return {
    element,
    /** What `go.new` takes. @returns {any} */
    value() {
      const [seconds, each, many] = [Number(main.value) * 60, Number(period.value), Math.round(Number(count.value))];
      switch (kind.value) {
        case 'absolute': return { kind: 'absolute', main: seconds };
        case 'byoyomi': return { kind: 'byoyomi', main: seconds, period: each, periods: many };
        case 'fischer': return { kind: 'fischer', main: seconds, increment: each };
        case 'canadian': return { kind: 'canadian', main: seconds, period: each, stones: many };
        default: return null;
      }
    },
  };
}

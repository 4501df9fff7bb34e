// @ts-check
// The graph of a game: Black's chance over the moves, lead in points where there is one, and below what each move cost.

import { h, s, show } from '../dom.js';
import { t, percent } from '../lang.js';

const WIDTH = 460;
const HEIGHT = 150;
const TOP = 8;
const PLOT = 100;
const LOSS_TOP = PLOT + 16;

/** @param {(node: number) => void} goTo */
export function makeGraph(goTo) {
  const svg = s('svg', { class: 'chart graph', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': t('No position has been judged yet') });
  const element = h('div', {}, svg);
  /** @type {any[]} */ let points = [];
  let limit = Infinity;

  const at = (/** @type {PointerEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    return points[Math.max(0, Math.min(points.length - 1, Math.round(share * (points.length - 1))))];
  };
  const jump = (/** @type {PointerEvent} */ event) => { const point = at(event); if (point) goTo(point.node); };
  svg.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => { svg.setPointerCapture(event.pointerId); jump(event); });
  svg.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => { if (event.buttons) jump(event); });

  const x = (/** @type {number} */ index) => points.length < 2 ? 0 : (index * WIDTH) / (points.length - 1);
  const y = (/** @type {number} */ chance) => TOP + (1 - chance) * PLOT;

  return {
    element,
    /** @param {any} graph @param {number} node @param {boolean} isHidden hides what comes after the present move */
    update(graph, node, isHidden) {
      points = graph?.points ?? [];
      const here = points.findIndex((point) => point.node === node);
      limit = isHidden ? here : Infinity;
      const known = points.map((point, index) => ({ ...point, index })).filter((point) => point.winrate_black !== null && point.index <= limit && !isHidden);
      const path = (/** @type {any[]} */ list, /** @type {(p: any) => number} */ height) => list.map((p, i) => `${i ? 'L' : 'M'}${x(p.index).toFixed(1)} ${height(p).toFixed(1)}`).join('');
      const leads = known.filter((point) => point.lead_black !== null);
      const scale = Math.max(10, ...leads.map((point) => Math.abs(point.lead_black)));
      const worst = Math.max(0.2, ...known.map((point) => point.loss ?? 0));
      const bar = Math.max(1.5, Math.min(7, (WIDTH / Math.max(points.length, 1)) * 0.7));
      svg.replaceChildren(
        s('rect', { x: 0, y: TOP, width: WIDTH, height: PLOT, class: known.length > 1 ? 'areaw' : 'areanone' }),
        known.length > 1 ? s('path', { d: `${path(known, (p) => y(p.winrate_black))}L${x(known[known.length - 1].index).toFixed(1)} ${TOP + PLOT}L${x(known[0].index).toFixed(1)} ${TOP + PLOT}Z`, class: 'areab' }) : '',
        s('path', { d: `M0 ${y(0.5)}H${WIDTH}`, class: 'half' }),
        known.length > 1 ? s('path', { d: path(known, (p) => y(p.winrate_black)), class: 'curve' }) : '',
        leads.length > 1 ? s('path', { d: path(leads, (p) => y(0.5 + p.lead_black / scale / 2)), class: 'curve lead' }) : '',
        ...known.filter((point) => point.hollow).map((point) => s('circle', { cx: x(point.index), cy: y(point.winrate_black), r: 2.6, class: 'hollow' })),
        ...known.filter((point) => point.loss > 0.005).map((point) => {
          const high = Math.max(1, (point.loss / worst) * (HEIGHT - LOSS_TOP - 2));
          return s('rect', { x: x(point.index) - bar / 2, y: LOSS_TOP, width: bar, height: high, class: `loss ${point.color}`, 'data-loss': point.number });
        }),
        here >= 0 ? s('path', { d: `M${x(here)} ${TOP}V${HEIGHT}`, class: 'now' }) : '');
      svg.setAttribute('aria-label', isHidden ? t('The graph is hidden') : describe(known));
    },
  };
}

/** @param {any[]} known */
function describe(known) {
  if (known.length === 0) return t('No position has been judged yet');
  const last = known[known.length - 1];
  return t('Black\'s winning chance over {moves} judged positions; now {chance}', { moves: known.length, chance: percent(last.winrate_black) });
}

/** Room right of a chart, for half of its last figure. */
const RIGHT = 18;

/** Lines for a plain chart. @param {{ name: string, points: [number, number][], kind?: string, dots?: any[] }[]} curves @param {{ label: string, yName?: string, xName?: string, height?: number, marks?: {y: number, name: string}[] }} options */
export function lineChart(curves, options) {
  const [width, height, left, bottom] = [520, options.height ?? 200, 54, 24];
  const all = curves.flatMap((curve) => [...curve.points, ...(curve.dots ?? []).flatMap((dot) => [dot.y - (dot.error ?? 0), dot.y + (dot.error ?? 0)].map((y) => /** @type {[number, number]} */ ([dot.x, y])))]);
  if (all.length === 0) return h('p', { class: 'dim small' }, t('Nothing to draw yet.'));
  const extent = (/** @type {number[]} */ values) => /** @type {[number, number]} */ ([Math.min(...values), Math.max(...values)]);
  let [x0, x1] = extent(all.map((p) => p[0]));
  let [y0, y1] = extent([...all.map((p) => p[1]), ...(options.marks ?? []).map((mark) => mark.y)]);
  if (x0 === x1) x1 = x0 + 1;
  const pad = (y1 - y0 || 1) * 0.08;
  y0 -= pad; y1 += pad;
  const x = (/** @type {number} */ v) => left + ((v - x0) / (x1 - x0)) * (width - left - RIGHT);
  const y = (/** @type {number} */ v) => 8 + (1 - (v - y0) / (y1 - y0)) * (height - bottom - 8);
  const ticks = steps(y0, y1, 4);
  return s('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': options.label },
    ticks.map((tick) => [s('path', { d: `M${left} ${y(tick)}H${width - RIGHT}`, class: 'axis' }), s('text', { x: left - 5, y: y(tick) + 3, 'text-anchor': 'end' }, shortNumber(tick, ticks[1] - ticks[0]))]),
    steps(x0, x1, 6).map((tick, _, all) => s('text', { x: x(tick), y: height - 8, 'text-anchor': 'middle' }, shortNumber(tick, all[1] - all[0]))),
    (options.marks ?? []).map((mark) => [s('path', { d: `M${left} ${y(mark.y)}H${width - RIGHT}`, class: 'axis', 'stroke-dasharray': '4 3' }), s('text', { x: width - RIGHT - 2, y: y(mark.y) - 3, 'text-anchor': 'end' }, mark.name)]),
    curves.map((curve, index) => s('path', { d: curve.points.map((p, i) => `${i ? 'L' : 'M'}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join(''), class: `curve ${curve.kind ?? ''}`, stroke: `var(--plot-${(index % 3) + 1})` })),
    curves.map((curve, index) => (curve.dots ?? []).map((dot) => s('g', {}, dot.error ? s('path', { d: `M${x(dot.x)} ${y(dot.y - dot.error)}V${y(dot.y + dot.error)}`, stroke: `var(--plot-${(index % 3) + 1})` }) : null,
      s('circle', { cx: x(dot.x), cy: y(dot.y), r: 3.4, fill: dot.filled ? `var(--plot-${(index % 3) + 1})` : 'var(--panel)', stroke: `var(--plot-${(index % 3) + 1})`, 'stroke-width': 1.5 }, s('title', {}, dot.title ?? ''))))));
}

/** @param {number} least @param {number} most @param {number} count */
function steps(least, most, count) {
  const rough = (most - least) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(least / step) * step;
  return Array.from({ length: Math.floor((most - first) / step) + 1 }, (_, i) => first + i * step);
}

/** A figure of an axis, with as many digits as its steps need. @param {number} value @param {number} step */
const shortNumber = (value, step) => Math.abs(value) >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : Math.abs(value) >= 1e4 ? `${+(value / 1e3).toFixed(1)}k` : value.toFixed(Math.max(0, Math.min(8, -Math.floor(Math.log10(step || 1) + 1e-9))));
export { show };

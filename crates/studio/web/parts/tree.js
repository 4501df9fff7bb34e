// @ts-check
// The tree of moves, drawn from the left: one row a variation.

import { h, s } from '../dom.js';
import { t } from '../lang.js';

const STEP = 18;
const ROW = 20;

/** @param {(node: number) => void} goTo */
export function makeTree(goTo) {
  const svg = s('svg', { role: 'img', 'aria-label': t('Tree of moves') });
  const element = h('div', { class: 'tree', tabindex: '0', role: 'group', 'aria-label': t('Tree of moves: arrow keys go through it') }, svg);
  svg.addEventListener('click', (/** @type {any} */ event) => { const node = event.target.dataset?.node; if (node) goTo(Number(node)); });
  let drawn = '';

  return {
    element,
    /** @param {any} doc */
    update(doc) {
      if (!doc.tree) { svg.replaceChildren(); return; }
      const key = `${doc.tree.length}:${doc.tree.at(-1)?.[0]}:${doc.node}:${doc.tree[1]?.[0]}:${doc.rev}`;
      if (key === drawn) return;
      drawn = key;
      /** @type {Map<number, {x: number, y: number}>} */ const places = new Map();
      let rows = 0;
      let deepest = 0;
      /** @type {Map<number, number>} */ const children = new Map();
      const edges = [];
      const nodes = [];
      for (const [node, parent, color] of doc.tree) {
        const from = parent === null ? null : places.get(parent);
        const order = parent === null ? 0 : children.get(parent) ?? 0;
        if (parent !== null) children.set(parent, order + 1);
        if (order > 0) rows += 1;
        const place = { x: from ? from.x + 1 : 0, y: order > 0 ? rows : from?.y ?? 0 };
        places.set(node, place);
        deepest = Math.max(deepest, place.x);
        const [x, y] = [9 + place.x * STEP, 10 + place.y * ROW];
        if (from) {
          const [fx, fy] = [9 + from.x * STEP, 10 + from.y * ROW];
          edges.push(s('path', { d: fy === y ? `M${fx} ${fy}H${x}` : `M${fx} ${fy}V${y - ROW / 2}L${x} ${y}`, class: 'edge' }));
        }
        nodes.push(s('circle', { cx: x, cy: y, r: color === '-' ? 4 : 6, class: `${color === '-' ? 'n' : color} ${node === doc.node ? 'here' : ''}`, 'data-node': node }));
      }
      svg.setAttribute('width', String(18 + deepest * STEP));
      svg.setAttribute('height', String(20 + rows * ROW));
      svg.replaceChildren(...edges, ...nodes);
      const here = places.get(doc.node);
      if (here) element.scrollTo({ left: 9 + here.x * STEP - element.clientWidth / 2, top: 10 + here.y * ROW - element.clientHeight / 2 });
    },
  };
}

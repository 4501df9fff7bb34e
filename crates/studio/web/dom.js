// @ts-check
// Elements without a template language: `h` for HTML, `s` for SVG. Text is always a text node, never markup.

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node|string|number|null|undefined|false|Array<any>} Child */

/** @param {Element} element @param {Record<string, any>} props */
export function set(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) element.removeAttribute(name);
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') /** @type {any} */ (element).value = value;
    else if (name === 'checked') /** @type {any} */ (element).checked = value;
    else if (value === true) element.setAttribute(name, '');
    else element.setAttribute(name, String(value));
  }
  return element;
}

/** @param {Element} element @param {Child[]} children */
function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** An HTML element. @param {string} tag @param {Record<string, any>} [props] @param {...Child} children @returns {any} */
export function h(tag, props = {}, ...children) {
  return fill(set(document.createElement(tag), props), children);
}

/** An SVG element. @param {string} tag @param {Record<string, any>} [props] @param {...Child} children @returns {any} */
export function s(tag, props = {}, ...children) {
  return fill(set(document.createElementNS(SVG, tag), props), children);
}

/** Text that is nobody's language: a name, a coordinate, a number. @param {any} text @param {string} [kind] */
export function raw(text, kind = '') {
  return h('span', { 'data-raw': '', class: kind || undefined }, text);
}

/** Replaces what an element holds. @param {Element} element @param {...Child} children */
export function show(element, ...children) {
  element.replaceChildren();
  fill(element, children);
}

/** Changes a text only if it differs: no layout for nothing. @param {Element} element @param {string} text */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Runs `draw` in the next frame, once, however often it is asked for. @param {() => void} draw */
export function inFrame(draw) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; draw(); });
  };
}

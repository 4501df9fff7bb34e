// @ts-check
// Why? One card, four witnesses in the order of their certainty: proved, read, guessed, searched.

import { h, raw, show } from '../dom.js';
import { t, n, percent } from '../lang.js';
import { ask } from '../wire.js';

/** @param {() => string} doc @param {(stones: any[]|null, zone: string[]) => void} showLine */
export function makeWhy(doc, showLine) {
  const element = h('div', { class: 'stack' });
  const empty = () => show(element, h('h2', {}, t('Why?')), h('p', { class: 'dim small' }, t('Press w on a point, or right-click a stone or a candidate: what is proved, read, guessed and searched about it, side by side.')));
  empty();

  /** Plays a line on the board, step by step. @param {[string, string][]} line @param {string[]} zone @param {HTMLElement} button */
  function play(line, zone, button) {
    let step = Number(button.dataset.step ?? 0) + 1;
    if (step > line.length) step = 0;
    button.dataset.step = String(step);
    button.textContent = step === 0 ? t('Show me') : t('Show me: {step} of {all}', { step, all: line.length });
    showLine(step === 0 ? null : line.slice(0, step).map(([color, at], index) => ({ color, at, number: index + 1 })), step === 0 ? [] : zone);
  }

  /** @param {any} witness */
  function card(witness) {
    const names = { proved: t('Proved'), read: t('Read'), guessed: t('Guessed'), searched: t('Searched') };
    const fates = { alive: t('alive'), dead: t('dead'), critical: t('whoever plays first decides'), captured: t('captured in a ladder'), escapes: t('escapes the ladder'), unknown: t('not known') };
    const words = [];
    if (witness.fate) words.push(h('strong', {}, witness.kind === 'read' && witness.fate === 'alive' ? t('gets away or lives') : fates[/** @type {'dead'} */ (witness.fate)] ?? witness.fate));
    if (witness.ko) words.push(h('span', {}, ', ', n(witness.ko.threats, witness.ko.needs === 'attacker' ? 'ko: the attacker needs {n} threat' : 'ko: the defender needs {n} threat', witness.ko.needs === 'attacker' ? 'ko: the attacker needs {n} threats' : 'ko: the defender needs {n} threats')));
    if (witness.winrate_black !== undefined) words.push(h('strong', {}, t('Black {chance}', { chance: percent(witness.winrate_black) })));
    if (witness.how) words.push(h('span', { class: 'dim' }, ' · ', t(witness.how, witness.values ?? {})));
    const line = witness.line ?? [];
    return h('div', { class: `witness ${witness.kind}`, 'data-witness': witness.kind }, h('h3', {}, names[/** @type {'read'} */ (witness.kind)]), h('p', {}, words), line.length ? h('div', {}, button(line, witness.zone ?? [])) : null);
  }

  /** @param {any[]} line @param {string[]} zone */
  function button(line, zone) {
    const element = h('button', { type: 'button', class: 'small', title: t('Play the line on the board; what the result rests on is tinted'), onclick: () => play(line, zone, element) }, t('Show me'));
    return element;
  }

  return {
    element,
    /** @param {string} at */
    async ask(at) {
      show(element, h('h2', {}, t('Why?'), ' ', raw(at)), h('p', { class: 'dim' }, t('Reading …')));
      try {
        const answer = await ask('why', { doc: doc(), at });
        show(element, h('h2', {}, t('Why?'), ' ', raw(at)), answer.witnesses.map(card), answer.changes?.length ? h('div', {}, h('h3', {}, t('What this move changed')), h('ul', {}, answer.changes.map((/** @type {any} */ change) => h('li', {}, raw(change.at), ' ', t(change.text))))) : null,
          answer.witnesses.length === 0 ? h('p', { class: 'dim' }, t('Nobody can say anything about this point.')) : null);
      } catch (failure) {
        show(element, h('h2', {}, t('Why?')), h('p', { class: 'dim' }, failure.say ?? failure.code));
      }
    },
    moved: empty,
  };
}

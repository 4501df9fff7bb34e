// @ts-check
// The mistakes of a game, the dearest first, and both players in figures.

import { h, raw, show } from '../dom.js';
import { t, number, percent } from '../lang.js';
import { lossClass } from '../board/overlay.js';

/** @param {{ goTo: (node: number) => void, quiz: () => void }} act */
export function makeMistakes(act) {
  const quiz = h('button', { type: 'button', title: t('Guess the better move at each of the mistakes (q)'), onclick: act.quiz }, t('Quiz me'));
  const body = h('tbody', {});
  const table = h('table', { class: 'list' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('Move')), h('th', { scope: 'col' }, t('Played')), h('th', { scope: 'col', class: 'end' }, t('Lost')), h('th', { scope: 'col' }, t('Better')))), body);
  const empty = h('p', { class: 'dim small' }, t('Review the game to see which moves cost most.'));
  const players = h('div', { class: 'small' });
  const element = h('div', { class: 'stack' }, h('header', { class: 'row' }, h('h2', {}, t('Mistakes')), h('span', { class: 'grow' }), quiz), empty, h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': t('List of mistakes') }, table), players);

  return {
    element,
    /** @param {any} graph @param {number} node */
    update(graph, node) {
      const mistakes = graph?.mistakes ?? [];
      table.hidden = quiz.hidden = mistakes.length === 0;
      empty.hidden = mistakes.length > 0;
      show(body, mistakes.map((/** @type {any} */ mistake) => h('tr', { class: 'pick', 'aria-current': mistake.node === node ? 'true' : undefined, 'data-mistake': mistake.number, onclick: () => act.goTo(mistake.node) },
        h('td', {}, h('button', { type: 'button', class: 'link', 'data-raw': '', onclick: () => act.goTo(mistake.node) }, mistake.number)),
        h('td', {}, mistake.color === 'black' ? t('Black') : t('White'), ' ', raw(mistake.at)),
        h('td', { class: 'end num' }, h('span', { class: `chip c${lossClass(mistake.loss)}`, 'aria-hidden': 'true' }), raw(`${number(mistake.loss * 100, 1)} %`)),
        h('td', {}, raw(mistake.better ?? '–')))));
      const judged = (graph?.players ?? []).filter((/** @type {any} */ player) => player.moves > 0);
      const phases = { opening: t('opening'), middle: t('middle game'), end: t('endgame') };
      show(players, judged.length === 0 ? '' : h('table', { class: 'list' }, h('thead', {}, h('tr', {}, [t('Player'), t('Moves'), t('Mean loss'), t('Best moves'), t('Weakest')].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, judged.map((/** @type {any} */ player) => h('tr', {}, h('td', {}, player.color === 'black' ? t('Black') : t('White')), h('td', { class: 'num', 'data-raw': '' }, player.moves), h('td', { class: 'num', 'data-raw': '' }, percent(player.mean_loss)), h('td', { class: 'num', 'data-raw': '' }, percent(player.best_share, 0)), h('td', {}, phases[/** @type {'end'} */ (player.worst_phase)] ?? ''))))));
    },
  };
}

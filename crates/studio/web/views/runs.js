// @ts-check
// Training: runs as they go on, and every generation to play against.

import { h, raw, show, say } from '../dom.js';
import { t, n, number, percent } from '../lang.js';
import { lineChart } from '../parts/graph.js';
import { makeReplay } from '../parts/replay.js';
import { ask, on, tell } from '../wire.js';

/** @param {HTMLElement} host @param {{ id: string }} params @param {import('../app.js').Shell} shell */
export function mount(host, params, shell) {
  return new RunsView(host, params.id, shell);
}

class RunsView {
  /** @param {HTMLElement} host @param {string} id @param {import('../app.js').Shell} shell */
  constructor(host, id, shell) {
    this.id = id;
    this.shell = shell;
    this.over = 'games';
    this.list = h('div', { class: 'row', role: 'group', 'aria-label': t('Runs') });
    this.detail = h('div', { class: 'stack' });
    this.form = this.buildForm();
    show(host, h('div', { class: 'runsview stack' }, h('section', { class: 'panel', 'aria-label': t('Runs') }, h('header', {}, h('h1', {}, t('Training')), h('div', { class: 'row' }, h('button', { type: 'button', class: 'main', onclick: () => this.form.showModal() }, t('New run …')))), this.list), this.detail));
    document.body.append(this.form);
    this.ends = [on('run', (event) => { if (event.run === this.id) this.draw(event); })];
    void this.load();
    this.timer = setInterval(() => this.loadList(), 5000);
  }

  unmount() {
    for (const end of this.ends) end();
    this.replay?.end();
    clearInterval(this.timer);
    this.form.remove();
    void ask('run.watch', { run: null }).catch(() => {});
  }

  reconnect() { void this.load(); }

  async load() {
    void ask('see', { doc: null, visible: true }).catch(() => {});
    const list = await this.loadList();
    if (!this.id && list?.runs.length) {
      const first = list.runs.find((/** @type {any} */ run) => run.running) ?? list.runs[0];
      this.id = first.run;
      history.replaceState(null, '', `/runs/${this.id}`);
      this.drawList(list);
    }
    if (!this.id) { this.drawEmpty(list); return; }
    const answer = await tell('run.watch', { run: this.id });
    if (answer?.detail) this.draw(answer.detail);
  }

  async loadList() {
    const list = await ask('run.list').catch(() => null);
    if (list) this.drawList(list);
    return list;
  }

  /** @param {any} list */
  drawList(list) {
    this.started = list.started;
    show(this.list, list.runs.map((/** @type {any} */ run) => h('a', { class: 'button', href: `/runs/${run.run}`, 'aria-current': run.run === this.id ? 'page' : undefined }, run.running ? h('span', { class: 'dotrun', title: t('running'), 'aria-label': t('running') }) : null, raw(run.name), h('span', { class: 'dim small' }, run.kind === 'train' ? t('training') : run.rounds !== null && run.rounds !== undefined ? n(run.rounds, '{n} round', '{n} rounds') : t('starting')))));
  }

  /** @param {any} list */
  drawEmpty(list) {
    show(this.detail, h('section', { class: 'panel' }, h('h2', {}, t('No run yet')), h('p', {}, t('A run is a folder in which a network learns by playing itself. Start one here: on 7×7 the first generations are ready within minutes, and you can play each of them.')), h('p', { class: 'dim small' }, t('Looked in:'), ' ', raw((list?.folders ?? []).join(', ')))));
  }

  buildForm() {
    const game = h('select', {}, h('option', { value: 'go' }, t('Go')), h('option', { value: 'mario' }, t('Dr. Mario')));
    const size = h('select', {}, [5, 6, 7, 9].map((side) => h('option', { value: side, 'data-raw': '' }, `${side}×${side}`)));
    size.value = '7';
    const name = h('input', { type: 'text', value: 'go7', maxlength: 40, pattern: '[A-Za-z0-9_\\-]+' });
    const command = h('p', { class: 'small dim' });
    const follow = () => { size.disabled = game.value !== 'go'; say(command, `tengen zero ${game.value}${game.value === 'go' ? ` --size ${size.value}` : ''} --dir runs/${name.value}`); command.dataset.raw = ''; };
    for (const field of [game, size, name]) field.addEventListener('input', () => { if (field !== name) name.value = game.value === 'go' ? `go${size.value}` : 'mario'; follow(); });
    follow();
    const field = (/** @type {string} */ text, /** @type {any} */ control) => h('label', { class: 'field' }, h('span', {}, text), control);
    const dialog = h('dialog', { 'aria-label': t('New run') }, h('form', { method: 'dialog', onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      dialog.close();
      const made = await tell('run.start', { game: game.value, size: Number(size.value), name: name.value });
      if (made) { this.shell.announce(t('The run has started.')); this.shell.go(made.run ? `/runs/${made.run}` : '/runs'); }
    } }, h('h1', {}, t('Train from nothing')), h('p', { class: 'small dim' }, t('The run goes on when this page is closed, and can be stopped and resumed at any time. It uses all processors.')), h('div', { class: 'grid2' }, field(t('Game'), game), field(t('Board'), size), field(t('Name'), name)), command, h('div', { class: 'row' }, h('button', { type: 'submit', class: 'main' }, t('Start')), h('button', { type: 'button', onclick: () => dialog.close() }, t('Cancel')))));
    return dialog;
  }

  /** @param {any} run */
  draw(run) {
    this.run = run;
    const parts = [h('section', { class: 'panel', 'aria-label': t('Now') }, this.drawNow(run))];
    const charts = h('div', { class: 'runcharts' });
    if (run.matches?.length) charts.append(this.drawElo(run));
    if (run.trainings?.length) charts.append(this.drawLosses(run));
    for (const chart of this.drawCurves(run)) charts.append(chart);
    if (run.kind === 'zero' && run.game === 'go') { this.replay ??= makeReplay(run.run); charts.append(this.replay.element); }
    parts.push(charts);
    if (run.matches?.length) parts.push(this.drawMatches(run));
    if (run.recent?.length && run.game === 'go') parts.push(this.drawGames(run));
    show(this.detail, parts);
  }

  /** @param {any} run */
  drawNow(run) {
    const status = run.status;
    const phases = { selfplay: t('self-play'), training: t('training'), match: t('match'), rating: t('rating matches') };
    const progress = status?.steps ? [status.steps.done, status.steps.due, t('{done} of {due} steps', status.steps)] : status?.phase === 'selfplay' && status.games_wanted ? [status.games, status.games_wanted, t('{done} of {due} games', { done: number(status.games), due: number(status.games_wanted) })] : null;
    const isOurs = this.started?.some((/** @type {any} */ one) => one.run === run.run);
    const seconds = run.seconds;
    const total = seconds ? seconds.selfplay + seconds.training + seconds.matches : 0;
    return [h('header', {}, h('h2', {}, raw(run.name), ' ', h('span', { class: 'dim' }, run.running ? t('running') : t('stands still'))), h('div', { class: 'row' }, isOurs ? h('button', { type: 'button', disabled: this.isStopping, onclick: () => this.stop() }, this.isStopping ? t('Stopping …') : t('Stop')) : run.kind === 'zero' && !run.running ? h('button', { type: 'button', class: 'main', title: t('The same command again: the run resumes where it was'), onclick: () => this.resume() }, t('Go on')) : null)),
      h('div', { class: 'numbers' }, [...(run.kind === 'zero' ? [[t('Games'), number(run.games ?? 0)], [t('Rounds'), number(run.rounds ?? 0)], [t('Elo over its first network'), run.rounds ? `${run.elo >= 0 ? '+' : '−'}${number(Math.abs(run.elo))}${run.elo_error ? ` ± ${number(run.elo_error)}` : ''}` : '–'], [t('Hours'), number(total / 3600, 1)]] : []), ...(status?.games_per_hour ? [[t('Games an hour'), number(status.games_per_hour)]] : [])].map(([name, value]) => h('div', {}, h('b', { 'data-raw': '', 'data-number': name }, value), h('span', { class: 'dim small' }, name)))),
      status && run.running ? h('div', {}, h('p', { class: 'row' }, h('strong', {}, t('Now: {phase}', { phase: phases[/** @type {'match'} */ (status.phase)] ?? status.phase ?? '' })), progress ? h('span', { class: 'dim' }, progress[2]) : '', status.match ? h('span', { class: 'dim' }, t('the new network {won} : {lost}', status.match)) : ''), progress ? h('progress', { max: progress[1], value: progress[0], 'aria-label': t('Progress of this phase') }) : '') : '',
      total > 0 ? h('p', { class: 'small dim' }, t('Time: self-play {a}, training {b}, matches {c}', { a: percent(seconds.selfplay / total, 0), b: percent(seconds.training / total, 0), c: percent(seconds.matches / total, 0) })) : ''];
  }

  /** @param {any} run */
  drawElo(run) {
    const x = (/** @type {any} */ line) => this.over === 'games' ? line.games : this.over === 'hours' ? line.at_seconds / 3600 : line.round;
    const promoted = run.matches.filter((/** @type {any} */ line) => line.promoted);
    // Ratings are fitted to all match games together, so they change for old networks too.
    const rated = new Map((run.ratings ?? []).map((/** @type {any} */ one) => [one.name, one]));
    const elo = (/** @type {any} */ line) => rated.get(line.network)?.elo ?? line.elo;
    const anchors = (run.ratings ?? []).filter((/** @type {any} */ one) => !/^[0-9a-f]{16,}$/.test(one.name) && one.name !== 'first');
    const dots = run.matches.map((/** @type {any} */ line) => ({ x: x(line), y: elo(line), filled: line.promoted, error: rated.get(line.network)?.error ?? line.error, title: `${line.network.slice(0, 8)} ${Math.round(elo(line))}` }));
    const pick = h('select', { 'aria-label': t('Over'), onchange: () => { this.over = pick.value; this.draw(this.run); } }, h('option', { value: 'games' }, t('games')), h('option', { value: 'hours' }, t('hours')), h('option', { value: 'rounds' }, t('rounds')));
    pick.value = this.over;
    return h('section', { class: 'panel', 'aria-label': t('Elo') }, h('header', {}, h('h2', {}, t('Elo against its own first network')), h('div', { class: 'row' }, pick)),
      lineChart([{ name: 'elo', points: [[0, 0], ...promoted.map((/** @type {any} */ line) => /** @type {[number, number]} */ ([x(line), elo(line)]))], dots }], { label: t('Elo of each generation against the first; {n} matches', { n: run.matches.length }), marks: [{ y: 0, name: t('its first network') }, ...anchors.map((/** @type {any} */ one) => ({ y: one.elo, name: one.name }))] }),
      h('p', { class: 'small dim' }, t('Filled: promoted. Hollow: refused. Bars: 95 %. This says how it grew against itself, not how strong it is against others; only a fixed opponent, drawn as a line, can say that.')));
  }

  /** @param {any} run */
  drawLosses(run) {
    const curve = (/** @type {string} */ name) => ({ name, points: run.trainings.filter((/** @type {any} */ line) => line[name] !== null).map((/** @type {any} */ line) => /** @type {[number, number]} */ ([line.round, line[name]])) });
    return h('section', { class: 'panel', 'aria-label': t('Losses') }, h('h2', {}, t('Losses on positions kept out')), h('h3', {}, t('Policy')), lineChart([curve('policy_loss')], { label: t('Policy loss over rounds'), height: 130 }), h('h3', {}, t('Value')), lineChart([curve('value_error')], { label: t('Value error over rounds'), height: 130 }));
  }

  /** @param {any} run */
  drawCurves(run) {
    const names = [...new Set(Object.keys(run.curves ?? {}).map((name) => name.replace(/ (train|test)$/, '')))];
    return names.map((name) => {
      const curves = ['train', 'test', ''].map((part) => ({ name: part, kind: part === 'train' ? 'thin' : '', points: run.curves[`${name} ${part}`.trim()] ?? [] })).filter((curve) => curve.points.length);
      return h('section', { class: 'panel', 'aria-label': name }, h('h2', { 'data-raw': '' }, name), lineChart(curves, { label: t('{name} over steps', { name }) }), h('p', { class: 'small dim' }, t('Thin: training. Thick: kept out.')));
    }).filter((section) => section.querySelector('svg'));
  }

  /** @param {any} run */
  drawMatches(run) {
    return h('section', { class: 'panel', 'aria-label': t('Generations') }, h('h2', {}, t('Generations')), h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': t('List of generations') }, h('table', { class: 'list' }, h('thead', {}, h('tr', {}, [t('Round'), t('Network'), t('Match'), t('Elo'), t('Result'), t('Games'), ''].map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, [...run.matches].reverse().map((/** @type {any} */ line) => h('tr', { 'data-round': line.round }, h('td', { 'data-raw': '' }, line.round), h('td', { 'data-raw': '' }, line.network.slice(0, 8)), h('td', { class: 'num', 'data-raw': '' }, `${line.score.wins} : ${line.score.losses}`), h('td', { class: 'num', 'data-raw': '' }, number(run.ratings?.find((/** @type {any} */ one) => one.name === line.network)?.elo ?? line.elo)), h('td', {}, line.promoted ? t('promoted') : t('refused')), h('td', { class: 'num', 'data-raw': '' }, number(line.games)),
        h('td', { class: 'row tight' }, run.game === 'go' ? [h('button', { type: 'button', onclick: () => this.playIt(line.network, 'black') }, t('Play it')), h('button', { type: 'button', class: 'flat', onclick: () => this.playIt(line.network, 'both') }, t('Analyse with it')), h('button', { type: 'button', class: 'flat', onclick: () => this.lookInside(line.network) }, t('Look inside'))]
          : h('button', { type: 'button', onclick: () => this.shell.go(`/bottle?run=${run.run}&network=${line.network}`) }, t('Watch it')))))))));
  }

  /** @param {any} run */
  drawGames(run) {
    return h('section', { class: 'panel', 'aria-label': t('Games') }, h('h2', {}, t('Newest games')), h('div', { class: 'row' }, run.recent.map((/** @type {any} */ game) => h('button', { type: 'button', 'data-game': game.number, onclick: async () => { const made = await tell('run.game', { run: run.run, number: game.number }); if (made) this.shell.go(`/go/${made.doc}`); } }, raw(`#${game.number} ${game.result}`)))));
  }

  async stop() {
    this.isStopping = true;
    if (this.run) this.draw(this.run);
    await tell('run.stop', { run: this.id });
    // The run ends its game first.
    const waits = setInterval(async () => {
      const list = await this.loadList();
      if (list?.started.some((/** @type {any} */ one) => one.run === this.id)) return;
      clearInterval(waits);
      this.isStopping = false;
      const answer = await ask('run.watch', { run: this.id }).catch(() => null);
      if (answer?.detail) this.draw(answer.detail);
      this.shell.announce(t('The run has stopped.'));
    }, 500);
    this.ends.push(() => clearInterval(waits));
  }

  async resume() {
    if (await tell('run.resume', { run: this.id })) await this.load();
  }

  /** @param {string} network */
  async lookInside(network) {
    const found = await tell('run.net', { run: this.id, network });
    if (found) this.shell.go(`/nets/${found.net}`);
  }

  /** @param {string} network @param {string} you */
  async playIt(network, you) {
    const found = await tell('run.net', { run: this.id, network });
    if (!found) return;
    const made = await tell('go.new', { size: found.size ?? 9, you, net: found.net });
    if (made) this.shell.go(`/go/${made.doc}`);
  }
}

//! Sabaki's own GTP client plays and analyses through the engine. The client comes from npm; without
//! node, npm or a way to the registry the test is skipped.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use net::katago::{FloatStyle, KataNetwork, RandomKind};
use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion, TextStyle};

const CLIENT: &str = "@sabaki/gtp@3.0.0";

#[test]
fn sabakis_client_plays_and_analyses() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sabaki");
    fs::create_dir_all(&folder).unwrap();
    let Some(()) = install_client(&folder) else {
        eprintln!("skipped: no node, npm or registry for {CLIENT}");
        return;
    };
    let weights = folder.join("random-9x9.txt");
    let network = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(9, 1, 8), 3);
    let style = TextStyle {
        carriage_returns: false,
        final_newline: true,
    };
    fs::write(&weights, network.to_exact_text(style)).unwrap();
    let katago = folder.join("random-katago.bin");
    let network = KataNetwork::random(RandomKind::Plain, 1, 8, 3);
    fs::write(&katago, network.to_bytes(FloatStyle::Binary)).unwrap();
    for (name, session, weights) in [
        ("session.js", SESSION, weights),
        ("katago.js", KATAGO_SESSION, katago),
    ] {
        let script = folder.join(name);
        fs::write(&script, session).unwrap();
        let output = run(Command::new("node")
            .current_dir(&folder)
            .arg(&script)
            .arg(env!("CARGO_BIN_EXE_tengen"))
            .arg(&weights))
        .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}\n{complaints}");
        assert!(said.trim().ends_with("all well"), "{said}\n{complaints}");
    }
}

/// Installs the client unless it is there from an earlier run.
fn install_client(folder: &Path) -> Option<()> {
    let installed: PathBuf = folder.join("node_modules/@sabaki/gtp/package.json");
    run(Command::new("node").arg("--version"))?;
    if !installed.is_file() {
        fs::write(folder.join("package.json"), "{\"private\": true}").ok()?;
        let install = [
            "install",
            "--no-audit",
            "--no-fund",
            "--fetch-retries=0",
            CLIENT,
        ];
        let done = run(Command::new("npm").current_dir(folder).args(install))?;
        if !done.status.success() {
            return None;
        }
    }
    installed.is_file().then_some(())
}

fn run(command: &mut Command) -> Option<Output> {
    command.stdin(Stdio::null()).output().ok()
}

const SESSION: &str = r#"
const assert = require('assert')
const {Controller} = require('@sabaki/gtp')

const [program, weights] = process.argv.slice(2)
const vertex = /^([A-HJ][1-9]|pass|resign)$/

async function main() {
  const engine = new Controller(program, ['gtp', '-w', weights, '--visits', '30', '-t', '1', '-q'])
  engine.start()
  const ask = async (name, ...args) => {
    const response = await engine.sendCommand({name, args})
    assert(!response.error, `${name}: ${response.content}`)
    return response.content
  }
  assert.strictEqual(await ask('name'), 'Tengen')
  const commands = (await ask('list_commands')).split('\n')
  for (const name of ['play', 'genmove', 'undo', 'lz-analyze', 'lz-genmove_analyze', 'loadsgf'])
    assert(commands.includes(name), name)
  await ask('boardsize', '9')
  await ask('komi', '6.5')
  const refused = await engine.sendCommand({name: 'boardsize', args: ['19']})
  assert(refused.error && refused.content.includes('9x9'), refused.content)

  // Six moves with pondering on: whatever is sent next stops it and is answered.
  for (let turn = 0; turn < 6; turn++) {
    const move = await ask('genmove', turn % 2 ? 'W' : 'B')
    assert(vertex.test(move), move)
  }
  assert.strictEqual((await ask('move_history')).split('\n').length, 6)
  await ask('undo')

  // Live analysis: lines come while it runs, and the next command ends it.
  const lines = []
  const analysis = engine.sendCommand({name: 'lz-analyze', args: ['W', '5']}, ({line}) => lines.push(line))
  await new Promise(resolve => setTimeout(resolve, 300))
  assert.strictEqual(await ask('protocol_version'), '2')
  const whole = await analysis
  assert(!whole.error)
  const infos = lines.filter(line => line.startsWith('info '))
  assert(infos.length >= 1, lines.join('|'))
  for (const info of infos[0].split(/ (?=info move)/)) {
    const match = info.trim().match(
      /^info move (\S+) visits (\d+) winrate (\d+) prior (\d+) lcb (\d+) order (\d+) pv (.+)$/)
    assert(match && vertex.test(match[1]) && match[7].startsWith(match[1]), info)
  }

  // A move with analysis: with pondering on, its answer ends when the next command arrives.
  const parts = []
  const generated = engine.sendCommand({name: 'lz-genmove_analyze', args: ['W', '5']}, ({line}) => parts.push(line))
  while (!parts.some(line => line.startsWith('play ')))
    await new Promise(resolve => setTimeout(resolve, 20))
  const played = parts.find(line => line.startsWith('play ')).slice(5).trim()
  assert(vertex.test(played), played)
  assert((await ask('last_move')).endsWith(played))
  assert(!(await generated).error)
  await engine.stop()
  console.log('all well')
}

main().catch(error => { console.error(error); process.exit(1) })
"#;

/// A network of KataGo's under its name: the client reads scores.
const KATAGO_SESSION: &str = r#"
const assert = require('assert')
const {Controller} = require('@sabaki/gtp')

const [program, weights] = process.argv.slice(2)

async function main() {
  const engine = new Controller(program, ['gtp', '-w', weights, '--as', 'katago', '--visits', '30', '-t', '1', '-q', '--noponder'])
  engine.start()
  const ask = async (name, ...args) => {
    const response = await engine.sendCommand({name, args})
    assert(!response.error, `${name}: ${response.content}`)
    return response.content
  }
  assert.strictEqual(await ask('name'), 'KataGo')
  const commands = (await ask('list_commands')).split('\n')
  // Sabaki takes the first of these that is there.
  const analyze = ['analyze', 'kata-analyze', 'lz-analyze'].find(name => commands.includes(name))
  assert.strictEqual(analyze, 'kata-analyze')
  await ask('boardsize', '9')
  await ask('komi', '6.5')
  await ask('play', 'B', 'E5')

  for (const args of [['W', '5'], ['W', '5', 'ownership', 'true', 'rootInfo', 'true']]) {
    const lines = []
    const analysis = engine.sendCommand({name: analyze, args}, ({line}) => lines.push(line))
    while (!lines.some(line => line.startsWith('info ')))
      await new Promise(resolve => setTimeout(resolve, 20))
    assert.strictEqual(await ask('protocol_version'), '2')
    assert(!(await analysis).error)
    const line = lines.find(line => line.startsWith('info '))
    const [moves, owners] = line.split(' ownership ')
    assert.strictEqual(owners === undefined, args.length === 2)
    if (owners !== undefined) assert.strictEqual(owners.trim().split(/\s+/).length, 81)
    for (const info of moves.split(' rootInfo ')[0].split(/ (?=info move)/)) {
      const [values, pv] = info.trim().split(' pv ')
      const words = values.split(' ').slice(1)
      const value = Object.fromEntries(words.flatMap((word, i) => i % 2 ? [] : [[word, words[i + 1]]]))
      for (const name of ['winrate', 'scoreLead', 'scoreMean', 'scoreStdev', 'prior', 'lcb', 'utility', 'weight'])
        assert(Number.isFinite(Number(value[name])), `${name}: ${info}`)
      assert(value.winrate >= 0 && value.winrate <= 1, info)
      assert(pv.startsWith(value.move), info)
    }
  }
  assert.match(await ask('genmove', 'W'), /^([A-HJ][1-9]|pass|resign)$/)
  await engine.stop()
  console.log('all well')
}

main().catch(error => { console.error(error); process.exit(1) })
"#;

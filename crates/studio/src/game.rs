//! `go.*`: new games, moves, taking back, editing; and the engine's own moves.

use std::sync::{Arc, atomic::Ordering};

use go::{BoardSize, Komi, Move, PointSet, Rules};
use go_player::Decision;
use serde::Deserialize;
use serde_json::json;

use crate::{
    clock::Control,
    document::{Document, Edit, Level, ProblemMarks, Table, You},
    engine::{self, Engine, lock},
    question,
    server::App,
    tab::Tab,
    thinker::{Label, Outcome, Stop, Urgency, Work},
    wire::{self, Answer, Failure, Reply, Request, in_range},
};

/// The most visits and seconds a move that can be asked for.
const MOST_VISITS: u64 = 10_000_000;
const MOST_SECONDS: f64 = 3600.0;
/// Komi beyond this is a slip of the finger.
const MOST_KOMI: f32 = 1000.0;

#[derive(Deserialize)]
struct New {
    size: usize,
    komi: Option<f32>,
    /// The name of the rules; Leela Zero's if nothing is said.
    rules: Option<String>,
    #[serde(default)]
    handicap: usize,
    #[serde(default)]
    you: You,
    net: Option<String>,
    level: Option<Level>,
    mode: Option<String>,
    clock: Option<Control>,
    problem: Option<ProblemMarks>,
}

#[derive(Deserialize)]
struct At {
    doc: String,
    rev: Option<u64>,
    at: Option<String>,
    node: Option<usize>,
}

#[derive(Deserialize)]
struct EditAt {
    doc: String,
    rev: Option<u64>,
    #[serde(flatten)]
    edit: Edit,
}

#[derive(Deserialize)]
struct TableOf {
    doc: String,
    you: Option<You>,
    net: Option<String>,
    level: Option<Level>,
    mode: Option<String>,
    problem: Option<ProblemMarks>,
}

/// Answers `go.*`.
pub fn handle(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    match request.verb.as_str() {
        "go.new" => new_game(app, tab, request),
        "go.play" => {
            let asked: At = request.fields()?;
            let mv: Move = asked
                .at
                .as_deref()
                .unwrap_or_default()
                .parse()
                .map_err(|error: go::VertexError| Failure::new("vertex", error.to_string()))?;
            app.change(&asked.doc, |document| {
                check_rev(document, asked.rev)?;
                if document.owes_move() && document.table.you != You::None {
                    return Err(Failure::new("turn", "it is the engine's turn"));
                }
                document.play(mv)
            })?;
            owe(app, &asked.doc, tab.number);
            wire::done()
        }
        "go.genmove" => {
            let asked: At = request.fields()?;
            app.with_doc(&asked.doc, |document| check_rev(document, asked.rev))?;
            ask_move(app, &asked.doc, tab.number)?;
            wire::done()
        }
        "go.undo" => {
            let asked: At = request.fields()?;
            stop_move(app, &asked.doc);
            app.change(&asked.doc, Document::take_back)?;
            wire::done()
        }
        "go.resign" => {
            let asked: At = request.fields()?;
            stop_move(app, &asked.doc);
            app.change(&asked.doc, |document| {
                let turn = document.game().map_err(crate::document::damaged)?.to_move();
                document.resign(match document.table.you {
                    You::Black => go::Color::Black,
                    You::White => go::Color::White,
                    You::Both | You::None => turn,
                });
                Ok(())
            })?;
            wire::done()
        }
        "go.goto" => {
            let asked: At = request.fields()?;
            let number = asked
                .node
                .ok_or_else(|| Failure::new("fields", "`node` is missing"))?;
            stop_move(app, &asked.doc);
            app.change(&asked.doc, |document| {
                let node = document.node_by_number(number)?;
                document.go_to(node);
                Ok(())
            })?;
            wire::done()
        }
        "go.delete" => {
            let asked: At = request.fields()?;
            app.change(&asked.doc, |document| {
                check_rev(document, asked.rev)?;
                document.delete()
            })?;
            wire::done()
        }
        "go.promote" => {
            let asked: At = request.fields()?;
            app.change(&asked.doc, |document| {
                document.promote();
                Ok(())
            })?;
            wire::done()
        }
        "go.edit" => {
            let asked: EditAt = request.fields()?;
            app.change(&asked.doc, |document| {
                check_rev(document, asked.rev)?;
                document.edit(&asked.edit)
            })?;
            wire::done()
        }
        "go.table" => set_table(app, tab, request),
        "go.count" => count(app, tab, request),
        "go.forget" => {
            let asked: At = request.fields()?;
            stop_move(app, &asked.doc);
            lock(&app.desk).forget(&asked.doc);
            wire::done()
        }
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}

/// Counts a finished game: which stones are dead, whose each point is, and the result, which the record keeps.
fn count(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: At = request.fields()?;
    let (game, table, node) = app.with_doc(&asked.doc, |document| {
        let game = document.game().map_err(crate::document::damaged)?;
        Ok((game, document.table.clone(), document.node))
    })?;
    if !game.is_over() {
        let say = "the game is not over: it is counted after two passes";
        return Err(Failure::new("over", say));
    }
    let doc = asked.doc.clone();
    let urgency = ("question", Urgency::Question);
    question::ask(
        app,
        tab,
        request,
        urgency,
        &asked.doc,
        move |app, engine, _| {
            let player = engine.player(&app.networks, &doc, &table, game.clone())?;
            let settled = player.settle();
            let result = settled.score.to_string();
            app.change(&doc, |document| {
                let is_end = document.tree.main_line().last() == Some(&node);
                if document.node == node && is_end {
                    document.set_result(&result);
                }
                Ok(())
            })?;
            let names = |points: &PointSet| {
                points
                    .iter()
                    .map(|point| point.to_string())
                    .collect::<Vec<_>>()
            };
            let [black, white] = &settled.count.territory;
            Ok(json!({
                "result": result, "dead": names(&settled.count.dead), "black": names(black), "white": names(white),
                "neutral": names(&settled.count.neutral),
            }))
        },
    )
}

/// Two tabs cannot mix up a game: who saw an older state is told the present one.
pub fn check_rev(document: &Document, rev: Option<u64>) -> Result<(), Failure> {
    match rev {
        Some(rev) if rev != document.rev => Err(Failure::new(
            "stale",
            "another tab has changed the game: this is how it stands now",
        )),
        _ => Ok(()),
    }
}

fn new_game(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: New = request.fields()?;
    let size = BoardSize::new(asked.size)
        .ok_or_else(|| Failure::new("range", "boards are from 2x2 to 25x25"))?;
    let rules = match asked.rules.as_deref() {
        None | Some("") => Rules::default(),
        Some(name) => name
            .parse()
            .map_err(|error: go::RulesError| Failure::new("fields", error.to_string()))?,
    };
    let usual = match asked.handicap {
        0 => rules.default_komi().points_for_white(),
        _ => 0.5,
    };
    let komi = in_range("komi", asked.komi.unwrap_or(usual), -MOST_KOMI, MOST_KOMI)?;
    let komi =
        Komi::new(komi).ok_or_else(|| Failure::new("range", "komi is a number of points"))?;
    let table = Table {
        you: asked.you,
        net: asked.net.unwrap_or_else(|| engine::INSIDE.to_owned()),
        level: check_level(asked.level.unwrap_or(Level::Visits(200)))?,
        mode: check_mode(asked.mode)?,
        clock: asked.clock.map(Control::checked).transpose()?,
        problem: asked.problem,
    };
    // A network that cannot play this board is refused before there is a game.
    lock(&app.networks).load(&table.net, size)?;
    let id = {
        let mut desk = lock(&app.desk);
        let mut document = Document::empty(desk.new_id(), size, komi, asked.handicap)?;
        let root = document.tree.root();
        let engine_name = "Tengen";
        let (black, white) = match table.you {
            You::Black => ("You", engine_name),
            You::White => (engine_name, "You"),
            You::None => (engine_name, engine_name),
            You::Both => ("", ""),
        };
        if !black.is_empty() {
            document.tree.set_text(root, "PB", black);
            document.tree.set_text(root, "PW", white);
        }
        if let Some(name) = rules.name().filter(|_| rules != Rules::default()) {
            document.tree.set_text(root, "RU", name);
        }
        if let Some(clock) = table.clock {
            document.tree.set_text(root, "TM", &clock.main_text());
            if let Some(overtime) = clock.overtime_text() {
                document.tree.set_text(root, "OT", &overtime);
            }
        }
        document.table = table;
        desk.add(document)
    };
    owe(app, &id, tab.number);
    Ok(Reply::Now(json!({ "doc": id })))
}

fn check_level(level: Level) -> Result<Level, Failure> {
    Ok(match level {
        Level::Visits(visits) => Level::Visits(in_range("visits", visits, 1, MOST_VISITS)?),
        Level::Seconds(seconds) => {
            Level::Seconds(in_range("seconds", seconds, 0.05, MOST_SECONDS)?)
        }
        Level::Policy => Level::Policy,
    })
}

fn check_mode(mode: Option<String>) -> Result<String, Failure> {
    let mode = mode.unwrap_or_else(|| "none".to_owned());
    match mode.as_str() {
        "none" | "handicap" | "nonslack" => Ok(mode),
        _ => Err(Failure::new(
            "fields",
            "`mode` is none, handicap or nonslack",
        )),
    }
}

/// Changes who plays, with which network, how hard.
fn set_table(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: TableOf = request.fields()?;
    let level = asked.level.map(check_level).transpose()?;
    let mode = asked.mode.map(|mode| check_mode(Some(mode))).transpose()?;
    let size = app.with_doc(&asked.doc, |document| {
        document.tree.size().map_err(crate::document::damaged)
    })?;
    if let Some(net) = &asked.net {
        lock(&app.networks).load(net, size)?;
    }
    app.change(&asked.doc, |document| {
        let table = &mut document.table;
        table.you = asked.you.unwrap_or(table.you);
        table.net = asked.net.unwrap_or_else(|| table.net.clone());
        table.level = level.unwrap_or(table.level);
        table.mode = mode.unwrap_or_else(|| table.mode.clone());
        if asked.problem.is_some() {
            table.problem = asked.problem;
        }
        document.changed();
        Ok(())
    })?;
    stop_move(app, &asked.doc);
    owe(app, &asked.doc, tab.number);
    wire::done()
}

/// Cancels the engine's move of a document.
fn stop_move(app: &Arc<App>, doc: &str) {
    app.thinker
        .cancel(app, |label, _| label.what == "move" && label.doc == doc);
}

/// Lets the engine move if it owes a move.
pub fn owe(app: &Arc<App>, doc: &str, tab: u64) {
    let owes = app
        .with_doc(doc, |document| Ok(document.owes_move()))
        .unwrap_or(false);
    if owes && let Err(failure) = ask_move(app, doc, tab) {
        tell_failure(app, doc, &failure);
    }
}

fn ask_move(app: &Arc<App>, doc: &str, tab: u64) -> Result<(), Failure> {
    stop_move(app, doc);
    let label = Label {
        what: "move",
        doc: doc.to_owned(),
        tab,
    };
    let work = EngineMove {
        doc: doc.to_owned(),
        tab,
    };
    app.thinker
        .push(Urgency::Move, label, Box::new(work))
        .map(drop)
}

/// Tells the tabs at a document what went wrong.
pub fn tell_failure(app: &App, doc: &str, failure: &Failure) {
    let text = json!({ "on": "failed", "doc": doc, "err": failure.to_json() }).to_string();
    for tab in app.tabs_at(doc) {
        tab.show("failed", text.clone());
    }
}

/// The engine's move in a game.
struct EngineMove {
    doc: String,
    tab: u64,
}

impl Work for EngineMove {
    fn run(&mut self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Outcome {
        match self.think(app, engine, stop) {
            Ok(()) if stop.now() => Outcome::Unfinished,
            Ok(()) => Outcome::Done,
            Err(failure) => {
                tell_failure(app, &self.doc, &failure);
                Outcome::Done
            }
        }
    }
}

impl EngineMove {
    fn think(&mut self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Result<(), Failure> {
        let (game, table, rev, most_seconds) = app.with_doc(&self.doc, |document| {
            let game = document.game().map_err(crate::document::damaged)?;
            let most_seconds = document.seconds_for_move(game.size().area());
            Ok((game, document.table.clone(), document.rev, most_seconds))
        })?;
        if game.is_over() {
            return Ok(());
        }
        let player = engine.player(&app.networks, &self.doc, &table, game)?;
        let start = std::time::Instant::now();
        let decision = engine::decide(
            player,
            (table.level, most_seconds),
            &|| stop.now(),
            &mut |view| {
                let seconds = start.elapsed().as_secs_f64();
                if seconds > 0.2 {
                    let rate = view.snapshot().playouts as f64 / seconds;
                    app.rate.store(rate as u64, Ordering::Relaxed);
                }
            },
        )?;
        let told = player.net_komi();
        let Some(decision) = decision else {
            return Ok(());
        };
        let outcome = app.change(&self.doc, |document| {
            // The user has taken back or gone elsewhere meanwhile.
            if document.rev != rev || document.loser.is_some() || stop.is_cancelled() {
                return Ok(());
            }
            document.told_komi = (table.mode != "none").then(|| engine::komi_pair(told));
            match decision {
                Decision::Move(mv) => document.play(mv),
                Decision::Resign => {
                    let color = document.game().map_err(crate::document::damaged)?.to_move();
                    document.resign(color);
                    Ok(())
                }
            }
        });
        outcome?;
        let plays_on = app.with_doc(&self.doc, |document| Ok(document.owes_move()))?;
        // A move made for the user is answered; a game of the engine against itself goes on while somebody looks.
        if plays_on && (table.you != You::None || app.is_watched(&self.doc)) {
            owe(app, &self.doc, self.tab);
        }
        Ok(())
    }
}

//! `review.*`: a sweep over a whole game, and what is written of it.

use std::sync::Arc;

use go::{Move, sgf::NodeId};
use go_player::{Restrictions, Review, Reviewed, review_svg};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    document::Document,
    engine::{self, Engine},
    game::tell_failure,
    graph,
    opinion::{Opinion, write_opinion},
    question,
    server::App,
    tab::Tab,
    thinker::{Label, Outcome, Stop, Urgency, Work},
    wire::{self, Answer, Failure, Request, in_range},
};

/// The most visits a position.
const MOST_VISITS: u64 = 1_000_000;
/// Moves marked in an annotated record.
const MARKED_MOVES: usize = 5;
/// A second sweep looks at the listed mistakes with this many times the visits.
const DEEPER: u64 = 4;

#[derive(Deserialize)]
struct Start {
    doc: String,
    #[serde(default = "usual_visits")]
    visits: u64,
    /// Whether only the mistakes that are listed are looked at again, longer.
    #[serde(default)]
    deepen: bool,
}

fn usual_visits() -> u64 {
    50
}

#[derive(Deserialize)]
struct Of {
    doc: String,
}

/// Answers `review.*`.
pub fn handle(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    match request.verb.as_str() {
        "review.start" => {
            let asked: Start = request.fields()?;
            in_range("visits", asked.visits, 1, MOST_VISITS)?;
            let nodes = app.with_doc(&asked.doc, |document| Ok(nodes(document, asked.deepen)))?;
            let visits = if asked.deepen {
                asked.visits.saturating_mul(DEEPER)
            } else {
                asked.visits
            };
            stop(app, &asked.doc);
            let work = Sweep {
                doc: asked.doc.clone(),
                nodes,
                done: 0,
                visits,
            };
            push(app, tab.number, work)?;
            wire::done()
        }
        "review.stop" => {
            let Of { doc } = request.fields()?;
            stop(app, &doc);
            tell(app, &doc, json!({ "state": "cancelled" }));
            wire::done()
        }
        "review.guess" => guess(app, tab, request),
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}

#[derive(Clone, Deserialize)]
struct Guess {
    doc: String,
    node: usize,
    at: String,
}

/// What a guess at a mistake is worth, against the best move and against the game.
fn guess(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: Guess = request.fields()?;
    let mv: Move = asked
        .at
        .parse()
        .map_err(|error: go::VertexError| Failure::new("vertex", error.to_string()))?;
    let (mut game, table, known, after) = app.with_doc(&asked.doc, |document| {
        let node = document.node_by_number(asked.node)?;
        let parent = document.tree.parent(node);
        let parent = parent.ok_or_else(|| Failure::new("node", "there is no move to guess"))?;
        let game = document.game_at(parent).map_err(crate::document::damaged)?;
        let unknown = || Failure::new("review", "this position was not reviewed");
        let known = document
            .opinions
            .get(&parent)
            .cloned()
            .ok_or_else(unknown)?;
        let after = document.opinions.get(&node).cloned().ok_or_else(unknown)?;
        Ok((game, document.table.clone(), known, after))
    })?;
    let color = game.to_move();
    game.play(mv)
        .map_err(|reason| Failure::new("illegal", reason.to_string()).at(mv))?;
    let lost = move |black: f64| {
        engine::for_black(known.winrate_black, color) - engine::for_black(black, color)
    };
    let game_loss = lost(after.winrate_black).max(0.0);
    let (best, visits) = (known.line.first().copied(), known.visits.clamp(20, 400));
    let doc = asked.doc.clone();
    question::ask(
        app,
        tab,
        request,
        ("question", Urgency::Question),
        &asked.doc,
        move |app, engine, stop| {
            if best == Some(mv) {
                return Ok(
                    json!({ "loss": 0.0, "game_loss": game_loss, "refutation": [], "best": mv.to_string() }),
                );
            }
            let player = engine.player(&app.networks, &doc, &table, game.clone())?;
            engine::limit(player, Some(visits))?;
            let found = engine::analyze(
                player,
                &Restrictions::default(),
                &|| stop.now(),
                &mut |_| {},
            )?;
            let line = found
                .moves
                .first()
                .map(|best| best.pv.clone())
                .unwrap_or_default();
            let line: Vec<String> = line.iter().take(8).map(Move::to_string).collect();
            Ok(json!({
                "loss": lost(found.value).max(0.0), "game_loss": game_loss, "refutation": line,
                "best": best.map(|mv| mv.to_string()),
            }))
        },
    )
}

fn push(app: &Arc<App>, tab: u64, work: Sweep) -> Result<(), Failure> {
    let label = Label {
        what: "review",
        doc: work.doc.clone(),
        tab,
    };
    app.thinker
        .push(Urgency::Review, label, Box::new(work))
        .map(drop)
}

fn stop(app: &Arc<App>, doc: &str) {
    app.thinker
        .cancel(app, |label, _| label.what == "review" && label.doc == doc);
}

/// A sweep that waits for somebody to look goes on by itself; nothing is to be done.
pub fn resume(_app: &Arc<App>, _doc: &str) {}

/// What a sweep looks at: the present line, or the positions around its mistakes.
fn nodes(document: &Document, deepen: bool) -> Vec<NodeId> {
    let line = document.line();
    if !deepen {
        return line;
    }
    let graph = graph::to_json(document);
    let mistakes: Vec<usize> = graph["mistakes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|mistake| mistake["node"].as_u64().map(|node| node as usize))
        .collect();
    let mut wanted = Vec::new();
    for pair in line.windows(2) {
        if mistakes.contains(&pair[1].index()) {
            for node in pair {
                if !wanted.contains(node) {
                    wanted.push(*node);
                }
            }
        }
    }
    wanted
}

fn tell(app: &App, doc: &str, mut picture: Value) {
    picture["on"] = json!("review");
    picture["doc"] = json!(doc);
    let picture = picture.to_string();
    for tab in app.tabs_at(doc) {
        tab.show("review", picture.clone());
    }
}

struct Sweep {
    doc: String,
    nodes: Vec<NodeId>,
    done: usize,
    visits: u64,
}

impl Work for Sweep {
    fn run(&mut self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Outcome {
        while self.done < self.nodes.len() {
            // Without a tab that shows the game, the sweep waits, and others may think.
            if !app.is_watched(&self.doc) {
                if stop.now() {
                    return Outcome::Unfinished;
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
                continue;
            }
            match self.look(app, engine, stop) {
                Ok(()) if stop.now() => return Outcome::Unfinished,
                Ok(()) => self.done += 1,
                Err(failure) => {
                    tell(
                        app,
                        &self.doc,
                        json!({ "state": "failed", "err": failure.to_json() }),
                    );
                    tell_failure(app, &self.doc, &failure);
                    return Outcome::Done;
                }
            }
            tell(
                app,
                &self.doc,
                json!({ "state": "running", "done": self.done, "of": self.nodes.len() }),
            );
            app.tell_graph(&self.doc);
        }
        tell(
            app,
            &self.doc,
            json!({ "state": "done", "done": self.done, "of": self.nodes.len() }),
        );
        Outcome::Done
    }
}

impl Sweep {
    fn look(&self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Result<(), Failure> {
        let node = self.nodes[self.done];
        let (game, table, known) = app.with_doc(&self.doc, |document| {
            let game = document.game_at(node).map_err(crate::document::damaged)?;
            let known = document
                .opinions
                .get(&node)
                .map_or(0, |opinion| opinion.visits);
            Ok((game, document.table.clone(), known))
        })?;
        if known >= self.visits {
            return Ok(());
        }
        let (is_over, score) = (game.is_over(), game.score());
        let opinion = if is_over {
            let black_won = score.winner() == Some(go::Color::Black);
            Opinion {
                visits: self.visits,
                winrate_black: f64::from(u8::from(black_won)),
                lead_black: None,
                line: Vec::new(),
            }
        } else {
            let player = engine.player(&app.networks, &self.doc, &table, game)?;
            engine::limit(player, Some(self.visits))?;
            let snapshot = engine::analyze(
                player,
                &Restrictions::default(),
                &|| stop.now(),
                &mut |_| {},
            )?;
            if stop.now() {
                return Ok(());
            }
            engine::opinion_of(&snapshot)
        };
        app.with_doc(&self.doc, |document| {
            document.opinions.insert(node, opinion);
            document.is_dirty = true;
            Ok(())
        })
    }
}

/// The main line as the reviewing room knows it.
fn review_of(document: &Document) -> Review {
    let mut positions = Vec::new();
    let mut move_number = 0;
    for node in document.tree.main_line() {
        let played = document
            .tree
            .moves(node)
            .ok()
            .and_then(|moves| moves.first().copied());
        move_number += usize::from(played.is_some());
        let (Some(opinion), Ok(game)) = (document.opinions.get(&node), document.game_at(node))
        else {
            continue;
        };
        positions.push(Reviewed {
            node,
            move_number,
            played,
            to_move: game.to_move(),
            winrate_black: opinion.winrate_black,
            visits: opinion.visits,
            best_line: opinion.line.clone(),
            score: None,
        });
    }
    Review { positions }
}

/// The record with comments, better lines, winrates for other programs and opinions for this one.
pub fn annotated(document: &Document) -> String {
    let review = review_of(document);
    let mut tree = document.tree.clone();
    let root = tree.root();
    tree.set_text(root, "CA", "UTF-8");
    review.annotate(&mut tree, MARKED_MOVES);
    for (&node, opinion) in &document.opinions {
        write_opinion(&mut tree, node, opinion);
    }
    tree.to_string()
}

/// The winrate of the main line as a picture.
pub fn picture(document: &Document) -> String {
    review_svg(&review_of(document), &document.title(), MARKED_MOVES)
}

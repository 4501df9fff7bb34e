//! `think.*`: live analysis of the position a tab looks at.
//!
//! One tab thinks at a time: the one that asked last. It goes on as the position changes, and ends with the tab.

use std::{
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use go::PointSet;
use go_player::{Restrictions, Rule, RuleKind};
use serde::Deserialize;
use serde_json::json;

use crate::{
    document::parse_point,
    engine::{self, Engine},
    game::tell_failure,
    server::App,
    tab::Tab,
    thinker::{Label, Outcome, Stop, Urgency, Work},
    wire::{self, Answer, Failure, Request, in_range},
};

/// A search that has grown this large has said what it has to say, and leaves the processor alone.
const MOST_VISITS: u64 = 2_000_000;
/// Fewest visits of an opinion that is kept with the game.
const KEPT_VISITS: u64 = 20;
/// How often the game's graph follows a running search.
const GRAPH_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone, Deserialize)]
struct Start {
    doc: String,
    #[serde(default = "usual_period")]
    every_ms: u64,
    #[serde(default = "usual_most")]
    most: usize,
    #[serde(default = "usual_line")]
    line: usize,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    avoid: Vec<String>,
}

fn usual_period() -> u64 {
    100
}

fn usual_most() -> usize {
    10
}

fn usual_line() -> usize {
    10
}

/// Answers `think.*`.
pub fn handle(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    match request.verb.as_str() {
        "think.start" => {
            let asked: Start = request.fields()?;
            in_range("every_ms", asked.every_ms, 50, 1000)?;
            in_range("most", asked.most, 1, 50)?;
            in_range("line", asked.line, 1, 30)?;
            app.with_doc(&asked.doc, |_| Ok(()))?;
            app.thinker.cancel(app, |label, _| label.what == "analysis");
            let label = Label {
                what: "analysis",
                doc: asked.doc.clone(),
                tab: tab.number,
            };
            let work = Analysis {
                asked,
                tab: tab.clone(),
            };
            app.thinker.push(Urgency::Analysis, label, Box::new(work))?;
            wire::done()
        }
        "think.stop" => {
            app.thinker.cancel(app, |label, _| {
                label.what == "analysis" && label.tab == tab.number
            });
            wire::done()
        }
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}

struct Analysis {
    asked: Start,
    tab: Arc<Tab>,
}

impl Work for Analysis {
    fn run(&mut self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Outcome {
        while !stop.now() {
            if !self.is_wanted(app) {
                return Outcome::Done;
            }
            if let Err(failure) = self.look(app, engine, stop) {
                tell_failure(app, &self.asked.doc, &failure);
                return Outcome::Done;
            }
        }
        Outcome::Unfinished
    }
}

impl Analysis {
    /// Nothing thinks when nobody looks.
    fn is_wanted(&self, app: &App) -> bool {
        app.tab(self.tab.number).is_some()
            && self.tab.sees(&self.asked.doc)
            && self.tab.is_in_sight()
    }

    /// Analyses the present position until it changes.
    fn look(&self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Result<(), Failure> {
        let doc = &self.asked.doc;
        let (game, table, node) = app.with_doc(doc, |document| {
            let game = document.game().map_err(crate::document::damaged)?;
            Ok((game, document.table.clone(), document.node))
        })?;
        let to_move = game.to_move();
        let restrictions = self.restrictions(&game)?;
        let is_over = game.is_over();
        let player = engine.player(&app.networks, doc, &table, game)?;
        engine::limit(player, Some(MOST_VISITS))?;
        let moved_on = || {
            let here = app.with_doc(doc, |document| {
                Ok((document.node, document.table.net.clone()))
            });
            !here.is_ok_and(|(at, net)| at == node && net == table.net)
        };
        let ends = || stop.now() || moved_on() || !self.is_wanted(app);
        let start = Instant::now();
        let period = Duration::from_millis(self.asked.every_ms);
        let mut last = Instant::now() - period;
        let mut last_graph = Instant::now();
        let side = player.game().size().get();
        let mut owners = None;
        let tell = |snapshot: &go_player::Snapshot<go::Move>, owners: &Option<Vec<f64>>| {
            let rate = snapshot.playouts as f64 / start.elapsed().as_secs_f64().max(0.05);
            app.rate.store(rate as u64, Ordering::Relaxed);
            let mut picture = engine::to_json(snapshot, to_move, self.asked.most, self.asked.line);
            picture["on"] = json!("think");
            picture["doc"] = json!(doc);
            picture["node"] = json!(node.index());
            picture["per_second"] = json!(rate.round());
            picture["ownership"] = json!(owners);
            let picture = picture.to_string();
            for tab in app.tabs_at(doc).iter().filter(|tab| tab.is_visible()) {
                tab.show("think", picture.clone());
            }
        };
        let keep = |snapshot: &go_player::Snapshot<go::Move>| {
            if snapshot.visits < KEPT_VISITS || is_over {
                return;
            }
            let kept = app.with_doc(doc, |document| {
                let opinion = engine::opinion_of(snapshot);
                let is_better = document
                    .opinions
                    .get(&node)
                    .is_none_or(|known| known.visits <= opinion.visits);
                if is_better {
                    document.opinions.insert(node, opinion);
                    document.is_dirty = true;
                }
                Ok(is_better)
            });
            if kept.unwrap_or(false) {
                app.tell_graph(doc);
            }
        };
        let snapshot = engine::analyze(player, &restrictions, &ends, &mut |view| {
            if last.elapsed() >= period {
                last = Instant::now();
                let snapshot = view.snapshot();
                if snapshot.visits > 0 {
                    owners = engine::ownership(view, side);
                    tell(&snapshot, &owners);
                }
                if last_graph.elapsed() >= GRAPH_EVERY {
                    last_graph = Instant::now();
                    keep(&snapshot);
                }
            }
        })?;
        if !moved_on() {
            tell(&snapshot, &owners);
            keep(&snapshot);
        }
        // The tree is full: nothing more to find, but the tab still looks.
        while !ends() {
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn restrictions(&self, game: &go::Game) -> Result<Restrictions, Failure> {
        let mut restrictions = Restrictions::default();
        for (list, kind) in [
            (&self.asked.only, RuleKind::Allow),
            (&self.asked.avoid, RuleKind::Avoid),
        ] {
            if list.is_empty() {
                continue;
            }
            let mut points = PointSet::EMPTY;
            for vertex in list {
                points.extend([parse_point(vertex, game.size())?]);
            }
            let rule = Rule {
                kind,
                color: game.to_move(),
                points,
                pass: false,
                resign: false,
                last_move_number: usize::MAX,
            };
            restrictions
                .add(rule)
                .map_err(|_| Failure::new("fields", "give `only` or `avoid`, not both"))?;
        }
        Ok(restrictions)
    }
}

//! `read` and `why`: what can be said of a position without a long search, and by whom.

use std::sync::{Arc, OnceLock};

use go::{Game, Move, Point};
use go_player::{Restrictions, Rule, RuleKind};
use serde::Deserialize;
use serde_json::{Value, json};
use tsumego::{Fate, SafetyNet};

use crate::{
    document::{Table, damaged, parse_point},
    engine::{self, Engine},
    life, question,
    server::App,
    state::color_name,
    tab::Tab,
    thinker::{Stop, Urgency},
    wire::{Answer, Failure, Reply, Request},
};

/// Visits behind the answer to "what if I play here?".
const WHY_VISITS: u64 = 120;

/// The safety network inside the program.
pub fn safety_net() -> Option<&'static SafetyNet> {
    static NET: OnceLock<Option<SafetyNet>> = OnceLock::new();
    NET.get_or_init(|| SafetyNet::find(None, None).ok())
        .as_ref()
}

#[derive(Clone, Deserialize)]
struct Read {
    doc: String,
    what: String,
}

#[derive(Clone, Deserialize)]
struct Why {
    doc: String,
    at: String,
}

fn position(app: &App, doc: &str) -> Result<(Game, Table), Failure> {
    app.with_doc(doc, |document| {
        Ok((document.game().map_err(damaged)?, document.table.clone()))
    })
}

/// Answers `read`.
pub fn read(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: Read = request.fields()?;
    let (game, table) = position(app, &asked.doc)?;
    match asked.what.as_str() {
        "ladders" => Ok(Reply::Now(life::ladders(game.board()))),
        "territory" => Ok(Reply::Now(life::territory(game.board()))),
        "policy" => {
            let doc = asked.doc.clone();
            question::ask(
                app,
                tab,
                request,
                ("question", Urgency::Question),
                &asked.doc,
                move |app, engine, _| {
                    let player = engine.player(&app.networks, &doc, &table, game.clone())?;
                    engine::policy(player)
                },
            )
        }
        "safety" => {
            let doc = asked.doc.clone();
            app.thinker.cancel(app, |label, _| {
                label.what == "safety" && label.doc == asked.doc
            });
            question::ask(
                app,
                tab,
                request,
                ("safety", Urgency::Question),
                &asked.doc,
                move |app, _, stop| {
                    let mut known = Vec::new();
                    let groups = life::map(game.board(), stop, &mut |group| {
                        known.push(life::group_to_json(group));
                        let so_far =
                            json!({ "on": "reading", "doc": doc, "groups": known }).to_string();
                        for tab in app.tabs_at(&doc) {
                            tab.show("reading", so_far.clone());
                        }
                    });
                    Ok(
                        json!({ "groups": groups.iter().map(life::group_to_json).collect::<Vec<_>>() }),
                    )
                },
            )
        }
        what => Err(Failure::new("fields", format!("nobody can read `{what}`"))),
    }
}

/// Answers `why`.
pub fn why(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: Why = request.fields()?;
    let (game, table) = position(app, &asked.doc)?;
    let at = parse_point(&asked.at, game.size())?;
    let before = app.with_doc(&asked.doc, |document| {
        let is_last = game.last_move().is_some_and(|(_, mv)| mv == Move::Play(at));
        let parent = document.tree.parent(document.node).filter(|_| is_last);
        let known = document.opinions.get(&document.node).cloned();
        let before = parent.and_then(|parent| {
            Some((
                document.game_at(parent).ok()?,
                document.opinions.get(&parent).cloned(),
            ))
        });
        Ok((known, before))
    })?;
    let doc = asked.doc.clone();
    question::ask(
        app,
        tab,
        request,
        ("question", Urgency::Question),
        &asked.doc,
        move |app, engine, stop| {
            let board = game.board();
            if board.is_empty(at) {
                return move_witnesses(app, engine, stop, &doc, &table, &game, at);
            }
            let mut witnesses = life::witnesses(board, at, stop);
            let (known, before) = &before;
            if let Some(opinion) = known {
                witnesses.push(json!({
                "kind": "searched", "winrate_black": opinion.winrate_black, "how": "the position, after {visits} visits",
                "values": { "visits": opinion.visits },
            }));
            }
            let changes = match before {
                Some((before, _)) => changes(before, &game, stop),
                None => Vec::new(),
            };
            Ok(json!({ "witnesses": witnesses, "changes": changes }))
        },
    )
}

/// What a search and the network say of a move.
fn move_witnesses(
    app: &Arc<App>,
    engine: &mut Engine,
    stop: &Stop,
    doc: &str,
    table: &Table,
    game: &Game,
    at: Point,
) -> Result<Value, Failure> {
    let to_move = game.to_move();
    game.check(to_move, Move::Play(at))
        .map_err(|reason| Failure::new("illegal", reason.to_string()).at(at))?;
    let player = engine.player(&app.networks, doc, table, game.clone())?;
    let size = game.size();
    let prior = engine::chance_of(player, size.index(at))?;
    engine::limit(player, Some(WHY_VISITS))?;
    let rule = Rule {
        kind: RuleKind::Allow,
        color: to_move,
        points: [at].into_iter().collect(),
        pass: false,
        resign: false,
        last_move_number: game.move_number(),
    };
    let mut only = Restrictions::default();
    let _ = only.add(rule);
    let best = engine::analyze(
        player,
        &Restrictions::default(),
        &|| stop.now(),
        &mut |_| {},
    )?;
    let best_black = best.value;
    let after = {
        let mut game = game.clone();
        game.play(Move::Play(at))
            .map_err(|reason| Failure::new("illegal", reason.to_string()))?;
        let player = engine.player(&app.networks, doc, table, game)?;
        engine::limit(player, Some(WHY_VISITS))?;
        engine::analyze(
            player,
            &Restrictions::default(),
            &|| stop.now(),
            &mut |_| {},
        )?
    };
    let mut color = to_move;
    let line = std::iter::once(Move::Play(at)).chain(
        after
            .moves
            .first()
            .map(|best| best.pv.clone())
            .unwrap_or_default(),
    );
    let line: Vec<Value> = line
        .take(12)
        .map(|mv| {
            let step = json!([color_name(color), mv.to_string()]);
            color = color.opponent();
            step
        })
        .collect();
    Ok(json!({ "witnesses": [
        { "kind": "guessed", "how": "the network would play here in {percent} % of all cases, without reading",
          "values": { "percent": format!("{:.1}", prior * 100.0) } },
        { "kind": "searched", "winrate_black": after.value, "line": line,
          "how": "after this move; {best} % if the best move is played instead",
          "values": { "best": format!("{:.1}", best_black * 100.0) } },
    ] }))
}

/// Which groups a move changed the fate of.
fn changes(before: &Game, after: &Game, stop: &Stop) -> Vec<Value> {
    let fates = |game: &Game| life::map(game.board(), stop, &mut |_| ());
    let (old, new) = (fates(before), fates(after));
    let mut changes = Vec::new();
    for group in old.iter().filter(|group| group.fate != Fate::Unknown) {
        let at = group.stones[0];
        let now = new
            .iter()
            .find(|now| now.color == group.color && now.stones.contains(&at));
        let text = match (group.fate, now.map(|now| now.fate)) {
            (_, None) => "was captured",
            (a, Some(b)) if a == b => continue,
            (Fate::Alive, Some(Fate::Critical)) => "was alive, and is unsettled now",
            (Fate::Alive, Some(Fate::Dead)) => "was alive, and is dead now",
            (Fate::Critical, Some(Fate::Alive)) => "was unsettled, and lives now",
            (Fate::Critical, Some(Fate::Dead)) => "was unsettled, and is dead now",
            (Fate::Dead, Some(Fate::Critical)) => "was dead, and is unsettled now",
            (Fate::Dead, Some(Fate::Alive)) => "was dead, and lives now",
            _ => continue,
        };
        changes.push(json!({ "at": at.to_string(), "text": text }));
    }
    changes
}

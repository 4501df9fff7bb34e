//! Commands that KataGo's clients send: rules, positions without a past, what the network itself says.

use std::{
    fmt::Write as _,
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use go::{Board, Color, Game, PointSet, Rules, Symmetry};
use go_player::{
    Observer, Request as Thinking, Restrictions, View, clock::CENTISECONDS_PER_SECOND,
};
use serde_json::json;

use super::{SYNTAX, board, color, moves, number};
use crate::{
    engine::{Answer, Engine},
    kata_report,
    line::Request,
    tags,
};

/// Visits of `kata-benchmark` unless it is told another number.
const BENCHMARK_VISITS: u64 = 100;

pub fn rectangular_boardsize(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    match (request.arguments.first(), request.arguments.get(1)) {
        (Some(width), Some(height)) if width != height => Ok(Answer::failure(format!(
            "unacceptable size: boards are square here, and {width}x{height} is not"
        ))),
        _ => board::boardsize(engine, request),
    }
}

/// Stones without a past: `set_position B D4 W Q16 ...`.
pub fn set_position(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    Ok(match position(engine, request) {
        Ok(game) => engine
            .player
            .set_game(game)
            .map(|()| "")
            .map_err(|error| error.to_string())
            .into(),
        Err(why) => Answer::failure(why),
    })
}

fn position(engine: &Engine, request: &Request) -> Result<Game, String> {
    let game = engine.player.game();
    let size = game.size();
    let mut stones = [PointSet::EMPTY; 2];
    for pair in request.arguments.chunks(2) {
        let [color, vertex] = pair else {
            return Err("expected a colour and a point for each stone".to_owned());
        };
        let color = tags::color(color).ok_or_else(|| format!("{color} is no colour"))?;
        let point = tags::vertex(&vertex.to_ascii_lowercase(), size).and_then(go::Move::point);
        let point = point.ok_or_else(|| format!("{vertex} is no point of this board"))?;
        if stones.iter().any(|set| set.contains(point)) {
            return Err(format!("two stones on {point}"));
        }
        stones[color.index()].insert(point);
    }
    let board = Board::with_stones(size, &stones[0], &stones[1]);
    let board = board.map_err(|error| error.to_string())?;
    let mut position = Game::from_board(board, Color::Black, game.komi());
    position.set_rules(*game.rules());
    Ok(position)
}

pub fn get_komi(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let komi = engine.player.game().komi().points_for_white();
    Ok(Answer::ok(format!("{komi}")))
}

pub fn get_rules(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(engine.player.game().rules().to_string()))
}

pub fn set_rules(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(text) = request.rest(0) else {
        return Ok(Answer::failure(
            "expected a name of rules, or a JSON object",
        ));
    };
    Ok(take_rules(engine, &text))
}

/// `kgs-rules`: the server's Chinese rules have superko.
pub fn kgs_rules(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(name) = request.word(0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let name = match name.as_str() {
        "chinese" => "chinese-kgs",
        "new_zealand" => "new-zealand",
        name => name,
    };
    Ok(take_rules(engine, name))
}

fn take_rules(engine: &mut Engine, text: &str) -> Answer {
    match text.parse::<Rules>() {
        Ok(rules) => {
            engine.player.set_rules(rules);
            Answer::ok("")
        }
        Err(error) => Answer::failure(error.to_string()),
    }
}

pub fn set_rule(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let [field, value] = request.arguments.as_slice() else {
        return Ok(Answer::failure("expected a rule and its value"));
    };
    let mut rules = *engine.player.game().rules();
    Ok(match rules.set(field, value) {
        Ok(()) => {
            engine.player.set_rules(rules);
            Answer::ok("")
        }
        Err(error) => Answer::failure(error.to_string()),
    })
}

pub fn get_models(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let network = engine.player.network();
    let file = network.file.file_name().unwrap_or_default();
    let models = json!([{
        "internalName": file.to_string_lossy(),
        "maxBatchSize": engine.player.options().batch,
        "name": network.name(),
        "usesHumanSLProfile": false,
        "usingFP16": "false",
        "version": network.encoder.version(),
    }]);
    Ok(Answer::ok(models.to_string()))
}

/// `kata-raw-nn [color] 0..7|all [optimism]`.
pub fn raw_network(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let named = color(request, 0);
    let first = usize::from(named.is_some());
    let symmetries: Vec<Symmetry> = match request.word(first).as_deref() {
        None | Some("all") => Symmetry::ALL.to_vec(),
        Some(word) => match word.parse().ok().and_then(Symmetry::new) {
            Some(symmetry) => vec![symmetry],
            None => return Ok(Answer::failure("expected a symmetry from 0 to 7, or all")),
        },
    };
    let optimism = match request.arguments.get(first + 1) {
        None => None,
        Some(_) => match number(request, first + 1).filter(|o: &f32| (0.0..=1.0).contains(o)) {
            Some(optimism) => Some(optimism),
            None => return Ok(Answer::failure("expected an optimism from 0 to 1")),
        },
    };
    let player = &mut engine.player;
    let turn_before = player.game().to_move();
    if let Some(color) = named {
        player.set_to_move(color);
    }
    let game = player.game();
    let (size, to_move) = (game.size(), game.to_move());
    let position = player.position();
    let is_legal = |point| position.is_legal(go::Move::Play(point));
    let mut text = String::new();
    let mut failure = None;
    for symmetry in symmetries {
        match player.raw_opinion(symmetry, optimism) {
            Ok(opinion) => {
                let raw = kata_report::raw_network(&opinion, symmetry, to_move, size, &is_legal);
                let _ = writeln!(text, "{raw}");
            }
            Err(error) => failure = Some(error.to_string()),
        }
    }
    player.set_to_move(turn_before);
    Ok(match failure {
        None => Answer::ok(text),
        Some(failure) => Answer::failure(failure),
    })
}

pub fn raw_human_network(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::failure(
        "no human network is loaded: this engine plays with one network",
    ))
}

pub fn search_cancellable(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(color) = color(request, 0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let thinking = Thinking {
        only_say: true,
        ..Thinking::default()
    };
    let input = engine.input.clone();
    let thought =
        engine
            .player
            .generate_unless(color, &thinking, &move || input.is_pending(), &mut ());
    Ok(match thought {
        Ok(Some(thought)) => Answer::ok(moves::decision_text(thought.decision)),
        Ok(None) => Answer::ok("cancelled"),
        Err(error) => Answer::failure(error.to_string()),
    })
}

/// `genmove` already tells stderr what it saw.
pub fn genmove_debug(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    moves::genmove(engine, request)
}

/// The same without making the move.
pub fn search_debug(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    moves::reg_genmove(engine, request)
}

pub fn benchmark(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let visits = match request.arguments.first() {
        None => BENCHMARK_VISITS,
        Some(_) => match number(request, 0).filter(|&visits: &u64| visits > 0) {
            Some(visits) => visits,
            None => return Ok(Answer::failure(SYNTAX)),
        },
    };
    let start = Instant::now();
    let done = || start.elapsed().as_secs_f64();
    let is_met = AtomicBool::new(false);
    let mut watch = VisitsWatch {
        visits,
        is_met: &is_met,
    };
    let interrupted = || is_met.load(Ordering::Relaxed);
    let searched = engine
        .player
        .analyze(&Restrictions::default(), &interrupted, &mut watch);
    Ok(match searched {
        Ok((_, report)) => Answer::ok(format!(
            "{} visits in {:.2} s = {:.1} visits/s, {} evaluations",
            report.playouts,
            done(),
            report.playouts as f64 / done().max(1e-9),
            report.evaluations
        )),
        Err(error) => Answer::failure(error.to_string()),
    })
}

/// Stops a search at a number of visits.
struct VisitsWatch<'a> {
    visits: u64,
    is_met: &'a AtomicBool,
}

impl Observer for VisitsWatch<'_> {
    fn tick(&mut self, view: &View<'_>) {
        if view.snapshot().visits >= self.visits {
            self.is_met.store(true, Ordering::Relaxed);
        }
    }
}

pub fn print_clock(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let clock = |color: Color| {
        let clock = engine.player.clock(color);
        let left = clock.remaining() as f64 / CENTISECONDS_PER_SECOND as f64;
        format!("{color:?}: {clock} ({left:.2} s)")
    };
    Ok(Answer::ok(format!(
        "{}\n{}",
        clock(Color::Black),
        clock(Color::White)
    )))
}

//! Making moves, taking them back, and naming them.

use std::io;

use go::{Color, Move};
use go_player::{Decision, EvaluateError, Request as Thinking};

use super::{SYNTAX, color};
use crate::{
    engine::{Answer, Engine, Personality, Remarks},
    line::Request,
    report,
};

/// A game against itself ends after two moves for each point.
const LONGEST_GAME_SHARE: usize = 2;

pub fn play(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let (Some(color), Some(word)) = (color(request, 0), request.word(1)) else {
        return Ok(Answer::failure(SYNTAX));
    };
    if let Some(extra) = request.arguments.get(2) {
        return Ok(Answer::failure(format!("{SYNTAX}: {extra} after the move")));
    }
    if word == "resign" {
        engine.player.resign(color);
        return Ok(Answer::ok(""));
    }
    let Ok(mv) = word.parse::<Move>() else {
        return Ok(Answer::failure("illegal move"));
    };
    let played = engine.player.play(color, mv);
    Ok(played
        .map(|()| "")
        .map_err(|why| format!("illegal move: {why}"))
        .into())
}

pub fn genmove(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    with_color(engine, request, &Thinking::default())
}

pub fn genmove_cleanup(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let thinking = Thinking {
        cleanup: true,
        ..Thinking::default()
    };
    with_color(engine, request, &thinking)
}

pub fn reg_genmove(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let thinking = Thinking {
        only_say: true,
        ..Thinking::default()
    };
    with_color(engine, request, &thinking)
}

fn with_color(engine: &mut Engine, request: &Request, thinking: &Thinking) -> io::Result<Answer> {
    let Some(color) = color(request, 0) else {
        return Ok(Answer::failure("syntax error"));
    };
    Ok(decided(think(engine, color, thinking)))
}

fn think(
    engine: &mut Engine,
    color: Color,
    thinking: &Thinking,
) -> Result<Decision, EvaluateError> {
    let mut remarks = Remarks::new(&mut engine.outputs);
    let thought = engine.player.generate(color, thinking, &mut remarks)?;
    engine.outputs.remark(&report::table(
        &thought.snapshot,
        &thought.report,
        &engine.player.tree_shape(),
    ));
    remark_cost(engine);
    Ok(thought.decision)
}

/// Says how much of the network the game has taken, which is what a comparison of players needs.
/// Leela Zero does not, and whoever expects it gets its lines alone.
pub(crate) fn remark_cost(engine: &mut Engine) {
    if engine.personality != Personality::LeelaZero {
        let count = engine.player.evaluations();
        engine
            .outputs
            .remark(&format!("{count} network evaluations in this game\n"));
    }
}

fn decided(decision: Result<Decision, EvaluateError>) -> Answer {
    decision
        .map(decision_text)
        .map_err(|error| error.to_string())
        .into()
}

/// A decision as answers spell it.
pub(crate) fn decision_text(decision: Decision) -> String {
    match decision {
        Decision::Move(mv) => report::vertex(mv),
        Decision::Resign => "resign".to_owned(),
    }
}

/// Plays for the side to move.
pub fn go(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let color = engine.player.game().to_move();
    let decision = think(engine, color, &Thinking::default());
    Ok(decided(decision))
}

/// Plays against itself to the end, or until something else is asked for.
pub fn auto(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let longest = LONGEST_GAME_SHARE * engine.player.game().size().area();
    let is_over = |engine: &Engine| {
        let player = &engine.player;
        player.game().is_over()
            || player.resigned().is_some()
            || player.game().move_number() >= longest
            || engine.input.is_pending()
    };
    loop {
        let color = engine.player.game().to_move();
        if let Err(error) = think(engine, color, &Thinking::default()) {
            return Ok(Answer::failure(error.to_string()));
        }
        if is_over(engine) {
            return Ok(Answer::ok(""));
        }
    }
}

pub fn undo(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    if engine.player.undo() {
        Ok(Answer::ok(""))
    } else {
        Ok(Answer::failure("cannot undo"))
    }
}

pub fn last_move(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let last = engine.player.game().last_move().map(move_text);
    Ok(last
        .ok_or_else(|| "no previous move known".to_owned())
        .into())
}

/// Every move, the latest first.
pub fn move_history(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let moves: Vec<String> = engine.player.game().moves().rev().map(move_text).collect();
    Ok(Answer::ok(moves.join("\n")))
}

fn move_text((color, mv): (Color, Move)) -> String {
    format!("{color} {}", report::vertex(mv))
}

//! The board, komi, handicaps and the score.

use std::io;

use go::{BoardSize, Color, Komi, Move, Point};
use go_player::Status;

use super::{SYNTAX, color, number};
use crate::{
    engine::{Answer, Engine, Personality},
    line::Request,
    report,
    solver::SolverReader,
    tags,
};

/// A lead this small is a tie.
const TIE: f32 = 0.1;

pub fn boardsize(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(side) = number(request, 0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let result = match BoardSize::new(side) {
        Some(size) => engine.player.start(size),
        None => Err(engine.player.refuse_size()),
    };
    Ok(result
        .map(|()| "")
        .map_err(|error| format!("unacceptable size: {error}"))
        .into())
}

pub fn clear_board(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let size = engine.player.game().size();
    let started = engine.player.start(size);
    Ok(started.map(|()| "").map_err(|e| e.to_string()).into())
}

pub fn komi(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(komi) = number(request, 0).and_then(Komi::new) else {
        return Ok(Answer::failure(SYNTAX));
    };
    engine.player.set_komi(komi);
    Ok(Answer::ok(""))
}

pub fn showboard(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let board = report::board(&engine.player);
    if engine.personality == Personality::LeelaZero {
        engine.outputs.remark(&format!("\n{board}\n"));
        return Ok(Answer::ok(""));
    }
    Ok(Answer::ok(format!("\n{board}")))
}

pub fn final_score(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(score_text(final_lead(engine))))
}

/// Black's lead at the end of the game, dead stones taken off. Leela Zero counts every stone as alive.
pub(crate) fn final_lead(engine: &Engine) -> f32 {
    match engine.personality {
        Personality::LeelaZero => engine.player.black_lead(),
        Personality::Tengen | Personality::KataGo => engine
            .player
            .settle_by(&SolverReader::default())
            .score
            .lead(Color::Black),
    }
}

/// A lead of Black as answers and game records spell it.
pub(crate) fn score_text(black_lead: f32) -> String {
    if black_lead.abs() <= TIE {
        "0".to_owned()
    } else if black_lead > 0.0 {
        format!("B+{black_lead:.1}")
    } else {
        format!("W+{:.1}", -black_lead)
    }
}

/// The chains with a status, a line each. For Leela Zero every stone on the board is alive.
pub fn final_status_list(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let wanted = match request.word(0).as_deref() {
        Some("alive") => Status::Alive,
        Some("dead") => Status::Dead,
        Some("seki") => Status::Seki,
        _ => return Ok(Answer::failure(SYNTAX)),
    };
    let board = engine.player.game().board();
    if engine.personality == Personality::LeelaZero {
        return Ok(Answer::ok(match wanted {
            Status::Alive => report::strings(board),
            Status::Dead | Status::Seki => String::new(),
        }));
    }
    let chains = engine.player.settle_by(&SolverReader::default()).chains;
    let wanted = chains.iter().filter(|(_, status)| *status == wanted);
    let mut lines: Vec<String> = wanted
        .map(|&(stone, _)| report::points(board.stones(stone)))
        .collect();
    lines.sort();
    Ok(Answer::ok(lines.join("\n")))
}

pub fn list_stones(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(color) = color(request, 0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let stones = engine.player.game().board().stone_set(color).iter();
    Ok(Answer::ok(report::points(stones)))
}

pub fn fixed_handicap(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(stones) = number(request, 0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    Ok(placed(engine.player.place_fixed_handicap(stones)))
}

pub fn place_free_handicap(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(stones) = number(request, 0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    Ok(placed(engine.player.place_free_handicap(stones)))
}

pub fn set_free_handicap(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let size = engine.player.game().size();
    let mut points: Vec<Point> = Vec::new();
    for word in &request.arguments {
        match tags::vertex(word, size) {
            Some(Move::Play(point)) if !points.contains(&point) => points.push(point),
            Some(_) => return Ok(Answer::failure("illegal move")),
            None => return Ok(Answer::failure(SYNTAX)),
        }
    }
    let result = engine.player.set_free_handicap(&points);
    Ok(placed(result.map(|()| points)))
}

fn placed(result: Result<Vec<Point>, go_player::PlayerError>) -> Answer {
    result
        .map(report::points)
        .map_err(|error| error.to_string())
        .into()
}

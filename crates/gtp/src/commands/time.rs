//! Clocks.

use std::io;

use go_player::clock::{CENTISECONDS_PER_SECOND, Centiseconds, TimeControl, seconds};

use super::{SYNTAX, color, number};
use crate::{
    engine::{Answer, Engine, Personality},
    line::Request,
};

/// What Leela Zero plays a game without a clock in.
const NO_CLOCK_MINUTES: u32 = 30;
/// No clock shows more: ten years.
pub(super) const MOST_SECONDS: f64 = 3.2e8;

pub fn time_settings(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let numbers = (number(request, 0), number(request, 1), number(request, 2));
    let (Some(main), Some(overtime), Some(stones)) = numbers else {
        return Ok(Answer::failure(SYNTAX));
    };
    engine
        .player
        .set_time(TimeControl::from_gtp(main, overtime, stones));
    Ok(Answer::ok(""))
}

/// `kgs-time_settings` and `kata-time_settings`: a system by name, then its numbers in seconds.
pub fn named_time_settings(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(control) = named_control(engine, request) else {
        return Ok(Answer::failure(SYNTAX));
    };
    engine.player.set_time(control);
    Ok(Answer::ok(""))
}

/// The systems of `kata-time_settings`.
pub fn list_time_settings(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(
        "none absolute byoyomi canadian fischer fischer-capped",
    ))
}

fn named_control(engine: &Engine, request: &Request) -> Option<TimeControl> {
    let time = |index| {
        let seconds: f64 = number(request, index)?;
        let is_time = (0.0..=MOST_SECONDS).contains(&seconds);
        is_time.then_some((seconds * CENTISECONDS_PER_SECOND as f64) as Centiseconds)
    };
    Some(match request.word(0)?.as_str() {
        "none" if engine.personality == Personality::LeelaZero => TimeControl::Absolute {
            main: seconds(NO_CLOCK_MINUTES * 60),
        },
        "none" => engine.no_clock,
        "absolute" => TimeControl::Absolute { main: time(1)? },
        "canadian" => TimeControl::Canadian {
            main: time(1)?,
            period: time(2)?,
            stones: positive(request, 3)?,
        },
        "byoyomi" => TimeControl::ByoYomi {
            main: time(1)?,
            period: time(2)?,
            periods: positive(request, 3)?,
        },
        "fischer" => TimeControl::Fischer {
            main: time(1)?,
            increment: time(2)?,
        },
        // The caps are the server's business: the most that the stock grows to, and that a move may take (-1: none).
        "fischer-capped" => {
            let _: (f64, f64) = (number(request, 3)?, number(request, 4)?);
            TimeControl::Fischer {
                main: time(1)?,
                increment: time(2)?,
            }
        }
        _ => return None,
    })
}

fn positive(request: &Request, index: usize) -> Option<u32> {
    number(request, index).filter(|&count: &u32| count > 0)
}

pub fn time_left(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    // Clients count parts of a second, and below nothing where the network was slow.
    let left = number(request, 1).filter(|left: &f64| left.abs() <= MOST_SECONDS);
    let (Some(left), Some(stones)) = (left, number(request, 2)) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let Some(color) = color(request, 0) else {
        return Ok(Answer::failure("Color in time adjust not understood."));
    };
    let left = (left * CENTISECONDS_PER_SECOND as f64) as Centiseconds;
    engine.player.set_time_left(color, left, stones);
    Ok(Answer::ok(""))
}

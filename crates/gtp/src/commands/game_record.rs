//! Game records: SGF in and out.

use std::{
    fmt::Write as _,
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use go::{
    Color, Game, Point,
    sgf::{self, NodeId, Tree},
};
use go_player::{
    Player,
    clock::{CENTISECONDS_PER_SECOND, Centiseconds, TimeControl},
};

use super::{board::score_text, record_time::RecordTime, write_file};
use crate::{
    engine::{Answer, Engine},
    line::Request,
};

/// Moves on a line.
const MOVES_PER_LINE: usize = 10;
/// Boards up to this size may write a pass as a point just off the board.
const LARGEST_WITH_TT: usize = 19;
const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// Loads the main line of a file, up to the position before a move; its clocks too, if it has any.
pub fn loadsgf(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some((file, before_move)) = file_and_number(request) else {
        return Ok(Answer::failure("Missing filename."));
    };
    let loaded = load(&file, before_move, &engine.player);
    Ok(loaded
        .and_then(|(game, time)| {
            engine.player.set_game(game).map_err(|e| e.to_string())?;
            if let Some(time) = time {
                time.set(&mut engine.player);
            }
            Ok("")
        })
        .map_err(|error| format!("cannot load file: {error}"))
        .into())
}

/// The last argument is a move number if it is a number and no part of a file's name.
fn file_and_number(request: &Request) -> Option<(String, Option<usize>)> {
    let whole = request.rest(0)?;
    if let [name @ .., last] = request.arguments.as_slice()
        && !name.is_empty()
        && let Ok(number) = last.parse()
        && !Path::new(&whole).is_file()
    {
        return Some((name.join(" "), Some(number)));
    }
    Some((whole, None))
}

fn load(
    file: &str,
    before_move: Option<usize>,
    player: &Player,
) -> Result<(Game, Option<RecordTime>), String> {
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    let collection = sgf::read(&bytes).map_err(|error| error.to_string())?;
    let tree = collection.games.first().ok_or("there is no game in it")?;
    let node = node_before(tree, before_move.unwrap_or(usize::MAX)).map_err(|e| e.to_string())?;
    let mut game = tree.game_at(node).map_err(|error| error.to_string())?;
    if tree.komi().map_err(|error| error.to_string())?.is_none() {
        game.set_komi(player.game().komi());
    }
    Ok((game, RecordTime::at(tree, node)))
}

/// The last node of the main line before the given move, counted from 1.
fn node_before(tree: &Tree, before_move: usize) -> Result<NodeId, sgf::SgfError> {
    let mut moves = 0;
    let mut last = tree.root();
    for node in tree.main_line() {
        moves += tree.moves(node)?.len();
        if moves >= before_move {
            break;
        }
        last = node;
    }
    Ok(last)
}

/// The game so far, in the answer or in a file.
pub fn printsgf(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let text = game_text(engine);
    Ok(match request.rest(0) {
        None => Answer::ok(text),
        Some(file) => write_file(Path::new(&file), format!("{text}\n").as_bytes())
            .map(|()| "")
            .into(),
    })
}

fn game_text(engine: &Engine) -> String {
    let player = &engine.player;
    let game = player.game();
    let mut text = format!(
        "(;GM[1]FF[4]RU[Chinese]DT[{}]SZ[{}]KM[{:.1}]",
        today(),
        game.size().get(),
        game.komi().points_for_white()
    );
    write_time(player, &mut text);
    let _ = write!(
        text,
        "PB[{} {} {}]PW[Human]",
        engine.personality.name(),
        engine.personality.release(),
        escape(&player.network().short_name())
    );
    if game.handicap() > 0 {
        let _ = write!(text, "HA[{}]", game.handicap());
    }
    let _ = writeln!(text, "RE[{}]", result_text(player));
    let _ = writeln!(
        text,
        "C[{} options: {}]",
        engine.personality.name(),
        escape(&engine.command_line)
    );
    write_setup(game, &mut text);
    for (index, (color, mv)) in game.moves().enumerate() {
        if index > 0 && index % MOVES_PER_LINE == 0 {
            text.push('\n');
        }
        let letter = color_letter(color);
        let point = match mv.point() {
            Some(point) => point_text(game, point),
            None if game.size().get() <= LARGEST_WITH_TT => "tt".to_owned(),
            None => String::new(),
        };
        let _ = write!(text, ";{letter}[{point}]");
    }
    text.push(')');
    text
}

fn write_time(player: &Player, text: &mut String) {
    let seconds = |time: Centiseconds| time / CENTISECONDS_PER_SECOND;
    let (main, overtime) = match player.clock(Color::Black).control() {
        TimeControl::Unlimited | TimeControl::PerMove { .. } => return,
        TimeControl::Absolute { main } => (main, None),
        TimeControl::Canadian {
            main,
            period,
            stones,
        } => (main, Some(format!("{stones}/{} Canadian", seconds(period)))),
        TimeControl::ByoYomi {
            main,
            period,
            periods,
        } => (
            main,
            Some(format!("{periods}x{} byo-yomi", seconds(period))),
        ),
        TimeControl::Fischer { main, increment } => {
            (main, Some(format!("{} fischer", seconds(increment))))
        }
    };
    let _ = write!(text, "TM[{}]", seconds(main));
    if let Some(overtime) = overtime {
        let _ = write!(text, "OT[{overtime}]");
    }
    for color in Color::BOTH {
        let clock = player.clock(color);
        let letter = color_letter(color);
        let _ = write!(text, "{letter}L[{}]", seconds(clock.remaining()));
        if let Some(count) = clock.overtime_left() {
            let _ = write!(text, "O{letter}[{count}]");
        }
    }
}

fn write_setup(game: &Game, text: &mut String) {
    let first = &game.positions()[0];
    let mut has_stones = false;
    for color in Color::BOTH {
        let stones = first.of(color);
        if stones.is_empty() {
            continue;
        }
        has_stones = true;
        let _ = write!(text, "A{}", color_letter(color));
        for point in stones.iter() {
            let _ = write!(text, "[{}]", point_text(game, point));
        }
    }
    if has_stones {
        text.push('\n');
    }
}

fn result_text(player: &Player) -> String {
    match player.resigned() {
        Some(loser) => format!("{}+Resign", color_letter(loser.opponent())),
        None => score_text(player.black_lead()),
    }
}

fn color_letter(color: Color) -> char {
    match color {
        Color::Black => 'B',
        Color::White => 'W',
    }
}

/// A point as SGF writes it: rows count from the top.
fn point_text(game: &Game, point: Point) -> String {
    let letter = |index: usize| char::from(b'a' + index as u8);
    let from_top = game.size().get() - 1 - point.y();
    [letter(point.x()), letter(from_top)].iter().collect()
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace(']', "\\]")
}

/// Today in UTC, as SGF writes dates.
fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = now.map_or(0, |now| now.as_secs() / SECONDS_PER_DAY);
    let (year, month, day) = civil_from_days(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The Gregorian date so many days after 1970-01-01. Years start in March here, so that the leap
/// day is their last.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970_FROM_YEAR_0: u64 = 719_468;
    const DAYS_PER_ERA: u64 = 146_097;
    let days = days + DAYS_TO_1970_FROM_YEAR_0;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(59), (1970, 3, 1));
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(11_017), (2000, 3, 1));
        assert_eq!(civil_from_days(20_088), (2024, 12, 31));
    }
}

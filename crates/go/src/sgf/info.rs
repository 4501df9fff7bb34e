//! What a game's root says about the game: size, komi, handicap, result, time.

use std::{fmt, str::FromStr};

use super::{NodeId, SgfError, Tree};
use crate::{BoardSize, Color, Komi};

/// How a game was won.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WinBy {
    Points(f32),
    /// The other side resigned.
    Resignation,
    /// The other side's time ran out.
    Time,
    Forfeit,
    /// The record does not say.
    Unstated,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GameResult {
    /// One side won.
    Win(Color, WinBy),
    Draw,
    /// No result: suspended, triple ko.
    Void,
    /// Unknown, or written in no way that the format knows.
    Unknown,
}

impl GameResult {
    /// Who won, if someone did.
    pub fn winner(self) -> Option<Color> {
        match self {
            GameResult::Win(color, _) => Some(color),
            _ => None,
        }
    }
}

impl FromStr for GameResult {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<GameResult, Self::Err> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        let result = match lower.as_str() {
            "0" | "draw" | "jigo" => GameResult::Draw,
            "void" => GameResult::Void,
            _ => parse_win(&lower).unwrap_or(GameResult::Unknown),
        };
        Ok(result)
    }
}

fn parse_win(lower: &str) -> Option<GameResult> {
    let (side, by) = lower.split_once('+')?;
    let color = match side {
        "b" | "black" => Color::Black,
        "w" | "white" => Color::White,
        _ => return None,
    };
    let by = match by.trim() {
        "" => WinBy::Unstated,
        "r" | "resign" => WinBy::Resignation,
        "t" | "time" => WinBy::Time,
        "f" | "forfeit" => WinBy::Forfeit,
        points => match points.replace(',', ".").parse::<f32>() {
            Ok(points) if points.is_finite() => WinBy::Points(points),
            _ => WinBy::Unstated,
        },
    };
    Some(GameResult::Win(color, by))
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (color, by) = match self {
            GameResult::Draw => return f.write_str("0"),
            GameResult::Void => return f.write_str("Void"),
            GameResult::Unknown => return f.write_str("?"),
            GameResult::Win(color, by) => (super::tree::color_letter(*color), by),
        };
        match by {
            WinBy::Points(points) => write!(f, "{color}+{points}"),
            WinBy::Resignation => write!(f, "{color}+Resign"),
            WinBy::Time => write!(f, "{color}+Time"),
            WinBy::Forfeit => write!(f, "{color}+Forfeit"),
            WinBy::Unstated => write!(f, "{color}+"),
        }
    }
}

/// What comes after the main time.
#[derive(Clone, Debug, PartialEq)]
pub enum Overtime {
    /// `stones` moves in every `seconds`.
    Canadian {
        /// Moves a period.
        stones: u32,
        /// Seconds a period.
        seconds: f64,
    },
    /// Periods of `seconds` a move; a period is lost when a move takes longer.
    ByoYomi {
        /// Periods at the start.
        periods: u32,
        /// Seconds a period.
        seconds: f64,
    },
    /// Described in words that mean nothing to us.
    Other(String),
}

impl FromStr for Overtime {
    type Err = std::convert::Infallible;

    /// Reads `25/600 Canadian` and `5x30 byo-yomi`, as KGS writes them.
    fn from_str(text: &str) -> Result<Overtime, Self::Err> {
        let lower = text.trim().to_ascii_lowercase();
        let pair = |separator: char, suffix: &str| -> Option<(u32, f64)> {
            let (count, seconds) = lower.strip_suffix(suffix)?.trim().split_once(separator)?;
            Some((count.trim().parse().ok()?, seconds.trim().parse().ok()?))
        };
        let known = pair('/', "canadian")
            .map(|(stones, seconds)| Overtime::Canadian { stones, seconds })
            .or_else(|| {
                pair('x', "byo-yomi")
                    .map(|(periods, seconds)| Overtime::ByoYomi { periods, seconds })
            });
        Ok(known.unwrap_or_else(|| Overtime::Other(text.to_owned())))
    }
}

impl fmt::Display for Overtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overtime::Canadian { stones, seconds } => write!(f, "{stones}/{seconds} Canadian"),
            Overtime::ByoYomi { periods, seconds } => write!(f, "{periods}x{seconds} byo-yomi"),
            Overtime::Other(text) => f.write_str(text),
        }
    }
}

/// The time limits of a game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeLimits {
    /// Seconds before overtime starts.
    pub main_seconds: Option<f64>,
    pub overtime: Option<Overtime>,
}

impl Tree {
    /// The board's size; 19x19 when the root does not say.
    pub fn size(&self) -> Result<BoardSize, SgfError> {
        let Some(text) = self.root_text("SZ") else {
            return Ok(BoardSize::NINETEEN);
        };
        let (columns, rows) = text.split_once(':').unwrap_or((text, text));
        let square = columns.trim() == rows.trim();
        columns
            .trim()
            .parse()
            .ok()
            .filter(|_| square)
            .and_then(BoardSize::new)
            .ok_or_else(|| self.bad_root("SZ", text, "the side of a square board from 2 to 25"))
    }

    /// The komi, if the root has one.
    pub fn komi(&self) -> Result<Option<Komi>, SgfError> {
        let Some(text) = self.root_text("KM") else {
            return Ok(None);
        };
        match text.replace(',', ".").parse().ok().and_then(Komi::new) {
            Some(komi) => Ok(Some(komi)),
            None => Err(self.bad_root("KM", text, "a number of points")),
        }
    }

    /// The number of handicap stones the root names; 0 when it names none.
    pub fn handicap(&self) -> Result<usize, SgfError> {
        let Some(text) = self.root_text("HA") else {
            return Ok(0);
        };
        text.parse::<usize>()
            .ok()
            .filter(|&stones| stones <= BoardSize::MAX as usize * BoardSize::MAX as usize)
            .ok_or_else(|| self.bad_root("HA", text, "a number of stones"))
    }

    /// The result; unknown when the root does not say.
    pub fn result(&self) -> GameResult {
        match self.root_text("RE").map(str::parse) {
            Some(Ok(result)) => result,
            None => GameResult::Unknown,
        }
    }

    pub fn time_limits(&self) -> Result<TimeLimits, SgfError> {
        let main_seconds = match self.root_text("TM") {
            None => None,
            Some(text) => match text.parse::<f64>() {
                Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Some(seconds),
                _ => return Err(self.bad_root("TM", text, "a number of seconds")),
            },
        };
        let overtime = self.root_text("OT").map(|text| match text.parse() {
            Ok(overtime) => overtime,
        });
        Ok(TimeLimits {
            main_seconds,
            overtime,
        })
    }

    /// Whose turn a `PL` gives in this node.
    pub fn player_to_move(&self, node: NodeId) -> Result<Option<Color>, SgfError> {
        let Some(text) = self.text(node, "PL").map(str::trim) else {
            return Ok(None);
        };
        match text.to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "b" | "black" | "1" => Ok(Some(Color::Black)),
            "w" | "white" | "2" => Ok(Some(Color::White)),
            _ => Err(self.bad_value(node, "PL", text, "B or W")),
        }
    }

    /// A root value without the blanks around it; an empty value says nothing.
    fn root_text<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.text(self.root(), name)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }

    fn bad_root(&self, name: &str, value: &str, expected: &'static str) -> SgfError {
        self.bad_value(self.root(), name, value, expected)
    }
}

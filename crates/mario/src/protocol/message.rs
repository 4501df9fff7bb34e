//! The lines of the protocol: what each one says, read and printed.
//!
//! Parts are separated by exactly one space; numbers are decimal without leading zeros; an
//! identifier has at most 40 characters and neither space nor newline, and may be empty.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::board::{Board, HEIGHT, WIDTH};
use crate::cell::{Cell, Color, EMPTY_CODE, Shape};
use crate::pill::Pill;
use crate::protocol::presses::{Presses, PressesError};
use crate::text::{Placed, TextError, coordinate};

/// The most bytes of a message, its newline included.
pub(crate) const MOST_BYTES: usize = 8192;

/// The most characters of an identifier.
pub(crate) const MOST_ID: usize = 40;

/// Why a line is no message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MessageError {
    /// More than `MOST_BYTES`.
    #[error("a message has at most 8192 bytes, this one has {0}")]
    Long(usize),
    /// The first word is no command of the protocol.
    #[error("{0:?} begins no message of this side")]
    Unknown(String),
    /// Not the parts the message has.
    #[error("expected `{0}`")]
    Form(&'static str),
    /// No number of 0 to 2^32-1.
    #[error("{0:?} is no number: expected 0..=4294967295 without leading zeros")]
    Number(String),
    /// An identifier that is too long.
    #[error("an identifier has at most 40 characters, this one has {0}")]
    Id(usize),
    /// A damaged board, pill or coordinate.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Damaged presses.
    #[error(transparent)]
    Presses(#[from] PressesError),
}

/// What a player is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Pieces fall and clear; no pill is controlled.
    Cleanup,
    /// A pill falls.
    Control {
        /// Frames until the next forced drop.
        frames_left: u32,
        /// The falling pill.
        falling: Placed,
    },
}

/// What the game says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerMessage {
    /// A version the game speaks; best first.
    ProposeVersion(String),
    /// The list of versions is complete.
    RequestVersion,
    /// Everything about a player.
    State {
        /// Whose.
        player: String,
        /// Frames a row.
        speed: u32,
        /// The pill shown as next.
        next: Pill,
        board: Board,
        /// What the player is doing.
        mode: Mode,
    },
    /// A frame begins.
    Frame(u32),
    /// A player's pill locked.
    Cleanup(String),
    /// A player controls a pill; the pill after it is shown.
    Control(String, Pill),
    /// The falling pill appeared, moved or turned.
    Falling(String, Placed),
    /// Frames a row changed.
    Speed(String, u32),
    /// Single halves arrive in the top row.
    Garbage(String, Vec<(u8, Color)>),
    /// A player won.
    Winner(String),
    /// A player lost.
    Loser(String),
    /// The queue with this identifier is taken.
    AcceptQueue(String),
    /// The control with this identifier is taken.
    AcceptControl(String),
    /// The control named a frame already over.
    OldControl(String),
    /// The control named a frame too far ahead.
    FarControl(String),
    /// The state of a frame already over was asked for.
    OldState(u32),
    /// The state of a frame too far ahead was asked for.
    FarState(u32),
}

/// Which state a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateRequest {
    /// The one now.
    Now,
    /// The one at a frame.
    Frame(u32),
    /// The next one in which a pill is controlled.
    Control,
    /// The next one in which none is.
    Cleanup,
}

/// What the player says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientMessage {
    /// The version chosen.
    Version(String),
    /// Presses for the next time a pill is controlled.
    Queue(String, Presses),
    /// Presses from a frame on.
    Control(String, u32, Presses),
    /// Asks for a state.
    RequestState(StateRequest),
    /// Cells to draw over the board; none clears them.
    Debug(Vec<(u8, u8, Option<Cell>)>),
}

/// Decodes a line: every byte is one character.
pub fn decode(line: &[u8]) -> Result<String, MessageError> {
    if line.len() + 1 > MOST_BYTES {
        return Err(MessageError::Long(line.len() + 1));
    }
    Ok(line.iter().copied().map(char::from).collect())
}

/// Encodes a message; characters beyond one byte do not occur in messages that were read.
pub fn encode(message: &impl fmt::Display) -> Vec<u8> {
    let text = message.to_string();
    let mut line: Vec<u8> = text
        .chars()
        .map(|c| u8::try_from(c).unwrap_or(b'?'))
        .collect();
    line.push(b'\n');
    line
}

fn number(text: &str) -> Result<u32, MessageError> {
    let canonical =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse()
        .ok()
        .filter(|_| canonical)
        .ok_or_else(|| MessageError::Number(text.to_owned()))
}

fn id(text: &str) -> Result<String, MessageError> {
    let length = text.chars().count();
    if length > MOST_ID {
        return Err(MessageError::Id(length));
    }
    Ok(text.to_owned())
}

fn placed(parts: &[&str]) -> Result<Placed, MessageError> {
    Ok(parts.join(" ").parse()?)
}

fn garbage(columns: &str, cells: &str) -> Result<Vec<(u8, Color)>, MessageError> {
    const FORM: MessageError =
        MessageError::Form("garbage PLAYER distinct-columns equally-many-single-halves");
    if columns.len() != cells.len() || columns.is_empty() {
        return Err(FORM);
    }
    let mut pieces: Vec<(u8, Color)> = Vec::new();
    for (column, cell) in columns.bytes().zip(cells.bytes()) {
        let x = column.wrapping_sub(b'0');
        let color = match Cell::from_code(cell) {
            Some(Cell {
                color,
                shape: Shape::Single,
            }) => color,
            _ => return Err(FORM),
        };
        if x >= WIDTH || pieces.iter().any(|&(other, _)| other == x) {
            return Err(FORM);
        }
        pieces.push((x, color));
    }
    Ok(pieces)
}

impl FromStr for ServerMessage {
    type Err = MessageError;

    fn from_str(line: &str) -> Result<Self, MessageError> {
        let parts: Vec<&str> = line.split(' ').collect();
        Ok(match parts[..] {
            ["propose-version", version] => Self::ProposeVersion(id(version)?),
            ["request-version"] => Self::RequestVersion,
            ["state", player, speed, next, board, "cleanup"] => Self::State {
                player: id(player)?,
                speed: number(speed)?,
                next: next.parse()?,
                board: board.parse()?,
                mode: Mode::Cleanup,
            },
            [
                "state",
                player,
                speed,
                next,
                board,
                "control",
                left,
                x,
                y,
                pill,
            ] => Self::State {
                player: id(player)?,
                speed: number(speed)?,
                next: next.parse()?,
                board: board.parse()?,
                mode: Mode::Control {
                    frames_left: number(left)?,
                    falling: placed(&[x, y, pill])?,
                },
            },
            ["frame", frame] => Self::Frame(number(frame)?),
            ["mode", player, "cleanup"] => Self::Cleanup(id(player)?),
            ["mode", player, "control", next] => Self::Control(id(player)?, next.parse()?),
            ["pill", player, x, y, pill] => Self::Falling(id(player)?, placed(&[x, y, pill])?),
            ["speed", player, speed] => Self::Speed(id(player)?, number(speed)?),
            ["garbage", player, columns, cells] => {
                Self::Garbage(id(player)?, garbage(columns, cells)?)
            }
            ["winner", player] => Self::Winner(id(player)?),
            ["loser", player] => Self::Loser(id(player)?),
            ["accept-queue", name] => Self::AcceptQueue(id(name)?),
            ["accept-control", name] => Self::AcceptControl(id(name)?),
            ["old-control", name] => Self::OldControl(id(name)?),
            ["far-control", name] => Self::FarControl(id(name)?),
            ["old-state", frame] => Self::OldState(number(frame)?),
            ["far-state", frame] => Self::FarState(number(frame)?),
            _ => return Err(wrong_form(parts[0], &SERVER_FORMS)),
        })
    }
}

/// The forms of the game's messages, for complaints.
const SERVER_FORMS: [&str; 17] = [
    "propose-version VERSION",
    "request-version",
    "state PLAYER SPEED PILL BOARD cleanup (or: control LEFT X Y PILL)",
    "frame NUMBER",
    "mode PLAYER cleanup (or: control PILL)",
    "pill PLAYER X Y PILL",
    "speed PLAYER FRAMES",
    "garbage PLAYER COLUMNS CELLS",
    "winner PLAYER",
    "loser PLAYER",
    "accept-queue ID",
    "accept-control ID",
    "old-control ID",
    "far-control ID",
    "old-state FRAME",
    "far-state FRAME",
    "request-version",
];

/// The forms of the player's messages, for complaints.
const CLIENT_FORMS: [&str; 5] = [
    "version VERSION",
    "queue ID PRESSES",
    "control ID FRAME PRESSES",
    "request-state (alone, or with a frame, `control` or `cleanup`)",
    "debug, then groups of X Y CELL",
];

fn wrong_form(word: &str, forms: &[&'static str]) -> MessageError {
    let named = |form: &&&str| form.split([' ', ',']).next() == Some(word);
    match forms.iter().find(named) {
        Some(form) => MessageError::Form(form),
        None => MessageError::Unknown(word.to_owned()),
    }
}

impl fmt::Display for ServerMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProposeVersion(version) => write!(f, "propose-version {version}"),
            Self::RequestVersion => f.write_str("request-version"),
            Self::State {
                player,
                speed,
                next,
                board,
                mode,
            } => {
                write!(f, "state {player} {speed} {next} {board} ")?;
                match mode {
                    Mode::Cleanup => f.write_str("cleanup"),
                    Mode::Control {
                        frames_left,
                        falling,
                    } => {
                        write!(f, "control {frames_left} {falling}")
                    }
                }
            }
            Self::Frame(frame) => write!(f, "frame {frame}"),
            Self::Cleanup(player) => write!(f, "mode {player} cleanup"),
            Self::Control(player, next) => write!(f, "mode {player} control {next}"),
            Self::Falling(player, placed) => write!(f, "pill {player} {placed}"),
            Self::Speed(player, speed) => write!(f, "speed {player} {speed}"),
            Self::Garbage(player, pieces) => {
                let columns: String = pieces.iter().map(|&(x, _)| char::from(b'0' + x)).collect();
                let single = |&(_, color): &(u8, Color)| {
                    char::from(
                        Cell {
                            color,
                            shape: Shape::Single,
                        }
                        .code(),
                    )
                };
                let cells: String = pieces.iter().map(single).collect();
                write!(f, "garbage {player} {columns} {cells}")
            }
            Self::Winner(player) => write!(f, "winner {player}"),
            Self::Loser(player) => write!(f, "loser {player}"),
            Self::AcceptQueue(id) => write!(f, "accept-queue {id}"),
            Self::AcceptControl(id) => write!(f, "accept-control {id}"),
            Self::OldControl(id) => write!(f, "old-control {id}"),
            Self::FarControl(id) => write!(f, "far-control {id}"),
            Self::OldState(frame) => write!(f, "old-state {frame}"),
            Self::FarState(frame) => write!(f, "far-state {frame}"),
        }
    }
}

impl FromStr for ClientMessage {
    type Err = MessageError;

    fn from_str(line: &str) -> Result<Self, MessageError> {
        let parts: Vec<&str> = line.split(' ').collect();
        Ok(match parts[..] {
            ["version", version] => Self::Version(id(version)?),
            ["queue", name, presses] => Self::Queue(id(name)?, presses.parse()?),
            ["control", name, frame, presses] => {
                Self::Control(id(name)?, number(frame)?, presses.parse()?)
            }
            ["request-state"] => Self::RequestState(StateRequest::Now),
            ["request-state", "control"] => Self::RequestState(StateRequest::Control),
            ["request-state", "cleanup"] => Self::RequestState(StateRequest::Cleanup),
            ["request-state", frame] => Self::RequestState(StateRequest::Frame(number(frame)?)),
            ["debug", ref cells @ ..] if cells.len().is_multiple_of(3) => Self::Debug(
                cells
                    .chunks_exact(3)
                    .map(overlay)
                    .collect::<Result<_, _>>()?,
            ),
            _ => return Err(wrong_form(parts[0], &CLIENT_FORMS)),
        })
    }
}

fn overlay(parts: &[&str]) -> Result<(u8, u8, Option<Cell>), MessageError> {
    let x = coordinate("column", parts[0], WIDTH - 1)?;
    let y = coordinate("row", parts[1], HEIGHT - 1)?;
    let cell = match parts[2].as_bytes() {
        [EMPTY_CODE] => None,
        [code] if let Some(cell) = Cell::from_code(*code) => Some(cell),
        _ => {
            let letter = parts[2].chars().next().unwrap_or(' ');
            return Err(TextError::Letter {
                position: 1,
                letter,
            }
            .into());
        }
    };
    Ok((x, y, cell))
}

impl fmt::Display for ClientMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "version {version}"),
            Self::Queue(id, presses) => write!(f, "queue {id} {presses}"),
            Self::Control(id, frame, presses) => write!(f, "control {id} {frame} {presses}"),
            Self::RequestState(StateRequest::Now) => f.write_str("request-state"),
            Self::RequestState(StateRequest::Frame(frame)) => write!(f, "request-state {frame}"),
            Self::RequestState(StateRequest::Control) => f.write_str("request-state control"),
            Self::RequestState(StateRequest::Cleanup) => f.write_str("request-state cleanup"),
            Self::Debug(cells) => {
                f.write_str("debug")?;
                for (x, y, cell) in cells {
                    let code = char::from(cell.map_or(EMPTY_CODE, Cell::code));
                    write!(f, " {x} {y} {code}")?;
                }
                Ok(())
            }
        }
    }
}

//! A game as a sequence of pictures: the pill at the top, in place, and every step of what it sets off.

use draw::bottle::{self, Frame};

use crate::board::{HEIGHT, WIDTH, bit};
use crate::pill::{LAUNCH_X, LAUNCH_Y};
use crate::place::PlaceError;
use crate::{Board, Cell, Color, Pill, Placed, Record, Shape};

/// Seconds each kind of picture is shown at normal speed.
const LAUNCH: f64 = 0.16;
const LOCKED: f64 = 0.12;
const FLASH: f64 = 0.16;
const FALL_ROW: f64 = 0.06;
const LAST: f64 = 2.0;

/// What is seen at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Scenery {
    /// The board, the falling pill not on it.
    pub board: Board,
    /// Cells that flash before they vanish, one [`bit`] each.
    pub clearing: u128,
    /// The falling pill.
    pub falling: Option<Placed>,
    /// The pill after it.
    pub next: Option<Pill>,
    /// Pills placed so far.
    pub pills: u32,
}

impl Scenery {
    /// A board at rest.
    pub fn still(board: Board, next: Option<Pill>, pills: u32) -> Self {
        Self {
            board,
            clearing: 0,
            falling: None,
            next,
            pills,
        }
    }

    /// The picture, to be shown for so many seconds.
    pub fn frame(&self, seconds: f64) -> Frame {
        let mut cells = [[None; bottle::WIDTH]; bottle::HEIGHT + 1];
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let flashes = self.clearing & bit(x, y) != 0;
                let cell = self.board.cell(x, y);
                cells[usize::from(y)][usize::from(x)] = cell.map(|cell| drawn(cell, flashes));
            }
        }
        if let Some(Placed { x, y, content }) = self.falling {
            let [first, second] = content.cells();
            let (dx, dy) = if content.vertical { (0, 1) } else { (1, 0) };
            for (cell, x, y) in [(first, x, y), (second, x + dx, y + dy)] {
                let row = cells.get_mut(usize::from(y));
                if let Some(place) = row.and_then(|row| row.get_mut(usize::from(x))) {
                    *place = Some(drawn(cell, false));
                }
            }
        }
        Frame {
            cells,
            next: self
                .next
                .map(|pill| pill.turned(0).cells().map(|cell| drawn(cell, false))),
            viruses: self.board.viruses_left(),
            pills: self.pills,
            seconds,
        }
    }
}

/// The pictures of a record, `times` as fast as normal.
pub fn film(record: &Record, times: f64) -> Result<Vec<Frame>, FilmError> {
    let mut board = record.board;
    let mut frames = Vec::new();
    for (index, played) in record.moves.iter().enumerate() {
        let Placed { x, y, content } = played.chosen;
        let next = next_pill(record, index + 1);
        let pills = index as u32;
        let launched = Placed {
            x: LAUNCH_X,
            y: LAUNCH_Y,
            content: content.pill().turned(0),
        };
        let start = Scenery {
            falling: Some(launched),
            ..Scenery::still(board, next, pills)
        };
        frames.push(start.frame(LAUNCH / times));
        let number = index + 1;
        let scenes = board
            .place_slowly(content, x, y)
            .map_err(|reason| FilmError { number, reason })?;
        for (step, scene) in scenes.iter().enumerate() {
            let seconds = match (step, scene.clearing) {
                (0, _) => LOCKED,
                (_, 0) => FALL_ROW,
                _ => FLASH,
            };
            let scenery = Scenery {
                clearing: scene.clearing,
                ..Scenery::still(scene.board, next, pills + 1)
            };
            frames.push(scenery.frame(seconds / times));
        }
    }
    let last = Scenery::still(board, None, record.moves.len() as u32);
    frames.push(last.frame(LAST));
    Ok(frames)
}

/// The position of a record after so many pills, the next pill beside it where the record has one.
pub fn still(record: &Record, pills: usize) -> Result<Frame, FilmError> {
    let mut board = record.board;
    for (index, played) in record.moves.iter().take(pills).enumerate() {
        let Placed { x, y, content } = played.chosen;
        let number = index + 1;
        board
            .place(content, x, y)
            .map_err(|reason| FilmError { number, reason })?;
    }
    let pills = pills.min(record.moves.len());
    let scenery = Scenery::still(board, next_pill(record, pills), pills as u32);
    Ok(scenery.frame(LAST))
}

fn next_pill(record: &Record, index: usize) -> Option<Pill> {
    let next = record.moves.get(index)?;
    Some(next.chosen.content.pill())
}

/// A move of a record that cannot be played.
#[derive(Clone, Debug, thiserror::Error)]
#[error("move {number} of the record: {reason}")]
pub struct FilmError {
    number: usize,
    #[source]
    reason: PlaceError,
}

fn drawn(cell: Cell, flashes: bool) -> bottle::Cell {
    bottle::Cell {
        color: match cell.color {
            Color::Red => bottle::Color::Red,
            Color::Yellow => bottle::Color::Yellow,
            Color::Blue => bottle::Color::Blue,
        },
        shape: match cell.shape {
            Shape::Top => bottle::Shape::Top,
            Shape::Bottom => bottle::Shape::Bottom,
            Shape::Left => bottle::Shape::Left,
            Shape::Right => bottle::Shape::Right,
            Shape::Single => bottle::Shape::Single,
            Shape::Virus => bottle::Shape::Virus,
        },
        flashes,
    }
}

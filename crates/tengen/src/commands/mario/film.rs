//! A record as a sequence of pictures: the pill at the top, in place, and every step of what it
//! sets off.

use anyhow::Context;
use mario::pill::{LAUNCH_X, LAUNCH_Y};
use mario::{Board, Pill, Placed, Record};

/// One picture and how long it is shown.
pub struct Frame {
    /// The board, the falling pill not on it.
    pub board: Board,
    /// Cells that flash before they vanish.
    pub clearing: u128,
    /// The falling pill.
    pub falling: Option<Placed>,
    /// The pill after it.
    pub next: Option<Pill>,
    /// Pills placed so far.
    pub pills: u32,
    /// Seconds this picture is shown.
    pub seconds: f64,
}

/// Seconds each kind of picture is shown at normal speed.
const LAUNCH: f64 = 0.16;
const LOCKED: f64 = 0.12;
const FLASH: f64 = 0.16;
const FALL_ROW: f64 = 0.06;
const LAST: f64 = 2.0;

/// The pictures of a record, `times` as fast as normal.
pub fn film(record: &Record, times: f64) -> anyhow::Result<Vec<Frame>> {
    let mut board = record.board;
    let mut frames = Vec::new();
    for (index, played) in record.moves.iter().enumerate() {
        let Placed { x, y, content } = played.chosen;
        let next = record
            .moves
            .get(index + 1)
            .map(|next| next.chosen.content.pill());
        let pills = index as u32;
        let launched = Placed {
            x: LAUNCH_X,
            y: LAUNCH_Y,
            content: content.pill().turned(0),
        };
        let show = |board, clearing, falling, pills, seconds: f64| Frame {
            board,
            clearing,
            falling,
            next,
            pills,
            seconds: seconds / times,
        };
        frames.push(show(board, 0, Some(launched), pills, LAUNCH));
        let scenes = board
            .place_slowly(content, x, y)
            .with_context(|| format!("move {} of the record", index + 1))?;
        for (step, scene) in scenes.iter().enumerate() {
            let seconds = match (step, scene.clearing) {
                (0, _) => LOCKED,
                (_, 0) => FALL_ROW,
                _ => FLASH,
            };
            frames.push(show(scene.board, scene.clearing, None, pills + 1, seconds));
        }
    }
    frames.push(Frame {
        board,
        clearing: 0,
        falling: None,
        next: None,
        pills: record.moves.len() as u32,
        seconds: LAST,
    });
    Ok(frames)
}

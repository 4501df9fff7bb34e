//! How a verdict travels: the scan of one ladder, block by block.

use go::{Board, Point};

use crate::emulation::{Snapshot, emulate};
use crate::exam::kind_index;
use crate::frame::Frame;
use crate::positions::{Question, shifted};
use crate::probe::input_values;
use crate::reader::{Reader, Scan};

/// What the scan knows of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The ladder would not come through here.
    None,
    /// Open: the verdict passes.
    Open,
    /// The runner is out here, or one step on.
    Out,
    /// The runner is safe, by news from farther on.
    Safe,
    /// The chaser may turn here.
    Turn,
}

/// The news after one block.
#[derive(Clone, Debug)]
pub struct Stage {
    pub block: usize,
    /// One for every point, row by row from the south.
    pub news: Vec<News>,
}

/// The journey of one verdict.
#[derive(Clone, Debug)]
pub struct Journey {
    /// The frame the ladder runs in.
    pub frame: Frame,
    /// The points the runner enters, every second one, from the question's on.
    pub path: Vec<Point>,
    /// The scan, until it changes no more.
    pub stages: Vec<Stage>,
    /// What the network says: the move works.
    pub works: bool,
}

/// Follows the verdict on one question.
pub fn journey(reader: &Reader, board: &Board, question: &Question) -> Journey {
    let frame = question.frame;
    let size = board.size();
    let layers = emulate(
        &reader.circuit,
        size.get(),
        &input_values(board, question.to_move),
    );
    let scans = &reader.scans[kind_index(question.kind)];
    let scan = scans
        .iter()
        .find(|scan| scan.frame == frame)
        .expect("every frame has its scan");
    let mut stages: Vec<Stage> = Vec::new();
    for (index, layer) in layers.iter().enumerate().step_by(2) {
        if let Some(news) = news(layer, scan)
            && stages.last().is_none_or(|last| last.news != news)
        {
            stages.push(Stage {
                block: index / 2,
                news,
            });
        }
    }
    let last = &layers[layers.len() - 1].values;
    let ok = [reader.escape_ok, reader.chase_ok][kind_index(question.kind)];
    Journey {
        frame,
        path: path(board, question, frame),
        stages,
        works: last[&ok][size.index(question.point)] > 0,
    }
}

/// The scan's planes after a block, if they all exist.
fn news(layer: &Snapshot, scan: &Scan) -> Option<Vec<News>> {
    let [out, open, safe, turn] =
        [scan.out, scan.open, scan.safe, scan.turn].map(|plane| layer.values.get(&plane));
    let (out, open, safe, turn) = (out?, open?, safe?, turn?);
    let at = |cell: usize| match (
        out[cell] > 0,
        safe[cell] > 0,
        open[cell] > 0,
        turn[cell] > 0,
    ) {
        (true, ..) => News::Out,
        (_, true, ..) => News::Safe,
        (.., true, true) => News::Turn,
        (.., true, false) => News::Open,
        _ => News::None,
    };
    Some((0..out.len()).map(at).collect())
}

fn path(board: &Board, question: &Question, frame: Frame) -> Vec<Point> {
    let size = board.size();
    let start = match question.kind {
        crate::positions::Kind::Escape => Some(question.point),
        crate::positions::Kind::Chase => shifted(size, question.prey, frame.north),
    };
    std::iter::successors(start, |&point| shifted(size, point, frame.northeast())).collect()
}

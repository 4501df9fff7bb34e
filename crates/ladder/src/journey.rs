//! How a verdict travels: the scan of one ladder, block by block.

use go::{Board, Point};

use crate::emulation::{Snapshot, emulate};
use crate::exam::kind_index;
use crate::formula::Plane;
use crate::frame::Frame;
use crate::positions::{Question, ladders_from, landing, shifted};
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
    /// The runner is safe as far as the scan has read.
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
    /// The frame that is shown; none if the verdict does not come from a scan: the next move decides, or the network has
    /// no opinion.
    pub frame: Option<Frame>,
    /// Where the runner lands.
    pub landing: Point,
    /// The points the runner enters, every second one, from the landing on.
    pub path: Vec<Point>,
    /// The scan, until it changes no more. One stage without news if there is no scan.
    pub stages: Vec<Stage>,
    /// What the network says: the move works, or it fails; nothing if it does not know.
    pub works: Option<bool>,
}

impl Journey {
    /// The empty points of the path: what the scan knows elsewhere on the board is about other ladders.
    pub fn way(&self, board: &Board) -> Vec<Point> {
        let way = self.path.iter().copied();
        way.filter(|&point| board.is_empty(point)).collect()
    }
}

/// Follows the verdict on one question: through the frame that decides, where several might.
pub fn journey(reader: &Reader, board: &Board, question: &Question) -> Journey {
    let size = board.size();
    let kind = kind_index(question.kind);
    let input = input_values(board, question.to_move);
    let layers = emulate(&reader.circuit, size.get(), &input);
    let last = &layers[layers.len() - 1].values;
    let says = |plane: Plane| last[&plane][size.index(question.point)] > 0;
    let works = match (
        says([reader.escape_ok, reader.chase_ok][kind]),
        says([reader.escape_bad, reader.chase_bad][kind]),
    ) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };

    let landing = landing(board, question);
    let scan_of = |frame: Frame| reader.scans[kind].iter().find(|scan| scan.frame == frame);
    let is_caught = |&(frame, start): &(Frame, Point)| {
        scan_of(frame).is_some_and(|scan| {
            [scan.out, scan.safe].iter().all(|plane| {
                last.get(plane)
                    .is_none_or(|values| values[size.index(start)] == 0)
            })
        })
    };
    let ladders = ladders_from(board, question);
    let chosen = ladders.iter().find(|ladder| is_caught(ladder));
    let Some(&(frame, start)) = chosen.or(ladders.first()) else {
        return Journey {
            frame: None,
            landing,
            path: vec![landing],
            stages: vec![Stage {
                block: *reader.scan_blocks.end(),
                news: vec![News::None; size.area()],
            }],
            works,
        };
    };
    let scan = scan_of(frame).expect("every frame has its scan");
    let path: Vec<Point> = std::iter::successors(Some(start), |&point| {
        shifted(size, point, frame.northeast())
    })
    .collect();
    let mut stages: Vec<Stage> = Vec::new();
    for block in reader.scan_blocks.clone() {
        if let Some(news) = news(&layers[2 * block], scan)
            && stages.last().is_none_or(|last| last.news != news)
        {
            stages.push(Stage { block, news });
        }
    }
    Journey {
        frame: Some(frame),
        landing,
        path,
        stages,
        works,
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

//! Examining a ladder network: the real forward pass against the exact reader.

use std::time::Instant;

use go::{Board, BoardSize, Color, LadderReader};
use net::OpenError;
use serde::Serialize;

use crate::compile::Compiled;
use crate::formula::Plane;
use crate::positions::{Boards, Kind, Question, Recipe, Start, questions, runs_on, truth};
use crate::probe::{Probe, Seen};
use crate::score::{Answer, LadderScore};

/// Planes hold whole numbers; half is as far from all of them as can be.
const HALF: f32 = 0.5;

/// A network that answers questions: which planes say yes and which say no.
pub struct Candidate {
    probe: Probe,
    yes: [Vec<Plane>; 2],
    unless: [Vec<Plane>; 2],
    noticed: [Vec<Plane>; 2],
}

impl Candidate {
    /// For escapes, then for chases: the planes that say that a move works, those that take it back, and those that
    /// say that there is a move at all.
    pub fn new(
        compiled: &Compiled,
        yes: [Vec<Plane>; 2],
        unless: [Vec<Plane>; 2],
        noticed: [Vec<Plane>; 2],
    ) -> Result<Candidate, OpenError> {
        let all = yes.iter().chain(&unless).chain(&noticed);
        let mut planes: Vec<Plane> = all.flatten().copied().collect();
        planes.sort();
        planes.dedup();
        Ok(Candidate {
            probe: Probe::new(compiled, &planes)?,
            yes,
            unless,
            noticed,
        })
    }

    /// Runs the network on positions.
    pub fn look(&self, positions: &[(&Board, Color)]) -> Vec<Seen<'_>> {
        self.probe.read(positions)
    }

    /// What the network says to a question, given what it saw on that board with that side to move.
    pub fn answer(&self, seen: &Seen<'_>, size: BoardSize, question: &Question) -> Answer {
        let kind = kind_index(question.kind);
        let says = |planes: &[Plane]| {
            let mut planes = planes.iter();
            planes.any(|&plane| seen.at(plane, size, question.point) > HALF)
        };
        if says(&self.yes[kind]) && !says(&self.unless[kind]) {
            Answer::Yes
        } else if says(&self.noticed[kind]) {
            Answer::No
        } else {
            Answer::Nothing
        }
    }

    /// Whether the network sees any ladder at all.
    pub fn is_silent(&self, seen: &Seen<'_>) -> bool {
        let planes = self.yes.iter().chain(&self.noticed).flatten();
        planes
            .into_iter()
            .all(|&plane| seen.plane(plane).iter().all(|&number| number == 0.0))
    }
}

/// A set of boards to examine on.
#[derive(Clone, Debug)]
pub struct TestSet {
    pub name: String,
    /// How its boards are made.
    pub recipe: Recipe,
    /// How many boards.
    pub boards: usize,
}

/// The sets of the examination. `boards` is the number of planted boards; the others are in proportion.
pub fn sets(boards: usize) -> Vec<TestSet> {
    const SPARSE: usize = 19;
    const DENSE: usize = 59;
    let planted = |name: &str, kind, strays, start| TestSet {
        name: name.into(),
        recipe: Recipe::Planted {
            kind,
            strays,
            start,
        },
        boards,
    };
    vec![
        planted("escape, sparse", Kind::Escape, SPARSE, Start::Stone),
        planted("escape, dense", Kind::Escape, DENSE, Start::Stone),
        planted(
            "escape, from anywhere",
            Kind::Escape,
            SPARSE,
            Start::StoneAnywhere,
        ),
        planted(
            "escape, the original's shape",
            Kind::Escape,
            SPARSE,
            Start::Bend,
        ),
        planted("chase, sparse", Kind::Chase, SPARSE, Start::Stone),
        planted("chase, dense", Kind::Chase, DENSE, Start::Stone),
        planted(
            "chase, from anywhere",
            Kind::Chase,
            SPARSE,
            Start::StoneAnywhere,
        ),
        planted(
            "chase, the original's shape",
            Kind::Chase,
            SPARSE,
            Start::Bend,
        ),
        TestSet {
            name: "running ladders".into(),
            recipe: Recipe::Running,
            boards: boards / 2,
        },
        TestSet {
            name: "random play".into(),
            recipe: Recipe::RandomPlay,
            boards: (boards * 3).div_ceil(10),
        },
    ]
}

/// The result of one network on one set.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Marks {
    /// Does extending escape?
    pub escape: LadderScore,
    /// Does the atari capture?
    pub chase: LadderScore,
    /// Of the escapes, those that the next move does not decide: ladders in the narrow sense.
    pub escape_running: LadderScore,
    /// Of the chases, the same.
    pub chase_running: LadderScore,
    /// Boards on which there is no string with one or two liberties.
    pub boards_without_ladder: usize,
    /// Of those, boards on which the network is not exactly silent.
    pub false_alarms: usize,
    /// Positions the network looked at: every board with either side to move.
    pub positions: usize,
    /// Seconds the network took for them, each with every verdict on the board.
    pub network_seconds: f64,
    /// Seconds the exact reader took to answer the questions that were asked.
    pub reader_seconds: f64,
}

impl Marks {
    fn add(&mut self, asked: &Asked, answer: Answer) {
        let [all, running] = match asked.question.kind {
            Kind::Escape => [&mut self.escape, &mut self.escape_running],
            Kind::Chase => [&mut self.chase, &mut self.chase_running],
        };
        all.add(asked.truth, answer);
        if asked.runs_on {
            running.add(asked.truth, answer);
        }
    }
}

/// A question with what is known about it.
struct Asked {
    question: Question,
    truth: bool,
    runs_on: bool,
}

/// Boards that are evaluated together.
const BATCH: usize = 8;

/// Examines networks on boards; both sides are asked to move on each. A planted set counts its own kind of question only.
pub fn examine(
    candidates: &[&Candidate],
    boards: impl Iterator<Item = Board>,
    only: Option<Kind>,
    mut progress: impl FnMut(usize),
) -> Vec<Marks> {
    let mut results = vec![Marks::default(); candidates.len()];
    let mut reader = LadderReader::default();
    let mut boards = boards.peekable();
    while boards.peek().is_some() {
        let batch: Vec<Board> = boards.by_ref().take(BATCH).collect();
        let positions: Vec<(&Board, Color)> = batch
            .iter()
            .flat_map(|board| Color::BOTH.map(|color| (board, color)))
            .collect();
        let reading = Instant::now();
        let asked: Vec<Vec<Asked>> = batch
            .iter()
            .map(|board| {
                let questions = questions(board).into_iter();
                let ask = |question| Asked {
                    question,
                    truth: truth(&mut reader, board, &question),
                    runs_on: runs_on(board, &question),
                };
                questions.map(ask).collect()
            })
            .collect();
        let reader_seconds = reading.elapsed().as_secs_f64();
        for (candidate, result) in candidates.iter().zip(&mut results) {
            result.reader_seconds += reader_seconds;
            let looking = Instant::now();
            let seen = candidate.look(&positions);
            result.network_seconds += looking.elapsed().as_secs_f64();
            result.positions += positions.len();
            for (index, board) in batch.iter().enumerate() {
                let both = &seen[index * Color::BOTH.len()..][..Color::BOTH.len()];
                grade(candidate, board, both, &asked[index], only, result);
            }
        }
        progress(batch.len());
    }
    results
}

fn grade(
    candidate: &Candidate,
    board: &Board,
    seen: &[Seen<'_>],
    asked: &[Asked],
    only: Option<Kind>,
    result: &mut Marks,
) {
    if LadderReader::questions(board).is_empty() {
        result.boards_without_ladder += 1;
        let is_silent = seen.iter().all(|seen| candidate.is_silent(seen));
        result.false_alarms += usize::from(!is_silent);
    }
    for asked in asked {
        let question = &asked.question;
        if only.is_some_and(|kind| kind != question.kind) {
            continue;
        }
        let side = Color::BOTH
            .iter()
            .position(|&color| color == question.to_move);
        let seen = &seen[side.expect("a side is one of both")];
        result.add(asked, candidate.answer(seen, board.size(), question));
    }
}

pub fn boards_of(set: &TestSet, size: BoardSize, seed: u64) -> impl Iterator<Item = Board> + use<> {
    Boards::new(set.recipe, size, seed).take(set.boards)
}

/// The kind of question a set is about, if only one.
pub fn kind_of(set: &TestSet) -> Option<Kind> {
    match set.recipe {
        Recipe::Planted { kind, .. } => Some(kind),
        Recipe::Running => Some(Kind::Escape),
        Recipe::RandomPlay => None,
    }
}

/// The place of a kind in pairs of "for escapes, for chases".
pub fn kind_index(kind: Kind) -> usize {
    match kind {
        Kind::Escape => 0,
        Kind::Chase => 1,
    }
}

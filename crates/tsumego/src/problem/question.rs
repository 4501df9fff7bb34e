//! A question about a position: can these blocks be captured?

use std::collections::BTreeSet;
use std::fmt;

use go::{Board, Color, Point};
use thiserror::Error;

use crate::problem::zone::{find_leak, find_zone, playable, surroundings};

/// Which of several target blocks must fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Goal {
    /// The attacker must capture every one of them: the group lives if any block does.
    #[default]
    All,
    /// The attacker must capture one of them: the stones are crucial, each by itself.
    Any,
}

/// One of the two roles in a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Wants to capture the target.
    Attacker,
    /// Owns the target.
    Defender,
}

impl Side {
    /// Both sides, the attacker first.
    pub const BOTH: [Side; 2] = [Side::Attacker, Side::Defender];

    /// The other side.
    #[inline]
    pub const fn opponent(self) -> Side {
        match self {
            Side::Attacker => Side::Defender,
            Side::Defender => Side::Attacker,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::Attacker => "attacker",
            Side::Defender => "defender",
        })
    }
}

/// Why a position is not a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProblemError {
    /// Nothing is marked.
    #[error("no target: mark a stone of the group with MA")]
    NoTarget,
    /// A target point is not on the board.
    #[error("the target is not on the board")]
    TargetOffBoard,
    /// A target point has no stone.
    #[error(
        "the target at column {column}, row {row} (from the bottom left) is an empty point: MA must name a stone"
    )]
    EmptyTarget {
        /// Column from the left, from 1.
        column: usize,
        /// Row from the bottom, from 1.
        row: usize,
    },
    /// Target stones of both colours.
    #[error("the target has stones of both colours")]
    MixedTarget,
    /// More target blocks than a set holds.
    #[error("the target has {0} blocks; at most {MAX_TARGETS} can be followed")]
    TooManyBlocks(usize),
    /// The flood from the target gets out to the open board.
    #[error("no safe wall encloses the target: it gets out at {0}; close the wall there")]
    Leak(Point),
    /// The flood from the target meets no safe block of the attacker.
    #[error(
        "no safe wall encloses the target: some attacker's block around it needs two liberties outside"
    )]
    NoWall,
    /// The board is larger than the solver's sets.
    #[error("the board is {0}x{0}; the largest the solver takes is {MAX_SIDE}x{MAX_SIDE}")]
    BoardTooLarge(usize),
}

/// The largest number of target blocks.
pub const MAX_TARGETS: usize = 8;

/// The largest board side.
pub const MAX_SIDE: usize = 19;

/// A position, the blocks in question, and where both sides may play.
#[derive(Clone)]
pub struct Problem {
    board: Board,
    defender: Color,
    target: Vec<Point>,
    goal: Goal,
    zone: BTreeSet<Point>,
}

impl Problem {
    /// The problem of the blocks with stones at `target`, in the zone found from the position.
    pub fn new(board: Board, target: &[Point]) -> Result<Problem, ProblemError> {
        let (target, defender) = target_blocks(&board, target)?;
        let zone = find_zone(&board, &target, defender).ok_or_else(|| {
            find_leak(&board, &target, defender).map_or(ProblemError::NoWall, ProblemError::Leak)
        })?;
        Ok(Problem {
            board,
            defender,
            target,
            goal: Goal::All,
            zone,
        })
    }

    /// The problem with a zone of the caller's choice. No wall is needed: points outside the zone
    /// are never played on, so a block with a liberty there cannot be captured.
    pub fn with_zone(
        board: Board,
        target: &[Point],
        zone: impl IntoIterator<Item = Point>,
    ) -> Result<Problem, ProblemError> {
        let (target, defender) = target_blocks(&board, target)?;
        let mut zone: BTreeSet<Point> = zone
            .into_iter()
            .filter(|&point| board.is_on_board(point))
            .collect();
        for &block in &target {
            zone.extend(board.stones(block));
        }
        Ok(Problem {
            board,
            defender,
            target,
            goal: Goal::All,
            zone,
        })
    }

    /// The problem of blocks in the middle of a game: the zone is what surrounds them within a few
    /// steps. A block that gets a liberty beyond it has escaped and lives; so do stones of the other
    /// side that have one.
    pub fn in_game(board: Board, target: &[Point]) -> Result<Problem, ProblemError> {
        let (blocks, _) = target_blocks(&board, target)?;
        let zone = surroundings(&board, &blocks);
        Problem::with_zone(board, &blocks, zone)
    }

    /// The same problem with another goal.
    #[must_use]
    pub fn with_goal(mut self, goal: Goal) -> Problem {
        self.goal = goal;
        self
    }

    /// The same target and zone in another position, which may have been reached by play: the
    /// zone stays as it was. `None` once the attacker has reached the goal.
    pub fn at(&self, board: Board) -> Option<Problem> {
        let standing: Vec<Point> = self
            .target
            .iter()
            .copied()
            .filter(|&stone| board.is_stone(stone, self.defender))
            .collect();
        let over = match self.goal {
            Goal::All => standing.is_empty(),
            Goal::Any => standing.len() < self.target.len(),
        };
        (!over).then(|| Problem {
            board,
            target: standing,
            ..self.clone()
        })
    }

    /// The position.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The colour of the target.
    pub fn defender(&self) -> Color {
        self.defender
    }

    /// The colour that wants to capture.
    pub fn attacker(&self) -> Color {
        self.defender.opponent()
    }

    /// The colour of a side.
    pub fn color(&self, side: Side) -> Color {
        match side {
            Side::Attacker => self.attacker(),
            Side::Defender => self.defender,
        }
    }

    /// One stone of each target block.
    pub fn target(&self) -> &[Point] {
        &self.target
    }

    /// Every stone of the target blocks.
    pub fn target_stones(&self) -> Vec<Point> {
        self.target
            .iter()
            .flat_map(|&block| self.board.stones(block))
            .collect()
    }

    /// Which of the target blocks must fall.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// Where both sides may play; points with stones become playable when captured.
    pub fn zone(&self) -> &BTreeSet<Point> {
        &self.zone
    }

    /// The number of moves `side` has now: suicide excluded, ko ignored.
    pub fn size(&self, side: Side) -> usize {
        playable(&self.board, &self.zone, self.color(side)).len()
    }
}

/// One stone for each block with a stone in `target`, and their colour.
fn target_blocks(board: &Board, target: &[Point]) -> Result<(Vec<Point>, Color), ProblemError> {
    let side = board.size().get();
    if side > MAX_SIDE {
        return Err(ProblemError::BoardTooLarge(side));
    }
    let mut blocks: Vec<Point> = Vec::new();
    let mut defender = None;
    for &point in target {
        if !board.is_on_board(point) {
            return Err(ProblemError::TargetOffBoard);
        }
        let color = board.stone(point).ok_or(ProblemError::EmptyTarget {
            column: point.x() + 1,
            row: point.y() + 1,
        })?;
        if *defender.get_or_insert(color) != color {
            return Err(ProblemError::MixedTarget);
        }
        if !blocks.iter().any(|&b| board.block(b) == board.block(point)) {
            blocks.push(point);
        }
    }
    let defender = defender.ok_or(ProblemError::NoTarget)?;
    if blocks.len() > MAX_TARGETS {
        return Err(ProblemError::TooManyBlocks(blocks.len()));
    }
    Ok((blocks, defender))
}

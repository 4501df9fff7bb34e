//! Problems and labelled positions as SGF.
//!
//! `AB`/`AW` set the stones, `MA` marks the target, `PL` says who plays first, `SQ` adds stones of
//! the attacker that close holes in the wall. A labelled position also has `TS[1]` if the target is
//! safe, `AS` for the number of moves available, `DS[1]` if the defender starts, `TR` for moves
//! that win for the side that starts, and the name of the problem it comes from in `GN`.

use go::sgf::{self, SgfError, Tree};
use go::{Board, Color, Move, Point, PointSet};
use thiserror::Error;

use crate::problem::{MAX_SIDE, Problem, ProblemError, Side};
use crate::solver::{Plan, Proof, ProofId};

/// Whether the target is safe if the attacker starts (or whoever `DS` says), and if the defender
/// does.
pub(crate) const ATTACKER_STARTS: &str = "TS";
pub(crate) const DEFENDER_STARTS: &str = "TD";

/// Why a file holds no problem.
#[derive(Debug, Error)]
pub enum RecordError {
    /// Damaged SGF.
    #[error(transparent)]
    Sgf(#[from] SgfError),
    /// A position that is no problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// One game was expected.
    #[error(
        "the file holds {0} games; give one problem a file, or use a command that takes collections"
    )]
    SeveralGames(usize),
    /// Stones that make no position.
    #[error("the setup is no legal position: {0}")]
    Setup(#[from] go::SetupError),
    /// A label that is missing or not a number.
    #[error("game {game}: {name} is {found}, expected {expected}")]
    Label {
        /// Which game of the collection, from 1.
        game: usize,
        /// The property.
        name: &'static str,
        /// What is there.
        found: String,
        /// What should be.
        expected: &'static str,
    },
}

/// A problem as a file states it.
#[derive(Clone)]
pub struct ProblemRecord {
    pub problem: Problem,
    /// Who plays first in the intended solution.
    pub first: Option<Color>,
    /// Its name, if the file gives one.
    pub name: Option<String>,
}

/// A position with the answer a solver gave.
#[derive(Clone)]
pub struct LabelledPosition {
    /// The position.
    pub problem: Problem,
    /// Who plays first.
    pub first: Side,
    /// Whether the target is safe.
    pub is_safe: bool,
    /// Moves available when the position was made.
    pub size: usize,
    /// Moves with which the side that starts gets what it wants; none if it cannot, need not move,
    /// or none is known.
    pub moves: Vec<Point>,
    /// The problem it comes from.
    pub source: String,
}

/// Reads the one problem of a file.
pub fn read_problem(bytes: &[u8]) -> Result<ProblemRecord, RecordError> {
    let games = sgf::read(bytes)?.games;
    match games.as_slice() {
        [game] => problem_of(game),
        games => Err(RecordError::SeveralGames(games.len())),
    }
}

/// Reads the problem in the root of a game.
pub fn problem_of(tree: &Tree) -> Result<ProblemRecord, RecordError> {
    let root = tree.root();
    let board = setup_board(tree)?;
    let target: Vec<Point> = tree.points(root, "MA")?.iter().collect();
    let stubs = tree.points(root, "SQ")?;
    let [mut black, mut white] = [Color::Black, Color::White].map(|c| *board.stone_set(c));
    if target.iter().any(|&point| black.contains(point)) {
        white.extend(stubs.iter());
    } else {
        black.extend(stubs.iter());
    }
    let board = Board::with_stones(board.size(), &black, &white)?;
    Ok(ProblemRecord {
        problem: Problem::new(board, &target)?,
        first: tree.player_to_move(root)?,
        name: tree.text(root, "GN").map(str::to_owned),
    })
}

/// The stones that the root of a game sets up.
pub fn setup_board(tree: &Tree) -> Result<Board, RecordError> {
    let root = tree.root();
    let size = tree.size()?;
    if size.get() > MAX_SIDE {
        return Err(ProblemError::BoardTooLarge(size.get()).into());
    }
    let [black, white] = [tree.points(root, "AB")?, tree.points(root, "AW")?];
    Ok(Board::with_stones(size, &black, &white)?)
}

/// The setup and target of a problem as the root of a game.
pub fn problem_tree(problem: &Problem, name: &str) -> Tree {
    let board = problem.board();
    let mut tree = Tree::new(board.size());
    let root = tree.root();
    if !name.is_empty() {
        tree.set_text(root, "GN", name);
    }
    for (property, color) in [("AB", Color::Black), ("AW", Color::White)] {
        let stones: &PointSet = board.stone_set(color);
        if !stones.is_empty() {
            tree.set_points(root, property, stones.iter());
        }
    }
    tree.set_points(root, "MA", problem.target().iter().copied());
    tree
}

/// A labelled position as a game of one node.
pub fn labelled_tree(position: &LabelledPosition) -> Tree {
    let mut tree = problem_tree(&position.problem, &position.source);
    let root = tree.root();
    let flag = |is_set: bool| if is_set { "1" } else { "0" };
    tree.set_text(root, "AS", &position.size.to_string());
    tree.set_text(root, "TS", flag(position.is_safe));
    tree.set_text(root, "DS", flag(position.first == Side::Defender));
    if !position.moves.is_empty() {
        tree.set_points(root, "TR", position.moves.iter().copied());
    }
    tree
}

/// Reads a labelled position from the root of a game. `DS` may be missing: the attacker starts.
pub fn labelled_position(tree: &Tree) -> Result<LabelledPosition, RecordError> {
    let record = problem_of(tree)?;
    let root = tree.root();
    let flag = |name| flag(tree, name);
    let missing = |name: &'static str, expected: &'static str| RecordError::Label {
        game: tree.number(),
        name,
        found: "missing".to_owned(),
        expected,
    };
    let is_safe = flag(ATTACKER_STARTS)?.ok_or_else(|| missing(ATTACKER_STARTS, "0 or 1"))?;
    let first = if flag("DS")?.unwrap_or(false) {
        Side::Defender
    } else {
        Side::Attacker
    };
    let size = tree
        .text(root, "AS")
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| missing("AS", "a number of moves"))?;
    Ok(LabelledPosition {
        problem: record.problem,
        first,
        is_safe,
        size,
        moves: tree.points(root, "TR")?.iter().collect(),
        source: record.name.unwrap_or_default(),
    })
}

/// Reads every label of a game's root: a generated problem has one for either side to start.
pub fn labelled_positions(tree: &Tree) -> Result<Vec<LabelledPosition>, RecordError> {
    let attacked = labelled_position(tree)?;
    let Some(is_safe) = flag(tree, DEFENDER_STARTS)? else {
        return Ok(vec![attacked]);
    };
    let defended = LabelledPosition {
        first: Side::Defender,
        is_safe,
        size: attacked.problem.size(Side::Defender),
        moves: Vec::new(),
        ..attacked.clone()
    };
    Ok(vec![attacked, defended])
}

/// A property of the root that is 0, 1 or missing.
fn flag(tree: &Tree, name: &'static str) -> Result<Option<bool>, RecordError> {
    match tree.text(tree.root(), name) {
        Some("0") => Ok(Some(false)),
        Some("1") => Ok(Some(true)),
        None => Ok(None),
        Some(other) => Err(RecordError::Label {
            game: tree.number(),
            name,
            found: format!("{other:?}"),
            expected: "0 or 1",
        }),
    }
}

/// Writes a proof as variations. A situation that has been written before is only referred to.
pub fn proof_tree(problem: &Problem, name: &str, proof: &Proof) -> Tree {
    let mut tree = problem_tree(problem, name);
    let root = tree.root();
    let first = problem.color(proof.first);
    tree.set_text(root, "PL", if first == Color::Black { "B" } else { "W" });
    let mut written: Vec<bool> = vec![false; proof.nodes.len()];
    let mut open: Vec<(ProofId, Side, sgf::NodeId)> = vec![(0, proof.first, root)];
    while let Some((id, side, at)) = open.pop() {
        if written[id] {
            tree.set_text(at, "C", "The rest has been shown.");
            continue;
        }
        written[id] = true;
        let steps: &[(Move, ProofId)] = match &proof.nodes[id] {
            Plan::Captured => {
                tree.set_text(at, "C", "Captured.");
                &[]
            }
            Plan::Alive => {
                tree.set_text(at, "C", "Alive.");
                &[]
            }
            Plan::Play(mv, next) => &[(*mv, *next)],
            Plan::Replies(replies) => replies,
        };
        let added: Vec<_> = steps
            .iter()
            .map(|&(mv, next)| {
                (
                    next,
                    side.opponent(),
                    tree.add_move(at, problem.color(side), mv),
                )
            })
            .collect();
        open.extend(added.into_iter().rev());
    }
    tree
}

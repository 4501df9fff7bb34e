//! Nets: capture without atari, one threat deeper than a ladder.
//!
//! In the terms of Thomsen's lambda search, a ladder is a lambda-1 capture: each move of the
//! attacker threatens to take the prey. A net is lambda-2: each move threatens a ladder. The
//! attacker's move must leave a ladder that works if the defender passes; then every reply
//! that could matter is tried, and the prey must still fall to a ladder or to another net move.
//!
//! The defender may reply anywhere on the board, but a reply outside the threatened ladder's
//! shadow leaves every move of that ladder possible and as good as before, so only replies in
//! the shadow are tried. See `LadderReader::verdict_with_shadow` for what the shadow holds.

use crate::{Board, Color, First, LadderReader, LadderVerdict, Point, PointSet};

/// Net moves in a row before the ladder has to work.
const DEFAULT_NET_MOVES: usize = 3;

/// Moves tried for one answer, ladders included.
const DEFAULT_NODES: usize = 200_000;

/// The attacker's net moves lie no further from the prey than this, counted along lines.
const CANDIDATE_DISTANCE: usize = 3;

/// After one move and a pass a ladder must work, which needs two liberties at most.
const MOST_LIBERTIES: usize = 3;

/// How the attack on a block ends when nets are read too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetaReading {
    /// How it ends, the attacker moving first.
    pub verdict: LadderVerdict,
    /// The attacker's first moves that capture, by ladder or net.
    pub working_moves: Vec<Point>,
    /// Whether a ladder alone captures.
    pub is_ladder: bool,
    /// How many moves were tried.
    pub nodes: usize,
}

/// Reads nets.
pub struct GetaReader {
    ladders: LadderReader,
    net_moves: usize,
    budget: usize,
    nodes: usize,
    exhausted: bool,
}

impl Default for GetaReader {
    fn default() -> GetaReader {
        GetaReader::new(DEFAULT_NET_MOVES, DEFAULT_NODES)
    }
}

impl GetaReader {
    /// A reader that plays at most `net_moves` net moves in a row and tries at most `nodes`
    /// moves for one answer.
    pub fn new(net_moves: usize, nodes: usize) -> GetaReader {
        GetaReader {
            ladders: LadderReader::default(),
            net_moves,
            budget: nodes,
            nodes: 0,
            exhausted: false,
        }
    }

    /// Can the attacker, moving first, capture the block at `prey`? The board is used to try
    /// moves on and is returned as it was.
    ///
    /// # Panics
    /// If there is no stone at `prey`.
    pub fn read(&mut self, board: &mut Board, prey: Point) -> GetaReading {
        let Some(defender) = board.stone(prey) else {
            panic!("there is no stone at {prey} to read a net for");
        };
        self.nodes = 0;
        self.exhausted = false;
        let (mut working_moves, complete) = self.ladders.capturing_moves(board, prey);
        self.nodes += self.ladders.nodes();
        self.exhausted |= !complete;
        let is_ladder = !working_moves.is_empty();
        let mut unknown = false;
        for candidate in candidates(board, prey, defender) {
            if working_moves.contains(&candidate) {
                continue;
            }
            self.exhausted = false;
            if self.net_move_works(board, prey, defender, candidate, self.net_moves) {
                working_moves.push(candidate);
            }
            unknown |= self.exhausted;
        }
        let verdict = match working_moves.is_empty() {
            false => LadderVerdict::Captured,
            true if unknown || !complete => LadderVerdict::Unknown,
            true => LadderVerdict::Escapes,
        };
        GetaReading {
            verdict,
            working_moves,
            is_ladder,
            nodes: self.nodes,
        }
    }

    /// The net moves that are looked at: empty points near the liberties of the block at `prey`.
    /// None when it has too many liberties for a net.
    ///
    /// # Panics
    /// If there is no stone at `prey`.
    pub fn candidates(board: &Board, prey: Point) -> Vec<Point> {
        let Some(defender) = board.stone(prey) else {
            panic!("there is no stone at {prey} to look for a net around");
        };
        candidates(board, prey, defender)
    }

    /// Attacker to move: is the prey captured with at most `net_moves` net moves?
    fn captured(
        &mut self,
        board: &mut Board,
        prey: Point,
        defender: Color,
        net_moves: usize,
    ) -> bool {
        match self.ladder(board, prey) {
            LadderVerdict::Captured => return true,
            LadderVerdict::Unknown => return false,
            LadderVerdict::Escapes => {}
        }
        if net_moves == 0 {
            return false;
        }
        candidates(board, prey, defender)
            .into_iter()
            .any(|candidate| self.net_move_works(board, prey, defender, candidate, net_moves))
    }

    fn net_move_works(
        &mut self,
        board: &mut Board,
        prey: Point,
        defender: Color,
        candidate: Point,
        net_moves: usize,
    ) -> bool {
        if self.is_used_up() || !board.is_legal(candidate, defender.opponent()) {
            return false;
        }
        let undo = board.play(candidate, defender.opponent());
        self.nodes += 1;
        let works = self.every_reply_fails(board, prey, defender, net_moves);
        board.undo(undo);
        works
    }

    fn every_reply_fails(
        &mut self,
        board: &mut Board,
        prey: Point,
        defender: Color,
        net_moves: usize,
    ) -> bool {
        let pass = board.pass();
        let (threat, shadow) = self
            .ladders
            .verdict_with_shadow(board, prey, First::Attacker);
        board.undo(pass);
        self.count_ladder(threat);
        if threat != LadderVerdict::Captured {
            return false;
        }
        for reply in shadow.iter() {
            // As in a ladder, the defender has a threat for every ko.
            if !board.is_empty(reply) || board.is_suicide(reply, defender) {
                continue;
            }
            let undo = board.play(reply, defender);
            self.nodes += 1;
            let captured = self.captured(board, prey, defender, net_moves - 1);
            board.undo(undo);
            if !captured {
                return false;
            }
        }
        true
    }

    fn ladder(&mut self, board: &mut Board, prey: Point) -> LadderVerdict {
        let verdict = self.ladders.verdict(board, prey, First::Attacker);
        self.count_ladder(verdict);
        verdict
    }

    fn count_ladder(&mut self, verdict: LadderVerdict) {
        self.nodes += self.ladders.nodes();
        self.exhausted |= verdict == LadderVerdict::Unknown;
    }

    fn is_used_up(&mut self) -> bool {
        self.exhausted |= self.nodes > self.budget;
        self.exhausted
    }
}

/// The liberties of the block, and the liberties it would gain by a move on one of them.
fn near_liberties(board: &Board, prey: Point, defender: Color) -> PointSet {
    let liberties: PointSet = board.liberties(prey).collect();
    let mut near = liberties.grown() & board.empty_set();
    for liberty in liberties.iter() {
        for friend in board.adjacent_blocks(liberty, defender) {
            near.extend(board.liberties(friend));
        }
    }
    near
}

/// Where the attacker looks for a net move.
fn candidates(board: &Board, prey: Point, defender: Color) -> Vec<Point> {
    if board.liberty_count(prey) > MOST_LIBERTIES {
        return Vec::new();
    }
    let is_close = |point: &Point| {
        let distance = |stone: Point| stone.x().abs_diff(point.x()) + stone.y().abs_diff(point.y());
        board
            .stones(prey)
            .any(|stone| distance(stone) <= CANDIDATE_DISTANCE)
    };
    near_liberties(board, prey, defender)
        .iter()
        .filter(is_close)
        .collect()
}

//! The first door: what the search must know about a game, on one page.

use std::fmt::Debug;

use crate::outlook::Outlook;

/// One of at most two players. Single-player games only use `First`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The player in whose favour every value of this crate counts.
    First,
    /// The opponent.
    Second,
}

impl Side {
    /// Turns a value for `First` into a value for this side, or back: the
    /// map is its own inverse.
    pub fn view(self, value: f64) -> f64 {
        match self {
            Side::First => value,
            Side::Second => 1.0 - value,
        }
    }

    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// Who decides what happens next in a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// A player chooses a move.
    Player(Side),
    /// Nature draws one of [`Game::outcomes`].
    Chance,
    /// The game is over; the value for [`Side::First`], in `0.0..=1.0`.
    Over(f64),
}

/// A position, with whatever history its rules need.
///
/// All values are for [`Side::First`] and lie in `0.0..=1.0` (a winning
/// probability, or a utility scaled to that range). The search clones the
/// root once a simulation (through `clone_from`, so an implementation may
/// reuse its buffers) and plays the simulation's moves on the copy; no lock
/// is held while any of these methods runs.
pub trait Game: Clone + Send + Sync {
    /// A move or a chance outcome: small, opaque to the search.
    type Move: Copy + Eq + Debug + Send + Sync;

    /// What evaluators say of a position beyond value and priors; `()` for nothing.
    type Outlook: Outlook;

    /// Who decides here, or how the game ended.
    fn turn(&self) -> Turn;

    /// Appends every move the rules allow the player to move. The search
    /// expands nodes with the moves the evaluator lists; this list serves
    /// evaluators that know no better.
    fn moves(&self, moves: &mut Vec<Self::Move>);

    /// Plays a move, or applies a chance outcome.
    fn play(&mut self, mv: Self::Move);

    /// Appends the outcomes of a chance position with their probabilities
    /// (normalised by the search).
    fn outcomes(&self, _outcomes: &mut Vec<(Self::Move, f32)>) {}

    /// False if the move just played turns out to be forbidden by something
    /// too dear to ask of every move (superko). Asked once for each node,
    /// when it is first reached; the simulation is then discarded, is not
    /// counted, and the move is never tried again.
    fn is_valid(&self) -> bool {
        true
    }

    /// What is known of a finished game beyond its value: a final score, say.
    fn final_outlook(&self) -> Self::Outlook {
        Self::Outlook::default()
    }

    /// The moves and outcomes that lead from `earlier` to this position: an
    /// empty list if both are the same to the search (rules, komi, history),
    /// `None` if this position does not descend from `earlier`.
    ///
    /// This is how statistics are found again after a move or an undo.
    fn path_from(&self, earlier: &Self) -> Option<Vec<Self::Move>>;
}

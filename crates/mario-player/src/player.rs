//! The one interface all players share.

use mario::{Board, Game, Pill, Placement};
use search::EvaluateError;

/// What a player may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub board: Board,
    /// The pill to place.
    pub pill: Pill,
    /// The pill after it, when the rules show it.
    pub next: Option<Pill>,
    /// Viruses the game began with.
    pub viruses_at_start: u32,
    /// Pills placed before this one.
    pub placed: u32,
}

impl View {
    /// What the console shows in a game: the next pill too.
    pub fn of(game: &Game) -> Self {
        Self {
            next: Some(game.next_pill()),
            ..Self::without_next(game)
        }
    }

    /// The same without the next pill, as round 0 plays.
    pub(crate) fn without_next(game: &Game) -> Self {
        Self {
            board: *game.board(),
            pill: game.pill(),
            next: None,
            viruses_at_start: game.viruses_at_start(),
            placed: game.placed(),
        }
    }
}

/// What a player decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Where the pill goes.
    pub placement: Placement,
    /// Everything considered, with its weight: mean utility, visits, or a rank's share.
    pub weights: Vec<(Placement, f64)>,
    /// Positions looked at to decide.
    pub positions: u64,
}

/// Decides where pills go.
pub trait Player: Send {
    /// The decision in a position; `None` when no placement is left. It fails when a network's evaluator does.
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError>;

    /// Forgets the game played so far.
    fn new_game(&mut self) {}
}

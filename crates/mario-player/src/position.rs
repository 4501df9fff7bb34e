//! A position as the tree search sees it: placements by the player, pills by chance.
//!
//! The pills the player can see are placed first, one after the other; from then on each pill is
//! drawn, all nine alike. (The console's list is not quite even, and after the first placement
//! one more pill would be shown; both are left out, as in the original.)

use mario::{Board, Pill, Placement, flood};
use search::{Game, Side, Turn};

use crate::player::View;

/// A placement or a drawn pill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The player places the pill.
    Place(Placement),
    /// Chance deals the next pill.
    Draw(Pill),
}

/// In the tree a line is lost once more pills than this in a row cleared no virus.
pub(crate) const BARREN_LIMIT: u32 = 20;

/// How the ends of games are valued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utility {
    /// Round 0's: share of viruses cleared; live longer if losing, finish faster otherwise.
    Progress,
    /// One for a win, a little less for a late one; nothing for a loss.
    Win,
    /// The network's: a win is worth the more the sooner it comes, a loss the more viruses were cleared.
    Pace,
}

/// Under [`Utility::Pace`], wins lie above one half by how soon they come, losses below one quarter.
const PACE_SHARE: f64 = 0.5;
const LOSS_SHARE: f64 = 0.25;

/// A win that takes this many pills for each virus at the root, and a few more, is of middling pace.
const USUAL_PILLS_PER_VIRUS: f64 = 2.0;
const USUAL_PILLS_MORE: f64 = 4.0;

/// A win `pills` placements after the root is worth this much less than one.
fn lateness(pills: u32) -> f64 {
    const LATEST: f64 = 0.1;
    LATEST * half_life(pills)
}

/// Grows from 0 towards 1, one half at twenty pills.
fn half_life(pills: u32) -> f64 {
    f64::from(pills) / (f64::from(pills) + 20.0)
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Position {
    board: Board,
    /// `None` when chance is to draw it.
    pill: Option<Pill>,
    next: Option<Pill>,
    utility: Utility,
    viruses_at_start: u32,
    placed: u32,
    placed_at_root: u32,
    viruses_at_root: u32,
    /// Pills in a row, since the root, that cleared no virus.
    barren: u32,
    /// Moves since the game began, for finding the tree again.
    line: Vec<Move>,
}

impl Position {
    /// The root for a view.
    pub fn new(view: &View, utility: Utility) -> Self {
        Self {
            board: view.board,
            pill: Some(view.pill),
            next: view.next,
            utility,
            viruses_at_start: view.viruses_at_start,
            placed: view.placed,
            placed_at_root: view.placed,
            viruses_at_root: view.board.viruses_left(),
            barren: 0,
            line: Vec::new(),
        }
    }

    /// The same, reached by `line` from the start of the game.
    pub(crate) fn reached_by(self, line: Vec<Move>) -> Self {
        Self { line, ..self }
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The pill to place, unless chance is to draw it.
    pub fn pill(&self) -> Option<Pill> {
        self.pill
    }

    /// The pill after it, if it is known.
    pub fn next(&self) -> Option<Pill> {
        self.next
    }

    /// Viruses cleared since the game began.
    pub fn viruses_cleared(&self) -> u32 {
        self.viruses_at_start
            .saturating_sub(self.board.viruses_left())
    }

    /// Viruses the game began with.
    pub fn viruses_at_start(&self) -> u32 {
        self.viruses_at_start
    }

    /// Pills placed since the game began.
    pub fn placed(&self) -> u32 {
        self.placed
    }

    /// Pills placed since the root.
    pub(crate) fn placed_since_root(&self) -> u32 {
        self.placed - self.placed_at_root
    }

    /// What [`Utility::Pace`] gives a win that takes `pills_more` from here.
    pub(crate) fn win_value(&self, pills_more: f64) -> f64 {
        let pills = f64::from(self.placed_since_root()) + pills_more.max(0.0);
        let usual = USUAL_PILLS_PER_VIRUS * f64::from(self.viruses_at_root) + USUAL_PILLS_MORE;
        1.0 - PACE_SHARE * pills / (pills + usual)
    }

    /// What [`Utility::Pace`] gives a loss before which `cleared_more` viruses are cleared.
    pub(crate) fn loss_value(&self, cleared_more: f64) -> f64 {
        let cleared = f64::from(self.viruses_cleared()) + cleared_more.max(0.0);
        LOSS_SHARE * (cleared / f64::from(self.viruses_at_start.max(1))).min(1.0)
    }

    /// The value of the position if the game ends here.
    fn ending(&self) -> Option<f64> {
        let won = self.board.viruses_left() == 0;
        let topped_out = !won && self.board.is_topped_out();
        let stalled = self.barren > BARREN_LIMIT;
        if !(won || topped_out || stalled) {
            return None;
        }
        Some(match self.utility {
            Utility::Win if won => 1.0 - lateness(self.placed_since_root()),
            Utility::Win => 0.0,
            Utility::Pace if won => self.win_value(0.0),
            Utility::Pace => self.loss_value(0.0),
            Utility::Progress => self.progress(topped_out),
        })
    }

    /// Round 0's utility: viruses cleared, and half a virus at most for time.
    fn progress(&self, topped_out: bool) -> f64 {
        let time = half_life(self.placed);
        let bonus = if topped_out { time } else { 1.0 - time };
        (f64::from(self.viruses_cleared()) + bonus) / (f64::from(self.viruses_at_start) + 1.0)
    }
}

impl Game for Position {
    type Move = Move;
    type Outlook = ();

    fn turn(&self) -> Turn {
        match self.ending() {
            Some(value) => Turn::Over(value),
            None if self.pill.is_some() => Turn::Player(Side::First),
            None => Turn::Chance,
        }
    }

    fn moves(&self, moves: &mut Vec<Move>) {
        if let Some(pill) = self.pill {
            moves.extend(flood(&self.board).placements(pill).map(Move::Place));
        }
    }

    fn play(&mut self, mv: Move) {
        self.line.push(mv);
        match (mv, self.pill) {
            (Move::Place(placement), Some(pill)) => {
                let outcome = self.board.play(pill, placement);
                self.placed += 1;
                self.barren = if outcome.viruses > 0 {
                    0
                } else {
                    self.barren + 1
                };
                self.pill = self.next.take();
            }
            (Move::Draw(pill), None) => self.pill = Some(pill),
            _ => debug_assert!(false, "{mv:?} out of turn"),
        }
    }

    fn outcomes(&self, outcomes: &mut Vec<(Move, f32)>) {
        outcomes.extend(Pill::all().map(|pill| (Move::Draw(pill), 1.0)));
    }

    fn path_from(&self, earlier: &Self) -> Option<Vec<Move>> {
        let path = self.line.strip_prefix(&earlier.line[..])?;
        // The root's limits count from the root, so they do not hold two different trees apart;
        // what is known of the pills does.
        let same = !path.is_empty()
            || (self.board, self.pill, self.next) == (earlier.board, earlier.pill, earlier.next);
        let shown = earlier.next.is_none() || path.is_empty();
        (same && shown).then(|| path.to_vec())
    }
}

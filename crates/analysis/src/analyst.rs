//! The door between the protocol and what plays Go: one position in, findings out.

use std::sync::atomic::{AtomicBool, Ordering};

use go::{Color, Move};

use crate::query::Query;

/// Analyses positions. Shared by all threads of a server; concurrent calls may share batches of the network.
pub trait Analyst: Send + Sync {
    /// Searches the position after `turn` moves of a query until its limits are met or `watch` says stop. An error
    /// is a sentence for the client.
    fn analyse(
        &self,
        query: &Query,
        turn: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Findings, String>;

    /// Whether a network can say what people would play.
    fn imitates_people(&self) -> bool {
        false
    }

    /// The networks in use.
    fn models(&self) -> Vec<Model>;

    /// Forgets all evaluations.
    fn clear_cache(&self);
}

/// How a running analysis is stopped and listened to.
pub struct Watch<'a> {
    pub(crate) stop: &'a AtomicBool,
    pub(crate) on_report: &'a mut dyn FnMut(Findings),
}

impl Watch<'_> {
    /// Whether the client no longer wants it.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends what is known so far, while the search goes on.
    pub fn report(&mut self, findings: Findings) {
        (self.on_report)(findings);
    }
}

/// A network in use.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The file's name.
    pub name: String,
    /// What the network calls itself.
    pub internal_name: String,
    /// Positions evaluated together at most.
    pub max_batch: usize,
    /// The version of its format.
    pub version: i64,
    /// Whether it imitates people, and is told whom.
    pub imitates_people: bool,
}

/// What a search found. Chances, scores and ownership are Black's, points row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Who is to move.
    pub to_move: Color,
    /// The position as a whole.
    pub root: RootFindings,
    /// Its moves, the best first.
    pub moves: Vec<MoveFindings>,
    /// Who will own each point: 1 for Black, -1 for White.
    pub ownership: Option<Vec<f32>>,
    /// How far the tree disagrees about that.
    pub ownership_spread: Option<Vec<f32>>,
    /// The network's chance for each point and last for a pass; none for illegal moves.
    pub policy: Option<Vec<Option<f32>>>,
    /// How likely a person is to play each move, in the same order.
    pub human_policy: Option<Vec<Option<f32>>>,
}

/// The position as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RootFindings {
    /// Visits of the search.
    pub visits: u64,
    pub weight: f64,
    /// What the search backed up.
    pub values: Values,
    /// What the network says without search.
    pub raw: Values,
    /// The network's own error estimate of the win-loss value; -1 if it has none.
    pub raw_winloss_error: f64,
    /// The same of the score.
    pub raw_score_error: f64,
    /// Turns until the outcome is clear; -1 if the network does not say.
    pub raw_variance_time: f64,
    /// A hash of the position.
    pub hash: u128,
    /// The same for all positions that are symmetric to it.
    pub symmetry_hash: u128,
}

/// Mean values of a tree or a network, Black's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// Chance of winning, draws counted half.
    pub winrate: f64,
    /// What the search maximises; the winrate on a scale of -1 to 1 where the network knows no score.
    pub utility: f64,
    /// Points ahead.
    pub lead: f64,
    /// Expected score of self-play.
    pub score: f64,
    /// Its standard deviation.
    pub score_spread: f64,
    /// Chance that the game has no result.
    pub no_result: f64,
}

/// One move of the root.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveFindings {
    pub mv: Move,
    /// Visits below it.
    pub visits: u64,
    /// Visits that came from the root.
    pub edge_visits: u64,
    /// Weight of those visits.
    pub weight: f64,
    /// What was backed up from it.
    pub values: Values,
    /// How much less than `values` is likely, for the side to move: winrate and utility.
    pub winrate_bound: f64,
    /// The same of the utility.
    pub utility_bound: f64,
    /// The network's prior.
    pub prior: f64,
    /// How likely a person is to play it, if a human-imitation network was asked.
    pub human_prior: Option<f64>,
    /// How much it is preferred when a move is chosen.
    pub play_value: f64,
    /// The move it is the mirror image of, if that was searched instead.
    pub symmetry_of: Option<Move>,
    /// The line expected, this move first, and the visits of each.
    pub pv: Vec<(Move, u64)>,
    /// Ownership after it.
    pub ownership: Option<Vec<f32>>,
    /// And its spread.
    pub ownership_spread: Option<Vec<f32>>,
}

//! White's winrate as a function of komi, for each colour's turn, known at the points asked so far.
//!
//! A decision reads the curves as if every point were known. Where one is not, reading fails
//! with the points that are wanted; they are evaluated, together with whatever else is likely
//! to be wanted soon, in one network batch, and the decision is taken again from the start.
//! Decisions are cheap and evaluations are not, so this trades nothing for full batches.

use std::collections::HashMap;

use go::Color;

/// A point of a curve: the winrate of the positions with `turn` to move, at `komi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Whose turn it is in the positions.
    pub turn: Color,
    /// The komi to tell the network.
    pub komi: f64,
}

impl Request {
    fn key(self) -> (Color, u64) {
        // Adding zero turns -0.0 into 0.0, so that the two are one point.
        (self.turn, (self.komi + 0.0).to_bits())
    }
}

/// The points that a decision wanted and did not find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missing(pub Vec<Request>);

/// What is known of the two curves.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    known: HashMap<(Color, u64), f64>,
}

impl Curves {
    /// Nothing known.
    pub fn new() -> Curves {
        Curves::default()
    }

    /// Adds White's mean winrate at a point.
    pub fn insert(&mut self, request: Request, white_winrate: f64) {
        self.known.insert(request.key(), white_winrate);
    }

    /// White's winrates on `turn` at each komi, or those that are not known yet.
    pub fn winrates(&self, turn: Color, komi: &[f64]) -> Result<Vec<f64>, Missing> {
        let requests = komi.iter().map(|&komi| Request { turn, komi });
        let missing: Vec<Request> = requests
            .clone()
            .filter(|r| !self.known.contains_key(&r.key()))
            .collect();
        if missing.is_empty() {
            Ok(requests.map(|request| self.known[&request.key()]).collect())
        } else {
            Err(Missing(missing))
        }
    }

    /// White's winrate on `turn` at one komi.
    pub fn winrate(&self, turn: Color, komi: f64) -> Result<f64, Missing> {
        self.winrates(turn, &[komi]).map(|winrates| winrates[0])
    }
}

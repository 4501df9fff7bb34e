//! What an evaluator says of a position beyond value and priors.
//!
//! A network may also predict a score, its spread, who will own which point, or how sure it is. What that is
//! belongs to the game; the search only averages it over the tree, weighs evaluations by it, and asks how good an
//! average is for the players. A game that plays for the value alone says `type Outlook = ()`.

use std::fmt::Debug;

/// What an evaluator says of one position beyond value and priors. Everything counts for
/// [`Side::First`](crate::Side::First).
pub trait Outlook: Clone + Debug + Default + PartialEq + Send + Sync + 'static {
    /// The numbers that are averaged over the tree.
    type Means: Means;
    /// What is maximised under [`Rule::Utility`](crate::Rule::Utility).
    type Utility: Utility<Self>;

    /// The numbers of this position.
    fn means(&self) -> Self::Means;

    /// Bytes it owns outside itself, for the limit on the tree's memory.
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// Numbers with a weighted mean.
pub trait Means: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Adds `weight` times `other`.
    fn add(&mut self, other: &Self, weight: f64);

    /// Every number times `factor`.
    #[must_use]
    fn scaled(&self, factor: f64) -> Self;
}

/// What one search maximises. It stays the same for a whole run; when it differs from that of the run before,
/// the utilities of the tree that was kept are computed again.
pub trait Utility<O: Outlook>: Clone + Debug + Default + PartialEq + Send + Sync + 'static {
    /// The utility for [`Side::First`](crate::Side::First) of one evaluation or of one finished game.
    fn of(&self, value: f64, means: &O::Means) -> f64;

    /// The weight of an evaluation: 1, or more for one that is sure of itself.
    fn weight(&self, outlook: &O) -> f64;

    /// The weight of a finished game, whose result is certain.
    fn weight_of_end(&self) -> f64;

    /// Utilities lie between minus this and this.
    fn radius(&self) -> f64;
}

impl Outlook for () {
    type Means = ();
    type Utility = ();

    fn means(&self) {}
}

impl Means for () {
    fn add(&mut self, _other: &(), _weight: f64) {}

    fn scaled(&self, _factor: f64) {}
}

/// Winning is all there is: the value, spread from -1 to 1.
impl Utility<()> for () {
    fn of(&self, value: f64, _means: &()) -> f64 {
        2.0 * value - 1.0
    }

    fn weight(&self, _outlook: &()) -> f64 {
        1.0
    }

    fn weight_of_end(&self) -> f64 {
        1.0
    }

    fn radius(&self) -> f64 {
        1.0
    }
}

//! The second door: judging leaves, and two judges that need no network.

use std::{error::Error, fmt, sync::Arc};

use rand::RngExt;

use crate::game::{Game, Turn};
use crate::outlook::Outlook;

/// The random generator handed to evaluators: seeded, one a worker.
pub type SearchRng = rand_xoshiro::Xoshiro256PlusPlus;

/// What an evaluator says about one position.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation<M, O = ()> {
    /// Value for [`Side::First`](crate::Side::First) in `0.0..=1.0`, or
    /// `None` if the evaluator cannot vouch for a value here; see
    /// [`WithoutValue`](crate::WithoutValue).
    pub value: Option<f64>,
    /// The candidate moves with their priors. The search divides priors by
    /// their sum (all equal if the sum vanishes) and sorts them; equal priors
    /// stay in the order given. Ignored at chance positions.
    pub priors: Vec<(M, f32)>,
    /// What else it says.
    pub outlook: O,
}

/// Why positions could not be evaluated. It ends the search, and its text is for the user.
#[derive(Clone, Debug)]
pub struct EvaluateError(Arc<dyn Error + Send + Sync>);

impl EvaluateError {
    /// From whatever went wrong.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> EvaluateError {
        EvaluateError(cause.into().into())
    }
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for EvaluateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// The evaluations of a game's positions.
pub type Evaluations<G> = Vec<Evaluation<<G as Game>::Move, <G as Game>::Outlook>>;

/// The averages of a game's outlooks.
pub type MeansOf<G> = <<G as Game>::Outlook as Outlook>::Means;

/// What a game's search maximises under [`Rule::Utility`](crate::Rule::Utility).
pub type UtilityOf<G> = <<G as Game>::Outlook as Outlook>::Utility;

/// Judges batches of leaves. Runs on several threads at once, no lock held.
pub trait Evaluate<G: Game>: Sync {
    /// Appends one evaluation for each of `leaves`, in order.
    ///
    /// Leaves are never finished games. Chance positions appear only under
    /// [`ChanceLeaf::Evaluate`](crate::ChanceLeaf::Evaluate). Randomness must
    /// come from `rng` for a search to be repeatable.
    fn evaluate(
        &self,
        leaves: &[G],
        rng: &mut SearchRng,
        evaluations: &mut Evaluations<G>,
    ) -> Result<(), EvaluateError>;

    /// What a run from `root` maximises under [`Rule::Utility`](crate::Rule::Utility). `means` are those of the
    /// tree that was kept, or of the root's own evaluation.
    fn utility(&self, _root: &G, _means: &MeansOf<G>) -> UtilityOf<G> {
        UtilityOf::<G>::default()
    }
}

impl<G: Game, E: Evaluate<G> + ?Sized> Evaluate<G> for &E {
    fn evaluate(
        &self,
        leaves: &[G],
        rng: &mut SearchRng,
        evaluations: &mut Evaluations<G>,
    ) -> Result<(), EvaluateError> {
        (**self).evaluate(leaves, rng, evaluations)
    }

    fn utility(&self, root: &G, means: &MeansOf<G>) -> UtilityOf<G> {
        (**self).utility(root, means)
    }
}

/// Knows nothing: value one half, all legal moves alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<G: Game> Evaluate<G> for Uniform {
    fn evaluate(
        &self,
        leaves: &[G],
        _rng: &mut SearchRng,
        evaluations: &mut Evaluations<G>,
    ) -> Result<(), EvaluateError> {
        for leaf in leaves {
            evaluations.push(Evaluation {
                value: Some(0.5),
                priors: uniform_priors(leaf),
                outlook: G::Outlook::default(),
            });
        }
        Ok(())
    }
}

/// Plays random moves to the end of the game and reports the result; all
/// legal moves alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rollout;

impl<G: Game> Evaluate<G> for Rollout {
    fn evaluate(
        &self,
        leaves: &[G],
        rng: &mut SearchRng,
        evaluations: &mut Evaluations<G>,
    ) -> Result<(), EvaluateError> {
        for leaf in leaves {
            evaluations.push(Evaluation {
                value: Some(rollout(leaf.clone(), rng)),
                priors: uniform_priors(leaf),
                outlook: G::Outlook::default(),
            });
        }
        Ok(())
    }
}

fn uniform_priors<G: Game>(state: &G) -> Vec<(G::Move, f32)> {
    if state.turn() == Turn::Chance {
        return Vec::new();
    }
    let mut moves = Vec::new();
    state.moves(&mut moves);
    moves.into_iter().map(|mv| (mv, 1.0)).collect()
}

fn rollout<G: Game>(mut state: G, rng: &mut SearchRng) -> f64 {
    let mut moves = Vec::new();
    let mut outcomes = Vec::new();
    loop {
        match state.turn() {
            Turn::Over(value) => return value,
            Turn::Chance => {
                outcomes.clear();
                state.outcomes(&mut outcomes);
                state.play(draw(&outcomes, rng));
            }
            Turn::Player(_) => {
                moves.clear();
                state.moves(&mut moves);
                // A player without a move in an unfinished game: nobody won.
                if moves.is_empty() {
                    return 0.5;
                }
                state.play(moves[rng.random_range(0..moves.len())]);
            }
        }
    }
}

/// Draws an outcome by probability.
fn draw<M: Copy>(outcomes: &[(M, f32)], rng: &mut SearchRng) -> M {
    let total: f32 = outcomes.iter().map(|outcome| outcome.1).sum();
    let mut left = rng.random::<f32>() * total;
    for &(outcome, probability) in outcomes {
        left -= probability;
        if left < 0.0 {
            return outcome;
        }
    }
    outcomes[outcomes.len() - 1].0
}

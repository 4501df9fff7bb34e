//! What a network sees of a position, and how its numbers are read.
//!
//! Each family of networks has its own planes, its own globals and its own outputs. An [`Encoder`] is the whole
//! difference: it turns a position into an input row and an output row into an [`Opinion`]. Everything above it
//! ([`Judge`](crate::Judge), search, review) is the same for all families.

mod katago;
mod leela;
mod tengen;

use go::{BoardSize, Symmetry};

use crate::position::Position;

pub use katago::{HumanProfile, KataEncoder, KataScales, KataTraits};
pub use leela::LeelaEncoder;
pub use tengen::{SCORE_UNIT, TengenEncoder, TengenFeatures};

/// What a network says about a position. All values are for the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// The chance of each point to be played, row by row from the bottom, and last of passing. Occupied and
    /// illegal points have whatever the network gave them, or 0 if the encoder masks them.
    pub policy: Box<[f32]>,
    /// The winning chance; a game without result counts half.
    pub winrate: f32,
    /// The chance that the game ends without a result, as after a triple ko; 0 if the network does not say.
    pub no_result: f32,
    /// The expected score, for networks that predict it.
    pub score: Option<ScoreOpinion>,
    /// Who will own each point, from -1 (opponent) to 1, row by row from the bottom.
    pub ownership: Option<Box<[f32]>>,
}

/// What a network says about the score. Points are for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreOpinion {
    /// The mean score at the end of a self-play game, komi included.
    pub mean: f32,
    /// The mean of the squared score.
    pub mean_square: f32,
    /// How many points the side to move is ahead: the number to show to people.
    pub lead: f32,
    /// How much the score is still going to move, in turns, if the network says so.
    pub variance_time: Option<f32>,
    /// How wrong the network expects to be, if it says so.
    pub errors: Option<ShortTermErrors>,
}

impl ScoreOpinion {
    /// The standard deviation of the score.
    pub fn spread(&self) -> f32 {
        (self.mean_square - self.mean * self.mean).max(0.0).sqrt()
    }
}

/// How far a network expects its own opinion to be off a few moves later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortTermErrors {
    /// Error of win minus loss, which lies in -1..=1.
    pub win_loss: f32,
    /// Error of the score in points.
    pub score: f32,
}

impl Opinion {
    /// Bytes it takes on the heap, its own size included.
    pub(crate) fn bytes(&self) -> usize {
        let ownership = self.ownership.as_deref().map_or(0, size_of_val);
        size_of::<Opinion>() + size_of_val(&*self.policy) + ownership
    }

    /// The mean of several opinions of one position.
    pub(crate) fn mean<'a>(
        opinions: impl ExactSizeIterator<Item = &'a Opinion>,
    ) -> Option<Opinion> {
        let share = 1.0 / opinions.len() as f32;
        opinions
            .map(|opinion| opinion.scaled(share))
            .reduce(Opinion::plus)
    }

    fn scaled(&self, factor: f32) -> Opinion {
        let all = |values: &[f32]| values.iter().map(|value| value * factor).collect();
        Opinion {
            policy: all(&self.policy),
            winrate: self.winrate * factor,
            no_result: self.no_result * factor,
            score: self.score.map(|score| ScoreOpinion {
                mean: score.mean * factor,
                mean_square: score.mean_square * factor,
                lead: score.lead * factor,
                variance_time: score.variance_time.map(|time| time * factor),
                errors: score.errors.map(|errors| ShortTermErrors {
                    win_loss: errors.win_loss * factor,
                    score: errors.score * factor,
                }),
            }),
            ownership: self.ownership.as_deref().map(all),
        }
    }

    fn plus(mut self, other: Opinion) -> Opinion {
        let add = |to: &mut [f32], from: &[f32]| {
            to.iter_mut().zip(from).for_each(|(sum, part)| *sum += part);
        };
        add(&mut self.policy, &other.policy);
        self.winrate += other.winrate;
        self.no_result += other.no_result;
        if let (Some(to), Some(from)) = (&mut self.ownership, &other.ownership) {
            add(to, from);
        }
        if let (Some(to), Some(from)) = (&mut self.score, other.score) {
            to.mean += from.mean;
            to.mean_square += from.mean_square;
            to.lead += from.lead;
            to.variance_time = to.variance_time.zip(from.variance_time).map(|(a, b)| a + b);
            to.errors = to.errors.zip(from.errors).map(|(a, b)| ShortTermErrors {
                win_loss: a.win_loss + b.win_loss,
                score: a.score + b.score,
            });
        }
        self
    }
}

/// Turns positions into input rows and output rows into opinions, for one family of networks on one board size.
pub trait Encoder: Send + Sync {
    /// The family and version of the network, as people call it: `Leela Zero version 1`.
    fn family(&self) -> String;

    /// The version of the file's format that the network came in.
    fn version(&self) -> u32;

    /// Whether the network imitates people of a rank, which [`NetworkView`](crate::NetworkView) names.
    fn imitates_people(&self) -> bool {
        false
    }

    /// The only board size it encodes.
    fn size(&self) -> BoardSize;

    /// A number that differs, as far as 128 bits can, whenever the network would see something else or its numbers
    /// would be read differently. The symmetry is the caller's to add.
    fn key(&self, position: &Position) -> u128;

    /// Writes the input row of a position, seen through a symmetry.
    fn write(&self, position: &Position, symmetry: Symmetry, row: &mut [f32]);

    /// Reads the output row of the same position through the same symmetry.
    fn read(&self, position: &Position, symmetry: Symmetry, row: &[f32]) -> Opinion;

    /// The encoder itself if it is Leela Zero's, whose networks alone can be told another komi by their turn planes.
    fn as_leela(&self) -> Option<&LeelaEncoder> {
        None
    }
}

/// A network whose inputs and outputs are not those of a Go network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a network for Go: {0}")]
pub struct NotForGo(pub(crate) String);

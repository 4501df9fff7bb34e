//! The network's opinion of positions, remembered, and offered to the search.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use go::{BoardSize, Move, Symmetry};
use net::{Cache, CacheStatistics, Evaluator, IoShape};
use search::{Evaluate, EvaluateError, Evaluations, SearchRng};

use crate::{
    encoder::{Encoder, LeelaEncoder, NotForGo, Opinion},
    leaves::Leaves,
    outlook::{ScoreMeans, ScoreUtility},
    position::Position,
};

/// A side that is this sure to win may consider passing.
const PASS_WINRATE: f32 = 0.8;
/// Passing is considered when no more plays than this are left, or than the board's side is long.
const FEW_PLAYS: usize = 5;

/// A network with a memory.
///
/// The memory is keyed by everything the network sees, which its [`Encoder`] knows, and by the orientation of the
/// board.
pub struct Judge {
    evaluator: Arc<dyn Evaluator>,
    encoder: Arc<dyn Encoder>,
    cache: Cache<u128, Arc<Opinion>>,
    evaluations: AtomicU64,
}

impl Judge {
    /// A judge with a Leela Zero network and room for `cache_bytes` of opinions.
    pub fn new(evaluator: Arc<dyn Evaluator>, cache_bytes: usize) -> Result<Judge, NotForGo> {
        let encoder = LeelaEncoder::new(evaluator.shape())?;
        Ok(Judge::with_encoder(
            evaluator,
            Arc::new(encoder),
            cache_bytes,
        ))
    }

    /// A judge with a network of the family that the encoder is for.
    pub fn with_encoder(
        evaluator: Arc<dyn Evaluator>,
        encoder: Arc<dyn Encoder>,
        cache_bytes: usize,
    ) -> Judge {
        Judge {
            evaluator,
            encoder,
            cache: Cache::new(cache_bytes),
            evaluations: AtomicU64::new(0),
        }
    }

    /// The only board size it judges; a network for any board gets a judge for each size.
    pub fn size(&self) -> BoardSize {
        self.encoder.size()
    }

    /// What the network sees, and how its numbers are read.
    pub fn encoder(&self) -> &dyn Encoder {
        &*self.encoder
    }

    /// The shape of the network's rows.
    pub fn shape(&self) -> &IoShape {
        self.evaluator.shape()
    }

    /// Gives the memory another size; it starts empty.
    pub fn set_cache_bytes(&mut self, bytes: usize) {
        self.cache = Cache::new(bytes);
    }

    /// Whether the network knows scores, so that a search by utility makes sense.
    pub fn knows_score(&self) -> bool {
        self.encoder.as_leela().is_none()
    }

    /// How many positions the network itself has seen so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Forgets all opinions.
    pub fn clear_cache(&self) {
        self.cache.clear();
    }

    /// How the memory is used.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }

    /// The opinion of one position, seen through one symmetry.
    pub fn opinion(
        &self,
        position: &Position,
        symmetry: Symmetry,
    ) -> Result<Arc<Opinion>, EvaluateError> {
        let mut opinions = self.opinions(&[(position, symmetry)])?;
        Ok(opinions.swap_remove(0))
    }

    /// The mean opinion over all eight symmetries.
    pub fn mean_opinion(&self, position: &Position) -> Result<Opinion, EvaluateError> {
        let asked: Vec<_> = Symmetry::ALL.iter().map(|&s| (position, s)).collect();
        let opinions = self.opinions(&asked)?;
        let mean = Opinion::mean(opinions.iter().map(|opinion| &**opinion));
        Ok(mean.expect("there are eight"))
    }

    /// Opinions of many positions, in one batch for those not remembered.
    pub fn opinions(
        &self,
        asked: &[(&Position, Symmetry)],
    ) -> Result<Vec<Arc<Opinion>>, EvaluateError> {
        let keys: Vec<u128> = asked
            .iter()
            .map(|&(position, symmetry)| self.key(position, symmetry))
            .collect();
        let mut found: Vec<Option<Arc<Opinion>>> =
            keys.iter().map(|&key| self.cache.get(key)).collect();
        let missing: Vec<usize> = (0..asked.len()).filter(|&i| found[i].is_none()).collect();
        let misses: Vec<_> = missing.iter().map(|&index| asked[index]).collect();
        for (index, opinion) in missing.into_iter().zip(self.evaluate_anew(&misses)?) {
            let bytes = opinion.bytes();
            let opinion = Arc::new(opinion);
            self.cache.insert(keys[index], opinion.clone(), bytes);
            found[index] = Some(opinion);
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Opinions of many positions in one batch, past the memory.
    pub fn evaluate_anew(
        &self,
        asked: &[(&Position, Symmetry)],
    ) -> Result<Vec<Opinion>, EvaluateError> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let shape = self.evaluator.shape();
        let (input_len, output_len) = (shape.input_len(), shape.output_len());
        let mut inputs = vec![0.0; asked.len() * input_len];
        let mut outputs = vec![0.0; asked.len() * output_len];
        for (row, &(position, symmetry)) in inputs.chunks_exact_mut(input_len).zip(asked) {
            self.encoder.write(position, symmetry, row);
        }
        self.run(&inputs, &mut outputs)?;
        let rows = outputs.chunks_exact(output_len).zip(asked);
        let opinions =
            rows.map(|(row, &(position, symmetry))| self.encoder.read(position, symmetry, row));
        Ok(opinions.collect())
    }

    /// Runs the network on whole rows, past the memory.
    pub fn run(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        let count = inputs.len() / self.evaluator.shape().input_len();
        self.evaluations.fetch_add(count as u64, Ordering::Relaxed);
        let evaluated = self.evaluator.evaluate(inputs, outputs);
        evaluated.map_err(EvaluateError::new)
    }

    fn key(&self, position: &Position, symmetry: Symmetry) -> u128 {
        // An odd factor keeps eight keys of one position apart.
        self.encoder
            .key(position)
            .wrapping_add(symmetry.number() as u128)
            .wrapping_mul(0x2D35_8DCC_AA6C_78A5_8BB8_4B93_962E_ACC9)
    }
}

/// A judge alone: the board seen through a symmetry drawn at random, and KataGo's utility where the network knows
/// scores.
impl Evaluate<Position> for Judge {
    fn evaluate(
        &self,
        leaves: &[Position],
        rng: &mut SearchRng,
        evaluations: &mut Evaluations<Position>,
    ) -> Result<(), EvaluateError> {
        Leaves::new(self).evaluate(leaves, rng, evaluations)
    }

    fn utility(&self, root: &Position, means: &ScoreMeans) -> ScoreUtility {
        Leaves::new(self).utility(root, means)
    }
}

/// The moves worth searching: every legal play, and passing where it can make sense.
///
/// Points come in falling order, which is how Leela Zero breaks ties between equal priors.
pub fn candidates(position: &Position, opinion: &Opinion) -> Vec<(Move, f32)> {
    let size = position.size();
    let mut moves: Vec<(Move, f32)> = position
        .board()
        .empty_set()
        .iter()
        .map(|point| (Move::Play(point), opinion.policy[size.index(point)]))
        .filter(|&(mv, _)| position.is_legal(mv))
        .collect();
    moves.reverse();
    if considers_pass(position, opinion, moves.len()) {
        moves.push((Move::Pass, opinion.policy[size.area()]));
    }
    moves
}

fn considers_pass(position: &Position, opinion: &Opinion, plays: usize) -> bool {
    position.assumptions().always_considers_pass
        || plays <= FEW_PLAYS.max(position.size().get())
        || opinion.winrate > PASS_WINRATE && position.lead(position.to_move()) >= 0.0
}

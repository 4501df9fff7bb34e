//! The network's opinion of positions, remembered, and offered to the search.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use go::{BoardSize, Move, Symmetry};
use net::{
    cache::{Cache, CacheStatistics},
    evaluator::Evaluator,
    shape::IoShape,
};
use rand::RngExt;
use search::{Evaluate, EvaluateError, Evaluation, Game as _, SearchRng};

use crate::{
    dynamic_komi::Collector,
    encoder::{Encoder, LeelaEncoder, NotForGo, Opinion},
    position::{Position, side},
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
    fixed_symmetry: Option<Symmetry>,
    collector: Collector,
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
            fixed_symmetry: None,
            collector: Collector::default(),
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

    /// Always looks at the board this way, instead of a way drawn at random.
    pub fn set_fixed_symmetry(&mut self, symmetry: Option<Symmetry>) {
        self.fixed_symmetry = symmetry;
    }

    /// Keeps positions that a search has judged, for an adjustment of komi.
    pub fn collector(&self) -> &Collector {
        &self.collector
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

    /// The value of a position for Black, if it counts. A root always has one: where the network's
    /// own does not count, the best move's is taken.
    fn value(
        &self,
        position: &Position,
        opinion: &Opinion,
        priors: &[(Move, f32)],
    ) -> Result<Option<f64>, EvaluateError> {
        if position.is_trusted() {
            let value = side(position.to_move()).view(f64::from(opinion.winrate));
            return Ok(Some(value));
        }
        let best = priors.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (true, Some(best)) = (position.is_root(), best) else {
            return Ok(None);
        };
        let mut child = position.clone();
        child.play(best.0);
        if !child.is_trusted() {
            return Ok(None);
        }
        let winrate = match self.fixed_symmetry {
            Some(symmetry) => self.opinion(&child, symmetry)?.winrate,
            None => self.mean_opinion(&child)?.winrate,
        };
        Ok(Some(side(child.to_move()).view(f64::from(winrate))))
    }

    fn draw_symmetry(&self, rng: &mut SearchRng) -> Symmetry {
        self.fixed_symmetry
            .unwrap_or_else(|| Symmetry::ALL[rng.random_range(0..Symmetry::COUNT)])
    }
}

impl Evaluate<Position> for Judge {
    fn evaluate(
        &self,
        leaves: &[Position],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<Move>>,
    ) -> Result<(), EvaluateError> {
        let asked: Vec<_> = leaves
            .iter()
            .map(|leaf| (leaf, self.draw_symmetry(rng)))
            .collect();
        let opinions = self.opinions(&asked)?;
        if self.collector.is_open() {
            for (&(leaf, symmetry), opinion) in asked.iter().zip(&opinions) {
                self.collector.offer(leaf, symmetry, opinion.winrate);
            }
        }
        for (leaf, opinion) in leaves.iter().zip(opinions) {
            let priors = candidates(leaf, &opinion);
            evaluations.push(Evaluation {
                value: self.value(leaf, &opinion, &priors)?,
                priors,
                outlook: (),
            });
        }
        Ok(())
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

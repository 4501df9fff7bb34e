//! The network's opinion of positions, remembered, and offered to the search.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use go::{BoardSize, Color, Move, Symmetry};
use net::{
    cache::{Cache, CacheStatistics},
    evaluator::Evaluator,
    leela::{POLICY, VALUE},
    shape::Perspective,
};
use rand::RngExt;
use search::{Evaluate, Evaluation, Game as _, SearchRng};

use crate::{
    dynamic_komi::{Collector, turn_komi},
    planes::{self, BitPlanes, INPUT_PLANES, Orientation},
    position::{Position, side},
};

/// A side that is this sure to win may consider passing.
const PASS_WINRATE: f32 = 0.8;
/// Passing is considered when no more plays than this are left, or than the board's side is long.
const FEW_PLAYS: usize = 5;

/// What a network says about a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// The chance of each point to be played, row by row from the bottom, and last of passing;
    /// occupied and illegal points included.
    pub policy: Box<[f32]>,
    /// The winning chance of the side to move.
    pub winrate: f32,
}

/// A position to look at again with another komi.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The stones, as the side to move sees them.
    pub planes: &'a BitPlanes,
    /// How the board is laid before the network.
    pub symmetry: Symmetry,
    /// Whose turn it is.
    pub to_move: Color,
    /// The komi to tell the network.
    pub komi: f64,
}

/// A network that was read for a board size it cannot be for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a network for Go: {0}")]
pub struct NotForGo(String);

/// A network with a memory.
///
/// The memory is keyed by everything the network sees: the last eight boards, the side to move, the
/// komi it is told and the orientation of the board.
pub struct Judge {
    evaluator: Arc<dyn Evaluator>,
    size: BoardSize,
    policy: Range<usize>,
    value: usize,
    orientations: [Orientation; Symmetry::COUNT],
    cache: Cache<u128, Arc<Opinion>>,
    fixed_symmetry: Option<Symmetry>,
    collector: Collector,
    evaluations: AtomicU64,
}

impl Judge {
    /// A judge with room for `cache_bytes` of opinions.
    pub fn new(evaluator: Arc<dyn Evaluator>, cache_bytes: usize) -> Result<Judge, NotForGo> {
        let shape = evaluator.shape();
        let input = shape.input;
        let refuse = |what: String| NotForGo(what);
        if input.planes != INPUT_PLANES || input.height != input.width {
            return Err(refuse(format!(
                "it reads {} planes of {}x{}, not {INPUT_PLANES} square planes",
                input.planes, input.width, input.height
            )));
        }
        let size = BoardSize::new(input.width)
            .ok_or_else(|| refuse(format!("no board is {} points wide", input.width)))?;
        let policy = shape
            .output(POLICY)
            .filter(|range| range.len() == size.area() + 1)
            .ok_or_else(|| refuse("it has no policy for every point and passing".into()))?;
        let value = shape
            .output(VALUE)
            .filter(|range| range.len() == 1)
            .ok_or_else(|| refuse("it has no value".into()))?
            .start;
        Ok(Judge {
            size,
            policy,
            value,
            orientations: Orientation::all(size),
            cache: Cache::new(cache_bytes),
            fixed_symmetry: None,
            collector: Collector::default(),
            evaluations: AtomicU64::new(0),
            evaluator,
        })
    }

    /// The only board size the network can play.
    pub fn size(&self) -> BoardSize {
        self.size
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
    pub fn opinion(&self, position: &Position, symmetry: Symmetry) -> Arc<Opinion> {
        let mut opinions = self.opinions(&[(position, symmetry)]);
        opinions.swap_remove(0)
    }

    /// The mean opinion over all eight symmetries.
    pub fn mean_opinion(&self, position: &Position) -> Opinion {
        let asked: Vec<_> = Symmetry::ALL.iter().map(|&s| (position, s)).collect();
        let opinions = self.opinions(&asked);
        let share = 1.0 / opinions.len() as f32;
        let mut mean = Opinion {
            policy: vec![0.0; self.size.area() + 1].into(),
            winrate: 0.0,
        };
        for opinion in opinions {
            mean.winrate += opinion.winrate * share;
            for (sum, part) in mean.policy.iter_mut().zip(&opinion.policy) {
                *sum += part * share;
            }
        }
        mean
    }

    /// Opinions of many positions, in one batch for those not remembered.
    pub fn opinions(&self, asked: &[(&Position, Symmetry)]) -> Vec<Arc<Opinion>> {
        let keys: Vec<u128> = asked
            .iter()
            .map(|&(position, symmetry)| key(position, symmetry))
            .collect();
        let mut found: Vec<Option<Arc<Opinion>>> =
            keys.iter().map(|&key| self.cache.get(key)).collect();
        let missing: Vec<usize> = (0..asked.len()).filter(|&i| found[i].is_none()).collect();
        let misses: Vec<_> = missing.iter().map(|&index| asked[index]).collect();
        for (index, opinion) in missing.into_iter().zip(self.evaluate_anew(&misses)) {
            let bytes = size_of::<Opinion>() + size_of_val(&*opinion.policy);
            let opinion = Arc::new(opinion);
            self.cache.insert(keys[index], opinion.clone(), bytes);
            found[index] = Some(opinion);
        }
        found.into_iter().flatten().collect()
    }

    /// Opinions of many positions in one batch, past the memory.
    pub fn evaluate_anew(&self, asked: &[(&Position, Symmetry)]) -> Vec<Opinion> {
        if asked.is_empty() {
            return Vec::new();
        }
        let shape = self.evaluator.shape();
        let (input_len, output_len) = (shape.input_len(), shape.output_len());
        let mut inputs = vec![0.0; asked.len() * input_len];
        let mut outputs = vec![0.0; asked.len() * output_len];
        for (row, &(position, symmetry)) in inputs.chunks_exact_mut(input_len).zip(asked) {
            let to_move = position.to_move();
            planes::write_input(
                &self.orientations[symmetry.number()],
                to_move,
                position.history(),
                position.assumptions().net_komi.planes(to_move),
                row,
            );
        }
        self.run(&inputs, &mut outputs);
        let rows = outputs.chunks_exact(output_len).zip(asked);
        rows.map(|(row, &(position, symmetry))| {
            let orientation = &self.orientations[symmetry.number()];
            Opinion {
                policy: orientation.restore_policy(&row[self.policy.clone()]),
                winrate: self.winrate(row, position.to_move()),
            }
        })
        .collect()
    }

    /// The winrate of the side to move at each look, past the memory: one batch, shared by threads.
    pub fn winrates(&self, looks: &[Look<'_>], threads: usize) -> Vec<f64> {
        let share = looks.len().div_ceil(threads.max(1)).max(1);
        let mut winrates = vec![0.0; looks.len()];
        let mut parts = looks.chunks(share).zip(winrates.chunks_mut(share));
        // The first part is for the thread that asks, once the others are at work.
        let own = parts.next();
        thread::scope(|scope| {
            for (looks, winrates) in parts {
                scope.spawn(move || self.look(looks, winrates));
            }
            if let Some((looks, winrates)) = own {
                self.look(looks, winrates);
            }
        });
        winrates
    }

    fn look(&self, looks: &[Look<'_>], winrates: &mut [f64]) {
        let shape = self.evaluator.shape();
        let (input_len, output_len) = (shape.input_len(), shape.output_len());
        let mut inputs = vec![0.0; looks.len() * input_len];
        let mut outputs = vec![0.0; looks.len() * output_len];
        for (row, look) in inputs.chunks_exact_mut(input_len).zip(looks) {
            let orientation = &self.orientations[look.symmetry.number()];
            let turn_planes = turn_komi::planes(look.komi, look.to_move);
            look.planes.write_input(orientation, turn_planes, row);
        }
        self.run(&inputs, &mut outputs);
        let rows = outputs.chunks_exact(output_len).zip(looks);
        for (winrate, (row, look)) in winrates.iter_mut().zip(rows) {
            *winrate = f64::from(self.winrate(row, look.to_move));
        }
    }

    fn run(&self, inputs: &[f32], outputs: &mut [f32]) {
        let count = inputs.len() / self.evaluator.shape().input_len();
        self.evaluations.fetch_add(count as u64, Ordering::Relaxed);
        self.evaluator.evaluate(inputs, outputs);
    }

    /// The winrate of the side to move in a row of outputs.
    fn winrate(&self, row: &[f32], to_move: Color) -> f32 {
        let black_view = self.evaluator.shape().perspective == Perspective::FirstPlayer;
        let value = row[self.value];
        if black_view && to_move == Color::White {
            1.0 - value
        } else {
            value
        }
    }

    /// The value of a position for Black, if it counts. A root always has one: where the network's
    /// own does not count, the best move's is taken.
    fn value(&self, position: &Position, opinion: &Opinion, priors: &[(Move, f32)]) -> Option<f64> {
        if position.is_trusted() {
            return Some(side(position.to_move()).view(f64::from(opinion.winrate)));
        }
        if !position.is_root() {
            return None;
        }
        let best = priors.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let mut child = position.clone();
        child.play(best.0);
        if !child.is_trusted() {
            return None;
        }
        let winrate = match self.fixed_symmetry {
            Some(symmetry) => self.opinion(&child, symmetry).winrate,
            None => self.mean_opinion(&child).winrate,
        };
        Some(side(child.to_move()).view(f64::from(winrate)))
    }

    fn draw_symmetry(&self, rng: &mut SearchRng) -> Symmetry {
        self.fixed_symmetry
            .unwrap_or_else(|| Symmetry::ALL[rng.random_range(0..Symmetry::COUNT)])
    }
}

fn key(position: &Position, symmetry: Symmetry) -> u128 {
    // An odd factor keeps eight keys of one position apart.
    position
        .net_key()
        .wrapping_add(symmetry.number() as u128)
        .wrapping_mul(0x2D35_8DCC_AA6C_78A5_8BB8_4B93_962E_ACC9)
}

impl Evaluate<Position> for Judge {
    fn evaluate(
        &self,
        leaves: &[Position],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<Move>>,
    ) {
        let asked: Vec<_> = leaves
            .iter()
            .map(|leaf| (leaf, self.draw_symmetry(rng)))
            .collect();
        let opinions = self.opinions(&asked);
        if self.collector.is_open() {
            for (&(leaf, symmetry), opinion) in asked.iter().zip(&opinions) {
                self.collector.offer(leaf, symmetry, opinion.winrate);
            }
        }
        evaluations.extend(leaves.iter().zip(opinions).map(|(leaf, opinion)| {
            let priors = candidates(leaf, &opinion);
            Evaluation {
                value: self.value(leaf, &opinion, &priors),
                priors,
            }
        }));
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

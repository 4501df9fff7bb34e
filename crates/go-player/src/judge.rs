//! The network's opinion of positions, remembered, and offered to the search.

use std::{ops::Range, sync::Arc};

use go::{BoardSize, Color, Move, Symmetry};
use net::{
    cache::{Cache, CacheStatistics},
    evaluator::Evaluator,
    leela::{POLICY, VALUE},
    shape::Perspective,
};
use rand::RngExt;
use search::{Evaluate, Evaluation, SearchRng};

use crate::{
    planes::{self, INPUT_PLANES, Orientation},
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
        self.evaluator.evaluate(&inputs, &mut outputs);
        let rows = outputs.chunks_exact(output_len).zip(asked);
        rows.map(|(row, &(position, symmetry))| {
            let orientation = &self.orientations[symmetry.number()];
            let black_view = shape.perspective == Perspective::FirstPlayer;
            let flip = black_view && position.to_move() == Color::White;
            let value = row[self.value];
            Opinion {
                policy: orientation.restore_policy(&row[self.policy.clone()]),
                winrate: if flip { 1.0 - value } else { value },
            }
        })
        .collect()
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
        evaluations.extend(leaves.iter().zip(opinions).map(|(leaf, opinion)| {
            let winrate = f64::from(opinion.winrate);
            Evaluation {
                value: Some(side(leaf.to_move()).view(winrate)),
                priors: candidates(leaf, &opinion),
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

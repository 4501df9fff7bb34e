//! How a player thinks: limits, randomness, patience, memory. All of it may change between moves.

mod komi_rows;
mod player_rows;
mod row;
mod table;

use search::{Dirichlet, Fpu, FpuBase, Puct, Rule, Settings, StopMode, UtilityPuct, WithoutValue};
use thiserror::Error;

use crate::{
    by_score::Temperature, choice::ResignPolicy, clock::Centiseconds, dynamic_komi,
    ladders::Ladders, network_view::NetworkView, outlook::UtilityFactors, rank::Level,
};

pub use row::{AtStart, OptionRow, OptionValue, WrongValue};
pub use table::{OPTION_GROUPS, OptionGroup, option_rows, options_markdown};

const MIB: usize = 1 << 20;
/// The smallest tree worth searching with.
const MIN_TREE_BYTES: usize = 16 * MIB;
/// The smallest memory for opinions: what a quick game needs.
const MIN_CACHE_BYTES: usize = MIB;

/// Everything that can be set about a player.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Threads that search.
    pub threads: usize,
    /// Positions a thread evaluates at once.
    pub batch: usize,
    /// Most playouts for a move.
    pub playouts: Option<u64>,
    /// Most visits of the root.
    pub visits: Option<u64>,
    /// Time held back for the wire.
    pub lag: Centiseconds,
    /// When to give up.
    pub resign: ResignPolicy,
    /// When to stop before a limit.
    pub stop_mode: StopMode,
    /// Whether to think on the opponent's time.
    pub ponder: bool,
    /// Whether to mix noise into the root's priors.
    pub noise: bool,
    /// The start of all randomness.
    pub seed: u64,
    /// Whether passing is left to the search alone.
    pub dumb_pass: bool,
    /// The number of moves from the start that are drawn by their visits.
    pub random_moves: usize,
    /// A move needs more visits than this to be drawn.
    pub random_min_visits: u32,
    /// The temperature of the draw.
    pub random_temperature: f64,
    /// How a move is judged that was never tried.
    pub fpu_base: FpuBase,
    /// Whether ladders are read exactly at every leaf.
    pub ladders: Ladders,
    /// The memory for tree and opinions.
    pub memory: Memory,
    /// How komi follows the game.
    pub komi: dynamic_komi::Settings,
    /// What a search plays for with a network that knows scores.
    pub utility: UtilityFactors,
    /// How much more an analysis looks at moves of small priors, with such a network.
    pub wide_root_noise: f64,
    /// Flattens such a network's priors at the root above 1, and sharpens them below.
    pub root_policy_temperature: f64,
    /// How much worse than its parent such a network's search expects a move of the root to be that was never tried;
    /// the usual amount if none.
    pub root_fpu_reduction: Option<f64>,
    /// How much chance there is in the choice of a move, with such a network.
    pub temperature: Temperature,
    /// How weakly to play with such a network; with all its strength if none.
    pub level: Option<Level>,
    /// Whether such a network searches symmetric moves of the root only once.
    pub prunes_symmetric: bool,
    /// Whether an analysis shows such a network the moves before its root. It usually does not, so that an odd move
    /// does not look clever; play always does.
    pub analysis_shows_history: bool,
    /// Whether a position after two passes is searched with a network that knows no scores, too. Leela Zero ends there.
    pub plays_on: bool,
    /// What such a network is told beyond the stones.
    pub view: NetworkView,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: 1,
            batch: 1,
            playouts: None,
            visits: None,
            lag: 100,
            resign: ResignPolicy::Default,
            stop_mode: StopMode::Auto,
            ponder: true,
            noise: false,
            seed: 1,
            dumb_pass: false,
            random_moves: 0,
            random_min_visits: 1,
            random_temperature: 1.0,
            fpu_base: FpuBase::ParentMean,
            ladders: Ladders::Off,
            memory: Memory::default(),
            komi: dynamic_komi::Settings::for_mode(None),
            utility: UtilityFactors::default(),
            wide_root_noise: 0.04,
            root_policy_temperature: 1.0,
            root_fpu_reduction: None,
            temperature: Temperature::default(),
            level: None,
            prunes_symmetric: true,
            analysis_shows_history: false,
            plays_on: false,
            view: NetworkView::default(),
        }
    }
}

impl Options {
    /// The most threads that can be asked for.
    pub const MOST_THREADS: usize = 256;
    /// The most positions of a batch.
    pub const MOST_IN_BATCH: usize = 256;

    /// Whether the options make sense together.
    pub fn check(&self) -> Result<(), Contradiction> {
        if self.playouts.is_some() && self.ponder {
            return Err(Contradiction::PonderingUsesPlayouts);
        }
        if !(self.random_temperature > 0.0 && self.random_temperature.is_finite()) {
            return Err(Contradiction::Temperature);
        }
        Ok(self.komi.check()?)
    }

    /// The options as a search by utility spells them.
    pub(crate) fn utility_settings(&self, tree_bytes: usize, wide_root_noise: f64) -> Settings {
        let usual = UtilityPuct::default();
        Settings {
            rule: Rule::Utility(UtilityPuct {
                wide_root_noise,
                // Noise is there to be explored.
                root_fpu_reduction: if self.noise {
                    0.0
                } else {
                    self.root_fpu_reduction.unwrap_or(usual.root_fpu_reduction)
                },
                root_policy_temperature: self.root_policy_temperature,
                ..usual
            }),
            virtual_loss: 1,
            ..self.search_settings(tree_bytes)
        }
    }

    /// The options as Leela Zero's search spells them.
    pub(crate) fn search_settings(&self, tree_bytes: usize) -> Settings {
        let usual = Fpu::default();
        let fpu = Fpu {
            base: self.effective_fpu_base(),
            // Noise is there to be explored.
            root_reduction: if self.noise {
                0.0
            } else {
                usual.root_reduction
            },
            ..usual
        };
        Settings {
            rule: Rule::Puct(Puct {
                fpu,
                ..Puct::default()
            }),
            noise: self.noise.then(Dirichlet::default),
            threads: self.threads.max(1),
            batch: self.batch.max(1),
            memory_bytes: tree_bytes,
            without_value: if self.komi.sure_backup {
                WithoutValue::Deepen
            } else {
                WithoutValue::Discard
            },
            ..Settings::default()
        }
    }

    /// A change of komi shifts all winrates, so a mode of dynamic komi has its own say in this.
    fn effective_fpu_base(&self) -> FpuBase {
        match (self.komi.mode, self.komi.dynamic_fpu) {
            (None, false) => self.fpu_base,
            (_, true) => FpuBase::ParentMean,
            (Some(_), false) => FpuBase::ParentEvaluation,
        }
    }
}

/// A share of the machine's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All of it, in MiB: network, tree and opinions.
    pub total_mib: usize,
    /// The part of it that opinions get, in percent, after the network.
    pub cache_percent: usize,
}

impl Memory {
    /// The least and the most that can be asked for, in MiB.
    pub const TOTAL_MIB: std::ops::RangeInclusive<usize> = 128..=131_072;
    /// The least and the most percentage for opinions.
    pub const CACHE_PERCENT: std::ops::RangeInclusive<usize> = 1..=99;
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            total_mib: 2048,
            cache_percent: 10,
        }
    }
}

/// Memory, shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryShares {
    pub tree_bytes: usize,
    /// For opinions.
    pub cache_bytes: usize,
}

impl MemoryShares {
    /// The least to think with.
    pub(crate) fn smallest() -> MemoryShares {
        MemoryShares {
            tree_bytes: MIN_TREE_BYTES,
            cache_bytes: MIN_CACHE_BYTES,
        }
    }

    /// The tree's share in MiB.
    pub fn tree_mib(&self) -> usize {
        self.tree_bytes / MIB
    }

    /// The opinions' share in MiB.
    pub fn cache_mib(&self) -> usize {
        self.cache_bytes / MIB
    }
}

/// Options that make no sense together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Contradiction {
    /// Pondering would use the limit up.
    #[error(
        "Nonsensical options: Playouts are restricted but thinking on the opponent's time is still allowed. \
         Add --noponder if you want a weakened engine."
    )]
    PonderingUsesPlayouts,
    /// Moves cannot be drawn at this temperature.
    #[error("--randomtemp must be a number above 0")]
    Temperature,
    /// Dynamic komi's options contradict each other.
    #[error(transparent)]
    Komi(#[from] dynamic_komi::SettingsError),
}

/// Why options cannot be taken.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OptionsError {
    /// The memory does not suffice.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Dynamic komi is asked for what it cannot do.
    #[error(transparent)]
    Komi(#[from] dynamic_komi::Refusal),
}

/// Why a share of memory is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// The network alone takes more.
    #[error("Not enough memory for network. {0} MiB required.")]
    Network(usize),
    /// Too little is left for opinions.
    #[error("Not enough memory for cache.")]
    Cache,
    /// Too little is left for the tree.
    #[error("Not enough memory for search tree.")]
    Tree,
}

impl Memory {
    /// Shares the memory out to what a network leaves.
    pub fn shares(self, network_bytes: usize) -> Result<MemoryShares, MemoryError> {
        let left = (self.total_mib * MIB)
            .checked_sub(network_bytes)
            .ok_or(MemoryError::Network(network_bytes.div_ceil(MIB)))?;
        let cache_bytes = left * self.cache_percent.min(100) / 100;
        let tree_bytes = left - cache_bytes;
        if cache_bytes < MIN_CACHE_BYTES {
            return Err(MemoryError::Cache);
        }
        if tree_bytes < MIN_TREE_BYTES {
            return Err(MemoryError::Tree);
        }
        Ok(MemoryShares {
            tree_bytes,
            cache_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_to_the_network_first_and_then_by_percentage() {
        let memory = Memory {
            total_mib: 200,
            cache_percent: 10,
        };
        let shares = memory.shares(100 * MIB).unwrap();
        assert_eq!(shares.tree_bytes + shares.cache_bytes, 100 * MIB);
        assert_eq!(shares.cache_bytes, MIB * 10);
        assert_eq!(memory.shares(201 * MIB), Err(MemoryError::Network(201)));
        assert_eq!(memory.shares(199 * MIB), Err(MemoryError::Cache));
        assert_eq!(memory.shares(185 * MIB), Err(MemoryError::Tree));
    }

    #[test]
    fn noise_takes_the_reduction_off_the_root_only() {
        let options = Options {
            noise: true,
            ..Options::default()
        };
        let Rule::Puct(puct) = options.search_settings(0).rule else {
            panic!("Leela Zero searches by PUCT");
        };
        assert_eq!((puct.fpu.root_reduction, puct.fpu.reduction), (0.0, 0.25));
    }
}

//! Every constant of the search, with Leela Zero's values as defaults.

/// How an edge is chosen at a player's node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Prior-guided upper confidence bound, as Leela Zero spells it.
    Puct(Puct),
    /// `mean + sqrt(exploration * ln(parent visits) / visits)`; moves never
    /// tried come first, in the evaluator's order of priors.
    Ucb1 {
        /// 2 in the textbook.
        exploration: f64,
    },
    /// Follows the improved policy of Danihelka et al. (2022), equation 14:
    /// the move whose share of visits lags most behind it.
    Improved(Sigma),
    /// KataGo's search: utilities, weights and averages over
    /// [`Outlook`](crate::Outlook)s instead of values and visits.
    Utility(UtilityPuct),
}

/// Constants of [`Rule::Utility`], with KataGo's values as defaults:
/// `U + c(N) * sqrt(N + 0.01) * S * P / (1 + weight)`, where `N` is the
/// children's weight and `S` follows the spread of the node's utility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UtilityPuct {
    /// `c(N) = cpuct + cpuct_log * ln((N + cpuct_base) / cpuct_base)`.
    pub cpuct: f64,
    /// Growth of exploration with the logarithm of the weight.
    pub cpuct_log: f64,
    /// The weight from which it grows.
    pub cpuct_base: f64,
    /// The spread of utility assumed before there are evaluations.
    pub stdev_prior: f64,
    /// The weight of that assumption.
    pub stdev_prior_weight: f64,
    /// How much exploration follows the spread: 0 not at all, 1 in proportion.
    pub stdev_scale: f64,
    /// What a move never tried loses of its parent's utility.
    pub fpu_reduction: f64,
    /// The same at the root.
    pub root_fpu_reduction: f64,
    /// How children count in their parent's average.
    pub weighing: Weighing,
    /// Makes the root look at more moves; for analysis.
    pub wide_root_noise: f64,
    /// Flattens the root's priors above 1 and sharpens them below.
    pub root_policy_temperature: f64,
    /// Width of the lower confidence bound in standard deviations.
    pub lcb_stdevs: f64,
    /// The share of the reference move's weight from which a bound counts.
    pub lcb_min_weight_ratio: f64,
}

impl Default for UtilityPuct {
    fn default() -> Self {
        UtilityPuct {
            cpuct: 1.0,
            cpuct_log: 0.45,
            cpuct_base: 500.0,
            stdev_prior: 0.40,
            stdev_prior_weight: 2.0,
            stdev_scale: 0.85,
            fpu_reduction: 0.2,
            root_fpu_reduction: 0.1,
            weighing: Weighing::default(),
            wide_root_noise: 0.0,
            root_policy_temperature: 1.0,
            lcb_stdevs: 5.0,
            lcb_min_weight_ratio: 0.15,
        }
    }
}

/// How children count in their parent's average under [`Rule::Utility`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighing {
    /// Whether moves lose weight that were visited more than their prior
    /// explains and turned out worse.
    pub noise_pruning: bool,
    /// How much better moves count more; 0 for not at all.
    pub value_exponent: f64,
}

impl Weighing {
    /// Plain averages.
    pub const NONE: Weighing = Weighing {
        noise_pruning: false,
        value_exponent: 0.0,
    };
}

impl Default for Weighing {
    fn default() -> Self {
        Weighing {
            noise_pruning: true,
            value_exponent: 0.25,
        }
    }
}

/// Constants of `Q + cpuct * P * sqrt(n * ln(log_puct * n + log_const)) / (1 + visits)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Puct {
    /// Weight of the prior term.
    pub cpuct: f64,
    /// Growth of exploration with the parent's visits.
    pub log_puct: f64,
    /// Its offset; `log_puct = 0`, `log_const = e` is AlphaZero's formula.
    pub log_const: f64,
    /// Value assumed for moves not yet tried.
    pub fpu: Fpu,
}

impl Default for Puct {
    fn default() -> Self {
        Puct {
            cpuct: 0.5,
            log_puct: 0.015,
            log_const: 1.7,
            fpu: Fpu::default(),
        }
    }
}

/// First-play urgency: `base - reduction * sqrt(prior mass already visited)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fpu {
    /// What is reduced.
    pub base: FpuBase,
    /// Reduction inside the tree.
    pub reduction: f64,
    /// Reduction at the root (Leela Zero sets 0 together with noise).
    pub root_reduction: f64,
}

impl Default for Fpu {
    fn default() -> Self {
        Fpu {
            base: FpuBase::ParentMean,
            reduction: 0.25,
            root_reduction: 0.25,
        }
    }
}

/// The value from which first-play urgency is reduced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FpuBase {
    /// The parent's running mean (its own evaluation before any visit).
    ParentMean,
    /// The parent's own evaluation, as Leela Zero 0.17 does.
    ParentEvaluation,
    /// A constant for the side to move.
    Constant(f64),
}

/// Scale of values against logits: `(c_visit + max visits) * c_scale * value`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigma {
    /// 50 in the paper.
    pub c_visit: f64,
    /// 1 in the paper for values in `0..=1`.
    pub c_scale: f64,
}

impl Default for Sigma {
    fn default() -> Self {
        Sigma {
            c_visit: 50.0,
            c_scale: 1.0,
        }
    }
}

/// Root selection by Gumbel-top-k and sequential halving. Needs a limit on
/// visits or playouts to plan with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gumbel {
    /// How many moves enter the first round (16 in the paper).
    pub considered: usize,
    /// Scale of values against logits.
    pub sigma: Sigma,
}

impl Default for Gumbel {
    fn default() -> Self {
        Gumbel {
            considered: 16,
            sigma: Sigma::default(),
        }
    }
}

/// How a chance node picks its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChanceRule {
    /// By probability.
    Sample,
    /// The outcome whose visits lag most behind its probability, so visits
    /// stay in proportion (equal odds: round robin in a shuffled order).
    Proportional,
}

/// What happens when a simulation reaches a new chance node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChanceLeaf {
    /// The evaluator judges it like any leaf.
    Evaluate,
    /// An outcome is drawn at once; only players' nodes are judged.
    PassThrough,
}

/// What happens when an evaluator has no value for a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutValue {
    /// The simulation goes on into the leaf's best child and its value serves
    /// both: two playouts for the ancestors and the leaf, one for the child.
    /// A root without a value has no visit of its own.
    Deepen,
    /// The leaf is expanded, nothing is counted.
    Discard,
}

/// Noise mixed into the root's priors, drawn afresh for each run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dirichlet {
    /// Share of noise: `(1 - epsilon) * prior + epsilon * noise`.
    pub epsilon: f64,
    /// Concentration.
    pub alpha: f64,
}

impl Default for Dirichlet {
    fn default() -> Self {
        Dirichlet {
            epsilon: 0.25,
            alpha: 0.03,
        }
    }
}

/// Choice of the best move by lower confidence bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lcb {
    /// One-sided error of the bound.
    pub alpha: f64,
    /// Moves with more than this share of the most visited move's visits
    /// compare by their bounds, the rest by visits.
    pub min_visit_ratio: f64,
}

impl Default for Lcb {
    fn default() -> Self {
        Lcb {
            alpha: 1e-5,
            min_visit_ratio: 0.10,
        }
    }
}

/// All settings that outlive one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Selection inside the tree, and at the root unless `gumbel` is set.
    pub rule: Rule,
    /// Gumbel selection at the root.
    pub gumbel: Option<Gumbel>,
    /// Outcome choice at chance nodes.
    pub chance: ChanceRule,
    /// Treatment of new chance nodes.
    pub chance_leaf: ChanceLeaf,
    /// Treatment of leaves without a value.
    pub without_value: WithoutValue,
    /// Root noise.
    pub noise: Option<Dirichlet>,
    /// Losses added for each simulation under way through a node.
    pub virtual_loss: u32,
    /// Ranking of root moves.
    pub lcb: Lcb,
    /// Worker threads (the caller's is one of them).
    pub threads: usize,
    /// Leaves a worker gathers for one call of the evaluator.
    pub batch: usize,
    /// Most bytes the tree may take. Half of them may hold positions of the
    /// past; see [`Search::forget_past`](crate::Search::forget_past). A tree
    /// that is larger when the limit is lowered is forgotten.
    pub memory_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            rule: Rule::Puct(Puct::default()),
            gumbel: None,
            chance: ChanceRule::Proportional,
            chance_leaf: ChanceLeaf::Evaluate,
            without_value: WithoutValue::Deepen,
            noise: None,
            virtual_loss: 3,
            lcb: Lcb::default(),
            threads: 1,
            batch: 1,
            memory_bytes: 1 << 30,
        }
    }
}

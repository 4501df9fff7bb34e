//! From a KataGo network's raw numbers to an opinion.

use std::ops::Range;

use go::{BoardSize, KoRule, Move, Point, Scoring};
use net::IoShape;

use super::{super::NotForGo, KataTraits};
use crate::{
    encoder::{Opinion, ScoreOpinion, ShortTermErrors},
    position::Position,
};

/// Passing gets at most so many times the chance of all other moves together, where passing hacks are on.
const MOST_PASS_RATIO: f64 = 19.0;
/// From here on softplus is the identity.
const SOFTPLUS_LINEAR: f64 = 40.0;
/// Versions that changed how errors are written.
const WITH_ERRORS: u32 = 9;
const WITH_ROOT_OF_ERRORS: u32 = 10;
const WITH_SQUARED_ERRORS: u32 = 14;
/// Version 9 writes score errors in tens of points.
const OLD_SCORE_ERROR_UNIT: f64 = 10.0;

/// What raw score outputs are multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KataScales {
    pub score_mean: f64,
    /// For its standard deviation.
    pub score_stdev: f64,
    pub lead: f64,
    /// For the time over which the score still varies.
    pub variance_time: f64,
    /// For the short-term error of win minus loss.
    pub value_error: f64,
    /// For the short-term error of the score.
    pub score_error: f64,
}

impl Default for KataScales {
    /// What versions below 13 take for granted.
    fn default() -> KataScales {
        KataScales {
            score_mean: 20.0,
            score_stdev: 20.0,
            lead: 20.0,
            variance_time: 40.0,
            value_error: 0.25,
            score_error: 30.0,
        }
    }
}

/// Where the outputs lie in a row.
pub struct OutputRanges {
    policy: Range<usize>,
    optimistic: Option<Range<usize>>,
    value: Range<usize>,
    score: Range<usize>,
    ownership: Range<usize>,
}

impl OutputRanges {
    pub fn new(shape: &IoShape, size: BoardSize) -> Result<OutputRanges, NotForGo> {
        let (area, policy_len) = (size.area(), size.area() + 1);
        let find = |name: &str, lengths: &[usize]| {
            let range = shape
                .output(name)
                .filter(|range| lengths.contains(&range.len()));
            range.ok_or_else(|| NotForGo(format!("it has no output `{name}` of the right length")))
        };
        Ok(OutputRanges {
            policy: find("policy", &[policy_len])?,
            optimistic: shape
                .output("policy_optimistic")
                .filter(|range| range.len() == policy_len),
            value: find("value", &[3])?,
            score: find("score", &[4, 6])?,
            ownership: find("ownership", &[area])?,
        })
    }
}

/// Reads an output row. `place` says where the network keeps a point.
pub fn opinion(
    ranges: &OutputRanges,
    traits: &KataTraits,
    position: &Position,
    optimism: f32,
    place: impl Fn(Point) -> usize,
    row: &[f32],
) -> Opinion {
    let size = position.size();
    let [win, loss, no_result] = value(position, &row[ranges.value.clone()]);
    let logits = mixed_logits(ranges, optimism, row);
    let owners = &row[ranges.ownership.clone()];
    Opinion {
        policy: policy(position, &logits, &place),
        winrate: (0.5 * (1.0 + win - loss)) as f32,
        no_result: no_result as f32,
        score: Some(score(traits, &row[ranges.score.clone()], no_result)),
        ownership: Some(
            size.points()
                .map(|point| owners[place(point)].tanh())
                .collect(),
        ),
    }
}

/// Chances of winning, losing and no result, which superko with area scoring rules out.
fn value(position: &Position, logits: &[f32]) -> [f64; 3] {
    let rules = position.rules();
    let always_ends = rules.ko != KoRule::Simple && rules.scoring == Scoring::Area;
    let mut logits = [logits[0], logits[1], logits[2]].map(f64::from);
    if always_ends {
        logits[2] = f64::NEG_INFINITY;
    }
    let largest = logits.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let weights = logits.map(|logit| (logit - largest).exp());
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// Optimism mixes logits, not chances.
fn mixed_logits(ranges: &OutputRanges, optimism: f32, row: &[f32]) -> Vec<f32> {
    let normal = &row[ranges.policy.clone()];
    match &ranges.optimistic {
        Some(range) => normal
            .iter()
            .zip(&row[range.clone()])
            .map(|(&normal, &optimistic)| normal + (optimistic - normal) * optimism)
            .collect(),
        None => normal.to_vec(),
    }
}

/// The softmax over legal moves.
pub fn policy(position: &Position, logits: &[f32], place: &impl Fn(Point) -> usize) -> Box<[f32]> {
    let size = position.size();
    let mut chances = vec![0.0; size.area() + 1];
    let legal: Vec<(usize, f64)> = position
        .board()
        .empty_set()
        .iter()
        .filter(|&point| position.is_legal(Move::Play(point)))
        .map(|point| (size.index(point), f64::from(logits[place(point)])))
        .chain([(size.area(), f64::from(logits[size.area()]))])
        .collect();
    let largest = legal
        .iter()
        .fold(f64::NEG_INFINITY, |most, &(_, logit)| most.max(logit));
    for &(index, logit) in &legal {
        chances[index] = (logit - largest).exp();
    }
    if position.assumptions().view.passing_hacks {
        let others: f64 = chances[..size.area()].iter().sum();
        if others > 0.0 {
            chances[size.area()] = chances[size.area()].min(MOST_PASS_RATIO * others);
        }
    }
    let sum: f64 = chances.iter().sum();
    chances
        .into_iter()
        .map(|chance| (chance / sum) as f32)
        .collect()
}

/// Points from raw score outputs, in f64: softplus of a large number loses too much in f32.
fn score(traits: &KataTraits, raw: &[f32], no_result: f64) -> ScoreOpinion {
    let KataTraits {
        version, scales, ..
    } = traits;
    let raw: Vec<f64> = raw.iter().map(|&value| f64::from(value)).collect();
    let ends = 1.0 - no_result;
    let mean = raw[0] * scales.score_mean;
    let stdev = softplus(raw[1]) * scales.score_stdev;
    let errors = (*version >= WITH_ERRORS && raw.len() > 5).then(|| {
        let [value, score] = [(raw[4], scales.value_error), (raw[5], scales.score_error)];
        let error = |(raw, scale): (f64, f64), old_unit: f64| match *version {
            WITH_SQUARED_ERRORS.. => softplus(raw / 2.0) * scale.sqrt(),
            WITH_ROOT_OF_ERRORS.. => (softplus(raw) * scale).sqrt(),
            _ => softplus(raw) * old_unit,
        };
        ShortTermErrors {
            win_loss: error(value, 1.0) as f32,
            score: error(score, OLD_SCORE_ERROR_UNIT) as f32,
        }
    });
    ScoreOpinion {
        mean: (mean * ends) as f32,
        mean_square: ((mean * mean + stdev * stdev) * ends) as f32,
        lead: (raw[2] * scales.lead * ends) as f32,
        variance_time: (*version >= WITH_ERRORS)
            .then(|| (softplus(raw[3]) * scales.variance_time) as f32),
        errors,
    }
}

fn softplus(x: f64) -> f64 {
    if x > SOFTPLUS_LINEAR {
        x
    } else {
        x.exp().ln_1p()
    }
}

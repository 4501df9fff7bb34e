//! What a search has found, read off its tree.

use std::sync::Arc;

use go::{BoardSize, Color, Game, Move, Symmetry};
use go_player::{Opinion, RootMove, Snapshot, View};

use crate::{
    analyst::{Findings, MoveFindings, RootFindings, Values},
    query::Include,
};

/// A network without a score has a utility of win minus loss.
const UTILITY_PER_WINRATE: f64 = 2.0;

/// What to read off a tree, and the position at its root.
pub(crate) struct Report {
    pub(crate) include: Include,
    pub(crate) game: Game,
    /// Symmetries of the position: moves that they make of others were not searched.
    pub(crate) symmetries: Vec<Symmetry>,
    /// The network's own opinion, where the tree does not keep it.
    pub(crate) raw: Option<Arc<Opinion>>,
    /// What people would play.
    pub(crate) human: Option<Opinion>,
}

impl Report {
    /// What the search has found so far.
    pub(crate) fn findings(&self, view: &View<'_>) -> Findings {
        let snapshot = view.snapshot();
        let (include, game) = (self.include, &self.game);
        let size = game.size();
        let raw = view.raw().or_else(|| self.raw.clone());
        let ownership = (include.ownership || include.ownership_spread)
            .then(|| view.ownership(None))
            .flatten();
        let mut moves = Vec::new();
        for mv in snapshot.moves.iter().filter(|mv| mv.visits > 0) {
            let mut found = move_findings(include, size, game.to_move(), view, mv);
            found.human_prior = self.human_prior(found.mv);
            let images = self.images(&found);
            moves.push(found);
            moves.extend(images);
        }
        Findings {
            to_move: game.to_move(),
            root: root_findings(game, raw.as_deref(), &snapshot),
            moves,
            ownership: ownership
                .as_ref()
                .filter(|_| include.ownership)
                .map(|owners| from_top(size, |index| owners.mean[index] as f32)),
            ownership_spread: ownership
                .as_ref()
                .filter(|_| include.ownership_spread)
                .map(|owners| from_top(size, |index| owners.deviation[index] as f32)),
            policy: raw
                .filter(|_| include.policy)
                .map(|opinion| self.policy(&opinion)),
            human_policy: self
                .human
                .as_ref()
                .filter(|_| include.policy)
                .map(|opinion| self.policy(opinion)),
        }
    }

    fn human_prior(&self, mv: Move) -> Option<f64> {
        let size = self.game.size();
        let index = mv.point().map_or(size.area(), |point| size.index(point));
        Some(f64::from(self.human.as_ref()?.policy[index]))
    }

    fn policy(&self, opinion: &Opinion) -> Vec<Option<f32>> {
        let (game, size) = (&self.game, self.game.size());
        let mut chances = from_top(size, |index| {
            let is_legal = game.is_legal(game.to_move(), Move::Play(size.point(index)));
            is_legal.then_some(opinion.policy[index])
        });
        chances.push(Some(opinion.policy[size.area()]));
        chances
    }

    /// The moves that symmetry makes of this one, with its numbers.
    fn images(&self, found: &MoveFindings) -> Vec<MoveFindings> {
        let size = self.game.size();
        let mut images: Vec<MoveFindings> = Vec::new();
        for &symmetry in &self.symmetries {
            let image = symmetry.apply(size, found.mv);
            if image == found.mv || images.iter().any(|other| other.mv == image) {
                continue;
            }
            let turned = |map: &Vec<f32>| {
                // Maps begin at the top, and the value at an image is that of the point it is the image of.
                from_top(size, |index| {
                    let from = symmetry.inverse().point(size, size.point(index));
                    map[top_index(size, size.index(from))]
                })
            };
            images.push(MoveFindings {
                mv: image,
                symmetry_of: Some(found.mv),
                pv: found
                    .pv
                    .iter()
                    .map(|&(mv, visits)| (symmetry.apply(size, mv), visits))
                    .collect(),
                human_prior: self.human_prior(image),
                ownership: found.ownership.as_ref().map(turned),
                ownership_spread: found.ownership_spread.as_ref().map(turned),
                ..found.clone()
            });
        }
        images
    }
}

fn root_findings(game: &Game, raw: Option<&Opinion>, snapshot: &Snapshot) -> RootFindings {
    let score = raw.and_then(|opinion| opinion.score);
    let sign = sign(game.to_move());
    let for_black = |winrate: f64| match game.to_move() {
        Color::Black => winrate,
        Color::White => 1.0 - winrate,
    };
    let raw_winrate = raw.map_or(snapshot.evaluation, |opinion| {
        for_black(f64::from(opinion.winrate))
    });
    let means = snapshot.weighed.map(|weighed| weighed.means);
    let errors = score.and_then(|score| score.errors);
    let [hash, symmetry_hash] = hashes(game);
    RootFindings {
        visits: snapshot.visits,
        weight: snapshot
            .weighed
            .map_or(snapshot.visits as f64, |weighed| weighed.weight),
        values: Values {
            winrate: snapshot.value,
            utility: snapshot
                .weighed
                .map_or((snapshot.value - 0.5) * UTILITY_PER_WINRATE, |weighed| {
                    weighed.utility
                }),
            lead: means.map_or(0.0, |means| means.lead),
            score: means.map_or(0.0, |means| means.score_mean),
            score_spread: means.map_or(0.0, |means| means.spread()),
            no_result: means.map_or(0.0, |means| means.no_result),
        },
        raw: Values {
            winrate: raw_winrate,
            utility: (raw_winrate - 0.5) * UTILITY_PER_WINRATE,
            lead: score.map_or(0.0, |score| sign * f64::from(score.lead)),
            score: score.map_or(0.0, |score| sign * f64::from(score.mean)),
            score_spread: score.map_or(0.0, |score| f64::from(score.spread())),
            no_result: raw.map_or(0.0, |opinion| f64::from(opinion.no_result)),
        },
        raw_winloss_error: errors.map_or(-1.0, |errors| f64::from(errors.win_loss)),
        raw_score_error: errors.map_or(-1.0, |errors| f64::from(errors.score)),
        raw_variance_time: score
            .and_then(|score| score.variance_time)
            .map_or(-1.0, f64::from),
        hash,
        symmetry_hash,
    }
}

fn move_findings(
    include: Include,
    size: BoardSize,
    to_move: Color,
    view: &View<'_>,
    found: &RootMove,
) -> MoveFindings {
    let sign = sign(to_move);
    let winrate = found.winrate.unwrap_or(0.5);
    let weighed = found.weighed;
    let means = weighed.map(|weighed| weighed.means);
    let utility = weighed.map_or((winrate - 0.5) * UTILITY_PER_WINRATE, |w| w.utility);
    let ownership = (include.moves_ownership || include.moves_ownership_spread)
        .then(|| view.ownership(Some(found.mv)))
        .flatten();
    let winrate_bound = found.lcb.map_or(winrate, |lcb| winrate - lcb);
    MoveFindings {
        mv: found.mv,
        visits: found.visits.into(),
        edge_visits: found.visits.into(),
        weight: weighed.map_or(f64::from(found.visits), |weighed| weighed.weight),
        values: Values {
            winrate: match to_move {
                Color::Black => winrate,
                Color::White => 1.0 - winrate,
            },
            utility: sign * utility,
            lead: means.map_or(0.0, |means| means.lead),
            score: means.map_or(0.0, |means| means.score_mean),
            score_spread: means.map_or(0.0, |means| means.spread()),
            no_result: means.map_or(0.0, |means| means.no_result),
        },
        winrate_bound,
        utility_bound: weighed.map_or(winrate_bound * UTILITY_PER_WINRATE, |weighed| {
            weighed.utility - weighed.utility_lcb
        }),
        prior: found.prior,
        human_prior: None,
        play_value: weighed.map_or(f64::from(found.visits), |weighed| weighed.play_value),
        symmetry_of: None,
        pv: found
            .pv
            .iter()
            .zip(found.pv_visits.iter().copied().chain(std::iter::repeat(0)))
            .map(|(&mv, visits)| (mv, u64::from(visits)))
            .collect(),
        ownership: ownership
            .as_ref()
            .filter(|_| include.moves_ownership)
            .map(|owners| from_top(size, |index| owners.mean[index] as f32)),
        ownership_spread: ownership
            .as_ref()
            .filter(|_| include.moves_ownership_spread)
            .map(|owners| from_top(size, |index| owners.deviation[index] as f32)),
    }
}

fn sign(color: Color) -> f64 {
    match color {
        Color::Black => 1.0,
        Color::White => -1.0,
    }
}

/// Points row by row from the top, where ours count from the bottom.
fn from_top<T>(size: BoardSize, mut at: impl FnMut(usize) -> T) -> Vec<T> {
    let side = size.get();
    let rows = (0..side).rev();
    rows.flat_map(|row| row * side..(row + 1) * side)
        .map(&mut at)
        .collect()
}

/// The place of a point in such a list.
fn top_index(size: BoardSize, index: usize) -> usize {
    let side = size.get();
    (side - 1 - index / side) * side + index % side
}

/// A hash of the position with its side to move, and one that all its mirror images share.
fn hashes(game: &Game) -> [u128; 2] {
    const SIDE: u64 = 0x9E37_79B9_7F4A_7C15;
    let size = game.size();
    let wide = |stones: u64| {
        let side = SIDE.wrapping_mul(1 + game.to_move().index() as u64);
        let low = base::mix(stones ^ side);
        u128::from(base::mix(low ^ size.get() as u64)) << 64 | u128::from(low)
    };
    let turned = Symmetry::ALL.map(|symmetry| {
        // The stones in a fixed order of points, as the symmetry shows them.
        let mut sum = 0u64;
        for color in Color::BOTH {
            for point in game.board().stone_set(color).iter() {
                if let Move::Play(image) = symmetry.apply(size, Move::Play(point)) {
                    let cell = 2 * size.index(image) as u64 + color.index() as u64;
                    sum = sum.wrapping_add(base::mix(cell + 1));
                }
            }
        }
        wide(sum)
    });
    let own = turned[0];
    let least = turned.into_iter().min().unwrap_or(own);
    [own, least]
}

//! Analysis by a network and a search: each position gets a tree of its own, and all share one memory of opinions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use go::{BoardSize, Color, Game, Move, Symmetry};
use go_player::{
    Judge, LoadedNetwork, Observer, Options, Player, RootMove, Snapshot, StopMode, View,
};
use net::Gather;

use crate::{
    analyst::{Analyst, Findings, Model, MoveFindings, RootFindings, Values, Watch},
    query::{Include, Query},
};

/// A search without any limit would never answer.
const DEFAULT_VISITS: u64 = 500;
/// A network without a score has a utility of win minus loss.
const UTILITY_PER_WINRATE: f64 = 2.0;

/// Analyses positions of any board size that a network can play on.
pub struct GoAnalyst {
    network: LoadedNetwork,
    options: Options,
    cache_bytes: usize,
    threads: usize,
    tables: Mutex<HashMap<BoardSize, Table>>,
}

/// The network laid out for one board size.
#[derive(Clone)]
struct Table {
    network: LoadedNetwork,
    judge: Arc<Judge>,
}

impl GoAnalyst {
    /// An analyst with this network. `options` hold for every search, but for what a query says; `threads` searches run
    /// at once and `cache_bytes` of opinions are kept for each board size.
    pub fn new(
        network: LoadedNetwork,
        options: Options,
        threads: usize,
        cache_bytes: usize,
    ) -> GoAnalyst {
        GoAnalyst {
            network,
            options,
            cache_bytes,
            threads,
            tables: Mutex::default(),
        }
    }

    fn table(&self, size: BoardSize) -> Result<Table, String> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = tables.get(&size) {
            return Ok(table.clone());
        }
        let side = size.get();
        let network = self.network.for_size(size).ok_or_else(|| {
            format!(
                "{} cannot play on a board of {side}x{side}",
                self.network.name()
            )
        })?;
        // While one batch runs on every core, the leaves of all searches gather for the next.
        let gather: Arc<dyn net::Evaluator> =
            Arc::new(Gather::while_busy(network.evaluator.clone(), self.threads));
        let judge = Judge::with_encoder(gather, network.encoder.clone(), self.cache_bytes);
        let table = Table {
            network,
            judge: Arc::new(judge),
        };
        tables.insert(size, table.clone());
        Ok(table)
    }

    fn options_for(&self, query: &Query) -> Options {
        let has_limit = query.max_playouts.is_some() || query.max_time.is_some();
        let visits = query.max_visits.or(self.options.visits);
        let mut options = Options {
            visits: visits.or((!has_limit).then_some(DEFAULT_VISITS)),
            playouts: query.max_playouts.or(self.options.playouts),
            // An analysis spends what it was given.
            stop_mode: StopMode::Off,
            ..self.options.clone()
        };
        if let Some(noise) = query.wide_root_noise {
            options.wide_root_noise = noise;
        }
        options
    }
}

impl Analyst for GoAnalyst {
    fn analyse(
        &self,
        query: &Query,
        turn: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Findings, String> {
        let game = query.game_at(turn);
        let table = self.table(game.size())?;
        let mut player = Player::sharing(table.network, table.judge, self.options_for(query))
            .map_err(|error| error.to_string())?;
        player
            .set_game(game.clone())
            .map_err(|error| error.to_string())?;
        let start = Instant::now();
        let stop = watch.stop;
        let limit = query.max_time;
        let is_stopped = || {
            stop.load(std::sync::atomic::Ordering::Relaxed)
                || limit.is_some_and(|limit| start.elapsed() >= limit)
        };
        let mut reporter = Reporter {
            query,
            game: &game,
            watch,
            next: query.report_every,
        };
        player
            .analyze(&query.restrictions_at(turn), &is_stopped, &mut reporter)
            .map_err(|error| error.to_string())?;
        Ok(findings(query.include, &game, &player.view()))
    }

    fn models(&self) -> Vec<Model> {
        let name = self.network.name().into_owned();
        vec![Model {
            internal_name: name.clone(),
            name,
            max_batch: self.network.evaluator.preferred_batch(),
            version: 0,
        }]
    }

    fn clear_cache(&self) {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        for table in tables.values() {
            table.judge.clear_cache();
        }
    }
}

/// Sends what is known so far, as often as the query wants it.
struct Reporter<'a, 'b> {
    query: &'a Query,
    game: &'a Game,
    watch: &'a mut Watch<'b>,
    /// When the next report is due, since the start.
    next: Option<Duration>,
}

impl Observer for Reporter<'_, '_> {
    fn tick(&mut self, view: &View<'_>) {
        let (Some(next), Some(every)) = (self.next, self.query.report_every) else {
            return;
        };
        if view.elapsed < next {
            return;
        }
        self.next = Some(view.elapsed + every);
        let found = findings(self.query.include, self.game, view);
        if found.root.visits > 0 {
            self.watch.report(found);
        }
    }
}

/// What a search has found so far.
fn findings(include: Include, game: &Game, view: &View<'_>) -> Findings {
    let snapshot = view.snapshot();
    let to_move = game.to_move();
    let size = game.size();
    let raw = view.raw();
    let ownership = (include.ownership || include.ownership_spread)
        .then(|| view.ownership(None))
        .flatten();
    let policy = include.policy.then_some(raw.as_ref()).flatten();
    let policy = policy.map(|opinion| {
        let legal = |mv: Move| game.is_legal(to_move, mv);
        let mut chances = from_top(size, |index| {
            let is_legal = legal(Move::Play(size.point(index)));
            is_legal.then_some(opinion.policy[index])
        });
        chances.push(Some(opinion.policy[size.area()]));
        chances
    });
    let moves = snapshot.moves.iter().filter(|mv| mv.visits > 0);
    Findings {
        to_move,
        root: root_findings(game, view, &snapshot),
        moves: moves
            .map(|mv| move_findings(include, size, to_move, view, mv))
            .collect(),
        ownership: ownership
            .as_ref()
            .filter(|_| include.ownership)
            .map(|owners| from_top(size, |index| owners.mean[index] as f32)),
        ownership_spread: ownership
            .as_ref()
            .filter(|_| include.ownership_spread)
            .map(|owners| from_top(size, |index| owners.deviation[index] as f32)),
        policy,
    }
}

fn root_findings(game: &Game, view: &View<'_>, snapshot: &Snapshot) -> RootFindings {
    let raw = view.raw();
    let score = raw.as_ref().and_then(|opinion| opinion.score);
    let sign = sign(game.to_move());
    let for_black = |winrate: f64| match game.to_move() {
        Color::Black => winrate,
        Color::White => 1.0 - winrate,
    };
    let raw_winrate = raw.as_ref().map_or(snapshot.evaluation, |opinion| {
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
            no_result: raw
                .as_ref()
                .map_or(0.0, |opinion| f64::from(opinion.no_result)),
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

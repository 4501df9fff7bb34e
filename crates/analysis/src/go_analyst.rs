//! Analysis by a network and a search: each position gets a tree of its own, and all share one memory of opinions.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use go::{BoardSize, Game, Symmetry};
use go_player::{Judge, LoadedNetwork, Observer, Opinion, Options, Player, StopMode, View};
use net::Gather;

use crate::{
    analyst::{Analyst, Findings, Model, Watch},
    query::{Include, Query},
    report::Report,
};

/// A search without any limit would never answer.
const DEFAULT_VISITS: u64 = 500;

/// What an analyst may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Positions searched at once.
    pub positions: usize,
    /// Threads that search, those of all positions together; positions that begin while others are searched
    /// have at least one each.
    pub threads: usize,
    /// The most threads for one position.
    pub threads_per_position: usize,
    /// Bytes of opinions that are kept for each board size.
    pub cache_bytes: usize,
    /// Longest time of one search, unless a query says otherwise.
    pub max_time: Option<Duration>,
}

/// Analyses positions of any board size that a network can play on.
pub struct GoAnalyst {
    network: LoadedNetwork,
    /// Says what people would play; the network itself may do so too.
    human: Option<LoadedNetwork>,
    options: Options,
    limits: Limits,
    /// Positions that are being searched.
    running: AtomicUsize,
    tables: Mutex<Tables>,
}

/// What was laid out so far: the network, and the one that imitates people.
#[derive(Default)]
struct Tables {
    own: HashMap<BoardSize, Table>,
    human: HashMap<BoardSize, Table>,
}

/// The network laid out for one board size.
#[derive(Clone)]
struct Table {
    network: LoadedNetwork,
    judge: Arc<Judge>,
}

impl GoAnalyst {
    /// An analyst with this network. `options` hold for every search, but for what a query says.
    pub fn new(network: LoadedNetwork, options: Options, limits: Limits) -> GoAnalyst {
        GoAnalyst {
            network,
            human: None,
            options,
            limits,
            running: AtomicUsize::new(0),
            tables: Mutex::default(),
        }
    }

    /// The same with a second network, which says what people would play.
    #[must_use]
    pub fn with_human(mut self, human: LoadedNetwork) -> GoAnalyst {
        self.human = Some(human);
        self
    }

    /// The network that imitates people, if there is one.
    fn human(&self) -> Option<&LoadedNetwork> {
        let own = Some(&self.network).filter(|network| network.encoder.imitates_people());
        self.human.as_ref().or(own)
    }

    fn table(&self, size: BoardSize) -> Result<Table, String> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        self.table_of(&self.network, &mut tables.own, size)
    }

    fn table_of(
        &self,
        network: &LoadedNetwork,
        tables: &mut HashMap<BoardSize, Table>,
        size: BoardSize,
    ) -> Result<Table, String> {
        if let Some(table) = tables.get(&size) {
            return Ok(table.clone());
        }
        let side = size.get();
        let network = network
            .for_size(size)
            .ok_or_else(|| format!("{} cannot play on a board of {side}x{side}", network.name()))?;
        // While a batch runs on every core, or as many as a device takes at once, the leaves of all searches gather for
        // the next.
        let at_once = match network.is_on_device() {
            true => network.evaluator.in_flight(),
            false => self.limits.threads,
        };
        let gather: Arc<dyn net::Evaluator> =
            Arc::new(Gather::while_busy(network.evaluator.clone(), at_once));
        let judge = Judge::with_encoder(gather, network.encoder.clone(), self.limits.cache_bytes);
        let table = Table {
            network,
            judge: Arc::new(judge),
        };
        tables.insert(size, table.clone());
        Ok(table)
    }

    /// What people of the query's profile would play, if a network can say so.
    fn human_opinion(&self, query: &Query, game: &Game) -> Result<Option<Opinion>, String> {
        let Some((network, profile)) = self.human().zip(query.human_profile) else {
            return Ok(None);
        };
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let table = self.table_of(network, &mut tables.human, game.size())?;
        drop(tables);
        let mut options = self.options.clone();
        options.view.profile = profile;
        options.view.history_before_root = query.shows_history;
        let mut player = Player::sharing(table.network, table.judge, options)
            .map_err(|error| error.to_string())?;
        player
            .set_game(game.clone())
            .map_err(|error| error.to_string())?;
        let opinion = player.raw_opinion(Symmetry::IDENTITY, None);
        opinion.map(Some).map_err(|error| error.to_string())
    }

    /// How to search for a query while `running` positions are searched, this one among them.
    fn options_for(&self, query: &Query, running: usize) -> Options {
        let share = self.limits.threads / running.max(1);
        let has_limit = query.max_playouts.is_some() || query.max_time.is_some();
        let visits = query.max_visits.or(self.options.visits);
        let batch = match self.network.is_on_device() {
            // All searches together fill a batch.
            true => {
                let wanted = self.network.evaluator.preferred_batch();
                wanted.div_ceil(running.max(1)).max(self.options.batch)
            }
            false => self.options.batch,
        };
        let mut options = Options {
            batch,
            visits: visits.or((!has_limit).then_some(DEFAULT_VISITS)),
            playouts: query.max_playouts.or(self.options.playouts),
            threads: share.clamp(1, self.limits.threads_per_position.max(1)),
            // An analysis spends what it was given.
            stop_mode: StopMode::Off,
            ..self.options.clone()
        };
        let temperature = query.root_policy_temperature;
        options.root_policy_temperature = temperature.unwrap_or(options.root_policy_temperature);
        options.analysis_shows_history = query.shows_history;
        options.plays_on = true;
        options.view.profile = query.human_profile.unwrap_or(options.view.profile);
        options.root_fpu_reduction = query.root_fpu_reduction.or(options.root_fpu_reduction);
        options.wide_root_noise = query.wide_root_noise.unwrap_or(options.wide_root_noise);
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
        let seat = Seat::take(&self.running);
        let options = self.options_for(query, seat.running);
        let mut player = Player::sharing(table.network, table.judge, options)
            .map_err(|error| error.to_string())?;
        player
            .set_game(game.clone())
            .map_err(|error| error.to_string())?;
        let start = Instant::now();
        let stop = watch.stop;
        let limit = query.max_time.or(self.limits.max_time);
        let is_stopped =
            || stop.load(Ordering::Relaxed) || limit.is_some_and(|limit| start.elapsed() >= limit);
        let restrictions = query.restrictions_at(turn);
        let report = Report {
            include: query.include,
            symmetries: if restrictions.is_empty() {
                player.pruned_symmetries()
            } else {
                Vec::new()
            },
            raw: opinion_without_search(&player, query.include),
            human: self.human_opinion(query, &game)?,
            game,
        };
        let mut reporter = Reporter {
            report: &report,
            watch,
            every: query.report_every,
            next: query.report_every,
        };
        player
            .analyze(&restrictions, &is_stopped, &mut reporter)
            .map_err(|error| error.to_string())?;
        Ok(report.findings(&player.view()))
    }

    fn models(&self) -> Vec<Model> {
        let networks = [&self.network].into_iter().chain(&self.human);
        let model = |network: &LoadedNetwork| Model {
            internal_name: network
                .file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            name: network.name().into_owned(),
            max_batch: network.evaluator.preferred_batch(),
            version: network.encoder.version().into(),
            imitates_people: network.encoder.imitates_people(),
        };
        networks.map(model).collect()
    }

    fn imitates_people(&self) -> bool {
        self.human().is_some()
    }

    fn clear_cache(&self) {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        for table in tables.own.values().chain(tables.human.values()) {
            table.judge.clear_cache();
        }
    }
}

/// A position that is being searched.
struct Seat<'a> {
    taken: &'a AtomicUsize,
    /// Positions that are being searched, this one among them.
    running: usize,
}

impl Seat<'_> {
    fn take(taken: &AtomicUsize) -> Seat<'_> {
        Seat {
            taken,
            running: taken.fetch_add(1, Ordering::Relaxed) + 1,
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends what is known so far, as often as the query wants it.
struct Reporter<'a, 'b> {
    report: &'a Report,
    watch: &'a mut Watch<'b>,
    every: Option<Duration>,
    /// When the next report is due, since the start.
    next: Option<Duration>,
}

impl Observer for Reporter<'_, '_> {
    fn tick(&mut self, view: &View<'_>) {
        let (Some(next), Some(every)) = (self.next, self.every) else {
            return;
        };
        if view.elapsed < next {
            return;
        }
        self.next = Some(view.elapsed + every);
        let found = self.report.findings(view);
        if found.root.visits > 0 {
            self.watch.report(found);
        }
    }
}

/// The network's own opinion where the tree does not keep it: a network that knows no scores, and a policy is wanted.
pub(crate) fn opinion_without_search(player: &Player, include: Include) -> Option<Arc<Opinion>> {
    if !include.policy || player.judge().knows_score() {
        return None;
    }
    let opinion = player.raw_opinion(Symmetry::IDENTITY, None).ok()?;
    Some(Arc::new(opinion))
}

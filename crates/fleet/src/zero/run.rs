//! A run of `zero` in its folder.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use learn::trainer::Report;

use base::{LockedFolder, Log};

use crate::{
    Elo, Verdict,
    zero::{
        Discipline, Event, Folder, Games, MatchLine, Phase, State, Status, TrainingLine, ZeroError,
        discipline::{Lesson, Table},
        folder::FirstNetwork,
        games::RoundCount,
        gate::Gate,
    },
};

/// A match without a loss says no more than this about Elo.
const MOST_ELO: f64 = 400.0;
/// Characters of a network's name in a status line.
const SHORT_NAME: usize = 8;
/// What a status line calls the player of the first games when it is no network.
const NO_NETWORK: &str = "none";

/// A run.
pub struct Run<D: Discipline> {
    folder: Folder,
    /// Nobody else plays or trains here.
    _lock: LockedFolder,
    settings: D::Settings,
    state: State,
    games_log: Log,
    gate: Gate,
    games: Games<D>,
}

impl<D: Discipline> Run<D> {
    /// Opens the run in `dir`, or begins one. `adjust` may change the settings of a new run.
    pub fn open(dir: &Path, adjust: impl FnOnce(&str) -> String) -> Result<Self, ZeroError> {
        Self::open_with(dir, adjust, None)
    }

    /// The same, where a new run has this first network instead of its own.
    pub(super) fn open_with(
        dir: &Path,
        adjust: impl FnOnce(&str) -> String,
        first: Option<FirstNetwork>,
    ) -> Result<Self, ZeroError> {
        let lock = LockedFolder::take(dir)?;
        let folder = Folder::open(dir)?;
        let settings = folder.settings(D::TEMPLATE, adjust, D::check)?;
        let state = match (folder.state()?, first) {
            (Some(_), Some(_)) => {
                return Err(ZeroError::Begun {
                    dir: dir.to_owned(),
                });
            }
            (Some(state), None) => state,
            (None, first) => begin::<D>(&folder, &settings, first)?,
        };
        folder.remove_finished_training(state.rounds)?;
        let mut games = Games::new(D::pace(&settings).window);
        let mut damage = None;
        let path = folder.path("games.log");
        let games_log = Log::open(&path, |record| match D::from_bytes(&settings, record) {
            Ok(game) => games.add(game),
            Err(message) => damage = Some(message),
        })?;
        if let Some(message) = damage {
            return Err(ZeroError::Content { path, message });
        }
        let gate = Gate::open(&folder.path("matches.log"))?;
        Ok(Run {
            folder,
            _lock: lock,
            settings,
            state,
            games_log,
            gate,
            games,
        })
    }

    /// The settings.
    pub fn settings(&self) -> &D::Settings {
        &self.settings
    }

    /// What has been done.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Games of self-play so far.
    pub fn games(&self) -> u64 {
        self.games.count
    }

    /// The file of the best network, once there is one.
    pub fn best_network(&self) -> Option<PathBuf> {
        self.table().best()
    }

    /// Does what is due next. `heard` is told where the run stands, often.
    pub fn step(
        &mut self,
        stop: &AtomicBool,
        heard: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let event = if self.state.candidate.is_some() {
            self.decide(stop, heard)?
        } else if self.games_of_round().games < self.games_wanted_of_round() {
            self.play(stop, heard)?
        } else {
            self.train(stop, heard)?
        };
        let page = D::report(&self.settings, &self.state, &self.games);
        self.folder.write_report(&page)?;
        Ok(event)
    }

    fn play(
        &mut self,
        stop: &AtomicBool,
        heard: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let began = Instant::now();
        let (round, wanted) = (self.state.rounds, self.games_wanted_of_round());
        let enough = AtomicBool::new(stop.load(Ordering::Relaxed));
        let before = self.status(Phase::SelfPlay);
        let seconds_before = self.state.seconds.selfplay;
        let first = self.games.next_number;
        let table = Table::<D> {
            folder: &self.folder,
            settings: &self.settings,
            state: &self.state,
        };
        let mut failure = None;
        let books = Mutex::new((&mut self.games_log, &mut self.games, &mut failure));
        let done = |game: D::Game| {
            let mut books = books
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            let (log, games, failure) = &mut *books;
            match log.append(&D::to_bytes(&game)) {
                Ok(()) => games.add(game),
                Err(error) => **failure = Some(error),
            }
            let seconds = seconds_before + began.elapsed().as_secs_f64();
            heard(Status {
                games: games.count,
                positions: games.positions,
                games_per_hour: an_hour(games.count, seconds),
                ..before.clone()
            });
            let is_enough = games.of_round(round).games >= wanted;
            if is_enough || failure.is_some() || stop.load(Ordering::Relaxed) {
                enough.store(true, Ordering::Relaxed);
            }
        };
        D::play(&table, first, &enough, &done)?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        self.state.seconds.selfplay += began.elapsed().as_secs_f64();
        self.folder.save(&self.state)?;
        Ok(if self.games_of_round().games >= wanted {
            Event::Played
        } else {
            Event::Stopped
        })
    }

    fn train(
        &mut self,
        stop: &AtomicBool,
        heard: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let began = Instant::now();
        let round = self.state.rounds + 1;
        let lesson = Lesson {
            window: &self.games.window,
            new_positions: self.games_of_round().positions,
        };
        let status = self.status(Phase::Training);
        let mut observe = |line: &Report<'_>| {
            heard(Status {
                steps: Some((line.step, line.steps)),
                ..status.clone()
            });
            !stop.load(Ordering::Relaxed)
        };
        let trained = D::train(&self.table(), round, &lesson, &mut observe)?;
        self.state.seconds.training += began.elapsed().as_secs_f64();
        let Some(trained) = trained.filter(|_| !stop.load(Ordering::Relaxed)) else {
            self.folder.save(&self.state)?;
            return Ok(Event::Stopped);
        };
        let line = TrainingLine {
            round,
            policy_loss: trained.policy_loss,
            value_error: trained.value_error,
            positions: trained.positions,
        };
        let name = self.folder.keep(&trained.network)?;
        self.state.newest = name.clone();
        self.state.candidate = Some(name);
        self.state.rounds = round;
        self.state.trainings.push(line.clone());
        self.folder.save(&self.state)?;
        self.folder.remove_finished_training(round)?;
        Ok(Event::Trained(line))
    }

    fn decide(
        &mut self,
        stop: &AtomicBool,
        heard: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let began = Instant::now();
        let Some(candidate) = self.state.candidate.clone() else {
            return Ok(Event::Stopped);
        };
        let status = self.status(Phase::Match);
        let told = |score| {
            heard(Status {
                last_match: Some(score),
                ..status.clone()
            })
        };
        let table = Table::<D> {
            folder: &self.folder,
            settings: &self.settings,
            state: &self.state,
        };
        // The first network has nobody to beat.
        let verdict = match table.best() {
            None => Verdict::Pass,
            Some(_) => D::decide(&table, &candidate, &mut self.gate, stop, &told)?,
        };
        self.state.seconds.matches += began.elapsed().as_secs_f64();
        if verdict == Verdict::Open {
            self.folder.save(&self.state)?;
            return Ok(Event::Stopped);
        }
        let score = self.gate.score(&candidate);
        let gain = Elo::from_winrate(score.winrate())
            .0
            .clamp(-MOST_ELO, MOST_ELO);
        let line = MatchLine {
            round: self.state.rounds,
            network: candidate.clone(),
            score,
            promoted: verdict == Verdict::Pass,
            elo: self.state.elo + gain,
            games: self.games.count,
            at_seconds: self.state.seconds.total(),
        };
        self.state.candidate = None;
        if line.promoted {
            self.state.best = candidate;
            self.state.elo = line.elo;
        }
        self.state.matches.push(line.clone());
        self.folder.save(&self.state)?;
        Ok(Event::Decided(line))
    }

    fn table(&self) -> Table<'_, D> {
        Table {
            folder: &self.folder,
            settings: &self.settings,
            state: &self.state,
        }
    }

    fn games_of_round(&self) -> RoundCount {
        self.games.of_round(self.state.rounds)
    }

    /// How many games the present round has before it trains. Past rounds had what the settings said then.
    fn games_wanted_of_round(&self) -> u64 {
        let pace = D::pace(&self.settings);
        match self.state.rounds {
            0 => pace.first_games,
            _ => pace.games,
        }
    }

    fn status(&self, phase: Phase) -> Status {
        let best = match self.state.best.as_str() {
            "" => NO_NETWORK,
            name => name,
        };
        let missing = self
            .games_wanted_of_round()
            .saturating_sub(self.games_of_round().games);
        Status {
            phase,
            round: self.state.rounds,
            games: self.games.count,
            games_wanted: self.games.count + missing,
            positions: self.games.positions,
            games_per_hour: an_hour(self.games.count, self.state.seconds.selfplay),
            best: best.chars().take(SHORT_NAME).collect(),
            elo: self.state.elo,
            last_match: self.state.matches.last().map(|line| line.score),
            steps: None,
        }
    }
}

/// The state a run begins with.
fn begin<D: Discipline>(
    folder: &Folder,
    settings: &D::Settings,
    given: Option<FirstNetwork>,
) -> Result<State, ZeroError> {
    let (network, begun_from) = match given {
        Some(given) => (Some(given.network), Some(given.file)),
        None => (D::first_network(settings), None),
    };
    let first = match network {
        Some(network) => folder.keep(&network)?,
        None => String::new(),
    };
    let state = State {
        begun_from,
        best: first.clone(),
        newest: first,
        ..State::default()
    };
    folder.save(&state)?;
    Ok(state)
}

fn an_hour(games: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        games as f64 * 3600.0 / seconds
    } else {
        0.0
    }
}

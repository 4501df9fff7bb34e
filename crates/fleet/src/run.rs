//! A run of the learning loop: what is due next, and what becomes of it.

mod gate;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Instant,
};

use base::{LockedFolder, nth_seed};

use crate::{
    Appended, Beginning, CHECKPOINT_EXTENSION, Event, FolderStore, Games, Learner, Ledger,
    LedgerError, Phase, PlayerFor, RunError, SelfPlayTask, ServeOptions, State, Status, Store,
    StoreError, TrainedElsewhere, TrainingLine, TrainingOrder, TrainingProgress, TrainingRequest,
    TrainsElsewhere,
    beginning::{adopt, begin, check_same, new_settings},
    desk::{Desk, SelfPlayOffer},
    ledger::Shared,
    publish::Publisher,
    report,
    selfplay::play_numbers,
    settings,
    window::RoundCount,
};

/// Characters of a network's name in a status line.
const SHORT_NAME: usize = 8;
/// What a status line calls the player of the first games when it is no network.
const NO_NETWORK: &str = "none";

/// A run in its store: what is done next follows from the state alone, so it can be stopped at any moment.
pub struct Run<L: Learner> {
    store: Arc<dyn Store>,
    /// Nobody else plays or trains here.
    lock: LockedFolder,
    settings: Arc<L::Settings>,
    state: State,
    games: Games<L>,
    shared: Arc<Shared<L>>,
    /// Games at once in this process, for self-play and for matches.
    at_once: [usize; 2],
    /// Whether workers elsewhere play, too.
    is_served: bool,
    /// Who trains, if not this process.
    trainer: Option<Box<dyn TrainsElsewhere>>,
}

impl<L: Learner> Run<L> {
    /// Opens the run in `dir`, or begins one. Nothing is written before everything asked for was found to be good.
    pub fn open(dir: &Path, beginning: &Beginning) -> Result<Self, RunError> {
        let found = settings::read_settings::<L>(dir)?;
        let first_settings = match &found {
            Some(found) => {
                check_same::<L>(dir, found, &beginning.values)?;
                None
            }
            None => Some(new_settings::<L>(&beginning.values)?),
        };
        let mut settings = match (found, first_settings) {
            (Some(settings), _) | (None, Some(settings)) => settings,
            (None, None) => L::Settings::default(),
        };
        let had_settings = dir.join(settings::FILE).exists();
        let given = match &beginning.from {
            Some(file) => Some((file, adopt::<L>(file, &mut settings, had_settings)?)),
            None => None,
        };
        L::check(&settings).map_err(RunError::NewSetting)?;

        let lock = LockedFolder::take(dir)?;
        let mut games = Games::new(L::schedule(&settings).window);
        let (mut unreadable, mut number) = (crate::Unreadable::default(), 0);
        let store = FolderStore::open(dir, |record| {
            number += 1;
            match L::decode(&settings, record) {
                Ok(game) => games.add(game),
                Err(why) => unreadable.add(&format!("record {number}"), &why),
            }
        })?;
        if unreadable.count > 0 {
            games.unreadable = unreadable;
        }
        let state = match (store.state()?, given) {
            (Some(_), Some(_)) => {
                return Err(RunError::Begun {
                    dir: dir.to_owned(),
                });
            }
            (Some(state), None) => state,
            (None, given) => {
                if !had_settings {
                    settings::write::<L>(dir, &settings)?;
                }
                begin::<L>(&store, &settings, given)?
            }
        };
        store.remove_training(state.rounds)?;
        let schedule = L::schedule(&settings);
        Ok(Run {
            store: Arc::new(store),
            lock,
            shared: Arc::new(Shared::new(Desk::new(games.next_number))),
            at_once: [schedule.games_at_once, schedule.match_games_at_once],
            is_served: false,
            trainer: None,
            settings: Arc::new(settings),
            state,
            games,
        })
    }

    /// Keeps the run in another store from now on, one that stands before the present one.
    pub fn wrap_store(
        &mut self,
        wrap: impl FnOnce(Arc<dyn Store>) -> Result<Arc<dyn Store>, StoreError>,
    ) -> Result<(), StoreError> {
        self.store = wrap(self.store.clone())?;
        Ok(())
    }

    /// Leaves trainings to somebody else.
    pub fn train_elsewhere(&mut self, trainer: Box<dyn TrainsElsewhere>) {
        self.trainer = Some(trainer);
    }

    /// Lets workers elsewhere play for this run: they take tasks from the ledger and hand games in to it.
    pub fn serve(&mut self, options: ServeOptions) -> Result<Arc<Ledger<L>>, LedgerError> {
        if let Some(local) = options.local_games {
            self.at_once = [local; 2];
        }
        self.is_served = true;
        let ledger = Ledger::open(
            self.lock.path(),
            self.store.clone(),
            self.settings.clone(),
            self.shared.clone(),
            self.games.numbers.clone(),
            options,
        )?;
        self.offer_next();
        Ok(Arc::new(ledger))
    }

    pub fn settings(&self) -> &L::Settings {
        &self.settings
    }

    /// What has been done.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Self-play games so far.
    pub fn games(&self) -> u64 {
        self.games.count
    }

    /// Sentences about records that cannot be read.
    pub fn warnings(&self) -> Vec<String> {
        let matches = self.store.unreadable_match_games();
        [
            self.games.unreadable.sentence("games.log"),
            matches.sentence("matches.log"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The file of the best network, once there is one.
    pub fn best_network(&self) -> Option<PathBuf> {
        let found = self.store.network(&self.state.best, L::NETWORK_EXTENSION);
        found.ok().flatten()
    }

    /// Does what is due next. `on_progress` is told where the run stands, often.
    pub fn step(
        &mut self,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, RunError> {
        self.absorb()?;
        self.offer_next();
        let phase = if self.state.candidate.is_some() {
            Phase::Match
        } else if self.state.to_rate.is_some() {
            Phase::Rating
        } else if self.games_of_round().games < self.games_wanted_of_round() {
            Phase::SelfPlay
        } else {
            Phase::Training
        };
        let publisher = Publisher::new(Arc::clone(&self.store), self.status(phase));
        let shared = self.shared.clone();
        shared.set_status(self.status(phase));
        let on_progress = &|status: Status| {
            publisher.note(&status);
            shared.set_status(status.clone());
            on_progress(status);
        };
        let event = publisher.during(|| match phase {
            Phase::Match => self.decide(stop, on_progress),
            Phase::Rating => self.rate(stop, on_progress),
            Phase::SelfPlay => self.play(stop, on_progress),
            Phase::Training => self.train(stop, on_progress),
        })?;
        let recent: Vec<&L::Record> = self.games.recent.iter().collect();
        let page = L::page(&self.settings, &self.state, &recent, &self.games.summary);
        let match_games = self.store.match_games()?;
        let page = report::page(&self.state, self.games.count, &match_games, &page);
        self.store.write_report(&page)?;
        Ok(event)
    }

    /// Adds the games that came in from elsewhere.
    fn absorb(&mut self) -> Result<(), RunError> {
        let arrived = self.shared.arrivals();
        if !self.shared.take_revoked() {
            arrived
                .into_iter()
                .for_each(|record| self.games.add(record));
            return Ok(());
        }
        // Somebody's games were taken back: everything is counted again. What arrived is in the log, too.
        let numbers = std::mem::take(&mut self.games.numbers);
        let mut games = Games::new(L::schedule(&self.settings).window);
        self.store.games(&mut |record| {
            if let Ok(game) = L::decode(&self.settings, record) {
                games.add(game);
            }
        })?;
        games.numbers.extend(numbers);
        self.games = games;
        Ok(())
    }

    /// Tells workers which self-play is wanted. While a network is trained or compared, they play for the next round.
    fn offer_next(&self) {
        if !self.is_served {
            return;
        }
        let is_enough = self.games_of_round().games >= self.games_wanted_of_round();
        let is_settled = self.state.candidate.is_none();
        let (round, wanted) = match is_enough && is_settled {
            true => (self.state.rounds + 1, L::schedule(&self.settings).games),
            false => (self.state.rounds, self.games_wanted_of_round()),
        };
        let wanted = wanted.saturating_sub(self.games.of_round(round).games);
        self.shared.desk.offer_selfplay(Some(SelfPlayOffer {
            round,
            network: self.state.best.clone(),
            wanted,
        }));
    }

    fn play(
        &mut self,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, RunError> {
        let began = Instant::now();
        let schedule = L::schedule(&self.settings);
        let (round, wanted) = (self.state.rounds, self.games_wanted_of_round());
        let enough = AtomicBool::new(stop.load(Ordering::Relaxed));
        let before = self.status(Phase::SelfPlay);
        let seconds_before = self.state.seconds.selfplay;
        let best = match self.state.best.as_str() {
            "" => None,
            name => Some(network_file::<L>(&*self.store, name)?),
        };
        let player = L::player(&self.settings, PlayerFor::SelfPlay, best.as_deref())
            .map_err(RunError::Game)?;
        let (settings, store, network) = (&*self.settings, &self.store, &self.state.best);
        let shared = &self.shared;
        let books = Mutex::new((&mut self.games, None::<RunError>));
        // What is done with a game is the same wherever it was played; one from elsewhere is kept already.
        let count = |record: Option<L::Record>, kept: Result<(), RunError>| {
            let mut books = books.lock().unwrap_or_else(PoisonError::into_inner);
            let (games, failure) = &mut *books;
            if let Err(error) = kept {
                failure.get_or_insert(error);
            }
            if let Some(record) = record {
                games.add(record);
                let seconds = seconds_before + began.elapsed().as_secs_f64();
                on_progress(Status {
                    games: games.count,
                    positions: games.positions,
                    games_per_hour: per_hour(games.count, seconds),
                    ..before.clone()
                });
            }
            let is_enough = games.of_round(round).games >= wanted;
            if is_enough || failure.is_some() || stop.load(Ordering::Relaxed) {
                enough.store(true, Ordering::Relaxed);
                shared.desk.wake();
            }
        };
        let play = |number| {
            let task = SelfPlayTask {
                number,
                round,
                network,
                seed: nth_seed(schedule.seed, number),
            };
            L::play(settings, &player, &task, &enough).unwrap_or_else(|error| {
                count(None, Err(RunError::Game(error)));
                None
            })
        };
        let finished = |_, record| match store.append_game(&L::encode(&record)) {
            Ok(Appended::New) => {
                shared.desk.count_game(round);
                count(Some(record), Ok(()));
            }
            Ok(Appended::Duplicate) => count(None, Ok(())),
            Err(error) => count(None, Err(error.into())),
        };
        let number = || match shared.desk.take_number() {
            Ok(number) => Some(number),
            Err(error) => {
                count(None, Err(error.into()));
                None
            }
        };
        let is_served = self.is_served;
        let at_once = match self.at_once[0] {
            0 if !is_served => 1,
            at_once => at_once,
        };
        thread::scope(|scope| {
            scope.spawn(|| play_numbers(number, at_once, &enough, play, finished));
            while is_served && !enough.load(Ordering::Relaxed) {
                shared.desk.wait();
                let arrived = shared.arrivals();
                if arrived.is_empty() {
                    count(None, Ok(()));
                }
                for record in arrived {
                    count(Some(record), Ok(()));
                }
            }
        });
        if let Some(error) = books.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
            return Err(error);
        }
        self.state.seconds.selfplay += began.elapsed().as_secs_f64();
        self.store.save_state(&self.state)?;
        Ok(if self.games_of_round().games >= wanted {
            Event::Played
        } else {
            Event::Stopped
        })
    }

    fn train(
        &mut self,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, RunError> {
        let began = Instant::now();
        let round = self.state.rounds + 1;
        let status = self.status(Phase::Training);
        let mut observe = |progress: TrainingProgress| {
            on_progress(Status {
                steps: Some((progress.step, progress.steps)),
                ..status.clone()
            });
            !stop.load(Ordering::Relaxed)
        };
        let trained = match &self.trainer {
            Some(trainer) => {
                let order = TrainingOrder {
                    round,
                    games: self.games.count,
                    new_positions: self.games_of_round().positions,
                    newest: self.state.newest.clone(),
                };
                trainer
                    .train(&order, &mut observe)
                    .map_err(RunError::Game)?
            }
            None => self.train_here(round, &mut observe)?,
        };
        self.state.seconds.training += began.elapsed().as_secs_f64();
        let Some(trained) = trained.filter(|_| !stop.load(Ordering::Relaxed)) else {
            self.store.save_state(&self.state)?;
            return Ok(Event::Stopped);
        };
        let line = TrainingLine {
            round,
            policy_loss: trained.policy_loss,
            value_error: trained.value_error,
            positions: trained.positions,
        };
        self.state.newest.clone_from(&trained.network);
        self.state.candidate = Some(trained.network);
        self.state.rounds = round;
        self.state.trainings.push(line.clone());
        self.store.save_state(&self.state)?;
        self.store.remove_training(round)?;
        Ok(Event::Trained(line))
    }

    /// Trains in this process, and keeps the network.
    fn train_here(
        &self,
        round: u64,
        observe: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<TrainedElsewhere>, RunError> {
        let newest = &self.state.newest;
        let request = TrainingRequest::<L> {
            settings: &self.settings,
            round,
            window: &self.games.window,
            new_positions: self.games_of_round().positions,
            checkpoint: self.store.network(newest, CHECKPOINT_EXTENSION)?,
            network: self.store.network(newest, L::NETWORK_EXTENSION)?,
            dir: self.store.training_dir(round),
        };
        let trained = match L::train(&request, observe) {
            Ok(Some(trained)) => trained,
            Ok(None) => return Ok(None),
            Err(error) => return Err(RunError::Game(error)),
        };
        self.store.put_network(&trained.network)?;
        Ok(Some(TrainedElsewhere {
            network: trained.network.name,
            policy_loss: trained.policy_loss,
            value_error: trained.value_error,
            positions: trained.positions,
        }))
    }

    fn games_of_round(&self) -> RoundCount {
        self.games.of_round(self.state.rounds)
    }

    /// How many games the present round has before it trains. Past rounds had what the settings said then.
    fn games_wanted_of_round(&self) -> u64 {
        let schedule = L::schedule(&self.settings);
        match self.state.rounds {
            0 => schedule.first_games,
            _ => schedule.games,
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
            games_per_hour: per_hour(self.games.count, self.state.seconds.selfplay),
            best: best.chars().take(SHORT_NAME).collect(),
            elo: self.state.elo,
            elo_error: self.state.elo_error,
            last_match: self.state.matches.last().map(|line| line.score),
            steps: None,
        }
    }
}

fn network_file<L: Learner>(store: &dyn Store, name: &str) -> Result<PathBuf, RunError> {
    let file = store.network(name, L::NETWORK_EXTENSION)?;
    file.ok_or_else(|| RunError::NoNetwork {
        name: name.to_owned(),
        extension: L::NETWORK_EXTENSION,
    })
}

fn per_hour(games: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        games as f64 * 3600.0 / seconds
    } else {
        0.0
    }
}

//! A run of the learning loop: what is due next, and what becomes of it.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use base::{LockedFolder, nth_seed};

use crate::{
    Appended, CHECKPOINT_EXTENSION, Event, FolderStore, Games, Learner, MatchLine, MatchTask,
    NewNetwork, Phase, PlayerFor, Rule, RunError, Score, SelfPlayTask, State, Status, Store,
    StoreError, TrainingLine, TrainingProgress, TrainingRequest, Verdict, play_games, play_match,
    publish::Publisher, report, settings, window::RoundCount,
};

/// Characters of a network's name in a status line.
const SHORT_NAME: usize = 8;
/// What a status line calls the player of the first games when it is no network.
const NO_NETWORK: &str = "none";
/// Keeps the seeds of matches apart from those of self-play.
const MATCH_SEEDS: u64 = 0x6d61_7463_6865_7321;

/// A run.
pub struct Run<L: Learner> {
    store: Arc<dyn Store>,
    /// Nobody else plays or trains here.
    _lock: LockedFolder,
    settings: L::Settings,
    state: State,
    games: Games<L>,
}

/// How a new run begins.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// A network to begin with instead of the game's own.
    pub from: Option<PathBuf>,
    /// Settings by path, such as `("size", "9")`. A run that has begun must have them already.
    pub values: Vec<(String, String)>,
}

impl<L: Learner> Run<L> {
    /// Opens the run in `dir`, or begins one. Nothing is written before everything asked for was found to be good.
    pub fn open(dir: &Path, beginning: &Beginning) -> Result<Self, RunError> {
        let found = settings::read::<L>(dir)?;
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
        Ok(Run {
            store: Arc::new(store),
            _lock: lock,
            settings,
            state,
            games,
        })
    }

    /// The settings.
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
        let on_progress = &|status: Status| {
            publisher.note(&status);
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
        let (settings, store, network) = (&self.settings, &self.store, &self.state.best);
        let first = self.games.next_number;
        let books = Mutex::new((&mut self.games, None::<StoreError>));
        let play = |number| {
            let task = SelfPlayTask {
                number,
                round,
                network,
                seed: nth_seed(schedule.seed, number),
            };
            L::play(settings, &player, &task, &enough)
        };
        let finished = |_, record| {
            let mut books = books.lock().unwrap_or_else(PoisonError::into_inner);
            let (games, failure) = &mut *books;
            match store.append_game(&L::encode(&record)) {
                Ok(Appended::New) => games.add(record),
                Ok(Appended::Duplicate) => {}
                Err(error) => *failure = Some(error),
            }
            let seconds = seconds_before + began.elapsed().as_secs_f64();
            on_progress(Status {
                games: games.count,
                positions: games.positions,
                games_per_hour: per_hour(games.count, seconds),
                ..before.clone()
            });
            let is_enough = games.of_round(round).games >= wanted;
            if is_enough || failure.is_some() || stop.load(Ordering::Relaxed) {
                enough.store(true, Ordering::Relaxed);
            }
        };
        play_games(first, None, schedule.games_at_once, &enough, play, finished);
        if let Some(error) = books.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
            return Err(error.into());
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
        let status = self.status(Phase::Training);
        let mut observe = |progress: TrainingProgress| {
            on_progress(Status {
                steps: Some((progress.step, progress.steps)),
                ..status.clone()
            });
            !stop.load(Ordering::Relaxed)
        };
        let trained = L::train(&request, &mut observe).map_err(RunError::Game)?;
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
        self.store.put_network(&trained.network)?;
        self.state.newest.clone_from(&trained.network.name);
        self.state.candidate = Some(trained.network.name);
        self.state.rounds = round;
        self.state.trainings.push(line.clone());
        self.store.save_state(&self.state)?;
        self.store.remove_training(round)?;
        Ok(Event::Trained(line))
    }

    fn decide(
        &mut self,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, RunError> {
        let began = Instant::now();
        let Some(candidate) = self.state.candidate.clone() else {
            return Ok(Event::Stopped);
        };
        let best = self.state.best.clone();
        // The first network has nobody to beat, and one that was promoted just before a crash has beaten it.
        let (verdict, score) = if best.is_empty() || best == candidate {
            (Verdict::Pass, self.score_of(&candidate)?)
        } else {
            self.gate(&candidate, &best, stop, on_progress)?
        };
        self.state.seconds.matches += began.elapsed().as_secs_f64();
        if verdict == Verdict::Open {
            self.store.save_state(&self.state)?;
            return Ok(Event::Stopped);
        }
        let promoted = verdict == Verdict::Pass;
        if promoted {
            if !self.store.compare_and_set_best(&best, &candidate)? {
                return Err(StoreError::Conflict.into());
            }
            self.state.best.clone_from(&candidate);
            if self.state.first.is_empty() && best.is_empty() {
                self.state.first.clone_from(&candidate);
            }
            let rates = L::schedule(&self.settings).rating_games > 0;
            self.state.to_rate = rates.then(|| candidate.clone());
        }
        self.state.candidate = None;
        let mut line = MatchLine {
            round: self.state.rounds,
            network: candidate.clone(),
            score,
            promoted,
            elo: 0.0,
            games: self.games.count,
            at_seconds: self.state.seconds.total(),
        };
        self.state.matches.push(line.clone());
        line.elo = self.update_ratings(&candidate)?.0;
        if let Some(last) = self.state.matches.last_mut() {
            last.elo = line.elo;
        }
        self.store.save_state(&self.state)?;
        Ok(Event::Decided(line))
    }

    fn gate(
        &self,
        candidate: &str,
        best: &str,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<(Verdict, Score), RunError> {
        let schedule = L::schedule(&self.settings);
        let players = [self.match_player(candidate)?, self.match_player(best)?];
        let task = MatchTask {
            first: candidate,
            second: best,
            rule: Rule::Sprt(schedule.sprt),
            at_once: schedule.match_games_at_once,
            seed: nth_seed(schedule.seed ^ MATCH_SEEDS, self.state.rounds),
        };
        self.play_match(
            &task,
            [&players[0], &players[1]],
            Phase::Match,
            stop,
            on_progress,
        )
    }

    /// Plays what is missing of the new best network's games against older ones and fixed opponents.
    fn rate(
        &mut self,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, RunError> {
        let began = Instant::now();
        let Some(network) = self.state.to_rate.clone() else {
            return Ok(Event::Stopped);
        };
        let schedule = L::schedule(&self.settings);
        let player = self.match_player(&network)?;
        let task = MatchTask {
            first: &network,
            second: "",
            rule: Rule::Length(schedule.rating_games),
            at_once: schedule.match_games_at_once,
            seed: nth_seed(schedule.seed ^ MATCH_SEEDS, !self.state.rounds),
        };
        let mut is_open = false;
        for opponent in older(&self.state.best_chain(), schedule.rating_opponents) {
            if is_open
                || self
                    .store
                    .network(opponent, L::NETWORK_EXTENSION)?
                    .is_none()
            {
                continue;
            }
            let other = self.match_player(opponent)?;
            let sides = [&player, &other];
            let task = MatchTask {
                second: opponent,
                ..task
            };
            let (verdict, _) = self.play_match(&task, sides, Phase::Rating, stop, on_progress)?;
            is_open |= verdict == Verdict::Open;
        }
        if !is_open {
            for anchor in L::anchors(&self.settings) {
                let sides = [&player, &anchor.player];
                let task = MatchTask {
                    second: &anchor.name,
                    ..task
                };
                let (verdict, _) =
                    self.play_match(&task, sides, Phase::Rating, stop, on_progress)?;
                is_open |= verdict == Verdict::Open;
            }
        }
        self.state.seconds.matches += began.elapsed().as_secs_f64();
        if is_open {
            self.store.save_state(&self.state)?;
            return Ok(Event::Stopped);
        }
        self.state.to_rate = None;
        let (elo, error) = self.update_ratings(&network)?;
        self.store.save_state(&self.state)?;
        Ok(Event::Rated(elo, error))
    }

    fn play_match(
        &self,
        task: &MatchTask<'_>,
        players: [&L::Player; 2],
        phase: Phase,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<(Verdict, Score), RunError> {
        let status = self.status(phase);
        let told = |score| {
            on_progress(Status {
                last_match: Some(score),
                ..status.clone()
            })
        };
        let settings = &self.settings;
        let play =
            |slot, seed, done: &AtomicBool| L::play_match_game(settings, players, slot, seed, done);
        Ok(play_match(&*self.store, task, stop, play, told)?)
    }

    fn match_player(&self, name: &str) -> Result<L::Player, RunError> {
        let file = network_file::<L>(&*self.store, name)?;
        L::player(&self.settings, PlayerFor::Match, Some(&file)).map_err(RunError::Game)
    }

    /// The score of all gating games of a network.
    fn score_of(&self, network: &str) -> Result<Score, RunError> {
        let mut score = Score::default();
        for game in self.store.match_games()? {
            if game.first == network {
                match game.first_won {
                    Some(true) => score.wins += 1,
                    Some(false) => score.losses += 1,
                    None => {}
                }
            }
        }
        Ok(score)
    }

    /// Rates everybody anew; returns the Elo of `network` and half its 95 % interval.
    fn update_ratings(&mut self, network: &str) -> Result<(f64, Option<f64>), RunError> {
        let ratings = self.state.ratings(&self.store.match_games()?);
        let of = |name: &str| {
            let rating = ratings.of(name);
            rating.map_or((0.0, None), |rating| (rating.elo.0, rating.error))
        };
        (self.state.elo, self.state.elo_error) = of(&self.state.best);
        Ok(of(network))
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

/// Former best networks to rate a new one against: two, four, eight and so on promotions back. The one before was the
/// opponent of the gating match.
fn older<'a>(chain: &[&'a str], most: usize) -> Vec<&'a str> {
    let distances = (1..=most as u32).map(|power| 1_usize << power.min(30));
    let last = chain.len().saturating_sub(1);
    let mut opponents: Vec<&str> = distances
        .map(|back| chain[last.saturating_sub(back)])
        .collect();
    opponents.dedup();
    opponents.retain(|name| Some(name) != chain.last());
    opponents
}

fn network_file<L: Learner>(store: &dyn Store, name: &str) -> Result<PathBuf, RunError> {
    let file = store.network(name, L::NETWORK_EXTENSION)?;
    file.ok_or_else(|| RunError::NoNetwork {
        name: name.to_owned(),
        extension: L::NETWORK_EXTENSION,
    })
}

/// The settings of a new run, checked.
fn new_settings<L: Learner>(values: &[(String, String)]) -> Result<L::Settings, RunError> {
    let settings = settings::with_values(&L::Settings::default(), values)
        .map_err(|message| RunError::Game(message.into()))?;
    L::check(&settings).map_err(RunError::NewSetting)?;
    Ok(settings)
}

/// Refuses settings that differ from those of a run that has begun.
fn check_same<L: Learner>(
    dir: &Path,
    found: &L::Settings,
    values: &[(String, String)],
) -> Result<(), RunError> {
    let wanted =
        settings::with_values(found, values).map_err(|message| RunError::Game(message.into()))?;
    for (name, _) in values {
        let [found, asked] =
            [found, &wanted].map(|settings| settings::value_of(settings, name).unwrap_or_default());
        if found != asked {
            return Err(RunError::OtherSetting {
                dir: dir.to_owned(),
                name: name.clone(),
                found,
                asked,
            });
        }
    }
    Ok(())
}

/// A network to begin with. The settings of a folder must fit it; those of a new one follow it.
fn adopt<L: Learner>(
    file: &Path,
    settings: &mut L::Settings,
    had_settings: bool,
) -> Result<NewNetwork, RunError> {
    let before = settings::paths(settings);
    let values: Vec<Option<String>> = before
        .iter()
        .map(|path| settings::value_of(settings, path))
        .collect();
    let network = L::adopt(file, settings).map_err(RunError::Game)?;
    let changed: Vec<String> = before
        .iter()
        .zip(&values)
        .filter(|(path, value)| settings::value_of(settings, path) != **value)
        .map(|(path, _)| path.clone())
        .collect();
    if had_settings && !changed.is_empty() {
        let wanted = settings::value_list(settings, &changed);
        return Err(RunError::Game(
            format!("{} has {wanted}; so must the settings", file.display()).into(),
        ));
    }
    Ok(network)
}

/// The state a run begins with.
fn begin<L: Learner>(
    store: &dyn Store,
    settings: &L::Settings,
    given: Option<(&PathBuf, NewNetwork)>,
) -> Result<State, RunError> {
    let (network, begun_from) = match given {
        Some((file, network)) => (Some(network), Some(file.display().to_string())),
        None => (L::first_network(settings), None),
    };
    let mut first = String::new();
    if let Some(network) = network {
        store.put_network(&network)?;
        first = network.name;
    }
    let state = State {
        begun_from,
        first: first.clone(),
        best: first.clone(),
        newest: first,
        ..State::default()
    };
    store.save_state(&state)?;
    Ok(state)
}

fn per_hour(games: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        games as f64 * 3600.0 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_best_network_meets_older_ones_ever_further_back() {
        let names: Vec<String> = (0..12).map(|index| index.to_string()).collect();
        let chain: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(older(&chain, 3), ["9", "7", "3"]);
        assert_eq!(older(&chain[..2], 3), ["0"]);
        assert!(older(&chain[..1], 3).is_empty());
    }
}

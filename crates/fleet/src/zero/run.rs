//! A run of `zero` in its folder.

use std::{
    collections::VecDeque,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use flate2::{Compression, write::GzEncoder};
use go::BoardSize;
use go_player::{LoadedNetwork, NetworkError};
use learn::{
    go_task::{GoData, GoSettings, GoTask, chunks, example::GoExample, model::GoShape},
    history::Part,
    optimiser::{Decay, Schedule},
    settings::{AverageSettings, TrainSettings},
    trainer::{self, TrainError},
};
use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion, LoadError, TextStyle, sha256_of_text};
use thiserror::Error;

use crate::{
    Elo, Log, LogError, Score, Verdict, play_games, write_whole,
    zero::{
        BadSetting, GateError, MatchLine, State, StoredGame, TEMPLATE, TrainingLine, ZeroSettings,
        gate::Gate, report::report, stored::Head,
    },
};

/// Games kept at hand for the report.
const RECENT_GAMES: usize = 12;
/// One position in this many is kept out of training to measure the losses.
const TEST_EVERY: usize = 32;
/// A match without a loss says no more than this about Elo.
const MOST_ELO: f64 = 400.0;

/// Why a run cannot go on.
#[derive(Debug, Error)]
pub enum ZeroError {
    /// A file of the folder.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the folder does not say what it should.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A setting that cannot be meant.
    #[error("{}: {source}", path.display())]
    Setting {
        /// The settings file.
        path: PathBuf,
        /// Which, and what would do.
        source: BadSetting,
    },
    /// A log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A match.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A network that does not load.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A network file that does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A training.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The best network plays itself.
    SelfPlay,
    /// The newest network learns.
    Training,
    /// The candidate plays the best network.
    Match,
}

/// Where a run stands, for a status line.
#[derive(Clone, Debug)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// Trainings finished.
    pub round: u64,
    /// Games of self-play.
    pub games: u64,
    /// The games at which self-play pauses for training.
    pub games_wanted: u64,
    /// Positions recorded.
    pub positions: u64,
    /// Games of self-play an hour, over the whole run.
    pub games_per_hour: f64,
    /// The network that plays, shortened.
    pub best: String,
    /// Its Elo.
    pub elo: f64,
    /// The match under way, or the last one.
    pub last_match: Option<Score>,
    /// Training steps done and due.
    pub steps: Option<(u64, u64)>,
}

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Enough games for the next training.
    Played,
    /// A new network.
    Trained(TrainingLine),
    /// A decided match.
    Decided(MatchLine),
    /// `stop` was set.
    Stopped,
}

/// A run.
pub struct GoRun {
    dir: PathBuf,
    settings: ZeroSettings,
    state: State,
    games_log: Log,
    gate: Gate,
    games: Games,
}

/// What is known of the games so far.
struct Games {
    count: u64,
    next_number: u64,
    positions: u64,
    /// Positions by the round they were played in, for the current round.
    round_positions: (u64, usize),
    window: VecDeque<GoExample>,
    window_size: usize,
    recent: VecDeque<Head>,
}

impl GoRun {
    /// Opens the run in `dir`, or begins one. `adjust` may change the settings of a new run.
    pub fn open(dir: &Path, adjust: impl FnOnce(&str) -> String) -> Result<GoRun, ZeroError> {
        let networks = dir.join("networks");
        fs::create_dir_all(&networks).map_err(|source| ZeroError::File {
            path: networks,
            source,
        })?;
        let settings = read_settings(dir, adjust)?;
        let size = BoardSize::new(settings.size).unwrap_or(BoardSize::NINE);
        let state = read_state(dir, &settings)?;
        remove_finished_training(dir, state.rounds)?;
        let mut games = Games::new(settings.training.window);
        let mut damage = None;
        let log_path = dir.join("games.log");
        let games_log = Log::open(&log_path, |record| {
            match StoredGame::from_bytes(record, size) {
                Ok(game) => games.add(game),
                Err(message) => damage = Some(message),
            }
        })?;
        if let Some(message) = damage {
            return Err(ZeroError::Content {
                path: log_path,
                message,
            });
        }
        let gate = Gate::open(&dir.join("matches.log"))?;
        Ok(GoRun {
            dir: dir.to_owned(),
            settings,
            state,
            games_log,
            gate,
            games,
        })
    }

    /// The settings.
    pub fn settings(&self) -> &ZeroSettings {
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

    /// The file of the best network.
    pub fn best_network(&self) -> PathBuf {
        self.network_path(&self.state.best)
    }

    /// Does what is due next. `heard` is told where the run stands, often.
    pub fn step(
        &mut self,
        stop: &AtomicBool,
        heard: &(impl Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let event = if self.state.candidate.is_some() {
            self.decide(stop, heard)?
        } else if self.games.count < self.games_wanted() {
            self.play(stop, heard)?
        } else {
            self.train(stop, heard)?
        };
        let page = report(
            &self.settings,
            &self.state,
            self.games.count,
            self.games.recent.make_contiguous(),
        );
        self.write("report.html", page.as_bytes())?;
        Ok(event)
    }

    fn play(
        &mut self,
        stop: &AtomicBool,
        heard: &(impl Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let began = Instant::now();
        let wanted = self.games_wanted();
        let network = LoadedNetwork::load(&self.best_network())?;
        let settings = self.settings.selfplay.clone();
        let (seed, first) = (self.settings.seed, self.games.next_number);
        let (round, best) = (self.state.rounds, self.state.best.clone());
        let enough = AtomicBool::new(stop.load(Ordering::Relaxed));
        let mut failure = None;
        {
            let this = Mutex::new((&mut *self, &mut failure));
            let done = |number, finished| {
                let game = StoredGame::new(number, round, &best, &finished);
                let mut guard = this.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let (run, failure) = &mut *guard;
                match run.games_log.append(&game.to_bytes()) {
                    Ok(()) => run.games.add(game),
                    Err(error) => **failure = Some(error),
                }
                let seconds = run.state.seconds.selfplay + began.elapsed().as_secs_f64();
                heard(run.status(Phase::SelfPlay, seconds));
                if run.games.count >= wanted || failure.is_some() || stop.load(Ordering::Relaxed) {
                    enough.store(true, Ordering::Relaxed);
                }
            };
            play_games(
                network.evaluator,
                &settings.play,
                seed,
                first,
                settings.at_once,
                &enough,
                done,
            )
            .map_err(GateError::from)?;
        }
        if let Some(error) = failure {
            return Err(error.into());
        }
        self.state.seconds.selfplay += began.elapsed().as_secs_f64();
        self.save()?;
        Ok(if self.games.count >= wanted {
            Event::Played
        } else {
            Event::Stopped
        })
    }

    fn train(
        &mut self,
        stop: &AtomicBool,
        heard: &(impl Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let began = Instant::now();
        let round = self.state.rounds + 1;
        let folder = training_folder(&self.dir, round);
        let (mut training, mut test) = (Vec::new(), Vec::new());
        for (place, example) in self.games.window.iter().enumerate() {
            let part = if place.is_multiple_of(TEST_EVERY) {
                &mut test
            } else {
                &mut training
            };
            part.push(example.clone());
        }
        let positions = training.len();
        let settings = self.training_settings(round);
        let mut task =
            GoTask::from_examples(settings.clone(), training, test).map_err(TrainError::from)?;
        let start = LeelaNetwork::load(&self.network_path(&self.state.newest))?;
        task.start_from(&start)
            .map_err(|error| ZeroError::Content {
                path: self.dir.join(SETTINGS),
                message: format!("{error}; blocks, filters and size cannot change during a run"),
            })?;
        let seconds = self.state.seconds.selfplay;
        let mut observe = |line: &trainer::Report<'_>| {
            let steps = Some((line.step, line.steps));
            heard(Status {
                steps,
                ..self.status(Phase::Training, seconds)
            });
            !stop.load(Ordering::Relaxed)
        };
        let outcome = trainer::train(&mut task, &settings.training, &folder, &mut observe)?;
        self.state.seconds.training += began.elapsed().as_secs_f64();
        if stop.load(Ordering::Relaxed) {
            self.save()?;
            return Ok(Event::Stopped);
        }
        let last = outcome.history.last(Part::Test);
        let line = TrainingLine {
            round,
            policy_loss: last.and_then(|row| row.values.get(POLICY_LOSS).copied().flatten()),
            value_error: last.and_then(|row| row.values.get(VALUE_ERROR).copied().flatten()),
            positions,
        };
        let name = self.keep_network(&task.network())?;
        self.state.newest = name.clone();
        self.state.candidate = Some(name);
        self.state.rounds = round;
        self.state.trainings.push(line.clone());
        self.save()?;
        remove_finished_training(&self.dir, round)?;
        Ok(Event::Trained(line))
    }

    fn decide(
        &mut self,
        stop: &AtomicBool,
        heard: &(impl Fn(Status) + Sync),
    ) -> Result<Event, ZeroError> {
        let began = Instant::now();
        let Some(candidate) = self.state.candidate.clone() else {
            return Ok(Event::Stopped);
        };
        let new = LoadedNetwork::load(&self.network_path(&candidate))?;
        let best = LoadedNetwork::load(&self.best_network())?;
        let part = self.settings.gate.clone();
        let play = part.play(&self.settings.selfplay.play);
        let seed = self.settings.seed ^ self.state.rounds.rotate_left(32);
        let status = self.status(Phase::Match, self.state.seconds.selfplay);
        let verdict = self.gate.play(
            &candidate,
            new.evaluator,
            best.evaluator,
            &play,
            &part.sprt(),
            part.at_once,
            seed,
            stop,
            |score| {
                heard(Status {
                    last_match: Some(score),
                    ..status.clone()
                })
            },
        )?;
        self.state.seconds.matches += began.elapsed().as_secs_f64();
        if verdict == Verdict::Open {
            self.save()?;
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
        self.save()?;
        Ok(Event::Decided(line))
    }

    fn games_wanted(&self) -> u64 {
        self.settings.selfplay.first_games + self.settings.selfplay.games * self.state.rounds
    }

    fn training_settings(&self, round: u64) -> GoSettings {
        let part = &self.settings.training;
        let new_positions = self.games.round_positions.1.min(self.games.window.len());
        let samples = new_positions as f64 * part.passes;
        let steps = ((samples / part.batch as f64).ceil() as u64).max(1);
        GoSettings {
            network: GoShape {
                size: self.settings.size,
                blocks: self.settings.blocks,
                filters: self.settings.filters,
            },
            data: GoData::default(),
            value_weight: part.value_weight,
            training: TrainSettings {
                steps,
                batch: part.batch,
                threads: part.threads,
                seed: self.settings.seed ^ round,
                decay: part.decay,
                test_every: steps,
                schedule: Schedule {
                    rate: part.rate,
                    warm_up: steps / 20,
                    then: Decay::Constant,
                },
                average: AverageSettings {
                    from: 1.0,
                    ..AverageSettings::default()
                },
                ..TrainSettings::default()
            },
        }
    }

    fn status(&self, phase: Phase, selfplay_seconds: f64) -> Status {
        let hours = selfplay_seconds / 3600.0;
        Status {
            phase,
            round: self.state.rounds,
            games: self.games.count,
            games_wanted: self.games_wanted(),
            positions: self.games.positions,
            games_per_hour: if hours > 0.0 {
                self.games.count as f64 / hours
            } else {
                0.0
            },
            best: self.state.best.chars().take(SHORT_NAME).collect(),
            elo: self.state.elo,
            last_match: self.state.matches.last().map(|line| line.score),
            steps: None,
        }
    }

    fn network_path(&self, name: &str) -> PathBuf {
        network_path(&self.dir, name)
    }

    fn keep_network(&self, network: &LeelaNetwork) -> Result<String, ZeroError> {
        keep_network(&self.dir, network)
    }

    fn save(&self) -> Result<(), ZeroError> {
        self.write(STATE, &state_bytes(&self.state))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ZeroError> {
        let path = self.dir.join(name);
        write_whole(&path, bytes).map_err(|source| ZeroError::File { path, source })
    }
}

/// Places of two measures in the trainer's rows.
const POLICY_LOSS: usize = 1;
const VALUE_ERROR: usize = 3;
/// Files of a run.
const SETTINGS: &str = "settings.toml";
const STATE: &str = "state.json";
/// Characters of a network's name in a status line.
const SHORT_NAME: usize = 8;

impl Games {
    fn new(window_size: usize) -> Games {
        Games {
            count: 0,
            next_number: 0,
            positions: 0,
            round_positions: (0, 0),
            window: VecDeque::new(),
            window_size,
            recent: VecDeque::new(),
        }
    }

    fn add(&mut self, game: StoredGame) {
        let StoredGame { head, records } = game;
        self.count += 1;
        self.next_number = self.next_number.max(head.number + 1);
        self.positions += records.len() as u64;
        if self.round_positions.0 != head.round {
            self.round_positions = (head.round, 0);
        }
        self.round_positions.1 += records.len();
        for record in records {
            if self.window.len() == self.window_size {
                self.window.pop_front();
            }
            self.window.push_back(chunks::example(record));
        }
        if self.recent.len() == RECENT_GAMES {
            self.recent.pop_front();
        }
        self.recent.push_back(head);
    }
}

fn read_settings(
    dir: &Path,
    adjust: impl FnOnce(&str) -> String,
) -> Result<ZeroSettings, ZeroError> {
    let path = dir.join(SETTINGS);
    let file = |source| ZeroError::File {
        path: path.clone(),
        source,
    };
    if !path.exists() {
        write_whole(&path, adjust(TEMPLATE).as_bytes()).map_err(file)?;
    }
    let text = fs::read_to_string(&path).map_err(file)?;
    let settings: ZeroSettings = toml::from_str(&text).map_err(|error| ZeroError::Content {
        path: path.clone(),
        message: error.to_string(),
    })?;
    settings
        .check()
        .map_err(|source| ZeroError::Setting { path, source })?;
    Ok(settings)
}

fn read_state(dir: &Path, settings: &ZeroSettings) -> Result<State, ZeroError> {
    let path = dir.join(STATE);
    if path.exists() {
        let bytes = fs::read(&path).map_err(|source| ZeroError::File {
            path: path.clone(),
            source,
        })?;
        return serde_json::from_slice(&bytes).map_err(|error| ZeroError::Content {
            path,
            message: error.to_string(),
        });
    }
    let shape = LeelaShape::stock(settings.size, settings.blocks, settings.filters);
    let first = keep_network(
        dir,
        &LeelaNetwork::random(LeelaVersion::V1, shape, settings.seed),
    )?;
    let state = State {
        best: first.clone(),
        newest: first,
        ..State::default()
    };
    write_whole(&path, &state_bytes(&state)).map_err(|source| ZeroError::File { path, source })?;
    Ok(state)
}

fn training_folder(dir: &Path, round: u64) -> PathBuf {
    dir.join(format!("training-{round:04}"))
}

/// Once the state tells of a training, its network is kept and its folder has served its purpose.
/// A crash between the two leaves the folder of the last one behind.
fn remove_finished_training(dir: &Path, rounds: u64) -> Result<(), ZeroError> {
    let path = training_folder(dir, rounds);
    match fs::remove_dir_all(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(ZeroError::File { path, source })
        }
        _ => Ok(()),
    }
}

fn state_bytes(state: &State) -> Vec<u8> {
    // A struct of strings and finite numbers always has a JSON form.
    serde_json::to_vec_pretty(state).unwrap_or_default()
}

fn network_path(dir: &Path, name: &str) -> PathBuf {
    dir.join("networks").join(format!("{name}.txt.gz"))
}

/// Writes a network under the hash of its text, and answers that.
fn keep_network(dir: &Path, network: &LeelaNetwork) -> Result<String, ZeroError> {
    let text = network.to_text(TextStyle::default());
    let name = sha256_of_text(&text);
    let path = network_path(dir, &name);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = gzip.write_all(&text).and_then(|()| gzip.finish());
    bytes
        .and_then(|bytes| write_whole(&path, &bytes))
        .map_err(|source| ZeroError::File { path, source })?;
    Ok(name)
}

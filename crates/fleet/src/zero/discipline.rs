//! What a game brings to the loop; everything else is the same for all.

use std::{collections::VecDeque, path::Path, sync::atomic::AtomicBool};

use learn::{
    history::{History, Part},
    settings::TrainSettings,
    trainer::{self, Report, Task, TrainError},
};
use serde::de::DeserializeOwned;

use crate::{
    Score, Verdict,
    zero::{BadSetting, Folder, NewNetwork, State, ZeroError, games::Games, gate::Gate},
};

/// A game the loop can learn.
pub trait Discipline: Sized {
    /// What can be chosen about a run.
    type Settings: DeserializeOwned;
    /// A finished game of self-play.
    type Game: Send;
    /// A position to learn from.
    type Example: Clone + Send;
    /// What is counted of all games, for the report.
    type Summary: Default + Send;

    /// The settings of a new run, explained.
    const TEMPLATE: &'static str;
    /// How the name of a network's file ends.
    const NETWORK_ENDING: &'static str;

    /// Refuses settings that cannot be meant.
    fn check(settings: &Self::Settings) -> Result<(), BadSetting>;

    /// How much is played before each training.
    fn pace(settings: &Self::Settings) -> Pace;

    /// The network that plays first; none if the first games are played without one.
    fn first_network(settings: &Self::Settings) -> Option<NewNetwork>;

    /// The number of a game and the round it was played in.
    fn place(game: &Self::Game) -> (u64, u64);

    /// A game as bytes for the log.
    fn to_bytes(game: &Self::Game) -> Vec<u8>;

    /// The game of logged bytes, or what is wrong with them.
    fn from_bytes(settings: &Self::Settings, bytes: &[u8]) -> Result<Self::Game, String>;

    /// What is learned from a game.
    fn examples(game: &Self::Game) -> Vec<Self::Example>;

    /// Counts a game.
    fn count(summary: &mut Self::Summary, game: &Self::Game);

    /// Plays games with the best network until `enough` is set, and hands each to `done`.
    fn play(
        table: &Table<'_, Self>,
        first: u64,
        enough: &AtomicBool,
        done: &(dyn Fn(Self::Game) + Sync),
    ) -> Result<(), ZeroError>;

    /// Trains the newest network further, in the folder of the round's training. Nothing when `observe` said no.
    fn train(
        table: &Table<'_, Self>,
        round: u64,
        lesson: &Lesson<'_, Self>,
        observe: &mut dyn FnMut(&Report<'_>) -> bool,
    ) -> Result<Option<Trained>, ZeroError>;

    /// Plays what is missing of a candidate's match.
    fn decide(
        table: &Table<'_, Self>,
        candidate: &str,
        gate: &mut Gate,
        stop: &AtomicBool,
        heard: &(dyn Fn(Score) + Sync),
    ) -> Result<Verdict, ZeroError>;

    /// The page that shows how a run went.
    fn report(settings: &Self::Settings, state: &State, games: &Games<Self>) -> String;
}

/// When self-play pauses, and what is remembered of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Games before the first training.
    pub first_games: u64,
    /// Games between two trainings.
    pub games: u64,
    /// The newest positions that are learned from.
    pub window: usize,
}

/// What every part of a round needs to know.
pub struct Table<'a, D: Discipline> {
    /// Where everything is.
    pub folder: &'a Folder,
    /// The settings.
    pub settings: &'a D::Settings,
    /// What was done.
    pub state: &'a State,
}

impl<D: Discipline> Table<'_, D> {
    /// The file of the network that plays, if one does.
    pub fn best(&self) -> Option<std::path::PathBuf> {
        let name = &self.state.best;
        (!name.is_empty()).then(|| self.folder.network(name, D::NETWORK_ENDING))
    }
}

/// What there is to learn from.
pub struct Lesson<'a, D: Discipline> {
    /// The newest positions.
    pub window: &'a VecDeque<D::Example>,
    /// How many of them are new since the last training.
    pub new_positions: usize,
}

/// What a training came to.
pub struct Trained {
    /// The network.
    pub network: NewNetwork,
    /// Cross-entropy of the policy on positions kept out.
    pub policy_loss: Option<f64>,
    /// Squared error of the value on positions kept out.
    pub value_error: Option<f64>,
    /// Positions learned from.
    pub positions: usize,
}

/// Runs a training to its end and tells what was measured. Nothing when `observe` said no.
pub fn see_through(
    task: &mut dyn Task,
    settings: &TrainSettings,
    folder: &Path,
    observe: &mut dyn FnMut(&Report<'_>) -> bool,
) -> Result<Option<History>, TrainError> {
    let mut wanted = true;
    let outcome = trainer::train(task, settings, folder, &mut |line| {
        wanted = observe(line);
        wanted
    })?;
    Ok(wanted.then_some(outcome.history))
}

/// A measure of the last test, by its place in the trainer's rows.
pub fn last_test(history: &History, place: usize) -> Option<f64> {
    let last = history.last(Part::Test)?;
    last.values.get(place).copied().flatten()
}

/// One position in this many is kept out of training to measure the losses.
const TEST_EVERY: usize = 32;

impl<D: Discipline> Lesson<'_, D> {
    /// The window as positions to train on and positions kept out.
    pub fn split(&self) -> (Vec<D::Example>, Vec<D::Example>) {
        let (mut training, mut test) = (Vec::new(), Vec::new());
        for (place, example) in self.window.iter().enumerate() {
            let part = if place.is_multiple_of(TEST_EVERY) {
                &mut test
            } else {
                &mut training
            };
            part.push(example.clone());
        }
        (training, test)
    }

    /// Steps that show each new position `passes` times on average.
    pub fn steps(&self, passes: f64, batch: usize) -> u64 {
        let samples = self.new_positions.min(self.window.len()) as f64 * passes;
        ((samples / batch as f64).ceil() as u64).max(1)
    }
}

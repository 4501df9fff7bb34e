//! What a game brings to the loop; everything else is the same for all games.

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{BadSetting, GameError, Page, Setting, Sprt, State};

/// A game as a worker sees it: how networks play themselves and each other. It needs no trainer.
pub trait Game: Sized + 'static {
    /// What can be chosen about a run.
    type Settings: Serialize + DeserializeOwned + Default + Send + Sync;
    /// A finished self-play game with everything that is learned from it.
    type Record: Send;
    /// A network ready to play many games at once, or what plays before there is a network.
    type Player: Send + Sync;
    /// What is counted over all self-play games, for the report.
    type Summary: Default + Send;

    /// What the game is called on the command line.
    const NAME: &'static str;
    /// The extension of the file that plays, such as `txt.gz`.
    const NETWORK_EXTENSION: &'static str;
    /// Every setting with its explanation: the settings file, the help and the documentation are made from this.
    const SETTINGS: &'static [Setting];

    /// Refuses settings that cannot be meant.
    fn check(settings: &Self::Settings) -> Result<(), BadSetting>;

    /// How much is played when, and how many games at once.
    fn schedule(settings: &Self::Settings) -> Schedule;

    /// Gets a network ready to play; without one, whoever plays the first games.
    fn player(
        settings: &Self::Settings,
        purpose: PlayerFor,
        network: Option<&Path>,
    ) -> Result<Self::Player, GameError>;

    /// Plays a game of a player against itself; nothing when `stop` was set before its end. The task's seed fixes all
    /// random choices. An error, such as that of a network's evaluator, ends the run with its text.
    fn play(
        settings: &Self::Settings,
        player: &Self::Player,
        task: &SelfPlayTask<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<Self::Record>, GameError>;

    /// Plays a game between two players; nothing when `stop` was set before its end. Even and odd slots have the colours
    /// exchanged, if the game has colours.
    fn play_match_game(
        settings: &Self::Settings,
        players: [&Self::Player; 2],
        slot: u32,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<MatchRecord>, GameError>;

    /// Checks a self-play game that was played somewhere else, by the rules alone: the start that the task's seed gives,
    /// every move, the end, the result, and the training records. The error is a sentence for whoever sent it.
    fn verify(
        settings: &Self::Settings,
        task: &SelfPlayTask<'_>,
        record: &Self::Record,
    ) -> Result<(), String>;

    /// Checks a match game in the same way.
    fn verify_match(
        settings: &Self::Settings,
        slot: u32,
        seed: u64,
        record: &MatchRecord,
    ) -> Result<(), String>;

    /// The moves and the result of a game as one text: what makes it this game and no other, without its training
    /// records and its number.
    fn moves_and_result(record: &Self::Record) -> String;

    /// Fixed opponents against which networks are rated, those that can play here.
    fn anchors(_settings: &Self::Settings) -> Vec<Anchor<Self>> {
        Vec::new()
    }

    /// A record as bytes to be kept.
    fn encode(record: &Self::Record) -> Vec<u8>;

    /// The record of kept bytes, or what is wrong with them.
    fn decode(settings: &Self::Settings, bytes: &[u8]) -> Result<Self::Record, String>;

    /// The number of a game and the round it was played in.
    fn number_and_round(record: &Self::Record) -> (u64, u64);

    /// Counts a game for the report.
    fn summarise(_summary: &mut Self::Summary, _record: &Self::Record) {}

    /// The game's part of the report page; `recent` are the newest games, oldest first.
    fn page(
        _settings: &Self::Settings,
        _state: &State,
        _recent: &[&Self::Record],
        _summary: &Self::Summary,
    ) -> Page {
        Page::plain(Self::NAME)
    }
}

/// A game as the trainer sees it.
pub trait Learner: Game {
    /// A position to learn from.
    type Example: Clone + Send;

    /// The network that plays first; none if the first games are played without one.
    fn first_network(settings: &Self::Settings) -> Option<NewNetwork>;

    /// A network that somebody brings to begin a run with; it may change the settings of the new run.
    fn adopt(file: &Path, _settings: &mut Self::Settings) -> Result<NewNetwork, GameError> {
        Err(format!(
            "{}: a run of {} always begins with its own network; leave --from out",
            file.display(),
            Self::NAME
        )
        .into())
    }

    /// What is learned from a game, or why nothing can be.
    fn examples(record: &Self::Record) -> Result<Vec<Self::Example>, String>;

    /// Trains the newest network further. Nothing when `on_progress` returned false: then everything needed to resume
    /// is in the request's folder.
    fn train(
        request: &TrainingRequest<'_, Self>,
        on_progress: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<Trained>, GameError>;
}

/// How much is played when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Fixes everything that is random.
    pub seed: u64,
    /// Self-play games before the first training.
    pub first_games: u64,
    /// Self-play games between two trainings.
    pub games: u64,
    /// The newest positions that are learned from.
    pub window: usize,
    /// Self-play games at once.
    pub games_at_once: usize,
    pub match_games_at_once: usize,
    /// What decides the gating match.
    pub sprt: Sprt,
    /// Games against each opponent of a rating; 0 for no ratings beyond the gating matches.
    pub rating_games: u32,
    /// Older networks that a new best network is rated against.
    pub rating_opponents: usize,
}

/// What a player is wanted for; searches differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerFor {
    /// Games to learn from.
    SelfPlay,
    /// Games that compare strength.
    Match,
}

/// A self-play game to be played.
#[derive(Clone, Copy, Debug)]
pub struct SelfPlayTask<'a> {
    /// The game's number in the run.
    pub number: u64,
    /// The trainings done so far.
    pub round: u64,
    /// The name of the network that plays; empty for none.
    pub network: &'a str,
    /// Fixes the random choices; it follows from the run's seed and the number.
    pub seed: u64,
}

/// Who won a match game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    First,
    Second,
    /// Nobody: a tie.
    Nobody,
}

impl Winner {
    /// Whether the first player won; nothing in a tie.
    pub fn first_won(self) -> Option<bool> {
        match self {
            Winner::First => Some(true),
            Winner::Second => Some(false),
            Winner::Nobody => None,
        }
    }
}

impl From<Option<bool>> for Winner {
    fn from(first_won: Option<bool>) -> Winner {
        match first_won {
            Some(true) => Winner::First,
            Some(false) => Winner::Second,
            None => Winner::Nobody,
        }
    }
}

/// A finished match game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchRecord {
    pub winner: Winner,
    /// The moves and the result, in a notation that [`Game::verify_match`] reads; empty if nobody has to check it.
    pub moves: String,
}

/// A fixed opponent: what gives the ratings of a run a meaning outside of it.
pub struct Anchor<G: Game> {
    /// The name in the table of ratings.
    pub name: String,
    pub player: G::Player,
}

/// A network that was just made: its name and its files by extension.
#[derive(Clone, Debug)]
pub struct NewNetwork {
    /// The hash that is its name from now on.
    pub name: String,
    /// Extensions and contents.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

/// The extension of the file that the next training starts from, if the game keeps one: a checkpoint, with every digit.
pub const CHECKPOINT_EXTENSION: &str = "training";

/// A training to be done.
pub struct TrainingRequest<'a, L: Learner> {
    /// The run's settings.
    pub settings: &'a L::Settings,
    /// The number of this training, from 1.
    pub round: u64,
    /// The positions to learn from, oldest first.
    pub window: &'a std::collections::VecDeque<L::Example>,
    /// How many of them are new since the last training.
    pub new_positions: usize,
    /// The checkpoint of the newest network, if it was kept.
    pub checkpoint: Option<PathBuf>,
    /// The newest network itself; the start where no checkpoint was kept.
    pub network: Option<PathBuf>,
    /// Where the training keeps its files; a training that was stopped resumes from what is in it.
    pub dir: PathBuf,
}

/// How far a training is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainingProgress {
    pub step: u64,
    pub steps: u64,
}

/// What a training hands to the loop: the network to be gated, and how it did on positions kept out.
pub struct Trained {
    pub network: NewNetwork,
    /// Cross-entropy of the policy on positions kept out.
    pub policy_loss: Option<f64>,
    /// Squared error of the value on positions kept out.
    pub value_error: Option<f64>,
    /// Positions learned from.
    pub positions: usize,
}

/// A training that somebody else is to do: what fixes it beside the games of the run and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct TrainingOrder {
    /// The number of the training, from 1.
    pub round: u64,
    /// The first so many games that count are learned from.
    pub games: u64,
    /// Positions that are new since the last training.
    pub new_positions: usize,
    /// The network that is trained further; empty if there is none.
    pub newest: String,
}

/// What became of a training elsewhere; its network is in the run's store.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct TrainedElsewhere {
    /// The name of the new network.
    pub network: String,
    /// Cross-entropy of the policy on positions kept out.
    pub policy_loss: Option<f64>,
    /// Squared error of the value on positions kept out.
    pub value_error: Option<f64>,
    /// Positions learned from.
    pub positions: usize,
}

/// Somebody elsewhere who trains for a run.
pub trait TrainsElsewhere: Send + Sync {
    /// Has a training done. Nothing when `on_progress` returned false; asked again, the same training goes on.
    fn train(
        &self,
        order: &TrainingOrder,
        on_progress: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<TrainedElsewhere>, GameError>;
}

/// One position in this many is kept out of training to measure the losses.
const TEST_EVERY: usize = 32;

impl<L: Learner> TrainingRequest<'_, L> {
    /// The window as positions to train on and positions kept out.
    pub fn split(&self) -> (Vec<L::Example>, Vec<L::Example>) {
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

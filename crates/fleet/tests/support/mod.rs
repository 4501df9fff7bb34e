//! The smallest game that can be learned: eight coins are tossed, and a network is a number that shifts some of them.

// Not every test uses all of it.
#![allow(dead_code)]

pub mod player;

use std::{fs, path::Path, sync::atomic::AtomicBool};

use base::mix;
use fleet::{
    BadSetting, Game, GameError, Learner, Limits, MatchRecord, NewNetwork, PlayerFor, Schedule,
    SelfPlayTask, Setting, Sprt, Trained, TrainingProgress, TrainingRequest, Winner,
    wire::sha256_hex,
};
use serde::{Deserialize, Serialize};

const COINS: u64 = 8;
/// A result on which the check of a game breaks down.
pub const POISON: usize = 99;

pub struct Coins;

#[derive(Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub games: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { games: 10 }
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Record {
    pub number: u64,
    pub round: u64,
    pub network: String,
    /// The coins of the seed, then the coins of the player.
    pub dealt: Vec<bool>,
    pub played: Vec<bool>,
    pub heads: usize,
}

fn coins(seed: u64) -> Vec<bool> {
    (0..COINS)
        .map(|coin| mix(seed ^ coin).is_multiple_of(2))
        .collect()
}

fn heads(coins: &[bool]) -> usize {
    coins.iter().filter(|coin| **coin).count()
}

impl Game for Coins {
    type Settings = Settings;
    type Record = Record;
    type Player = u64;
    type Summary = ();

    const NAME: &'static str = "coins";
    const NETWORK_EXTENSION: &'static str = "number";
    const SETTINGS: &'static [Setting] = &[Setting {
        path: "games",
        about: "games between two trainings",
    }];

    fn check(settings: &Settings) -> Result<(), BadSetting> {
        BadSetting::first([BadSetting::count("games", settings.games)])
    }

    fn schedule(settings: &Settings) -> Schedule {
        Schedule {
            seed: 3,
            first_games: settings.games,
            games: settings.games,
            window: 1000,
            games_at_once: 1,
            match_games_at_once: 1,
            sprt: Sprt {
                limits: Some(Limits {
                    min_games: 4,
                    max_games: 12,
                    full_length_winrate: 0.1,
                }),
                ..Sprt::default()
            },
            rating_games: 0,
            rating_opponents: 0,
        }
    }

    fn player(_: &Settings, _: PlayerFor, network: Option<&Path>) -> Result<u64, GameError> {
        let file = network.ok_or("there is always a network")?;
        Ok(fs::read_to_string(file)?.parse()?)
    }

    fn play(
        _: &Settings,
        player: &u64,
        task: &SelfPlayTask<'_>,
        _: &AtomicBool,
    ) -> Result<Option<Record>, GameError> {
        let played = coins(task.seed ^ mix(*player));
        Ok(Some(Record {
            number: task.number,
            round: task.round,
            network: task.network.to_owned(),
            dealt: coins(task.seed),
            heads: heads(&played),
            played,
        }))
    }

    fn play_match_game(
        _: &Settings,
        players: [&u64; 2],
        _: u32,
        seed: u64,
        _: &AtomicBool,
    ) -> Result<Option<MatchRecord>, GameError> {
        let sides = players.map(|player| coins(seed ^ mix(*player)));
        let [first, second] = [heads(&sides[0]), heads(&sides[1])];
        let winner = match first.cmp(&second) {
            std::cmp::Ordering::Greater => Winner::First,
            std::cmp::Ordering::Less => Winner::Second,
            std::cmp::Ordering::Equal => Winner::Nobody,
        };
        let moves = serde_json::to_string(&sides).unwrap();
        Ok(Some(MatchRecord { winner, moves }))
    }

    fn verify(_: &Settings, task: &SelfPlayTask<'_>, record: &Record) -> Result<(), String> {
        assert!(record.heads != POISON, "a game that breaks its check");
        if record.network != task.network {
            return Err("played by another network".into());
        }
        if record.dealt != coins(task.seed) {
            return Err("dealt from another seed".into());
        }
        if record.played.len() as u64 != COINS || record.heads != heads(&record.played) {
            return Err("the result is another one".into());
        }
        Ok(())
    }

    fn verify_match(_: &Settings, _: u32, _: u64, record: &MatchRecord) -> Result<(), String> {
        let sides: [Vec<bool>; 2] =
            serde_json::from_str(&record.moves).map_err(|error| error.to_string())?;
        let [first, second] = [heads(&sides[0]), heads(&sides[1])];
        let first_won = (first != second).then_some(first > second);
        if first_won != record.winner.first_won() {
            return Err("the other one has more heads".into());
        }
        Ok(())
    }

    fn moves_and_result(record: &Record) -> String {
        format!("{:?} {}", record.played, record.heads)
    }

    fn encode(record: &Record) -> Vec<u8> {
        serde_json::to_vec(record).unwrap_or_default()
    }

    fn decode(_: &Settings, bytes: &[u8]) -> Result<Record, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn number_and_round(record: &Record) -> (u64, u64) {
        (record.number, record.round)
    }
}

impl Learner for Coins {
    type Example = usize;

    fn first_network(_: &Settings) -> Option<NewNetwork> {
        Some(network(0))
    }

    fn examples(record: &Record) -> Result<Vec<usize>, String> {
        Ok(vec![record.heads])
    }

    fn train(
        request: &TrainingRequest<'_, Self>,
        _: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<Trained>, GameError> {
        // What is learned depends on the games as a set, since they come in any order.
        let sum = request
            .window
            .iter()
            .map(|heads| *heads as u64)
            .sum::<u64>();
        Ok(Some(Trained {
            network: network(sum * 100 + request.round),
            policy_loss: None,
            value_error: None,
            positions: request.window.len(),
        }))
    }
}

fn network(number: u64) -> NewNetwork {
    let bytes = number.to_string().into_bytes();
    NewNetwork {
        name: sha256_hex(&bytes),
        files: vec![(Coins::NETWORK_EXTENSION, bytes)],
    }
}

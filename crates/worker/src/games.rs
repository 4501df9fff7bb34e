//! The games a worker can play. A new game is one line in [`games`].

use std::{
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use fleet::{
    Game, GameError, PlayerFor, id_of, selfplay_task,
    wire::{Kind, MatchBody, Task, sha256_hex},
};

use crate::WorkError;

/// Every game that can be played here.
pub(crate) fn games() -> Vec<Box<dyn Playable>> {
    vec![
        Box::new(Of::<go_training::Go>(PhantomData)),
        Box::new(Of::<go_training::ScoredGo>(PhantomData)),
        Box::new(Of::<mario_training::DrMario>(PhantomData)),
    ]
}

/// A game without its type.
pub(crate) trait Playable: Send + Sync {
    fn name(&self) -> &'static str;
    fn extension(&self) -> &'static str;
    /// Gets ready to play games of a kind with these networks under these settings.
    fn players(
        &self,
        settings: &str,
        kind: Kind,
        networks: &[PathBuf],
    ) -> Result<Box<dyn ReadyPlayers>, WorkError>;
}

/// Networks that are ready to play under settings.
pub(crate) trait ReadyPlayers: Send + Sync {
    /// Plays the game of a task: its id and its body, or nothing when `stop` was set before its end.
    fn play(&self, task: &Task, stop: &AtomicBool) -> Result<Option<(String, Vec<u8>)>, WorkError>;
    /// The hash of the settings.
    fn settings_hash(&self) -> &str;
}

struct Of<G>(PhantomData<fn() -> G>);

struct PlayersOf<G: Game> {
    settings: G::Settings,
    settings_hash: String,
    players: Vec<G::Player>,
}

impl<G: Game> Playable for Of<G> {
    fn name(&self) -> &'static str {
        G::NAME
    }

    fn extension(&self) -> &'static str {
        G::NETWORK_EXTENSION
    }

    fn players(
        &self,
        text: &str,
        kind: Kind,
        networks: &[PathBuf],
    ) -> Result<Box<dyn ReadyPlayers>, WorkError> {
        let game = WorkError::Game;
        let settings: G::Settings = toml::from_str(text)
            .map_err(|error| game(format!("the run's settings cannot be read: {error}")))?;
        G::check(&settings).map_err(|error| game(error.to_string()))?;
        let purpose = match kind {
            Kind::Selfplay => PlayerFor::SelfPlay,
            Kind::Match => PlayerFor::Match,
        };
        let player = |network: Option<&Path>| {
            G::player(&settings, purpose, network).map_err(|error| game(error.to_string()))
        };
        let players = match networks {
            [] => vec![player(None)?],
            networks => networks
                .iter()
                .map(|network| player(Some(network)))
                .collect::<Result<_, _>>()?,
        };
        Ok(Box::new(PlayersOf::<G> {
            settings,
            settings_hash: sha256_hex(text.as_bytes()),
            players,
        }))
    }
}

impl<G: Game> ReadyPlayers for PlayersOf<G> {
    fn play(&self, task: &Task, stop: &AtomicBool) -> Result<Option<(String, Vec<u8>)>, WorkError> {
        let failed = |error: GameError| WorkError::Game(error.to_string());
        match (task.kind, self.players.as_slice()) {
            (Kind::Selfplay, [player, ..]) => {
                let record = G::play(&self.settings, player, &selfplay_task(task), stop);
                Ok(record.map_err(failed)?.map(|record| {
                    let id = id_of(task, &G::moves_and_result(&record));
                    (id, G::encode(&record))
                }))
            }
            (Kind::Match, [first, second]) => {
                let Ok(slot) = u32::try_from(task.number) else {
                    return Ok(None);
                };
                let players = [first, second];
                let record = G::play_match_game(&self.settings, players, slot, task.seed, stop);
                Ok(record.map_err(failed)?.and_then(|record| {
                    let id = id_of(task, &record.moves);
                    let body = serde_json::to_vec(&MatchBody::from(&record)).ok()?;
                    Some((id, body))
                }))
            }
            _ => Ok(None),
        }
    }

    fn settings_hash(&self) -> &str {
        &self.settings_hash
    }
}

//! Go with scores in the learning loop: one network of our own for every board, which learns who wins, by how much and
//! who owns each point. Games are played to their end and counted, so all three are known of every game.

#[cfg(feature = "trainer")]
mod learner;
mod record;
mod settings;
#[cfg(all(test, feature = "trainer"))]
mod tests;
mod verify;

use std::{collections::HashMap, path::Path, sync::atomic::AtomicBool};

use base::mix;
use fleet::{
    Anchor, BadSetting, Game, GameError, MatchRecord, Page, PlayerFor, Schedule, SelfPlayTask,
    Setting, State,
};
use go::{BoardSize, Color, Komi, Rules};
use go_player::{LoadedNetwork, selfplay::play_from};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    anchor::{self, GoPlayer, NetworkPlayer},
    selfplay::{CACHE_BYTES, rows_wanted},
    zero::board_script,
};

pub use record::{ScoredGame, ScoredHead};
pub use settings::ScoredSettings;

/// Go on one or several boards, with scores and owners, for the loop.
pub struct ScoredGo;

/// A player on every board of a run.
pub struct ScoredPlayer {
    by_size: HashMap<BoardSize, GoPlayer>,
}

impl ScoredPlayer {
    /// The run's settings name every board that is played on.
    fn on(&self, size: BoardSize) -> Option<&GoPlayer> {
        self.by_size.get(&size)
    }

    fn on_every_board(
        settings: &ScoredSettings,
        mut player: impl FnMut(BoardSize) -> Option<GoPlayer>,
    ) -> Option<ScoredPlayer> {
        let by_size: Option<HashMap<_, _>> = settings
            .boards()
            .map(|size| Some((size, player(size)?)))
            .collect();
        by_size.map(|by_size| ScoredPlayer { by_size })
    }
}

/// Memory for the evaluations of each network in a match.
const MATCH_CACHE_BYTES: usize = 32 << 20;

impl Game for ScoredGo {
    type Settings = ScoredSettings;
    type Record = ScoredGame;
    type Player = ScoredPlayer;
    type Summary = ();

    const NAME: &'static str = "scored-go";
    const NETWORK_EXTENSION: &'static str = "net";
    const SETTINGS: &'static [Setting] = &settings::SETTINGS;

    fn check(settings: &ScoredSettings) -> Result<(), BadSetting> {
        settings.check()
    }

    fn schedule(settings: &ScoredSettings) -> Schedule {
        Schedule {
            seed: settings.seed,
            first_games: settings.selfplay.first_games,
            games: settings.selfplay.games,
            window: settings.training.window,
            games_at_once: settings.selfplay.at_once,
            match_games_at_once: settings.gate.at_once,
            sprt: settings.gate.sprt(),
            rating_games: settings.rating.games,
            rating_opponents: settings.rating.opponents,
        }
    }

    fn player(
        settings: &ScoredSettings,
        purpose: PlayerFor,
        network: Option<&Path>,
    ) -> Result<ScoredPlayer, GameError> {
        let boards = settings.boards().count().max(1);
        let (at_once, cache) = match purpose {
            PlayerFor::SelfPlay => (settings.selfplay.at_once, CACHE_BYTES),
            PlayerFor::Match => (settings.gate.at_once.div_ceil(2), MATCH_CACHE_BYTES),
        };
        let rows = rows_wanted(at_once.div_ceil(boards));
        let Some(path) = network else {
            let random = ScoredPlayer::on_every_board(settings, |_| Some(GoPlayer::Random));
            return Ok(random.expect("it plays everywhere"));
        };
        let network = LoadedNetwork::load(path)?;
        let player = ScoredPlayer::on_every_board(settings, |size| {
            let network = network.for_size(size)?;
            let player = NetworkPlayer::new(network, rows, cache / boards);
            Some(GoPlayer::Network(Box::new(player)))
        });
        player.ok_or_else(|| {
            let path = path.display();
            format!("{path}: the network does not play on every board of the run").into()
        })
    }

    fn play(
        settings: &ScoredSettings,
        player: &ScoredPlayer,
        task: &SelfPlayTask<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<ScoredGame>, GameError> {
        let game = start(settings, task.seed);
        let Some(GoPlayer::Network(player)) = player.on(game.size()) else {
            return Ok(None);
        };
        let _participant = player.gather.join();
        let judges = [&player.judge; 2];
        let play = &settings.selfplay.play;
        let finished = play_from(game, judges, play, task.seed, stop, |_| ())?;
        Ok(finished.map(|finished| ScoredGame::new(task, &finished)))
    }

    fn play_match_game(
        settings: &ScoredSettings,
        players: [&ScoredPlayer; 2],
        slot: u32,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<MatchRecord>, GameError> {
        let size = match_board(settings, slot);
        let (Some(first), Some(second)) = (players[0].on(size), players[1].on(size)) else {
            return Ok(None);
        };
        let play = settings.gate.play(&settings.selfplay.play);
        Ok(anchor::play(
            [first, second],
            size,
            &play,
            slot,
            seed,
            stop,
        )?)
    }

    fn verify(
        settings: &ScoredSettings,
        task: &SelfPlayTask<'_>,
        record: &ScoredGame,
    ) -> Result<(), String> {
        verify::verify(settings, task, record)
    }

    fn verify_match(
        settings: &ScoredSettings,
        slot: u32,
        _: u64,
        record: &MatchRecord,
    ) -> Result<(), String> {
        let play = settings.gate.play(&settings.selfplay.play);
        crate::zero::verify_match(match_board(settings, slot), &play, slot, record)
    }

    fn moves_and_result(record: &ScoredGame) -> String {
        crate::zero::moves_and_result(&record.head.moves, &record.head.result)
    }

    fn anchors(settings: &ScoredSettings) -> Vec<Anchor<ScoredGo>> {
        let rows = rows_wanted(settings.gate.at_once).div_ceil(2);
        let names = settings.rating.anchors.iter();
        names
            .filter_map(|name| {
                let player = ScoredPlayer::on_every_board(settings, |size| {
                    GoPlayer::anchor(name, size, rows)
                })?;
                let name = name.clone();
                Some(Anchor { name, player })
            })
            .collect()
    }

    fn encode(record: &ScoredGame) -> Vec<u8> {
        record.to_bytes()
    }

    fn decode(_: &ScoredSettings, bytes: &[u8]) -> Result<ScoredGame, String> {
        ScoredGame::from_bytes(bytes)
    }

    fn number_and_round(record: &ScoredGame) -> (u64, u64) {
        (record.head.number, record.head.round)
    }

    fn page(settings: &ScoredSettings, state: &State, recent: &[&ScoredGame], (): &()) -> Page {
        let heads: Vec<&ScoredHead> = recent.iter().map(|game| &game.head).collect();
        let start = match &state.begun_from {
            Some(_) => "a given network",
            None => "zero",
        };
        let sides: Vec<String> = settings
            .boards()
            .map(|size| format!("{0}x{0}", size.get()))
            .collect();
        Page {
            title: format!("Go with scores on {} from {start}", sides.join(", ")),
            value_title: "Error of the winning chance by training",
            games: serde_json::to_string(&heads).unwrap_or_else(|_| "[]".into()),
            script: board_script(settings.sizes.first().copied().unwrap_or(9)),
            ..Page::plain("")
        }
    }
}

/// The empty board, komi and rules of a self-play game, which its seed decides.
fn start(settings: &ScoredSettings, seed: u64) -> go::Game {
    // Another stream than that of the game's moves.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(mix(seed));
    let boards: Vec<BoardSize> = settings.boards().collect();
    // The settings were checked when they were read.
    let size = *boards
        .get(rng.random_range(0..boards.len().max(1)))
        .unwrap_or(&BoardSize::NINE);
    let about = settings.selfplay.play.komi;
    let off = Normal::new(0.0, settings.komi_spread.max(0.0))
        .map_or(0.0, |spread| spread.sample(&mut rng));
    // In halves, as players have it.
    let komi = (2.0 * (about + off)).round() / 2.0;
    game(size, komi)
}

fn game(size: BoardSize, komi: f32) -> go::Game {
    let mut game = go::Game::new(size, Komi::new(komi).unwrap_or_default());
    game.set_rules(Rules::TROMP_TAYLOR);
    game
}

/// Pairs of slots, which exchange colours, go round the boards.
fn match_board(settings: &ScoredSettings, slot: u32) -> BoardSize {
    let boards: Vec<BoardSize> = settings.boards().collect();
    let pair = slot as usize / Color::BOTH.len();
    boards[pair % boards.len()]
}

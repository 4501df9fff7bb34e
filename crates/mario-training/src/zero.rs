//! Dr. Mario in the learning loop.
//!
//! A game for one has no opponent, so strength is compared by deals: both players get the same board and the same
//! pills, and the better result wins the deal: fewer viruses left, then fewer pills, then less left lying. The luck of
//! the deal cancels out, and what remains is wins and losses, to which the sequential test applies as it does to Go.
//!
//! Round 0 is played without a network. The first network takes over unopposed: round 0's player knows nothing or
//! was tuned by hand, and either way it is no earlier state of what is learned here.

#[cfg(feature = "trainer")]
mod learner;
mod settings;
mod stored;
#[cfg(all(test, feature = "trainer"))]
mod tests;
mod verify;

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    num::NonZero,
    path::Path,
    sync::atomic::{AtomicBool, Ordering as AtomicOrdering},
    thread,
};

use fleet::{
    Anchor, BadSetting, Game, GameError, Join, MatchRecord, Page, PlayerFor, Schedule,
    SelfPlayTask, Setting, State, Winner, chart,
};
use mario_player::{
    Budget, CappedTree, EvaluateError, GameResult, Kind, NetSettings, Player, RoundZero,
    SharpRoundZero, record_game,
};

use crate::{
    deal::{Deal, RULES},
    player::MarioPlayer,
};

pub use settings::ZeroSettings;
pub use stored::{MarioGame, MarioHead};

/// Dr. Mario, for the loop.
pub struct DrMario;

/// How the games of a round went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundTally {
    games: u64,
    won: u64,
    viruses: u64,
    viruses_left: u64,
    pills: u64,
}

impl Game for DrMario {
    type Settings = ZeroSettings;
    type Record = MarioGame;
    type Player = MarioPlayer;
    type Summary = BTreeMap<u64, RoundTally>;

    const NAME: &'static str = "mario";
    const NETWORK_EXTENSION: &'static str = "net";
    const SETTINGS: &'static [Setting] = settings::SETTINGS;

    fn check(settings: &ZeroSettings) -> Result<(), BadSetting> {
        settings.check()
    }

    fn schedule(settings: &ZeroSettings) -> Schedule {
        Schedule {
            seed: settings.seed,
            first_games: settings.round0.games,
            games: settings.selfplay.games,
            window: settings.training.window,
            games_at_once: settings.selfplay.at_once,
            match_games_at_once: settings.gate.at_once,
            sprt: settings.gate.sprt(),
            rating_games: settings.rating.deals,
            rating_opponents: settings.rating.opponents,
        }
    }

    fn player(
        settings: &ZeroSettings,
        purpose: PlayerFor,
        network: Option<&Path>,
    ) -> Result<MarioPlayer, GameError> {
        match (network, purpose) {
            (None, _) => {
                let kind: Kind = settings.round0.player.parse()?;
                MarioPlayer::without_network(kind, Budget::Playouts(settings.round0.playouts))
            }
            (Some(file), PlayerFor::SelfPlay) => {
                MarioPlayer::network(file, rows_wanted(settings.selfplay.at_once))
            }
            (Some(file), PlayerFor::Match) => MarioPlayer::network(file, match_rows(settings)),
        }
    }

    fn play(
        settings: &ZeroSettings,
        player: &MarioPlayer,
        task: &SelfPlayTask<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<MarioGame>, GameError> {
        let deal = Deal::new(settings.levels, task.seed);
        let (level, seed) = (deal.level, deal.seed);
        let played = match player {
            MarioPlayer::Network(network) => {
                let _participant = network.gather.join();
                let part = &settings.selfplay;
                let search = NetSettings {
                    batch: 1,
                    considered: part.considered,
                    ..NetSettings::default()
                };
                let playouts = [part.simulations, part.quick_simulations];
                let tree = CappedTree::new(
                    &network.judge,
                    search,
                    playouts,
                    part.full_share,
                    deal.player_seed,
                );
                deal.play(Box::new(tree), false, stop)?
            }
            other => {
                let part = &settings.round0;
                let player: Box<dyn Player + '_> = match other {
                    MarioPlayer::Lineup(_, Kind::RoundZero, budget) if part.temperature > 0.0 => {
                        let random_games = RoundZero::new(*budget, deal.player_seed);
                        Box::new(SharpRoundZero::new(random_games, part.temperature))
                    }
                    other => {
                        let budget = Budget::Playouts(part.playouts);
                        other.for_match(NetSettings::default(), budget, deal.player_seed)
                    }
                };
                deal.play(player, part.explore, stop)?
            }
        };
        let place = [task.number, task.round];
        Ok(played.map(|(record, game)| {
            MarioGame::new(place, task.network, (level, seed), record, &game)
        }))
    }

    fn play_match_game(
        settings: &ZeroSettings,
        players: [&MarioPlayer; 2],
        _slot: u32,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<MatchRecord>, GameError> {
        let search = NetSettings {
            batch: 1,
            ..NetSettings::default()
        };
        let budget = Budget::Playouts(settings.gate.simulations);
        let play = |player: &MarioPlayer| {
            let _participant = match player {
                MarioPlayer::Network(network) => Some(network.gather.join()),
                _ => None,
            };
            let deal = Deal::new(settings.levels, seed);
            let mut one = player.for_match(search, budget, deal.player_seed);
            let game = mario::Game::console(deal.seed, deal.level, RULES);
            let (record, game) = record_game(game, &mut *one, None, stop)?;
            let was_stopped = game.ending().is_none() && stop.load(AtomicOrdering::Relaxed);
            let result = GameResult::of(&game, deal.seed, 0.0);
            Ok::<_, EvaluateError>((!was_stopped).then_some((record, result.rank())))
        };
        let (Some((first, first_rank)), Some((second, second_rank))) =
            (play(players[0])?, play(players[1])?)
        else {
            return Ok(None);
        };
        let winner = match first_rank.cmp(&second_rank) {
            Ordering::Less => Winner::First,
            Ordering::Greater => Winner::Second,
            Ordering::Equal => Winner::Nobody,
        };
        let moves = verify::match_text([&first, &second]);
        Ok(Some(MatchRecord { winner, moves }))
    }

    fn verify(
        settings: &ZeroSettings,
        task: &SelfPlayTask<'_>,
        game: &MarioGame,
    ) -> Result<(), String> {
        verify::verify(settings.levels, task, game)
    }

    fn verify_match(
        settings: &ZeroSettings,
        _: u32,
        seed: u64,
        record: &MatchRecord,
    ) -> Result<(), String> {
        verify::verify_match(settings.levels, seed, record)
    }

    fn moves_and_result(game: &MarioGame) -> String {
        verify::moves_and_result(game)
    }

    fn anchors(settings: &ZeroSettings) -> Vec<Anchor<DrMario>> {
        let budget = Budget::Playouts(settings.round0.playouts);
        let names = settings.rating.anchors.iter();
        names
            .filter_map(|name| {
                let player = MarioPlayer::anchor(name, match_rows(settings), budget)?;
                let name = name.clone();
                Some(Anchor { name, player })
            })
            .collect()
    }

    fn encode(record: &MarioGame) -> Vec<u8> {
        record.to_bytes()
    }

    fn decode(_: &ZeroSettings, bytes: &[u8]) -> Result<MarioGame, String> {
        MarioGame::from_bytes(bytes)
    }

    fn number_and_round(record: &MarioGame) -> (u64, u64) {
        (record.head.number, record.head.round)
    }

    fn summarise(rounds: &mut BTreeMap<u64, RoundTally>, game: &MarioGame) {
        let result = &game.head.result;
        let tally = rounds.entry(game.head.round).or_default();
        tally.games += 1;
        tally.won += u64::from(game.is_won());
        tally.viruses += u64::from(result.viruses);
        tally.viruses_left += u64::from(result.viruses_left);
        tally.pills += u64::from(result.pills);
    }

    fn page(
        settings: &ZeroSettings,
        _: &State,
        recent: &[&MarioGame],
        rounds: &BTreeMap<u64, RoundTally>,
    ) -> Page {
        let by_round = |value: fn(&RoundTally) -> f64| -> Vec<(f64, f64)> {
            rounds
                .iter()
                .map(|(&round, tally)| (round as f64, value(tally)))
                .collect()
        };
        let won = by_round(|tally| 100.0 * tally.won as f64 / tally.games.max(1) as f64);
        let left =
            by_round(|tally| 100.0 * tally.viruses_left as f64 / tally.viruses.max(1) as f64);
        let pills = by_round(|tally| {
            tally.pills as f64 / (tally.viruses - tally.viruses_left).max(1) as f64
        });
        let charts = [
            ("Games of self-play won, % by round", won),
            ("Viruses left at the end, % by round", left),
            ("Pills for each virus cleared, by round", pills),
        ]
        .map(|(title, points)| chart(title, &points, Join::Slopes))
        .concat();
        let films: Vec<_> = recent.iter().map(|game| game.film()).collect();
        let [lowest, highest] = settings.levels;
        Page {
            title: format!("Dr. Mario, levels {lowest} to {highest}, by self-play"),
            elo_title: "Elo of the best network by games played, from deals both networks played",
            policy_title: "Loss of the moves by training, positions kept out",
            value_title: "Squared error of won (from -1 to 1) by training",
            more_charts: charts,
            games: serde_json::to_string(&films).unwrap_or_else(|_| "[]".into()),
            script: SCRIPT.to_owned(),
        }
    }
}

/// Draws a bottle.
const SCRIPT: &str = include_str!("zero/bottle.js");

/// A batch for each core, all games together.
fn rows_wanted(at_once: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    at_once.div_ceil(cores)
}

/// Half of the games wait for each network.
fn match_rows(settings: &ZeroSettings) -> usize {
    rows_wanted(settings.gate.at_once).div_ceil(2)
}

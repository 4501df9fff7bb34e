//! The loop's Dr. Mario.
//!
//! A game for one has no opponent, so strength is compared by deals: both networks play the same board and the same
//! pills, and the better result wins the deal: fewer viruses left, then fewer pills, then less left lying. Luck of the
//! deal falls out, and what remains is wins and losses, to which the sequential test applies as it does to Go.
//!
//! Round 0 is played without a network. The first network takes over unopposed: round 0's player knows nothing or
//! was tuned by hand, and either way it is no earlier state of what is learned here.

mod settings;
mod stored;

use std::{
    collections::BTreeMap,
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use learn::{
    optimiser::{Decay, Rule, Schedule},
    settings::{AverageSettings, TrainSettings},
    trainer::{Report, TrainError, name},
};
use mario::{Example, Game, Rules};
use mario_player::{
    evaluate::play_game,
    heuristic::Weights,
    lineup::{Kind, Lineup, load_evaluator},
    net_judge::NetJudge,
    net_tree::{CappedTree, NetSettings, NetTree},
    player::Player,
    selfplay::{record_game, training_seed},
    tree::{Budget, RoundZero, SharpRoundZero},
};
use mario_training::{
    model::{MarioDesign, MarioShape},
    task::{self as mario_task, MarioTask},
};
use net::{
    compact::{self, Precision},
    evaluator::Evaluator,
    file::sha256_of_bytes,
    gather::Gather,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Score, Verdict,
    worker::rows_wanted,
    zero::{
        BadSetting, Discipline, Games, NewNetwork, State, ZeroError,
        discipline::{Lesson, Pace, Table, Trained, last_test, see_through},
        gate::{Gate, Winner},
        report::{Join, Page, chart, page},
    },
};

pub use settings::{MarioSettings, TEMPLATE};
pub use stored::{MarioGame, MarioHead};

/// Dr. Mario, for the loop.
pub struct DrMario;

/// Games of self-play and of matches end like this: a win is not worth waiting for for ever.
const RULES: Rules = Rules {
    most_pills: Some(400),
    ..Rules::SELF_PLAY
};
/// How the name of the file ends that the next training starts from.
const START_ENDING: &str = "training";
/// Places of two measures in the trainer's rows.
const MOVES_LOSS: usize = 1;
const WON_ERROR: usize = 3;

/// How the games of a round went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundTally {
    games: u64,
    won: u64,
    viruses: u64,
    viruses_left: u64,
    pills: u64,
}

impl Discipline for DrMario {
    type Settings = MarioSettings;
    type Game = MarioGame;
    type Example = Example;
    type Summary = BTreeMap<u64, RoundTally>;

    const TEMPLATE: &'static str = TEMPLATE;
    const NETWORK_ENDING: &'static str = "net";

    fn check(settings: &MarioSettings) -> Result<(), BadSetting> {
        settings.check()
    }

    fn pace(settings: &MarioSettings) -> Pace {
        settings.pace()
    }

    fn first_network(_: &MarioSettings) -> Option<NewNetwork> {
        None
    }

    fn place(game: &MarioGame) -> (u64, u64) {
        (game.head.number, game.head.round)
    }

    fn to_bytes(game: &MarioGame) -> Vec<u8> {
        game.to_bytes()
    }

    fn from_bytes(_: &MarioSettings, bytes: &[u8]) -> Result<MarioGame, String> {
        MarioGame::from_bytes(bytes)
    }

    fn examples(game: &MarioGame) -> Vec<Example> {
        game.examples()
    }

    fn count(rounds: &mut BTreeMap<u64, RoundTally>, game: &MarioGame) {
        let result = &game.head.result;
        let tally = rounds.entry(game.head.round).or_default();
        tally.games += 1;
        tally.won += u64::from(game.is_won());
        tally.viruses += u64::from(result.viruses);
        tally.viruses_left += u64::from(result.viruses_left);
        tally.pills += u64::from(result.pills);
    }

    fn play(
        table: &Table<'_, Self>,
        first: u64,
        enough: &AtomicBool,
        done: &(dyn Fn(MarioGame) + Sync),
    ) -> Result<(), ZeroError> {
        let settings = table.settings;
        match table.best() {
            None => {
                let part = &settings.round0;
                let kind: Kind = part.player.parse().unwrap_or(Kind::RoundZero);
                let budget = Budget::Playouts(part.playouts);
                let lineup = Lineup::new(kind, Weights::default(), budget)?;
                let cores = thread::available_parallelism().map_or(1, NonZero::get);
                each_game(
                    first,
                    cores,
                    enough,
                    || (),
                    |(), number| {
                        let deal = Deal::new(settings, number);
                        let player = match kind {
                            Kind::RoundZero if part.temperature > 0.0 => {
                                let random_games = RoundZero::new(budget, deal.player_seed);
                                Box::new(SharpRoundZero::new(random_games, part.temperature))
                            }
                            _ => lineup.player(deal.player_seed),
                        };
                        deal.play(table, player, part.explore, enough, done);
                    },
                );
            }
            Some(best) => {
                let part = &settings.selfplay;
                let rows = rows_wanted(part.at_once);
                let gather = Arc::new(Gather::new(load_evaluator(&best)?, rows));
                let judge = network_judge(&best, gather.clone())?;
                let search = NetSettings {
                    batch: 1,
                    considered: part.considered,
                    ..NetSettings::default()
                };
                let playouts = [part.simulations, part.quick_simulations];
                each_game(
                    first,
                    part.at_once,
                    enough,
                    || gather.join(),
                    |_, number| {
                        let deal = Deal::new(settings, number);
                        let seed = deal.player_seed;
                        let player =
                            CappedTree::new(&judge, search, playouts, part.full_share, seed);
                        deal.play(table, Box::new(player), false, enough, done);
                    },
                );
            }
        }
        Ok(())
    }

    fn train(
        table: &Table<'_, Self>,
        round: u64,
        lesson: &Lesson<'_, Self>,
        observe: &mut dyn FnMut(&Report<'_>) -> bool,
    ) -> Result<Option<Trained>, ZeroError> {
        let (training, test) = lesson.split();
        let positions = training.len();
        let settings = training_settings(table.settings, round, lesson);
        let mut task =
            MarioTask::from_examples(settings.clone(), training, test).map_err(TrainError::from)?;
        let newest = &table.state.newest;
        if !newest.is_empty() {
            task.start_from(&table.folder.network(newest, START_ENDING))
                .map_err(TrainError::from)?;
        }
        let folder = table.folder.training(round);
        let Some(history) = see_through(&mut task, &settings.training, &folder, observe)? else {
            return Ok(None);
        };
        let checkpoint = folder.join(name::CHECKPOINT);
        let start = std::fs::read(&checkpoint).map_err(|source| ZeroError::File {
            path: checkpoint,
            source,
        })?;
        let bytes = compact::write(&task.network(), Precision::F32);
        Ok(Some(Trained {
            network: NewNetwork {
                name: sha256_of_bytes(&bytes),
                files: vec![(START_ENDING, start), (Self::NETWORK_ENDING, bytes)],
            },
            policy_loss: last_test(&history, MOVES_LOSS),
            value_error: last_test(&history, WON_ERROR),
            positions,
        }))
    }

    fn decide(
        table: &Table<'_, Self>,
        candidate: &str,
        gate: &mut Gate,
        stop: &AtomicBool,
        heard: &(dyn Fn(Score) + Sync),
    ) -> Result<Verdict, ZeroError> {
        let part = &table.settings.gate;
        let rows = rows_wanted(part.at_once).div_ceil(2);
        let files = [candidate, &table.state.best]
            .map(|name| table.folder.network(name, Self::NETWORK_ENDING));
        let gathers = [
            Arc::new(Gather::new(load_evaluator(&files[0])?, rows)),
            Arc::new(Gather::new(load_evaluator(&files[1])?, rows)),
        ];
        let judges = [
            network_judge(&files[0], gathers[0].clone())?,
            network_judge(&files[1], gathers[1].clone())?,
        ];
        let search = NetSettings {
            batch: 1,
            ..NetSettings::default()
        };
        // Deals of their own, which no game of self-play has.
        let seed = !(table.settings.seed ^ table.state.rounds.rotate_left(32));
        let play_one = |number: u32, decided: &AtomicBool| {
            let deal = Deal::from_seed(table.settings, base::nth_seed(seed, u64::from(number)));
            let play = |side: usize| {
                let _seat = gathers[side].join();
                let budget = Budget::Playouts(part.simulations);
                let mut player =
                    NetTree::new(judges[side].clone(), search, budget, deal.player_seed);
                play_game(&mut player, deal.seed, deal.level, RULES, decided)
            };
            let (new, best) = (play(0)?.rank(), play(1)?.rank());
            Some(match new.cmp(&best) {
                std::cmp::Ordering::Less => Winner::Candidate,
                std::cmp::Ordering::Greater => Winner::Best,
                std::cmp::Ordering::Equal => Winner::Nobody,
            })
        };
        Ok(gate.play(candidate, &part.sprt(), part.at_once, stop, play_one, heard)?)
    }

    fn report(settings: &MarioSettings, state: &State, games: &Games<Self>) -> String {
        let by_round = |value: fn(&RoundTally) -> f64| -> Vec<(f64, f64)> {
            let rounds = games.summary.iter();
            rounds
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
        let films: Vec<_> = games.recent.iter().map(MarioGame::film).collect();
        let [lowest, highest] = settings.levels;
        page(
            state,
            games.count,
            &Page {
                title: format!("Dr. Mario, levels {lowest} to {highest}, by self-play"),
                elo_title: "Elo of the best network by games played, from deals both networks played",
                policy_title: "Loss of the moves by training, positions kept out",
                value_title: "Squared error of won (from -1 to 1) by training",
                more_charts: charts,
                games: serde_json::to_string(&films).unwrap_or_else(|_| "[]".into()),
                script: SCRIPT.to_owned(),
            },
        )
    }
}

/// Draws a bottle.
const SCRIPT: &str = include_str!("bottle.js");

/// What a game is dealt.
struct Deal {
    number: u64,
    level: u8,
    seed: u16,
    player_seed: u64,
    rng: Xoshiro256PlusPlus,
}

impl Deal {
    /// The deal of a game of self-play.
    fn new(settings: &MarioSettings, number: u64) -> Self {
        Self {
            number,
            ..Self::from_seed(settings, base::nth_seed(settings.seed, number))
        }
    }

    fn from_seed(settings: &MarioSettings, seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let [lowest, highest] = settings.levels;
        Self {
            number: 0,
            level: rng.random_range(lowest..=highest),
            seed: training_seed(&mut rng),
            player_seed: rng.random(),
            rng,
        }
    }

    /// Plays the deal and hands the game to `done`, unless `stop` is set before it ends.
    fn play(
        mut self,
        table: &Table<'_, DrMario>,
        mut player: Box<dyn Player + '_>,
        explore: bool,
        stop: &AtomicBool,
        done: &(dyn Fn(MarioGame) + Sync),
    ) {
        let game = Game::console(self.seed, self.level, RULES);
        let explorer = explore.then_some(&mut self.rng);
        let (record, game) = record_game(game, &mut *player, explorer, stop);
        if game.ending().is_none() {
            return;
        }
        let (number, network) = (self.number, &table.state.best);
        let place = [number, table.state.rounds];
        let deal = (self.level, self.seed);
        done(MarioGame::new(place, network, deal, record, &game));
    }
}

/// Calls `play` with numbers from `first` on, on so many threads, each with a seat of its own, until `enough` is set.
fn each_game<S>(
    first: u64,
    at_once: usize,
    enough: &AtomicBool,
    seat: impl Fn() -> S + Sync,
    play: impl Fn(&S, u64) + Sync,
) where
    S: Send,
{
    let next = AtomicU64::new(first);
    thread::scope(|scope| {
        let seats: Vec<S> = (0..at_once.max(1)).map(|_| seat()).collect();
        for seat in seats {
            let (next, play) = (&next, &play);
            scope.spawn(move || {
                while !enough.load(Ordering::Relaxed) {
                    play(&seat, next.fetch_add(1, Ordering::Relaxed));
                }
            });
        }
    });
}

fn network_judge<E: Evaluator>(
    file: &std::path::Path,
    evaluator: E,
) -> Result<Arc<NetJudge<E>>, ZeroError> {
    let judge = NetJudge::new(evaluator).map_err(|error| ZeroError::Content {
        path: file.to_owned(),
        message: error.to_string(),
    })?;
    Ok(Arc::new(judge))
}

fn training_settings(
    settings: &MarioSettings,
    round: u64,
    lesson: &Lesson<'_, DrMario>,
) -> mario_task::MarioSettings {
    let part = &settings.training;
    let passes = match round {
        1 => settings.round0.passes,
        _ => part.passes,
    };
    let steps = lesson.steps(passes, part.batch);
    mario_task::MarioSettings {
        network: MarioShape {
            design: MarioDesign::Ours,
            blocks: settings.blocks,
            filters: settings.filters,
        },
        weights: part.value_weights,
        training: TrainSettings {
            steps,
            batch: part.batch,
            threads: part.threads,
            seed: settings.seed ^ round,
            decay: part.decay,
            test_every: steps,
            optimiser: Rule::ADAM,
            schedule: Schedule {
                rate: part.rate,
                warm_up: steps / 20,
                then: Decay::Cosine { last: 0.1 },
            },
            average: AverageSettings {
                from: 1.0,
                ..AverageSettings::default()
            },
            ..TrainSettings::default()
        },
        ..mario_task::MarioSettings::default()
    }
}

#[cfg(test)]
mod tests;

//! The loop's Go: Leela Zero's networks, records and matches.

mod settings;
mod stored;

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use go::{BoardSize, Color};
use go_player::{Judge, LoadedNetwork, selfplay::play_between};
use go_training::{
    chunks,
    example::GoExample,
    model::GoShape,
    task::{GoData, GoSettings, GoTask},
};
use learn::{
    optimiser::{Decay, Schedule},
    settings::{AverageSettings, TrainSettings},
    trainer::{Report, TrainError},
};
use net::{
    file::{gzip, sha256_of_bytes},
    gather::Gather,
    leela::{LeelaNetwork, LeelaShape, LeelaVersion, TextStyle},
};

use crate::{
    Score, Verdict, play_games,
    worker::rows_wanted,
    zero::{
        BadSetting, Discipline, Folder, Games, NewNetwork, Run, State, ZeroError,
        discipline::{Lesson, Pace, Table, Trained, last_test, see_through},
        folder::FirstNetwork,
        gate::{Gate, Winner},
        report::{Page, page},
    },
};

pub use settings::{GatePart, SelfPlayPart, TEMPLATE, TrainingPart, ZeroSettings};
pub use stored::{Head, StoredGame};

/// Go, for the loop.
pub struct Go;

/// Places of two measures in the trainer's rows.
const POLICY_LOSS: usize = 1;
const VALUE_ERROR: usize = 3;
/// Memory for the evaluations of each network in a match.
const CACHE_BYTES: usize = 32 << 20;

impl Discipline for Go {
    type Settings = ZeroSettings;
    type Game = StoredGame;
    type Example = GoExample;
    type Summary = ();

    const TEMPLATE: &'static str = TEMPLATE;
    const NETWORK_ENDING: &'static str = "txt.gz";

    fn check(settings: &ZeroSettings) -> Result<(), BadSetting> {
        settings.check()
    }

    fn pace(settings: &ZeroSettings) -> Pace {
        Pace {
            first_games: settings.selfplay.first_games,
            games: settings.selfplay.games,
            window: settings.training.window,
        }
    }

    fn first_network(settings: &ZeroSettings) -> Option<NewNetwork> {
        let shape = LeelaShape::stock(settings.size, settings.blocks, settings.filters);
        let random = LeelaNetwork::random(LeelaVersion::V1, shape, settings.seed);
        Some(new_network(&random))
    }

    fn place(game: &StoredGame) -> (u64, u64) {
        (game.head.number, game.head.round)
    }

    fn to_bytes(game: &StoredGame) -> Vec<u8> {
        game.to_bytes()
    }

    fn from_bytes(settings: &ZeroSettings, bytes: &[u8]) -> Result<StoredGame, String> {
        let size = BoardSize::new(settings.size).unwrap_or(BoardSize::NINE);
        StoredGame::from_bytes(bytes, size)
    }

    fn examples(game: &StoredGame) -> Vec<GoExample> {
        game.records.iter().cloned().map(chunks::example).collect()
    }

    fn count(_: &mut (), _: &StoredGame) {}

    fn play(
        table: &Table<'_, Self>,
        first: u64,
        enough: &AtomicBool,
        done: &(dyn Fn(StoredGame) + Sync),
    ) -> Result<(), ZeroError> {
        let Some(best) = table.best() else {
            return Ok(());
        };
        let (round, name) = (table.state.rounds, &table.state.best);
        let part = &table.settings.selfplay;
        play_games(
            LoadedNetwork::load(&best)?.evaluator,
            &part.play,
            table.settings.seed,
            first,
            part.at_once,
            enough,
            |number, finished| done(StoredGame::new(number, round, name, &finished)),
        )?;
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
            GoTask::from_examples(settings.clone(), training, test).map_err(TrainError::from)?;
        let newest = table
            .folder
            .network(&table.state.newest, Self::NETWORK_ENDING);
        task.start_from(&LeelaNetwork::load(&newest)?)
            .map_err(|error| {
                table.folder.wrong_settings(format!(
                    "{error}; blocks, filters and size cannot change during a run"
                ))
            })?;
        let folder = table.folder.training(round);
        let Some(history) = see_through(&mut task, &settings.training, &folder, observe)? else {
            return Ok(None);
        };
        Ok(Some(Trained {
            network: new_network(&task.network()),
            policy_loss: last_test(&history, POLICY_LOSS),
            value_error: last_test(&history, VALUE_ERROR),
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
        let play = part.play(&table.settings.selfplay.play);
        let seed = table.settings.seed ^ table.state.rounds.rotate_left(32);
        let load = |name: &str| {
            let file = table.folder.network(name, Self::NETWORK_ENDING);
            LoadedNetwork::load(&file).map(|network| network.evaluator)
        };
        let networks = [load(candidate)?, load(&table.state.best)?];
        let rows = rows_wanted(part.at_once).div_ceil(2);
        let gathers = networks.map(|evaluator| Arc::new(Gather::new(evaluator, rows)));
        let judges = [
            Judge::new(gathers[0].clone(), CACHE_BYTES)?,
            Judge::new(gathers[1].clone(), CACHE_BYTES)?,
        ];
        let play_one = |number: u32, decided: &AtomicBool| {
            let candidate_color = if number.is_multiple_of(2) {
                Color::Black
            } else {
                Color::White
            };
            let (black, white) = match candidate_color {
                Color::Black => (0, 1),
                Color::White => (1, 0),
            };
            // A game asks the two networks in turn, and must be waited for by one only.
            let seat = |color| match color {
                Color::Black => gathers[black].join(),
                Color::White => gathers[white].join(),
            };
            let pair = [&judges[black], &judges[white]];
            let seed = base::nth_seed(seed, u64::from(number));
            let finished = play_between(pair, &play, seed, decided, seat)?;
            Some(match finished.winner {
                Some(winner) if winner == candidate_color => Winner::Candidate,
                Some(_) => Winner::Best,
                None => Winner::Nobody,
            })
        };
        Ok(gate.play(candidate, &part.sprt(), part.at_once, stop, play_one, heard)?)
    }

    fn report(settings: &ZeroSettings, state: &State, games: &Games<Self>) -> String {
        let heads: Vec<&Head> = games.recent.iter().map(|game| &game.head).collect();
        report(settings, state, games.count, &heads)
    }
}

impl Run<Go> {
    /// Begins a run with a network instead of a random one; size, blocks and filters are its own.
    pub fn begin_from(dir: &Path, file: &Path) -> Result<Self, ZeroError> {
        let network = LeelaNetwork::load(file)?;
        let shape = network.shape();
        let stock = LeelaShape::stock(shape.size, shape.blocks, shape.filters);
        if network.version != LeelaVersion::V1 || shape != stock {
            return Err(ZeroError::NotTrainable {
                path: file.to_owned(),
            });
        }
        let folder = Folder::open(dir)?;
        let like_it = ZeroSettings {
            size: shape.size,
            blocks: shape.blocks,
            filters: shape.filters,
            ..ZeroSettings::default()
        };
        let settings: ZeroSettings =
            folder.settings(&like_it.template(), str::to_owned, ZeroSettings::check)?;
        let wanted = LeelaShape::stock(settings.size, settings.blocks, settings.filters);
        if shape != wanted {
            return Err(folder.wrong_settings(format!(
                "{} has size = {}, blocks = {}, filters = {}; so must the settings",
                file.display(),
                shape.size,
                shape.blocks,
                shape.filters
            )));
        }
        let first = FirstNetwork {
            file: file.display().to_string(),
            network: new_network(&network),
        };
        Self::open_with(dir, str::to_owned, Some(first))
    }
}

/// The page of a run.
pub fn report(settings: &ZeroSettings, state: &State, games: u64, recent: &[&Head]) -> String {
    page(
        state,
        games,
        &Page {
            title: title(settings, state),
            elo_title: "Elo of the best network by games played",
            policy_title: "Policy loss by training, positions kept out",
            value_title: "Squared error of the winning chance by training",
            more_charts: String::new(),
            games: serde_json::to_string(recent).unwrap_or_else(|_| "[]".into()),
            script: SCRIPT.replace("{{size}}", &settings.size.to_string()),
        },
    )
}

/// A run that was given its first network does not claim to have begun with nothing.
fn title(settings: &ZeroSettings, state: &State) -> String {
    let start = match &state.begun_from {
        Some(_) => "a given network",
        None => "zero",
    };
    format!("Go {0}x{0} from {start}", settings.size)
}

/// Draws a board by a few lines that know captures.
const SCRIPT: &str = include_str!("board.js");

fn training_settings(settings: &ZeroSettings, round: u64, lesson: &Lesson<'_, Go>) -> GoSettings {
    let part = &settings.training;
    let steps = lesson.steps(part.passes, part.batch);
    GoSettings {
        network: GoShape {
            size: settings.size,
            blocks: settings.blocks,
            filters: settings.filters,
        },
        data: GoData::default(),
        value_weight: part.value_weight,
        training: TrainSettings {
            steps,
            batch: part.batch,
            threads: part.threads,
            seed: settings.seed ^ round,
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
        ..GoSettings::default()
    }
}

/// A network under the hash of its text.
fn new_network(network: &LeelaNetwork) -> NewNetwork {
    let text = network.to_text(TextStyle::default());
    NewNetwork {
        name: sha256_of_bytes(&text),
        files: vec![(Go::NETWORK_ENDING, gzip(&text))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zero::{MatchLine, TrainingLine};

    #[test]
    fn the_page_fills_every_place_and_escapes_what_it_embeds() {
        let line = |round, promoted| MatchLine {
            round,
            network: "0123456789abcdef".into(),
            score: Score::new(60, 40),
            promoted,
            elo: 70.0,
            games: 100 * round,
            at_seconds: 5.0,
        };
        let training = |round| TrainingLine {
            round,
            policy_loss: Some(3.0 / round as f64),
            value_error: None,
            positions: 10,
        };
        let state = State {
            rounds: 2,
            elo: 70.0,
            matches: vec![line(1, true), line(2, false)],
            trainings: vec![training(1), training(2)],
            ..State::default()
        };
        let head = Head {
            number: 1,
            round: 1,
            network: "</script>".into(),
            moves: vec!["E5".into()],
            result: "B+1".into(),
        };
        let page = report(&ZeroSettings::default(), &state, 200, &[&head]);
        assert!(!page.contains("{{"), "a place is left open");
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(page.contains("kept out") && page.contains("promoted") && page.contains("Elo +70"));
        assert!(
            page.contains("Squared error of the winning chance by training: not enough points yet")
        );
    }
}

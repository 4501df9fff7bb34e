//! Go in the learning loop: Leela Zero's networks, records and matches.

#[cfg(feature = "trainer")]
mod learner;
mod settings;
mod stored;
mod verify;

use std::{path::Path, sync::atomic::AtomicBool};

use fleet::{
    Anchor, BadSetting, Game, GameError, MatchRecord, Page, PlayerFor, Schedule, SelfPlayTask,
    Setting, State,
};
use go::BoardSize;
use go_player::{LoadedNetwork, selfplay::play_game};

use crate::{
    anchor::{self, GoPlayer, NetworkPlayer},
    selfplay::{CACHE_BYTES, rows_wanted},
};

pub use settings::{GatePart, RatingPart, SelfPlayPart, TrainingPart, ZeroSettings};
pub(crate) use settings::{SHARED_SETTINGS, joined};
pub use stored::{Head, StoredGame};
pub(crate) use verify::{moves_and_result, verify_match, verify_moves};

/// Go, for the loop.
pub struct Go;

/// Was resigning right? A share of the games is played to the end although a side looks lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResignTally {
    played_out: u64,
    wrong: u64,
}

impl ResignTally {
    /// What the report says about it; nothing before there is such a game.
    fn sentence(&self) -> String {
        if self.played_out == 0 {
            return String::new();
        }
        format!(
            "<p>Of {} games that were played on although a side would have resigned, that side won {} ({:.1} %).</p>",
            self.played_out,
            self.wrong,
            100.0 * self.wrong as f64 / self.played_out as f64
        )
    }
}

/// Memory for the evaluations of each network in a match.
const MATCH_CACHE_BYTES: usize = 32 << 20;

impl Game for Go {
    type Settings = ZeroSettings;
    type Record = StoredGame;
    type Player = GoPlayer;
    type Summary = ResignTally;

    const NAME: &'static str = "go";
    const NETWORK_EXTENSION: &'static str = "txt.gz";
    const SETTINGS: &'static [Setting] = &settings::SETTINGS;

    fn check(settings: &ZeroSettings) -> Result<(), BadSetting> {
        settings.check()
    }

    fn schedule(settings: &ZeroSettings) -> Schedule {
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
        settings: &ZeroSettings,
        purpose: PlayerFor,
        network: Option<&Path>,
    ) -> Result<GoPlayer, GameError> {
        let Some(network) = network else {
            return Ok(GoPlayer::Random);
        };
        let network = LoadedNetwork::load(network)?;
        let (rows, cache) = match purpose {
            PlayerFor::SelfPlay => (rows_wanted(settings.selfplay.at_once), CACHE_BYTES),
            PlayerFor::Match => (match_rows(settings), MATCH_CACHE_BYTES),
        };
        let player = NetworkPlayer::new(network, rows, cache);
        Ok(GoPlayer::Network(Box::new(player)))
    }

    fn play(
        settings: &ZeroSettings,
        player: &GoPlayer,
        task: &SelfPlayTask<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<StoredGame>, GameError> {
        let GoPlayer::Network(player) = player else {
            return Ok(None);
        };
        let _participant = player.gather.join();
        let finished = play_game(&player.judge, &settings.selfplay.play, task.seed, stop)?;
        Ok(finished
            .map(|finished| StoredGame::new(task.number, task.round, task.network, &finished)))
    }

    fn play_match_game(
        settings: &ZeroSettings,
        players: [&GoPlayer; 2],
        slot: u32,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<MatchRecord>, GameError> {
        let play = settings.gate.play(&settings.selfplay.play);
        let size = board_size(settings);
        Ok(anchor::play(players, size, &play, slot, seed, stop)?)
    }

    fn verify(
        settings: &ZeroSettings,
        task: &SelfPlayTask<'_>,
        record: &StoredGame,
    ) -> Result<(), String> {
        verify::verify(board_size(settings), &settings.selfplay.play, task, record)
    }

    fn verify_match(
        settings: &ZeroSettings,
        slot: u32,
        _: u64,
        record: &MatchRecord,
    ) -> Result<(), String> {
        let play = settings.gate.play(&settings.selfplay.play);
        verify_match(board_size(settings), &play, slot, record)
    }

    fn moves_and_result(record: &StoredGame) -> String {
        moves_and_result(&record.head.moves, &record.head.result)
    }

    fn anchors(settings: &ZeroSettings) -> Vec<Anchor<Go>> {
        let names = settings.rating.anchors.iter();
        names
            .filter_map(|name| {
                let player = GoPlayer::anchor(name, board_size(settings), match_rows(settings))?;
                let name = name.clone();
                Some(Anchor { name, player })
            })
            .collect()
    }

    fn encode(record: &StoredGame) -> Vec<u8> {
        record.to_bytes()
    }

    fn decode(settings: &ZeroSettings, bytes: &[u8]) -> Result<StoredGame, String> {
        StoredGame::from_bytes(bytes, board_size(settings))
    }

    fn number_and_round(record: &StoredGame) -> (u64, u64) {
        (record.head.number, record.head.round)
    }

    fn summarise(tally: &mut ResignTally, game: &StoredGame) {
        if let Some(lost_side_won) = game.head.lost_side_won {
            tally.played_out += 1;
            tally.wrong += u64::from(lost_side_won);
        }
    }

    fn page(
        settings: &ZeroSettings,
        state: &State,
        recent: &[&StoredGame],
        tally: &ResignTally,
    ) -> Page {
        let heads: Vec<&Head> = recent.iter().map(|game| &game.head).collect();
        Page {
            title: title(settings, state),
            value_title: "Squared error of the winning chance by training",
            more_charts: tally.sentence(),
            games: serde_json::to_string(&heads).unwrap_or_else(|_| "[]".into()),
            script: board_script(settings.size),
            ..Page::plain("")
        }
    }
}

/// Draws a board by a few lines that know captures. Games that do not name their board are on one of this size.
pub(crate) fn board_script(size: usize) -> String {
    include_str!("zero/board.js").replace("{{size}}", &size.to_string())
}

/// A run that was given its first network does not claim to have begun with nothing.
fn title(settings: &ZeroSettings, state: &State) -> String {
    let start = match &state.begun_from {
        Some(_) => "a given network",
        None => "zero",
    };
    format!("Go {0}x{0} from {start}", settings.size)
}

/// The settings were checked when they were read.
pub(crate) fn board_size(settings: &ZeroSettings) -> BoardSize {
    BoardSize::new(settings.size).unwrap_or(BoardSize::NINE)
}

/// Half of the games wait for each network.
fn match_rows(settings: &ZeroSettings) -> usize {
    rows_wanted(settings.gate.at_once).div_ceil(2)
}

#[cfg(all(test, feature = "trainer"))]
mod tests {
    use fleet::{Beginning, Event, Run};

    use super::*;

    const SMALL: &str = "size = 5
        blocks = 1
        filters = 8
        [selfplay]
        at_once = 4
        first_games = 6
        games = 4
        [selfplay.play]
        simulations = 4
        quick_simulations = 2
        full_share = 1.0
        [training]
        window = 400
        batch = 8
        threads = 1
        [gate]
        simulations = 2
        at_once = 4
        min_games = 2
        max_games = 6
        [rating]
        games = 2
        anchors = ['random']";

    fn run(dir: &Path) -> Run<Go> {
        std::fs::write(dir.join("settings.toml"), SMALL).unwrap();
        Run::open(dir, &Beginning::default()).unwrap()
    }

    fn networks(dir: &Path, extension: &str) -> usize {
        let entries = std::fs::read_dir(dir.join("networks")).unwrap();
        entries
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .ends_with(extension)
            })
            .count()
    }

    #[test]
    fn the_next_training_starts_from_every_digit_and_old_runs_from_text() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = run(folder.path());
        let stop = AtomicBool::new(false);
        let mut trainings = 0;
        for _ in 0..12 {
            if let Event::Trained(_) = run.step(&stop, &|_| {}).unwrap() {
                trainings += 1;
                assert_eq!(networks(folder.path(), ".training"), trainings);
                if trainings == 2 {
                    break;
                }
            }
        }
        assert_eq!(trainings, 2);
        drop(run);
        // A folder of an earlier version has no checkpoints, and opens all the same.
        for entry in std::fs::read_dir(folder.path().join("networks")).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "training")
            {
                std::fs::remove_file(path).unwrap();
            }
        }
        let mut again = Run::<Go>::open(folder.path(), &Beginning::default()).unwrap();
        let mut trained = false;
        for _ in 0..6 {
            trained |= matches!(again.step(&stop, &|_| {}).unwrap(), Event::Trained(_));
        }
        assert!(trained);
    }

    #[test]
    fn the_page_fills_every_place_and_puts_games_above_short_tables() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = run(folder.path());
        let stop = AtomicBool::new(false);
        for _ in 0..4 {
            run.step(&stop, &|_| {}).unwrap();
        }
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(!page.contains("{{"), "a place is left open");
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(page.contains("Go 5x5 from zero"));
        let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what}"));
        assert!(place("Recent games") < place("<h2>Matches</h2>"));
    }
}

//! What the studio asks of runs of training: folders that `tengen zero` and `tengen train` write, read while they grow.
//!
//! The folder is never written to. A log is read on from where the last look ended; a record that is not whole yet is
//! left for the next look.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use fleet::{MatchGame, State};
use go::{Game, Komi};
use serde_json::{Value, json};

use crate::wire::Failure;

/// Length and checksum before a record of a log.
const RECORD_HEADER: usize = 8;
const LONGEST_RECORD: usize = 1 << 24;
/// Games kept for replaying.
const RECENT_GAMES: usize = 20;
/// The most points of a curve.
const MOST_POINTS: usize = 1000;
/// A status older than this is of a run that stands still.
const FRESH: Duration = Duration::from_secs(15);

/// A folder of a run.
pub struct Run {
    pub id: String,
    pub folder: PathBuf,
    games: Games,
    matches: Matches,
    /// Whether it was started here and has ended: nobody need wait until its files are old.
    pub has_ended: bool,
}

/// What was read of a log of matches, and the ratings fitted to it.
#[derive(Default)]
struct Matches {
    offset: u64,
    games: Vec<MatchGame>,
    /// Games and state that the ratings are of.
    rated: (usize, u64),
    ratings: Value,
}

/// What was read of a log of games.
#[derive(Default)]
struct Games {
    offset: u64,
    count: u64,
    recent: Vec<Value>,
}

/// Every run below the folders that were named.
#[derive(Default)]
pub struct Runs {
    runs: BTreeMap<String, Run>,
}

impl Runs {
    /// Looks for runs: folders with a state or a history in them, one or two levels down. What lies inside a run, such as
    /// the trainings of its rounds, is part of it.
    pub fn look(&mut self, folders: &[PathBuf]) {
        for folder in folders {
            for one in folders_in(folder) {
                if self.add(&one) {
                    continue;
                }
                for two in folders_in(&one) {
                    self.add(&two);
                }
            }
        }
    }

    /// Adds a folder if it is a run; says whether it is one.
    fn add(&mut self, folder: &Path) -> bool {
        let is_run = ["state.json", "settings.toml", "history.csv"]
            .iter()
            .any(|name| folder.join(name).is_file());
        if is_run {
            let id = id_of(folder);
            self.runs.entry(id.clone()).or_insert_with(|| Run {
                id,
                folder: folder.to_owned(),
                games: Games::default(),
                matches: Matches::default(),
                has_ended: false,
            });
        }
        is_run
    }

    /// A run by its id.
    pub fn get(&mut self, id: &str) -> Result<&mut Run, Failure> {
        self.runs
            .get_mut(id)
            .ok_or_else(|| Failure::new("run", "there is no such run any more"))
    }

    /// All of them, in short.
    pub fn list(&mut self) -> Value {
        self.runs
            .values_mut()
            .map(|run| run.summary())
            .collect::<Vec<_>>()
            .into()
    }
}

/// Folders in a folder; symbolic links are not followed.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The id of a folder: its path, hashed.
pub fn id_of(folder: &Path) -> String {
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    format!(
        "r{}",
        crate::engine::short_hash(whole.to_string_lossy().as_bytes())
    )
}

fn read_json(file: &Path) -> Value {
    fs::read(file)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(Value::Null)
}

fn is_fresh(file: &Path) -> bool {
    let modified = fs::metadata(file).and_then(|found| found.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).unwrap_or_default() < FRESH)
}

impl Run {
    fn summary(&mut self) -> Value {
        let state = read_json(&self.folder.join("state.json"));
        let kind = if self.folder.join("history.csv").is_file() {
            "train"
        } else {
            "zero"
        };
        json!({
            "run": self.id, "name": self.name(), "kind": kind, "game": self.game(), "rounds": state["rounds"],
            "elo": state["elo"], "running": self.is_running(),
        })
    }

    /// The name of its folder.
    pub fn name(&self) -> String {
        self.folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    fn is_running(&self) -> bool {
        if self.has_ended {
            return false;
        }
        ["status.json", "games.log", "history.csv", "matches.log"]
            .iter()
            .any(|name| is_fresh(&self.folder.join(name)))
    }

    /// Which game it learns: Go has a board size among its settings.
    pub fn game(&self) -> &'static str {
        match self.board() {
            Some(_) => "go",
            None => "mario",
        }
    }

    /// The board's size and komi, by the settings.
    pub fn board(&self) -> Option<(usize, f32)> {
        let text = fs::read_to_string(self.folder.join("settings.toml")).ok()?;
        let value = |name: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == name)
                    .then(|| value.split('#').next().unwrap_or("").trim().to_owned())
            })
        };
        let size = value("size")?.parse().ok()?;
        let komi = value("komi")
            .and_then(|komi| komi.parse().ok())
            .unwrap_or(7.5);
        Some((size, komi))
    }

    /// Everything the page draws of it.
    pub fn detail(&mut self) -> Value {
        self.games.read_on(&self.folder.join("games.log"));
        let mut detail = self.summary();
        let state = read_json(&self.folder.join("state.json"));
        let matches: Vec<Value> = state["matches"]
            .as_array()
            .into_iter()
            .flatten()
            .map(match_json)
            .collect();
        detail["matches"] = matches.into();
        for name in ["trainings", "seconds", "best", "candidate"] {
            detail[name] = state[name].clone();
        }
        detail["games"] = self.games.count.into();
        let heads: Vec<Value> = self.games.recent.iter().rev().map(head_json).collect();
        detail["recent"] = heads.into();
        let status = self.folder.join("status.json");
        detail["status"] = if is_fresh(&status) {
            read_json(&status)
        } else {
            Value::Null
        };
        self.matches.read_on(&self.folder.join("matches.log"));
        detail["ratings"] = self.matches.rate(&state);
        detail["elo_error"] = state["elo_error"].clone();
        detail["board"] = json!(self.board().map(|(size, _)| size));
        detail["curves"] = curves(&self.folder.join("history.csv"));
        detail
    }

    /// A recent game as it was logged.
    pub fn game_head(&self, number: u64) -> Option<&Value> {
        self.games
            .recent
            .iter()
            .find(|head| head["number"].as_u64() == Some(number))
    }

    /// The newest finished game, position by position, for whoever watches; nothing but for Go.
    pub fn newest_game(&mut self) -> Option<Value> {
        self.games.read_on(&self.folder.join("games.log"));
        let (size, komi) = self.board()?;
        let head = self.games.recent.last()?;
        let moves: Vec<String> = serde_json::from_value(head["moves"].clone()).ok()?;
        let mut game = Game::new(
            go::BoardSize::new(size)?,
            Komi::new(komi).unwrap_or_default(),
        );
        let mut positions = vec![crate::state::stones_text(&game)];
        for mv in moves.iter().map_while(|mv| mv.parse().ok()) {
            if game.play(mv).is_err() {
                break;
            }
            positions.push(crate::state::stones_text(&game));
        }
        Some(json!({
            "number": head["number"], "round": head["round"], "result": head["result"], "size": size,
            "moves": moves, "positions": positions,
        }))
    }

    /// The file of one of its networks.
    pub fn network(&self, name: &str) -> Option<PathBuf> {
        let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_plain {
            return None;
        }
        let folder = self.folder.join("networks");
        let endings = ["gz", "net", "txt.gz", "txt", "json"];
        endings
            .iter()
            .map(|ending| folder.join(format!("{name}.{ending}")))
            .find(|file| file.is_file())
    }
}

fn head_json(head: &Value) -> Value {
    let moves = head["moves"].as_array().map_or(0, Vec::len);
    json!({ "number": head["number"], "round": head["round"], "result": head["result"], "moves": moves })
}

/// A match with the error of its Elo: half the width of its 95 % interval.
fn match_json(line: &Value) -> Value {
    let count = |name: &str| line["score"][name].as_u64().unwrap_or(0) as u32;
    let mut line = line.clone();
    line["error"] = json!(elo_error(count("wins"), count("losses")));
    line
}

/// Half the width of the 95 % interval of an Elo difference, by Wilson's interval of the winrate.
fn elo_error(wins: u32, losses: u32) -> Option<f64> {
    const Z: f64 = 1.96;
    let games = f64::from(wins + losses);
    if games == 0.0 {
        return None;
    }
    let winrate = f64::from(wins) / games;
    let centre = (winrate + Z * Z / (2.0 * games)) / (1.0 + Z * Z / games);
    let half = Z / (1.0 + Z * Z / games)
        * (winrate * (1.0 - winrate) / games + Z * Z / (4.0 * games * games)).sqrt();
    let elo = |winrate: f64| -400.0 * (1.0 / winrate - 1.0).log10();
    let error = (elo(centre + half) - elo(centre - half)) / 2.0;
    error.is_finite().then_some(error)
}

impl Games {
    /// Reads the records that were added since the last look.
    fn read_on(&mut self, log: &Path) {
        if is_shorter(log, self.offset) {
            *self = Games::default();
        }
        let (count, recent) = (&mut self.count, &mut self.recent);
        self.offset = read_records(log, self.offset, |record| {
            *count += 1;
            let head = record
                .split(|&byte| byte == b'\n')
                .next()
                .unwrap_or_default();
            if let Ok(head) = serde_json::from_slice::<Value>(head) {
                if recent.len() == RECENT_GAMES {
                    recent.remove(0);
                }
                recent.push(head);
            }
        });
    }
}

impl Matches {
    fn read_on(&mut self, log: &Path) {
        if is_shorter(log, self.offset) {
            *self = Matches::default();
        }
        let games = &mut self.games;
        self.offset = read_records(log, self.offset, |record| {
            games.extend(serde_json::from_slice::<MatchGame>(record));
        });
    }

    /// The ratings of all players of the run from all its match games; a name without a network is a fixed opponent.
    fn rate(&mut self, state: &Value) -> Value {
        let Ok(state) = serde_json::from_value::<State>(state.clone()) else {
            return Value::Null;
        };
        let rated = (self.games.len(), state.rounds);
        if self.ratings.is_null() || self.rated != rated {
            let ratings = state.ratings(&self.games);
            self.ratings = ratings
                .table()
                .iter()
                .map(|one| {
                    json!({ "name": one.name, "elo": one.elo.0, "error": one.error, "games": one.games })
                })
                .collect::<Vec<_>>()
                .into();
            self.rated = rated;
        }
        self.ratings.clone()
    }
}

/// Whether a log was begun anew since it was read up to `offset`.
fn is_shorter(log: &Path, offset: u64) -> bool {
    fs::metadata(log).is_ok_and(|found| found.len() < offset)
}

/// Hands every whole record from `offset` on to `each`; returns where the next look begins.
fn read_records(log: &Path, mut offset: u64, mut each: impl FnMut(&[u8])) -> u64 {
    let Ok(mut file) = File::open(log) else {
        return offset;
    };
    if file.seek(SeekFrom::Start(offset)).is_err() {
        return offset;
    }
    let mut reader = std::io::BufReader::new(file);
    loop {
        let mut header = [0; RECORD_HEADER];
        if reader.read_exact(&mut header).is_err() {
            return offset;
        }
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let mut record = vec![0; length.min(LONGEST_RECORD)];
        if length > LONGEST_RECORD || reader.read_exact(&mut record).is_err() {
            return offset;
        }
        offset += (RECORD_HEADER + length) as u64;
        each(&record);
    }
}

/// The columns of a history over its first one, thinned to the least and the greatest of each stretch.
fn curves(file: &Path) -> Value {
    let Ok(text) = fs::read_to_string(file) else {
        return Value::Null;
    };
    let mut lines = text.lines();
    let names: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .collect();
    let rows: Vec<Vec<&str>> = lines
        .map(|line| line.split(',').map(str::trim).collect())
        .collect();
    // A second column may say which samples a row was measured on.
    let has_parts = names.get(1) == Some(&"part");
    let parts: &[&str] = if has_parts { &["train", "test"] } else { &[""] };
    let mut curves = serde_json::Map::new();
    for (column, name) in names.iter().enumerate().skip(1 + usize::from(has_parts)) {
        for part in parts {
            let number = |row: &Vec<&str>, at: usize| {
                row.get(at)?
                    .parse::<f64>()
                    .ok()
                    .filter(|value| value.is_finite())
            };
            let points: Vec<(f64, f64)> = rows
                .iter()
                .filter(|row| !has_parts || row.get(1) == Some(part))
                .filter_map(|row| Some((number(row, 0)?, number(row, column)?)))
                .collect();
            curves.insert(
                format!("{name} {part}").trim_end().to_owned(),
                json!(thin(&points)),
            );
        }
    }
    curves.into()
}

/// At most `MOST_POINTS` points that keep every peak.
fn thin(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(MOST_POINTS / 2);
    points
        .chunks(stretch)
        .flat_map(|chunk| {
            let least = chunk.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
            let most = chunk.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
            let mut pair: Vec<(f64, f64)> = least.into_iter().chain(most).collect();
            pair.sort_by(|a, b| a.0.total_cmp(&b.0));
            pair
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_log_is_read_on_and_a_torn_record_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.log");
        let mut log = base::Log::open(&path, |_| {}).unwrap();
        let head = |number: u64| {
            json!({ "number": number, "round": 0, "moves": ["E5"], "result": "B+R" }).to_string()
        };
        log.append(format!("{}\nbinary", head(0)).as_bytes())
            .unwrap();
        let mut games = Games::default();
        games.read_on(&path);
        assert_eq!(games.count, 1);
        log.append(head(1).as_bytes()).unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        games.read_on(&path);
        assert_eq!(games.count, 1);
        fs::write(&path, &whole).unwrap();
        games.read_on(&path);
        assert_eq!(games.count, 2);
        assert_eq!(games.recent[1]["number"], 1);
    }

    #[test]
    fn ratings_come_from_all_match_games_and_know_fixed_opponents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matches.log");
        let mut log = base::Log::open(&path, |_| {}).unwrap();
        for slot in 0..40 {
            let won = slot % 4 != 0;
            for (first, second) in [("new", "old"), ("new", "random")] {
                let game = json!({ "candidate": first, "opponent": second, "number": slot, "candidate_won": won });
                log.append(game.to_string().as_bytes()).unwrap();
            }
        }
        let state = json!({
            "first": "old", "rounds": 1, "best": "new", "newest": "new", "candidate": null, "elo": 0.0, "matches": [],
            "trainings": [], "seconds": { "selfplay": 0.0, "training": 0.0, "matches": 0.0 },
        });
        let mut matches = Matches::default();
        matches.read_on(&path);
        let ratings = matches.rate(&state);
        let of = |name: &str| {
            let list = ratings.as_array().unwrap();
            list.iter().find(|one| one["name"] == name).unwrap()["elo"]
                .as_f64()
                .unwrap()
        };
        // Three of four won is 191 Elo; the added tie takes a little of it.
        assert_eq!(of("old"), 0.0);
        assert!((of("new") - 191.0).abs() < 10.0, "{ratings}");
        assert!(
            of("random").abs() < 10.0,
            "as strong as the first one: {ratings}"
        );
    }

    #[test]
    fn trainings_inside_a_run_are_no_runs_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        for (path, file) in [
            ("zero", "state.json"),
            ("zero/training-0001", "history.csv"),
            ("trainings/one", "history.csv"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join(file), "").unwrap();
        }
        let mut runs = Runs::default();
        runs.look(&[folder.path().to_owned()]);
        let mut names: Vec<String> = runs.runs.values().map(Run::name).collect();
        names.sort();
        assert_eq!(names, ["one", "zero"]);
    }

    #[test]
    fn thinning_keeps_the_peaks() {
        let points: Vec<(f64, f64)> = (0..100_000)
            .map(|x| {
                (
                    f64::from(x),
                    if x == 54_321 { 9.0 } else { f64::from(x % 7) },
                )
            })
            .collect();
        let thinned = thin(&points);
        assert!(thinned.len() <= MOST_POINTS + 2);
        assert!(thinned.contains(&(54_321.0, 9.0)));
    }

    #[test]
    fn networks_are_named_by_letters_and_digits_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("networks")).unwrap();
        fs::write(folder.path().join("networks/abc123.gz"), "x").unwrap();
        fs::write(folder.path().join("secret.gz"), "x").unwrap();
        let run = Run {
            id: "r".into(),
            folder: folder.path().into(),
            games: Games::default(),
            matches: Matches::default(),
            has_ended: false,
        };
        assert!(run.network("abc123").is_some());
        assert!(run.network("../secret").is_none());
        assert!(run.network("").is_none());
    }
}

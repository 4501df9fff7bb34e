//! Games from SGF files, folders of them, and tar archives (plain or gzip), kept as lists of moves.
//!
//! Sixteen thousand games are ten megabytes of moves, so all of them stay in memory and any position can be had by
//! playing a game again up to it: no shuffle buffer, and no state to lose.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use go::sgf::{self, Tree};
use go::{Board, BoardSize, Color, Move};
use go_player::planes::{BitPlanes, HISTORY};
use rayon::prelude::*;

use super::example::{GoExample, Policy};
use crate::shuffle::mix;
use crate::trainer::DataError;

/// A game: stones at the start, then moves.
#[derive(Clone, Debug)]
struct Record {
    black: Vec<u16>,
    white: Vec<u16>,
    /// Index of a point, or the number of points for a pass; Black's moves are even, White's odd.
    moves: Vec<u16>,
    winner: Option<Color>,
}

/// A collection of games of one board size.
pub struct Games {
    size: BoardSize,
    records: Vec<Record>,
    /// Positions before each game.
    starts: Vec<u64>,
}

/// What was found and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Games kept.
    pub games: usize,
    /// Positions kept.
    pub positions: u64,
    /// Why games were left out: how many, and the first of them.
    pub skipped: BTreeMap<String, (usize, String)>,
}

impl LoadReport {
    /// Games left out.
    pub fn skipped_games(&self) -> usize {
        self.skipped.values().map(|(count, _)| count).sum()
    }

    /// Counts something left out, and keeps the name of the first.
    pub fn skip(&mut self, why: &str, name: &str) {
        let entry = self
            .skipped
            .entry(why.to_owned())
            .or_insert_with(|| (0, name.to_owned()));
        entry.0 += 1;
    }
}

/// Games with fewer moves are left out: they teach nothing about who won.
const SHORTEST_GAME: usize = 10;

impl Games {
    /// Reads every game under the given paths, without duplicates.
    pub fn read(paths: &[PathBuf], size: BoardSize) -> Result<(Self, LoadReport), DataError> {
        let mut report = LoadReport::default();
        let mut records: Vec<Record> = Vec::new();
        let mut known = HashSet::new();
        for path in paths {
            let mut texts = Vec::new();
            collect(path, &mut texts)?;
            let read: Vec<(String, Vec<Result<Record, String>>)> = texts
                .into_par_iter()
                .map(|(name, bytes)| (name, read_records(&bytes, size)))
                .collect();
            for (name, found) in read {
                for record in found {
                    match record {
                        Ok(record) if known.insert(record.fingerprint()) => records.push(record),
                        Ok(_) => report.skip("the same game again", &name),
                        Err(why) => report.skip(&why, &name),
                    }
                }
            }
        }
        let games = Self::new(size, records);
        report.games = games.records.len();
        report.positions = games.positions();
        if report.positions == 0 {
            let place = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
                .join(", ");
            let hint = match report.skipped.iter().next() {
                Some((why, (count, name))) => {
                    format!(" ({count} left out: {why}, the first is {name})")
                }
                None => ": give SGF files, folders of them, or tar archives".to_owned(),
            };
            return Err(DataError::Nothing {
                what: "games to learn from",
                place,
                hint,
            });
        }
        Ok((games, report))
    }

    fn new(size: BoardSize, records: Vec<Record>) -> Self {
        let mut starts = Vec::with_capacity(records.len() + 1);
        let mut total = 0;
        for record in &records {
            starts.push(total);
            total += record.moves.len() as u64;
        }
        starts.push(total);
        Self {
            size,
            records,
            starts,
        }
    }

    /// Games in it.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True without games.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Positions in it.
    pub fn positions(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Takes a share of the games out, whole games by a hash of their moves, so that the same games are taken every
    /// time and in every collection they appear in.
    pub fn take_out(&mut self, share: f64) -> Games {
        let limit = (share.clamp(0.0, 1.0) * u64::MAX as f64) as u64;
        let (out, kept) = std::mem::take(&mut self.records)
            .into_iter()
            .partition(|record| mix(record.fingerprint()) < limit);
        let size = self.size;
        *self = Self::new(size, kept);
        Self::new(size, out)
    }

    /// Position `index` of all, with the move played there.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn example(&self, index: u64) -> GoExample {
        let game = self.starts.partition_point(|&start| start <= index) - 1;
        let ply = (index - self.starts[game]) as usize;
        let record = &self.records[game];
        let mut board = Board::new(self.size);
        let stones = |cells: &[u16]| {
            cells
                .iter()
                .map(|&cell| self.size.point(usize::from(cell)))
                .collect()
        };
        let (black, white): (Vec<_>, Vec<_>) = (stones(&record.black), stones(&record.white));
        for (points, color) in [(black, Color::Black), (white, Color::White)] {
            for point in points {
                let _ = board.play(point, color);
            }
        }
        let mut history = VecDeque::with_capacity(HISTORY + 1);
        history.push_front(*board.all_stones());
        for (number, &code) in record.moves[..ply].iter().enumerate() {
            let (color, cell) = decode(code);
            if cell < self.size.area() {
                let _ = board.play(self.size.point(cell), color);
            }
            if number + HISTORY >= ply {
                history.push_front(*board.all_stones());
                history.truncate(HISTORY);
            }
        }
        let (to_move, cell) = decode(record.moves[ply]);
        // Boards before the start of the game are no history.
        history.truncate(ply + 1);
        GoExample {
            planes: BitPlanes::of(self.size, to_move, history.iter()),
            to_move,
            policy: Policy::Move(cell as u16),
            outcome: match record.winner {
                Some(winner) if winner == to_move => 1.0,
                Some(_) => -1.0,
                None => f32::NAN,
            },
        }
    }
}

impl Record {
    fn fingerprint(&self) -> u64 {
        let all = self
            .black
            .iter()
            .chain([&u16::MAX])
            .chain(&self.white)
            .chain([&u16::MAX])
            .chain(&self.moves);
        all.fold(0, |hash, &number| mix(hash ^ u64::from(number)))
    }
}

fn encode(color: Color, cell: usize) -> u16 {
    (cell * 2 + usize::from(color == Color::White)) as u16
}

fn decode(code: u16) -> (Color, usize) {
    let color = if code.is_multiple_of(2) {
        Color::Black
    } else {
        Color::White
    };
    (color, usize::from(code / 2))
}

/// Finds SGF texts, each with a name for messages.
fn collect(path: &Path, texts: &mut Vec<(String, Vec<u8>)>) -> Result<(), DataError> {
    let failed = |error| DataError::File {
        path: path.to_owned(),
        error,
    };
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .and_then(|entries| {
                entries
                    .map(|entry| Ok(entry?.path()))
                    .collect::<io::Result<_>>()
            })
            .map_err(failed)?;
        entries.sort();
        for entry in entries
            .iter()
            .filter(|entry| entry.is_dir() || kind(entry).is_some())
        {
            collect(entry, texts)?;
        }
        return Ok(());
    }
    let file = File::open(path).map_err(failed)?;
    match kind(path) {
        Some(Kind::Archive { gzip: true }) => {
            read_archive(path, MultiGzDecoder::new(file), texts).map_err(failed)
        }
        Some(Kind::Archive { gzip: false }) => read_archive(path, file, texts).map_err(failed),
        Some(Kind::Sgf { gzip: true }) => {
            read_text(path, MultiGzDecoder::new(file), texts).map_err(failed)
        }
        // A file named outright is taken at its word.
        Some(Kind::Sgf { gzip: false }) | None => read_text(path, file, texts).map_err(failed),
    }
}

enum Kind {
    Sgf { gzip: bool },
    Archive { gzip: bool },
}

fn kind(path: &Path) -> Option<Kind> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    if name.ends_with(".tar.gz") || name.ends_with(".tgz") {
        Some(Kind::Archive { gzip: true })
    } else if name.ends_with(".tar") {
        Some(Kind::Archive { gzip: false })
    } else if name.ends_with(".sgf.gz") {
        Some(Kind::Sgf { gzip: true })
    } else if name.ends_with(".sgf") {
        Some(Kind::Sgf { gzip: false })
    } else {
        None
    }
}

fn read_text(
    path: &Path,
    mut from: impl Read,
    texts: &mut Vec<(String, Vec<u8>)>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    texts.push((path.display().to_string(), bytes));
    Ok(())
}

fn read_archive(
    path: &Path,
    from: impl Read,
    texts: &mut Vec<(String, Vec<u8>)>,
) -> io::Result<()> {
    for entry in tar::Archive::new(from).entries()? {
        let mut entry = entry?;
        let inside = entry.path()?.into_owned();
        if let Some(Kind::Sgf { gzip: false }) = kind(&inside) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            texts.push((format!("{}:{}", path.display(), inside.display()), bytes));
        }
    }
    Ok(())
}

fn read_records(bytes: &[u8], size: BoardSize) -> Vec<Result<Record, String>> {
    match sgf::read(bytes) {
        Ok(collection) => collection
            .games
            .iter()
            .map(|tree| read_record(tree, size))
            .collect(),
        Err(_) => vec![Err("not readable as SGF".to_owned())],
    }
}

fn read_record(tree: &Tree, size: BoardSize) -> Result<Record, String> {
    let unreadable = |_| "a property that makes no sense".to_owned();
    if tree.size().map_err(unreadable)? != size {
        return Err(format!("not on a {0}x{0} board", size.get()));
    }
    let line = tree.main_line();
    let cells = |name: &str| -> Result<Vec<u16>, String> {
        let points = tree.points(tree.root(), name).map_err(unreadable)?;
        Ok(points
            .iter()
            .map(|point| size.index(point) as u16)
            .collect())
    };
    let mut record = Record {
        black: cells("AB")?,
        white: cells("AW")?,
        moves: Vec::new(),
        winner: tree.result().winner(),
    };
    let last = *line.last().expect("a main line has a root");
    tree.replay(last)
        .map_err(|_| "a move that cannot be played".to_owned())?;
    for &node in &line {
        let has_setup = ["AB", "AW", "AE"]
            .iter()
            .any(|name| tree.text(node, name).is_some());
        if has_setup && node != tree.root() {
            return Err("stones set up during the game".to_owned());
        }
        for (color, mv) in tree.moves(node).map_err(unreadable)? {
            let cell = match mv {
                Move::Play(point) => size.index(point),
                Move::Pass => size.area(),
            };
            record.moves.push(encode(color, cell));
        }
    }
    if record.moves.len() < SHORTEST_GAME {
        return Err(format!("fewer than {SHORTEST_GAME} moves"));
    }
    Ok(record)
}

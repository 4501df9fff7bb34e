//! Games from SGF files, folders of them, and tar archives (plain or gzip), kept as lists of moves.
//!
//! Sixteen thousand games are ten megabytes of moves, so all of them stay in memory and any position can be had by
//! playing a game again up to it: no shuffle buffer, and no state to lose.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use go::sgf::{self, GameResult, Tree, WinBy};
use go::{Board, BoardSize, Color, Move};
use go_player::planes::{BitPlanes, HISTORY};
use rayon::prelude::*;

use super::example::{GoExample, Policy};
use super::owners::Owners;
use base::mix;
use learn::{DataError, LoadReport};

/// A game: stones at the start, then moves.
#[derive(Clone, Debug)]
struct Record {
    black: Vec<u16>,
    white: Vec<u16>,
    /// Index of a point, or the number of points for a pass; Black's moves are even, White's odd.
    moves: Vec<u16>,
    winner: Option<Color>,
    /// Whether the result says something about the board.
    is_fair: bool,
    /// Black's lead on the board if the game was counted.
    lead: Option<f32>,
    owners: Option<Owners>,
}

/// A collection of games of one board size.
pub struct Games {
    size: BoardSize,
    records: Vec<Record>,
    /// Positions before each game.
    starts: Vec<u64>,
}

/// Komi of even games; networks assume 7.5.
const FAIR_KOMI: RangeInclusive<f32> = 5.5..=9.5;

/// Points by which a count may differ from the recorded one: neutral points, and stones that count for one side only
/// under some rules.
const MISCOUNT: f32 = 12.0;

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

    /// True without games.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

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

    /// Forgets who won wherever the board alone does not say so: games with handicap or with another komi than a
    /// network assumes, which the better player wins from behind, and games that the clock decided. Then some games of
    /// the colour that wins more often, which ones following from their moves. All of them still teach moves.
    ///
    /// A network that had learned the results of all games, six of ten won by White, said whose turn it was and little
    /// else.
    pub fn keep_fair_results(&mut self) {
        for record in self.records.iter_mut().filter(|record| !record.is_fair) {
            record.winner = None;
        }
        let won = |color| {
            self.records
                .iter()
                .filter(|r| r.winner == Some(color))
                .count()
        };
        let (black, white) = (won(Color::Black), won(Color::White));
        let (more, surplus) = match black > white {
            true => (Color::Black, black - white),
            false => (Color::White, white - black),
        };
        let mut of_more: Vec<&mut Record> = self.records.iter_mut().collect();
        of_more.retain(|record| record.winner == Some(more));
        // Another order than the one by which games are taken out, or the test would lose them all.
        of_more.sort_by_cached_key(|record| mix(!record.fingerprint()));
        for record in of_more.into_iter().take(surplus) {
            record.winner = None;
        }
    }

    /// Leaves out the games that do not teach who wins.
    pub fn keep_games_with_winner(&mut self) {
        let mut records = std::mem::take(&mut self.records);
        records.retain(|record| record.winner.is_some());
        *self = Self::new(self.size, records);
    }

    /// Finds out who has the points at the end of every game that was counted.
    pub fn find_owners(&mut self) {
        let size = self.size;
        self.records
            .par_iter_mut()
            .for_each(|record| record.owners = record.find_owners(size));
    }

    /// How many games teach who wins.
    pub fn with_winner(&self) -> usize {
        self.records.iter().filter(|r| r.winner.is_some()).count()
    }

    /// How many games teach who has the points in the end.
    pub fn with_owners(&self) -> usize {
        self.records.iter().filter(|r| r.owners.is_some()).count()
    }

    /// Position `index` of all, with the move played there.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn example(&self, index: u64) -> GoExample {
        let game = self.starts.partition_point(|&start| start <= index) - 1;
        let ply = (index - self.starts[game]) as usize;
        let record = &self.records[game];
        let mut board = record.start(self.size);
        let mut history = VecDeque::with_capacity(HISTORY + 1);
        history.push_front(*board.all_stones());
        for (number, &code) in record.moves[..ply].iter().enumerate() {
            play(&mut board, code);
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
            owners: record.owners,
        }
    }
}

impl Record {
    /// The board before the first move.
    fn start(&self, size: BoardSize) -> Board {
        let mut board = Board::new(size);
        for (cells, color) in [(&self.black, Color::Black), (&self.white, Color::White)] {
            for &cell in cells {
                let _ = board.play(size.point(usize::from(cell)), color);
            }
        }
        board
    }

    /// Who has the points in the end, if the game was counted and with that result.
    fn find_owners(&self, size: BoardSize) -> Option<Owners> {
        let lead = self.lead?;
        let mut board = self.start(size);
        for &code in &self.moves {
            play(&mut board, code);
        }
        let owners = Owners::of(&board, self.fingerprint());
        ((owners.lead() - lead).abs() <= MISCOUNT).then_some(owners)
    }

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

fn play(board: &mut Board, code: u16) {
    let (color, cell) = decode(code);
    if cell < board.size().area() {
        let _ = board.play(board.size().point(cell), color);
    }
}

/// Finds SGF texts, each with a name for messages.
pub(crate) fn collect(path: &Path, texts: &mut Vec<(String, Vec<u8>)>) -> Result<(), DataError> {
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
    let last = *line.last().expect("a main line has a root");
    tree.replay(last)
        .map_err(|_| "a move that cannot be played".to_owned())?;
    let komi = tree.komi().map_err(unreadable)?.unwrap_or_default();
    let komi = komi.points_for_white();
    let is_even = tree.handicap().map_err(unreadable)? < 2 && FAIR_KOMI.contains(&komi);
    let result = tree.result();
    let mut record = Record {
        black: cells("AB")?,
        white: cells("AW")?,
        moves: Vec::new(),
        winner: result.winner(),
        is_fair: is_even && is_decided_on_the_board(result),
        lead: lead(result).map(|points| points + komi),
        owners: None,
    };
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

fn is_decided_on_the_board(result: GameResult) -> bool {
    let GameResult::Win(_, by) = result else {
        return false;
    };
    !matches!(by, WinBy::Time | WinBy::Forfeit)
}

/// By how much Black won, komi counted, if the game was counted.
fn lead(result: GameResult) -> Option<f32> {
    match result {
        GameResult::Win(Color::Black, WinBy::Points(points)) => Some(points),
        GameResult::Win(Color::White, WinBy::Points(points)) => Some(-points),
        _ => None,
    }
}

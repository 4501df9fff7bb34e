//! SGF collections that grow: one game a line, so that a run can be stopped at any time and
//! continued by the same command.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use go::sgf::{self, SgfError, Tree};
use rayon::prelude::*;
use thiserror::Error;

use crate::data::generate::{Generated, Recipe, generate};
use crate::data::subproblems::{Reach, grow_tree};
use crate::problem::Problem;
use crate::problem::canonical_name;
use crate::problem::{ATTACKER_STARTS, DEFENDER_STARTS, RecordError, problem_of, problem_tree};
use crate::solver::Limits;

/// Why a collection cannot be used.
#[derive(Debug, Error)]
pub enum CollectionError {
    /// The file system says no.
    #[error("{file}: {reason}")]
    Io { file: PathBuf, reason: io::Error },
    /// The file holds something that is no SGF.
    #[error("{file}: {reason}; move the file away to start anew")]
    Sgf {
        file: PathBuf,
        reason: Box<SgfError>,
    },
    /// A game is not what it should be.
    #[error("{file}, game {game}: {reason}")]
    Record {
        file: PathBuf,
        /// Which game, from 1.
        game: usize,
        reason: Box<RecordError>,
    },
    /// A file to hold trees that holds something else.
    #[error(
        "{file}, game {game} has no name (GN), as every tree has; give another file or move it away"
    )]
    NoTree {
        file: PathBuf,
        /// Which game, from 1.
        game: usize,
    },
    /// A generated file of another recipe.
    #[error("{file} was generated with another seed ({found}); give another file or move it away")]
    OtherSeed {
        file: PathBuf,
        /// The name found there.
        found: String,
    },
}

/// How every game begins.
const GAME_START: &[u8] = b"(;";

/// A collection being written, and what it held before.
pub struct Collection {
    file: PathBuf,
    out: BufWriter<File>,
    /// What is done before the first game is appended.
    start: Option<Start>,
    /// The games that were there.
    pub games: Vec<Tree>,
}

/// How much of the file is kept, and whether it lacks a line end.
struct Start {
    kept: u64,
    lacks_line_end: bool,
}

impl Collection {
    /// Opens or makes a collection. A last line that was cut off is dropped once a game is appended; until then the file
    /// stays as it is, for the caller may find that it is not what he wants to add to.
    pub fn resume(file: &Path) -> Result<Collection, CollectionError> {
        let fail = |reason| CollectionError::Io {
            file: file.to_owned(),
            reason,
        };
        let bytes = match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(fail(error)),
        };
        let whole = bytes
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        let tail = &bytes[whole..];
        // What was cut off begins as a game does and does not end as one; anything else was not written here.
        let is_cut_off = tail.starts_with(GAME_START) && sgf::read(tail).is_err();
        let kept = if is_cut_off { whole } else { bytes.len() };
        let games = if kept == 0 {
            Vec::new()
        } else {
            let read = sgf::read(&bytes[..kept]);
            let read = read.map_err(|reason| CollectionError::Sgf {
                file: file.to_owned(),
                reason: Box::new(reason),
            })?;
            read.games
        };
        let out = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(file)
            .map_err(fail)?;
        Ok(Collection {
            file: file.to_owned(),
            out: BufWriter::new(out),
            start: Some(Start {
                kept: kept as u64,
                lacks_line_end: kept > whole,
            }),
            games,
        })
    }

    /// Goes to the end of what is kept, and to a new line.
    fn begin(&mut self, start: Start) -> io::Result<()> {
        self.out.get_ref().set_len(start.kept)?;
        self.out.seek(io::SeekFrom::Start(start.kept))?;
        if start.lacks_line_end {
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Appends a game.
    pub fn push(&mut self, tree: &Tree) -> Result<(), CollectionError> {
        if let Some(start) = self.start.take() {
            self.begin(start).map_err(|reason| self.failure(reason))?;
        }
        let text = tree.to_string().replace('\n', "");
        writeln!(self.out, "{text}").map_err(|reason| self.failure(reason))
    }

    /// Makes sure that everything so far is on disk.
    pub fn flush(&mut self) -> Result<(), CollectionError> {
        self.out.flush().map_err(|reason| self.failure(reason))
    }

    fn failure(&self, reason: io::Error) -> CollectionError {
        CollectionError::Io {
            file: self.file.clone(),
            reason,
        }
    }
}

/// Candidates handed out to the threads at a time.
const CANDIDATES_AT_ONCE: u64 = 512;

/// What a growing set of problems holds: their names, and how many are settled either way.
#[derive(Default)]
struct Stock {
    names: HashSet<u64>,
    settled: [usize; 2],
}

impl Stock {
    /// Whether the recipe has room for another settled problem of this kind.
    fn wants_settled(&self, recipe: &Recipe, is_safe: bool) -> bool {
        let share = recipe.settled / self.settled.len() as f64;
        let wanted = share * (self.names.len() + 1) as f64;
        ((self.settled[usize::from(is_safe)] + 1) as f64) <= wanted
    }

    /// Takes a problem in, if it is new.
    fn add(&mut self, name: u64, is_safe: bool, is_settled: bool) -> bool {
        let is_new = self.names.insert(name);
        if is_new && is_settled {
            self.settled[usize::from(is_safe)] += 1;
        }
        is_new
    }

    /// Draws the next candidates of a recipe and keeps what is wanted of them, up to `count` in all.
    fn draw(&mut self, recipe: &Recipe, next: &mut u64, count: usize) -> Vec<Generated> {
        let candidates = *next..*next + CANDIDATES_AT_ONCE;
        *next = candidates.end;
        let mut found: Vec<Generated> = candidates
            .into_par_iter()
            .filter_map(|number| generate(recipe, number))
            .collect();
        found.retain(|problem| {
            let settled = problem.is_settled();
            self.names.len() < count
                && (!settled || self.wants_settled(recipe, problem.is_safe))
                && self.add(problem.canonical, problem.is_safe, settled)
        });
        found
    }
}

/// The first `count` problems of a recipe, each different from all others: those that
/// [`generate_collection`] writes.
pub fn generate_problems(recipe: &Recipe, count: usize) -> Vec<Generated> {
    let mut stock = Stock::default();
    let mut next = 0;
    let mut problems = Vec::with_capacity(count);
    while problems.len() < count {
        problems.extend(stock.draw(recipe, &mut next, count));
    }
    problems
}

/// Fills a collection up to `count` problems, each different from all others. `progress` is told the
/// number of problems there are, and stops the run by returning `false`.
pub fn generate_collection(
    recipe: &Recipe,
    file: &Path,
    count: usize,
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<usize, CollectionError> {
    let mut collection = Collection::resume(file)?;
    let prefix = format!("s{}-", recipe.seed);
    let mut stock = Stock::default();
    let mut next = 0;
    for (at, game) in collection.games.iter().enumerate() {
        let record = problem_of(game).map_err(|reason| CollectionError::Record {
            file: file.to_owned(),
            game: at + 1,
            reason: Box::new(reason),
        })?;
        let name = record.name.unwrap_or_default();
        let number = name
            .strip_prefix(&prefix)
            .and_then(|n| n.parse::<u64>().ok());
        let number = number.ok_or_else(|| CollectionError::OtherSeed {
            file: file.to_owned(),
            found: name.clone(),
        })?;
        let is_safe = |label| game.text(game.root(), label) == Some("1");
        let (safe, defended) = (is_safe(ATTACKER_STARTS), is_safe(DEFENDER_STARTS));
        stock.add(canonical_name(&record.problem), safe, safe == defended);
        next = number + 1;
    }
    while stock.names.len() < count && progress(stock.names.len()) {
        for problem in stock.draw(recipe, &mut next, count) {
            collection.push(&generated_tree(&problem, &prefix))?;
        }
        collection.flush()?;
    }
    progress(stock.names.len());
    Ok(stock.names.len())
}

fn generated_tree(generated: &Generated, prefix: &str) -> Tree {
    let problem = &generated.problem;
    let mut tree = problem_tree(problem, &format!("{prefix}{}", generated.number));
    let root = tree.root();
    let flag = |is_safe: bool| if is_safe { "1" } else { "0" };
    tree.set_text(root, ATTACKER_STARTS, flag(generated.is_safe));
    tree.set_text(root, DEFENDER_STARTS, flag(generated.is_safe_if_defended));
    let size = problem.size(crate::problem::Side::Attacker);
    tree.set_text(root, "AS", &size.to_string());
    let first = problem.attacker();
    tree.set_text(
        root,
        "PL",
        if first == go::Color::Black { "B" } else { "W" },
    );
    tree
}

/// Grows the trees of named problems into a collection, leaving out the names it has. `progress`
/// is told how many are done, and stops the run by returning `false`.
pub fn grow_collection(
    problems: &[(String, Problem)],
    file: &Path,
    reach: &Reach,
    limits: &Limits,
    progress: &mut (dyn FnMut(usize) -> bool + Send),
) -> Result<(), CollectionError> {
    let mut collection = Collection::resume(file)?;
    let has_name = |game: &Tree| game.text(game.root(), "GN").is_some();
    if let Some(at) = collection.games.iter().position(|game| !has_name(game)) {
        return Err(CollectionError::NoTree {
            file: file.to_owned(),
            game: at + 1,
        });
    }
    let names: HashSet<String> = collection
        .games
        .iter()
        .filter_map(|game| game.text(game.root(), "GN").map(str::to_owned))
        .collect();
    let open: Vec<&(String, Problem)> = problems
        .iter()
        .filter(|(name, _)| !names.contains(name))
        .collect();
    let mut done = problems.len() - open.len();
    for chunk in open.chunks(rayon::current_num_threads() * 4) {
        if !progress(done) {
            return collection.flush();
        }
        let trees: Vec<Tree> = chunk
            .par_iter()
            .map(|(name, problem)| grow_tree(problem, name, reach, limits))
            .collect();
        for tree in &trees {
            collection.push(tree)?;
        }
        collection.flush()?;
        done += chunk.len();
    }
    progress(done);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::labelled_positions;

    #[test]
    fn a_file_of_something_else_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.sgf");
        let recipe = Recipe::default();
        let generate = || generate_collection(&recipe, &file, 1, &mut |_| true);
        let problem = "(;GM[1]FF[4]SZ[7]AB[aa]AW[ba][bb]MA[aa])";
        let limits = Limits::default();
        let grow = || grow_collection(&[], &file, &Reach::default(), &limits, &mut |_| true);
        for text in [
            problem.to_owned(),
            format!("{problem}\n{problem}"),
            "a letter".to_owned(),
            "a letter\nof two lines".to_owned(),
        ] {
            fs::write(&file, &text).unwrap();
            generate().expect_err(&text);
            grow().expect_err(&text);
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }

    #[test]
    fn a_game_that_was_cut_off_is_dropped_and_a_whole_one_without_a_line_end_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("set.sgf");
        let recipe = Recipe {
            largest: 8,
            ..Recipe::default()
        };
        let fill = |count| generate_collection(&recipe, &file, count, &mut |_| true).unwrap();
        fill(3);
        let expected = fs::read_to_string(&file).unwrap();
        let second = expected.find('\n').unwrap() + 1;
        for cut in [7, second - 1, second, second + 40, expected.len() - 1] {
            fs::write(&file, &expected[..cut]).unwrap();
            fill(3);
            let written = fs::read_to_string(&file).unwrap();
            assert_eq!(written.trim_end(), expected.trim_end(), "{cut}");
        }
    }

    #[test]
    fn settled_problems_keep_to_their_share_and_both_labels_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("set.sgf");
        let recipe = Recipe {
            largest: 8,
            most_nodes: 2_000,
            settled: 0.5,
            ..Recipe::default()
        };
        // In two parts, as after an interruption.
        for count in [9, 40] {
            generate_collection(&recipe, &file, count, &mut |_| true).unwrap();
        }
        let games = sgf::read(&fs::read(&file).unwrap()).unwrap().games;
        let mut kinds = [0; 3];
        for game in &games {
            let labels = labelled_positions(game).unwrap();
            let [attacked, defended] = labels.try_into().ok().expect("two labels");
            kinds[usize::from(attacked.is_safe) + usize::from(defended.is_safe)] += 1;
        }
        // A quarter of each kind at most, however common it is among what is drawn.
        let [dead, critical, alive] = kinds;
        assert_eq!(dead + critical + alive, 40);
        assert!(dead <= 10 && alive <= 10 && dead + alive > 0, "{kinds:?}");
    }
}

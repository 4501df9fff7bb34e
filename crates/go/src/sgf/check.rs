//! Everything that can be wrong with a file, found in one go.

use super::{Place, Problem, SgfError, Tree, read, read_text};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Something cannot be read, replayed or written again.
    Error,
    /// Something unusual that was read all the same.
    Note,
}

/// Something worth a line in a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    pub place: Place,
    /// What, in a sentence.
    pub message: String,
}

/// What a file holds and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Games in the file.
    pub games: usize,
    /// Nodes in all games.
    pub nodes: usize,
    /// Moves on the main lines, passes included.
    pub moves: usize,
    /// Lines of play besides the main lines.
    pub variations: usize,
    /// The encoding the file was read in; empty when it was not read.
    pub encoding: &'static str,
    /// Problems, in the order of the file.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing worse than notes was found.
    pub fn is_sound(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity == Severity::Note)
    }

    fn add(&mut self, severity: Severity, place: Place, message: impl ToString) {
        self.findings.push(Finding {
            severity,
            place,
            message: message.to_string(),
        });
    }

    fn add_error(&mut self, error: SgfError) {
        self.add(Severity::Error, error.place, error.problem);
    }
}

/// Reads a file, replays every line of every game, writes each game and reads it again.
pub fn check(bytes: &[u8]) -> Report {
    let mut report = Report::default();
    let collection = match read(bytes) {
        Ok(collection) => collection,
        Err(error) => {
            report.add_error(error);
            return report;
        }
    };
    report.encoding = collection.encoding;
    if collection.had_encoding_errors {
        let message = format!(
            "some bytes are not {} and were replaced",
            collection.encoding
        );
        report.add(Severity::Note, Place::default(), message);
    }
    for tree in &collection.games {
        report.games += 1;
        report.nodes += tree.nodes().len();
        check_lines(tree, &mut report);
        check_root(tree, &mut report);
        check_writing(tree, &mut report);
    }
    report
}

fn check_lines(tree: &Tree, report: &mut Report) {
    let main_end = tree.main_line().last().copied();
    let ends = tree.nodes().filter(|&node| tree.children(node).is_empty());
    for end in ends {
        let is_main = Some(end) == main_end;
        report.variations += usize::from(!is_main);
        match tree.replay(end) {
            Err(error) => report.add_error(error),
            Ok(replay) if is_main => {
                report.moves += tree
                    .path(end)
                    .into_iter()
                    .map(|node| tree.moves(node).map_or(0, |m| m.len()))
                    .sum::<usize>();
                for (node, reason) in replay.irregular {
                    let error = tree.error(node, "B or W", Problem::Move(reason));
                    report.add(Severity::Note, error.place, error.problem);
                }
            }
            Ok(_) => {}
        }
    }
    // A fault before variations part shows in each of them.
    report.findings.dedup();
}

fn check_root(tree: &Tree, report: &mut Report) {
    if let Err(error) = tree.time_limits() {
        report.add_error(error);
    }
}

fn check_writing(tree: &Tree, report: &mut Report) {
    let same = read_text(&tree.to_string()).is_ok_and(|again| {
        again.len() == 1 && {
            let again = &again[0];
            tree.nodes().len() == again.nodes().len()
                && tree.nodes().all(|node| {
                    tree.properties(node) == again.properties(node)
                        && tree.parent(node) == again.parent(node)
                })
        }
    });
    if !same {
        let place = Place {
            game: tree.number(),
            ..Place::default()
        };
        report.add(
            Severity::Error,
            place,
            "the game changes when it is written and read again",
        );
    }
}

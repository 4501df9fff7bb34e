//! Answers of the solver: as sentences, a table, JSON, a picture, variations.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use go::{Color, Move, Point};
use serde_json::{Value, json};
use tsumego::{Explanation, FoundGame, Side, Status, Verdict};

/// How answers are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A sentence a question.
    Sentences,
    /// A row a question.
    Table,
    /// A JSON object a question.
    Json,
}

/// The answer to one question.
pub struct Answer {
    pub file: PathBuf,
    pub game: usize,
    pub name: Option<String>,
    pub color: Color,
    pub first: Side,
    pub verdict: Verdict,
    pub status: Option<Status>,
    pub first_move: Option<Point>,
    pub line: Vec<Move>,
    pub nodes: u64,
    pub time: Duration,
    pub size: usize,
    pub zone: Vec<Point>,
    pub proof_nodes: Option<usize>,
    pub explanation: Option<Explanation>,
    pub assumptions: Vec<String>,
}

impl Answer {
    /// Prints the answer; the first row of a table comes with its head.
    pub fn print(&self, format: Format, is_first: bool) {
        match format {
            Format::Json => println!("{}", self.json()),
            Format::Table => {
                if is_first {
                    println!("game | first    | result | move | nodes | seconds | name");
                    println!("---- | -------- | ------ | ---- | ----- | ------- | ----");
                }
                println!(
                    "{:4} | {} | {} | {} | {} | {:.3} | {}",
                    self.game,
                    self.first,
                    self.result(),
                    self.first_move.map_or("-".to_owned(), |p| p.to_string()),
                    self.nodes,
                    self.time.as_secs_f64(),
                    self.name.as_deref().unwrap_or_default()
                );
            }
            Format::Sentences => {
                println!("{}", self.sentence());
            }
        }
        if format != Format::Json
            && let Some(explanation) = &self.explanation
        {
            print_explanation(explanation, self.color);
        }
    }

    fn result(&self) -> String {
        match (self.status, self.verdict) {
            (Some(status), _) => status.to_string(),
            (None, verdict) => verdict_name(verdict).to_owned(),
        }
    }

    fn sentence(&self) -> String {
        let mut text = format!(
            "{}: {} first: {}",
            self.file.display(),
            self.first,
            self.result()
        );
        if let Some(point) = self.first_move {
            text += &format!(", {} {point}", self.color);
        }
        if self.line.len() > 1 {
            text += &format!(" ({})", spaced(&self.line));
        }
        let milliseconds = self.time.as_secs_f64() * 1e3;
        text += &format!(", {} nodes, {milliseconds:.1} ms", self.nodes);
        if let Some(positions) = self.proof_nodes {
            text += &format!(", proof of {positions} positions checked");
        }
        text
    }

    fn json(&self) -> Value {
        let explanation = self.explanation.as_ref().map(|explanation| {
            let refutations: Vec<Value> = explanation
                .refutations
                .iter()
                .map(|wrong| {
                    json!({
                        "move": wrong.wrong.to_string(),
                        "line": names(&wrong.line),
                        "only_ko": wrong.only_ko,
                    })
                })
                .collect();
            json!({
                "solutions": names(&explanation.solutions),
                "is_unique": explanation.is_unique(),
                "is_complete": explanation.is_complete,
                "main_line": names(&explanation.main_line),
                "refutations": refutations,
                "difficulty": explanation.difficulty.to_string(),
                "hints": explanation.hints,
            })
        });
        json!({
            "file": self.file.display().to_string(),
            "game": self.game,
            "name": self.name,
            "first": self.first.to_string(),
            "verdict": verdict_name(self.verdict),
            "status": self.status.map(|status| status.to_string()),
            "move": self.first_move.map(|point| point.to_string()),
            "line": names(&self.line),
            "nodes": self.nodes,
            "seconds": self.time.as_secs_f64(),
            "size": self.size,
            "zone": self.zone.iter().map(Point::to_string).collect::<Vec<_>>(),
            "proof_positions": self.proof_nodes,
            "assumptions": self.assumptions,
            "explanation": explanation,
        })
    }

    /// Adds the answer to a file of answers.
    pub fn append_to(&self, file: &Path) -> anyhow::Result<()> {
        let say = || format!("cannot write {}", file.display());
        let mut out = OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .with_context(say)?;
        writeln!(out, "{}", self.json()).with_context(say)
    }
}

/// What tells a question from all others in a file of answers.
pub fn question_key(game: &FoundGame, first: Side) -> (String, usize, String) {
    let file = game.file.display().to_string();
    (file, game.number, first.to_string())
}

/// The questions that a file of answers has answers to. A last line that was cut off is dropped.
pub fn answered_before(file: &Path) -> anyhow::Result<HashSet<(String, usize, String)>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashSet::new()),
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    let mut done = HashSet::new();
    for (at, line) in text[..whole].lines().enumerate() {
        let read: Value = serde_json::from_str(line).with_context(|| {
            format!(
                "{}, line {}: not an answer; give another file or move it away",
                file.display(),
                at + 1
            )
        })?;
        let field = |name: &str| read[name].as_str().unwrap_or_default().to_owned();
        let game = read["game"].as_u64().unwrap_or(0) as usize;
        done.insert((field("file"), game, field("first")));
    }
    if whole < text.len() {
        fs::write(file, &text[..whole]).with_context(|| file.display().to_string())?;
    }
    Ok(done)
}

fn print_explanation(explanation: &Explanation, color: Color) {
    let solutions = spaced(&explanation.solutions);
    match (explanation.solutions.len(), explanation.is_complete) {
        (0, true) => println!("  no move of {color} changes that"),
        (0, false) => {}
        (1, true) => println!("  the only solution: {solutions}"),
        (count, true) => println!("  {count} solutions: {solutions}"),
        (_, false) => println!("  solutions found so far: {solutions}"),
    }
    if !explanation.main_line.is_empty() {
        println!("  main line: {}", spaced(&explanation.main_line));
    }
    for wrong in &explanation.refutations {
        let why = match (wrong.only_ko, wrong.line.is_empty()) {
            (true, _) => "gives only a ko".to_owned(),
            (false, true) => "fails without an answer".to_owned(),
            (false, false) => format!("fails to {}", spaced(&wrong.line)),
        };
        println!("  {} {why}", wrong.wrong);
    }
    println!("  difficulty: {}", explanation.difficulty);
    for (at, hint) in explanation.hints.iter().enumerate() {
        println!("  hint {}: {hint}", at + 1);
    }
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe => "unsafe",
        Verdict::Unknown => "unknown",
    }
}

fn names(moves: &[Move]) -> Vec<String> {
    moves.iter().map(Move::to_string).collect()
}

fn spaced(moves: &[Move]) -> String {
    names(moves).join(" ")
}

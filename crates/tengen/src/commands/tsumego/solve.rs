//! `tengen tsumego solve`: verdicts, first moves, lines, proofs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use go::sgf::{NodeId, Tree};
use go::{Color, Point};
use tsumego::{
    Explanation, FoundGame, Goal, Hints, Inferred, Ko, Limits, NetGuide, Problem, SafetyNet, Side,
    Solver, Status, Verdict, answer_picture, explain, explanation_tree, infer, proof_tree,
    thread_time, verify,
};

use super::answer::{Answer, Format, answered_before, question_key};
use super::files::{complain, exit_code, read_games};
use crate::commands::files::write_whole;
use crate::commands::terminal::{counted, progress};

/// Decide whether groups can be captured, and show how.
///
/// A problem is an SGF file, or a game of a collection: stones in AB and AW, the group marked with MA.
/// What is not marked is inferred, and said: the surrounded group is in question, and the outside is
/// the attacker's. With --move and --at the group comes from a game instead.
///
/// The answer counts ko threats: the best result first, without a ko if there is one.
///
/// Example: tengen tsumego solve problem.sgf
/// Example: tengen tsumego solve book.sgf --out answers.jsonl
/// Example: tengen tsumego solve game.sgf --move 120 --at D4
/// Example: tengen tsumego solve problem.sgf --explain
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files or collections, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Only this game of a collection, from 1.
    #[arg(long)]
    game: Option<usize>,
    /// The position after this many moves of the main line.
    #[arg(long = "move", value_name = "MOVES")]
    moves: Option<usize>,
    /// A stone of the group in question, in the middle of a game: what gets away from its
    /// surroundings lives.
    #[arg(long, value_name = "POINT", conflicts_with_all = ["target", "wall"])]
    at: Option<Point>,
    /// Stones of the group in question, such as C2 or C2,E1, instead of the marked ones.
    #[arg(long, value_name = "POINTS", value_delimiter = ',')]
    target: Vec<Point>,
    /// Points of the zone, such as A1-F4 or A1-F4,G2, instead of the zone found.
    #[arg(long, value_name = "POINTS", value_delimiter = ',')]
    zone: Vec<String>,
    /// Sure stones of the attacker to add.
    #[arg(long, value_name = "POINTS", value_delimiter = ',')]
    wall: Vec<Point>,
    /// What the attacker needs: to capture all blocks of the target, or any one of them.
    #[arg(long, value_parser = ["all", "any"])]
    goal: Option<String>,
    /// Who moves first.
    #[arg(long, value_parser = ["attacker", "defender", "both"], default_value = "both")]
    first: String,
    /// Who may retake a ko at once; "all" counts the threats that decide.
    #[arg(long, value_parser = ["attacker", "nobody", "defender", "all"], default_value = "all")]
    ko: String,
    /// Stop a question after this many nodes.
    #[arg(long)]
    nodes: Option<u64>,
    /// Stop a question after this many seconds of processor time.
    #[arg(long)]
    seconds: Option<f64>,
    /// Stop a question after this many seconds by the clock on the wall.
    #[arg(long)]
    wall_seconds: Option<f64>,
    /// Megabytes for what the search remembers.
    #[arg(long, default_value_t = 256)]
    memory: usize,
    /// Say more: all solutions, the main line, why other moves fail, difficulty, hints.
    #[arg(long)]
    explain: bool,
    /// Write a picture of each problem with the winning move into this folder.
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    /// Write solutions and refutations as SGF variations into this folder.
    #[arg(long, value_name = "FOLDER")]
    sgf: Option<PathBuf>,
    /// Write the checked proof of each answer, every reply answered, as SGF into this folder.
    #[arg(long, value_name = "FOLDER")]
    proof: Option<PathBuf>,
    /// Check each answer's proof with the independent verifier.
    #[arg(long)]
    verify: bool,
    /// Let the safety network inside the program order the search.
    #[arg(long)]
    guided: bool,
    /// Let the safety network in this file order the search.
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Print one JSON object a question.
    #[arg(long)]
    json: bool,
    /// Append the answers to this file, one JSON object a line; what it has is not solved again.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A proof with more positions is not written out.
const MOST_PROOF_NODES: usize = 5_000_000;
/// Moves of a line to print.
const LINE_LENGTH: usize = 12;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let hints = Hints {
        target: args.target.clone(),
        zone: zone_points(&args.zone)?,
        wall: args.wall.clone(),
        goal: args.goal.as_deref().map(|goal| match goal {
            "any" => Goal::Any,
            _ => Goal::All,
        }),
        solution: None,
    };
    let (mut games, mut failed) = read_games(&args.paths)?;
    if let Some(number) = args.game {
        games.retain(|game| game.number == number);
        if games.is_empty() {
            bail!("there is no game {number}");
        }
    }
    for folder in args.svg.iter().chain(&args.proof).chain(&args.sgf) {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let net = match args.weights.as_deref() {
        Some(file) => Some(SafetyNet::find(Some(file), None)?),
        None if args.guided => Some(SafetyNet::find(None, None)?),
        None => None,
    };
    let done = match &args.out {
        Some(file) => answered_before(file)?,
        None => HashSet::new(),
    };
    let files: HashSet<&Path> = games.iter().map(|game| game.file.as_path()).collect();
    let mut job = Job {
        format: if args.json {
            Format::Json
        } else if games.len() > files.len() {
            Format::Table
        } else {
            Format::Sentences
        },
        args: &args,
        hints,
        net: net.as_ref(),
        done,
        totals: Totals::default(),
    };
    let bar = progress(games.len(), "problems");
    for game in &games {
        if let Err(error) = job.solve_game(game) {
            let place = if games.len() > files.len() {
                game.place()
            } else {
                game.file.clone()
            };
            bar.suspend(|| complain(&place, &error));
            failed += 1;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    job.totals.print(args.json);
    Ok(exit_code(failed))
}

/// Everything that all problems of a call share.
struct Job<'a> {
    args: &'a Args,
    hints: Hints,
    net: Option<&'a SafetyNet>,
    format: Format,
    done: HashSet<(String, usize, String)>,
    totals: Totals,
}

#[derive(Default)]
struct Totals {
    questions: usize,
    unknown: usize,
    skipped: usize,
    nodes: u64,
    time: Duration,
    slowest: Duration,
}

impl Totals {
    fn print(&self, as_json: bool) {
        if self.skipped > 0 {
            let count = counted(self.skipped, "question", "questions");
            eprintln!("{count} answered before and not asked again");
        }
        if !as_json && self.questions > 1 {
            println!(
                "{} questions, {} unknown, {} nodes, {:.3} s of processor time, slowest {:.3} s",
                self.questions,
                self.unknown,
                self.nodes,
                self.time.as_secs_f64(),
                self.slowest.as_secs_f64()
            );
        }
    }
}

impl Job<'_> {
    fn solve_game(&mut self, game: &FoundGame) -> anyhow::Result<()> {
        let inferred = self.problem(game)?;
        let is_quiet = self.format == Format::Json;
        let say = |assumptions: &[String]| {
            if !assumptions.is_empty() && !is_quiet {
                eprintln!("{}: assumed: {}", game.name(), assumptions.join("; "));
            }
        };
        say(&inferred.assumptions);
        let sides: &[Side] = match self.args.first.as_str() {
            "attacker" => &[Side::Attacker],
            "defender" => &[Side::Defender],
            _ => &Side::BOTH,
        };
        for &first in sides {
            if self.done.contains(&question_key(game, first)) {
                self.totals.skipped += 1;
                continue;
            }
            let (problem, note) = inferred.problem_for(first, &self.limits()?);
            let note = note.map(|note| format!("{first} first: {note}"));
            if let Some(note) = &note {
                say(std::slice::from_ref(note));
            }
            let mut answer = self.answer(game, &problem, first)?;
            answer.assumptions.clone_from(&inferred.assumptions);
            answer.assumptions.extend(note);
            answer.print(self.format, self.totals.questions == 1);
            if let Some(file) = &self.args.out {
                answer.append_to(file)?;
            }
        }
        Ok(())
    }

    /// The problem of a game: as marked, as named on the command line, or inferred.
    fn problem(&self, game: &FoundGame) -> anyhow::Result<Inferred> {
        let tree = &game.tree;
        let line = tree.main_line();
        let moves = self.args.moves.unwrap_or(0);
        let Some(&node) = line.get(moves) else {
            bail!(
                "--move {moves}: the main line has {}",
                counted(line.len() - 1, "move", "moves")
            );
        };
        let size = tree.size()?.get();
        if size > tsumego::MAX_SIDE {
            bail!("the board is {size}x{size}; the largest the solver takes is 19x19");
        }
        if let Some(at) = self.args.at {
            let board = tree.game_at(node)?.board().clone();
            if !board.is_on_board(at) {
                bail!("--at {at} is not on the {size}x{size} board");
            }
            let assumptions = vec![
                "what gets three steps away lives, and stones with liberties beyond that do"
                    .to_owned(),
            ];
            return Ok(Inferred {
                problem: Problem::in_game(board, &[at])?,
                nearer: Vec::new(),
                assumptions,
            });
        }
        let mut hints = self.hints.clone();
        let is_marked = hints.target.is_empty();
        if is_marked {
            hints.target = tree.points(tree.root(), "MA")?.iter().collect();
        }
        hints.wall.extend(tree.points(tree.root(), "SQ")?.iter());
        hints.solution = recorded_move(tree, &line[moves..])?;
        let board = if moves == 0 {
            tsumego::setup_board(tree)?
        } else {
            tree.game_at(node)?.board().clone()
        };
        Ok(infer(&board, &hints, is_marked)?)
    }

    fn limits(&self) -> anyhow::Result<Limits> {
        let seconds =
            |seconds: f64, name: &'static str| Duration::try_from_secs_f64(seconds).context(name);
        let mut limits = Limits::default().with_memory(self.args.memory << 20);
        if let Some(nodes) = self.args.nodes {
            limits = limits.with_nodes(nodes);
        }
        if let Some(time) = self.args.seconds {
            limits = limits.with_processor_time(seconds(time, "--seconds")?);
        }
        if let Some(time) = self.args.wall_seconds {
            limits = limits.with_wall_time(seconds(time, "--wall-seconds")?);
        }
        Ok(limits)
    }

    fn answer(
        &mut self,
        game: &FoundGame,
        problem: &Problem,
        first: Side,
    ) -> anyhow::Result<Answer> {
        let limits = self.limits()?;
        let started = thread_time();
        let mut solver = Solver::new(problem, limits.clone());
        let (status, ko) = self.decide(&mut solver, problem, first)?;
        let solution = match self.net {
            Some(net) => solver.solve_guided(problem, first, ko, &NetGuide::new(net, problem)),
            None => solver.solve(problem, first, ko),
        };
        let time = thread_time().saturating_sub(started);
        let nodes = solver.nodes();
        let totals = &mut self.totals;
        totals.questions += 1;
        let is_unknown = status == Some(Status::Unknown) || solution.verdict == Verdict::Unknown;
        totals.unknown += usize::from(is_unknown);
        totals.nodes += nodes;
        totals.time += time;
        totals.slowest = totals.slowest.max(time);
        let line = solver.line(problem, first, ko, LINE_LENGTH);
        let proof_nodes = self.check_proof(game, problem, first, ko, &mut solver, is_unknown)?;
        let explanation: Option<Explanation> = (self.args.explain || self.args.sgf.is_some())
            .then(|| explain(problem, first, &limits));
        let answer = Answer {
            file: game.file.clone(),
            game: game.number,
            name: game.tree.text(game.tree.root(), "GN").map(str::to_owned),
            color: problem.color(first),
            first,
            verdict: solution.verdict,
            status,
            first_move: solution.first_move,
            line,
            nodes,
            time,
            size: problem.size(first),
            zone: solution.zone,
            proof_nodes,
            explanation,
            assumptions: Vec::new(),
        };
        if let Some(folder) = &self.args.svg {
            let file = folder.join(format!("{}.svg", game.output_name(first)));
            let picture = answer_picture(problem, first, answer.verdict, &answer.line);
            write_whole(&file, picture.as_bytes())?;
        }
        if let (Some(folder), Some(explanation)) = (&self.args.sgf, &answer.explanation) {
            let file = folder.join(format!("{}.sgf", game.output_name(first)));
            let tree = explanation_tree(problem, answer.name.as_deref(), explanation);
            write_whole(&file, tree.to_string().as_bytes())?;
        }
        Ok(answer)
    }

    /// The status where it was asked for, and the ko rule under which moves and lines are found.
    fn decide(
        &self,
        solver: &mut Solver,
        problem: &Problem,
        first: Side,
    ) -> anyhow::Result<(Option<Status>, Ko)> {
        if self.args.ko != "all" {
            return Ok((None, self.args.ko.parse()?));
        }
        let status = solver.status(problem, first);
        let rule = status
            .rule_for(first)
            .or_else(|| status.rule_for(first.opponent()));
        Ok((Some(status), rule.unwrap_or(Ko::NOBODY)))
    }

    fn check_proof(
        &self,
        game: &FoundGame,
        problem: &Problem,
        first: Side,
        ko: Ko,
        solver: &mut Solver,
        is_unknown: bool,
    ) -> anyhow::Result<Option<usize>> {
        if is_unknown || !(self.args.verify || self.args.proof.is_some()) {
            return Ok(None);
        }
        let proof = solver.proof(problem, first, ko, MOST_PROOF_NODES)?;
        let checked = verify(problem, &proof).context("the proof does not hold")?;
        if let Some(folder) = &self.args.proof {
            let name = game.output_name(first);
            let tree = proof_tree(problem, &name, &proof);
            write_whole(
                &folder.join(format!("{name}.sgf")),
                tree.to_string().as_bytes(),
            )?;
        }
        Ok(Some(checked))
    }
}

/// The first move after a position, if the record goes on with one.
fn recorded_move(tree: &Tree, line: &[NodeId]) -> anyhow::Result<Option<(Color, Point)>> {
    let Some(&next) = line.get(1) else {
        return Ok(None);
    };
    let played = tree.moves(next)?;
    Ok(played
        .first()
        .and_then(|&(color, mv)| Some((color, mv.point()?))))
}

/// Points and rectangles of points such as A1-F4; nothing if none are given.
fn zone_points(parts: &[String]) -> anyhow::Result<Option<Vec<Point>>> {
    let point = |text: &str| {
        let parsed: Result<Point, _> = text.trim().parse();
        parsed.with_context(|| format!("--zone {text}"))
    };
    let mut points = Vec::new();
    for part in parts {
        match part.split_once('-') {
            None => points.push(point(part)?),
            Some((from, to)) => {
                let (a, b) = (point(from)?, point(to)?);
                for y in a.y().min(b.y())..=a.y().max(b.y()) {
                    for x in a.x().min(b.x())..=a.x().max(b.x()) {
                        points.push(Point::new(x, y));
                    }
                }
            }
        }
    }
    Ok((!points.is_empty()).then_some(points))
}
